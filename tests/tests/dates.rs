//! A record has one date, whatever command shows it: `tumit dump` and `tumit cut --time` date as `tumit convert` does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../converter/tests/support/synthetic.rs"]
mod synthetic;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use synthetic::{About, File, Records};
use tests::programs::{output, succeed, tumit};

const SPEC: &str = r#"
trace pair;
level COM {
    event work { rank_: u32, n: u32 }
    event send { rank_: u32, n: u32, key: u32 }
    event receive { rank_: u32, n: u32, key: u32 }
}
paje {
    container program "Program" {
        container process[rank_: u32] "Rank {rank_}" { event done "Done" }
        link message "Message" from process to process
    }
}
rule work -> mark done = "work" on process[rank_] with { n };
rule send -> start message key (key) from process[rank_] -> mark done = "send" on process[rank_] with { n };
rule receive -> end message key (key) to process[rank_] -> mark done = "receive" on process[rank_] with { n };
"#;

const STEPS: u32 = 3000;

/// Two processes on one clock. Of each message that the first sends, the second says that it came before it was sent, as far as 40 µs; and
/// several records of a stream have the same date.
fn write_run(folder: &Path) {
    let (spec, diagnostics) = tumit::compile_text("pair.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    for rank in 0..2u32 {
        let mut file = File::new(&About { domain: "one".to_owned(), ..About::rank(rank.into()) }, &schema);
        file.thread(0, 10 + u64::from(rank), "main");
        for block in 0..STEPS / 100 {
            let mut records = Records::default();
            for step in block * 100..(block + 1) * 100 {
                let early = if rank == 1 { u64::from(step * 7919 % 40_000) } else { 0 };
                let at = 1_000_000 + u64::from(step) * 50_000 - early;
                let n = (rank * STEPS + step) * 3;
                let body = |n: u32| [rank.to_le_bytes(), n.to_le_bytes()].concat();
                records.record(0, at, &body(n));
                let message = [body(n + 1), step.to_le_bytes().to_vec()].concat();
                records.record(if rank == 0 { 1 } else { 2 }, at, &message);
                records.record(0, at, &body(n + 2));
            }
            file.records(0, block.into(), &records);
        }
        file.end();
        file.save(folder, &format!("{rank}.tmt"));
    }
}

fn objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
}

/// Date by number of the record, in nanoseconds.
type Dates = BTreeMap<u64, i64>;

fn dumped(run: &Path, args: &[&str]) -> Dates {
    let text = succeed(tumit().arg("dump").arg(run).arg("--json").args(args));
    let dates = |record: Value| (record["fields"]["n"].as_u64().unwrap(), record["time_ns"].as_i64().unwrap());
    objects(&text).map(dates).collect()
}

fn converted(run: &Path, args: &[&str]) -> Dates {
    let text = output(tumit().arg("convert").arg(run).args(["-o", "-", "--format", "json"]).args(args)).stdout;
    let events = text.split(|byte| *byte == b'\n').map(|line| String::from_utf8(line.to_vec()).unwrap());
    let dates = |line: String| {
        let number = |key: &str| {
            let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
            rest.split([',', '}']).next().unwrap().replace('.', "").parse::<i64>().unwrap()
        };
        (u64::try_from(number("n")).unwrap(), number("time"))
    };
    events.filter(|line| line.contains("\"kind\":\"Event\"")).map(dates).collect()
}

#[test]
fn a_record_has_the_same_date_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    write_run(&run);
    let mut all = Vec::new();
    for args in [&[][..], &["--clock", "none"], &["--causal", "off"], &["--clock", "none", "--causal", "off"]] {
        let (shown, listed) = (converted(&run, args), dumped(&run, args));
        assert_eq!(shown.len(), STEPS as usize * 6);
        let differing = shown.iter().zip(&listed).filter(|(a, b)| a != b).count();
        assert_eq!((shown.len(), differing), (listed.len(), 0), "{args:?}");
        all.push(shown);
    }
    let moved: Vec<(&u64, &i64)> = all[1].iter().filter(|(n, date)| all[3][n] != **date).collect();
    assert!(moved.len() > 1000, "links put in order move dates, of {} records", moved.len());

    // Parts that begin and end where dates were moved.
    for at in [moved[3], moved[moved.len() / 2], moved[moved.len() - 5]] {
        let time = format!("{0}ns..{1}ns", at.1, at.1 + 700_000);
        let wanted: Vec<u64> =
            all[1].iter().filter(|(_, date)| (*at.1..=at.1 + 700_000).contains(*date)).map(|(n, _)| *n).collect();
        let args = ["--clock", "none", "--interval", &time];
        let found: Vec<u64> = dumped(&run, &args).into_keys().collect();
        assert_eq!(found, wanted, "{time}");
        let part = folder.path().join(format!("part{}.tmt", at.0));
        succeed(tumit().arg("cut").arg(&run).arg("-o").arg(&part).args(args));
        let kept: Vec<u64> = dumped(&part, &["--clock", "none"]).into_keys().collect();
        assert_eq!(kept, wanted, "cut {time}");
        assert!(wanted.contains(at.0));
    }
    let off = ["--clock", "none", "--causal", "off", "--interval", "10ms..20ms"];
    let wanted = dumped(&run, &off);
    let part = folder.path().join("off.tmt");
    succeed(tumit().arg("cut").arg(&run).arg("-o").arg(&part).args(off));
    assert!(dumped(&part, &off[..4]).into_keys().eq(wanted.into_keys()));
}
