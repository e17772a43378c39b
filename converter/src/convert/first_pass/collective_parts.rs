//! [`PartCollector`]: the begins and ends of the parts of collective operations, for the correction
//! of clocks.
//!
//! A part ends with its state, so the stacks of states with parts are followed as the second pass
//! does. Parts of unknown operations are left out, and so are parts that may not exist: those of
//! actions `on existing` containers, and those open when records are missing.

use std::io;

use rustc_hash::{FxHashMap, FxHashSet};

use super::action_notes::ActionPosition;
use crate::clock::{LinkLog, PartEndpoint};
use crate::convert::operation_numbers::{OperationNumber, OperationNumbers};
use crate::rules::container_instances::{PathNode, PathTrie};
use crate::rules::eval::RecordScope;
use crate::rules::program::{ActionOp, CollectivePattern, ContainerTarget, ProgramAction, RecordProgram, ValueCode};
use crate::rules::rule_model::RuleModel;
use crate::rules::rule_value::{KeyPart, Symbols};
use tumit::spec::OperationKind;
use tumit_paje::{TypeId, ValueId};

/// Follows the states that can be parts of collective operations.
#[derive(Debug, Default)]
pub(crate) struct PartCollector {
    numbers: OperationNumbers,
    /// The open states by container and type.
    stacks: FxHashMap<(PathNode, TypeId), Vec<OpenPart>>,
    /// Groups of operations with parts that may not exist.
    uncertain: FxHashSet<usize>,
}

/// The value of an open state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateValue {
    Declared(ValueId),
    Named(KeyPart),
}

#[derive(Clone, Copy, Debug)]
struct OpenPart {
    value: StateValue,
    stream: u32,
    /// Its operation, if the end of the state waits for other parts.
    awaits: Option<u64>,
}

/// The position and the time of an action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActionTime {
    pub(crate) position: ActionPosition,
    /// The raw timestamp.
    pub(crate) time: i64,
}

/// The tables in which containers and texts are looked up.
pub(crate) struct PartTables<'t> {
    pub(crate) paths: &'t mut PathTrie,
    pub(crate) model: &'t RuleModel,
    pub(crate) scratch: &'t mut String,
    pub(crate) symbols: &'t mut Symbols,
}

impl PartCollector {
    /// Follows the states of these programs. `None` if there are no collective operations.
    pub(crate) fn new(programs: &[RecordProgram]) -> Option<Self> {
        let mut parts = Self::default();
        let patterns = || {
            let actions = programs.iter().flat_map(|program| &program.actions);
            actions.filter_map(|action| Some((action, action.collective.as_ref()?)))
        };
        patterns().next()?;
        for (action, pattern) in patterns() {
            if action.op.target().is_some_and(|on| on.must_exist) {
                parts.uncertain.insert(pattern.group);
            }
        }
        Some(parts)
    }

