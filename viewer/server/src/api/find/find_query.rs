//! The language of the find field: `recv in:"Node 0" >10ms size=4096`.

use std::ops::RangeInclusive;

use tumit_paje::time_text::{self, TimeText, TimeTextError};
use tumit_viewer::filter::language::entity_fields;
use tumit_viewer::query::{EntityFacts, SourceLine};

/// Kinds of entities that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindKind {
    State,
    Event,
    Link,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindField {
    name: String,
    /// In lower case.
    text: String,
    /// Whether the whole text of the field must equal `text`.
    is_exact: bool,
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
    location: Option<FindSource>,
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
        let mut query = Self::default();
        let words = words(text)?;
        let mut remaining_words = words.iter();
        while let Some(word) = remaining_words.next() {
            match word.chars().next().filter(|sign| !word.is_quoted && matches!(sign, '>' | '<')) {
                Some(sign) => query.add_duration_limit(sign, word, &mut remaining_words)?,
                None => query.add_condition(word)?,
            }
        }
        if query == Self::default() {
            return Err("write a value, `in:` with a container, `>10ms`, `field=text` or `kind:link`".to_owned());
        }
        Ok(query)
    }

    /// Adds a limit such as `>10ms`. Its numbers and units may be in the words after it.
    fn add_duration_limit(
        &mut self,
        sign: char,
        word: &FindWord,
        words: &mut std::slice::Iter<'_, FindWord>,
    ) -> Result<(), String> {
        let is_inclusive = word[1..].starts_with('=');
        let operator = &word[..1 + usize::from(is_inclusive)];
        let mut duration = word[operator.len()..].to_owned();
        // `> 10 ms` and `>1h 30min` contain spaces.
        while let Some(next) = words.as_slice().first().filter(|next| !next.is_quoted) {
            let text = format!("{duration} {}", next.text);
            if nanos(&text).is_err() {
                break;
            }
            duration = text;
            words.next();
        }
        let limit = nanos(&duration).map_err(|error| {
            let (expected, example) = (error.expected, error.example);
            format!("`{}` is not a duration: expected {expected}; example: `{operator}{example}`", word.text)
        })?;
        let (min, max) = match (sign, is_inclusive) {
            ('>', true) => (limit, i64::MAX),
            ('>', false) => (limit.saturating_add(1), i64::MAX),
            (_, true) => (0, limit),
            (_, false) => (0, limit.saturating_sub(1)),
        };
        let (from, to) = self.durations.take().map_or((0, i64::MAX), RangeInclusive::into_inner);
        self.durations = Some(from.max(min)..=to.min(max));
        Ok(())
    }

    /// Adds the condition of a word that is not a limit of durations.
    fn add_condition(&mut self, word: &FindWord) -> Result<(), String> {
        if let Some(name) = word.strip_prefix("in:") {
            self.places.push(require_text(name, "in:", "the name of a container")?);
        } else if let Some(location) = word.strip_prefix("at:") {
            require_text(location, "at:", "a source file, optionally with `:` and a line")?;
            let line = location.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
            let (file, line) = line.map_or((location, None), |(file, line)| (file, Some(line)));
            self.location = Some(FindSource { file: file.to_owned(), line });
        } else if let Some(kind) = word.strip_prefix("kind:") {
            self.kind = Some(parse_kind(kind)?);
        } else if let Some(offset) = word.find(['=', '~']).filter(|&offset| offset > 0 && !word.is_quoted) {
            let text = require_text(&word[offset + 1..], &word[..=offset], "the text of the field")?;
            self.fields.push(FindField {
                name: word[..offset].to_lowercase(),
                text,
                is_exact: &word[offset..=offset] == "=",
            });
        } else if !word.is_quoted && is_comparison(word) {
            return Err(format!(
                "`{}`: a search compares a field by `=` or `~` only; a filter also compares numbers",
                word.text
            ));
        } else {
            self.values.push(word.to_lowercase());
        }
        Ok(())
    }

    /// Whether entities of a kind can match.
    pub(crate) fn includes_kind(&self, kind: FindKind) -> bool {
        self.kind.is_none_or(|only| only == kind)
    }

    pub(crate) fn matches_value(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.values.iter().all(|part| name.contains(part.as_str()))
    }

    /// Whether the query needs more of an entity than its name and timestamps.
    pub(crate) fn needs_facts(&self) -> bool {
        !self.fields.is_empty() || self.location.is_some()
    }

    /// The names of the requested fields, in lower case.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Whether the fields and the source location of an entity match.
    pub(crate) fn matches_facts(&self, facts: &EntityFacts) -> bool {
        let is_there = |location: &FindSource| facts.source.as_ref().is_some_and(|source| location.fits(source));
        self.fields.iter().all(|field| field.fits(facts)) && self.location.as_ref().is_none_or(is_there)
    }

    /// Whether a duration in nanoseconds matches.
    pub(crate) fn matches_duration(&self, nanos: i64) -> bool {
        self.durations.as_ref().is_none_or(|durations| durations.contains(&nanos))
    }
}

impl FindSource {
    fn fits(&self, source: &SourceLine) -> bool {
        let folder = source.file.strip_suffix(self.file.as_str());
        folder.is_some_and(|folder| folder.is_empty() || folder.ends_with(['/', '\\']))
            && self.line.is_none_or(|only| only == source.line)
    }
}

