//! The filter language and the file of a chain: written text is parsed to the same value, and error
//! messages state the expected text.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod expressions;

use proptest::prelude::*;
use tumit_viewer::filter::{ChainEntry, FilterChain, FilterError, FilterExpr, Measure, NamePattern, OrderKey};
use tumit_viewer::query::{GlobalNanos, OpenTimeRange};

use expressions::filter;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn printed_filters_parse_to_the_same_filters(filter in filter()) {
        let text = filter.to_string();
        let read: Result<FilterExpr, _> = text.parse();
        prop_assert_eq!(read, Ok(filter), "{}", text);
    }

    #[test]
    fn a_chain_comes_back_from_its_file(filters in prop::collection::vec((filter(), any::<bool>()), 0..5)) {
        let chain = FilterChain { filters: filters.into_iter().map(|(filter, is_on)| ChainEntry { filter, is_on }).collect() };
        prop_assert_eq!(FilterChain::from_text(&chain.to_text()).unwrap(), chain.clone());
        let json = serde_json::to_string(&chain).unwrap();
        prop_assert_eq!(serde_json::from_str::<FilterChain>(&json).unwrap(), chain);
    }

    #[test]
    fn any_text_is_parsed_or_rejected(text in ".{0,60}", words in prop::collection::vec(prop::sample::select(vec![
        "hide", "only", "value", "where", "and", "or", "not", "(", ")", "involves", "count", "sent", "of", "per", "into", "cut", "best", "3", "by", "time", "..", "=", ",", "\"", "where", "color", "#123456", "classify", "<", "duration", "shape", "circle", "size",
    ]), 0..12)) {
        // Parsing must not panic, and a parsed filter can be written.
        for text in [text, words.join(" ")] {
            match text.parse::<FilterExpr>() {
                Ok(filter) => prop_assert_eq!(filter.to_string().parse::<FilterExpr>(), Ok(filter)),
                Err(error) => prop_assert!(has_example(&error), "{}", error),
            }
        }
    }
}

/// Whether a message ends in an example that is a correct expression.
fn has_example(error: &FilterError) -> bool {
    let message = error.to_string();
    let Some((_, example)) = message.rsplit_once("; example: `") else { return false };
    example.strip_suffix('`').is_some_and(|example| example.parse::<FilterExpr>().is_ok())
}

/// One expression of each form.
const FORMS: [&str; 36] = [
    "category idle Wait* of Activity",
    "series busy, max-pending-bytes per unit with level = Node, several = fractional",
    "hide type Thread, Node",
    "only value Wait* of Activity",
    "hide container Node 1, Node 2/x",
    "only where (from = A, B or not to ~ C*) and involves Node 4, Node 5 of Message",
    "hide where Bytes >= 1000",
    "only duration >= 10us of Activity",
    "cut 0.2..0.4",
    "group a, b into c",
    "reuse Thread",
    "count sent of Message per Node into state Sent",
    "sum received Bytes of Message per Node into Received",
    "mean of Load per trace into variable x",
    "classify Message by Bytes < 10, 20",
    "sort Thread by share Wait* of Activity in 1..2 descending",
    "sort Thread by sent Bytes of Message",
    "sort Thread by received",
    "sort Thread by name",
    "sort Thread by integral of Load",
    "sort Thread by mean Bytes of Message",
    "sort Thread by p99 x",
    "order a, b",
    "best 3 Node by min of Load",
    "least 3 Node by number x of Activity",
    "keep Node with max of Load > 8",
    "keep Node with longest of Activity > 8ms",
    "color #d62728 x of Activity",
    "colour #d62728 of Activity",
    "shape diamond x of Milestone",
    "size 1.5 x of Activity",
    "bright x, y of Activity",
    "average Bytes of Message per Node",
    "minimum of Load per Node",
    "keep Node with maximum of Load > 8",
    "hide value \"and (x)\"",
];

