//! The data that describe a whole trace: its summary, types, values and containers.

use tumit_paje::category::ActivityCategory;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, DrawStyle, PajeTypeKind, RgbColor, TraceDiagnostic, TypeId, ValueId};

/// Properties of a whole trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSummary {
    /// Name shown in titles: the name of the file or folder.
    pub name: String,
    /// From the first timestamp to the last.
    pub extent: TimeRange,
    /// Number of containers.
    pub containers: u64,
    /// Number of states.
    pub states: u64,
    /// Number of point events.
    pub events: u64,
    /// Number of complete links.
    pub links: u64,
    /// Number of values of variables.
    pub samples: u64,
    /// Diagnostics for the user, above all errors of the trace, with counts in their texts.
    pub diagnostics: Vec<TraceDiagnostic>,
    /// The wall clock at trace time 0, in nanoseconds since 1970. It is known if the trace is a run
    /// with processes that read that clock.
    pub wall_clock: Option<i64>,
    /// Changes whenever answers may change.
    pub generation: u64,
}

impl TraceSummary {
    /// Whether no data is dropped, missing, damaged, left out or repaired: no diagnostic is an
    /// error.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        !self.diagnostics.iter().any(TraceDiagnostic::is_error)
    }
}

/// A type of the type tree.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TypeInfo {
    /// Its id: its index in [`TypeModel::types`].
    pub id: TypeId,
    /// Container, state, event, variable or link.
    pub kind: PajeTypeKind,
    /// Its parent type. The root is its own parent.
    pub parent: TypeId,
    /// Displayed name.
    pub name: String,
    /// The colour in the trace. The viewer chooses one for types of events, variables and links.
    pub color: Option<RgbColor>,
    /// Shape and size, if the trace defines them.
    pub style: DrawStyle,
}

/// A value of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Its id: its index in [`TypeModel::values`].
    pub id: ValueId,
    /// The type that declares it.
    pub ty: TypeId,
    /// Displayed name.
    pub name: String,
    /// Its colour: the trace's colour, or a chosen one.
    pub color: RgbColor,
    /// Its shape and size: its own, or those of its type, if the trace defines them.
    pub style: DrawStyle,
    /// The effect of a state on the utilization of its container. `None`: views guess it from the
    /// name.
    pub category: Option<ActivityCategory>,
}

/// The type tree with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeModel {
    /// Types by id. The root type is first.
    pub types: Vec<TypeInfo>,
    /// Values by id.
    pub values: Vec<ValueInfo>,
    /// The values with states that are parts of collective operations, by id.
    pub collective_values: Vec<ValueId>,
}

/// A container instance.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContainerInfo {
    /// Unique in the trace, even after the container has ended.
    pub id: ContainerId,
    /// A container type of the model.
    pub ty: TypeId,
    /// Its parent. The root is its own parent.
    pub parent: ContainerId,
    /// Number of levels below the root. The root has 0.
    pub depth: u32,
    /// Displayed name.
    pub name: String,
    /// The time range in which it exists.
    pub life: TimeRange,
}
