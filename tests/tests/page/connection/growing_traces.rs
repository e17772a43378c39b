//! A trace that grows: the image follows; the time range and the chosen entity stay.

use std::fs::OpenOptions;
use std::io::Write as _;

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, ViewProcess, open, press, spot, time_range, wait_for_rows};
use tests::programs::succeed;

#[test]
fn a_growing_file_is_followed_on_the_page() {
    // Without the end of its containers, which stay alive.
    let living: String = TRACE.lines().filter(|line| !line.starts_with("4 ")).map(|line| format!("{line}\n")).collect();
    let viewer = ViewProcess::with(&[&living], &["--follow"]);
    let (mut browser, chart) = open(&viewer);
    wait_for_rows(&mut browser, &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    browser.wait("document.querySelector('#reading-status').textContent === 'following the file'");
    browser.wait("document.querySelector('#time-range-field').value.includes('.. 500')");

    let point = spot(&mut browser, &chart, 0.25, "thread 1.1");
    browser.click(point);
    let shown_text = "['thread 1.1', 'working', '500.0 ms'].every(text => document.querySelector('#inspector').innerText.includes(text))";
    browser.wait(shown_text);
    browser.wait("location.hash.includes('chosen=s')");
    let before = browser.evaluate("location.hash");

    // New states of an earlier row change the numbers of all later ones. The whole trace stays
    // shown.
    let path = viewer.folder.path().join("two-nodes.paje");
    let grow = |text: &str| OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    grow("5 0.6 S t00 w\n5 0.8 S t00 b\n");
    browser.wait("document.querySelector('#time-range-field').value.includes('.. 800')");
    browser.wait(SETTLED);
    browser.wait(&format!("location.hash.includes('chosen=s') && location.hash !== {before}"));
    browser.wait(shown_text);

    // A time range at the end moves with the end.
    press(&mut browser, "textbox", "Visible time range");
    browser.type_text("500ms..");
    browser.key("Enter");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('500')");
    grow("5 1.0 S t00 w\n3 1.0 t12 T n1 \"thread 1.2\"\n");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('700')");
    wait_for_rows(
        &mut browser,
        &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1", "thread 1.2"],
    );
    browser.wait(shown_text);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_image_of_a_removed_growing_file_stays() {
    let viewer = ViewProcess::with(&[TRACE], &["--follow"]);
    let (mut browser, _) = open(&viewer);
    let path = viewer.folder.path().join("two-nodes.paje");
    let states = state_count_in_name(&mut browser);
    let shows = |browser: &mut BrowserPage, what: &str| {
        browser.wait(&format!("document.querySelector('#reading-status').textContent.includes({what:?})"));
        browser.wait(SETTLED);
        assert_eq!(state_count_in_name(browser), states);
        wait_for_rows(browser, &["Node 0", "thread 0.0", "thread 0.1", "Node 1", "thread 1.0", "thread 1.1"]);
    };
    std::fs::write(&path, "").unwrap();
    shows(&mut browser, "cut short or replaced: the part read so far is shown");
    std::fs::remove_file(&path).unwrap();
    shows(&mut browser, "the file was removed: the part read so far is shown");
    std::fs::write(&path, TRACE).unwrap();
    shows(&mut browser, "following the file");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_page_waits_for_a_trace_that_does_not_exist_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.paje");
    let viewer = ViewProcess::follow(&path);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&viewer.url);
    browser.wait("document.querySelector('#message').innerText.includes('Waiting for')");
    std::fs::write(&path, TRACE).unwrap();
    browser.wait(
        "document.querySelector('#message').hidden && document.querySelectorAll('#tree [role=row]').length === 6",
    );
    browser.wait(SETTLED);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// The number of states in the diagram's name.
fn state_count_in_name(browser: &mut BrowserPage) -> u32 {
    let name = browser.find_all("application", None).remove(0).name;
    let part = name.split([',', ':']).find_map(|part| part.strip_suffix(" states")).expect("it says how many");
    part.chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

/// A pipe is read as slowly as it is written.
#[test]
fn the_start_of_a_trace_is_shown_while_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.paje");
    succeed(std::process::Command::new("mkfifo").arg(&path));
    let begin = TRACE.find("5 0.0 S t00").unwrap();
    let states = |from: u32, to: u32| -> String {
        (from..to)
            .map(|number| format!("5 {number}e-4 S t0{} {}\n", number % 2, ["w", "b"][number as usize / 2 % 2]))
            .collect()
    };
    let beginning = format!("{}{}", &TRACE[..begin], states(0, 20_000));
    let writing = std::thread::spawn({
        let path = path.clone();
        move || {
            // Waits for the reader.
            let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
            pipe.write_all(beginning.as_bytes()).unwrap();
            pipe
        }
    });
    let viewer = ViewProcess::of_paths(std::slice::from_ref(&path));
    let (mut browser, _) = open(&viewer);
    let mut pipe = writing.join().unwrap();
    browser.wait("document.querySelectorAll('#tree [role=row]').length === 6");
    browser.wait(SETTLED);
    let availability = browser.find("status", Some("Reading progress"));
    assert_eq!(browser.text(&availability), "partial, reading");
    let before = state_count_in_name(&mut browser);
    assert!((1_000..20_000).contains(&before), "{before}");
    // The shown part is exact and can be queried.
    let chart = browser.find_all("application", None).remove(0);
    browser.key("g");
    browser.type_text("100..100.4 ms");
    browser.key("Enter");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('100.0')");
    browser.wait(SETTLED);
    let point = spot(&mut browser, &chart, 0.25, "thread 0.0");
    browser.click(point);
    browser.wait("document.querySelector('#inspector').innerText.includes('thread 0.0')");
    // Then the trace is complete and no longer marked as partial; the time range and the chosen
    // entity stay.
    pipe.write_all(states(20_000, 30_000).as_bytes()).unwrap();
    drop(pipe);
    browser.wait("document.querySelector('#reading-status').hidden");
    browser.wait(SETTLED);
    browser.wait("document.querySelector('#inspector').innerText.includes('thread 0.0')");
    assert_eq!(time_range(&mut browser).0, "100.00000 ms");
    // The name of the diagram follows its contents.
    browser.wait(
        "document.querySelector('[role=application]').getAttribute('aria-label').replace(/[^0-9a-z,:]/g, '').includes('30000states')",
    );
    browser.key("f");
    browser.wait("document.querySelector('#time-range-field').value.includes('.. 2.999')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