    /// Processes an action. Others than those of states have no effect.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub(crate) fn action(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        time: ActionTime,
        log: &mut LinkLog,
        tables: &mut PartTables<'_>,
    ) -> io::Result<()> {
        let (container_target, ty) = match &action.op {
            ActionOp::SetState { target, ty, .. } | ActionOp::PushState { target, ty, .. } => (target, *ty),
            ActionOp::PopState { target: container_target, ty, .. }
            | ActionOp::ResetState { target: container_target, ty, .. } => (container_target, *ty),
            _ => return Ok(()),
        };
        if container_target.is_ambiguous(scope, tables.scratch, tables.symbols) {
            return Ok(());
        }
        let container = tables.node(container_target, scope);
        match &action.op {
            ActionOp::SetState { value, .. } => {
                self.end_states((container, ty), 0, time, log);
                self.begin_state(scope, (action, value, container_target), (container, ty), time, log, tables)
            }
            ActionOp::PushState { value, .. } => {
                self.begin_state(scope, (action, value, container_target), (container, ty), time, log, tables)
            }
            ActionOp::PopState { value, .. } => {
                let Some(open) = self.stacks.get(&(container, ty)) else { return Ok(()) };
                let keep = match value {
                    None => open.len().checked_sub(1),
                    Some(code) => {
                        let value = tables.value(scope, ty, code);
                        open.iter().rposition(|state| Some(state.value) == value)
                    }
                };
                keep.into_iter().for_each(|keep| self.end_states((container, ty), keep, time, log));
                Ok(())
            }
            _ => {
                self.end_states((container, ty), 0, time, log);
                Ok(())
            }
        }
    }

    /// Ends the open states of a stack, except the outermost ones.
    fn end_states(&mut self, stack: (PathNode, TypeId), kept_depth: usize, time: ActionTime, log: &mut LinkLog) {
        let Some(open) = self.stacks.get_mut(&stack) else { return };
        let ActionTime { position: ActionPosition { stream, ordinal, .. }, time: timestamp } = time;
        for state in open.drain(kept_depth..).rev() {
            if let Some(operation) = state.awaits {
                log.add_part(PartEndpoint { stream, timestamp, ordinal, operation, is_source: false });
            }
        }
        if open.is_empty() {
            self.stacks.remove(&stack);
        }
    }

    fn begin_state(
        &mut self,
        scope: &RecordScope<'_>,
        (action, value, on): (&ProgramAction, &ValueCode, &ContainerTarget),
        (container, ty): (PathNode, TypeId),
        time: ActionTime,
        log: &mut LinkLog,
        tables: &mut PartTables<'_>,
    ) -> io::Result<()> {
        // The second pass omits a state if it cannot compute the value.
        let Some(value) = tables.value(scope, ty, value) else { return Ok(()) };
        let ActionTime { position: ActionPosition { stream, ordinal, .. }, time: timestamp } = time;
        let mut awaits = None;
        if let Some(pattern) = &action.collective {
            let operation = self.numbers.next_part(scope, pattern, container, tables.scratch, tables.symbols)?;
            if let OperationNumber::Known(operation) = operation
                && !self.uncertain.contains(&pattern.group)
                && let Some(role) = tables.role(scope, pattern, on)
            {
                if role.is_source {
                    log.add_part(PartEndpoint { stream, timestamp, ordinal, operation, is_source: true });
                }
                awaits = role.is_target.then_some(operation);
            }
        }
        self.stacks.entry((container, ty)).or_default().push(OpenPart { value, stream, awaits });
        Ok(())
    }

    /// Notes that records of a stream are missing. The ends of its open parts are then unknown.
    pub(crate) fn handle_gap(&mut self, stream: u32) {
        self.numbers.note_gap(stream as usize);
        let states = self.stacks.values_mut().flatten();
        states.filter(|state| state.stream == stream).for_each(|state| state.awaits = None);
    }
}

/// The effect of a part on the others.
#[derive(Clone, Copy, Debug)]
struct PartRole {
    /// Others wait for its begin.
    is_source: bool,
    /// Its end waits for others.
    is_target: bool,
}

impl PartTables<'_> {
    fn node(&mut self, target: &ContainerTarget, scope: &RecordScope<'_>) -> PathNode {
        self.paths.node(target, scope, self.scratch, self.symbols)
    }

    fn value(&mut self, scope: &RecordScope<'_>, ty: TypeId, code: &ValueCode) -> Option<StateValue> {
        let name = match code {
            ValueCode::Declared(value) => return Some(StateValue::Declared(*value)),
            ValueCode::Computed(code) => scope.key(code, self.scratch, self.symbols),
        };
        let declared = self.model.value(ty, name).map(StateValue::Declared);
        (name != KeyPart::None).then(|| declared.unwrap_or(StateValue::Named(name)))
    }

    /// The role of a part. `None` if the root is unknown.
    fn role(
        &mut self,
        scope: &RecordScope<'_>,
        pattern: &CollectivePattern,
        target: &ContainerTarget,
    ) -> Option<PartRole> {
        if !pattern.kind.has_root() {
            return Some(PartRole { is_source: true, is_target: true });
        }
        let root = pattern.root.as_ref()?;
        if root.is_ambiguous(scope, self.scratch, self.symbols) {
            return None;
        }
        let is_root = self.is_within(scope, root, target) || self.is_within(scope, target, root);
        Some(match pattern.kind {
            OperationKind::OneToAll => PartRole { is_source: is_root, is_target: !is_root },
            _ => PartRole { is_source: true, is_target: is_root },
        })
    }

    /// Whether a container is another one, or is inside of it.
    fn is_within(&mut self, scope: &RecordScope<'_>, inner: &ContainerTarget, outer: &ContainerTarget) -> bool {
        let outer = self.node(outer, scope);
        let mut is_found = false;
        let mut visit = |node, _, _: &[KeyPart]| is_found |= node == outer;
        self.paths.follow(inner, scope, self.scratch, self.symbols, &mut visit);
        is_found
    }
}
