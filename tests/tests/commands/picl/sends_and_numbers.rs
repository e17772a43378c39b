//! Sends without a receive, the numbers of tasks, and files that are no PICL.

use std::fs;

use super::{folder_with, run, table};

/// A send without a receive keeps its record and its duration.
#[test]
fn sends_that_are_not_received_are_written() {
    let text = "1 0 0 0 4 4 0\n1 0 0 1 4 4 0\n4 0 100 0 1 7 64\n11 0 100 0 0 0\n11 0 150 0 0 50\n\
                4 0 200 0 5 7 32\n11 0 200 0 0 50\n11 0 210 0 0 60\n13 0 300 0\n13 0 300 1\n";
    let dir = folder_with("x.picl", text);
    let (_, out, errors) = run(dir.path(), &["convert", "x.picl", "-o", "-", "--format", "picl-old"]);
    // Node 2 does not exist, and neither does node 5.
    for records in
        ["4 0 100 0 1 7 64\n11 0 100 0 0 0\n11 0 150 0 0 50\n", "4 0 200 0 2 7 32\n11 0 200 0 0 50\n11 0 210 0 0 60\n"]
    {
        assert!(out.contains(records), "{out}");
    }
    assert!(errors.contains("values of variables") && !errors.contains("link"), "{errors}");
    let shares = table(dir.path(), "x.picl", "utilization-summary", &[]);
    // A filter sends the trace in another way. Pajé text cannot have such links.
    let filtered = ["convert", "x.picl", "-o", "y.picl", "--filter", "only value *"];
    for args in [&["convert", "x.picl", "-o", "y.picl"][..], &filtered] {
        run(dir.path(), args);
        assert_eq!(table(dir.path(), "y.picl", "utilization-summary", &[]), shares, "{args:?}");
        let (_, out, _) = run(dir.path(), &["check", "y.picl"]);
        assert!(out.contains("2 times") && out.contains("type 7 to node 1"), "{args:?} {out}");
    }
    for args in
        [&["convert", "x.picl", "-o", "y.paje"][..], &[&filtered[..2], &["-o", "y.paje"], &filtered[4..]].concat()]
    {
        let (_, _, errors) = run(dir.path(), args);
        assert!(errors.contains("2 links that never end were left out"), "{args:?}: {errors}");
    }
}

#[test]
fn tasks_have_the_numbers_and_colours_of_the_trace() {
    let text = "1 0 0 0 4 4 0\n20 0 1 0 10 0 0\n21 0 5 0 10 0 0\n20 0 6 0 2 0 0\n21 0 9 0 2 0 0\n\
                20 0 10 0 1 0 0\n21 0 12 0 1 0 0\n19 0 20 0 0\n";
    let dir = folder_with("x.picl", text);
    let tasks = |sort: &str| {
        let rows = table(dir.path(), "x.picl", "task-summary", &["--option", sort]);
        rows[1..].iter().map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tasks("sort=number"), ["1", "2", "10"]);
    assert_eq!(tasks("sort=begin"), ["10", "2", "1"]);
    // The colour of a number modulo six is the same in the diagram and in all views.
    let svg = |args: &[&str]| {
        let (code, _, errors) = run(dir.path(), &[&["view", "x.picl", "-o", "x.svg"], args].concat());
        assert_eq!(code, Some(0), "{errors}");
        fs::read_to_string(dir.path().join("x.svg")).unwrap()
    };
    for args in [&[][..], &["--perspective", "task-gantt"], &["--perspective", "task-summary"]] {
        let image = svg(args);
        let colors = ["#5cb8ec", "#0a8f6b", "#e69f00"];
        assert!(colors.iter().all(|color| image.contains(color)), "{args:?}");
    }
}

#[test]
fn the_extension_chooses_the_reader() {
    for (text, found) in
        [("", "an empty file"), ("\x01\0\x02\0", "binary data"), ("x y z\n", "text that starts with `x y z`")]
    {
        let dir = folder_with("x.picl", text);
        for args in [&["check", "x.picl"][..], &["stats", "x.picl"], &["view", "x.picl", "-o", "x.svg"]] {
            let (code, out, errors) = run(dir.path(), args);
            assert_eq!(code, Some(2), "{args:?}: {out}{errors}");
            assert!(errors.contains("its extension is that of PICL and Alog"), "{args:?}: {errors}");
            assert!(errors.contains(&format!("found {found}")), "{args:?}: {errors}");
        }
    }
    // NUL bytes at the end are no part of the trace.
    let dir = folder_with("x.picl", "1 0 0 0 4 4 0\n20 0 100 0 5 0 0\n21 0 200 0 5 0 0\n13 0 300 0\n\0\0\0");
    let (code, out, errors) = run(dir.path(), &["check", "--strict", "x.picl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("is correct"), "{out}");
}
