//! Images of very many events and links, by the command: they show all of them, no sample.

use std::fmt::Write as _;
use std::path::Path;

use tests::programs::{output, succeed, tumit};

const HEADER: &str = include_str!("../../../../viewer/tests/header.paje");

/// The titles in the image of a trace.
fn titles(folder: &Path, trace: &str, options: &[&str]) -> Vec<String> {
    std::fs::write(folder.join("a.paje"), trace).unwrap();
    succeed(tumit().args(["view", "a.paje", "-o", "a.svg", "--width", "1000"]).args(options).current_dir(folder));
    let svg = std::fs::read_to_string(folder.join("a.svg")).unwrap();
    let titles = svg.split("<title>").skip(1).filter_map(|text| text.split_once("</title>"));
    titles.map(|(title, _)| title.replace('\u{202f}', "")).collect()
}

/// The number before the text `behind`.
fn number(title: &str, suffix: &str) -> Option<u64> {
    title.split_once(suffix)?.0.trim().parse().ok()
}

#[test]
fn bars_of_a_row_add_up_to_all_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = HEADER.to_owned()
        + "0 T 0 Thread\n3 E T Mark \"0 0 1\"\n5 a E often \"1 0 0\"\n5 b E seldom \"0 1 0\"\n6 0 t 0 T t\n";
    for number in 0..600_000 {
        writeln!(trace, "17 {}.{:03} t E {}", number / 1000, number % 1000, if number % 4 == 0 { "b" } else { "a" })
            .unwrap();
    }
    let titles = titles(folder.path(), &trace, &[]);
    let sum = |suffix: &str| titles.iter().filter_map(|title| number(title, suffix)).sum::<u64>();
    assert_eq!((sum("× often"), sum("× seldom")), (450_000, 150_000));
    let bars: Vec<u64> = titles.iter().filter_map(|title| number(title, "× often")).collect();
    assert!(bars.len() > 300, "{} bars", bars.len());
    // Evenly spread events have bars of equal height, up to the right end.
    let mean = 450_000 / bars.len() as u64;
    assert!(bars.iter().all(|&bar| bar.abs_diff(mean) < mean / 10), "{bars:?}");
}

#[test]
fn combined_links_add_up_to_all_links() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = HEADER.to_owned() + "0 T 0 Thread\n4 L 0 T T Message\n5 m L data \"1 0 0\"\n";
    for row in 0..20 {
        writeln!(trace, "6 0 t{row} 0 T t{row}").unwrap();
    }
    // A fifth of the links is spread over time and rows. The others are late, within 80 µs, from
    // one row to another.
    const ALL: u64 = 100_000;
    for number in 0..ALL {
        let (date, from, to) = match number {
            0..20_000 => (number * 40_000, number * 7 % 20, number * 13 % 17),
            _ => (900_000_000 + number, 3, 12),
        };
        let end = date + 500;
        writeln!(trace, "15 0.{date:09} 0 L t{from} m k{number}\n16 0.{end:09} 0 L t{to} m k{number}").unwrap();
    }
    for options in [&[][..], &["--filter", "only where key ~ k* of Message", "--filter", "group t1, t2 into pair"][..]]
    {
        let titles = titles(folder.path(), &trace, options);
        let links = |title: &str| match number(title, "links, Message") {
            Some(count) => count,
            None => u64::from(title.starts_with("Message from ")),
        };
        assert_eq!(titles.iter().map(|title| links(title)).sum::<u64>(), ALL);
        let most = titles.iter().max_by_key(|title| links(title)).unwrap();
        assert!(links(most) >= 80_000 && most.contains("from t3 to t12"), "{most:?}");
    }
}

/// A trace of nodes with threads. Each thread has a state.
fn threads(nodes: usize, threads_per_node: usize) -> String {
    let mut trace = HEADER.to_owned() + "0 N 0 Node\n0 T N Thread\n2 S T State\n5 a S busy \"1 0 0\"\n";
    for node in 0..nodes {
        writeln!(trace, "6 0 n{node} 0 N n{node}").unwrap();
        for thread in 0..threads_per_node {
            writeln!(trace, "6 0 t{node}_{thread} n{node} T t{node}_{thread}\n11 {thread} t{node}_{thread} S a")
                .unwrap();
        }
    }
    trace
}

/// Width and height of a PNG.
fn size(png: &[u8]) -> [u32; 2] {
    [16, 20].map(|index| u32::from_be_bytes(*png[index..].first_chunk().unwrap()))
}

#[test]
fn rows_beyond_the_height_of_an_image_are_folded() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |options: &[&str]| {
        let mut command = tumit();
        output(command.args(["view", "a.paje", "-o", "a.png"]).args(options).current_dir(folder.path()))
    };
    let drawn = || size(&std::fs::read(folder.path().join("a.png")).unwrap());
    std::fs::write(folder.path().join("a.paje"), threads(40, 200)).unwrap();
    for (options, height) in [(&[][..], 40 * 20..40 * 40), (&["--height", "700", "--scale", "3"], 2100..2101)] {
        let stderr = String::from_utf8(draw(options).stderr).unwrap().replace('\u{202f}', ",");
        let expected = "containers of level 0 are folded, because 8,040 rows are too many for an image";
        assert!(stderr.contains(expected), "{stderr}");
        let [_, drawn] = drawn();
        assert!(height.contains(&drawn), "{options:?}: {drawn}");
    }
    // Rows without a hierarchy cannot be folded; the message suggests a filter.
    std::fs::write(folder.path().join("a.paje"), threads(8000, 0)).unwrap();
    let out = draw(&[]);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(!out.status.success() && stderr.contains("--filter 'group * into All'"), "{stderr}");
    assert!(draw(&["--filter", "group * into All"]).status.success());
    assert!(drawn()[1] < 300);
}

#[test]
fn durations_of_centuries_are_added_up_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let year = 31_536_000;
    let mut trace = format!("{HEADER}0 H 0 Host\n2 S H State\n5 on S on \"0 1 0\"\n5 off S off \"1 0 0\"\n");
    for host in 0..600 {
        writeln!(trace, "6 0 h{host} 0 H h{host}\n11 0 h{host} S on\n11 {} h{host} S off", year / 4).unwrap();
    }
    writeln!(trace, "7 {year} H h0").unwrap();
    std::fs::write(folder.path().join("a.paje"), trace).unwrap();
    for index in [&["--index", "none"][..], &[]] {
        let statistics = output(tumit().args(["stats", "a.paje"]).args(index).current_dir(folder.path()));
        let statistics = String::from_utf8_lossy(&statistics.stdout).replace('\u{202f}', "");
        assert!(statistics.contains("54750 d  25.0 %") && statistics.contains("164250 d  75.0 %"), "{statistics}");
    }
}
