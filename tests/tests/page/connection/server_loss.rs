//! A server that has ended: the page answers every action with a message, and no error stays
//! unhandled.

use tests::page::{ViewProcess, open};

/// Whether the page reports that the server does not answer.
const TOLD: &str = "document.querySelector('#error-box').checkVisibility() && document.querySelector('#error-box h2').innerText === 'No connection to the server'";

#[test]
fn every_action_without_a_server_gives_a_message() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    tests::page::watch_files(&mut browser);
    browser.evaluate(
        "{ window.unseen = [];
           window.addEventListener('unhandledrejection', ({ reason }) => window.unseen.push(String(reason))); }",
    );
    // A hidden page sends no requests by itself, so that every message results from an action.
    browser.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true }) && true");
    drop(viewer);
    browser.key("b");
    browser.wait(TOLD);
    browser.wait("document.querySelector('#note').innerText === 'The mark was not stored'");
    browser.key("F");
    browser.wait("document.activeElement.id === 'filter-field'");
    browser.type_text("hide value working");
    browser.key("Enter");
    browser.wait("document.querySelector('#filter-error').innerText === 'The server does not answer: the filter was not applied'");
    browser.key("Escape");
    browser.key("|");
    browser.wait("document.querySelector('#note').innerText === 'The server does not answer'");
    // Every line of the palette, in turn.
    let mut position = 0;
    loop {
        browser.with_key_down("Control", |browser| browser.key("k"));
        browser.wait("document.querySelector('#palette').open");
        let count =
            browser.evaluate("document.querySelectorAll('#palette-choices [role=option]').length").as_u64().unwrap();
        if position >= count {
            break;
        }
        for _ in 0..position {
            browser.key("ArrowDown");
        }
        browser.wait(&format!("document.querySelector('#choice-{position}').getAttribute('aria-selected') === 'true'"));
        browser.key("Enter");
        // Closes the dialog or field that the action has opened.
        browser.evaluate("document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close())");
        browser.key("Escape");
        browser.evaluate("document.activeElement.blur()");
        position += 1;
    }
    assert!(position > 30, "{position} actions");
    browser.key("Escape");
    browser.wait("!document.querySelector('#palette').open");
    for tab in ["times", "notes", "find", "legend"] {
        browser.evaluate(&format!("document.querySelector('#tab-{tab}').click()"));
    }
    // All earlier requests are answered or refused before this one.
    browser.wait("fetch('api/summary').then(() => false, () => true)");
    browser.wait("new Promise((done) => setTimeout(() => done(true), 300))");
    assert_eq!(browser.evaluate("window.unseen"), serde_json::json!([]));
    browser.wait(TOLD);
}

/// Ports are reused: the server of another trace may answer there.
#[test]
fn another_server_at_the_same_address_is_not_accepted() {
    let viewer = ViewProcess::start();
    let (mut browser, chart) = open(&viewer);
    browser.evaluate(
        "window.fetch = () => Promise.resolve(new Response('Use the whole address that `tumit view` printed.\\n', { status: 404 })); true",
    );
    let point = browser.place(&chart).center();
    browser.wheel(point, -120.0);
    browser.wait(TOLD);
    browser.key("b");
    browser.wait("document.querySelector('#note').innerText === 'The mark was not stored'");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
