//! Clock correction on runs with known true timestamps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tracer_format::entries::{ClockAnchor, SyncSample};
use tumit_converter::clock::{CorrectionMethod, RunClocks, TimestampSource};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraValue, PajeEvent, PajeSink, diagnostic_texts};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, peer};

const SPEC: &str = r#"
trace ring;
level COM {
    event send { rank_: u32, key: u64, truth: i64 }
    event receive { rank_: u32, key: u64, truth: i64 }
}
paje {
    container program "Program" {
        container process[rank_: u32] "Rank {rank_}" { }
        link message "Message" from process to process
    }
}
rule send -> start message key (key) from process[rank_] with { truth };
rule receive -> end message key (key) to process[rank_] with { truth };
"#;

/// A clock: a function of true time in nanoseconds.
#[derive(Clone, Copy)]
struct Clock {
    /// Ticks before the beginning of true time.
    began: u64,
    offset: f64,
    ppm: f64,
    hz: f64,
}

impl Clock {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a timestamp of the test")]
    fn at(self, truth: f64) -> u64 {
        self.began + ((truth * (1.0 + self.ppm * 1e-6) + self.offset) * self.hz * 1e-9).floor() as u64
    }
}

/// A generator of numbers in 0..1 (Lehmer's).
struct LehmerGenerator(u64);

impl LehmerGenerator {
    #[expect(clippy::cast_precision_loss, reason = "a random number")]
    fn next(&mut self) -> f64 {
        self.0 = self.0 * 48271 % 0x7fff_ffff;
        self.0 as f64 / f64::from(0x7fff_ffff)
    }

    /// A latency of about a microsecond, sometimes much more. Nanoseconds.
    fn latency(&mut self) -> f64 {
        let tail = if self.next() < 0.1 { 20_000.0 * self.next() } else { 0.0 };
        1000.0 + 500.0 * self.next() + tail
    }
}

const START: f64 = 5e9;
const SECONDS: f64 = 20.0;

/// A record at a true time.
struct TrueRecord {
    /// Nanoseconds.
    true_time: f64,
    kind: u16,
    body: Vec<u8>,
}

/// Ten exchanges that rank `a` starts with rank `b`, in a burst that starts at a true time.
fn burst(
    number: u32,
    start: f64,
    [a, b]: [usize; 2],
    clocks: &[Clock],
    random: &mut LehmerGenerator,
) -> Vec<SyncSample> {
    let mut now = start;
    let mut samples = Vec::new();
    for exchange in 0..10 {
        let t2 = now + random.latency();
        let t3 = t2 + 200.0;
        let t4 = t3 + random.latency();
        samples.push(SyncSample {
            burst: number,
            exchange,
            peer: peer(100 + b as u64),
            t1: clocks[a].at(now),
            t2: clocks[b].at(t2),
            t3: clocks[b].at(t3),
            t4: clocks[a].at(t4),
        });
        now = t4 + 100.0;
    }
    samples
}

/// Adds the records of a message every millisecond.
fn send_messages(files: &mut [(SyntheticFile, Vec<TrueRecord>)], random: &mut LehmerGenerator) {
    let mut key = 0u64;
    let mut now = START;
    while now < START + SECONDS * 1e9 {
        let (from, to) = ((key % 4) as usize, ((key * 7 + 1 + key / 4) % 4) as usize);
        let arrival = now + random.latency();
        for (rank, kind, true_time) in [(from, 0u16, now), (to, 1, arrival)] {
            let mut body = u32::try_from(rank).unwrap().to_le_bytes().to_vec();
            body.extend(key.to_le_bytes());
            #[expect(clippy::cast_possible_truncation, reason = "a timestamp of the test")]
            body.extend((true_time as i64).to_le_bytes());
            files[rank].1.push(TrueRecord { true_time, kind, body });
        }
        key += 1;
        now += 1e6;
    }
}

