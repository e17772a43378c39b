//! Two traces in panes next to each other.

use tests::browser::BrowserPage;
use tests::page::{TRACE, ViewProcess, press, read, saved_text, screenshot_path, watch_files};

#[test]
fn two_traces_share_an_axis_and_a_table_of_differences() {
    let viewer = ViewProcess::with(&[TRACE, &TRACE.replace("5 0.5", "5 0.25")], &[]);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    let both_panes =
        |what: &str| format!("[0, 1].every(at => {{ const page = frames[at]?.document; return {what}; }})");
    browser.wait(&both_panes("page?.querySelector('#chart')?.dataset.settled === 'true'"));
    // A time range typed in one pane moves the other.
    browser.evaluate("frames[0].document.querySelector('#time-range-field').focus()");
    browser.evaluate("frames[0].document.querySelector('#time-range-field').value = '0.2..0.6 s'");
    browser.evaluate("frames[0].document.querySelector('#time-range').requestSubmit()");
    browser.wait(&both_panes("page.querySelector('#time-range-field').value.startsWith('200')"));
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
    // A selection in one pane selects its time range in both, and its rows there only. Differences
    // are then of the selected time range.
    let place = |browser: &mut BrowserPage, what: &str| {
        let place = browser.evaluate(&format!("(([frame, box]) => [box.x + frame.x, box.y + frame.y + box.height / 2, box.width])([document.querySelector('iframe'), frames[0].document.querySelector('{what}')].map(one => one.getBoundingClientRect()))"));
        [0, 1, 2].map(|index| place[index].as_f64().unwrap())
    };
    let ([left, _, width], [_, y, _]) =
        (place(&mut browser, "#chart"), place(&mut browser, "#tree [aria-label=\"thread 0.0\"]"));
    browser.with_key_down("Shift", |browser| browser.drag((left + width * 0.25, y), (left + width * 0.5, y)));
    let parameter = |name: &str| format!("new URLSearchParams(page.location.hash.slice(1)).get('{name}')");
    browser.wait(&both_panes(&format!(
        "{} === new URLSearchParams(frames[0].location.hash.slice(1)).get('range') && {0}",
        parameter("range")
    )));
    browser.wait("[0, 1].map(at => frames[at].location.hash.includes('selected=')).join() === 'true,false'");
    browser.wait(
        "document.querySelector('#differences-table .hint').innerText.startsWith('Of the selected time range 3')",
    );
    let table = read(&mut browser, "table", "Differences of time in states");
    // Between 0.3 and 0.4 s, four threads work in one trace, and none in the other.
    assert!(table.contains("100.0") && table.contains("removed") && table.contains("new"), "{table}");
    browser.screenshot(&screenshot_path("panes-selection.png"));
    let minimap = "/; selected: (29|30)/.test(page.querySelector('#minimap').getAttribute('aria-valuetext')) && !page.querySelector('#minimap-selection').hidden";
    browser.wait(&both_panes(minimap));
    browser.key("Escape");
    browser.wait(&both_panes(
        "page.querySelector('#selection').hidden && page.querySelector('#minimap-selection').hidden",
    ));
    browser.wait(
        "document.querySelector('#differences-table .hint').innerText.startsWith('Of the visible time range 200')",
    );
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
