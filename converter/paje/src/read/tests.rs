//! Tests of the reader with the files that producers write, and with invalid files.

mod arbitrary_input;
mod tolerated_lines;

use std::io;

use super::{FaultKind, FaultSummary, PajeReadError, PajeReader, announce, read};
use crate::time::GlobalNanos;
use crate::{ContainerId, FieldSet, KeyId, PajeEvent, PajeSink, diagnostic_texts};

/// Keeps each operation as text.
#[derive(Default)]
struct EventLog(Vec<String>);

impl PajeSink for EventLog {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.0.push(format!("{event:?}"));
        Ok(())
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.0.push(format!("key {} is {text}", key.0));
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.0.push(format!("end {}", end.0));
        Ok(())
    }
}

/// Operations, and kinds of faults with their counts and first lines.
fn run(text: &[u8]) -> (Vec<String>, Vec<(FaultKind, u64, u64)>) {
    let mut log = EventLog::default();
    let report = read(text, &mut log).expect("the text is a Pajé file");
    let faults = report.faults.iter().map(|FaultSummary { kind, count, line, .. }| (*kind, *count, *line)).collect();
    (log.0, faults)
}

const HEADER: &str = "\
%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 2
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
% Time date
% Name string
% Type string
%EndEventDef
%EventDef PajeSetState 5
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 6
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSetVariable 7
% Time date
% Type string
% Container string
% Value double
%EndEventDef
";
const HEADER_LINES: u64 = 45;

const TREE: &str = "0 T 0 Thread\n1 S T \"Thread State\"\n2 R S Running \"0 1 0\"\n3 0 c1 T 0 \"thread 1\"\n";

fn with_header(body: &str) -> Vec<u8> {
    format!("{HEADER}{TREE}{body}").into_bytes()
}

fn faults(body: &str) -> Vec<(FaultKind, u64)> {
    run(&with_header(body)).1.into_iter().map(|(kind, count, _)| (kind, count)).collect()
}

/// The operations of the lines after the tree.
fn events(body: &str) -> Vec<String> {
    let mut events = run(&with_header(body)).0.split_off(4);
    events.pop();
    events
}

#[test]
fn a_plain_file_is_read() {
    let (events, faults) = run(&with_header("5 1.5 S c1 R\n6 2 S c1\n4 3 c1 T\n"));
    assert_eq!(faults, []);
    assert_eq!(HEADER.lines().count() as u64, HEADER_LINES);
    let expected = [
        "DefineType { ty: TypeId(1), kind: Container, parent: TypeId(0), name: \"Thread\", color: None, style: DrawStyle { shape: None, size: None } }",
        "DefineType { ty: TypeId(2), kind: State, parent: TypeId(1), name: \"Thread State\", color: None, style: DrawStyle { shape: None, size: None } }",
        "DefineValue { value: ValueId(0), ty: TypeId(2), name: \"Running\", color: Some(RgbColor { red: 0, green: 255, blue: 0 }), style: DrawStyle { shape: None, size: None }, category: None }",
        "CreateContainer { time: GlobalNanos(0), container: ContainerId(1), ty: TypeId(1), parent: ContainerId(0), name: \"thread 1\", extra: [] }",
        "SetState { time: GlobalNanos(1500000000), container: ContainerId(1), ty: TypeId(2), value: ValueId(0), extra: [], source: None }",
        "PopState { time: GlobalNanos(2000000000), container: ContainerId(1), ty: TypeId(2) }",
        "DestroyContainer { time: GlobalNanos(3000000000), container: ContainerId(1) }",
        "end 3000000000",
    ];
    assert_eq!(events, expected);
}

#[test]
fn line_ends_comments_byte_order_mark_and_missing_newline_do_not_matter() {
    let plain = run(&with_header("5 1.5 S c1 R\n6 2 S c1\n"));
    let text =
        String::from_utf8(with_header("5 1.5 S c1 R\n\n# it's \"a comment\n\t 6  2 S\tc1   # so is this")).unwrap();
    let odd = format!(
        "\u{feff}{}",
        text.replace("% Alias", " %Alias").replace("%EventDef", "% EventDef").replace('\n', "\r\n")
    );
    assert_eq!(run(odd.as_bytes()), plain);
}

