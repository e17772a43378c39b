//! Rows of small files, in each format.

use super::{TableFormat, write};
use crate::input::open_options::OpenOptions;

const HEADER: &str = include_str!("../../tests/header.paje");
/// States, links and containers with fields; a field on both endpoints of links; source locations.
const MORE: &str = "\
%EventDef PajeSetState 20
% Time date
% Type string
% Container string
% Value string
% Size int
% WaitsForContainer string
% File string
% Line int
%EndEventDef
%EventDef PajeStartLink 21
% Time date
% Container string
% Type string
% StartContainer string
% Value string
% Key string
% Size int
%EndEventDef
%EventDef PajeEndLink 22
% Time date
% Container string
% Type string
% EndContainer string
% Value string
% Key string
% Size int
%EndEventDef
";
const TREE: &str = "\
0 P 0 Process
2 S P State
1 V P Load \"0 0 0\"
3 E P Mark \"0 0 0\"
4 L 0 P P Message
6 0 p 0 P \"first, of all\"
6 0 q 0 P second
";

fn rows(format: TableFormat, body: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("small.paje");
    std::fs::write(&path, [HEADER, TREE, body].concat()).expect("the file can be written");
    let mut out = Vec::new();
    let account = write(&path, &OpenOptions::default(), format, &mut out).expect("the file is a valid Pajé file");
    let text = String::from_utf8(out).expect("rows are UTF-8");
    assert_eq!(text.lines().count() as u64, account.rows + u64::from(format == TableFormat::Csv));
    (text, account.errors().into_iter().map(ToString::to_string).collect())
}

const BODY: &str = "\
20 1 S p busy 64 q \"my, file.c\" 12
8 1 p V 0.1
21 1 0 L p big k1 1000
17 1.25 p E x
22 2 0 L q big k1 999
11 2.000000001 q S idle
9 3 p V 2
7 4 P p
7 4 P q
";

#[test]
fn a_table_has_all_columns() {
    let (text, faults) = rows(TableFormat::Csv, &[MORE, BODY].concat());
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "Kind,Container,Type,Start,End,Duration,Imbrication,Value,StartContainer,EndContainer,Key,ContainerId,Id,\
             StartContainerId,EndContainerId,File,Line,Size,waits for,WaitsForContainer,Size_end",
            "Event,\"first, of all\",Mark,1.250000000,1.250000000,0.000000000,,x,,,,1,,,,,,,,,",
            "Link,0,Message,1.000000000,2.000000000,1.000000000,,big,\"first, of all\",second,k1,0,,1,2,,,1000,,,999",
            "Variable,\"first, of all\",Load,1.000000000,3.000000000,2.000000000,,0.1,,,,1,,,,,,,,,",
            "State,\"first, of all\",State,1.000000000,4.000000000,3.000000000,0,busy,,,,1,,,,\"my, file.c\",12,64,second,,",
            "Variable,\"first, of all\",Load,3.000000000,4.000000000,1.000000000,,2.1,,,,1,,,,,,,,,",
            "Container,0,Process,0.000000000,4.000000000,4.000000000,,\"first, of all\",,,,0,1,,,,,,,,",
            "State,second,State,2.000000001,4.000000000,1.999999999,0,idle,,,,2,,,,,,,,,",
            "Container,0,Process,0.000000000,4.000000000,4.000000000,,second,,,,0,2,,,,,,,,",
            "Container,0,0,0.000000000,4.000000000,4.000000000,,0,,,,,0,,,,,,,,",
        ]
    );
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn fields_defined_in_the_middle_are_columns_too() {
    let (text, faults) =
        rows(TableFormat::Csv, &["17 1 p E x\n", MORE, "20 2 S p busy 64 q a.c 1\n7 3 P p\n"].concat());
    assert!(text.lines().next().is_some_and(|header| header.contains(",Size,")), "{text}");
    assert!(text.contains("busy,,,,1,,,,a.c,1,64,second,,\n"), "{text}");
    assert_eq!(faults, Vec::<String>::new());
}

