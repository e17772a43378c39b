//! Charts, sources, notes and panes.

use tests::page::{SETTLED, TRACE, ViewProcess, open, press, read, saved_text, spot, watch_files};

#[test]
fn statistics_have_charts_and_extremes_lead_to_their_entities() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    press(&mut browser, "radio", "Pie");
    browser.wait("document.querySelector('#times').dataset.form === 'pie'");
    let statistics = read(&mut browser, "tabpanel", "Statistics");
    assert!(statistics.contains("working") && statistics.contains("50.0 %"), "{statistics}");
    press(&mut browser, "checkbox", "percent");
    browser.wait("document.querySelector('#times .color-key').innerText.includes('2.000 s')");
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
        "document.querySelector('#times[data-form=variables]')?.innerText.includes('There are no variables in this time range')",
    );
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn tasks_have_latencies_and_the_longest_leads_to_its_first_state() {
    let viewer = ViewProcess::of(include_str!("../../commands/continuations.paje"));
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    browser.key("2");
    press(&mut browser, "radio", "Tasks");
    browser.wait("document.querySelector('#times[data-form=tasks] table')");
    let table = read(&mut browser, "table", "Tasks of State");
    let table = table.replace('\u{202f}', " ");
    for part in ["job", "500 ms", "7.00 s", "3.50 s"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    assert!(!table.contains("other"), "{table}");
    press(&mut browser, "button", "Save statistics as CSV");
    assert_eq!(
        saved_text(&mut browser),
        "type,value,count,mean_ns,median_ns,p90_ns,p99_ns,longest_ns,active_ns\n\
         State,job,2,3750000000,500000000,7000000000,7000000000,7000000000,3500000000\n"
    );
    let cells = browser.find_all("button", None);
    let cell = cells.iter().find(|one| one.name.starts_with("Go to the longest job")).unwrap();
    let at = browser.place(cell).center();
    browser.click(at);
    browser.wait("document.querySelector('#inspector').innerText.replace(/\\s+/g, ' ').includes('Duration 1.000 s')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_click_works_while_its_panel_is_refilled() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    let at = browser.place_of("radio", "Pie").center();
    browser.point(at);
    browser.press(at);
    // The answer for another time range comes while the button is down.
    browser
        .evaluate("import(new URL('state/view.js', location.href)).then(({ show }) => { show(0, 5e8); return true; })");
    browser.wait("performance.getEntriesByType('resource').some(({ name }) => name.includes('api/times') && name.includes('to=500000000'))");
    browser.wait("new Promise(done => setTimeout(() => done(true), 50))");
    browser.release(at);
    browser.wait("document.querySelector('#times').dataset.form === 'pie'");
    browser.wait("document.querySelector('#times .hint').innerText.startsWith('500.0 ms shown')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The small trace with source positions: line 3 works, line 5 waits.
pub(crate) fn with_sources() -> String {
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
    let viewer = ViewProcess::with(&[&trace], &["--source", "."]);
    let folder = viewer.folder.path().join("src");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("solve.c"), "one\ntwo\n<b>work</b>\nfour\nwait();\n").unwrap();
    let (mut browser, chart) = open(&viewer);
    let at = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(at);
    press(&mut browser, "button", "../src/solve.c:3");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === '<b>work</b>'");
    browser.find("list", Some("Lines of ../src/solve.c"));
    press(&mut browser, "button", "Highlight 4 of line 5, 2.000 s");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === 'wait();'");
    // The address contains it.
    browser.wait("location.hash.includes('source=1')");
    browser.reload();
    browser.wait("document.querySelector('#source [aria-current] code')?.innerText === 'wait();'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    drop((browser, viewer));
    // Without a folder the pane explains the option that sets one.
    let viewer = ViewProcess::of(&trace);
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
fn a_missing_source_file_is_reported_with_the_searched_folders() {
    let viewer = ViewProcess::with(&[&with_sources()], &["--source", "."]);
    let (mut browser, chart) = open(&viewer);
    let at = spot(&mut browser, &chart, 0.1, "thread 0.0");
    browser.click(at);
    press(&mut browser, "button", "../src/solve.c:3");
    browser.wait("document.querySelector('#source .reason')");
    let source = read(&mut browser, "region", "Source");
    assert!(source.contains("The file is not in .") && source.contains("--source DIR"), "{source}");
    // The entities of each line are known even without the source.
    press(&mut browser, "button", "Highlight 4 of line 5, 2.000 s");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'blocked'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_late_response_removes_no_note() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    // The panel requests the notes just before one is made, and receives the answer just after.
    browser.evaluate(
        "{ const ask = window.fetch; let first = true; window.arrived = false;
           window.fetch = async (url, more) => {
               if (!first || !String(url).includes('api/notes') || more?.method !== 'POST') return ask(url, more);
               first = false;
               let asked;
               const before = new Promise((done) => { asked = done; });
               window.fetch = async (url, more) => {
                   const answer = await ask(url, more), text = await answer.text();
                   asked();
                   await new Promise((done) => { window.letGo = done; });
                   setTimeout(() => { window.arrived = true; }, 300);
                   return new Response(text);
               };
               (await import('./panels/notes.js')).showNotes();
               window.fetch = ask;
               await before;
               return ask(url, more);
           }; }",
    );
    browser.key("b");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    browser.evaluate("window.letGo()");
    browser.wait("window.arrived");
    assert_eq!(browser.evaluate("document.activeElement.getAttribute('aria-label')"), "Note");
    browser.type_text("still here");
    browser.key("Enter");
    browser.find("button", Some("Go to note still here"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn notes_are_saved_next_to_the_trace() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.key("g");
    browser.type_text("0.2..0.4 s");
    browser.key("Enter");
    browser.wait(SETTLED);
    browser.key("b");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    browser.type_text("late <i>mess");
    // The list is filled again in the meantime, with one more note from another window: the typed
    // text stays.
    browser.evaluate(
        "fetch('api/notes', { method: 'POST', headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ put: { id: 'a'.repeat(16), text: 'of another', from: 0, to: 10 } }) }).then(() => true)",
    );
    let middle = browser.place(&chart).center();
    browser.wheel(middle, -10.0);
    browser.wait("document.querySelectorAll('#notes-list li').length === 2");
    browser.type_text("age</i>");
    browser.key("Enter");
    browser.find("button", Some("Go to note late <i>message</i>"));
    let saved = std::fs::read_to_string(viewer.folder.path().join("two-nodes.paje.tumit-notes")).unwrap();
    assert!(saved.contains("late <i>message</i>") && saved.contains("200000000"), "{saved}");
    browser.key("f");
    browser.open("about:blank#away");
    browser.open(&viewer.url);
    browser.wait(SETTLED);
    press(&mut browser, "tab", "Notes");
    press(&mut browser, "button", "Go to note late <i>message</i>");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('200')");
    press(&mut browser, "button", "Remove note of another");
    browser.wait("document.querySelectorAll('#notes-list li').length === 1");
    press(&mut browser, "button", "Remove note late <i>message</i>");
    browser.wait("document.querySelector('#notes-status').innerText.startsWith('Press b')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn two_traces_share_an_axis_and_a_table_of_differences() {
    let viewer = ViewProcess::with(&[TRACE, &TRACE.replace("5 0.5", "5 0.25")], &[]);
    let mut browser = tests::browser::BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    let both = |what: &str| format!("[0, 1].every(at => {{ const page = frames[at]?.document; return {what}; }})");
    browser.wait(&both("page?.querySelector('#chart')?.dataset.settled === 'true'"));
    // A time range typed in one pane moves the other.
    browser.evaluate("frames[0].document.querySelector('#time-range-field').focus()");
    browser.evaluate("frames[0].document.querySelector('#time-range-field').value = '0.2..0.6 s'");
    browser.evaluate("frames[0].document.querySelector('#time-range').requestSubmit()");
    browser.wait(&both("page.querySelector('#time-range-field').value.startsWith('200')"));
    press(&mut browser, "button", "Differences");
    browser.wait("document.querySelector('#differences-table tbody')");
    let table = read(&mut browser, "table", "Differences of time in states").replace('\u{202f}', " ");
    // Between 0.2 and 0.6 s four threads work 0.3 s in one trace, 0.05 s in the other.
    assert!(table.contains("−1.00 s") && table.contains("+1.00 s"), "{table}");
    watch_files(&mut browser);
    press(&mut browser, "button", "Save differences as CSV");
    assert_eq!(
        saved_text(&mut browser),
        "kind,type,value,measure,a,b,difference\n\
         state,Node › Thread › Activity,blocked,time_ns,400000000,1400000000,1000000000\n\
         state,Node › Thread › Activity,blocked,share,0.25,0.875,0.625\n\
         state,Node › Thread › Activity,blocked,count,4,4,0\n\
         state,Node › Thread › Activity,working,time_ns,1200000000,200000000,-1000000000\n\
         state,Node › Thread › Activity,working,share,0.75,0.125,-0.625\n\
         state,Node › Thread › Activity,working,count,4,4,0\n\
         link,Message,m,count,1,1,0\n\
         link,Message,m,time_ns,100000000,100000000,0\n\
         link,Message,m,mean_time_ns,100000000,100000000,0\n"
    );
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_removed_trace_is_reported_and_stays_visible() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    std::fs::remove_file(viewer.folder.path().join("two-nodes.paje")).unwrap();
    browser.wait("document.querySelector('#note').innerText.startsWith('The trace has been removed')");
    browser.key("+");
    browser.wait(SETTLED);
}
