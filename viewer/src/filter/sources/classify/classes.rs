//! The classes of a field: given as edges, or chosen from the values of some entities of the trace.

use std::collections::BTreeMap;

use tumit_paje::TypeId as Ty;

use crate::filter::language::ast::{MAX_CLASSES, is_duration};
use crate::filter::language::entity_fields;
use crate::filter::language::error::FilterError;
use crate::query::{
    EntityId, GlobalNanos, PajeTypeKind, QueryError, RgbColor, StateLaneId, TimeRange, TimelineSource, TypeId,
};
use crate::style::palette;
use crate::text::entity_rows::format_distinct;
use crate::text::time_display;

/// Up to this number of different numbers, each number is a class.
const MAX_SINGLE_NUMBERS: usize = 10;
/// Number of classes for more different numbers.
const RANGES: usize = 6;
/// Maximum number of entities that are read to choose classes.
const MAX_EXAMINED: usize = 20_000;
/// Number of time ranges from which these entities come.
const SAMPLED_COLUMNS: u32 = 16;
/// Maximum number of containers that are read in each time range.
const MAX_CONTAINERS: usize = 1_000;

#[derive(Debug, PartialEq)]
pub(crate) enum FieldClasses {
    /// Ranges of numbers: below the first edge, from there to the next one, and so on.
    Numbers(Vec<f64>),
    /// One class per text, in order; then a class for all other texts.
    Texts { texts: Vec<String>, are_numbers: bool },
}

impl FieldClasses {
    /// Classes with ascending edges.
    pub(crate) fn from_edges(edges: Vec<f64>) -> Self {
        Self::Numbers(edges)
    }

    /// Classes chosen from the values of some entities of these types, from the whole trace.
    pub(crate) fn from_sample(source: &dyn TimelineSource, field: &str, types: &[TypeId]) -> Result<Self, FilterError> {
        let mut texts = Vec::new();
        visit_sample(source, types, |id, nanos| {
            if is_duration(field) {
                texts.push(nanos.to_string());
            } else {
                texts.extend(entity_fields::field(&source.facts(id)?, field));
            }
            Ok(())
        })?;
        Ok(Self::of_all(&texts))
    }

    /// Classes chosen from these values.
    fn of_all(values: &[String]) -> Self {
        let mut numbers: Vec<f64> = values.iter().filter_map(|text| number(text)).collect();
        let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
        for text in values {
            *texts.entry(text.trim()).or_default() += 1;
        }
        let are_numbers = !numbers.is_empty() && numbers.len() == values.len();
        if are_numbers && texts.len() > MAX_SINGLE_NUMBERS {
            numbers.sort_by(f64::total_cmp);
            return Self::Numbers(edges(&numbers));
        }
        // The most frequent ones, if there are too many.
        let mut texts: Vec<(&str, usize)> = texts.into_iter().collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.1));
        texts.truncate(MAX_CLASSES);
        let mut texts: Vec<String> = texts.into_iter().map(|text| text.0.to_owned()).collect();
        texts.sort_by(|a, b| match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.cmp(b),
        });
        Self::Texts { texts, are_numbers }
    }

    /// Name and colour of each class, in order.
    pub(crate) fn names_and_colors(&self, field: &str) -> Vec<(String, RgbColor)> {
        let missing_class = (format!("no {field}"), palette::NONE);
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of nanoseconds")]
        let nanos = |number: f64| time(number as i64);
        match self {
            Self::Numbers(edges) => {
                let edges = match is_duration(field) {
                    true => edges.iter().map(|&edge| nanos(edge)).collect(),
                    false => format_distinct(edges),
                };
                let name =
                    |index: usize| match (index.checked_sub(1).and_then(|index| edges.get(index)), edges.get(index)) {
                        (None, Some(to)) => format!("{field} < {to}"),
                        (Some(from), Some(to)) => format!("{field} {from} to {to}"),
                        (Some(from), None) => format!("{field} ≥ {from}"),
                        (None, None) => field.to_owned(),
                    };
                let of = edges.len() + 1;
                (0..of).map(|index| (name(index), palette::ramp(index, of))).chain([missing_class]).collect()
            }
            Self::Texts { texts, are_numbers } => {
                let name = |text: &String| match number(text).filter(|_| is_duration(field)) {
                    Some(number) => format!("{field} {}", nanos(number)),
                    None => format!("{field} {text}"),
                };
                let names: Vec<String> = texts.iter().map(name).collect();
                let group: Vec<(Ty, &str)> = names.iter().map(|name| (Ty::ROOT, name.as_str())).collect();
                let text_colors = palette::assign_colors(&group, &vec![None; names.len()]);
                let of = names.len();
                let colors = (0..of)
                    .map(|index| if *are_numbers { palette::ramp(index, of) } else { text_colors[index] })
                    .collect::<Vec<_>>();
                let rest = (format!("other {field}"), palette::NONE);
                names.into_iter().zip(colors).chain([rest, missing_class]).collect()
            }
        }
    }

    /// The class of a text. Without a text, it is the last class.
    pub(crate) fn of(&self, text: Option<&str>) -> u8 {
        let class = match (self, text.map(str::trim)) {
            (Self::Numbers(edges), text) => match text.and_then(number) {
                Some(number) => edges.partition_point(|edge| *edge <= number),
                None => edges.len() + 1,
            },
            (Self::Texts { texts, .. }, Some(text)) => {
                // A linear search, because there are few texts, and numbers are not in the order of
                // texts.
                texts.iter().position(|class| class == text).unwrap_or(texts.len())
            }
            (Self::Texts { texts, .. }, None) => texts.len() + 1,
        };
        u8::try_from(class).unwrap_or(u8::MAX - 1)
    }

    /// The class of a duration.
    #[expect(clippy::cast_precision_loss, reason = "2^53 nanoseconds are 104 days")]
    pub(crate) fn of_nanos(&self, nanos: i64) -> u8 {
        match self {
            Self::Numbers(edges) => edges.partition_point(|edge| *edge <= nanos as f64) as u8,
            Self::Texts { .. } => self.of(Some(&nanos.to_string())),
        }
    }
}

