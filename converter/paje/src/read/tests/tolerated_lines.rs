//! Tests of the notes on lines that some other readers reject or read differently.

use super::{EventLog, with_header};
use crate::read::{FaultKind, read};

#[test]
fn lines_that_some_readers_reject_are_noted() {
    let end = "5 1 S c1 R\n";
    let cases: [(&str, FaultKind); 13] = [
        ("4 0 c1 T\n3 0 c1 T 0 again\n", FaultKind::ReusedId),
        (
            "%EventDef PajePopState 30\n% Time date\n% EntityType string\n% Container string\n%EndEventDef\n",
            FaultKind::OldName,
        ),
        ("3 0 c9 T 0 c9\n4 0 c9 S\n", FaultKind::OtherType),
        ("4 1 0 0\n", FaultKind::RootEnd),
        ("5 2 S c1 R\n", FaultKind::Disorder),
        ("%EventDef PajeTraceFile 30\n% A float\n%EndEventDef\n", FaultKind::Float),
        ("5 1 S c1 R\r\n", FaultKind::CarriageReturn),
        ("5 1 S c1 \"\"\n", FaultKind::EmptyText),
        ("5 -1 S c1 R\n", FaultKind::NegativeTimestamp),
        ("5 1 S c1 R\n5 1000002 S c1 R\n", FaultKind::LongTime),
        ("5 1 S c1 R", FaultKind::NoLineEnd),
        ("5 1 S c1 R\n2 late S L \"0 0 0\"\n", FaultKind::EndWithoutTimestamp),
        (
            "%EventDef PajeTraceFile 30\n% A int\n% B int\n% C int\n% D int\n% E int\n% F int\n% G int\n% H int\n% I int\n% J int\n\
          % K int\n% L int\n% M int\n% N int\n% O int\n% P int\n% Q int\n% R int\n% S int\n% T int\n%EndEventDef\n",
            FaultKind::ManyFields,
        ),
    ];
    for (body, kind) in cases {
        let is_last = matches!(kind, FaultKind::NoLineEnd | FaultKind::EndWithoutTimestamp);
        let text = with_header(&format!("{body}{}", if is_last { "" } else { end }));
        let report = read(text.as_slice(), &mut EventLog::default()).unwrap();
        assert_eq!(report.faults, [], "{body}");
        let mut notes: Vec<_> = report.notes.iter().map(|note| (note.kind, note.count)).collect();
        // A timestamp before 0 precedes all others, and the lines after a late timestamp precede
        // it.
        notes.retain(|note| {
            !matches!(kind, FaultKind::NegativeTimestamp | FaultKind::LongTime) || note.0 != FaultKind::Disorder
        });
        // An event without effect contains the definitions.
        notes.retain(|note| note.0 != FaultKind::RareEvent);
        assert_eq!(notes, [(kind, 1)], "{body}");
    }
    let report =
        read(["\u{feff}".as_bytes(), &with_header(end)].concat().as_slice(), &mut EventLog::default()).unwrap();
    assert_eq!(report.notes[0].kind, FaultKind::ByteOrderMark);
    let long = format!("5 1 S c1 {}\n", "x".repeat(4000));
    assert_eq!(
        read(with_header(&long).as_slice(), &mut EventLog::default()).unwrap().notes[0].kind,
        FaultKind::LineCutByVite
    );
}

#[test]
fn long_times_are_noted_only_if_seconds_are_doubtful() {
    let is_noted = |body: &str| {
        let report = read(with_header(body).as_slice(), &mut EventLog::default()).unwrap();
        report.notes.iter().any(|note| note.kind == FaultKind::LongTime)
    };
    for (times, expected) in [
        ("0 7200 86400", false),
        ("0 1000000", false),
        ("5 1000006", true),
        ("0 3600.5", true),
        ("0.25 100 7200", true),
        ("0 3599.5", false),
        ("0.1234567 7200.5 2000000", false),
    ] {
        let body: String = times.split(' ').map(|time| format!("5 {time} S c1 R\n")).collect();
        assert_eq!(is_noted(&body), expected, "{times}");
    }
}