#[test]
fn an_event_may_have_several_definitions_and_user_fields() {
    let more = "\
%EventDef PajeSetState 20
% Container string
% Value string
% Size int
% WaitsForContainer string
% OtherContainer string
% File string
% Line int
% Type string
% Time date
%EndEventDef
20 c1 R 64 c1 elsewhere \"main file.c\" 42 S 1
20 c1 R \"\" \"\" \"\" \"\" 0 S 1
5 2 S c1 R
";
    let events = events(more);
    assert_eq!(
        events[0],
        "SetState { time: GlobalNanos(1000000000), container: ContainerId(1), ty: TypeId(2), value: ValueId(0), \
         extra: [ExtraField { name: \"Size\", value: Text(\"64\") }, \
         ExtraField { name: \"waits for\", value: Container(ContainerId(1)) }, \
         ExtraField { name: \"OtherContainer\", value: Text(\"elsewhere\") }], \
         source: Some(SourcePosition { file: \"main file.c\", line: 42 }) }"
    );
    assert!(events[1].contains("extra: [], source: None"));
    assert_eq!(events.len(), 3);
}

/// A trace with the names of fields from older versions of the format.
const OLD_NAMES: &str = "\
%EventDef PajeDefineContainerType 1
%NewType string
%ContainerType string
%NewName string
%EndEventDef
%EventDef PajeDefineLinkType 2
%NewType string
%ContainerType string
%SourceContainerType string
%DestContainerType string
%NewName string
%EndEventDef
%EventDef PajeDefineEntityValue 3
%NewValue string
%EntityType string
%NewName string
%EndEventDef
%EventDef PajeCreateContainer 4
%Time date
%NewContainer string
%NewContainerType string
%Container string
%NewName string
%EndEventDef
%EventDef PajeStartLink 5
%Time date
%EntityType string
%Container string
%Value string
%SourceContainer string
%Key string
%FileName string
%LineNumber int
%EndEventDef
%EventDef PajeEndLink 6
%Time date
%EntityType string
%Container string
%Value string
%DestContainer string
%Key string
%EndEventDef
%EventDef PajeDestroyContainer 7
%Time date
%Container string
%ContainerType string
%EndEventDef
1 P / Process
2 L P P P Message
3 v L data
4 0 p P / p0
5 1 L p v p 1_0 m.c 3
6 2 L p v p 1_0
5 3 L p v p 1_0 m.c 4
7 4 p P
";
#[test]
fn old_names_of_fields_are_read() {
    let (events, faults) = run(OLD_NAMES.as_bytes());
    assert_eq!(faults, []);
    assert_eq!(events[4], "key 0 is 1_0");
    assert!(events[5].contains("key: KeyId(0), extra: [], source: Some(SourcePosition { file: \"m.c\", line: 3 })"));
    assert!(events[6].starts_with("EndLink") && events[6].contains("key: KeyId(0)"));
    // After its pair a key is new.
    assert_eq!(events[7], "key 1 is 1_0");
    assert!(events[9].starts_with("DestroyContainer"));
}

#[test]
fn names_aliases_and_identifiers_used_again() {
    let body = "5 1 \"Thread State\" \"thread 1\" Running\n4 2 c1 T\n3 2 c1 T 0 second\n5 3 S c1 R\n3 4 x T c1 c1\n";
    let events = events(body);
    assert!(events[0].contains("container: ContainerId(1), ty: TypeId(2), value: ValueId(0)"));
    assert!(events[2].contains("container: ContainerId(2)"));
    assert!(events[3].contains("container: ContainerId(2)"));
    assert_eq!(faults(body), []);
    // Two containers have the name, so it refers to neither.
    let body = "3 0 c2 T 0 \"thread 1\"\n5 1 S \"thread 1\" R\n5 1 S c2 R\n";
    assert_eq!(faults(body), [(FaultKind::AmbiguousContainer, 1)]);
}

