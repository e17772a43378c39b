//! The part of an index that is read as a whole at opening: summary, types, values and containers.

use tumit_paje::category::ActivityCategory;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, DiagnosticKind, DiagnosticLocation, DiagnosticSeverity, DrawStyle, MarkShape, PajeTypeKind, RgbColor,
    TraceDiagnostic, TypeId, ValueId,
};
use tumit_spill::varint;

use crate::query::{ContainerInfo, TimeRange, TraceSummary, TypeInfo, TypeModel, ValueInfo};

/// The description of a trace: summary, model, containers in order, and the rows of their extra
/// fields by container id.
#[derive(Debug, PartialEq)]
pub(crate) struct DescriptionSection {
    pub(crate) summary: TraceSummary,
    pub(crate) model: TypeModel,
    pub(crate) containers: Vec<ContainerInfo>,
    pub(crate) details: Vec<u32>,
}

fn text(out: &mut Vec<u8>, text: &str) {
    varint::push(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn write_signed(out: &mut Vec<u8>, number: i64) {
    varint::push(out, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned());
}

fn write_time_range(out: &mut Vec<u8>, time_range: TimeRange) {
    write_signed(out, time_range.from.0);
    write_signed(out, time_range.to.0);
}

fn color(out: &mut Vec<u8>, color: RgbColor) {
    out.extend_from_slice(&[color.red, color.green, color.blue]);
}

/// Writes a shape as its number from 1, or 0 for none; and a size as the bits of a float, or 0 for
/// none.
fn write_style(out: &mut Vec<u8>, style: DrawStyle) {
    let shape = style.shape.and_then(|shape| MarkShape::ALL.iter().position(|candidate| *candidate == shape));
    varint::push(out, shape.map_or(0, |place| place as u64 + 1));
    varint::push(out, style.size.map_or(0, f32::to_bits).into());
}

/// Writes kind and severity by their positions, the location as 0 for none, 1 for a file, 2 for a
/// line or 3 for a process, and the text.
fn diagnostic(out: &mut Vec<u8>, TraceDiagnostic { kind, severity, location, text: sentence }: &TraceDiagnostic) {
    varint::push(out, *kind as u64);
    varint::push(out, *severity as u64);
    match location {
        None => varint::push(out, 0),
        Some(DiagnosticLocation::File(path)) => {
            varint::push(out, 1);
            text(out, path);
        }
        Some(DiagnosticLocation::Line { file, line }) => {
            varint::push(out, 2);
            text(out, file);
            varint::push(out, *line);
        }
        Some(DiagnosticLocation::Process(name)) => {
            varint::push(out, 3);
            text(out, name);
        }
    }
    text(out, sentence);
}

impl DescriptionSection {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let Self { summary, model, containers, details } = self;
        text(&mut out, &summary.name);
        write_time_range(&mut out, summary.extent);
        for count in [summary.containers, summary.states, summary.events, summary.links, summary.samples] {
            varint::push(&mut out, count);
        }
        varint::push(&mut out, summary.wall_clock.map_or(0, i64::cast_unsigned));
        varint::push(&mut out, u64::from(summary.wall_clock.is_some()));
        varint::push(&mut out, summary.diagnostics.len() as u64);
        summary.diagnostics.iter().for_each(|finding| diagnostic(&mut out, finding));
        varint::push(&mut out, model.types.len() as u64);
        for ty in &model.types {
            let (kind, ends) = match ty.kind {
                PajeTypeKind::Container => (0, None),
                PajeTypeKind::State => (1, None),
                PajeTypeKind::Event => (2, None),
                PajeTypeKind::Variable => (3, None),
                PajeTypeKind::Link { start, end } => (4, Some([start, end])),
            };
            varint::push(&mut out, kind);
            ends.into_iter().flatten().for_each(|end| varint::push(&mut out, end.0.into()));
            varint::push(&mut out, ty.parent.0.into());
            text(&mut out, &ty.name);
            varint::push(&mut out, u64::from(ty.color.is_some()));
            ty.color.into_iter().for_each(|of| color(&mut out, of));
            write_style(&mut out, ty.style);
        }
        varint::push(&mut out, model.values.len() as u64);
        for value in &model.values {
            varint::push(&mut out, value.ty.0.into());
            text(&mut out, &value.name);
            color(&mut out, value.color);
            write_style(&mut out, value.style);
            varint::push(&mut out, value.category.map_or(0, |category| category as u64 + 1));
        }
        varint::push(&mut out, model.collective_values.len() as u64);
        model.collective_values.iter().for_each(|value| varint::push(&mut out, value.0.into()));
        varint::push(&mut out, containers.len() as u64);
        for container in containers {
            for number in [container.id.0, container.ty.0, container.parent.0, container.depth] {
                varint::push(&mut out, number.into());
            }
            text(&mut out, &container.name);
            write_time_range(&mut out, container.life);
        }
        varint::push(&mut out, details.len() as u64);
        details.iter().for_each(|&row| varint::push(&mut out, row.into()));
        out
    }

    /// Decodes the bytes. `None` if they end early or are inconsistent.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ModelReader(bytes);
        let (name, extent) = (from.text()?, from.time_range()?);
        let [containers, states, events, links, samples] =
            [from.number()?, from.number()?, from.number()?, from.number()?, from.number()?];
        let (nanos, is_known) = (from.number()?.cast_signed(), from.number()? == 1);
        let (wall_clock, diagnostics) = (is_known.then_some(nanos), from.list(ModelReader::diagnostic)?);
        let summary = TraceSummary {
            name,
            extent,
            containers,
            states,
            events,
            links,
            samples,
            diagnostics,
            wall_clock,
            generation: 1,
        };
        let mut types: Vec<TypeInfo> = from.list(ModelReader::ty)?;
        types.iter_mut().enumerate().for_each(|(index, ty)| ty.id = TypeId(index as u32));
        let mut values: Vec<ValueInfo> = from.list(ModelReader::value)?;
        values.iter_mut().enumerate().for_each(|(index, value)| value.id = ValueId(index as u32));
        let collective_values: Vec<ValueId> = from.list(|from| from.small_number().map(ValueId))?;
        let is_known = |ty: TypeId| ty.index() < types.len();
        let types_known = types.iter().all(|ty| is_known(ty.parent)) && values.iter().all(|value| is_known(value.ty));
        let containers: Vec<ContainerInfo> = from.list(ModelReader::container)?;
        let details = from.list(|from| u32::try_from(from.number()?).ok())?;
        let containers_known =
            containers.iter().all(|container| is_known(container.ty) && container.id.index() < details.len());
        let model = TypeModel { types, values, collective_values };
        let collectives_known = model.collective_values.iter().all(|value| value.index() < model.values.len());
        (types_known && containers_known && collectives_known).then_some(Self { summary, model, containers, details })
    }
}

