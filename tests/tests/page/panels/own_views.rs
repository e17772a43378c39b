//! The user's own views: a card file is opened in the gallery, drawn, and there for the next trace.

use serde_json::{Value, json};

use tests::browser::BrowserPage;
use tests::page::{TRACE, ViewProcess, open, press, read, screenshot_path, watch_files};

use crate::accessibility::{axe, faults};

const CARDS_SETTLED: &str =
    "document.querySelector('#cards').dataset.settled === '1' && !document.querySelector('#dock').hidden";
const GALLERY_SETTLED: &str = "document.querySelector('#gallery').getAttribute('aria-busy') === 'false'";

const CARD: &str = "title = \"<b>Workers</b>\"
summary = \"Threads at <i>work</i>.\"
[[panel]]
kind = \"levels\"
[[panel.series]]
of = \"states\"
value = \"working\"
";

/// Opens the gallery of the dock.
fn open_gallery(browser: &mut BrowserPage) {
    browser.key("v");
    browser.wait(CARDS_SETTLED);
    press(browser, "button", "Add views");
    browser.wait(GALLERY_SETTLED);
}

/// The gallery scrolls.
fn scroll_to_own_views(browser: &mut BrowserPage) {
    browser.evaluate("document.querySelector('#gallery [aria-label=\"Your own\"]').scrollIntoView({ block: 'end' })");
}

/// Opens a card file, like a user with the system's dialog.
fn open_card_file(browser: &mut BrowserPage, file: &str, text: &str) {
    scroll_to_own_views(browser);
    press(browser, "button", "Open card file…");
    choose_file(browser, file, text);
}

/// Chooses a file in the system's dialog.
fn choose_file(browser: &mut BrowserPage, file: &str, text: &str) {
    browser.wait("window.chooser");
    browser.evaluate(&format!(
        "{{ const files = new DataTransfer(); files.items.add(new File([{}], {}));
            chooser.files = files.files; chooser.dispatchEvent(new Event('change')); window.chooser = null; }}",
        json!(text),
        json!(file)
    ));
}

/// Runs an action of the palette.
fn palette(browser: &mut BrowserPage, text: &str, action: &str) {
    browser.with_key_down("Control", |browser| browser.key("k"));
    browser.wait("document.querySelector('#palette').open");
    browser.type_text(text);
    let choice = "document.querySelector('#palette-choices [aria-selected=true] span')";
    browser.wait(&format!("{choice}?.innerText === '{action}'"));
    browser.key("Enter");
}

fn titles(browser: &mut BrowserPage) -> Value {
    browser.evaluate("[...document.querySelectorAll('#cards h3')].map(title => title.innerText)")
}

fn own_views(browser: &mut BrowserPage) -> Value {
    browser.evaluate(
        "[...document.querySelectorAll('#gallery [aria-label=\"Your own\"] .gallery-item')].map(item => [item.getAttribute('aria-label'), item.classList.contains('lacking')])",
    )
}

