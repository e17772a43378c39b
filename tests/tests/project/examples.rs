//! The examples from recording to reading: recorded, converted, accepted by `pj_dump`, and with the
//! numbers of entities that the programs print.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tests::programs::{count, molecular_dynamics, mpirun, output, sort_view, succeed, tumit, workspace};
use tumit_test_support::pj_dump::{PjDumpRows, accept};

/// Converts a run and returns the rows that `pj_dump` reads.
pub(crate) fn convert(run: &Path, options: &[&str]) -> PjDumpRows {
    let paje = run.with_extension("paje");
    succeed(tumit().arg("convert").args(options).arg(run).arg("-o").arg(&paje));
    accept(&paje);
    PjDumpRows::read(&paje)
}

/// Generates the header of a C or C++ example and compiles it with strict warnings.
pub(crate) fn build_c(folder: &Path, example: &str, compiler: &str, extra: &[&str]) -> PathBuf {
    let (standard, ending) = if compiler == "g++" { ("-std=c++11", "cpp") } else { ("-std=gnu99", "c") };
    let source = workspace().join("examples").join(example);
    let spec = std::fs::read_dir(&source)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "tumit"))
        .expect("the example has a spec");
    let header = spec.file_stem().unwrap().to_str().unwrap().to_owned() + "_trace.h";
    succeed(tumit().args(["gen", "c"]).arg(&spec).arg("-o").arg(folder.join(header)));
    let binary = folder.join(example);
    let mut command = std::process::Command::new(compiler);
    command.args([standard, "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-I"]);
    command.arg(folder).arg("-o").arg(&binary);
    for entry in std::fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == ending) {
            command.arg(path);
        }
    }
    succeed(command.args(extra).args(["-lm", "-pthread"]));
    binary
}

#[test]
fn molecular_dynamics_has_the_expected_trace() {
    let dir = tempfile::tempdir().unwrap();
    let idle = |placement: &str| {
        let run = dir.path().join(format!("{placement}.tmt"));
        let stdout = succeed(molecular_dynamics().args(["--placement", placement]).env("TUMIT_TRACE", &run));
        let rows = convert(&run, &[]);
        for (kind, name) in [("Container", "containers"), ("State", "states"), ("Link", "links")] {
            assert_eq!(rows.count(kind), count(&stdout, name), "{name} of the {placement} run");
        }
        assert_eq!(rows.reversed_links(), 0);
        std::fs::remove_dir_all(run).unwrap();
        idle_share(&rows)
    };
    // The emulated machines are real threads in real time: other programs may delay them, seldom
    // three times.
    let is_faster = (0..3).any(|_| {
        let (random, balanced) = (idle("random"), idle("balanced"));
        println!("idle shares: random {random:.3}, balanced {balanced:.3}");
        random >= 2.0 * balanced
    });
    assert!(is_faster, "a balanced placement leaves nodes idle as often");
}

/// The mean share of time during which no thread of a working node had a processor.
fn idle_share(rows: &PjDumpRows) -> f64 {
    let share = |node: &str| {
        let counts = rows.of("Variable").filter(|row| row[1] == node && row[2] == "Active threads");
        let (mut idle, mut all) = (0.0, 0.0);
        for row in counts {
            let (seconds, threads): (f64, f64) = (row[5].parse().unwrap(), row[6].parse().unwrap());
            all += seconds;
            idle += if threads == 0.0 { seconds } else { 0.0 };
        }
        assert!(0.0 < idle && idle < all, "{node}: idle for {idle} s of {all} s");
        idle / all
    };
    ["Node 1", "Node 2", "Node 3", "Node 4"].map(share).iter().sum::<f64>() / 4.0
}

/// The values of the array in the order of their positions.
fn sorted_values(csv: &str) -> Vec<u32> {
    let column = |heading: &str| csv.lines().next().unwrap().split(',').position(|name| name == heading).unwrap();
    let number = |line: &str, column: usize| line.split(',').nth(column).unwrap().parse::<u32>().unwrap();
    let (position, value) = (column("position"), column("value"));
    let rows = csv.lines().skip(1).map(|line| (number(line, position), number(line, value)));
    rows.collect::<BTreeMap<_, _>>().into_values().collect()
}

