//! Contents of the diagram: nested states, several types of states, events, variables with their
//! bounds, bundles of arrows, panes with separate filters; and their statistics and searches.

use tests::browser::BrowserPage;
use tests::page::{
    SETTLED, TRACE, ViewProcess, filter, open, press, read, saved_text, show, spot, wait_for_rows, watch_files,
};

/// Two workers. Each runs a solver in a step in a program; it also has a phase, a queue, and
/// events. Messages with sizes go in both directions.
fn diagram_trace() -> String {
    let mut text = include_str!("../../../../viewer/tests/header.paje").to_owned();
    text.push_str(
        "%EventDef PajeEndLink 116\n% Time date\n% Container string\n% Type string\n% EndContainer string\n% Value string\n% Key string\n% size int\n%EndEventDef\n\
         0 W 0 Worker\n2 C W Call\n2 P W Phase\n1 Q W Queue \"0.1 0.5 0.3\"\n3 E W Checkpoint \"0.8 0.1 0.1\"\n4 M 0 W W Message\n\
         5 one P warm \"0.9 0.5 0.1\"\n5 two P cold \"0.1 0.4 0.8\"\n",
    );
    for worker in 0..2 {
        text.push_str(&format!(
            "6 0 w{worker} 0 W \"worker {worker}\"\n12 0 w{worker} C program\n11 0 w{worker} P one\n8 0 w{worker} Q 0\n"
        ));
    }
    text.push_str("12 0.1 w0 C step\n12 0.2 w0 C solver\n8 0.25 w0 Q 40\n17 0.3 w0 E saved\n13 0.4 w0 C\n13 0.5 w0 C\n11 0.5 w0 P two\n8 0.75 w0 Q -10\n");
    let size = |key: u32| if key == 7 { 4096 } else { 64 };
    for key in 0..20_u32 {
        let date = 0.6 + f64::from(key) / 1000.0;
        text.push_str(&format!(
            "15 {date} 0 M w0 data k{key}\n116 {} 0 M w1 data k{key} {}\n",
            date + 0.0005,
            size(key)
        ));
    }
    text.push_str("17 0.9 w1 E saved\n7 1 W w0\n7 1 W w1\n");
    text
}

/// The tooltip at a point of the diagram: a share of the time range, and a height in the window.
fn at(browser: &mut BrowserPage, share: f64, y: f64, word: &str) -> String {
    let chart = browser.find_all("application", None).remove(0);
    let place = browser.place(&chart);
    browser.point((place.x + place.width * share, y));
    browser.wait(&format!("document.querySelector('#tooltip:not([hidden])')?.innerText.includes('{word}')"));
    let tooltip = browser.find("tooltip", None);
    browser.text(&tooltip)
}

/// The height in the window of the label of a strip.
fn strip(browser: &mut BrowserPage, row: &str, name: &str) -> f64 {
    let of = format!("document.querySelector('[role=row][aria-label=\"{row}\"] .strip-label[title=\"{name}\"]')");
    let y = browser.evaluate(&format!("(box => box.top + box.height / 2)({of}.getBoundingClientRect())"));
    y.as_f64().unwrap()
}