/// Four ranks that send messages to each other every millisecond. Their clocks differ by up to two
/// seconds and a hundred ppm.
fn ring(folder: &std::path::Path, bursts: &[f64], began: u64) {
    let clocks = [
        Clock { began, offset: 0.0, ppm: 0.0, hz: 1e9 },
        Clock { began, offset: 1e9, ppm: 50.0, hz: 1e9 },
        Clock { began, offset: -1e9, ppm: -50.0, hz: 2.5e9 },
        Clock { began, offset: 0.3e9, ppm: 20.0, hz: 1e8 },
    ];
    let (spec, diagnostics) = tumit::compile_text("ring.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let mut random = LehmerGenerator(4711);
    let mut files: Vec<(SyntheticFile, Vec<TrueRecord>)> = Vec::new();
    for (rank, clock) in clocks.iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
        let about = SyntheticProcess { hz: clock.hz as u64, ..SyntheticProcess::rank(rank as u64) };
        let mut file = SyntheticFile::new(&about, &schema);
        file.thread(0, 1, "main");
        files.push((file, Vec::new()));
    }
    for (number, &start) in bursts.iter().enumerate() {
        for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3)] {
            let samples = burst(u32::try_from(number).unwrap(), start, [a, b], &clocks, &mut random);
            files[a].0.sync(&samples);
        }
    }
    send_messages(&mut files, &mut random);
    for (rank, (file, mut records)) in files.into_iter().enumerate() {
        let mut file = file;
        records.sort_by(|a, b| a.true_time.total_cmp(&b.true_time));
        for (sequence, chunk) in records.chunks(2000).enumerate() {
            let mut block = SyntheticRecords::default();
            for TrueRecord { true_time, kind, body } in chunk {
                block.record(*kind, clocks[rank].at(*true_time), body);
            }
            file.records(0, sequence as u64, &block);
        }
        file.end();
        file.save(folder, &format!("{rank}.tmt"));
    }
}

/// Compares timestamps with true times.
#[derive(Default)]
struct ErrorMeter {
    /// The timestamp and the true time of the first event.
    first: Option<(i64, i64)>,
    worst: i64,
    links: u64,
}

impl PajeSink for ErrorMeter {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        let (PajeEvent::StartLink { time, extra, .. } | PajeEvent::EndLink { time, extra, .. }) = event else {
            return Ok(());
        };
        let ExtraValue::Integer(truth) = extra[0].value else { panic!("a number") };
        // The first event is from rank 0, the rank with the correct clock.
        let (time0, truth0) = *self.first.get_or_insert((time.0, truth));
        self.worst = self.worst.max(((time.0 - time0) - (truth - truth0)).abs());
        self.links += 1;
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        Ok(())
    }
}

fn measure(bursts: &[f64], method: CorrectionMethod) -> (ErrorMeter, ConversionReport) {
    measure_from(bursts, method, 0)
}

/// As `measure`, with clocks that began `began` ticks before.
fn measure_from(bursts: &[f64], method: CorrectionMethod, began: u64) -> (ErrorMeter, ConversionReport) {
    let folder = tempfile::tempdir().unwrap();
    ring(folder.path(), bursts, began);
    let run = OpenRun::open(folder.path()).unwrap();
    let mut meter = ErrorMeter::default();
    let mut options = ConvertOptions::default();
    options.clock = method;
    options.has_causal_pass = false;
    let report = convert(&run, &options, &mut meter).unwrap();
    assert_eq!(report.counts.links, 20_000);
    (meter, report)
}

const BOTH_ENDS: [f64; 2] = [START - 1e7, START + SECONDS * 1e9 + 1e7];

#[test]
fn bursts_at_both_ends_give_errors_below_a_microsecond() {
    let (meter, report) = measure(&BOTH_ENDS, CorrectionMethod::Bursts);
    assert!(meter.worst < 1000, "worst error {} ns", meter.worst);
    assert_eq!(report.counts.reversed_links, 0);
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let domains = &report.clocks.domains;
    assert_eq!(domains[0].status, TimestampSource::Reference);
    for (domain, (offset, ppm)) in domains[1..].iter().zip([(1e9, 50.0), (-1e9, -50.0), (0.3e9, 20.0)]) {
        assert_eq!((domain.status, domain.bursts), (TimestampSource::Bursts, 2));
        // The offset is that at the first burst, after five seconds of drift since the zero of the
        // clocks.
        assert!((domain.offset_nanos - offset - 5e9 * ppm * 1e-6).abs() < 2e6, "{domain:?}");
        assert!((domain.drift_ppm - ppm).abs() < 0.1, "{domain:?}");
        assert!(domain.residual_nanos < 1000.0, "{domain:?}");
    }
}

