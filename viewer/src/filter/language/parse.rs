//! Expressions of filters: from text to a [`Filter`]. The language is described in `docs/filters.md`; [`super::print`] is the way back.

mod condition;
mod example;
mod token;

use std::ops::Range;
use std::str::FromStr;

use super::ast::{Filter, Form, Keep, Key, LinkEnd, Measure, Operation, Rank, Reduction};
use super::ast::{MAX_CLASSES, is_duration};
use super::comparison::Comparison;
use super::condition::Condition;
use super::error::FilterError;
use super::pattern::{Pattern, Patterns};
use super::time_range::Part;
use super::words::{CONDITION_WORDS, RESERVED};
use crate::query::{Color, Look, MarkShape};
use crate::text::time;

pub(crate) use self::token::{Grammar, Token, has_condition, tokens};

/// Every way to begin.
const VERBS: [&str; 20] = [
    "hide", "only", "cut", "group", "reuse", "count", "sum", "mean", "min", "max", "classify", "sort", "order", "best",
    "least", "keep", "color", "shape", "size", "bright",
];
const SELECTIONS: [&str; 5] = ["type", "value", "container", "where", "duration"];
const MEASURES: [&str; 21] = [
    "name", "start", "end", "time", "share", "self", "number", "duration", "shortest", "median", "p90", "p95", "p99",
    "longest", "sum", "mean", "min", "max", "integral", "sent", "received",
];
/// Words that are understood for others.
const SYNONYMS: [(&str, &str); 3] = [("average", "mean"), ("minimum", "min"), ("maximum", "max")];
const COMPARISONS: [&str; 8] = ["=", "!=", "<", "<=", ">", ">=", "~", "!~"];

/// What could stand at the end of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This word or sign.
    Word(&'static str),
    /// Something that has this description: a name, a number, a date.
    Named(&'static str),
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        read(text, Grammar::Two)
    }
}

impl Filter {
    /// Reads an expression of a file of version 1. There, `where` takes one comparison. The words
    /// `and`, `or`, `not`, `sent` and `received` and parentheses are parts of names.
    ///
    /// # Errors
    /// If it is not an expression of version 1.
    pub fn from_version_1(text: &str) -> Result<Self, FilterError> {
        read(text, Grammar::One)
    }

    /// Whether an expression has the same meaning in a file of version 1.
    pub fn is_version_1(&self) -> bool {
        Self::from_version_1(&self.to_string()).is_ok_and(|read| read == *self)
    }
}

fn read(text: &str, grammar: Grammar) -> Result<Filter, FilterError> {
    let mut reader = Reader::new(text, grammar)?;
    let filter = reader.filter()?;
    if reader.at < reader.tokens.len() {
        return Err(reader.expected("nothing more"));
    }
    Ok(filter)
}

/// The possible continuations of an incomplete expression, or of a complete one that can be
/// extended.
pub(crate) fn next(text: &str) -> Vec<Next> {
    let Ok(mut reader) = Reader::new(text, Grammar::Two) else { return Vec::new() };
    match reader.filter() {
        // An error before the end of the text leaves nothing to complete.
        Err(_) if reader.at < reader.tokens.len() => Vec::new(),
        _ => reader.next,
    }
}