#[test]
fn nested_states_types_events_and_variables_have_separate_lanes() {
    let viewer = ViewProcess::of(&diagram_trace());
    let (mut browser, _) = open(&viewer);
    wait_for_rows(&mut browser, &["worker 0", "worker 1"]);
    // Calls are stacked: the outermost at the top of its strip.
    let calls = strip(&mut browser, "worker 0", "Call");
    let row = browser.place_of("row", "worker 0");
    let names: Vec<String> = (0..60)
        .filter_map(|step| {
            let y = row.y + row.height * f64::from(step) / 60.0;
            let chart = browser.find_all("application", None).remove(0);
            let place = browser.place(&chart);
            browser.point((place.x + place.width * 0.35, y));
            browser.wait("new Promise(done => setTimeout(() => done(true), 30))");
            let tooltip = browser.evaluate(
                "document.querySelector('#tooltip').hidden ? null : document.querySelector('#tooltip h3').innerText",
            );
            tooltip.as_str().map(|text| text.split_whitespace().next().unwrap_or_default().to_owned())
        })
        .collect();
    let mut order = names.clone();
    order.dedup();
    let order: Vec<&str> = order
        .iter()
        .map(String::as_str)
        .filter(|name| ["program", "step", "solver", "warm", "Queue"].contains(name))
        .collect();
    assert_eq!(order, ["program", "step", "solver", "warm", "Queue"], "{names:?}");
    // Next to the solver the step has its full height; the tooltip contains the type.
    let tooltip = at(&mut browser, 0.45, calls, "step");
    assert!(tooltip.contains("400.0 ms") && tooltip.contains("worker 0"), "{tooltip}");
    let phases = strip(&mut browser, "worker 0", "Phase");
    assert!(at(&mut browser, 0.75, phases, "cold").contains("500.0 ms"));
    // Events have a separate strip above.
    let events = browser.evaluate(
        "import(new URL('state/rows.js', location.href)).then(({ layout, toWindow }) => {
            const strip = layout.rows[0].strips.find(({kind}) => kind === 'events');
            return toWindow(strip.y + strip.height / 2) + document.querySelector('#chart').getBoundingClientRect().top; })",
    );
    let events = events.as_f64().unwrap();
    assert!(events < calls);
    let tooltip = at(&mut browser, 0.3, events, "saved");
    assert!(tooltip.contains("300.000") && tooltip.contains("worker 0"), "{tooltip}");
    let chart = browser.find_all("application", None).remove(0);
    let place = browser.place(&chart);
    browser.click((place.x + place.width * 0.3, events));
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'saved'");
    let inspector = read(&mut browser, "region", "Inspector");
    let all = inspector.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("At 300.000000 ms") && all.contains("Checkpoint"), "{inspector}");
    browser.key("Escape");
    // The tooltip of a variable shows its value. The row shows the bounds, which are the same for
    // all rows of the type.
    let queue = strip(&mut browser, "worker 0", "Queue");
    assert!(
        at(&mut browser, 0.9, queue, "Queue").contains("-10") || at(&mut browser, 0.9, queue, "Queue").contains("−10")
    );
    let bounds = browser.evaluate(
        "[...document.querySelectorAll('[aria-label=\"worker 0\"] .strip-bound')].map(one => one.innerText).join(' ')",
    );
    assert!(bounds.as_str().unwrap().contains("40"), "{bounds}");
    // The height of a row depends on its contents: it is smaller without the calls.
    browser.key("1");
    let all = browser.place_of("row", "worker 0").height;
    filter(&mut browser, "hide type Call, Queue");
    assert!(browser.place_of("row", "worker 0").height < all - 20.0);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn the_tooltip_of_a_variable_has_minimum_mean_and_maximum() {
    let samples: String =
        (0..20_000).map(|number| format!("8 {:.6} w0 Q {}\n", 0.76 + f64::from(number) * 1e-5, number % 7)).collect();
    let viewer =
        ViewProcess::of(&diagram_trace().replace("17 0.9 w1 E saved\n", &format!("{samples}17 0.97 w1 E saved\n")));
    let (mut browser, _) = open(&viewer);
    wait_for_rows(&mut browser, &["worker 0", "worker 1"]);
    let queue = strip(&mut browser, "worker 0", "Queue");
    let tooltip = at(&mut browser, 0.85, queue, "Minimum");
    let words: Vec<&str> = tooltip.split_whitespace().collect();
    for (name, value) in [("Minimum", "0"), ("Maximum", "6")] {
        let place = words.iter().position(|word| *word == name).expect(name);
        assert_eq!(words[place + 1], value, "{tooltip}");
    }
    assert!(words.contains(&"Mean"), "{tooltip}");
}

