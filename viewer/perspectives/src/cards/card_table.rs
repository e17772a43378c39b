//! [`CardTable`]: reads the keys of a table of a card file, and reports each mistake with its line.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use tumit_paje::time_text;
use tumit_viewer::filter::NamePattern;

use super::card_fault::{CardFault, alternatives, suggestion};
use super::card_text::CardText;

/// Maximum length of a text in bytes. Longer texts have no room in a card.
const MAX_TEXT: usize = 500;

#[derive(Clone, Copy, Debug)]
pub(super) struct CardTable<'t> {
    text: CardText<'t>,
    table: &'t DeTable<'t>,
    /// The name in messages, such as `panel`.
    name: &'t str,
    start: usize,
    end: usize,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct CardValue<T> {
    pub(super) value: T,
    pub(super) place: Range<usize>,
}

/// The name of a kind of values in messages.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl<'t> CardTable<'t> {
    pub(super) fn new(text: CardText<'t>, table: &'t DeTable<'t>, name: &'t str, place: &Range<usize>) -> Self {
        Self { text, table, name, start: place.start, end: place.end }
    }

    /// The place of the table.
    pub(super) fn place(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The line of the table, from 1.
    pub(super) fn line(&self) -> usize {
        self.text.line(&self.place())
    }

    pub(super) fn fault(&self, place: &Range<usize>, problem: impl Into<String>) -> CardFault {
        self.text.fault(place, problem)
    }

    /// Checks that the table has no other keys.
    pub(super) fn expect_keys(&self, known_keys: &[&str]) -> Result<(), CardFault> {
        let unknown = self.table.iter().find(|(key, _)| !known_keys.contains(&key.get_ref().as_ref()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let problem = format!(
            "{} has no key `{}`; its keys are {}{}",
            self.name,
            text_beginning(name),
            alternatives(known_keys).replace(" or ", " and "),
            suggestion(name, known_keys)
        );
        Err(self.fault(&key.span(), problem))
    }

    fn value(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn wrong_kind(&self, key: &str, value: &Spanned<DeValue<'t>>, expected: &str) -> CardFault {
        let problem = format!("`{key}` is {}; expected {expected}", kind(value.get_ref()));
        self.fault(&value.span(), problem)
    }

    /// A missing key.
    pub(super) fn missing_key(&self, key: &str, example: &str) -> CardFault {
        self.fault(&self.place(), format!("{} needs the key `{key}`, such as `{example}`", self.name))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<CardValue<String>>, CardFault> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let DeValue::String(text) = value.get_ref() else {
            return Err(self.wrong_kind(key, value, "a text in \"…\""));
        };
        if text.len() > MAX_TEXT {
            let problem = format!("`{key}` has {} bytes; a text has at most {MAX_TEXT}", text.len());
            return Err(self.fault(&value.span(), problem));
        }
        Ok(Some(CardValue { value: text.to_string(), place: value.span() }))
    }

    pub(super) fn text_or_empty(&self, key: &str) -> Result<String, CardFault> {
        Ok(self.text(key)?.map_or_else(String::new, |text| text.value))
    }

    pub(super) fn pattern(&self, key: &str) -> Result<Option<NamePattern>, CardFault> {
        Ok(self.text(key)?.map(|text| NamePattern::new(text.value)))
    }

    /// A name that must be there.
    pub(super) fn required_name(&self, key: &str, example: &str) -> Result<String, CardFault> {
        let name = self.text(key)?.ok_or_else(|| self.missing_key(key, example))?;
        if name.value.trim().is_empty() {
            return Err(self.fault(&name.place, format!("`{key}` is empty; write a name, such as `{example}`")));
        }
        Ok(name.value)
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, CardFault> {
        self.text(key)?.map(|text| self.choose(key, &text, words)).transpose()
    }

    /// The meaning of a word.
    pub(super) fn choose<T: Copy>(
        &self,
        key: &str,
        text: &CardValue<String>,
        words: &[(&str, T)],
    ) -> Result<T, CardFault> {
        words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let value = text_beginning(&text.value);
            let problem =
                format!("`{key}` is `{value}`; expected {}{}", alternatives(&known), suggestion(&text.value, &known));
            self.fault(&text.place, problem)
        })
    }

    /// One or several words.
    pub(super) fn words<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Vec<T>, CardFault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(list) = value.get_ref() else { return Ok(self.word(key, words)?.into_iter().collect()) };
        let mut chosen = Vec::new();
        for item in list {
            let DeValue::String(text) = item.get_ref() else {
                return Err(self.wrong_kind(key, item, "a list of texts"));
            };
            chosen.push(self.choose(key, &CardValue { value: text.to_string(), place: item.span() }, words)?);
        }
        if chosen.is_empty() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let problem = format!("`{key}` is empty; expected one or several of {}", known.join(", "));
            return Err(self.fault(&value.span(), problem));
        }
        Ok(chosen)
    }

    /// A finite number.
    pub(super) fn number(&self, key: &str) -> Result<Option<CardValue<f64>>, CardFault> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => return Err(self.wrong_kind(key, value, "a decimal number")),
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(CardValue { value: number, place: value.span() })),
            None => Err(self.fault(&value.span(), format!("`{key}` is not a finite decimal number"))),
        }
    }

    /// `true` or `false`, by default `false`.
    pub(super) fn flag(&self, key: &str) -> Result<bool, CardFault> {
        match self.value(key) {
            None => Ok(false),
            Some(value) => match value.get_ref() {
                DeValue::Boolean(flag) => Ok(*flag),
                _ => Err(self.wrong_kind(key, value, "true or false")),
            },
        }
    }

    /// A duration in nanoseconds, written as a text such as `2ms`.
    pub(super) fn duration(&self, key: &str) -> Result<Option<i64>, CardFault> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match time_text::parse(&text.value) {
            Ok(nanos) if nanos >= 0 => Ok(Some(nanos)),
            Ok(_) => Err(self.fault(&text.place, format!("`{key}` is negative; expected a duration, such as \"2ms\""))),
            Err(error) => Err(self.fault(&text.place, format!("`{key}`: {error}; write a duration, such as \"2ms\""))),
        }
    }

    pub(super) fn text_or_table(
        &self,
        key: &'t str,
    ) -> Result<(Option<CardValue<String>>, Option<CardTable<'t>>), CardFault> {
        match self.value(key).map(Spanned::get_ref) {
            Some(DeValue::Table(_)) => Ok((None, self.table(key)?)),
            _ => Ok((self.text(key)?, None)),
        }
    }

    pub(super) fn table(&self, key: &'t str) -> Result<Option<CardTable<'t>>, CardFault> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Self::new(self.text, table, key, &value.span()))),
            _ => Err(self.wrong_kind(key, value, &format!("a table, such as `{key} = {{ … }}`"))),
        }
    }

    /// A list of tables, each written below `[[path]]`. There must be 1 to `limit` of them.
    pub(super) fn tables(&self, key: &'t str, path: &str, limit: usize) -> Result<Vec<CardTable<'t>>, CardFault> {
        let Some(value) = self.value(key) else { return Err(self.missing_key(key, &format!("[[{path}]]"))) };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.wrong_kind(key, value, &format!("a list of tables; begin each with `[[{path}]]`")));
        };
        self.check_count(key, path, list, &value.span(), limit)?;
        let table = |item: &'t Spanned<DeValue<'t>>| match item.get_ref() {
            DeValue::Table(table) => Ok(Self::new(self.text, table, key, &item.span())),
            _ => Err(self.wrong_kind(key, item, &format!("a table that begins with `[[{path}]]`"))),
        };
        list.iter().map(table).collect()
    }

    fn check_count(
        &self,
        key: &str,
        path: &str,
        list: &DeArray<'t>,
        place: &Range<usize>,
        limit: usize,
    ) -> Result<(), CardFault> {
        if list.is_empty() {
            return Err(self.fault(place, format!("`{key}` is empty; add a table that begins with `[[{path}]]`")));
        }
        if list.len() > limit {
            let problem = format!("{} tables `[[{path}]]`; there may be at most {limit}", list.len());
            return Err(self.fault(place, problem));
        }
        Ok(())
    }
}

/// The beginning of a text, for messages.
fn text_beginning(text: &str) -> String {
    const MOST: usize = 60;
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