#[test]
fn every_error_message_has_an_example_that_is_correct() {
    // Each form, cut off after each token, and with each token replaced.
    let mut error_count = 0;
    for form in FORMS {
        assert!(form.parse::<FilterExpr>().is_ok(), "{form}");
        let tokens: Vec<&str> = form.split_inclusive([' ', '(', ')', ',']).collect();
        for at in 0..tokens.len() {
            let before = tokens[..at].concat();
            let after = tokens[at + 1..].concat();
            let others = ["", "x", "of", "=", "<>", ",", "(", ")", "not", "\"", "2..1", "-1", "99999999999999999999"];
            for text in others.iter().flat_map(|other| [format!("{before}{other}"), format!("{before}{other} {after}")])
            {
                if let Err(error) = text.parse::<FilterExpr>() {
                    assert!(has_example(&error), "{error}");
                    error_count += 1;
                }
            }
        }
    }
    assert!(error_count > 1000, "{error_count}");
    let deep = |of: &str, end: &str| format!("only where {}a = 1{}", of.repeat(100_000), end.repeat(100_000));
    for text in [deep("(", ")"), deep("not ", ""), deep("not (", ")")] {
        let error = text.parse::<FilterExpr>().expect_err("it is too deep");
        assert!(has_example(&error) && error.to_string().contains("at most 64 nested parentheses"));
    }
}

#[test]
fn conditions_are_read_by_precedence() {
    for (text, printed) in [
        ("only where a=1 or b=2 and not c=3", "only where a = 1 or b = 2 and not c = 3"),
        ("only where a=1 or (b=2 and (not (c=3)))", "only where a = 1 or b = 2 and not c = 3"),
        ("only where (a=1 or b=2)and c=3", "only where (a = 1 or b = 2) and c = 3"),
        ("only where not(a=1 and b=2)of T", "only where not (a = 1 and b = 2) of T"),
        ("only where not not a=1", "only where not not a = 1"),
        ("only where (a=1 and b=2) and c=3", "only where (a = 1 and b = 2) and c = 3"),
        (
            "hide where from = A, B C or involves Node 4, Node 5/x",
            "hide where from = A, B C or involves Node 4, Node 5/x",
        ),
        ("only where involves = 3", "only where \"involves\" = 3"),
        ("only where involves involves", "only where involves \"involves\""),
        ("only where \"this and that\" = \"f(x)\"", "only where \"this and that\" = \"f(x)\""),
        ("hide value this and that (not x)", "hide value this and that (not x)"),
        ("count sent of Message per Node", "count sent of Message per Node"),
        ("count \"sent\" of State per Node", "count \"sent\" of State per Node"),
        ("sum received Bytes of Message per Node", "sum received Bytes of Message per Node"),
    ] {
        let filter: FilterExpr = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(filter.to_string(), printed);
    }
}

#[test]
fn files_of_version_1_keep_their_meaning() {
    let text = include_str!("../data/version-1.tumit-view");
    let chain = FilterChain::from_text(text).unwrap();
    let filters: Vec<String> = chain.filters.iter().map(|entry| entry.filter.to_string()).collect();
    assert_eq!(
        filters,
        [
            "hide value Waits* of Activity",
            "only where Bytes > 4096 of Message",
            "only where Call = \"f(int)\" of Activity",
            "hide where Text = \"this and that or not\"",
            "only where \"not ready\" = 1 of \"State (x)\"",
            "count \"sent\" of Status per Node",
            "sum \"received Bytes\" of Message per Node into Traffic",
            "hide value this and that (not x)",
            "only where from = A or to = B, C",
        ]
    );
    assert_eq!(chain.filters.iter().filter(|entry| !entry.is_on).count(), 1);
    // A rewritten file has the version that it needs.
    assert!(chain.to_text().contains("\"version\": 2"));
    assert_eq!(FilterChain::from_text(&chain.to_text()).unwrap(), chain);
    let plain = FilterChain { filters: chain.filters[..8].to_vec() };
    assert!(plain.to_text().contains("\"version\": 1"));
    assert_eq!(FilterChain::from_text(&plain.to_text()).unwrap(), plain);
}

#[test]
fn a_result_is_named_after_into() {
    for text in ["count of Activity per Node into", "sum Bytes of Message per Node into"] {
        let error = text.parse::<FilterExpr>().unwrap_err().to_string();
        assert!(error.contains("expected a name for the result"), "{error}");
    }
}