struct ModelReader<'a>(&'a [u8]);

impl ModelReader<'_> {
    fn number(&mut self) -> Option<u64> {
        varint::take(&mut self.0)
    }

    fn small_number(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn read_signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    fn time_range(&mut self) -> Option<TimeRange> {
        Some(TimeRange { from: GlobalNanos(self.read_signed()?), to: GlobalNanos(self.read_signed()?) })
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn color(&mut self) -> Option<RgbColor> {
        let (&[red, green, blue], rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(RgbColor { red, green, blue })
    }

    fn read_style(&mut self) -> Option<DrawStyle> {
        let (shape, size) = (usize::try_from(self.number()?).ok()?, self.small_number()?);
        let shape = match shape.checked_sub(1) {
            Some(place) => Some(*MarkShape::ALL.get(place)?),
            None => None,
        };
        let size = if size == 0 { None } else { Some(DrawStyle::checked_size(f32::from_bits(size).into())?) };
        Some(DrawStyle { shape, size })
    }

    fn diagnostic(&mut self) -> Option<TraceDiagnostic> {
        let kind = *DiagnosticKind::ALL.get(usize::try_from(self.number()?).ok()?)?;
        let severity = *DiagnosticSeverity::ALL.get(usize::try_from(self.number()?).ok()?)?;
        let location = match self.number()? {
            0 => None,
            1 => Some(DiagnosticLocation::File(self.text()?)),
            2 => Some(DiagnosticLocation::Line { file: self.text()?, line: self.number()? }),
            3 => Some(DiagnosticLocation::Process(self.text()?)),
            _ => return None,
        };
        Some(TraceDiagnostic { kind, severity, location, text: self.text()? })
    }

    /// Reads a list that starts with its length. Each item takes at least one byte.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = usize::try_from(self.number()?).ok().filter(|&length| length <= self.0.len())?;
        (0..length).map(|_| item(self)).collect()
    }

    fn ty(&mut self) -> Option<TypeInfo> {
        let kind = match self.number()? {
            0 => PajeTypeKind::Container,
            1 => PajeTypeKind::State,
            2 => PajeTypeKind::Event,
            3 => PajeTypeKind::Variable,
            4 => PajeTypeKind::Link { start: TypeId(self.small_number()?), end: TypeId(self.small_number()?) },
            _ => return None,
        };
        let (parent, name) = (TypeId(self.small_number()?), self.text()?);
        let color = if self.number()? == 1 { Some(self.color()?) } else { None };
        Some(TypeInfo { id: TypeId::ROOT, kind, parent, name, color, style: self.read_style()? })
    }

    fn value(&mut self) -> Option<ValueInfo> {
        let (ty, name, color, style) = (TypeId(self.small_number()?), self.text()?, self.color()?, self.read_style()?);
        let category = match usize::try_from(self.number()?).ok()?.checked_sub(1) {
            Some(place) => Some(ActivityCategory::WORDS.get(place)?.1),
            None => None,
        };
        Some(ValueInfo { id: ValueId(0), ty, name, color, style, category })
    }

    fn container(&mut self) -> Option<ContainerInfo> {
        let [id, ty, parent, depth] =
            [self.small_number()?, self.small_number()?, self.small_number()?, self.small_number()?];
        let (name, life) = (self.text()?, self.time_range()?);
        Some(ContainerInfo { id: ContainerId(id), ty: TypeId(ty), parent: ContainerId(parent), depth, name, life })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_keep_kind_severity_and_location() {
        let line = |file: &str| DiagnosticLocation::Line { file: file.to_owned(), line: 7_000 };
        let locations = [
            None,
            Some(DiagnosticLocation::File("a.tmt".to_owned())),
            Some(line("")),
            Some(line("part.paje")),
            Some(DiagnosticLocation::Process("rank 3".to_owned())),
        ];
        let mut bytes = Vec::new();
        let mut items = Vec::new();
        for (kind_index, kind) in DiagnosticKind::ALL.into_iter().enumerate() {
            let severity = DiagnosticSeverity::ALL[kind_index % DiagnosticSeverity::ALL.len()];
            let location = locations[kind_index % locations.len()].clone();
            items.push(TraceDiagnostic { kind, severity, location, text: format!("number {kind_index}") });
        }
        items.iter().for_each(|finding| diagnostic(&mut bytes, finding));
        let mut from = ModelReader(&bytes);
        assert!(items.iter().all(|expected| from.diagnostic().as_ref() == Some(expected)));
        assert!(from.0.is_empty() && from.diagnostic().is_none());
        assert!(ModelReader(&[200, 0, 0, 0]).diagnostic().is_none());
    }
}
