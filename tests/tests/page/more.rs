//! Charts, sources, notes, panes and files.

use tests::page::{SETTLED, TRACE, Viewer, open, press, read, spot};

#[test]
fn statistics_have_charts_and_extremes_lead_to_where_they_are() {
    let viewer = Viewer::start();
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    press(&mut browser, "radio", "Pie");
    browser.wait("document.querySelector('#times').dataset.form === 'pie'");
    let told = read(&mut browser, "tabpanel", "Statistics");
    assert!(told.contains("working") && told.contains("50.0 %"), "{told}");
    press(&mut browser, "checkbox", "percent");
    browser.wait("document.querySelector('#times .key').innerText.includes('2.000 s')");
    let slice = browser.find_all("button", None).into_iter().find(|one| one.name.starts_with("blocked: ")).unwrap();
    let at = browser.place(&slice).center();
    browser.click(at);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.key("Escape");
    press(&mut browser, "radio", "Columns");
    browser.wait("document.querySelectorAll('#times[data-form=columns] .plot rect').length === 2");
    press(&mut browser, "radio", "Durations");
    browser.wait("document.querySelectorAll('#times[data-form=durations] .plot rect').length === 1");
    assert_eq!(
        browser.evaluate("document.querySelector('#times .plot rect title').textContent.startsWith('8 from ')"),
        true
    );
    press(&mut browser, "radio", "Matrix");
    browser.wait("document.querySelector('#times[data-form=matrix] .plot [role=button]')");
    let cell = browser
        .find_all("button", None)
        .into_iter()
        .find(|one| one.name.starts_with("thread 0.0 → thread 1.1: 1"))
        .unwrap();
    let at = browser.place(&cell).center();
    browser.click(at);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'm'");
    browser.key("Escape");
    press(&mut browser, "radio", "Over time");
    browser.wait("document.querySelectorAll('#times[data-form=curves] .plot [role=button]').length === 2");
    press(&mut browser, "radio", "Variables");
    browser.wait(
        "document.querySelector('#times[data-form=variables]')?.innerText.includes('There are no variables in it')",
    );
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The small trace with places in a source: line 3 works, line 5 waits.
fn with_sources() -> String {
    TRACE
        .replace("%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n", "%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n% File string\n% Line int\n")
        .lines()
        .map(|line| match (line.starts_with("5 ") && !line.starts_with("5 S"), line.ends_with(" w")) {
            (true, true) => format!("{line} \"../src/solve.c\" 3\n"),
            (true, false) => format!("{line} \"../src/solve.c\" 5\n"),
            (false, _) => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn an_entity_leads_to_its_line_and_a_line_to_its_entities() {
    let trace = with_sources();
    assert!(trace.contains("% File string") && trace.contains("solve.c\" 5"), "{trace}");
    let viewer = Viewer::with(&[&trace], &["--source", "."]);
    let folder = viewer.folder.path().join("src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("solve.c"), "one\ntwo\n<b>work</b>\nfour\nwait();\n").unwrap();
    let (mut browser, chart) = open(&viewer);
    let at = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(at);
    press(&mut browser, "button", "../src/solve.c:3");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === '<b>work</b>'");
    browser.find("list", Some("Lines of ../src/solve.c"));
    press(&mut browser, "button", "Light 4 of line 5, 2.000 s");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === 'wait();'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    drop((browser, viewer));
    // Without a folder the pane says how to give one.
    let viewer = Viewer::of(&trace);
    let (mut browser, chart) = open(&viewer);
    let at = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(at);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'working'");
    browser.key("s");
    browser.wait("document.querySelector('#source')?.innerText.includes('tumit view --source DIR')");
    press(&mut browser, "button", "Close the source");
    browser.wait("document.querySelector('#source').hidden");
}

#[test]
fn notes_are_kept_beside_the_trace() {
    let viewer = Viewer::start();
    let (mut browser, _) = open(&viewer);
    browser.key("g");
    browser.type_text("0.2..0.4 s");
    browser.key("Enter");
    browser.wait(SETTLED);
    browser.key("b");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    browser.type_text("late <i>message</i>");
    browser.key("Enter");
    browser.find("button", Some("Go to note late <i>message</i>"));
    let kept = std::fs::read_to_string(viewer.folder.path().join("two-nodes.paje.tumit-notes")).unwrap();
    assert!(kept.contains("late <i>message</i>") && kept.contains("200000000"), "{kept}");
    browser.key("f");
    browser.open("about:blank#away");
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    press(&mut browser, "tab", "Notes");
    press(&mut browser, "button", "Go to note late <i>message</i>");
    browser.wait("document.querySelector('#interval-field').value.startsWith('200')");
    press(&mut browser, "button", "Remove note late <i>message</i>");
    browser.wait("document.querySelector('#notes-say').innerText.startsWith('Press b')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn two_traces_stand_on_one_axis_and_their_differences_in_a_table() {
    let viewer = Viewer::with(&[TRACE, &TRACE.replace("5 0.5", "5 0.25")], &[]);
    let mut browser = tests::browser::Browser::start(1280, 720);
    browser.open(&viewer.url);
    let both = |what: &str| format!("[0, 1].every(at => {{ const page = frames[at]?.document; return {what}; }})");
    browser.wait(&both("page?.querySelector('#chart')?.dataset.settled === 'true'"));
    // What is typed in one moves the other.
    browser.evaluate("frames[0].document.querySelector('#interval-field').focus()");
    browser.evaluate("frames[0].document.querySelector('#interval-field').value = '0.2..0.6 s'");
    browser.evaluate("frames[0].document.querySelector('#interval').requestSubmit()");
    browser.wait(&both("page.querySelector('#interval-field').value.startsWith('200')"));
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#table tbody')");
    let told = read(&mut browser, "table", "Differences of time in states").replace('\u{202f}', " ");
    // Of 0.2 to 0.6 s four threads work 0.3 s in one, 0.05 s in the other.
    assert!(told.contains("−1.00 s") && told.contains("+1.00 s"), "{told}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn what_is_seen_is_exported_behind_the_filters() {
    let viewer = Viewer::with(&[TRACE], &["--filter", "only container Node 1"]);
    let (mut browser, _) = open(&viewer);
    press(&mut browser, "button", "Save and open");
    browser.find("menuitem", Some("Save picture as SVG"));
    browser.key("Escape");
    let ask = |format: &str| {
        format!(
            "fetch('api/export?from=0&to=1000000000&width=900&format={format}&filters=' + encodeURIComponent('[\"only container Node 1\"]')).then(answer => answer.text())"
        )
    };
    for format in ["svg", "html"] {
        let text = browser.evaluate(&ask(format)).as_str().unwrap().to_owned();
        assert!(text.contains("Node 1") && !text.contains("Node 0"), "{format}");
    }
    let csv = browser.evaluate(&ask("csv")).as_str().unwrap().to_owned();
    assert!(
        csv.starts_with("kind,type,container") && csv.contains("Node 1/thread 1.0") && !csv.contains("Node 0/"),
        "{csv}"
    );
    let png = browser.evaluate("fetch('api/export?from=0&to=1000000000&width=900&format=png').then(answer => answer.arrayBuffer()).then(all => new Uint8Array(all).slice(1, 4).join())");
    assert_eq!(png, "80,78,71");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_trace_that_is_removed_is_told_and_what_was_read_stays() {
    let viewer = Viewer::start();
    let (mut browser, _) = open(&viewer);
    std::fs::remove_file(viewer.folder.path().join("two-nodes.paje")).unwrap();
    browser.wait("document.querySelector('#note').innerText.startsWith('The trace has been removed')");
    browser.key("+");
    browser.wait(SETTLED);
}