#[test]
fn names_have_quotes_only_if_they_contain_keywords() {
    for (text, printed) in [
        ("hide value Waits for a message of Activity", "hide value Waits for a message of Activity"),
        ("hide value \"part of it\"", "hide value \"part of it\""),
        ("hide  values a ,b", "hide value a, b"),
        ("only duration>=0.00001 of \"Activity\"", "only duration >= 10us of Activity"),
        ("cut 250ms..", "cut 250ms.."),
        ("cut 1 .. 2.5 s", "cut 1s..2500ms"),
        ("cut 200ms + 5ms", "cut 200ms..205ms"),
        ("cut \"1..2\"", "cut 1s..2s"),
        ("count of Activity per Node into state", "count of Activity per Node into state"),
        ("sort Thread by time Wait* in 1..2 descending", "sort Thread by time Wait* in 1s..2s descending"),
        ("sort Thread by name descending", "sort Thread by name descending"),
        ("classify Message by Bytes", "classify Message by Bytes"),
        ("classify Message by Bytes<100,1e6", "classify Message by Bytes < 100, 1000000"),
        ("classify Activity by duration < 0.00001, 1ms", "classify Activity by duration < 10us, 1ms"),
        ("colour #D62728 Wait*", "color #d62728 Wait*"),
        ("shape Diamond step of Milestone", "shape diamond step of Milestone"),
        ("shape circle of Milestone", "shape circle of Milestone"),
        ("size 1.50 Wait* of Activity", "size 1.5 Wait* of Activity"),
    ] {
        let filter: FilterExpr = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(filter.to_string(), printed);
    }
}

#[test]
fn errors_name_the_expected_syntax() {
    for (text, words) in [
        ("", "expected hide, only, cut,"),
        ("show x", "found `show`"),
        ("hide", "expected type, value, container, where or duration, found the end"),
        ("hide colour x", "found `colour`"),
        ("hide value", "expected the name of a value, found the end"),
        ("hide value a,", "expected the name of a value, found the end"),
        ("hide value a of", "expected the name of a type"),
        ("hide value a b of c d e = 3", "expected nothing more, found `=`"),
        ("hide value \"a", "expected a quotation mark"),
        ("only where Bytes 3", "expected one of =, !=,"),
        ("only where (Bytes = 3", "expected `)`, found the end"),
        ("only where Bytes = 3)", "expected nothing more, found `)`, which a name may contain only in quotes"),
        ("only where Bytes = f(3)", "expected nothing more, found `(`, which a name may contain only in quotes"),
        ("only where a = 3 and", "expected the name of a field, found the end"),
        ("only where and a = 3", "expected the name of a field, found `and`, which a name may contain only in quotes"),
        ("only where a < 3, 4", "because only =, !=, ~ and !~ accept a list"),
        ("only where involves", "expected the name of a container, found the end"),
        ("only where Bytes => 3", "found `=>`"),
        ("only duration ~ 3", "expected one of =, !=, <, <=, >, >=, found `~`"),
        ("only duration > 3 parsecs", "expected one of the units ns, us, ms, s, min, h and d instead of `parsecs`"),
        ("only duration > x", "expected a time in seconds, or with units, found `x`"),
        ("cut 2..1", "expected the start before the end, found `2..1`"),
        ("cut 1..1", "expected an end after the start, as the end is excluded, found `1..1`"),
        ("cut", "expected a time range FROM..TO, FROM.., ..TO or FROM+LENGTH, found the end"),
        ("cut 2", "expected a time range FROM..TO, FROM.., ..TO or FROM+LENGTH, found `2`"),
        ("cut a..b", "expected a time in seconds, or with units, found `a`"),
        ("sort Thread by start in 2..1", "expected the start before the end, found `2..1`"),
        ("group a", "expected `into`"),
        ("classify a", "expected `by`"),
        ("classify a by b = 3", "expected nothing more"),
        ("classify a by b < x", "expected a number"),
        ("classify a by b < 3, 3", "numbers in increasing order"),
        (
            "classify a by duration < 3 parsecs",
            "expected one of the units ns, us, ms, s, min, h and d instead of `parsecs`",
        ),
        ("count x of y", "expected `per`"),
        ("best Node by name", "expected a number of containers, found `Node`"),
        ("sort Node by size", "expected name, start, end, time,"),
        ("keep Node with mean of Load > many", "expected a number, found `many`"),
        ("color red x", "expected a colour such as #d62728"),
        ("color #d62728", "expected the name of a value"),
        ("shape star x", "expected triangle, diamond, circle, square or line, found `star`"),
        ("shape circle", "expected the name of a value"),
        ("size x", "expected a size such as 1.5, above 0, found `x`"),
        ("size 0 x", "found `0`"),
        ("size -1 x", "found `-1`"),
        ("size inf x", "found `inf`"),
        ("size 2 of", "expected the name of a type"),
    ] {
        let error = text.parse::<FilterExpr>().expect_err(text);
        assert!(has_example(&error), "{error}");
        let error = error.to_string();
        assert!(error.contains(words) && error.starts_with(&format!("`{text}`: ")), "{error}");
    }
}

