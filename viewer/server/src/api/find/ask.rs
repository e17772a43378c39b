//! The language of the find field: `recv in:"Node 0" >10ms size=4096`.

use std::ops::RangeInclusive;

use tumit_viewer::filter::language::fields;
use tumit_viewer::query::EntityFacts;

/// Kinds of entities that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindKind {
    State,
    Event,
    Link,
}

/// A condition on a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindField {
    name: String,
    /// In lower case.
    text: String,
    /// Whether the whole text of the field must equal `text`.
    whole: bool,
}

/// A source file, or a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FindSource {
    /// The end of the file's path.
    file: String,
    line: Option<u32>,
}

/// A query. An entity must satisfy all of its conditions. Texts are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindQuery {
    /// Parts of the name of the value.
    values: Vec<String>,
    /// Parts of the name of the container or of a container above it.
    pub(crate) places: Vec<String>,
    fields: Vec<FindField>,
    place: Option<FindSource>,
    /// The range of durations in nanoseconds.
    pub(crate) durations: Option<RangeInclusive<i64>>,
    kind: Option<FindKind>,
}

impl FindQuery {
    /// Parses the text that the user typed.
    ///
    /// # Errors
    /// A sentence that names the word that was not understood.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut wanted = Self::default();
        let (mut least, mut most) = (0_i64, i64::MAX);
        let mut long = false;
        let words = words(text)?;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if let Some(sign) = word.chars().next().filter(|&sign| !word.quoted && matches!(sign, '>' | '<')) {
                let equal = word[1..].starts_with('=');
                let mut number = word[1 + usize::from(equal)..].to_owned();
                // `> 10 ms` may contain spaces.
                while nanos(&number).is_none() && words.get(at).is_some_and(|next| is_part_of_duration(next)) {
                    number.push_str(&words[at]);
                    at += 1;
                }
                let bare = number.ends_with(|letter: char| letter.is_ascii_digit());
                if bare && words.get(at).is_some_and(|next| UNITS.iter().any(|unit| unit.0 == next.text)) {
                    number.push_str(&words[at]);
                    at += 1;
                }
                let limit = nanos(&number)
                    .ok_or_else(|| format!("`{}` is not a duration: write one as in `>10ms` or `<2.5us`", word.text))?;
                long = true;
                match (sign, equal) {
                    ('>', true) => least = least.max(limit),
                    ('>', false) => least = least.max(limit.saturating_add(1)),
                    (_, true) => most = most.min(limit),
                    (_, false) => most = most.min(limit.saturating_sub(1)),
                }
            } else if let Some(place) = word.strip_prefix("in:") {
                wanted.places.push(require_text(place, "in:", "the name of a container")?);
            } else if let Some(place) = word.strip_prefix("at:") {
                require_text(place, "at:", "a source file, optionally with `:` and a line")?;
                let line = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
                let (file, line) = line.map_or((place, None), |(file, line)| (file, Some(line)));
                wanted.place = Some(FindSource { file: file.to_owned(), line });
            } else if let Some(kind) = word.strip_prefix("kind:") {
                wanted.kind = Some(match kind {
                    "state" | "states" => FindKind::State,
                    "event" | "events" => FindKind::Event,
                    "link" | "links" => FindKind::Link,
                    _ => {
                        return Err(format!(
                            "`kind:{kind}` is unknown: write `kind:state`, `kind:event` or `kind:link`"
                        ));
                    }
                });
            } else if let Some(place) = word.find(['=', '~']).filter(|&place| place > 0 && !word.quoted) {
                let text = require_text(&word[place + 1..], &word[..=place], "the text of the field")?;
                wanted.fields.push(FindField {
                    name: word[..place].to_lowercase(),
                    text,
                    whole: &word[place..=place] == "=",
                });
            } else if !word.quoted && is_comparison(word) {
                return Err(format!(
                    "`{}`: a search compares a field by `=` or `~` only; a filter also compares numbers",
                    word.text
                ));
            } else {
                wanted.values.push(word.to_lowercase());
            }
        }
        if long {
            wanted.durations = Some(least..=most);
        }
        if wanted == Self::default() {
            return Err("write a value, `in:` with a container, `>10ms`, `field=text` or `kind:link`".to_owned());
        }
        Ok(wanted)
    }

    pub(crate) fn kind(&self, kind: FindKind) -> bool {
        self.kind.is_none_or(|wanted| wanted == kind)
    }

    /// Whether the name of a value matches.
    pub(crate) fn value(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.values.iter().all(|wanted| name.contains(wanted.as_str()))
    }

    /// Whether the query needs more of an entity than its name and timestamps.
    pub(crate) fn reads(&self) -> bool {
        !self.fields.is_empty() || self.place.is_some()
    }

    /// The names of the requested fields, in lower case.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Whether the fields and the source location of an entity match.
    pub(crate) fn facts(&self, facts: &EntityFacts) -> bool {
        let is_there = |place: &FindSource| facts.source.as_ref().is_some_and(|(file, line)| place.fits(file, *line));
        self.fields.iter().all(|field| field.fits(facts)) && self.place.as_ref().is_none_or(is_there)
    }

    /// Whether a duration in nanoseconds matches.
    pub(crate) fn lasts(&self, nanos: i64) -> bool {
        self.durations.as_ref().is_none_or(|durations| durations.contains(&nanos))
    }
}