struct Reader<'a> {
    text: &'a str,
    grammar: Grammar,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    /// What was looked for at the end.
    next: Vec<Next>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, grammar: Grammar) -> Result<Self, FilterError> {
        Ok(Self { text, grammar, tokens: tokens(text, grammar)?, at: 0, next: Vec::new() })
    }

    /// Whether `and`, `or`, `not` and parentheses are tokens.
    fn in_condition(&self) -> bool {
        self.grammar == Grammar::Two && has_condition(&self.tokens)
    }

    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// Notes what could stand here, if this is the end.
    fn could_be(&mut self, next: impl IntoIterator<Item = Next>) {
        if self.at == self.tokens.len() {
            self.next.extend(next);
        }
    }

    fn expected(&self, expected: impl Into<Box<str>>) -> FilterError {
        let found = match self.token() {
            None => "the end".to_owned(),
            Some(Token::Word(word)) if self.in_condition() && CONDITION_WORDS.contains(&word.as_str()) => {
                format!("`{word}`, which a name has only in quotes")
            }
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Open) => "`(`, which a name has only in quotes".to_owned(),
            Some(Token::Close) => "`)`, which a name has only in quotes".to_owned(),
            Some(Token::Quoted(name)) => format!("`\"{name}\"`"),
            Some(Token::Comma) => "a comma".to_owned(),
            Some(Token::Compare(comparison)) => format!("`{}`", comparison.sign()),
        };
        let at = self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, at)| at.clone());
        FilterError::syntax(self.text, expected, found, at)
    }

    fn word(&self) -> Option<&str> {
        match self.token() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Takes a keyword if it is there.
    fn take(&mut self, keyword: &'static str) -> bool {
        self.could_be([Next::Word(keyword)]);
        let there = self.word() == Some(keyword);
        self.at += usize::from(there);
        there
    }

    fn need(&mut self, keyword: &'static str) -> Result<(), FilterError> {
        if self.take(keyword) { Ok(()) } else { Err(self.expected(format!("`{keyword}`"))) }
    }

    /// A name: the words up to a comma, a comparison or a keyword.
    fn name_if(&mut self, what: &'static str) -> Option<String> {
        self.could_be([Next::Named(what)]);
        let mut name: Option<String> = None;
        while let Some(token) = self.token() {
            let more = match token {
                Token::Word(word) if !self.ends_name(word) => word,
                Token::Quoted(word) => word,
                _ => break,
            };
            name = Some(name.map_or_else(|| more.clone(), |name| format!("{name} {more}")));
            self.at += 1;
        }
        name
    }

    /// Whether a word is a keyword at this position.
    fn ends_name(&self, word: &str) -> bool {
        RESERVED.contains(&word) || self.in_condition() && CONDITION_WORDS.contains(&word)
    }

    fn name(&mut self, what: &'static str) -> Result<String, FilterError> {
        self.name_if(what).ok_or_else(|| self.expected(what))
    }

    fn pattern(&mut self, what: &'static str) -> Result<Pattern, FilterError> {
        self.name(what).map(Pattern::new)
    }

    /// Names with commas between them; perhaps none.
    fn patterns_if(&mut self, what: &'static str) -> Result<Patterns, FilterError> {
        let mut all: Vec<Pattern> = self.name_if(what).map(Pattern::new).into_iter().collect();
        while !all.is_empty() {
            self.could_be([Next::Word(",")]);
            if self.token() != Some(&Token::Comma) {
                break;
            }
            self.at += 1;
            all.push(self.pattern(what)?);
        }
        Ok(Patterns::new(all))
    }

    fn patterns(&mut self, what: &'static str) -> Result<Patterns, FilterError> {
        let before = self.at;
        let all = self.patterns_if(what)?;
        if self.at == before { Err(self.expected(what)) } else { Ok(all) }
    }

    fn of(&mut self) -> Result<Option<Pattern>, FilterError> {
        if self.take("of") { self.pattern("the name of a type").map(Some) } else { Ok(None) }
    }

    fn compare(&mut self) -> Result<Comparison, FilterError> {
        self.could_be(COMPARISONS.map(Next::Word));
        let Some(&Token::Compare(comparison)) = self.token() else {
            return Err(self.expected("one of =, !=, <, <=, >, >=, ~, !~"));
        };
        self.at += 1;
        Ok(comparison)
    }

    fn filter(&mut self) -> Result<Filter, FilterError> {
        self.could_be(VERBS.map(Next::Word));
        let verb = self.word().unwrap_or("").to_owned();
        self.at += usize::from(!verb.is_empty());
        let verb = SYNONYMS.iter().find(|one| one.0 == verb).map_or(verb.as_str(), |one| one.1);
        Ok(match verb {
            "hide" => self.selection(Keep::Hide)?,
            "only" => self.selection(Keep::Only)?,
            "cut" => Filter::Cut(self.part()?),
            "group" => {
                let containers = self.patterns("the names of containers")?;
                self.need("into")?;
                Filter::Group { containers, name: self.name("a name for the group")? }
            }
            "reuse" => Filter::Reuse { types: self.patterns("the name of a container type")? },
            "count" => self.reduction(Operation::Count)?,
            "sum" => self.reduction(Operation::Sum)?,
            "mean" => self.reduction(Operation::Mean)?,
            "min" => self.reduction(Operation::Min)?,
            "max" => self.reduction(Operation::Max)?,
            "classify" => self.classes()?,
            "sort" => {
                let ty = self.pattern("the name of a container type")?;
                self.need("by")?;
                let measure = self.measure()?;
                let first = self.take("descending");
                let by = Key { measure, during: self.during()? };
                Filter::Sort { ty, by, descending: first || self.take("descending") }
            }
            "order" => Filter::Order { containers: self.patterns("the names of containers")? },
            "best" | "least" => {
                self.could_be([Next::Named("a number of containers")]);
                let number = self.word().and_then(|word| word.parse().ok());
                let number = number.ok_or_else(|| self.expected("a number of containers"))?;
                self.at += 1;
                let ty = self.pattern("the name of a container type")?;
                self.need("by")?;
                let by = Key { measure: self.measure()?, during: self.during()? };
                Filter::Best { number, ty, by, lowest: verb == "least" }
            }
            "keep" => {
                let ty = self.pattern("the name of a container type")?;
                self.need("with")?;
                let by = Key { measure: self.measure()?, during: self.during()? };
                let comparison = self.compare()?;
                let number = self.number(by.measure.is_time())?;
                Filter::Having { ty, by, comparison, number }
            }
            "color" | "colour" => {
                self.could_be([Next::Named("a colour such as #d62728")]);
                let color = self.word().and_then(color).ok_or_else(|| self.expected("a colour such as #d62728"))?;
                self.at += 1;
                let (values, of) = self.dressed("the name of a value", "the name of a type")?;
                Filter::Color { values, of, color }
            }
            "shape" => {
                self.could_be(MarkShape::ALL.map(|shape| Next::Word(shape.name())));
                let shape = self.word().and_then(|word| word.parse().ok());
                let shape = shape.ok_or_else(|| self.expected(one_of(&MarkShape::ALL.map(MarkShape::name))))?;
                self.at += 1;
                let (values, of) = self.dressed("the name of a value of events", "the name of a type of events")?;
                Filter::Shape { values, of, shape }
            }
            "size" => {
                self.could_be([Next::Named("a size such as 1.5")]);
                let size = self.word().and_then(|word| word.parse().ok()).and_then(Look::checked_size);
                let size = size.ok_or_else(|| self.expected("a size such as 1.5, above 0"))?;
                self.at += 1;
                let (values, of) = self.dressed("the name of a value", "the name of a type")?;
                Filter::Size { values, of, size }
            }
            "bright" => Filter::Bright { values: self.patterns("the name of a value")?, of: self.of()? },
            _ => {
                self.at = 0;
                return Err(self.expected(one_of(&VERBS)));
            }
        })
    }

    /// Values, or a whole type, that get a look; `values` and `types` say of what.
    fn dressed(
        &mut self,
        values: &'static str,
        types: &'static str,
    ) -> Result<(Patterns, Option<Pattern>), FilterError> {
        let before = self.at;
        let values = self.patterns_if(values)?;
        let of = if self.take("of") { Some(self.pattern(types)?) } else { None };
        if self.at == before {
            return Err(self.expected("the name of a value, or `of` and that of a type"));
        }
        Ok((values, of))
    }

    fn selection(&mut self, keep: Keep) -> Result<Filter, FilterError> {
        self.could_be(SELECTIONS.map(Next::Word));
        let Some(what) = self.word().map(str::to_owned) else {
            return Err(self.expected(one_of(&SELECTIONS)));
        };
        self.at += 1;
        Ok(match what.as_str() {
            "type" | "types" => Filter::Types { keep, types: self.patterns("the name of a type")? },
            "value" | "values" => {
                Filter::Values { keep, values: self.patterns("the name of a value")?, of: self.of()? }
            }
            "container" | "containers" => {
                Filter::Containers { keep, containers: self.patterns("the name of a container")? }
            }
            "where" => {
                let condition = match self.grammar {
                    Grammar::One => Condition::Field(self.comparison_of_field()?),
                    Grammar::Two => self.condition()?,
                };
                Filter::Attribute { keep, condition, of: self.of()? }
            }
            "duration" => {
                let comparison = self.compare()?;
                if matches!(comparison, Comparison::Like | Comparison::Unlike) {
                    self.at -= 1;
                    return Err(self.expected("one of =, !=, <, <=, >, >="));
                }
                let nanos = self.nanos()?;
                Filter::Duration { keep, comparison, nanos, of: self.of()? }
            }
            _ => {
                self.at -= 1;
                return Err(self.expected(one_of(&SELECTIONS)));
            }
        })
    }

    fn reduction(&mut self, operation: Operation) -> Result<Filter, FilterError> {
        let mut end = None;
        for (word, which) in LinkEnd::ALL {
            if self.grammar == Grammar::Two && end.is_none() && self.take(word) {
                end = Some(which);
            }
        }
        let what = if operation == Operation::Count { "the name of a value" } else { "the name of a field" };
        let values = self.patterns_if(what)?;
        self.need("of")?;
        let of = self.pattern("the name of a type")?;
        self.need("per")?;
        let per = self.pattern("the name of a container type")?;
        let (mut form, mut name) = (Form::Variable, None);
        if self.take("into") {
            let has_form = if self.take("state") {
                form = Form::State;
                true
            } else {
                self.take("variable")
            };
            name = match self.grammar {
                Grammar::Two if !has_form => Some(self.name("a name for the result")?),
                _ => self.name_if("a name for the result"),
            };
        }
        Ok(Filter::Reduce(Reduction { operation, end, values, of, per, form, name }))
    }

    fn classes(&mut self) -> Result<Filter, FilterError> {
        let of = self.pattern("the name of a type")?;
        self.need("by")?;
        let field = self.name("the name of a field")?;
        let (mut edges, lasting): (Vec<f64>, bool) = (Vec::new(), is_duration(&field));
        self.could_be([Next::Word("<")]);
        if self.token() == Some(&Token::Compare(Comparison::Less)) {
            self.at += 1;
            loop {
                let edge = self.number(lasting)?;
                if edges.last().is_some_and(|last| *last >= edge) || edges.len() >= MAX_CLASSES {
                    self.at -= 1;
                    return Err(
                        self.expected(format!("at most {MAX_CLASSES} numbers, each larger than the one before"))
                    );
                }
                edges.push(edge);
                self.could_be([Next::Word(",")]);
                if self.token() != Some(&Token::Comma) {
                    break;
                }
                self.at += 1;
            }
        }
        Ok(Filter::Classify { of, field, edges })
    }

    fn measure(&mut self) -> Result<Measure, FilterError> {
        self.could_be(MEASURES.map(Next::Word));
        let word = self.word().unwrap_or("").to_owned();
        self.at += usize::from(!word.is_empty());
        let word = SYNONYMS.iter().find(|one| one.0 == word).map_or(word.as_str(), |one| one.1);
        if let Some(&(_, which)) = Rank::ALL.iter().find(|one| one.0 == word) {
            return Ok(Measure::Duration { which, values: self.patterns_if("the name of a value")?, of: self.of()? });
        }
        Ok(match word {
            "name" => Measure::Name,
            "start" => Measure::Start,
            "end" => Measure::End,
            "time" => Measure::Time { values: self.patterns_if("the name of a value")?, of: self.of()? },
            "share" => Measure::Share { values: self.patterns_if("the name of a value")?, of: self.of()? },
            "self" => {
                self.could_be(["time", "share"].map(Next::Word));
                let is_time = self.take("time");
                if !is_time && !self.take("share") {
                    return Err(self.expected("time or share, such as in: self time Wait of Activity"));
                }
                let (values, of) = (self.patterns_if("the name of a value")?, self.of()?);
                if is_time { Measure::SelfTime { values, of } } else { Measure::SelfShare { values, of } }
            }
            "number" => Measure::Number { values: self.patterns_if("the name of a value")?, of: self.of()? },
            "integral" => Measure::Integral { of: self.of_variable()? },
            "sent" => Measure::Sent { field: self.name_if("the name of a field"), of: self.of()? },
            "received" => Measure::Received { field: self.name_if("the name of a field"), of: self.of()? },
            "sum" => self.of_field(Operation::Sum)?,
            "mean" => self.of_field(Operation::Mean)?,
            "min" => self.of_field(Operation::Min)?,
            "max" => self.of_field(Operation::Max)?,
            _ => {
                self.at -= usize::from(!word.is_empty());
                return Err(self.expected(one_of(&MEASURES)));
            }
        })
    }

    fn of_variable(&mut self) -> Result<Pattern, FilterError> {
        self.need("of")?;
        self.pattern("the name of a variable")
    }

    /// Of a field, or of a variable, which has its value alone.
    fn of_field(&mut self, operation: Operation) -> Result<Measure, FilterError> {
        let Some(field) = self.name_if("the name of a field") else {
            return Ok(match operation {
                Operation::Mean => Measure::Mean { of: self.of_variable()? },
                Operation::Min => Measure::Min { of: self.of_variable()? },
                Operation::Max => Measure::Max { of: self.of_variable()? },
                Operation::Sum | Operation::Count => return Err(self.expected("the name of a field")),
            });
        };
        self.need("of")?;
        Ok(Measure::Field { operation, field, of: self.pattern("the name of a type")? })
    }

    fn during(&mut self) -> Result<Option<Part>, FilterError> {
        if self.take("in") { self.part().map(Some) } else { Ok(None) }
    }

    fn part(&mut self) -> Result<Part, FilterError> {
        let text = self.name("a part of time such as 0.2..0.4, 250ms.. or ..1.5")?;
        text.parse().map_err(|why: String| {
            self.at -= 1;
            self.expected(why)
        })
    }

    fn nanos(&mut self) -> Result<i64, FilterError> {
        const EXPECTED: &str = "a time such as 10us, 0.5 or 1h 30min";
        let text = self.name(EXPECTED)?;
        time::parse(&text).map_err(|_sentence| {
            self.at -= 1;
            self.expected(EXPECTED)
        })
    }

    /// A number; for times one of nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "2⁵³ nanoseconds are a hundred days")]
    fn number(&mut self, time: bool) -> Result<f64, FilterError> {
        if time {
            return self.nanos().map(|nanos| nanos as f64);
        }
        let text = self.name("a number")?;
        text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            self.at -= 1;
            self.expected("a number")
        })
    }
}

/// Words in a sentence: `a, b or c`.
fn one_of(words: &[&str]) -> String {
    match words {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        _ => words.concat(),
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").ok_or("a part of time such as 0.2..0.4, 250ms.. or ..1.5")?;
        let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { time::parse(text).map(Some) };
        let part = Self { from: bound(from)?, to: bound(to)? };
        if part.from.zip(part.to).is_some_and(|(from, to)| from >= to) {
            return Err("a part of time whose start comes before its end, such as 0.2..0.4".to_owned());
        }
        Ok(part)
    }
}

/// `#rrggbb`.
fn color(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    u32::from_str_radix(digits, 16).ok().map(crate::style::theme::rgb)
}