#[test]
fn a_view_in_rust_and_a_card_file_show_the_same_sort() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("sort.tmt");
    let sort = || sort_view("parallel_sort");
    let stdout = succeed(sort().args(["--elements", "20", "--threads", "3", "--pause", "20"]).env("TUMIT_TRACE", &run));
    let rows = convert(&run, &[]);
    assert_eq!(rows.count("Event"), count(&stdout, "events"));
    assert_eq!(rows.of("State").filter(|row| row[7] == "compare").count(), 3 * 20);
    let card = workspace().join("examples/sort-view/sort.card.toml");
    let mut times: Vec<f64> = rows.of("Event").map(|row| row[3].parse().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    let values = |seconds: f64| {
        let csv = dir.path().join("own.csv");
        let milliseconds = (seconds * 1e3).to_string();
        succeed(sort_view("sort-view").arg(&run).args(["--at", &milliseconds, "-o"]).arg(&csv));
        let own = sorted_values(&std::fs::read_to_string(csv).unwrap());
        let mut view = tumit();
        view.arg("view").arg(&run).arg("--perspective").arg(&card).args(["--at", &seconds.to_string()]);
        let all = succeed(view.args(["-o", "-", "--format", "csv"]));
        // The rows of the panel of elements.
        let of_array = all.lines().enumerate().filter(|(index, line)| *index == 0 || line.starts_with("Array,"));
        let array: Vec<&str> = of_array.map(|(_, line)| line).collect();
        assert_eq!(sorted_values(&array.join("\n")), own, "at {seconds} s");
        own
    };
    // After the start, after half of the exchanges, and at the end.
    let between = |event: usize| times[event].midpoint(times[event + 1]);
    let [first, middle, last] = [between(19), between(times.len() / 2), times[times.len() - 1] + 1e-6].map(values);
    assert!(last.is_sorted() && last.len() == 20, "{last:?}");
    assert!(!first.is_sorted() && first.len() == 20 && first != middle, "{first:?} {middle:?}");
    let image = dir.path().join("sort.svg");
    succeed(sort_view("sort-view").arg(&run).args(["--at", "1", "-o"]).arg(&image));
    let image = std::fs::read_to_string(image).unwrap();
    assert!(image.contains("Parallel sort") && image.contains("pairs are in the wrong order"));
}

#[test]
fn heat_on_four_ranks_has_the_expected_trace() {
    let dir = tempfile::tempdir().unwrap();
    let heat = build_c(dir.path(), "heat-mpi", "mpicc", &[]);
    let run = dir.path().join("heat.tmt");
    let stdout = succeed(mpirun(4).arg(&heat).env("TUMIT_TRACE", &run).current_dir(dir.path()));
    let rows = convert(&run, &[]);
    for (kind, name) in [("State", "states"), ("Link", "links"), ("Variable", "samples")] {
        assert_eq!(rows.count(kind), count(&stdout, name), "{name}");
    }
    assert_eq!(rows.reversed_links(), 0);
    let info = succeed(tumit().arg("info").arg(&run));
    assert!(["heat", "APP", "MPI"].iter().all(|word| info.contains(word)), "{info}");
}

#[test]
fn clock_correction_repairs_links_that_skewed_clocks_reverse() {
    let dir = tempfile::tempdir().unwrap();
    let heat = build_c(dir.path(), "heat-mpi", "mpicc", &[]);
    // Offset and drift do not guarantee order. Their precision depends on messages without delays;
    // ranks outnumber cores here, and other programs may delay them, seldom three times.
    let is_accurate = (0..3).any(|number| {
        let run = dir.path().join(format!("skewed{number}.tmt"));
        // Long enough for 50 ppm to matter: drift alone moves timestamps by more than the duration
        // of a message.
        let mut job = mpirun(4);
        job.arg(&heat).args(["120", "3000"]).env("TUMIT_TRACE", &run).env("HEAT_SKEW", "1").current_dir(dir.path());
        let links = count(&succeed(&mut job), "links");
        let raw = convert(&run, &["--clock", "none", "--causal", "off"]);
        assert!(raw.reversed_links() > 1000, "with the clocks as they are, messages arrive before they leave");
        let corrected = convert(&run, &[]);
        assert_eq!(corrected.count("Link"), links);
        assert_eq!(corrected.reversed_links(), 0);
        assert_eq!(convert(&run, &["--clock", "none"]).reversed_links(), 0);
        let plot = dir.path().join("clocks.svg");
        let report = succeed(tumit().arg("sync").arg(&run).arg("-o").arg(&plot));
        assert!(
            ["bursts+messages", "error bound", "0 with final timestamps"].iter().all(|word| report.contains(word)),
            "{report}"
        );
        let plot = std::fs::read_to_string(plot).unwrap();
        assert_eq!(plot.matches("<polyline").count(), 4, "a curve for each clock");
        // One reversed link in a hundred by the clocks alone would mean a wrong model.
        let by_clocks = convert(&run, &["--causal", "off"]).reversed_links() as u64;
        // The drifts that heat.c sets: -50, -19, +12 and +43 ppm; the reference is rank 0.
        let clocks: serde_json::Value = serde_json::from_str(&output_of_sync(&run)).unwrap();
        let drifts = clocks["clocks"].as_array().unwrap().iter().map(|clock| clock["drift_ppm"].as_f64().unwrap());
        let drifts: Vec<f64> = drifts.collect();
        println!("{by_clocks} of {links} links are reversed by the corrected clocks, drifts {drifts:?} ppm");
        assert_eq!(drifts.len(), 4);
        by_clocks * 100 <= links
            && drifts.iter().zip([0.0, 31.0, 62.0, 93.0]).all(|(drift, truth)| (drift - truth).abs() < 20.0)
    });
    assert!(is_accurate, "the corrected clocks are wrong");
}