#[test]
fn clocks_may_start_before_the_range_of_timestamps() {
    for method in [CorrectionMethod::Bursts, CorrectionMethod::Graph] {
        let (near, report) = measure(&BOTH_ENDS, method);
        // 190 to 4,750 years.
        let (far, of_far) = measure_from(&BOTH_ENDS, method, 13 << 60);
        assert!(far.worst <= near.worst + 1, "{} ns, {} where clocks began with the run", far.worst, near.worst);
        assert!(of_far.is_clean(), "{:?}", of_far.all_diagnostics());
        assert!((of_far.end.0 - report.end.0).abs() <= 1, "{:?} {:?}", of_far.end, report.end);
    }
}

#[test]
fn a_clock_beyond_the_last_timestamp_is_reported() {
    let (spec, diagnostics) = tumit::compile_text("ring.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let folder = tempfile::tempdir().unwrap();
    let mut file = SyntheticFile::new(&SyntheticProcess { hz: 1, ..SyntheticProcess::rank(0) }, &schema);
    file.thread(0, 1, "main");
    let mut block = SyntheticRecords::default();
    for true_time in [0, 9_000_000_000, 9_300_000_000, 9_400_000_000] {
        block.record(1, true_time, &[0; 20]);
    }
    file.records(0, 0, &block);
    file.end();
    file.save(folder.path(), "0.tmt");
    let run = OpenRun::open(folder.path()).unwrap();
    let report = convert(&run, &ConvertOptions::default(), &mut ErrorMeter::default()).unwrap();
    assert_eq!((report.end, report.counts.records), (GlobalNanos::LAST, 4));
    let errors = diagnostic_texts(&report.errors());
    assert!(errors.iter().any(|error| error.contains("more than 292 years")), "{errors:?}");
}

#[test]
fn more_bursts_than_two_are_used() {
    let bursts = [BOTH_ENDS[0], START + 7e9, START + 13e9, BOTH_ENDS[1]];
    let (meter, report) = measure(&bursts, CorrectionMethod::Bursts);
    assert!(meter.worst < 1000, "worst error {} ns", meter.worst);
    assert_eq!(report.clocks.domains[1].bursts, 4);
}

#[test]
fn without_correction_links_are_reversed() {
    let (meter, report) = measure(&BOTH_ENDS, CorrectionMethod::None);
    assert!(meter.worst > 1_000_000_000);
    assert!(report.counts.reversed_links > 5000, "{}", report.counts.reversed_links);
}

#[test]
fn one_burst_gives_offsets_but_no_drift() {
    let (meter, report) = measure(&BOTH_ENDS[..1], CorrectionMethod::Bursts);
    // 20 s at 50 ppm.
    assert!((500_000..2_000_000).contains(&meter.worst), "worst error {} ns", meter.worst);
    assert_eq!(report.clocks.domains[1].status, TimestampSource::OneBurst);
}

#[test]
fn without_samples_the_real_time_clock_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (spec, _) = tumit::compile_text("ring.tumit", SPEC);
    let schema = spec.unwrap().schema();
    for (rank, skew) in [(0u64, 0u64), (1, 5_000_000_000)] {
        let mut file = SyntheticFile::new(&SyntheticProcess::rank(rank), &schema);
        file.thread(0, 1, "main");
        file.anchor(ClockAnchor {
            ticks: 1_000 + skew,
            real_nanos: 1_700_000_000_000_000_000,
            ..ClockAnchor::default()
        });
        let mut records = SyntheticRecords::default();
        records.record(0, 2_000 + skew, &[0; 20]);
        file.records(0, 0, &records);
        file.end();
        file.save(folder.path(), &format!("{rank}.tmt"));
    }
    let run = OpenRun::open(folder.path()).unwrap();
    let clocks = RunClocks::new(&run, CorrectionMethod::Bursts);
    assert_eq!(clocks.domains[1].status, TimestampSource::RealTime);
    assert_eq!(clocks.diagnostics.len(), 1);
    let corrected = |process: usize, ticks| clocks.map(process).global_from_local(tumit_paje::time::LocalTicks(ticks));
    assert_eq!(corrected(1, 5_000_002_000), corrected(0, 2_000));
}