#[test]
fn values_may_precede_their_declaration_or_lack_it() {
    let events = events("5 1 S c1 Idle\n5 2 S c1 late\n2 late S \"Late one\" \"1 0 0\"\n5 3 S c1 late\n");
    assert!(events[0].starts_with("DefineValue { value: ValueId(1), ty: TypeId(2), name: \"Idle\""));
    assert!(events[2].starts_with("DefineValue { value: ValueId(2), ty: TypeId(2), name: \"late\""));
    assert!(events[4].starts_with("DefineValue { value: ValueId(2), ty: TypeId(2), name: \"Late one\""));
    assert!(events[5].contains("value: ValueId(2)"));
    assert_eq!(faults("5 2 S c1 late\n2 late S L \"\"\n"), [(FaultKind::LateValue, 1)]);
}

#[test]
fn each_fault_is_counted_and_reading_goes_on() {
    let cases: [(&str, FaultKind); 24] = [
        ("99 1 2\n99 3\n", FaultKind::UnknownId),
        ("5 1 S\n5\n", FaultKind::TooFew),
        ("5 1 S c1 R more\n5 1 S c1 a b\n", FaultKind::TooMany),
        ("5 1 S c1 \"Run\n5 1 S c1 \"Run\n", FaultKind::Quote),
        ("5 x S c1 R\n5 inf S c1 R\n", FaultKind::Timestamp),
        ("5 1,5 S c1 R\n5 2,5 S c1 R\n", FaultKind::Comma),
        ("2 a S A red\n2 b S B \"1 2\"\n", FaultKind::Color),
        ("5 1 X c1 R\n6 1 X c1\n", FaultKind::UnknownType),
        ("5 1 S nobody R\n6 1 S c2\n", FaultKind::UnknownContainer),
        ("5 1 T c1 R\n7 1 S c1 3\n", FaultKind::WrongKind),
        ("1 S T Again\n0 T 0 Again\n", FaultKind::TypeTwice),
        ("2 R S Again \"\"\n2 R S Again \"\"\n", FaultKind::DuplicateValue),
        ("3 1 c1 T 0 again\n3 1 c1 T 0 again\n", FaultKind::ContainerTwice),
        ("3 1 c 0 0 again\n3 1 c0 0 0 again\n", FaultKind::Root),
        ("%EventDef PajeDance 30\n%EndEventDef\n30 1 2\n%EventDef Dance 31\n%EndEventDef\n", FaultKind::UnknownEvent),
        (
            "%EventDef PajeSetState 30\n% Time date\n%EndEventDef\n30 1\n%EventDef PajeNewEvent 31\n%EndEventDef\n",
            FaultKind::MissingField,
        ),
        ("%EventDef PajeTraceFile 30\n% A text\n% B text\n%EndEventDef\n", FaultKind::FieldType),
        ("%EventDef PajeTraceFile 30\n% A int\n% A int\n% A int\n%EndEventDef\n", FaultKind::FieldTwice),
        ("%EventDef PajeTraceFile 5\n%EndEventDef\n%EventDef PajeTraceFile 6\n%EndEventDef\n5\n", FaultKind::IdTwice),
        ("%EventDef PajeTraceFile 30\n%EventDef PajeTraceFile 31\n", FaultKind::Unclosed),
        ("%EndEventDef\n%Time date\n", FaultKind::Header),
        ("%EventDef\n% what\n", FaultKind::Header),
        ("2 R1 S A \"\"\n5 1 S c1 later\n2 later S B \"\"\n5 1 S c1 l2\n2 l2 S B \"\"\n", FaultKind::LateValue),
        (
            "1 V T v\n%EventDef PajeDefineVariableType 9\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n9 W T w\n7 1 W c1 x\n7 1 W c1 nan\n",
            FaultKind::Value,
        ),
    ];
    for (body, kind) in cases {
        assert_eq!(faults(body), [(kind, 2)], "{body}");
        // A valid line after it is still read.
        let good = if kind == FaultKind::IdTwice { "4 9 c1 T\n" } else { "5 9 S c1 R\n" };
        let (events, _) = run(&with_header(&format!("{body}%EndEventDef\n{good}")));
        assert_eq!(events.last().map(String::as_str), Some("end 9000000000"), "{body}");
    }
}