/// The output of `tumit sync --json`. Its exit status is non-zero if links are still reversed.
fn output_of_sync(run: &Path) -> String {
    String::from_utf8(output(tumit().args(["sync", "--json"]).arg(run)).stdout).unwrap()
}

#[test]
fn taktuk_launches_a_binomial_tree() {
    let dir = tempfile::tempdir().unwrap();
    let taktuk = build_c(dir.path(), "taktuk", "gcc", &[]);
    let run = dir.path().join("taktuk.tmt");
    let stdout = succeed(std::process::Command::new(&taktuk).env("TUMIT_TRACE", &run).current_dir(dir.path()));
    let rows = convert(&run, &[]);
    for (kind, name) in [("Container", "containers"), ("State", "states"), ("Link", "links")] {
        assert_eq!(rows.count(kind), count(&stdout, name), "{name}");
    }
    assert_eq!(rows.reversed_links(), 0);
}

/// The number of reserved slots of a cluster, by user.
fn reservations(rows: &PjDumpRows) -> BTreeMap<String, usize> {
    let mut users = BTreeMap::new();
    for row in rows.of("State").filter(|row| row[2] == "Reservation" && row[7] != "Free") {
        *users.entry(row[7].clone()).or_default() += 1;
    }
    users
}

#[test]
fn a_sampled_machine_has_the_expected_trace() {
    let dir = tempfile::tempdir().unwrap();
    let sampler = build_c(dir.path(), "machine-sampler", "gcc", &[]);
    let sample = |name: &str, cluster: [&str; 2]| {
        let run = dir.path().join(name);
        let mut command = std::process::Command::new(&sampler);
        command.args(["--period", "1", "--samples", "110"]).args(cluster).env("TUMIT_TRACE", &run);
        let stdout = succeed(&mut command);
        let rows = convert(&run, &[]);
        for (kind, name) in
            [("Container", "containers"), ("State", "states"), ("Variable", "variables"), ("Event", "events")]
        {
            assert_eq!(rows.count(kind), count(&stdout, name), "{name}");
        }
        let slots = rows.of("Container").filter(|row| row[2].ends_with("slot")).count();
        assert_eq!(slots, 100);
        let load = rows.of("Variable").filter(|row| row[2] == "Load (1 min)").count();
        assert_eq!(load, 110, "one per sample");
        rows
    };
    let jobs = workspace().join("examples/machine-sampler/jobs.txt");
    let rows = sample("file.tmt", ["--jobs", jobs.to_str().unwrap()]);
    let expected = [("ada", 40), ("blaise", 10), ("carl", 50), ("emmy", 25), ("grace", 104), ("sofja", 20)];
    assert_eq!(reservations(&rows), expected.map(|(user, slots)| (user.to_owned(), slots)).into());
    // Grace's benchmark takes all processors, so it waits for all earlier jobs, and no job
    // overtakes it.
    let date = |row: &[String], column: usize| row[column].parse::<f64>().unwrap();
    let of = |user: &'static str| rows.of("State").filter(move |row| row[2] == "Reservation" && row[7] == user);
    let benchmark = of("grace").map(|row| date(row, 3)).fold(0.0, f64::max);
    assert!(of("blaise").all(|row| date(row, 4) <= benchmark));

    let played = reservations(&sample("one.tmt", ["--play", "7"]));
    assert!(played.len() > 2, "{played:?}");
    assert_eq!(played, reservations(&sample("two.tmt", ["--play", "7"])), "equal seeds make equal jobs");
    assert_ne!(played, reservations(&sample("three.tmt", ["--play", "8"])));
}