impl FindField {
    /// Whether the field of an entity matches. It is an extra field, or `file`, `line`, `value` or
    /// `container`.
    fn fits(&self, facts: &EntityFacts) -> bool {
        entity_fields::field(facts, &self.name).is_some_and(|text| {
            let text = text.to_lowercase();
            // Containers may be given by the end of their path, as everywhere.
            let is_end = || {
                self.name == "container" && text.strip_suffix(&self.text).is_some_and(|before| before.ends_with('/'))
            };
            if self.is_exact { text == self.text || is_end() } else { text.contains(&self.text) }
        })
    }
}

/// A word, and whether it begins with a quote.
#[derive(Debug)]
struct FindWord {
    text: String,
    is_quoted: bool,
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
    let mut is_quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert(FindWord { text: String::new(), is_quoted: true });
            }
            _ if letter.is_whitespace() && !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert(FindWord { text: String::new(), is_quoted: false }).text.push(letter),
        }
    }
    if is_quoted {
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

fn parse_kind(kind: &str) -> Result<FindKind, String> {
    match kind {
        "state" | "states" => Ok(FindKind::State),
        "event" | "events" => Ok(FindKind::Event),
        "link" | "links" => Ok(FindKind::Link),
        _ => Err(format!("`kind:{kind}` is unknown: write `kind:state`, `kind:event` or `kind:link`")),
    }
}

fn require_text(text: &str, prefix: &str, expected: &str) -> Result<String, String> {
    if text.is_empty() { Err(format!("`{prefix}` needs {expected} after it")) } else { Ok(text.to_lowercase()) }
}

/// Parses a duration such as `10ms`, which is not negative. Without a unit, it is in seconds.
fn nanos(text: &str) -> Result<i64, TimeTextError> {
    let nanos = time_text::parse(text)?;
    if nanos < 0 {
        let example = TimeText(nanos.saturating_neg()).to_string();
        return Err(TimeTextError::new(text, "a duration of at least 0", example));
    }
    Ok(nanos)
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
            source: source.map(|(file, line)| SourceLine { file: file.to_owned(), line }),
        }
    }

    #[test]
    fn words_durations_places_and_fields_are_distinguished() {
        let query = FindQuery::parse("MPI_Recv in:\"Node 0\" >10ms < 2.5 s size=4096 path~tmp kind:states")
            .expect("understood");
        assert!(query.matches_value("mpi_recv (big)") && !query.matches_value("MPI_Send"));
        assert_eq!(query.places, ["node 0"]);
        assert_eq!(query.durations, Some(10_000_001..=2_499_999_999));
        let with_fields = |size: &str, path: &str| facts(&[("Size", size), ("path", path)], None);
        assert!(
            query.matches_facts(&with_fields("4096", "/TMP/x"))
                && !query.matches_facts(&with_fields("40960", "/tmp/x"))
        );
        assert_eq!(query.fields().collect::<Vec<_>>(), ["size", "path"]);
        assert!(query.includes_kind(FindKind::State) && !query.includes_kind(FindKind::Link));
        assert_eq!(FindQuery::parse(">=1us").expect("understood").durations, Some(1000..=i64::MAX));
        assert!(FindQuery::parse("\"a > b\"").expect("a quoted name").matches_value("if A > B then"));
    }

    #[test]
    fn durations_are_those_of_the_options() {
        let durations = |text: &str| FindQuery::parse(text).map(|query| query.durations.expect("a limit"));
        assert_eq!(durations(">1min"), Ok(60_000_000_001..=i64::MAX));
        assert_eq!(durations(">= 1h 30min"), Ok(5_400_000_000_000..=i64::MAX));
        assert_eq!(durations("<2d"), Ok(0..=172_799_999_999_999));
        assert_eq!(durations(">0.1"), Ok(100_000_001..=i64::MAX));
        // 0.3 s and 2⁶² + 1 ns have no exact floating-point number.
        assert_eq!(durations("<=0.3 >=0.3s"), Ok(300_000_000..=300_000_000));
        assert_eq!(durations("<=4611686018427387905ns"), Ok(0..=4_611_686_018_427_387_905));
        let query = FindQuery::parse("> 10 20 \"ms\"").expect("understood");
        assert_eq!(query.durations, Some(10_000_000_001..=i64::MAX));
        assert!(query.matches_value("20 ms") && !query.matches_value("20"));
        for (text, message) in [
            (">soon", "`>soon` is not a duration: expected a time in seconds, or with units; example: `>250ms`"),
            (">=0,5s", "`>=0,5s` is not a duration: expected a decimal point, not a comma; example: `>=0.5s`"),
            ("<-3ms", "`<-3ms` is not a duration: expected a duration of at least 0; example: `<3ms`"),
            ("> in:a", "`>` is not a duration: expected a time in seconds, or with units; example: `>250ms`"),
        ] {
            assert_eq!(durations(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_place_in_the_source_is_a_file_or_a_line_of_it() {
        let fits = |text: &str, file: &str, line: u32| {
            let query = FindQuery::parse(text).expect("understood");
            query.needs_facts() && query.matches_facts(&facts(&[], Some((file, line))))
        };
        assert!(fits("at:solve.c:12", "../src/solve.c", 12) && fits("at:solve.c", "solve.c", 7));
        assert!(fits("at:\"my src/solve.c:12\"", "/home/my src/solve.c", 12) && fits("at:a.c:1", "C:\\x\\a.c", 1));
        assert!(!fits("at:solve.c:12", "solve.c", 13) && !fits("at:solve.c:12", "resolve.c", 12));
        assert!(!FindQuery::parse("at:solve.c").expect("understood").matches_facts(&facts(&[], None)));
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
            let message = FindQuery::parse(text).expect_err(text);
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
