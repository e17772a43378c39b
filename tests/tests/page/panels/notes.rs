//! Notes: their list, and the file next to the trace.

use tests::page::{SETTLED, ViewProcess, open, press, spot};

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
fn a_note_shows_its_rows_again() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    let (from, to) = (spot(&mut browser, &chart, 0.2, "thread 0.1"), spot(&mut browser, &chart, 0.6, "thread 1.0"));
    browser.with_key_down("Shift", |browser| browser.drag(from, to));
    browser.wait("location.hash.includes('selected=')");
    let selection = "new URLSearchParams(location.hash.slice(1)).get('selected')";
    let selected = browser.evaluate(selection);
    browser.key("b");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Note'");
    browser.type_text("slow rows");
    browser.key("Enter");
    browser.find("button", Some("Go to note slow rows"));
    browser.wait("document.querySelector('.go-to-note').innerText.endsWith('2 rows')");
    press(&mut browser, "button", "Clear the selection");
    browser.wait("!location.hash.includes('selected=')");
    press(&mut browser, "button", "Go to note slow rows");
    browser.wait("location.hash.includes('selected=') && location.hash.includes('range=')");
    assert_eq!(browser.evaluate(selection), selected);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
