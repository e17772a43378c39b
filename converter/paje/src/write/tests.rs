//! The reader reads the output of the writer without faults and notes.

use std::io;
use std::process::Command;

use proptest::prelude::*;

use super::PajeWriter;
use super::texts::MAX_NAME_BYTES;
use crate::category::ActivityCategory;
use crate::read::read;
use crate::time::GlobalNanos;
use crate::{
    ContainerId, DrawStyle, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, SourcePosition, TypeId,
    ValueId,
};

#[derive(Default)]
struct TextCollector(Vec<String>);

impl PajeSink for TextCollector {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        let mut keep = |text: &str| self.0.push(text.to_owned());
        match *event {
            PajeEvent::DefineType { name, .. } | PajeEvent::DefineValue { name, .. } => keep(name),
            PajeEvent::CreateContainer { name, .. } => keep(name),
            PajeEvent::PushState { extra, source, .. } => {
                for field in extra {
                    if let ExtraValue::Text(text) = field.value {
                        keep(text);
                    }
                }
                source.iter().for_each(|source| keep(source.file));
            }
            _ => {}
        }
        Ok(())
    }

    fn name_key(&mut self, _: KeyId, text: &str) -> io::Result<()> {
        self.0.push(text.to_owned());
        Ok(())
    }

    fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
        Ok(())
    }
}

/// A trace with texts in all places, and how many of them were changed.
fn written(texts: &[String; 6]) -> (Vec<u8>, u64) {
    let [ty_name, value_name, container_name, field, file, key_text] = texts.each_ref().map(String::as_str);
    let mut writer = PajeWriter::new(Vec::new());
    let (time, container, parent) = (GlobalNanos(1), ContainerId(1), ContainerId::ROOT);
    let (of_container, ty, link) = (TypeId(1), TypeId(2), TypeId(3));
    let define =
        |ty, kind, parent, name| PajeEvent::DefineType { ty, kind, parent, name, color: None, style: DrawStyle::NONE };
    let value = |value, ty, name| PajeEvent::DefineValue {
        value,
        ty,
        name,
        color: None,
        style: DrawStyle::NONE,
        category: None,
    };
    let fields = [ExtraField { name: "note", value: ExtraValue::Text(field) }];
    let (extra, source) = (&fields[..], Some(SourcePosition { file, line: 3 }));
    let (start, end, key) = (container, container, KeyId(7));
    let between = PajeTypeKind::Link { start: of_container, end: of_container };
    let events = [
        define(of_container, PajeTypeKind::Container, TypeId::ROOT, "Thread"),
        define(ty, PajeTypeKind::State, of_container, ty_name),
        define(link, between, TypeId::ROOT, "Message"),
        value(ValueId(0), ty, value_name),
        value(ValueId(1), link, "M"),
        PajeEvent::CreateContainer { time, container, ty: of_container, parent, name: container_name, extra: &[] },
        PajeEvent::PushState { time, container, ty, value: ValueId(0), extra, source },
    ];
    for event in &events {
        writer.event(event).unwrap();
    }
    writer.name_key(key, key_text).unwrap();
    let (ty, value, extra, source) = (link, ValueId(1), &[][..], None);
    writer.event(&PajeEvent::StartLink { time, container: parent, ty, value, start, key, extra, source }).unwrap();
    writer.event(&PajeEvent::EndLink { time, container: parent, ty, value, end, key, extra, source }).unwrap();
    writer.finish(time).unwrap();
    let changed = writer.changed_texts();
    (writer.into_inner(), changed)
}

/// The texts after reading. A Pajé file cannot contain a quote, and lists cannot contain a comma.
fn expected(texts: &[String; 6]) -> Vec<String> {
    let replaced =
        |text: &String| if text.is_empty() { " ".to_owned() } else { text.replace('"', "'").replace(',', ";") };
    let [ty, value, container, field, file, key] = texts.each_ref().map(replaced);
    ["Thread".into(), ty, "Message".into(), value, "M".into(), container, field, file, key].into()
}

