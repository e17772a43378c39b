//! The filter language and the file of a chain: written text is parsed to the same value, and error
//! messages state the expected text.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::{
    AssignedEndpoint, ChainEntry, Comparison, Condition, DurationStatistic, ExecutionSeries, FieldTest, FilterChain,
    FilterError, FilterExpr, Measure, NamePattern, NamePatterns, OrderKey, ReduceOperation, Reduction, ReductionForm,
    SelectionEffect, SeriesExpr,
};
use tumit_viewer::query::{GlobalNanos, MarkShape, OpenTimeRange};
use tumit_viewer::style::theme::rgb;

/// Names with all characters that have a meaning in the language, except `*` alone, which printing
/// omits.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Z][a-z0-9 *?/.-]{0,8}",
        1 => "x[ ,\"\\\\=<>~!#é*]{0,6}",
        1 => prop::sample::select(vec!["of", "a per b", "by", "state", "x into", "in", " x", "x  y", ""]).prop_map(str::to_owned),
        1 => "(and|or|not|involves|sent|received|[(]a|b[)]|c[(]d[)]|Node|,)( (and|or|not|involves|sent|[(]|[)]|x)){0,2}",
    ]
}

fn series() -> impl Strategy<Value = FilterExpr> {
    let option = (prop::sample::select(vec!["level", "states", "tasks", "several", "stateless"]), name());
    let all = prop::collection::vec(prop::sample::select(ExecutionSeries::ALL.to_vec()), 1..4);
    let strategy = (all, any::<bool>(), prop::collection::vec(option, 0..3), prop::option::of(name()));
    strategy.prop_map(|(series, per_unit, options, name)| {
        let name = name.filter(|_| series.len() == 1);
        FilterExpr::Series(SeriesExpr { series, per_unit, options, name })
    })
}

fn pattern() -> impl Strategy<Value = NamePattern> {
    name().prop_map(NamePattern::new)
}

fn patterns() -> impl Strategy<Value = NamePatterns> {
    prop_oneof![4 => prop::collection::vec(pattern(), 1..4).prop_map(NamePatterns::new), 1 => Just(NamePatterns::match_all())]
}

fn of() -> impl Strategy<Value = Option<NamePattern>> {
    prop::option::of(pattern())
}

fn keep() -> impl Strategy<Value = SelectionEffect> {
    prop_oneof![Just(SelectionEffect::Hide), Just(SelectionEffect::Only)]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{AtLeast, AtMost, Equal, Less, More, Unequal};
    prop::sample::select(vec![Equal, Unequal, Less, AtMost, More, AtLeast])
}

fn time_range() -> impl Strategy<Value = OpenTimeRange> {
    prop_oneof![
        (any::<i32>(), 1..i64::MAX / 4).prop_map(|(from, length)| {
            let from = i64::from(from);
            OpenTimeRange { from: Some(GlobalNanos(from)), to: Some(GlobalNanos(from + length)) }
        }),
        prop::option::of(any::<i64>().prop_map(GlobalNanos)).prop_map(|from| OpenTimeRange { from, to: None }),
        prop::option::of(any::<i64>().prop_map(GlobalNanos)).prop_map(|to| OpenTimeRange { from: None, to }),
    ]
}

fn key() -> impl Strategy<Value = OrderKey> {
    let measure = prop_oneof![
        Just(Measure::Name),
        Just(Measure::Start),
        (patterns(), of()).prop_map(|(values, of)| Measure::Time { values, of }),
        (patterns(), of()).prop_map(|(values, of)| Measure::Number { values, of }),
        pattern().prop_map(|of| Measure::Mean { of }),
        pattern().prop_map(|of| Measure::Min { of }),
        pattern().prop_map(|of| Measure::Max { of }),
        pattern().prop_map(|of| Measure::Integral { of }),
        Just(Measure::End),
        (patterns(), of()).prop_map(|(values, of)| Measure::Share { values, of }),
        (prop::sample::select(DurationStatistic::ALL.to_vec()), patterns(), of())
            .prop_map(|((_, statistic), values, of)| Measure::Duration { statistic, values, of }),
        (
            prop::sample::select(vec![
                ReduceOperation::Sum,
                ReduceOperation::Mean,
                ReduceOperation::Min,
                ReduceOperation::Max
            ]),
            name(),
            pattern()
        )
            .prop_map(|(operation, field, of)| Measure::Field { operation, field, of }),
        (prop::option::of(name()), of()).prop_map(|(field, of)| Measure::Sent { field, of }),
        (prop::option::of(name()), of()).prop_map(|(field, of)| Measure::Received { field, of }),
    ];
    (measure, prop::option::of(time_range())).prop_map(|(measure, during)| OrderKey { measure, during })
}

fn condition() -> impl Strategy<Value = Condition> {
    let operands = prop::collection::vec(pattern(), 1..4);
    let field = (name(), comparison(), operands, any::<bool>()).prop_map(|(field, comparison, mut operands, like)| {
        let comparison = match (like, comparison) {
            (true, Comparison::Equal) => Comparison::Like,
            (true, Comparison::Unequal) => Comparison::Unlike,
            (_, comparison) => comparison,
        };
        if !matches!(comparison, Comparison::Equal | Comparison::Unequal | Comparison::Like | Comparison::Unlike) {
            operands.truncate(1);
        }
        Condition::Field(FieldTest { field, comparison, operands: NamePatterns::new(operands) })
    });
    let involves = prop::collection::vec(pattern(), 1..4).prop_map(|all| Condition::Involves(NamePatterns::new(all)));
    prop_oneof![3 => field, 1 => involves].prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|one| Condition::Not(Box::new(one))),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            2 => prop::collection::vec(inner, 2..4).prop_map(Condition::Or),
        ]
    })
}

