//! Filters and statistics as a user sees them: by `tumit view --filter` and `tumit stats`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tests::programs::{output, tumit, workspace};

/// Two nodes of two threads that work for half a second and are blocked for another; one message.
fn trace() -> PathBuf {
    workspace().join("tests/paje/two-nodes.paje")
}

fn run(folder: &Path, args: &[&str]) -> Output {
    output(tumit().args(&args[..1]).arg(trace()).args(&args[1..]).current_dir(folder))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The image after these filters, as SVG.
fn draw_image(folder: &Path, filters: &[&str], options: &[&str]) -> String {
    let mut args = vec!["view", "-o", "a.svg"];
    args.extend(filters.iter().flat_map(|filter| ["--filter", filter]));
    args.extend(options);
    let out = run(folder, &args);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    fs::read_to_string(folder.join("a.svg")).unwrap()
}

fn rows(folder: &Path, args: &[&str]) -> Vec<Value> {
    let out = run(folder, &[&["stats", "--json"], args].concat());
    assert_eq!((out.status.code(), text(&out.stderr).as_str()), (Some(0), ""));
    text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn images_show_only_filtered_entities() {
    let dir = tempfile::tempdir().unwrap();
    let full_image = draw_image(dir.path(), &[], &[]);
    for name in ["thread 0.0", "thread 1.1", "Node 1", "working", "blocked", "Message"] {
        assert!(full_image.contains(name), "{name}");
    }
    let svg = draw_image(dir.path(), &["hide container Node 1"], &[]);
    assert!(svg.contains("thread 0.1") && !svg.contains("thread 1") && !svg.contains("Message from"), "hidden");
    let svg = draw_image(dir.path(), &["hide value blocked"], &[]);
    assert!(svg.contains("working") && !svg.contains("blocked"), "not in the legend either");
    let svg = draw_image(dir.path(), &["group Node 0, Node 1 into Front"], &[]);
    assert!(svg.contains("Front") && !svg.contains(">Node 0<") && svg.contains("thread 1.1"), "grouped");
    let svg =
        draw_image(dir.path(), &["count working of Activity per Node into Busy threads", "hide type Thread"], &[]);
    assert!(svg.contains("Busy threads") && !svg.contains("thread 0.0"), "reduced");
    let svg = draw_image(dir.path(), &["color #123456 working"], &[]);
    assert!(svg.contains("#123456"), "coloured");
    let svg = draw_image(dir.path(), &["order Node 1"], &[]);
    assert!(svg.find(">Node 1<") < svg.find(">Node 0<"), "ordered");
    // With the options of images: time range, size, theme.
    let svg = draw_image(
        dir.path(),
        &["only type Activity", "cut 0.25..0.75"],
        &["--width", "800", "--height", "400", "--theme", "dark", "--interval", "0.4.."],
    );
    assert!(svg.contains("width=\"800\"") && svg.contains("height=\"400\""), "{}", &svg[..300]);
    assert!(!svg.contains("Message") && svg.contains("400") && svg.contains("750"), "from 400 to 750 ms");
    let range = ["--interval", "0.4+0.2"];
    assert_eq!(draw_image(dir.path(), &[], &["--interval", "0.4..0.6"]), draw_image(dir.path(), &[], &range));
}

#[test]
fn statistics_are_exact_and_follow_the_time_range_and_the_filters() {
    let dir = tempfile::tempdir().unwrap();
    let all_rows = rows(dir.path(), &[]);
    let find = |rows: &[Value], value: &str| {
        rows.iter().find(|row| row["value"] == value).unwrap_or_else(|| panic!("{value}: {rows:?}")).clone()
    };
    let working = find(&all_rows, "working");
    assert_eq!(
        (&working["kind"], &working["type"], &working["count"]),
        (&"state".into(), &"Activity".into(), &4.into())
    );
    assert_eq!(
        (&working["time"], &working["share"], &working["duration_max"]),
        (&2.0.into(), &0.5.into(), &0.5.into())
    );
    let message = all_rows.iter().find(|row| row["kind"] == "link").unwrap();
    assert_eq!((&message["count"], &message["duration_mean"]), (&1.into(), &0.1.into()));
    let part = rows(dir.path(), &["--interval", "0.4..0.6", "--filter", "only container Node 0"]);
    assert_eq!(find(&part, "working")["time"], 0.2);
    assert!(part.iter().all(|row| row["kind"] != "link"), "its other end is hidden");
    let rows_of_containers = rows(dir.path(), &["--by", "container", "--filter", "group thread 0.* into both"]);
    let group_row =
        rows_of_containers.iter().find(|row| row["container"] == "Node 0/both" && row["value"] == "blocked").unwrap();
    assert_eq!((&group_row["time"], &group_row["share"]), (&1.0.into(), &0.5.into()), "of two threads together");
    let pair = rows_of_containers.iter().find(|row| row["kind"] == "link").unwrap();
    assert_eq!((&pair["container"], &pair["to"]), (&"Node 0/both".into(), &"Node 1/thread 1.1".into()));
    let busy = rows(dir.path(), &["--filter", "count working of Activity per Node into Busy", "--by", "container"]);
    let busy = busy.iter().find(|row| row["type"] == "Busy" && row["container"] == "Node 0").unwrap();
    assert_eq!((&busy["mean"], &busy["max"], &busy["min_at"]), (&1.0.into(), &2.0.into(), &0.5.into()));
    let out = run(dir.path(), &["stats", "--csv", "--by", "type"]);
    let csv = text(&out.stdout);
    assert!(csv.starts_with("kind,type,container,to,value,count,time,share,self_time,self_share,"), "{csv}");
    assert!(csv.contains("\nstate,Activity,,,,8,4.0,1.0,4.0,1.0,0.5,0.5,0.5,0.5,0.5,"), "{csv}");
    let indexed = text(&run(dir.path(), &["stats", "--csv", "--by", "type", "--index", "a.tmtx"]).stdout);
    assert!(indexed == csv && dir.path().join("a.tmtx").is_file());
    let refused = run(dir.path(), &["stats", "--clock", "none"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("options for clocks, rules, outputs and launches are for runs only"));
    let table = text(&run(dir.path(), &["stats"]).stdout);
    assert!(
        table.starts_with("two-nodes, 0 s to 1") && table.contains("working") && table.contains("50.0 %"),
        "{table}"
    );
}

#[test]
fn recursive_states_count_once_and_self_times_add_up_to_the_time() {
    let dir = tempfile::tempdir().unwrap();
    let head = fs::read_to_string(workspace().join("viewer/tests/header.paje")).unwrap();
    // State main from 0 to 10 s, f from 1 to 6 s, and a nested f from 2 to 5 s. A short thread is
    // always busy.
    let body = "0 T 0 Thread\n2 S T Calls\n5 main S main \"0 0 1\"\n5 f S f \"0 1 0\"\n5 work S work \"1 0 0\"\n\
        6 0 a 0 T a\n6 4 b 0 T b\n12 0 a S main\n12 1 a S f\n12 2 a S f\n12 4 b S work\n\
        13 5 a S\n13 5 b S\n7 5 T b\n13 6 a S\n13 10 a S\n7 10 T a\n";
    fs::write(dir.path().join("recursion.paje"), head + body).unwrap();
    let stats = |index: &str, more: &[&str]| {
        let args = ["stats", "--json", "--by", "container", "--index", index, "recursion.paje"];
        let out = output(tumit().current_dir(dir.path()).args(args).args(more));
        let rows = text(&out.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
        let row = |row: &Value| {
            let number = |name: &str| row[name].as_f64().unwrap();
            let numbers = ["count", "time", "share", "self_time", "self_share"].map(number);
            (row["value"].as_str().unwrap().to_owned(), numbers)
        };
        rows.iter().map(row).collect::<std::collections::BTreeMap<String, [f64; 5]>>()
    };
    for index in ["none", "a.tmtx"] {
        let full_stats = stats(index, &[]);
        assert_eq!(full_stats["main"], [1.0, 10.0, 1.0, 5.0, 0.5]);
        assert_eq!(full_stats["f"], [2.0, 5.0, 0.5, 5.0, 0.5]);
        assert_eq!(full_stats["work"], [1.0, 1.0, 1.0, 1.0, 1.0], "a share is of the lifetime of its thread");
        let part = stats(index, &["--interval", "4..8"]);
        assert_eq!((part["main"], part["f"]), ([1.0, 4.0, 1.0, 2.0, 0.5], [2.0, 2.0, 0.5, 2.0, 0.5]));
        assert_eq!(part["work"], [1.0, 1.0, 1.0, 1.0, 1.0]);
        let hidden = stats(index, &["--filter", "hide value f of Calls"]);
        assert_eq!(hidden["main"], [1.0, 10.0, 1.0, 10.0, 1.0]);
    }
    let table = text(&output(tumit().current_dir(dir.path()).args(["stats", "recursion.paje"])).stdout);
    assert!(table.contains("Self share"), "{table}");
}

#[test]
fn the_first_of_several_equal_extremes_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let head = fs::read_to_string(workspace().join("viewer/tests/header.paje")).unwrap();
    let body = "0 T 0 Thread\n1 V T Load \"1 0 0\"\n6 0 a 0 T a\n6 0 b 0 T b\n8 0 a V 5\n8 0 b V 5\n8 2 b V 9\n8 3 b V 1\n\
        8 6 a V 9\n8 7 a V 1\n7 10 T a\n7 10 T b\n";
    fs::write(dir.path().join("tie.paje"), head + body).unwrap();
    let out = output(tumit().current_dir(dir.path()).args(["stats", "--csv", "tie.paje"]));
    assert!(text(&out.stdout).ends_with(",1.0,3.0,b,9.0,2.0,b,,,,,,\n"), "{out:?}");
}

#[test]
fn filters_are_saved_to_files_and_read_from_them() {
    let dir = tempfile::tempdir().unwrap();
    draw_image(dir.path(), &["hide value blocked", "hide container Node 1"], &["--save-filters", "mine.tumit-view"]);
    let saved = fs::read_to_string(dir.path().join("mine.tumit-view")).unwrap();
    assert!(saved.contains("\"hide value blocked\",\n"), "{saved}");
    let svg = draw_image(dir.path(), &[], &["--filters", "mine.tumit-view"]);
    assert!(!svg.contains("blocked") && !svg.contains("Node 1"));
    // A disabled filter has no effect. A filter with a name that only another run has is reported
    // and left out.
    let edited_filters = saved.replace(
        "\"hide value blocked\"",
        "{ \"filter\": \"hide value blocked\", \"on\": false }, \"hide value gone\"",
    );
    fs::write(dir.path().join("other.tumit-view"), edited_filters).unwrap();
    let out = run(dir.path(), &["view", "--filters", "other.tumit-view", "-o", "b.svg"]);
    assert_eq!(out.status.code(), Some(0));
    assert!(
        text(&out.stderr).contains("other.tumit-view: ignored filter 2, `hide value gone`: no value is called `gone`")
    );
    let svg = fs::read_to_string(dir.path().join("b.svg")).unwrap();
    assert!(svg.contains("blocked") && !svg.contains("Node 1"));
}

#[test]
fn mistakes_are_reported_before_anything_is_drawn() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.tumit-view"), "{ \"format\": \"tumit-view\", \"version\": 1, \"filters\": [3] }")
        .unwrap();
    for (args, words) in [
        (&["--filter", "hide x"][..], "expected type, value, container, where or duration, found `x`"),
        (&["--filter", "hide value workin"], "no value is called `workin`; did you mean `working`?"),
        (&["--filter", "hide container Node 7"], "no container is called `Node 7`"),
        (&["--filter", "cut 7..8"], "the time range `7s..8s` is outside the trace, which is `0s.."),
        (&["--interval", "7..8"], "the time range `7s..8s` is outside the trace, which is `0s.."),
        (&["--interval", "0.4..0.2"], "`0.4..0.2`: expected the start before the end"),
        (&["--interval", "5y.."], "`5y`: expected one of the units"),
        (&["--filter", "sum of Activity per Node"], "name a field"),
        (&["--filters", "bad.tumit-view"], "bad.tumit-view: `filters[0]`: expected an expression"),
        (&["--filters", "none.tumit-view"], "none.tumit-view"),
    ] {
        let out = run(dir.path(), &[&["view", "-o", "x.svg"], args].concat());
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(words), "{args:?}: {}", text(&out.stderr));
        assert!(!dir.path().join("x.svg").exists());
    }
    let out = run(dir.path(), &["stats", "--interval", "3"]);
    assert!(text(&out.stderr).contains("expected a time range FROM..TO"), "{}", text(&out.stderr));
}

#[test]
fn links_are_filtered_by_conditions_on_their_endpoints() {
    let dir = tempfile::tempdir().unwrap();
    let count = |filter: &str, kind: &str| {
        let all = rows(dir.path(), &["--filter", filter]);
        all.iter().filter(|row| row["kind"] == kind).filter_map(|row| row["count"].as_u64()).sum::<u64>()
    };
    // Only links are filtered: by either endpoint, in a container or below it.
    for (filter, links) in [
        ("only where involves Node 0", 1),
        ("only where involves Node 1", 1),
        ("only where involves thread 0.0, thread 1.1", 1),
        ("only where not involves Node 0", 0),
        ("hide where involves Node 1 and from ~ *0.*", 0),
        ("only where from ~ thread 1.* or to = thread 1.0, thread 1.1", 1),
        ("only where not (from ~ thread 1.* or to = thread 1.0, thread 1.1) of Message", 0),
    ] {
        assert_eq!(count(filter, "link"), links, "{filter}");
    }
    assert_eq!(count("only where not involves Node 0", "state"), count("reuse Thread", "state"));
    assert_eq!(count("only where involves Node 0 and value = working of Activity", "state"), 2);
    let most = |filter: &str, node: &str| {
        let all = rows(dir.path(), &["--filter", filter, "--by", "container"]);
        all.iter().find(|row| row["type"] == "N" && row["container"] == node).map(|row| row["max"].clone())
    };
    for (filter, expected) in [
        ("count of Message per Node into N", [1.0, 1.0]),
        ("count sent of Message per Node into N", [1.0, 0.0]),
        ("count received of Message per Node into N", [0.0, 1.0]),
    ] {
        let values = ["Node 0", "Node 1"].map(|node| most(filter, node));
        assert_eq!(values, expected.map(|number| Some(number.into())), "{filter}");
    }
    // A file of the current version contains these expressions. A file of version 1 keeps its
    // meaning.
    draw_image(
        dir.path(),
        &["only where not (from = thread 0.0 or involves Node 1)"],
        &["--save-filters", "new.tumit-view"],
    );
    let saved = fs::read_to_string(dir.path().join("new.tumit-view")).unwrap();
    assert!(saved.contains("\"version\": 2"), "{saved}");
    draw_image(dir.path(), &[], &["--filters", "new.tumit-view"]);
    fs::write(
        dir.path().join("old.tumit-view"),
        "{\"format\":\"tumit-view\",\"version\":1,\"filters\":[\"hide where value = this and that (not x)\"]}",
    )
    .unwrap();
    draw_image(dir.path(), &[], &["--filters", "old.tumit-view", "--save-filters", "same.tumit-view"]);
    let saved = fs::read_to_string(dir.path().join("same.tumit-view")).unwrap();
    assert!(
        saved.contains(r#"hide where value = \"this and that (not x)\""#) && saved.contains("\"version\": 1"),
        "{saved}"
    );
    for (filter, words) in [
        ("only where involves Node 7", "no container is called `Node 7`"),
        ("count sent of Activity per Node", "example: `count \"sent\" of Activity per Node`"),
        ("only where (value = working", "expected `)`, found the end"),
    ] {
        let out = run(dir.path(), &["stats", "--filter", filter]);
        assert!(!out.status.success() && text(&out.stderr).contains(words), "{}", text(&out.stderr));
    }
}

#[test]
fn conditions_with_unknown_names_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let example = |filter: &str, words: &str| {
        let out = run(dir.path(), &["stats", "--filter", filter]);
        let message = text(&out.stderr);
        assert!(out.status.code() == Some(2) && message.contains(words), "{filter}: {message}");
        let example = message.trim_end().rsplit_once("; example: `").unwrap().1.trim_end_matches('`').to_owned();
        assert!(!rows(dir.path(), &["--filter", &example]).is_empty(), "{example}");
        example
    };
    let links = |filter: &str| rows(dir.path(), &["--filter", filter]).iter().any(|row| row["kind"] == "link");
    for (filter, words, expected) in [
        (
            "only where from = Node 0",
            "no link of Message starts at `Node 0` itself",
            "only where from ~ Node 0/* of Message",
        ),
        ("hide where to ~ Node ? of Message", "ends at `Node ?` itself", "only where to ~ Node 0/* of Message"),
        ("only where not (from = Node 1)", "`involves` either endpoint", "only where from ~ Node 1/* of Message"),
    ] {
        assert_eq!(example(filter, words), expected);
    }
    assert!(links("only where from ~ Node 0/* of Message") && links("only where involves Node 1"));
    // A container of the type at which links start may have no links.
    assert!(!links("only where from = thread 0.1"));
    assert_eq!(
        example("only where value = workin", "no value is called `workin`; did you mean `working`?"),
        "only value working"
    );
    example("hide where value ~ x* or value = working", "no value is called `x*`");
    example("only where container = thread 7", "no container is called `thread 7`");
    for filter in ["only where value != workin", "only where value ~ work*", "only where value = working, blocked"] {
        assert!(!rows(dir.path(), &["--filter", filter]).is_empty(), "{filter}");
    }
}

#[test]
fn saved_filters_never_replace_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.txt");
    let save = |name: &str| run(dir.path(), &["stats", "--filter", "reuse Thread", "--save-filters", name]);
    fs::write(&file, "precious").unwrap();
    std::os::unix::fs::symlink(&file, dir.path().join("link.tumit-view")).unwrap();
    for (name, words) in [("notes.txt", "is not a file of filters"), ("link.tumit-view", "is a symbolic link")] {
        let out = save(name);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(words), "{}", text(&out.stderr));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    }
    for _ in 0..2 {
        assert_eq!(save("mine.tumit-view").status.code(), Some(0), "our own file is replaced");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "nothing else is left behind");
}

