//! Tests of lines, words and quotes.

use std::io::Read;

use proptest::prelude::*;

use super::lines::MAX_LINE;
use super::{AmbiguousSigns, LineReader, LineWords};

/// Returns a few bytes at a time.
struct SlowReader<'a>(&'a [u8], usize);

impl Read for SlowReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len());
        self.0.read(&mut buffer[..length])
    }
}

fn lines(input: impl Read) -> Vec<(Vec<u8>, bool)> {
    let (mut lines, mut list) = (LineReader::new(input), Vec::new());
    while lines.advance().expect("reading from memory cannot fail") {
        list.push((lines.line().bytes.to_vec(), lines.line().cut));
        assert_eq!(lines.line().number, list.len() as u64);
    }
    list
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_how_they_are_read(text in "[a\n]{0,200}", step in 1usize..20) {
        let expected: Vec<_> = text.split_inclusive('\n').map(|line| (line.trim_end_matches('\n').into(), false)).collect();
        prop_assert_eq!(lines(SlowReader(text.as_bytes(), step)), expected);
    }
}

#[test]
fn long_lines_are_cut() {
    let line = |length: usize| vec![b'x'; length];
    let text =
        [line(MAX_LINE), line(5), b"\nshort\n".to_vec(), line(MAX_LINE), b"\n".to_vec(), line(3 * MAX_LINE)].concat();
    let text_lines = lines(SlowReader(&text, 100_000));
    let short: Vec<_> = text_lines.iter().map(|(bytes, cut)| (bytes.len(), *cut)).collect();
    assert_eq!(short, [(MAX_LINE, true), (5, false), (MAX_LINE, false), (MAX_LINE, true)]);
}

#[test]
fn lines_are_split_at_blanks_quotes_and_comments() {
    let cases: [(&str, &[&str]); 9] = [
        ("1 0.5  \"a b\"\tc\r\n", &["1", "0.5", "a b", "c"]),
        ("  6 \"\" x", &["6", "", "x"]),
        ("ab#cd ef", &["ab"]),
        ("\"ab#cd\" ef", &["ab#cd", "ef"]),
        ("# all of it", &[]),
        ("a\"b it's", &["a\"b", "it's"]),
        ("\"a b\"c", &["a b", "c"]),
        ("x \"open to the end \r\n", &["x", "open to the end"]),
        ("\"é 漢\" ü", &["é 漢", "ü"]),
    ];
    let mut words = LineWords::default();
    for (line, expected) in cases {
        words.split(line);
        let texts: Vec<&str> = (0..words.len()).filter_map(|index| words.get(line, index)).collect();
        assert_eq!(texts, expected, "{line}");
        assert_eq!(words.unclosed, line.contains("open"));
    }
}

#[test]
fn apostrophes_and_escapes_are_quotes_where_the_number_of_words_fits() {
    let cases: [(&str, &[&str]); 16] = [
        ("3 S T 'Thread State'", &["3", "S", "T", "Thread State"]),
        ("6 r 'Running it' '0.0 0.8 0.0'\r", &["6", "r", "Running it", "0.0 0.8 0.0"]),
        ("6 it's don't", &["6", "it's", "don't"]),
        ("6 'it's here' x", &["6", "it's here", "x"]),
        ("6 \"it's 'here'\" x", &["6", "it's 'here'", "x"]),
        ("6 '' x", &["6", "", "x"]),
        ("6 'tis x", &["6", "'tis", "x"]),
        ("6 'a \"b\" c'", &["6", "a \"b\" c"]),
        (r#"6 "say \"hi\" now" x"#, &["6", "say \"hi\" now", "x"]),
        (r#"6 "\"" x"#, &["6", "\"", "x"]),
        (r#"6 "C:\dir\" x"#, &["6", r"C:\dir\", "x"]),
        (r#"6 "C:\dir" "x""#, &["6", r"C:\dir", "x"]),
        (r"6 'it\'s' x", &["6", "it's", "x"]),
        (r"6 'the men\' s' x", &["6", "the men' s", "x"]),
        (r"6 'C:\dir\' 'x'", &["6", r"C:\dir\", "x"]),
        (r#"6 "C:\dir\" "x y\""#, &["6", r"C:\dir\", r"x y\"]),
    ];
    let mut words = LineWords::default();
    for (line, expected) in cases {
        words.split_expecting(line, expected.len());
        let texts: Vec<&str> = (0..words.len()).filter_map(|index| words.get(line, index)).collect();
        assert_eq!(texts, expected, "{line}");
    }
}

proptest! {
    #[test]
    fn any_line_is_split(line in "[ '\"\\\\#aé]{0,40}", expected in 0usize..6) {
        let mut words = LineWords::default();
        words.split_expecting(&line, expected);
        for index in 0..words.len() {
            prop_assert!(words.get(&line, index).is_some());
        }
        let _ = (words.dialect(&line), AmbiguousSigns::find(&line, words.has_escapes()));
    }
}