fn selection() -> impl Strategy<Value = FilterExpr> {
    let condition = condition();
    prop_oneof![
        (keep(), patterns()).prop_map(|(keep, types)| FilterExpr::Types { keep, types }),
        (keep(), patterns(), of()).prop_map(|(keep, values, of)| FilterExpr::Values { keep, values, of }),
        (keep(), patterns()).prop_map(|(keep, containers)| FilterExpr::Containers { keep, containers }),
        (keep(), condition, of()).prop_map(|(keep, condition, of)| FilterExpr::Attribute { keep, condition, of }),
        (keep(), comparison(), any::<i64>().prop_map(|n| n / 2), of())
            .prop_map(|(keep, comparison, nanos, of)| FilterExpr::Duration { keep, comparison, nanos, of }),
        time_range().prop_map(FilterExpr::Cut),
    ]
}

fn filter() -> impl Strategy<Value = FilterExpr> {
    use ReduceOperation::{Count, Max, Mean, Min, Sum};
    let reduction = (
        prop::sample::select(vec![Count, Sum, Mean, Min, Max]),
        (prop::option::of(prop::sample::select(vec![AssignedEndpoint::Sent, AssignedEndpoint::Received])), patterns()),
        pattern(),
        pattern(),
        prop_oneof![Just(ReductionForm::Variable), Just(ReductionForm::State)],
        prop::option::of(name()),
    )
        .prop_map(|(operation, (end, values), of, per, form, name)| {
            FilterExpr::Reduce(Reduction { operation, end, values, of, per, form, name })
        });
    let number = prop_oneof![(-1000..1000_i32).prop_map(f64::from), any::<i32>().prop_map(|n| f64::from(n) / 7.0)];
    let having = (pattern(), key(), comparison(), number).prop_map(|(ty, by, comparison, number)| {
        let time = by.measure.is_time();
        FilterExpr::Having { ty, by, comparison, number: if time { number.trunc() } else { number } }
    });
    let painted = (patterns(), of(), 0..0x100_0000_u32).prop_map(|(values, of, color)| FilterExpr::Color {
        values,
        of,
        color: rgb(color),
    });
    let shape = prop::sample::select(MarkShape::ALL.to_vec());
    let shaped = (patterns(), of(), shape).prop_map(|(values, of, shape)| FilterExpr::Shape { values, of, shape });
    let size = (1..400_u16).prop_map(|hundredths| f32::from(hundredths) / 100.0);
    let sized = (patterns(), of(), size).prop_map(|(values, of, size)| FilterExpr::Size { values, of, size });
    prop_oneof![
        1 => shaped,
        1 => sized,
        4 => selection(),
        1 => (patterns(), name()).prop_map(|(containers, name)| FilterExpr::Group { containers, name }),
        1 => patterns().prop_map(|types| FilterExpr::Reuse { types }),
        2 => reduction,
        2 => (pattern(), key(), any::<bool>())
            .prop_map(|(ty, by, descending)| FilterExpr::Sort { ty, by, descending }),
        1 => patterns().prop_map(|containers| FilterExpr::Order { containers }),
        1 => (any::<u32>(), pattern(), key(), any::<bool>())
            .prop_map(|(number, ty, by, lowest)| FilterExpr::Best { number, ty, by, lowest }),
        1 => having,
        1 => (pattern(), name(), prop::collection::btree_set(-1000..1000_i32, 0..5)).prop_map(|(of, field, edges)| {
            FilterExpr::Classify { of, field, edges: edges.into_iter().map(f64::from).collect() }
        }),
        1 => painted,
        1 => (patterns(), of(), prop::sample::select(ActivityCategory::WORDS.map(|(_, category)| category).to_vec()))
            .prop_map(|(values, of, category)| FilterExpr::Category { values, of, category }),
        1 => series(),
        1 => (patterns(), of()).prop_map(|(values, of)| FilterExpr::Bright { values, of }),
    ]
}

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
        let chain = FilterChain { filters: filters.into_iter().map(|(filter, on)| ChainEntry { filter, on }).collect() };
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
const FORMS: [&str; 34] = [
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
    let text = include_str!("data/version-1.tumit-view");
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
    assert_eq!(chain.filters.iter().filter(|entry| !entry.on).count(), 1);
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
        ("only duration > 3 parsecs", "expected one of the units ns, us, ms, s, min, h and d, found `parsecs`"),
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
            "expected one of the units ns, us, ms, s, min, h and d, found `parsecs`",
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
    let table = include_str!("../../converter/paje/tests/time_ranges.json");
    let table: Vec<serde_json::Value> = serde_json::from_str(table).unwrap();
    for row in &table {
        let text = row["text"].as_str().unwrap();
        let nanos = |key: &str| row[key].as_str().map(|nanos| GlobalNanos(nanos.parse().unwrap()));
        let range = OpenTimeRange { from: nanos("from"), to: nanos("to") };
        let key = OrderKey { measure: Measure::Start, during: Some(range) };
        let sort = FilterExpr::Sort { ty: NamePattern::new("Thread".to_owned()), by: key, descending: false };
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
    assert_eq!(chain.filters.iter().map(|entry| entry.on).collect::<Vec<_>>(), [true, false]);
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
