//! Mistakes in card files: each has its line, the expected keys or words, and a similar one.

use proptest::prelude::*;
use tumit_perspectives::cards::{CardFile, card_name};

const CARD: &str = r##"title = "Array"
summary = "An array."
group = "Tasks"
time = ["at", "range"]

[[panel]]
kind = "elements"
shape = "cells"
glide = "1ms"
horizontal = { label = "column", largest = 10 }

  [[panel.events]]
  type = "Place"
  element = "id"
  x = "column"
  color = { field = "id", scale = "gradient" }

[[panel]]
kind = "levels"
axis = { unit = "bytes" }

  [[panel.series]]
  of = "field"
  field = "bytes"
  color = "#1f5f9f"
"##;

/// A change of the card, the line of the mistake, and a part of the message.
const MISTAKES: &[(&str, &str, usize, &str)] = &[
    (
        "title = \"Array\"",
        "titel = \"Array\"",
        1,
        "a card has no key `titel`; its keys are title, summary, group, time and panel; did you mean `title`?",
    ),
    ("title = \"Array\"", "", 1, "a card needs the key `title`, such as `title = \"Sort\"`"),
    ("title = \"Array\"", "title = 3", 1, "`title` is a number; expected a text in \"…\""),
    ("title = \"Array\"", "title = \" \"", 1, "`title` is empty; write a name, such as `title = \"Sort\"`"),
    ("title = \"Array\"", "title = \"Array", 1, "this is not TOML: "),
    (
        "\"Tasks\"",
        "\"Task\"",
        3,
        "`group` is `Task`; expected Utilization, Communication, Tasks, Whole or Your own; did you mean `Tasks`?",
    ),
    ("\"range\"", "\"ranges\"", 4, "`time` is `ranges`; expected at, range or moving; did you mean `range`?"),
    ("[\"at\", \"range\"]", "[]", 4, "`time` is empty; expected one or several of at, range, moving"),
    ("[\"at\", \"range\"]", "[1]", 4, "`time` is a number; expected a list of texts"),
    ("kind = \"elements\"", "", 6, "panel needs the key `kind`, such as `kind = \"levels\"`"),
    (
        "\"elements\"",
        "\"element\"",
        7,
        "`kind` is `element`; expected levels, bars, marks or elements; did you mean `elements`?",
    ),
    ("\"cells\"", "\"bars\"", 12, "events needs the key `y`, such as `y = \"value\"`"),
    ("\"1ms\"", "\"1 lightyear\"", 9, "write a duration, such as \"2ms\""),
    ("\"1ms\"", "\"-1ms\"", 9, "`glide` is negative"),
    ("largest = 10", "largest = 0", 10, "`largest` is not greater than 0"),
    ("largest = 10", "largest = inf", 10, "`largest` is not a finite decimal number"),
    ("largest = 10", "largest = \"10\"", 10, "`largest` is a text; expected a decimal number"),
    ("largest = 10", "least = 10", 10, "horizontal has no key `least`; its keys are label, unit and largest"),
    ("{ label = \"column\", largest = 10 }", "\"column\"", 10, "expected a table, such as `horizontal = { … }`"),
    ("element = \"id\"", "", 12, "events needs the key `element`, such as `element = \"id\"`"),
    ("field = \"id\", ", "", 16, "color needs the key `field`, such as `field = \"owner\"`"),
    ("field = \"id\", ", "by = \"value\", field = \"id\", ", 16, "one of the keys `by` and `field`, not both"),
    ("field = \"id\", ", "by = \"value\", ", 16, "`scale` needs a field"),
    ("color = { field = \"id\", scale = \"gradient\" }", "colour = \"now\"", 16, "did you mean `color`?"),
    ("[[panel.series]]", "[panel.series]", 22, "begin each with `[[panel.series]]`"),
    (
        "of = \"field\"",
        "of = \"fields\"",
        23,
        "expected category, pending, states, variable, events or field; did you mean `field`?",
    ),
    ("of = \"field\"", "", 22, "series needs the key `of`"),
    ("field = \"bytes\"", "", 22, "series needs the key `field`, such as `field = \"bytes\"`"),
    ("field = \"bytes\"", "field = \"bytes\"\nshow = \"sum\"", 25, "series has no key `show`"),
    ("#1f5f9f", "#1f5f9", 25, "`#1f5f9f` is a colour by its red, green and blue"),
    ("#1f5f9f", "emphasised", 25, "did you mean `emphasis`?"),
    (
        "of = \"field\"\n  field = \"bytes\"",
        "of = \"states\"",
        22,
        "the series `states` shows numbers, but the axis shows bytes; use a panel for each unit of measurement",
    ),
];

fn fault(text: &str) -> String {
    CardFile::parse("a.card.toml", text).unwrap_err().to_string()
}

#[test]
fn a_card_without_mistakes_is_read() {
    let card = CardFile::parse("my array.card.toml", CARD).unwrap();
    assert_eq!((card.name(), card.title()), ("card-my-array", "Array"));
    assert_eq!(card_name("sort.toml"), "card-sort");
}

#[test]
fn mistakes_have_their_line_and_a_remedy() {
    for &(old, new, line, expected) in MISTAKES {
        let text = CARD.replacen(old, new, 1);
        assert_ne!(text, CARD, "{old}");
        let fault = fault(&text);
        assert!(fault.starts_with(&format!("a.card.toml:{line}: ")) && fault.contains(expected), "{new}: {fault}");
    }
}

#[test]
fn large_files_and_many_parts_are_refused() {
    let series = "[[panel.series]]\nof = \"states\"\n";
    let many = format!("title = \"a\"\n[[panel]]\nkind = \"bars\"\n{}", series.repeat(25));
    assert!(fault(&many).contains("25 tables `[[panel.series]]`; there may be at most 24"), "{}", fault(&many));
    assert!(fault(&"#".repeat(300_000)).contains("more than 262144 bytes"));
    assert!(fault(&format!("title = \"{}\"", "x".repeat(501))).contains("a text has at most 500"));
    assert!(fault(&format!("a = {}", "[".repeat(10_000))).contains("this is not TOML"));
    assert!(fault("panel = []\ntitle = \"a\"").contains("`panel` is empty; add a table that begins with `[[panel]]`"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = CardFile::parse("a.card.toml", &text);
    }

    #[test]
    fn cards_with_changed_bytes_are_read_or_refused(
        changes in prop::collection::vec((0..CARD.len(), prop_oneof![Just('"'), Just('['), Just('\n'), Just('='), any::<char>()]), 1..6),
    ) {
        let mut chars: Vec<char> = CARD.chars().collect();
        for (at, char) in changes {
            let place = at % chars.len();
            chars[place] = char;
        }
        let text: String = chars.into_iter().collect();
        if let Err(fault) = CardFile::parse("a.card.toml", &text) {
            prop_assert!(fault.line >= 1 && fault.line <= text.lines().count() + 1, "{}", fault);
        }
    }
}
