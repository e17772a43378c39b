//! `tumit doc`: the page in a browser, by keyboard and as a screen reader presents it; Markdown;
//! files.

use std::fs;

use serde_json::json;
use tests::browser::BrowserPage;
use tests::programs::{output, succeed, tumit, workspace};

fn spec(name: &str) -> String {
    workspace().join("tumit/tests/good").join(name).to_string_lossy().into_owned()
}

#[test]
fn the_page_is_searched_by_keyboard() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("taktuk.html");
    succeed(tumit().args(["doc", &spec("taktuk.tumit"), "-o"]).arg(&page));
    let mut browser = BrowserPage::start(1280, 800);
    browser.open(&format!("file://{}", page.display()));

    // Elements that a screen reader presents.
    for role in ["main", "navigation", "search"] {
        browser.find(role, None);
    }
    for name in ["taktuk", "Level COM on", "Tree", "Rules", "post", "thread[thread]"] {
        browser.find("heading", Some(name));
    }
    browser.find("table", Some("Parameters of recv"));
    browser.find("list", Some("Values of activity"));

    // Names, and names of parameters and values.
    let links =
        "[...document.querySelectorAll('nav li')].filter((item) => !item.hidden).map((item) => item.innerText.trim())";
    browser.key("/");
    browser.type_text("pos");
    assert_eq!(browser.evaluate(links), json!(["post"]));
    assert_eq!(browser.evaluate("document.getElementById('found').textContent"), json!("1 entry"));
    browser.key("Enter");
    browser.wait("location.hash === '#event-post'");
    assert_eq!(
        browser.evaluate("document.querySelector('#event-post').getBoundingClientRect().top < 200"),
        json!(true)
    );
    browser.key("/");
    browser.key("Escape");
    browser.key("/");
    browser.type_text("packing");
    assert_eq!(browser.evaluate(links), json!(["activity"]));
    browser.key("ArrowDown");
    assert_eq!(browser.evaluate("document.activeElement.textContent"), json!("activity"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_page_can_be_read_in_light_and_dark_and_on_narrow_screens() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    succeed(tumit().args(["doc", &spec("everything.tumit"), "-o"]).arg(&page));
    // The contrast of every text with its background (WCAG 2.2, 1.4.3).
    let contrast = "(() => {
        const parts = (color) => color.match(/[\\d.]+/g).map(Number);
        const light = (color) => parts(color).slice(0, 3).map((c) => c / 255)
            .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = (node) => { for (; node; node = node.parentElement) {
            const color = getComputedStyle(node).backgroundColor;
            if (parts(color)[3] !== 0) return color; } return 'rgb(255, 255, 255)'; };
        let worst = 99;
        for (const node of document.querySelectorAll('body *')) {
            if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
            if (['SCRIPT', 'STYLE'].includes(node.tagName)) continue;
            const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
            worst = Math.min(worst, (a + 0.05) / (b + 0.05));
        }
        return worst; })()";
    for scheme in ["light", "dark"] {
        let mut browser = BrowserPage::start(1280, 800);
        if !browser.prefer(scheme) {
            continue;
        }
        browser.open(&format!("file://{}", page.display()));
        let worst = browser.evaluate(contrast).as_f64().unwrap();
        assert!((4.5..30.0).contains(&worst), "{scheme}: contrast {worst}");
    }
    let mut browser = BrowserPage::start(400, 800);
    browser.open(&format!("file://{}", page.display()));
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth"), json!(400), "nothing sticks out");
}

#[test]
fn the_format_follows_the_extension_of_the_output_file() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| output(tumit().arg("doc").arg(spec("growth.tumit")).args(args).current_dir(dir.path()));
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(run(&["-o", "a.html"]).status.success() && run(&["-o", "a.md"]).status.success());
    assert!(read("a.html").starts_with("<!DOCTYPE html>"));
    assert!(read("a.md").starts_with("# growth\n"));
    assert_eq!(String::from_utf8(run(&["--format", "markdown"]).stdout).unwrap(), read("a.md"));
    assert_eq!(String::from_utf8(run(&[]).stdout).unwrap(), read("a.html"));
    let unclear = run(&["-o", "a.txt"]);
    assert_eq!(unclear.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unclear.stderr).contains("--format"), "{unclear:?}");
    let result = output(
        tumit()
            .args(["doc", "-o", "b.html"])
            .arg(workspace().join("tumit/tests/bad/T0026-unknown-types.tumit"))
            .current_dir(dir.path()),
    );
    assert_eq!((result.status.code(), dir.path().join("b.html").exists()), (Some(1), false));
}

#[test]
fn every_good_spec_has_a_reference() {
    for entry in fs::read_dir(workspace().join("tumit/tests/good")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "tumit") {
            let html = succeed(tumit().arg("doc").arg(&path));
            assert!(html.ends_with("</html>\n"), "{}", path.display());
            assert!(
                succeed(tumit().args(["doc", "--format", "markdown"]).arg(&path)).starts_with("# "),
                "{}",
                path.display()
            );
        }
    }
}