/// A duration without trailing zeros: `10 µs`, `1.5 ms`.
fn time(nanos: i64) -> String {
    let text = time_display::duration(nanos);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Edges that divide sorted numbers into parts of about equal size. They are as round as possible
/// without merging edges.
fn edges(numbers: &[f64]) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return Vec::new() };
    let quantiles = |round: &dyn Fn(f64) -> f64| {
        let mut edges: Vec<f64> = (1..RANGES).map(|range| round(numbers[numbers.len() * range / RANGES])).collect();
        edges.dedup();
        // An edge needs a number below it, and one at it or above it.
        edges.retain(|edge| first < *edge && *edge <= last);
        edges
    };
    let roundings: [&dyn Fn(f64) -> f64; 4] =
        [&one_two_five, &|number| round_digits(number, 0), &|number| round_digits(number, 1), &|number| number];
    let mut all: Vec<Vec<f64>> = roundings.into_iter().map(quantiles).collect();
    let max_edges = all.iter().map(Vec::len).max().unwrap_or(0);
    all.iter().position(|edges| edges.len() == max_edges).map_or_else(Vec::new, |index| all.swap_remove(index))
}

/// A number with `digits` digits after its first one.
fn round_digits(number: f64, digits: usize) -> f64 {
    format!("{number:.digits$e}").parse().unwrap_or(number)
}

/// The nearest of 1, 2 and 5 times a power of ten.
fn one_two_five(number: f64) -> f64 {
    let power = 10_f64.powf(number.abs().log10().floor());
    if number == 0.0 || !power.is_normal() {
        return number;
    }
    let distance = |of: f64| (of * power / number.abs()).ln().abs();
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(1.0);
    // Negative powers of ten are inexact in binary. Formatting to one digit and parsing gives the
    // float nearest to, for example, 0.002.
    round_digits(factor * power, 0).copysign(number)
}

