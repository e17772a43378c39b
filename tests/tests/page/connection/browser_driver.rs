//! The browser driver of these tests.

use tests::browser::BrowserPage;
use tests::page::ViewProcess;

#[test]
fn a_wait_continues_after_a_reload_during_its_evaluation() {
    let viewer = ViewProcess::start();
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.evaluate("window.isOld = true, setTimeout(() => location.reload(), 50), true");
    // The promise is pending when the page is replaced.
    browser.wait("new Promise((done) => setTimeout(() => done(!window.isOld), 1000))");
}
