//! Texts about the views of `ParaGraph`: the list of all views, and the options of a view.

use anyhow::bail;
use tumit_perspectives::cards::{self, CardView, FoundCard};
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::gallery;
use tumit_perspectives::options::{OptionInfo, VIEW_OPTIONS};
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, common_options};

use crate::text_table;

/// A view of `ParaGraph` that is a feature of all views.
struct ViewFeature {
    number: u8,
    name: &'static str,
    title: &'static str,
    group: &'static str,
    /// Where it is.
    place: &'static str,
}

const FEATURES: [ViewFeature; 3] = [
    ViewFeature {
        number: 15,
        name: "color-code",
        title: "Colour code",
        group: "Communication",
        place: "the legend of each view with sizes",
    },
    ViewFeature {
        number: 26,
        name: "own-views",
        title: "Views of users",
        group: "Whole",
        place: "card files, and Rust types that implement `PerspectiveView`",
    },
    ViewFeature {
        number: 30,
        name: "coordinate-information",
        title: "Coordinate information",
        group: "Whole",
        place: "the values at the pointer, in .svg and .html",
    },
];

/// Refuses the name of a view that is a feature of all views.
pub(super) fn refuse_feature(name: &str) -> anyhow::Result<()> {
    match FEATURES.iter().find(|feature| feature.name == name) {
        Some(feature) => bail!("`{name}` is a feature of other views: {}", feature.place),
        None => Ok(()),
    }
}

/// The list of all views, one per line, with the card files of the user.
pub(super) fn of_views(cards: &[FoundCard]) -> String {
    let words = |modes: &[TimeMode]| modes.iter().map(|mode| mode.word()).collect::<Vec<_>>().join(", ");
    let infos = gallery::views().map(PerspectiveView::info);
    let mut rows: Vec<(u8, Vec<String>)> = infos
        .chain(DiagramMode::ALL.map(DiagramMode::info))
        .map(|info| {
            let needs = if info.required_data.is_empty() { "nothing" } else { info.required_data };
            let number = info.number.map_or_else(String::new, |number| format!("G{number}"));
            let texts = [info.name, info.title, info.group.name(), &words(info.modes), needs].map(str::to_owned);
            (info.number.unwrap_or(u8::MAX), [number].into_iter().chain(texts).collect())
        })
        .collect();
    rows.extend(FEATURES.iter().map(|feature| {
        let place = format!("a feature: {}", feature.place);
        let texts = [&format!("G{}", feature.number), feature.name, feature.title, feature.group, "–", &place];
        (feature.number, texts.map(str::to_owned).to_vec())
    }));
    rows.extend(cards.iter().map(|card| (u8::MAX, card_row(card, words))));
    rows.sort_by_key(|row| row.0);
    let head = ["No.", "Name", "Title", "Group", "Time", "Needs"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows.into_iter().map(|row| row.1)).collect();
    let mut text = String::new();
    text_table::append_whole(&mut text, &rows, &[]);
    text.push_str("\n`--mode` chooses the time. `--perspective NAME --option help` prints the options of a view.\n");
    text.trim_start().to_owned()
}

/// The line of a card file. A file with a mistake has the mistake.
fn card_row(card: &FoundCard, words: impl Fn(&[TimeMode]) -> String) -> Vec<String> {
    let texts = |title: &str, group: &str, modes: &str, needs: &str| {
        [String::new(), card.name.clone()].into_iter().chain([title, group, modes, needs].map(str::to_owned)).collect()
    };
    match cards::read(&card.path) {
        Ok(file) => {
            let view = CardView::new(file);
            let info = view.info();
            texts(info.title, info.group.name(), &words(info.modes), &format!("a card: {}", card.path.display()))
        }
        Err(error) => texts(&card.file_name(), ViewGroup::User.name(), "–", &format!("a mistake: {error}")),
    }
}

pub(super) fn of_options(info: &ViewInfo<'_>) -> String {
    let own = VIEW_OPTIONS.iter().filter(|option| info.options.contains(&option.name));
    let line = |option: &OptionInfo| {
        let OptionInfo { name, forms, help, .. } = option;
        format!("\n  --option {name}=VALUE\n      {help}: {forms}\n")
    };
    let options: String = own.chain(common_options(info)).map(line).collect();
    format!("{}: {}\n{options}", info.title, info.summary)
}
