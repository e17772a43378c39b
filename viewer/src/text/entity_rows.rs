//! The rows of `pj_dump -l 9 -e 1e300`: each container and entity as a line of text, for comparison
//! with other tools and for scripts.
//!
//! Timestamps are written from integers and are exact. As in `pj_dump`, names are not quoted, and
//! timestamps of containers have six significant digits. Rows are in depth-first order of the
//! containers. To compare, sort them.
//!
//! ```
//! use tumit_viewer::text::entity_rows::write;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let mut rows = Vec::new();
//! write(&store, &mut rows)?;
//! let row = "State, main, Activity, 0.000000000, 2.000000000, 2.000000000, 0.000000000, work\n";
//! assert!(String::from_utf8(rows)?.contains(row));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use tumit_paje::PajeTypeKind;

use crate::query::entity_walk::EVER;
use crate::query::{
    ContainerId, ContainerInfo, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, TypeModel, ValueId,
    types_in,
};

/// Writes all rows of a source.
///
/// # Errors
/// If `out` fails.
pub fn write(source: &dyn TimelineSource, out: &mut dyn Write) -> io::Result<()> {
    let (model, containers) = (source.model(), source.containers());
    let by_id = containers.iter().map(|container| (container.id, container)).collect();
    let rows = EntityRows { source, model: &model, by_id };
    for container in containers.iter() {
        rows.container(container, out)?;
        // All types, because a trace may contradict its own type tree.
        for ty in types_in(source, &model, container.id) {
            let text = rows.entities(container, ty.id, ty.kind).map_err(io::Error::other)?;
            out.write_all(text.as_bytes())?;
        }
    }
    for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        let text = rows.links(ty.id).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

struct EntityRows<'a> {
    source: &'a dyn TimelineSource,
    model: &'a TypeModel,
    by_id: BTreeMap<ContainerId, &'a ContainerInfo>,
}

impl EntityRows<'_> {
    fn value(&self, value: ValueId) -> &str {
        self.model.values.get(value.index()).map_or("", |value| &value.name)
    }

    /// The name of a container. The root is `0`, regardless of its title.
    fn name(&self, id: ContainerId) -> &str {
        if id == ContainerId::ROOT {
            return "0";
        }
        self.by_id.get(&id).map_or("", |container| &container.name)
    }

    fn type_name(&self, ty: TypeId) -> &str {
        if ty == TypeId::ROOT { "0" } else { &self.model.types[ty.index()].name }
    }

    fn container(&self, container: &ContainerInfo, out: &mut dyn Write) -> io::Result<()> {
        let from = if container.id == ContainerId::ROOT { 0 } else { container.life.from.0 };
        let to = container.life.to.0;
        let (from, to) = (from as f64 / 1e9, to as f64 / 1e9);
        let [from, to, duration] = [from, to, to - from].map(format_g);
        let (parent, ty) = (self.name(container.parent), self.type_name(container.ty));
        writeln!(out, "Container, {parent}, {ty}, {from}, {to}, {duration}, {}", self.name(container.id))
    }

    fn entities(&self, container: &ContainerInfo, ty: TypeId, kind: PajeTypeKind) -> Result<String, QueryError> {
        let head = format!("{}, {}", self.name(container.id), self.type_name(ty));
        let mut text = String::new();
        // Writing to a string cannot fail.
        match kind {
            PajeTypeKind::State => {
                for depth in 0..self.source.depths(container.id, ty) {
                    let lane = StateLaneId { container: container.id, ty, depth };
                    for state in self.source.states(lane, EVER, usize::MAX)?.items {
                        let (span, value) = (start_end_duration(state.life), self.value(state.value));
                        let _ = writeln!(text, "State, {head}, {span}, {depth}.000000000, {value}");
                    }
                }
            }
            PajeTypeKind::Variable => {
                for sample in self.source.samples(container.id, ty, EVER, usize::MAX)?.items {
                    let _ =
                        writeln!(text, "Variable, {head}, {}, {:.9}", start_end_duration(sample.life), sample.value);
                }
            }
            PajeTypeKind::Event => {
                for mark in self.source.events(container.id, ty, EVER, usize::MAX)?.items {
                    let _ = writeln!(text, "Event, {head}, {}, {}", seconds(mark.time.0), self.value(mark.value));
                }
            }
            PajeTypeKind::Container | PajeTypeKind::Link { .. } => {}
        }
        Ok(text)
    }

    fn links(&self, ty: TypeId) -> Result<String, QueryError> {
        let mut text = String::new();
        for link in self.source.links(ty, EVER, usize::MAX)?.items {
            let facts = self.source.facts_without_paths(link.id)?;
            let key = facts.fields.iter().find(|(name, _)| name == "key").map_or("", |(_, key)| key);
            let span = start_end_duration(TimeRange { from: link.start_time, to: link.end_time });
            let (holder, ty, value) = (self.name(facts.container), self.type_name(ty), self.value(link.value));
            let (start, end) = (self.name(link.start), self.name(link.end));
            let _ = writeln!(text, "Link, {holder}, {ty}, {span}, {value}, {start}, {end}, {key}");
        }
        Ok(text)
    }
}

/// Start, end and duration in seconds.
fn start_end_duration(life: TimeRange) -> String {
    format!("{}, {}, {}", seconds(life.from.0), seconds(life.to.0), seconds(life.to.0 - life.from.0))
}

/// Nanoseconds as seconds with nine decimals.
fn seconds(nanos: i64) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// A number in the format of C's `%g`: six significant digits, without trailing zeros.
pub(crate) fn format_g(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return strip(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(mantissa), exponent.abs())
}

/// Numbers in the format of [`format_g`]. Numbers that it would write alike have all their digits.
pub(crate) fn format_distinct(values: &[f64]) -> Vec<String> {
    let names: Vec<String> = values.iter().map(|&value| format_g(value)).collect();
    let mut first: HashMap<&str, f64> = HashMap::new();
    let mut repeated_names: HashSet<&str> = HashSet::new();
    for (name, &value) in names.iter().zip(values) {
        if *first.entry(name).or_insert(value) != value {
            repeated_names.insert(name);
        }
    }
    names
        .iter()
        .zip(values)
        .map(|(name, value)| if repeated_names.contains(&**name) { value.to_string() } else { name.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{format_distinct, format_g, seconds};

    #[test]
    fn different_numbers_have_different_texts() {
        assert_eq!(format_distinct(&[1_234_567.25, 0.5, 1_234_568.0]), ["1234567.25", "0.5", "1234568"]);
        assert_eq!(format_distinct(&[1_234_567.0, 2.0, 1_234_567.0]), ["1.23457e+06", "2", "1.23457e+06"]);
    }

    #[test]
    fn format_g_equals_the_format_of_c() {
        let cases = [
            (0.0, "0"),
            (1e20, "1e+20"),
            (1.0 / 3.0, "0.333333"),
            (98.9755, "98.9755"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.5, "1e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (-2.5, "-2.5"),
            (100.0, "100"),
        ];
        for (value, expected) in cases {
            assert_eq!(format_g(value), expected);
        }
        assert_eq!(seconds(-1_500_000_000), "-1.500000000");
    }
}