impl FindSource {
    fn fits(&self, file: &str, line: u32) -> bool {
        let before = file.strip_suffix(self.file.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
            && self.line.is_none_or(|wanted| wanted == line)
    }
}

impl FindField {
    /// Whether the field of an entity matches. It is an extra field, or `file`, `line`, `value` or
    /// `container`.
    fn fits(&self, facts: &EntityFacts) -> bool {
        fields::field(facts, &self.name).is_some_and(|text| {
            let text = text.to_lowercase();
            // Containers may be given by the end of their path, as everywhere.
            let is_end = || {
                self.name == "container" && text.strip_suffix(&self.text).is_some_and(|before| before.ends_with('/'))
            };
            if self.whole { text == self.text || is_end() } else { text.contains(&self.text) }
        })
    }
}

/// A word, and whether it begins with a quote.
#[derive(Debug)]
struct FindWord {
    text: String,
    quoted: bool,
}

impl std::ops::Deref for FindWord {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Splits a text at spaces outside quotes.
fn words(text: &str) -> Result<Vec<FindWord>, String> {
    let mut words = Vec::new();
    let mut word: Option<FindWord> = None;
    let mut inside = false;
    for letter in text.chars() {
        match letter {
            '"' => {
                inside = !inside;
                word.get_or_insert(FindWord { text: String::new(), quoted: true });
            }
            _ if letter.is_whitespace() && !inside => words.extend(word.take()),
            _ => word.get_or_insert(FindWord { text: String::new(), quoted: false }).text.push(letter),
        }
    }
    if inside {
        return Err("a quote is not closed: write `\"` at the end of the name".to_owned());
    }
    words.extend(word);
    words.retain(|word| !word.text.is_empty());
    Ok(words)
}

/// Whether a word compares a field with a number, as in `bytes>1000`. A value may contain such a
/// sign, but then no number follows it.
fn is_comparison(word: &str) -> bool {
    let Some((name, number)) = word.split_once(['<', '>']) else { return false };
    let is_name =
        name.starts_with(char::is_alphabetic) && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name && number.trim_start_matches('=').parse::<f64>().is_ok()
}

fn require_text(text: &str, before: &str, what: &str) -> Result<String, String> {
    if text.is_empty() { Err(format!("`{before}` needs {what} after it")) } else { Ok(text.to_lowercase()) }
}

const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

fn is_part_of_duration(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// Converts a duration such as `10ms` to nanoseconds. Without a unit, the number is in seconds.
fn nanos(text: &str) -> Option<i64> {
    let (number, factor) =
        UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor))).unwrap_or((text, 1e9));
    let number = number.trim();
    let plain = !number.is_empty() && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let nanos = number.parse::<f64>().ok().filter(|_| plain)? * factor;
    #[expect(clippy::cast_possible_truncation, reason = "within a hundred years")]
    (nanos < 4e18).then_some(nanos.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tumit_viewer::query::{ContainerId, EntityId, GlobalNanos, TimeRange};

    fn facts(fields: &[(&str, &str)], source: Option<(&str, u32)>) -> EntityFacts {
        EntityFacts {
            id: EntityId::State(0),
            name: "V".to_owned(),
            type_path: Vec::new(),
            container_path: vec!["Node 1".to_owned()],
            container: ContainerId::ROOT,
            life: TimeRange { from: GlobalNanos(0), to: GlobalNanos(1) },
            fields: fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            source: source.map(|(file, line)| (file.to_owned(), line)),
        }
    }

    #[test]
    fn words_durations_places_and_fields_are_distinguished() {
        let wanted = FindQuery::parse("MPI_Recv in:\"Node 0\" >10ms < 2.5 s size=4096 path~tmp kind:states")
            .expect("understood");
        assert!(wanted.value("mpi_recv (big)") && !wanted.value("MPI_Send"));
        assert_eq!(wanted.places, ["node 0"]);
        assert_eq!(wanted.durations, Some(10_000_001..=2_499_999_999));
        let of = |size: &str, path: &str| facts(&[("Size", size), ("path", path)], None);
        assert!(wanted.facts(&of("4096", "/TMP/x")) && !wanted.facts(&of("40960", "/tmp/x")));
        assert_eq!(wanted.fields().collect::<Vec<_>>(), ["size", "path"]);
        assert!(wanted.kind(FindKind::State) && !wanted.kind(FindKind::Link));
        assert_eq!(FindQuery::parse(">=1us").expect("understood").durations, Some(1000..=i64::MAX));
        assert!(FindQuery::parse("\"a > b\"").expect("a quoted name").value("if A > B then"));
    }

    #[test]
    fn a_place_in_the_source_is_a_file_or_a_line_of_it() {
        let fits = |text: &str, file: &str, line: u32| {
            let wanted = FindQuery::parse(text).expect("understood");
            wanted.reads() && wanted.facts(&facts(&[], Some((file, line))))
        };
        assert!(fits("at:solve.c:12", "../src/solve.c", 12) && fits("at:solve.c", "solve.c", 7));
        assert!(fits("at:\"my src/solve.c:12\"", "/home/my src/solve.c", 12) && fits("at:a.c:1", "C:\\x\\a.c", 1));
        assert!(!fits("at:solve.c:12", "solve.c", 13) && !fits("at:solve.c:12", "resolve.c", 12));
        assert!(!FindQuery::parse("at:solve.c").expect("understood").facts(&facts(&[], None)));
        // The same conditions by the field names of the filter language.
        assert!(fits("file~solve line=12", "../src/Solve.c", 12) && !fits("file=solve.c", "../src/solve.c", 12));
        assert!(!fits("line=1", "solve.c", 12) && fits("value=v container~node", "solve.c", 12));
        assert!(FindQuery::parse("vector<int> operator<").is_ok());
    }

    #[test]
    fn errors_name_the_invalid_word() {
        for (text, word) in [
            (">fast", ">fast"),
            ("kind:cat", "kind:cat"),
            ("in:", "in:"),
            ("at:", "at:"),
            ("\"open", "quote"),
            ("  ", "write"),
            ("x=", "x="),
            ("bytes>1000", "a filter also compares"),
        ] {
            let said = FindQuery::parse(text).expect_err(text);
            assert!(said.contains(word), "{text}: {said}");
        }
    }
}
