//! Texts about the views of `ParaGraph`: the list of all views, and the options of a view.

use anyhow::bail;
use tumit_perspectives::gallery;
use tumit_perspectives::options::{EXECUTION_OPTIONS, OptionInfo, VIEW_OPTIONS};
use tumit_perspectives::view::{TimeMode, ViewInfo};

use crate::table;

/// A view of `ParaGraph` that another part of the viewer shows.
struct OtherView {
    number: u8,
    name: &'static str,
    title: &'static str,
    group: &'static str,
    /// Where it is.
    place: &'static str,
}

const DIAGRAM: &str = "a mode of the space-time diagram: `tumit view TRACE`";

/// The views that are no charts.
const OTHER_VIEWS: [OtherView; 6] = [
    OtherView { number: 2, name: "utilization-gantt", title: "Utilization Gantt", group: "Utilization", place: DIAGRAM },
    OtherView { number: 8, name: "space-time", title: "Space-time diagram", group: "Communication", place: DIAGRAM },
    OtherView {
        number: 15,
        name: "color-code",
        title: "Colour code",
        group: "Communication",
        place: "a feature: the legend of sizes in each view that has sizes",
    },
    OtherView { number: 17, name: "task-gantt", title: "Task Gantt", group: "Tasks", place: DIAGRAM },
    OtherView { number: 21, name: "critical-path", title: "Critical path", group: "Whole", place: DIAGRAM },
    OtherView {
        number: 30,
        name: "coordinate-information",
        title: "Coordinate information",
        group: "Whole",
        place: "a feature: values at the pointer, in .svg and .html",
    },
];

/// The other views that the gallery does not have.
fn other_views() -> impl Iterator<Item = &'static OtherView> {
    let has = |other: &OtherView| {
        gallery::views().any(|view| view.info().name == other.name || view.info().number == Some(other.number))
    };
    OTHER_VIEWS.iter().filter(move |other| !has(other))
}

/// Refuses the name of a view that is no chart.
pub(super) fn require_own_view(name: &str) -> anyhow::Result<()> {
    match other_views().find(|other| other.name == name) {
        Some(other) => bail!("`{name}` is {}", other.place),
        None => Ok(()),
    }
}

/// The list of all views, one per line.
pub(super) fn of_views() -> String {
    let words = |modes: &[TimeMode]| modes.iter().map(|mode| mode.word()).collect::<Vec<_>>().join(", ");
    let mut rows: Vec<(u8, Vec<String>)> = gallery::views()
        .map(|view| {
            let info = view.info();
            let number = info.number.map_or_else(String::new, |number| format!("G{number}"));
            let texts = [info.name, info.title, info.group.name(), &words(info.modes), info.needs].map(str::to_owned);
            (info.number.unwrap_or(u8::MAX), [number].into_iter().chain(texts).collect())
        })
        .collect();
    rows.extend(other_views().map(|other| {
        let texts = [&format!("G{}", other.number), other.name, other.title, other.group, "–", other.place];
        (other.number, texts.map(str::to_owned).to_vec())
    }));
    rows.sort_by_key(|row| row.0);
    let head = ["No.", "Name", "Title", "Group", "Time", "Needs"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows.into_iter().map(|row| row.1)).collect();
    let mut text = String::new();
    table::append(&mut text, &rows, &[]);
    text.push_str("\nThe first time is the default. `--perspective NAME --option help` prints the options of a view.\n");
    text.trim_start().to_owned()
}

/// The options of a view.
pub(super) fn of_options(info: &ViewInfo) -> String {
    let own = VIEW_OPTIONS.iter().filter(|option| info.options.contains(&option.name));
    let line = |option: &OptionInfo| {
        let OptionInfo { name, forms, help } = option;
        format!("\n  --option {name}=VALUE\n      {help}: {forms}\n")
    };
    let options: String = own.chain(&EXECUTION_OPTIONS).map(line).collect();
    format!("{}: {}\n{options}", info.title, info.summary)
}