#[test]
fn an_interrupted_sampler_ends_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let sampler = build_c(dir.path(), "machine-sampler", "gcc", &[]);
    let run = dir.path().join("interrupted.tmt");
    // The period is an hour, so that only the signal can end the sampler.
    let mut child = std::process::Command::new(&sampler)
        .args(["--period", "3600000"])
        .env("TUMIT_TRACE", &run)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first_line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut first_line).unwrap();
    assert!(first_line.contains("Ctrl-C ends"), "{first_line}");
    succeed(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(count(&String::from_utf8(output.stdout).unwrap(), "samples"), 0);
}

#[test]
fn monitors_have_the_expected_trace() {
    let dir = tempfile::tempdir().unwrap();
    let bank = build_c(dir.path(), "monitors", "g++", &[]);
    let run = dir.path().join("bank.tmt");
    let stdout = succeed(std::process::Command::new(&bank).env("TUMIT_TRACE", &run));
    let rows = convert(&run, &[]);
    let containers = count(&stdout, "threads") + count(&stdout, "monitors") + 1;
    assert_eq!(rows.count("Container"), containers);
    assert_eq!(rows.count("State"), count(&stdout, "states"));
    let calls = rows.of("State").filter(|row| row[2] == "Call").count() as u64;
    assert_eq!(calls, count(&stdout, "calls"));
    assert_eq!(rows.count("Link"), count(&stdout, "releases") + count(&stdout, "notices"));
    assert_eq!(rows.reversed_links(), 0);
    // Tellers meet at least at the queue, and no teller wakes or follows itself.
    assert!(count(&stdout, "releases") > 0);
    assert!(rows.of("Link").all(|row| row[7] != row[8]));
    // The owner of a monitor holds it: the row of the monitor and that of the thread agree from the
    // same timestamp on.
    let locked: BTreeSet<(&str, &str)> = rows
        .of("State")
        .filter(|row| row[2] == "Monitor" && row[7] == "Holds")
        .map(|row| (row[1].as_str(), row[3].as_str()))
        .collect();
    let owned: Vec<(&str, &str)> = rows
        .of("State")
        .filter(|row| row[2] == "Owner" && row[7] != "Free")
        .map(|row| (row[7].as_str(), row[3].as_str()))
        .collect();
    // A thread may acquire two monitors at one timestamp.
    assert_eq!(owned.iter().copied().collect::<BTreeSet<_>>(), locked);
}

#[test]
fn a_run_and_its_paje_file_give_the_same_image() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("md.tmt");
    succeed(molecular_dynamics().args(["--steps", "4"]).env("TUMIT_TRACE", &run));
    convert(&run, &[]);
    let mut drawn = Vec::new();
    for input in ["md.tmt", "md.paje"] {
        succeed(tumit().args(["view", input, "-o", "a.svg", "-o", "a.png"]).current_dir(dir.path()));
        let svg = std::fs::read_to_string(dir.path().join("a.svg")).unwrap();
        assert!(svg.contains("<svg") && svg.contains("Node 1"), "{input}");
        // The spec and the text mark steps by upright lines.
        let mark = svg.lines().find(|line| line.contains("data-entity=\"e") && line.contains("Step"));
        assert!(mark.is_some_and(|mark| mark.matches('V').count() == 2), "{input}: {mark:?}");
        drawn.push(svg);
        let png = std::fs::read(dir.path().join("a.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{input}: {} bytes", png.len());
    }
    assert!(drawn[0] == drawn[1], "the images differ");
}

#[test]
fn dump_shows_every_record() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("md.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run));
    let json = succeed(tumit().arg("info").arg("--json").arg(&run));
    let info: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lines = succeed(tumit().args(["dump", "--json"]).arg(&run));
    let records: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = records.len();
    assert_eq!(info["records"].as_u64(), Some(records as u64));
    let text = output(tumit().arg("dump").arg(&run));
    assert!(text.status.success());
    assert_eq!(String::from_utf8_lossy(&text.stdout).lines().count(), records);
}