#[test]
fn fields_are_announced_on_request() {
    #[derive(Default)]
    struct FieldSetLog(Vec<String>);

    impl PajeSink for FieldSetLog {
        fn event(&mut self, _: &PajeEvent<'_>) -> io::Result<()> {
            Ok(())
        }

        fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
            self.0.push(format!("{:?} {:?} {}", shape.operation, shape.fields, shape.source));
            Ok(())
        }

        fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
            Ok(())
        }
    }

    let text = with_header(
        "5 1 S c1 R\n%EventDef PajeSetState 20\n% Time date\n% Type string\n% Container string\n% Value string\n% Size int\n\
         % NextContainer string\n% File string\n%EndEventDef\n%EventDef PajeNewEvent 21\n% Time date\n% Type string\n\
         % Container string\n% Value string\n% Mark int\n5 2 S c1 R\n",
    );
    let expected = [
        "SetState [(\"Size\", Text), (\"next\", Container), (\"NextContainer\", Text)] true",
        "NewEvent [(\"Mark\", Text)] false",
    ];
    let (mut before, mut on_the_way, mut never) =
        (FieldSetLog::default(), FieldSetLog::default(), FieldSetLog::default());
    announce(text.as_slice(), &mut before).unwrap();
    PajeReader::new(text.as_slice()).with_field_announcements().read(&mut on_the_way).unwrap();
    read(text.as_slice(), &mut never).unwrap();
    assert_eq!(before.0, expected);
    assert_eq!((on_the_way.0, never.0.len()), (before.0, 0));
}

#[test]
fn the_report_has_line_problem_and_advice() {
    let report = read(with_header("5 1 S nobody R\n5 1 S c9 R\n").as_slice(), &mut EventLog::default()).unwrap();
    let line = HEADER_LINES + TREE.lines().count() as u64 + 1;
    assert_eq!(
        diagnostic_texts(&report.errors()),
        [format!(
            "2 times, first in line {line}: line with a container that was not created (`nobody`); \
             the producer of the file should create each container before its first use, and name \
             it by its alias"
        )]
    );
}

#[test]
fn too_long_lines_are_skipped_and_latin_1_is_converted() {
    let long = format!("5 1 S c1 {}\n5 2 S c1 R\n", "x".repeat(3 << 20));
    assert_eq!(faults(&long), [(FaultKind::LongLine, 1)]);
    let mut latin = with_header("");
    latin.extend_from_slice(b"5 1 S c1 \"\xe9t\xe9\"\n");
    let (events, faults) = run(&latin);
    assert!(events[4].contains("name: \"été\""));
    assert_eq!(faults[0].0, FaultKind::Encoding);
}

#[test]
fn other_files_than_paje_are_rejected() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "an empty file"),
        (b"\x1f\x8b\x08rest", "gzip"),
        (b"{\"traceEvents\": []}", "JSON"),
        (b"\xb1TUMIT\r\nrest", "folder"),
        (b"\x7fELF\0\0", "a program"),
        (b"hello\nworld\n", "starts with `hello`"),
        (b"# only a comment\n", "starts with `# only"),
    ];
    for (bytes, expected) in cases {
        let mut log = EventLog::default();
        match read(bytes, &mut log) {
            Err(PajeReadError::NotPaje { looks_like }) => assert!(looks_like.contains(expected), "{looks_like}"),
            Err(error @ PajeReadError::Foreign { .. }) => assert!(error.to_string().contains(expected), "{error}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(log.0, Vec::<String>::new());
    }
    // A file with only a header has no events.
    assert_eq!(run(HEADER.as_bytes()), (vec!["end 0".to_owned()], vec![]));
}

#[test]
fn references_are_containers_that_exist() {
    let definition = "%EventDef PajeSetState 20\n% Time date\n% Type string\n% Container string\n% Value string\n% OwnedByContainer string\n%EndEventDef\n";
    let events = events(&format!("{definition}20 1 S c1 R c1\n20 2 S c1 R 0\n"));
    for (event, owner) in events.iter().zip([ContainerId(1), ContainerId::ROOT]) {
        assert!(event.contains(&format!("name: \"owned by\", value: Container({owner:?})")), "{event}");
    }
}