#[test]
fn a_card_file_is_opened_drawn_and_kept() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    open_gallery(&mut browser);
    assert_eq!(own_views(&mut browser), json!([]));
    open_card_file(&mut browser, "workers.card.toml", CARD);
    browser.wait("document.querySelector('#note').innerText.includes('Added the view')");
    browser.wait("document.querySelectorAll('#gallery [aria-label=\"Your own\"] .gallery-item.chosen').length === 1");
    browser.wait(GALLERY_SETTLED);
    // The texts of the file are texts of the page.
    assert_eq!(own_views(&mut browser), json!([["<b>Workers</b>", false]]));
    assert_eq!(browser.evaluate("document.querySelectorAll('#gallery :is(i, .gallery-text b b)').length"), 0);
    press(&mut browser, "button", "Done");
    browser.wait(CARDS_SETTLED);
    assert_eq!(titles(&mut browser).as_array().and_then(|titles| titles.last()), Some(&json!("<b>Workers</b>")));
    browser.wait("[...document.querySelectorAll('#cards canvas[role=img]')].at(-1).getAttribute('aria-label').startsWith('<b>Workers</b>. 0 s to')");
    let card_path = viewer.folder.path().join("config/tumit/cards/workers.card.toml");
    assert_eq!(std::fs::read_to_string(&card_path).unwrap(), CARD);

    // A removed file is restored with its card.
    press(&mut browser, "button", "Add views");
    browser.wait(GALLERY_SETTLED);
    scroll_to_own_views(&mut browser);
    press(&mut browser, "button", "Remove the card file of <b>Workers</b>");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Restore <b>Workers</b>'");
    assert_eq!(own_views(&mut browser), json!([]));
    let backup_path = viewer.folder.path().join("config/tumit/cards/removed/workers.card.toml");
    assert!(!card_path.exists() && backup_path.exists(), "the file is kept in another folder");
    browser.wait(GALLERY_SETTLED);
    browser.screenshot(&screenshot_path("own-views-removed.png"));
    press(&mut browser, "button", "Restore <b>Workers</b>");
    browser.wait("document.activeElement.getAttribute('aria-label') === '<b>Workers</b>'");
    assert!(card_path.exists() && !backup_path.exists(), "the file is back");
    press(&mut browser, "button", "Done");
    assert_eq!(titles(&mut browser).as_array().and_then(|titles| titles.last()), Some(&json!("<b>Workers</b>")));

    // A file with a mistake is refused with its line, and the card stays.
    press(&mut browser, "button", "Add views");
    browser.wait(GALLERY_SETTLED);
    open_card_file(&mut browser, "workers.card.toml", &CARD.replace("states", "stats"));
    browser.wait("document.querySelector('#note').innerText.includes('workers.card.toml:6')");
    let note = read(&mut browser, "status", "Note");
    assert!(note.starts_with("The card file was not opened: ") && note.contains("did you mean `states`?"), "{note}");
    assert_eq!(own_views(&mut browser), json!([["<b>Workers</b>", false]]));

    // A file that names values of another program has the reason, with its line.
    open_card_file(
        &mut browser,
        "other.card.toml",
        &CARD.replace("working", "cooking").replace("<b>Workers</b>", "Other"),
    );
    browser.wait("document.querySelectorAll('#gallery [aria-label=\"Your own\"] .gallery-item.lacking').length === 1");
    let reason = browser.evaluate("document.querySelector('#gallery [aria-label=Other] .reason').innerText");
    assert!(reason.as_str().unwrap().starts_with("other.card.toml:5: no value is called `cooking`"), "{reason}");
    assert!(browser.complaints().iter().all(|line| line.contains("409")), "{:?}", browser.complaints());
}

#[test]
fn card_files_of_the_folder_are_in_the_gallery_and_changes_are_drawn() {
    let viewer = ViewProcess::of(TRACE);
    let folder = viewer.folder.path().join("cards");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("near.card.toml"), CARD.replace("<b>Workers</b>", "Near")).unwrap();
    std::fs::write(folder.join("bad.card.toml"), CARD.replace("levels", "level")).unwrap();
    let (mut browser, _) = open(&viewer);
    browser.evaluate(&format!("{}; true", axe()));
    // The palette shows a view of a card file, and opens another file.
    watch_files(&mut browser);
    palette(&mut browser, "view near", "Show the view Near");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Marks of Near'");
    assert_eq!(titles(&mut browser), json!(["Near"]));
    palette(&mut browser, "open card", "Open card file…");
    choose_file(&mut browser, "other.card.toml", &CARD.replace("<b>Workers</b>", "Other"));
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Marks of Other'");
    assert_eq!(titles(&mut browser), json!(["Near", "Other"]));
    press(&mut browser, "button", "Remove Near");
    press(&mut browser, "button", "Add views");
    browser.wait(GALLERY_SETTLED);
    assert_eq!(own_views(&mut browser), json!([["bad.card.toml", true], ["Near", false], ["Other", false]]));
    // Files next to the trace belong to it.
    assert!(browser.find_all("button", Some("Remove the card file of Near")).is_empty());
    let reason =
        browser.evaluate("document.querySelector('#gallery [aria-label=\"bad.card.toml\"] .reason').innerText");
    assert!(reason.as_str().unwrap().contains("did you mean `levels`?"), "{reason}");
    assert_eq!(faults(&mut browser, "light"), json!([]), "the gallery");
    scroll_to_own_views(&mut browser);
    browser.screenshot(&screenshot_path("own-views.png"));
    browser.evaluate("document.querySelector('#gallery [aria-label=Near]').scrollIntoView({ block: 'center' })");
    press(&mut browser, "button", "Near");
    press(&mut browser, "button", "Done");
    browser.wait(CARDS_SETTLED);
    let image = "[...document.querySelectorAll('#cards canvas[role=img]')].at(-1).toDataURL()";
    let before = browser.evaluate(image);
    std::fs::write(folder.join("near.card.toml"), CARD.replace("working", "waiting")).unwrap();
    browser.reload();
    browser.wait(CARDS_SETTLED);
    assert!(browser.evaluate(image) != before, "the changed file is drawn");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
