//! [`TraceBuilder`]: the definitions and containers of a derived trace.

use tumit_paje::{DrawStyle, PajeEvent, PajeTypeKind, RgbColor, ValueId};
use tumit_viewer::query::{ContainerId, GlobalNanos, TimeRange, TypeId};
use tumit_viewer::store::TraceStore;
use tumit_viewer::style::theme::ThemeKind;

use crate::draw::PaletteKind;
use crate::draw::chart_palette::ChartPalette;
use crate::unit_lists::UnitLists;

/// The colours of a trace are those of the light theme. The diagram adapts them to other themes.
pub(super) fn light_palette(kind: PaletteKind) -> ChartPalette {
    ChartPalette::new(ThemeKind::Light, kind)
}

/// The definitions and containers of a derived trace. Names are kept apart, because events borrow
/// them.
#[derive(Default)]
pub(super) struct TraceBuilder {
    names: Vec<String>,
    /// Definitions in order: the events that are not timed.
    definitions: Vec<Definition>,
    /// The creations and destructions of containers, with their time. At equal times, creations
    /// are first.
    operations: Vec<(i64, Operation)>,
    types: u32,
    values: u32,
    /// The largest number of a container.
    pub(super) containers: u32,
}

#[derive(Clone, Copy)]
enum Definition {
    Type { ty: TypeId, kind: PajeTypeKind, parent: TypeId, name: usize },
    Value { value: ValueId, ty: TypeId, name: usize, color: RgbColor, style: DrawStyle },
}

#[derive(Clone, Copy)]
enum Operation {
    Create { container: ContainerId, ty: TypeId, parent: ContainerId, name: usize },
    Destroy(ContainerId),
}

impl TraceBuilder {
    pub(super) fn name(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    pub(super) fn define_type(&mut self, kind: PajeTypeKind, parent: TypeId, name: &str) -> TypeId {
        self.types += 1;
        let (ty, name) = (TypeId(self.types), self.name(name));
        self.definitions.push(Definition::Type { ty, kind, parent, name });
        ty
    }

    pub(super) fn define_value(&mut self, ty: TypeId, name: &str, color: RgbColor) -> ValueId {
        self.define_styled_value(ty, name, color, DrawStyle::NONE)
    }

    pub(super) fn define_styled_value(&mut self, ty: TypeId, name: &str, color: RgbColor, style: DrawStyle) -> ValueId {
        let (value, name) = (ValueId(self.values), self.name(name));
        self.values += 1;
        self.definitions.push(Definition::Value { value, ty, name, color, style });
        value
    }

    pub(super) fn add_container(
        &mut self,
        container: ContainerId,
        of: (ContainerId, TypeId),
        name: &str,
        life: TimeRange,
    ) {
        let ((parent, ty), name) = (of, self.name(name));
        self.operations.push((life.from.0, Operation::Create { container, ty, parent, name }));
        self.operations.push((life.to.0, Operation::Destroy(container)));
        self.containers = self.containers.max(container.0);
    }

    pub(super) fn build(mut self, name: &str) -> TraceStore {
        // The sort is stable: parents are created before their children.
        let is_end = |operation: &Operation| matches!(operation, Operation::Destroy(_));
        self.operations.sort_by_key(|(time, operation)| (*time, is_end(operation)));
        let (names, extra) = (&self.names, &[]);
        let definitions = self.definitions.iter().map(|definition| match *definition {
            Definition::Type { ty, kind, parent, name } => {
                PajeEvent::DefineType { ty, kind, parent, name: &names[name], color: None, style: DrawStyle::NONE }
            }
            Definition::Value { value, ty, name, color, style } => {
                PajeEvent::DefineValue { value, ty, name: &names[name], color: Some(color), style, category: None }
            }
        });
        let operations = self.operations.iter().map(|(time, operation)| {
            let time = GlobalNanos(*time);
            match *operation {
                Operation::Create { container, ty, parent, name } => {
                    PajeEvent::CreateContainer { time, container, ty, parent, name: &names[name], extra }
                }
                Operation::Destroy(container) => PajeEvent::DestroyContainer { time, container },
            }
        });
        TraceStore::from_events(name, definitions.chain(operations))
    }
}

/// The units and their ancestors in a derived trace.
pub(super) struct DerivedContainers {
    /// For each unit, its container.
    pub(super) units: Vec<ContainerId>,
    pub(super) unit_type: TypeId,
    /// The rows: the containers of units, or of bundles of units.
    pub(super) rows: Vec<ContainerId>,
    /// The units of each row.
    pub(super) units_of_rows: UnitLists,
}
