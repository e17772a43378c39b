//! [`UnitOrder`]: the order of the units in a view.
//!
//! ```
//! use std::cmp::Ordering;
//!
//! use tumit_perspectives::execution::order::{UnitOrder, natural_order};
//!
//! assert_eq!(UnitOrder::parse("gray")?, UnitOrder::Gray);
//! assert_eq!(natural_order("Node 2", "Node 10"), Ordering::Less);
//! # Ok::<(), tumit_perspectives::error::PerspectiveError>(())
//! ```

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::error::PerspectiveError;
use crate::option_titles::value_title;

/// The order of the units in a view.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum UnitOrder {
    /// The order of the trace.
    #[default]
    Natural,
    /// Position `k` has unit `k ^ (k >> 1)`. Adjacent units differ in one bit, so that they are
    /// neighbours in a hypercube.
    Gray,
    /// By name, where `Node 2` precedes `Node 10`.
    Name,
    /// By a measure, largest first.
    Metric(UnitMetric),
    /// The order of the names in a file, one per line. Units that the file does not name follow.
    Names(Vec<String>),
}

/// A measure by which units are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
#[non_exhaustive]
pub enum UnitMetric {
    BusyTime,
    OverheadTime,
    IdleTime,
    BytesSent,
    BytesReceived,
    MessagesSent,
    MessagesReceived,
}

impl UnitMetric {
    /// All metrics with their words.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("busy", Self::BusyTime),
        ("overhead", Self::OverheadTime),
        ("idle", Self::IdleTime),
        ("bytes-sent", Self::BytesSent),
        ("bytes-received", Self::BytesReceived),
        ("sent", Self::MessagesSent),
        ("received", Self::MessagesReceived),
    ];
}

/// The valid forms of an order.
pub(crate) const ORDER_FORMS: &str =
    "natural, gray, name, busy, overhead, idle, sent, received, bytes-sent, bytes-received, or a file of names";

impl UnitOrder {
    /// Parses an order. Any other text than a known word is the path of a file of names.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn parse(text: &str) -> Result<Self, PerspectiveError> {
        if let Some((_, metric)) = UnitMetric::WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(Self::Metric(*metric));
        }
        Ok(match text {
            "natural" => Self::Natural,
            "gray" => Self::Gray,
            "name" => Self::Name,
            path => {
                let lines = std::fs::read_to_string(path).map_err(|error| PerspectiveError::OptionValue {
                    name: "order".to_owned(),
                    value: path.to_owned(),
                    expected: format!("{ORDER_FORMS} (the file cannot be read: {error})"),
                })?;
                Self::Names(lines.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
            }
        })
    }

    /// The order in words.
    pub fn description(&self) -> String {
        match self {
            Self::Natural => "natural order".to_owned(),
            Self::Gray => "Gray-code order".to_owned(),
            Self::Name => "ordered by name".to_owned(),
            Self::Metric(metric) => {
                let word = UnitMetric::WORDS.iter().find(|(_, known)| known == metric).map_or("", |(word, _)| word);
                format!("ordered {}, largest first", value_title("order", word))
            }
            Self::Names(_) => "order of a file".to_owned(),
        }
    }

    /// The indexes of the units in this order. `metric` gives the measure of each unit.
    pub(crate) fn permutation(&self, names: &[&str], metric: impl Fn(UnitMetric) -> Vec<f64>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..names.len()).collect();
        match self {
            Self::Natural => {}
            Self::Gray => order = gray_order(names.len()),
            Self::Name => order.sort_by(|a, b| natural_order(names[*a], names[*b])),
            Self::Metric(quantity) => {
                let measures = metric(*quantity);
                order.sort_by(|a, b| measures[*b].total_cmp(&measures[*a]));
            }
            Self::Names(list) => {
                let mut places: FxHashMap<&str, usize> = FxHashMap::default();
                list.iter().enumerate().for_each(|(place, name)| _ = places.entry(name).or_insert(place));
                order.sort_by_key(|unit| places.get(names[*unit]).copied().unwrap_or(usize::MAX));
            }
        }
        order
    }
}

/// The numbers below `count` in Gray-code order. Numbers that the code produces beyond `count` are
/// left out.
fn gray_order(count: usize) -> Vec<usize> {
    (0..count.next_power_of_two()).map(|position| position ^ (position >> 1)).filter(|unit| *unit < count).collect()
}

/// Compares names so that numbers in them are in numeric order.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    loop {
        let (Some(a), Some(b)) = (a_rest.chars().next(), b_rest.chars().next()) else {
            return a_rest.len().cmp(&b_rest.len()).then_with(|| a.cmp(b));
        };
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let (a, rest_a) = leading_number(a_rest);
            let (b, rest_b) = leading_number(b_rest);
            let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
            if order != Ordering::Equal {
                return order;
            }
            (a_rest, b_rest) = (rest_a, rest_b);
        } else if a == b {
            (a_rest, b_rest) = (&a_rest[a.len_utf8()..], &b_rest[b.len_utf8()..]);
        } else {
            return a.cmp(&b);
        }
    }
}

/// The digits at the start without leading zeros, and the text after them.
fn leading_number(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::{UnitMetric, UnitOrder, gray_order};

    #[test]
    fn adjacent_units_of_the_gray_order_differ_in_one_bit() {
        assert_eq!(gray_order(8), [0, 1, 3, 2, 6, 7, 5, 4]);
        assert_eq!(gray_order(6), [0, 1, 3, 2, 5, 4]);
        assert!(gray_order(64).windows(2).all(|pair| (pair[0] ^ pair[1]).count_ones() == 1));
    }

    #[test]
    fn orders_of_any_number_of_units_are_permutations() {
        for count in 0..70 {
            let names: Vec<String> = (0..count).map(|unit| format!("rank {}", unit * 7 % 11)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let listed = ["rank 3", "rank 3", "none", "rank 0"].map(str::to_owned).to_vec();
            let orders = [
                UnitOrder::Natural,
                UnitOrder::Gray,
                UnitOrder::Name,
                UnitOrder::Names(listed),
                UnitOrder::Metric(UnitMetric::IdleTime),
            ];
            for order in orders {
                let mut units = order.permutation(&names, |_| (0..count).map(|unit| f64::from(unit % 3)).collect());
                units.sort_unstable();
                assert_eq!(units, (0..count as usize).collect::<Vec<usize>>(), "{order:?}");
            }
        }
    }

    #[test]
    fn orders_are_permutations() {
        let names = ["Node 10", "Node 9", "node", "Node 02"];
        let measures = |_metric| vec![1.0, 5.0, f64::NAN, 3.0];
        let order = |order: UnitOrder| order.permutation(&names, measures);
        assert_eq!(order(UnitOrder::Natural), [0, 1, 2, 3]);
        assert_eq!(order(UnitOrder::Name), [3, 1, 0, 2]);
        assert_eq!(order(UnitOrder::Metric(UnitMetric::BusyTime))[1..], [1, 3, 0]);
        assert_eq!(order(UnitOrder::Names(vec!["node".into(), "Node 9".into()])), [2, 1, 0, 3]);
    }
}