/// Any characters but control characters. Characters with a meaning in some reader are more
/// frequent.
fn any_text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        3 => prop::sample::select(vec!['"', '\'', '\\', '#', '%', ' ', ',', 'a', '0', '/', '\u{a0}', '\u{2028}']),
        1 => any::<char>().prop_filter("no control character", |letter| !letter.is_control()),
    ];
    prop::collection::vec(letter, 0..30).prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #[test]
    fn written_traces_are_read_back(texts in prop::array::uniform6(any_text())) {
        let (bytes, changed) = written(&texts);
        let mut collector = TextCollector::default();
        let report = read(bytes.as_slice(), &mut collector).unwrap();
        prop_assert_eq!(&collector.0, &expected(&texts), "{}", String::from_utf8_lossy(&bytes));
        prop_assert!(report.faults.is_empty() && report.notes.is_empty(), "{:?} {:?}", report.faults, report.notes);
        // The key is written twice.
        let replaced = texts.iter().chain([&texts[5]]).filter(|text| text.contains(['"', ','])).count();
        prop_assert_eq!(changed, replaced as u64);
    }
}

/// The category of each value.
#[derive(Default)]
struct CategoryCollector(Vec<Option<ActivityCategory>>);

impl PajeSink for CategoryCollector {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        if let PajeEvent::DefineValue { category, .. } = event {
            self.0.push(*category);
        }
        Ok(())
    }

    fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn categories_are_read_back() {
    let categories = [None, Some(ActivityCategory::Idle), Some(ActivityCategory::Ignored), None];
    let mut writer = PajeWriter::new(Vec::new());
    let (thread, ty) = (TypeId(1), TypeId(2));
    let define = |ty, kind, parent| PajeEvent::DefineType {
        ty,
        kind,
        parent,
        name: "Name",
        color: None,
        style: DrawStyle::NONE,
    };
    writer.event(&define(thread, PajeTypeKind::Container, TypeId::ROOT)).unwrap();
    writer.event(&define(ty, PajeTypeKind::State, thread)).unwrap();
    for (category, number) in categories.into_iter().zip(0..) {
        let style = DrawStyle { shape: None, size: (number > 1).then_some(0.5) };
        let (value, name, color) = (ValueId(number), &*format!("value {number}"), None);
        writer.event(&PajeEvent::DefineValue { value, ty, name, color, style, category }).unwrap();
    }
    writer.finish(GlobalNanos(0)).unwrap();
    let text = String::from_utf8(writer.into_inner()).unwrap();
    assert_eq!(text.matches("% Category string").count(), 2, "{text}");
    let mut collector = CategoryCollector::default();
    let report = read(text.as_bytes(), &mut collector).unwrap();
    assert_eq!(collector.0, categories);
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    let mut unknown = CategoryCollector::default();
    let report = read(text.replace(" ignored", " lazy").as_bytes(), &mut unknown).unwrap();
    assert_eq!((unknown.0[2], report.faults.len()), (None, 1));
}

#[test]
fn control_characters_and_long_texts_are_counted() {
    let plain = [const { String::new() }; 6];
    let with = |text: String| [text, "a".into(), "a".into(), "a".into(), "a".into(), "a".into()];
    assert_eq!(written(&plain).1, 0);
    for text in ["a\tb".to_owned(), "é\u{85}".to_owned(), "x".repeat(MAX_NAME_BYTES + 1)] {
        assert_eq!(written(&with(text)).1, 1);
    }
    assert_eq!(written(&with("x".repeat(MAX_NAME_BYTES))).1, 0);
}

#[test]
fn pj_dump_reads_the_same_texts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.paje");
    for text in [r"ends in \", r"\", r#"say "hi""#, "it's", "'a b'", r"a\'b", "# 5 %", " a ", "é漢", r#"\""#] {
        let texts = [text, text, text, "field", "file.c", "key"].map(str::to_owned);
        std::fs::write(&path, written(&texts).0).unwrap();
        let Ok(out) = Command::new("pj_dump").arg(&path).output() else { return };
        let rows = String::from_utf8(out.stdout).unwrap();
        let text = text.replace('"', "'");
        assert!(out.status.success(), "{text}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(rows.contains(&format!(", {text}\n")) && rows.contains(&format!("State, {text}, {text}, ")), "{rows}");
    }
}
