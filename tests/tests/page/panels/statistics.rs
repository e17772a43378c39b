//! The panel of statistics: charts, extremes, and latencies of tasks.

use tests::page::{ViewProcess, open, press, read, saved_text, watch_files};

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
    let slice =
        browser.find_all("button", None).into_iter().find(|element| element.name.starts_with("blocked: ")).unwrap();
    let point = browser.place(&slice).center();
    browser.click(point);
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
        .find(|element| element.name.starts_with("thread 0.0 → thread 1.1: 1"))
        .unwrap();
    let point = browser.place(&cell).center();
    browser.click(point);
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
    let cell = cells.iter().find(|element| element.name.starts_with("Go to the longest job")).unwrap();
    let point = browser.place(cell).center();
    browser.click(point);
    browser.wait("document.querySelector('#inspector').innerText.replace(/\\s+/g, ' ').includes('Duration 1.000 s')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_click_works_while_its_panel_is_refilled() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("2");
    let point = browser.place_of("radio", "Pie").center();
    browser.point(point);
    browser.press(point);
    // The answer for another time range comes while the button is down.
    browser.evaluate(
        "import(new URL('state/viewport.js', location.href)).then(({ show }) => { show(0, 5e8); return true; })",
    );
    browser.wait("performance.getEntriesByType('resource').some(({ name }) => name.includes('api/times') && name.includes('to=500000000'))");
    browser.wait("new Promise(done => setTimeout(() => done(true), 50))");
    browser.release(point);
    browser.wait("document.querySelector('#times').dataset.form === 'pie'");
    browser.wait("document.querySelector('#times .hint').innerText.startsWith('500.0 ms shown')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