/// Visits some entities of each type, from the whole trace.
fn visit_sample(
    source: &dyn TimelineSource,
    types: &[TypeId],
    mut visit: impl FnMut(EntityId, i64) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let (model, list, extent) = (source.model(), source.containers(), source.extent());
    let trace_range = TimeRange { to: GlobalNanos(extent.to.0.saturating_add(1)), ..extent };
    let step = list.len().div_ceil(MAX_CONTAINERS).max(1);
    for &ty in types {
        let mut budget = MAX_EXAMINED;
        for column in trace_range.columns(SAMPLED_COLUMNS) {
            let limit = (MAX_EXAMINED / SAMPLED_COLUMNS as usize / list.len().clamp(1, MAX_CONTAINERS)).max(2);
            let mut take = |id: EntityId, nanos: i64| {
                budget = budget.saturating_sub(1);
                if budget > 0 { visit(id, nanos) } else { Ok(()) }
            };
            match model.types.get(ty.index()).map(|ty| ty.kind) {
                Some(PajeTypeKind::Link { .. }) => {
                    for link in source.links(ty, column, MAX_EXAMINED / SAMPLED_COLUMNS as usize)?.items {
                        take(link.id, link.end_time.0.saturating_sub(link.start_time.0))?;
                    }
                }
                Some(PajeTypeKind::Event) => {
                    for info in list.iter().step_by(step) {
                        for mark in source.events(info.id, ty, column, limit)?.items {
                            take(mark.id, 0)?;
                        }
                    }
                }
                Some(PajeTypeKind::State) => {
                    for info in list.iter().step_by(step) {
                        for depth in 0..source.depths(info.id, ty) {
                            for state in
                                source.states(StateLaneId { container: info.id, ty, depth }, column, limit)?.items
                            {
                                take(state.id, state.life.to.0.saturating_sub(state.life.from.0))?;
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn few_numbers_are_classes_by_themselves() {
        let classes = FieldClasses::of_all(&texts(&["8", "1024", "8", "64"]));
        let names: Vec<String> = classes.names_and_colors("Bytes").into_iter().map(|class| class.0).collect();
        assert_eq!(names, ["Bytes 8", "Bytes 64", "Bytes 1024", "other Bytes", "no Bytes"]);
        let of = |text| classes.of(text);
        assert_eq!((of(Some("1024")), of(Some("8")), of(Some("9")), of(None)), (2, 0, 3, 4));
    }

    #[test]
    fn many_numbers_are_divided_at_round_ones() {
        let all: Vec<String> = (0..10_000).map(|n| (n * 7 % 10_000).to_string()).collect();
        let classes = FieldClasses::of_all(&all);
        assert_eq!(classes, FieldClasses::Numbers(vec![2_000.0, 3_000.0, 5_000.0, 7_000.0, 8_000.0]));
        let names: Vec<String> = classes.names_and_colors("Bytes").into_iter().map(|class| class.0).collect();
        assert_eq!(names[..2], ["Bytes < 2000", "Bytes 2000 to 3000"]);
        assert_eq!(names[5..], ["Bytes ≥ 8000", "no Bytes"]);
        assert_eq!(classes.of(Some("1999.5")), 0);
        assert_eq!(classes.of(Some(" 2000 ")), 1);
        assert_eq!(classes.of(Some("1e9")), 5);
        assert_eq!(classes.of(Some("much")), 6);
        let wide_range: Vec<String> = (0..1_200).map(|n| (f64::from(n % 12).exp2() * 70.0).to_string()).collect();
        assert_eq!(
            FieldClasses::of_all(&wide_range),
            FieldClasses::Numbers(vec![200.0, 1_000.0, 5_000.0, 20_000.0, 100_000.0])
        );
        let close: Vec<String> = (0..1_000).map(|n| (1_000_000 + n).to_string()).collect();
        let FieldClasses::Numbers(edges) = FieldClasses::of_all(&close) else { panic!("the texts are numbers") };
        assert_eq!(edges.len(), RANGES - 1, "{edges:?}");
    }

    #[test]
    fn texts_are_classes_the_most_frequent_first() {
        let mut all = texts(&["b", "a", "b"]);
        all.extend((0..500).map(|n| format!("rare {n}")));
        let classes = FieldClasses::of_all(&all);
        let FieldClasses::Texts { texts, are_numbers } = &classes else { panic!("the values are texts") };
        assert!(texts.len() == MAX_CLASSES && texts.contains(&"b".to_owned()) && !are_numbers);
        assert_eq!(classes.names_and_colors("Tag").len(), MAX_CLASSES + 2);
        assert_eq!(usize::from(classes.of(Some("unknown"))), MAX_CLASSES);
    }

    #[test]
    fn durations_have_units() {
        let all: Vec<String> = (0..100).map(|n| (1_000 << (n % 20)).to_string()).collect();
        let names: Vec<String> =
            FieldClasses::of_all(&all).names_and_colors("duration").into_iter().map(|class| class.0).collect();
        assert_eq!(names[0], "duration < 10 µs", "{names:?}");
        let few = FieldClasses::of_all(&texts(&["1000000", "2500000", "1000000"]));
        let names: Vec<String> = few.names_and_colors("duration").into_iter().map(|class| class.0).collect();
        assert_eq!(names[..2], ["duration 1 ms", "duration 2.5 ms"]);
        assert_eq!((few.of_nanos(2_500_000), few.of_nanos(7)), (1, 2));
    }
}