/// Both file descriptors of a pseudoterminal.
fn terminal() -> (fs::File, fs::File) {
    use std::os::fd::FromRawFd as _;
    let (mut master, mut terminal) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: both pointers refer to variables for a descriptor; name and settings may be null.
    let result =
        unsafe { libc::openpty(&raw mut master, &raw mut terminal, null, std::ptr::null_mut(), std::ptr::null_mut()) };
    assert_eq!(result, 0);
    // SAFETY: `openpty` returned the descriptor, and no other object owns it.
    let master = unsafe { fs::File::from_raw_fd(master) };
    // SAFETY: as above.
    (master, unsafe { fs::File::from_raw_fd(terminal) })
}

/// Sends a request to a server, and returns the whole answer.
fn response(port: &str, path: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_address_passed_to_the_browser_works_only_once() {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (opener, arguments_file) = (dir.path().join("xdg-open"), dir.path().join("seen"));
    fs::write(&opener, "#!/bin/sh\necho \"$#\" \"$@\" > \"$SEEN.part\"\nmv \"$SEEN.part\" \"$SEEN\"\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let (mut terminal, other_side) = terminal();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let mut viewer = tumit()
        .arg("view")
        .arg(trace())
        .args(["--until-idle", "60"])
        .envs([("PATH", path.as_str()), ("DISPLAY", ":0")])
        .env("SEEN", &arguments_file)
        .env_remove("SSH_CONNECTION")
        .stdin(other_side.try_clone().unwrap())
        .stderr(other_side)
        .spawn()
        .unwrap();
    let mut stderr = String::new();
    while !stderr.contains("Ctrl-C") {
        let mut bytes = [0; 1024];
        let read = terminal.read(&mut bytes).unwrap();
        stderr += &String::from_utf8_lossy(&bytes[..read]);
    }
    let printed = stderr.split_whitespace().find(|word| word.starts_with("http://")).expect("an address");
    while !arguments_file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let arguments = fs::read_to_string(&arguments_file).unwrap();
    let (host, page) = printed.split_at(printed.find("/t/").expect("the secret"));
    let (_, port) = host.rsplit_once(':').unwrap();
    let secret = page.trim_start_matches("/t/").trim_end_matches('/');
    let once = arguments.trim().strip_prefix(&format!("1 {host}")).expect("one argument, an address of the server");
    assert!(secret.len() == 32 && !once.contains(secret), "{once}");
    let first = response(port, once);
    assert!(first.starts_with("HTTP/1.1 303") && first.contains(&format!("location: {page}\r\n")), "{first}");
    let second = response(port, once);
    assert!(second.starts_with("HTTP/1.1 410") && second.contains("printed in the terminal"), "{second}");
    assert!(!second.contains(secret));
    assert!(response(port, page).starts_with("HTTP/1.1 200"), "the printed address goes on to work");
    viewer.kill().unwrap();
    viewer.wait().unwrap();
}