#[test]
fn lines_that_other_readers_cannot_read_are_noted() {
    let header = |name: &str, id: &str, time: &str| {
        format!("%EventDef {name} {id}\n% Time {time}\n% Type string\n% Container string\n%EndEventDef\n")
    };
    let cases: [(&str, Option<FaultKind>, u64); 37] = [
        ("5 1 S \"thread 1\" R\n", Some(FaultKind::ByName), 1),
        ("5 1 \"Thread State\" c1 R\n", Some(FaultKind::ByName), 1),
        ("1 S2 Thread \"By name\"\n", Some(FaultKind::ByName), 1),
        ("3 1 c2 T / \"thread 2\"\n", Some(FaultKind::ByName), 1),
        ("3 1 c2 T 0 \"thread 2\"\n4 1 c2 Thread\n4 1 \"thread 2\" T\n", Some(FaultKind::ByName), 2),
        ("4 1 c1 T\n", Some(FaultKind::EarlyEnd), 1),
        ("4 1 c1 T\n5 1 S c1 R\n", Some(FaultKind::EarlyEnd), 2),
        ("2 x \"Thread State\" X \"0 0 0\"\n", Some(FaultKind::ByName), 1),
        ("5 1 S c1 Running\n", None, 0),
        ("3 1 0 T c1 zero\n", Some(FaultKind::ZeroTaken), 1),
        ("0 Z 0 0\n1 0 T zero\n", Some(FaultKind::ZeroTaken), 2),
        ("1 Z T 0\n3 1 z T c1 0\n", None, 0),
        (&header("PajePopState", "ev11", "date"), Some(FaultKind::IdText), 1),
        (&header("PajePopState", "-5", "date"), Some(FaultKind::IdText), 1),
        (&header("PajePopState", "4294967296", "date"), Some(FaultKind::IdText), 1),
        (&header("PajePopState", "20", "date"), None, 0),
        (&header("PajePopState", "20", "string"), Some(FaultKind::FieldPair), 1),
        (&header("PajePopState", "20", "double"), Some(FaultKind::FieldPair), 1),
        ("%EventDef PajeStartTrace 20\n%EndEventDef\n", Some(FaultKind::RareEvent), 1),
        (&(header("PajeResetState", "20", "date") + "20 1 S c1\n20 1 S c1\n"), Some(FaultKind::Reset), 2),
        ("2 W S W \"1 2 3\"\n", Some(FaultKind::WideColor), 1),
        ("2 W S W \"1 0.5 0\"\n2 X S X ff0000\n", None, 0),
        ("5 1 S c1 a\0b\n# a \0\n", Some(FaultKind::Nul), 2),
        ("5 1 S c1 it's\n", Some(FaultKind::LooseQuote), 1),
        ("5 1 S c1 a\"b\n", Some(FaultKind::LooseQuote), 1),
        ("5 1 S c1 'ab'\n", Some(FaultKind::SingleQuotes), 1),
        ("5 1 S c1 it's\n", Some(FaultKind::LooseQuote), 1),
        ("# don't\n", Some(FaultKind::LooseQuote), 1),
        ("5 1 S c1 R # don't\n", Some(FaultKind::LooseQuote), 1),
        ("# 'do' \"it's\"\n", None, 0),
        ("5 1 S c1 \"it's 5 %\"\n", None, 0),
        ("5 1 S c1 \"it's # 5 %\" # \"and\" \n", None, 0),
        ("5 1 S c1 5%\n", Some(FaultKind::Percent), 1),
        ("# 5 %\n", None, 0),
        ("5 1 S c1 ab#cd\n", Some(FaultKind::LooseHash), 1),
        ("5 1 S c1 \"ab#cd\" # e#f\n", None, 0),
        ("5\x0b1 S c1 a\n", Some(FaultKind::UnusualBlank), 1),
    ];
    let mut mismatches = Vec::new();
    for (body, kind, count) in cases {
        let report = read(with_header(&format!("{body}5 1 S c1 R\n")).as_slice(), &mut EventLog::default()).unwrap();
        let notes: Vec<_> = report.notes.iter().map(|note| (note.kind, note.count)).collect();
        if !report.faults.is_empty() || notes != kind.map(|kind| (kind, count)).into_iter().collect::<Vec<_>>() {
            mismatches.push(format!("{body}: {:?} {notes:?}", report.faults));
        }
    }
    assert_eq!(mismatches, Vec::<String>::new());
}