/// Searching all fields for each cell would take minutes.
#[test]
fn a_row_has_very_many_fields() {
    const FIELDS: usize = 50_000;
    let names: String = (0..FIELDS).map(|number| format!("% F{number} string\n")).collect();
    let values: Vec<String> = (0..FIELDS).map(|number| number.to_string()).collect();
    let start = "%EventDef PajeNewEvent 20\n% Time date\n% Type string\n% Container string\n% Value string\n";
    let line = format!("20 2 E p x {}\n", values.join(" "));
    let (text, faults) = rows(TableFormat::Csv, &[start, &names, "%EndEventDef\n", &line].concat());
    let row = text.lines().find(|row| row.starts_with("Event,")).expect("one exists");
    let has_all = row.contains(&format!(",{}", values.join(",")));
    assert!(has_all, "{} … {faults:?}", &row[..200]);
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn a_field_with_the_name_of_a_column_gets_a_number() {
    let more = "%EventDef PajeNewEvent 20\n% Time date\n% Type string\n% Container string\n% Value string\n% Id string\n%EndEventDef\n";
    let (text, _) = rows(TableFormat::Csv, &[more, "20 2 E p x \"a\nb\"\n"].concat());
    assert!(text.lines().next().is_some_and(|header| header.ends_with(",Id_2")), "{text}");
}

#[test]
fn json_lines_are_objects() {
    let (text, _) = rows(TableFormat::Json, &[MORE, BODY].concat());
    let objects: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    let of = |kind: &str| objects.iter().find(|object| object["kind"] == kind).expect("one exists");
    let state = of("State");
    assert_eq!(state["file"], "my, file.c");
    assert_eq!(state["fields"]["Size"], "64");
    assert_eq!(state["fields"]["waits for"], "second");
    assert_eq!((&state["start"], &state["imbrication"]), (&1.0.into(), &0.into()));
    let link = of("Link");
    assert_eq!((&link["start_container_id"], &link["key"]), (&1.into(), &"k1".into()));
    assert_eq!((&link["fields"]["Size"], &link["fields"]["Size_end"]), (&"1000".into(), &"999".into()));
    assert_eq!(of("Variable")["value"], 0.1);
    assert_eq!(of("Event")["time"], 1.25);
    assert_eq!(of("Container")["name"], "first, of all");
    assert!(of("Container")["parent"] == "0" && objects.last().is_some_and(|root| root.get("parent").is_none()));
}

#[test]
fn names_are_quoted_if_necessary() {
    let name = |form: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        form(&mut out);
        String::from_utf8(out).expect("text")
    };
    use super::row::RowForm as _;
    for (text, csv) in [("plain", "plain"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), ("", "")]
    {
        assert_eq!(name(&|out| super::csv::CsvForm { start: None }.name(text, out)), csv);
        assert_eq!(
            serde_json::from_str::<String>(&name(&|out| super::json::JsonForm { start: None }.name(text, out)))
                .expect("JSON"),
            text
        );
    }
}

#[test]
fn tables_for_pj_dump_reproduce_its_deviations() {
    let body = "8 5 p V 0.1\n8 3 q V 1\n";
    let (text, _) = rows(TableFormat::PjDump, body);
    assert!(
        text.contains("Variable, first, of all, Load, 5.000000000, 3.000000000, -2.000000000, 0.100000001\n"),
        "{text}"
    );
    let early = "11 -2 p S a\n11 -1 p S b\n17 -2 p E a\n17 -1 p E b\n7 3 P p\n";
    let (text, _) = rows(TableFormat::PjDump, early);
    assert!(
        text.contains("State, first, of all, State, -1.000000000, 3.000000000, 0.000000000, 0.000000000, b\n"),
        "{text}"
    );
    assert!(text.contains(", -1.000000000, b\n") && !text.contains(" -2.000000000"), "{text}");
    let (text, _) = rows(TableFormat::Csv, early);
    assert!(text.contains("-2.000000000,-1.000000000,1.000000000,0,a,"), "{text}");
    let (text, _) = rows(TableFormat::Csv, body);
    assert!(text.contains("5.000000000,5.000000000,0.000000000,,0.1,"), "{text}");
}