#[test]
fn time_ranges_are_those_of_the_command_and_the_page() {
    let table = include_str!("../../../converter/paje/tests/time_ranges.json");
    let table: Vec<serde_json::Value> = serde_json::from_str(table).unwrap();
    for row in &table {
        let text = row["text"].as_str().unwrap();
        let nanos = |key: &str| row[key].as_str().map(|nanos| GlobalNanos(nanos.parse().unwrap()));
        let range = OpenTimeRange { from: nanos("from"), to: nanos("to") };
        let key = OrderKey { measure: Measure::Start, time_range: Some(range) };
        let sort = FilterExpr::Sort { ty: NamePattern::new("Thread".to_owned()), key, descending: false };
        for (form, filter) in [("cut", FilterExpr::Cut(range)), ("sort Thread by start in", sort)] {
            match format!("{form} {text}").parse::<FilterExpr>() {
                Ok(read) => assert!(read == filter && row.get("error").is_none(), "{form} {text}: {read:?}"),
                // The whole message has the expression and its example.
                Err(error) => {
                    let message = row["error"].as_str().unwrap_or_else(|| panic!("{error}"));
                    let expected = message.rsplit_once("expected ").unwrap().1.rsplit_once("; example").unwrap().0;
                    // Commas separate names in expressions.
                    let is_same = text.contains(',') || error.to_string().contains(&format!("expected {expected}"));
                    assert!(is_same && has_example(&error), "{error}; {message}");
                }
            }
        }
    }
}

#[test]
fn the_place_of_a_wrong_time_is_all_of_it() {
    for (text, place) in [("cut 1 .. 2 y", "1 .. 2 y"), ("only duration > 3 4 of Activity", "3 4")] {
        let error = text.parse::<FilterExpr>().unwrap_err();
        assert_eq!(&text[error.place(text)], place, "{error}");
    }
}

#[test]
fn errors_in_a_file_name_the_field() {
    let good = r#"{ "format": "tumit-view", "version": 1, "filters": ["hide value x", { "filter": "reuse Thread", "on": false }] }"#;
    let chain = FilterChain::from_text(good).unwrap();
    assert_eq!(chain.filters.iter().map(|entry| entry.is_on).collect::<Vec<_>>(), [true, false]);
    for (from, to, words) in [
        ("tumit-view", "other", "`format`: expected \"tumit-view\", found \"other\""),
        (
            "\"version\": 1",
            "\"version\": 3",
            "`version`: version 3 is of a later Tumit; this one reads versions 1 to 2",
        ),
        ("\"version\": 1", "\"version\": true", "`version`: expected 1 or 2, found true"),
        ("\"filters\"", "\"filter\"", "`filter`: this field does not exist"),
        ("hide value x", "hide x", "`filters[0]`: `hide x`: expected type, value,"),
        ("reuse Thread", "reuse", "`filters[1].filter`: `reuse`: expected the name of a container type"),
        ("false", "\"no\"", "`filters[1].on`: expected true or false, found \"no\""),
        ("\"on\"", "\"off\"", "`filters[1].off`: this field does not exist; the fields are filter and on"),
        ("\"hide value x\"", "3", "`filters[0]`: expected an expression, or an object"),
        ("[", "", "expected JSON: "),
    ] {
        let error = FilterChain::from_text(&good.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(words) && error.contains("; example: `"), "{error}");
    }
    assert_eq!(
        FilterChain::default().to_text(),
        "{\n  \"format\": \"tumit-view\",\n  \"version\": 1,\n  \"filters\": []\n}\n"
    );
}