#[test]
fn dense_links_are_drawn_as_bundles_with_their_count() {
    let mut links = String::new();
    for key in 0..70_000_u32 {
        let date = 0.6 + f64::from(key) * 1e-6;
        links.push_str(&format!("15 {date:.7} 0 M w0 data n{key}\n16 {:.7} 0 M w1 data n{key}\n", date + 0.0005));
    }
    let trace = diagram_trace().replace("17 0.9 w1 E saved\n", &format!("{links}17 0.9 w1 E saved\n"));
    // Timestamps have to increase.
    let (head, tail) = trace.split_at(trace.find("0 W 0 Worker").unwrap());
    let mut lines: Vec<&str> = tail.lines().collect();
    let date = |line: &&str| {
        let mut words = line.split(' ');
        let kind: u32 = words.next().unwrap().parse().unwrap();
        if kind < 6 { 0 } else { 1 + (words.next().unwrap().parse::<f64>().unwrap() * 1e9) as u64 }
    };
    lines.sort_by_key(date);
    let viewer = ViewProcess::of(&format!("{head}{}\n", lines.join("\n")));
    let (mut browser, _) = open(&viewer);
    wait_for_rows(&mut browser, &["worker 0", "worker 1"]);
    let summary = read(&mut browser, "status", "Combined entities").replace('\u{202f}', " ");
    assert!(
        summary.starts_with("70 020 links are drawn as ") && summary.ends_with("; zoom in to see each"),
        "{summary}"
    );
    // After zooming in, each link is drawn.
    show(&mut browser, "600..600.01 ms");
    browser.wait("document.querySelector('#image-notes').hidden");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn entities_are_found_by_fields_and_visited_in_both_directions() {
    let viewer = ViewProcess::of(&diagram_trace());
    let (mut browser, _) = open(&viewer);
    browser.with_key_down("Control", |browser| browser.key("f"));
    browser.type_text("size=4096");
    browser.key("Enter");
    browser.wait("document.querySelector('#find-status').innerText === '1 found'");
    browser.key("Enter");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'data'");
    let inspector = read(&mut browser, "region", "Inspector");
    assert!(inspector.contains("4096") || inspector.contains("4\u{202f}096"), "{inspector}");
    press(&mut browser, "searchbox", "Search expression");
    browser.evaluate("document.querySelector('#find-field').select()");
    browser.type_text("saved");
    browser.key("Enter");
    browser.wait("document.querySelector('#find-status').innerText === '2 found'");
    let place = |browser: &mut BrowserPage, expected: &str| {
        browser.wait(&format!("document.querySelector('#find-position').innerText === '{expected}'"));
    };
    // The pointer rests while it steps through the hits: the inspector does not move the buttons.
    press(&mut browser, "button", "Close the inspector");
    let next = browser.place_of("button", "Next hit").center();
    browser.click(next);
    place(&mut browser, "1 of 2");
    browser.wait("document.querySelector('#inspector').innerText.includes('worker 0')");
    browser.click(next);
    place(&mut browser, "2 of 2");
    browser.wait("document.querySelector('#inspector').innerText.includes('worker 1')");
    press(&mut browser, "button", "Previous hit");
    place(&mut browser, "1 of 2");
    browser.wait("document.querySelector('#inspector').innerText.includes('worker 0')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn statistics_cover_the_selected_time_range() {
    let viewer = ViewProcess::of(&diagram_trace());
    let (mut browser, chart) = open(&viewer);
    browser.key("2");
    browser.wait("document.querySelector('#times table')");
    let row = spot(&mut browser, &chart, 0.5, "worker 1").1;
    let place = browser.place(&chart);
    browser.with_key_down("Control", |browser| {
        browser.drag((place.x + place.width * 0.62, row), (place.x + place.width * 0.75, row));
    });
    browser.wait("location.hash.includes('range=')");
    browser.wait("document.querySelector('#times .hint').innerText.includes('selected')");
    let table = read(&mut browser, "tabpanel", "Statistics");
    assert!(!table.contains("solver"), "it was over before: {table}");
    browser.key("Escape");
    browser.wait("document.querySelector('#times').innerText.includes('solver')");
    // Variables: the largest value leads to its position.
    press(&mut browser, "radio", "Variables");
    browser.wait("document.querySelector('#times[data-form=variables]')?.innerText.includes('Queue')");
    let statistics = read(&mut browser, "tabpanel", "Statistics");
    assert!(statistics.contains("40"), "{statistics}");
    let largest = browser
        .find_all("button", None)
        .into_iter()
        .find(|element| element.name.contains("40") && element.name.to_lowercase().contains("maximum"));
    let point = browser.place(&largest.expect("the largest leads somewhere")).center();
    browser.click(point);
    browser.wait("!document.querySelector('#inspector').hidden || !document.querySelector('#time-range-field').value.startsWith('0 s')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_second_pane_has_separate_filters() {
    let viewer = ViewProcess::start();
    let (mut browser, _) = open(&viewer);
    browser.key("|");
    let panes = "[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument)";
    browser.wait(&format!(
        "{panes}.length === 2 && {panes}.every(page => page?.querySelector('#chart')?.dataset.settled === 'true')"
    ));
    // By real keys, in the lower pane.
    let lower = browser.evaluate("(box => [box.left + box.width / 2, box.top + box.height * 0.6])(document.querySelectorAll('iframe')[1].getBoundingClientRect())");
    browser.click((lower[0].as_f64().unwrap(), lower[1].as_f64().unwrap()));
    browser.key("F");
    browser.wait(&format!("{panes}[1].activeElement.id === 'filter-field'"));
    browser.type_text("only container Node 1");
    browser.key("Enter");
    let rows = |pane: usize| {
        format!("[...({panes}[{pane}]?.querySelectorAll('#tree [role=row]') ?? [])].map(row => row.ariaLabel).join()")
    };
    browser.wait(&format!("{} === 'Node 1,thread 1.0,thread 1.1'", rows(1)));
    assert_eq!(browser.evaluate(&rows(0)), "Node 0,thread 0.0,thread 0.1,Node 1,thread 1.0,thread 1.1");
    // The address restores both panes: the upper one does not take the arrangement of the lower.
    browser.wait("location.hash.includes('filters')");
    browser.reload();
    browser.wait(&format!("{} === 'Node 1,thread 1.0,thread 1.1'", rows(1)));
    browser.wait(&format!("{} === 'Node 0,thread 0.0,thread 0.1,Node 1,thread 1.0,thread 1.1'", rows(0)));
    browser.wait(&format!("{panes}.every(page => page.querySelector('#chart').dataset.settled === 'true')"));
    // Both panes have one time axis.
    browser.click((lower[0].as_f64().unwrap(), lower[1].as_f64().unwrap()));
    browser.key("Escape");
    browser.key("+");
    browser.wait(&format!("{panes}.every(page => page.querySelector('#time-range-field').value.startsWith('166'))"));
    browser.wait("location.hash.split('t%3D166').length === 3 && location.hash.includes('filters')");
    browser.reload();
    browser.wait(&format!("{} === 'Node 1,thread 1.0,thread 1.1'", rows(1)));
    browser.wait(&format!("{} === 'Node 0,thread 0.0,thread 0.1,Node 1,thread 1.0,thread 1.1'", rows(0)));
    browser.wait(&format!("{panes}.every(page => page?.querySelector('#time-range-field')?.value.startsWith('166'))"));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Independent of the pane that is ready first.
#[test]
fn traces_of_different_lengths_open_on_the_longest_time_range() {
    let long = TRACE.replace("\n4 1.0", "\n4 2.0");
    for traces in [[TRACE, &long], [&long, TRACE]] {
        let viewer = ViewProcess::with(&traces, &[]);
        let mut browser = BrowserPage::start(1280, 720);
        browser.open(&viewer.url);
        let both_panes = |what: &str| {
            format!(
                "frames.length === 2 && [0, 1].every(at => {{ const page = frames[at]?.document; return {what}; }})"
            )
        };
        browser.wait(&both_panes("page?.querySelector('#chart')?.dataset.settled === 'true'"));
        browser.wait(&both_panes("page.querySelector('#time-range-field').value === '0 s .. 2.0000 s'"));
        browser.wait("new Promise(done => setTimeout(() => done(true), 600))");
        assert_eq!(
            browser.evaluate(&both_panes("page.querySelector('#time-range-field').value === '0 s .. 2.0000 s'")),
            true
        );
        // The wheel over one pane moves the other.
        browser.wheel((700.0, 250.0), -240.0);
        browser.wait(&both_panes("!page.querySelector('#time-range-field').value.startsWith('0 s')"));
        let fields = browser.evaluate("[0, 1].map(at => frames[at].document.querySelector('#time-range-field').value)");
        assert_eq!(fields[0], fields[1]);
        assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    }
}

#[test]
fn the_communication_matrix_has_counts_times_and_sizes_and_is_exported() {
    // A message in the opposite direction.
    let back = "17 0.9 w1 E saved\n";
    let answer = "15 0.8 0 M w1 data b\n116 0.8025 0 M w0 data b 100\n";
    let viewer = ViewProcess::of(&diagram_trace().replace(back, &format!("{answer}{back}")));
    let (mut browser, _) = open(&viewer);
    watch_files(&mut browser);
    browser.key("2");
    press(&mut browser, "radio", "Matrix");
    browser.wait("document.querySelector('#times[data-form=matrix] .plot [role=button]')");
    press(&mut browser, "checkbox", "percent");
    for (amount, there, back) in [("Time", "10.00 ms", "2.500 ms"), ("size", "5 312", "100"), ("Number", "20", "1")] {
        press(&mut browser, "radio", amount);
        for (ends, value) in [("worker 0 → worker 1", there), ("worker 1 → worker 0", back)] {
            let name = format!("{ends}: {value} (");
            browser.wait(&format!(
                "[...document.querySelectorAll('#times .plot [role=button]')].some((one) => one.ariaLabel.replace(/\\u202f/g, ' ').startsWith('{name}'))"
            ));
        }
        // The darkest cell is the one with the largest amount.
        let dark = browser.evaluate(
            "[...document.querySelectorAll('#times .plot [role=button]')].sort((a, b) => b.getAttribute('fill-opacity') - a.getAttribute('fill-opacity'))[0].ariaLabel",
        );
        assert!(dark.as_str().unwrap().starts_with("worker 0 → worker 1"), "{amount}: {dark}");
    }
    press(&mut browser, "checkbox", "percent");
    browser.wait("[...document.querySelectorAll('#times .plot [role=button]')].some((one) => one.ariaLabel.startsWith('worker 1 → worker 0: 4.8 %'))");
    press(&mut browser, "button", "Save statistics as CSV");
    assert_eq!(
        saved_text(&mut browser),
        "type,from,to,count,nanoseconds,size,longest_ns\n\
         Message,worker 0,worker 1,20,10000000,5312,500000\n\
         Message,worker 1,worker 0,1,2500000,100,2500000\n"
    );
    press(&mut browser, "button", "Save statistics as JSON");
    let json: serde_json::Value = serde_json::from_str(&saved_text(&mut browser)).unwrap();
    assert_eq!((&json[1]["from"], &json[1]["size"]), (&"worker 1".into(), &100.into()), "{json}");
    // A cell leads to its longest message.
    let cells = browser.find_all("button", None);
    let cell = cells.iter().find(|element| element.name.starts_with("worker 1 → worker 0")).unwrap();
    let point = browser.place(cell).center();
    browser.click(point);
    browser.wait("document.querySelector('#inspector').innerText.replace(/\\s+/g, ' ').includes('Duration 2.500 ms')");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

/// Three workers that pass a message on, and one unrelated message.
fn relay() -> String {
    let mut text = include_str!("../../../../viewer/tests/header.paje").to_owned();
    text.push_str("0 W 0 Worker\n2 C W Call\n4 M 0 W W Message\n");
    (0..3).for_each(|worker| text.push_str(&format!("6 0 w{worker} 0 W \"worker {worker}\"\n11 0 w{worker} C run\n")));
    for (from, to, start, end, name) in
        [(1, 2, 0.02, 0.06, "other"), (0, 1, 0.1, 0.2, "first"), (1, 2, 0.4, 0.5, "second"), (2, 0, 0.8, 0.9, "third")]
    {
        text.push_str(&format!("15 {start} 0 M w{from} {name} {name}\n16 {end} 0 M w{to} {name} {name}\n"));
    }
    (0..3).for_each(|worker| text.push_str(&format!("7 1 W w{worker}\n")));
    text
}

#[test]
fn the_chain_of_a_selected_link_is_highlighted_and_can_be_followed() {
    let viewer = ViewProcess::of(&relay());
    let (mut browser, _) = open(&viewer);
    // A point of an arrow at a quarter of its length. Its midpoint lies on the boundary between two
    // rows.
    let on = |browser: &mut BrowserPage, share: f64, from: &str, to: &str| {
        let chart = browser.find_all("application", None).remove(0);
        let ((x, a), b) = (spot(browser, &chart, share, from), spot(browser, &chart, share, to).1);
        (x, a + (b - a) / 4.0)
    };
    // Whether an arrow has the accent colour at that point, without the pointer near it.
    let has_accent = |browser: &mut BrowserPage, share: f64, from: &str, to: &str| {
        let chart = browser.find_all("application", None).remove(0);
        let (at, place) = (on(browser, share, from, to), browser.place(&chart));
        browser.point((4.0, 4.0));
        browser.evaluate(&format!(
            "(() => {{ const over = document.querySelector('#chart .overlay').getContext('2d', {{ willReadFrequently: true }});
                const ink = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
                const rgb = [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16)).join();
                const {{ data }} = over.getImageData({:.0} - 12, {:.0} - 3, 24, 6);
                for (let at = 0; at < data.length; at += 4) if (data.slice(at, at + 3).join() === rgb && data[at + 3] === 255) return true;
                return false; }})()",
            at.0 - place.x,
            at.1 - place.y
        )) == true
    };
    let all = [(0.125, "worker 0", "worker 1"), (0.425, "worker 1", "worker 2"), (0.825, "worker 2", "worker 0")];
    let second = on(&mut browser, 0.425, "worker 1", "worker 2");
    browser.click(second);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'second'");
    assert!(!has_accent(&mut browser, all[0].0, all[0].1, all[0].2), "nothing before it");
    press(&mut browser, "button", "Chain");
    browser.wait("document.querySelector('#note').innerText === 'A chain of 3 links: 1 before, 1 after'");
    let listed = read(&mut browser, "list", "Chain of links");
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(" · ").next()).collect();
    assert_eq!(names, ["first", "second", "third"], "{listed}");
    for (share, from, to) in all {
        assert!(has_accent(&mut browser, share, from, to), "{from} to {to}");
    }
    assert!(!has_accent(&mut browser, 0.03, "worker 1", "worker 2"), "what has nothing to do with it");
    // The chain stays while the user moves along it, and after a reload of the address.
    press(&mut browser, "button", "third · worker 2 → worker 0");
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'third'");
    browser.wait("location.hash.includes('chain=1')");
    browser.reload();
    browser.wait(SETTLED);
    browser.wait("document.querySelectorAll('#inspector .link-chain li').length === 3");
    assert_eq!(
        browser.evaluate("document.querySelector('#inspector .link-chain [aria-current]').innerText"),
        "third · worker 2 → worker 0"
    );
    assert!(has_accent(&mut browser, all[0].0, all[0].1, all[0].2));
    // The key removes the chain, and restores it for a state.
    browser.key("c");
    browser.wait("!document.querySelector('#inspector .link-chain')");
    assert!(!has_accent(&mut browser, all[0].0, all[0].1, all[0].2));
    let chart = browser.find_all("application", None).remove(0);
    let state = spot(&mut browser, &chart, 0.3, "worker 2");
    browser.click(state);
    browser.wait("document.querySelector('#inspector h2')?.innerText === 'run'");
    browser.key("c");
    browser.wait("document.querySelectorAll('#inspector .link-chain li').length > 0");
    browser.key("Escape");
    browser.wait("document.querySelector('#inspector').hidden && !location.hash.includes('chain')");
    assert!(!has_accent(&mut browser, all[2].0, all[2].1, all[2].2));
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}
