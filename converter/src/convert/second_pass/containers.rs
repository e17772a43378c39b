//! Creates and ends containers. The first use creates a container with all its parents. Patterns
//! give the names. Children end before their parents.

use std::io;

use smallvec::SmallVec;
use tumit::spec::PatternPiece;

use super::container_cache::CachedInstance;
use super::emitter::Emitter;
use super::end_table::ContainerRef;
use super::entities::{EntityExtras, SinkExtras, fill};
use crate::convert::planning::labels::LabelKey;
use crate::rules::container_instances::PathNode;
use crate::rules::default_rules::PROCESS_NAME;
use crate::rules::eval::RecordScope;
use crate::rules::placeholder;
use crate::rules::program::ContainerTarget;
use crate::rules::referent_table::{NO_PROCESS, builtin_key};
use crate::rules::rule_value::{KeyPart, RuleValue};
use tumit_paje::{ContainerId, PajeEvent, VariableOp};

struct ContainerName {
    text: String,
    /// The number of bytes before the suffix.
    label_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct PathStep {
    node: PathNode,
    /// Its container type.
    container: usize,
    /// The number of keys up to this step.
    key_count: usize,
}

impl Emitter<'_> {
    /// The instance of a target. Creates it if it does not exist or has ended.
    pub(crate) fn locate(&mut self, scope: &RecordScope<'_>, target: &ContainerTarget) -> io::Result<usize> {
        self.locate_related(scope, target, &[])
    }

    /// As [`Self::locate`]. A new container refers to the related containers.
    pub(crate) fn locate_related(
        &mut self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
        related_containers: &[(&str, ContainerId)],
    ) -> io::Result<usize> {
        match self.existing_container(scope, target) {
            Some(instance) => Ok(instance),
            None => self.create_path(scope, target, related_containers),
        }
    }

    /// Creates the missing containers of a target's path.
    #[cold]
    fn create_path(
        &mut self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
        related_containers: &[(&str, ContainerId)],
    ) -> io::Result<usize> {
        let (steps, keys) = self.steps(scope, target);
        let mut parent = None;
        for (depth, &PathStep { node, container, key_count }) in steps.iter().enumerate() {
            let related_containers = if depth + 1 == steps.len() { related_containers } else { &[] };
            parent = Some(match self.living_instance(node) {
                Some(instance) => instance,
                None => self.create(node, container, parent, &keys[..key_count], Some(scope), related_containers)?,
            });
        }
        parent.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// The living instance of a target.
    pub(crate) fn existing_container(&mut self, scope: &RecordScope<'_>, target: &ContainerTarget) -> Option<usize> {
        let Self { container_cache, scratch, symbols, instances, .. } = self;
        if let Some(instance) = container_cache.last_instance(scope, target, instances.ended_count(), scratch, symbols)
        {
            return Some(instance);
        }
        let node = self.survey.paths.node(target, scope, &mut self.scratch, self.symbols);
        let instance = self.living_instance(node)?;
        let cached_instance = CachedInstance { ended_count: self.instances.ended_count(), instance };
        self.container_cache.note(scope, target, cached_instance, &mut self.scratch, self.symbols);
        Some(instance)
    }

    /// The instance itself or its ancestor of this container type.
    pub(crate) fn ancestor(&self, mut instance: usize, container: usize) -> Option<usize> {
        while self.instances.get(instance).container != container {
            instance = self.instances.get(instance).parent?;
        }
        Some(instance)
    }

    /// Creates the only container of a type without keys.
    pub(crate) fn create_keyless(&mut self, container: usize) -> io::Result<()> {
        let mut path = vec![container];
        while let Some(parent) = self.model.containers[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        let mut parent = None;
        let mut node = 0;
        for container in path {
            node = self.survey.paths.keyless_child(node, container);
            parent = Some(match self.living_instance(node) {
                Some(instance) => instance,
                None => self.create(node, container, parent, &[], None, &[])?,
            });
        }
        Ok(())
    }

    /// Ends a container: its children, its states, and then the container. If it holds incomplete
    /// links, it ends later.
    pub(crate) fn destroy(&mut self, number: usize) -> io::Result<()> {
        let instance = self.instances.get_mut(number);
        if !instance.is_alive {
            return Ok(());
        }
        if instance.open_links > 0 {
            instance.ends_with_links = true;
            return Ok(());
        }
        let children: Vec<usize> = instance.children.values().copied().collect();
        let mut waits = false;
        for child in children.into_iter().rev() {
            self.destroy(child)?;
            waits |= self.instances.get(child).is_alive;
        }
        if waits {
            // It ends together with the child that still holds a link, or at the end of the run.
            return Ok(());
        }
        for slot in 0..self.model.containers[self.instances.get(number).container].states.len() {
            let stack = self.instances.stack(number, slot);
            while !self.instances.stacks[stack].values.is_empty() {
                self.pop(stack)?;
            }
        }
        let container = self.instances.get(number).id;
        self.instances.end(number);
        self.emit(&PajeEvent::DestroyContainer { time: self.time, container })
    }

    fn living_instance(&self, node: PathNode) -> Option<usize> {
        let instance = self.instances.instance_at(node)?;
        self.instances.get(instance).is_alive.then_some(instance)
    }

    fn steps(
        &mut self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
    ) -> (SmallVec<[PathStep; 4]>, SmallVec<[KeyPart; 4]>) {
        let mut steps = SmallVec::new();
        let mut keys = SmallVec::new();
        self.survey.paths.follow(target, scope, &mut self.scratch, self.symbols, |node, container, parts| {
            keys.extend_from_slice(parts);
            steps.push(PathStep { node, container, key_count: keys.len() });
        });
        (steps, keys)
    }

    fn create(
        &mut self,
        node: PathNode,
        container: usize,
        parent: Option<usize>,
        keys: &[KeyPart],
        scope: Option<&RecordScope<'_>>,
        related_containers: &[(&str, ContainerId)],
    ) -> io::Result<usize> {
        let model = self.model;
        let kind = &model.containers[container];
        let owner = self.owner(container, keys);
        let ContainerName { text: name, label_bytes } = self.name(node, container, keys, scope);
        let number = self.instances.add(node, container, parent, &kind.states);
        self.counts.containers += 1;
        let time = self.time;
        let id = self.instances.get(number).id;
        if kind.distinctness.is_some() {
            let is_outer = kind.parent.is_none_or(|parent| model.containers[parent].distinctness.is_none());
            self.ends.note(owner, kind.is_stream, is_outer, ContainerRef { number, id });
        }
        let parent_id = parent.map_or(ContainerId::ROOT, |parent| self.instances.get(parent).id);
        {
            let fields = self.survey.names.get(&node).map_or(&[][..], |fields| fields);
            let fields: SmallVec<[(&str, RuleValue); 8]> =
                fields.iter().map(|(name, key)| (name.as_str(), key.value())).collect();
            let mut scratch = String::new();
            let mut extra = SinkExtras::new();
            fill(&mut extra, EntityExtras { fields: &fields, related_containers }, &mut scratch, self.symbols);
            self.counts.paje_events += 1;
            self.sink.event(&PajeEvent::CreateContainer {
                time,
                container: id,
                ty: kind.ty,
                parent: parent_id,
                name: &name,
                extra: &extra,
            })?;
        }
        if let KeyPart::Of { process, .. } = owner
            && process != NO_PROCESS
        {
            self.sink.own_container(id, process, &name[..label_bytes])?;
        }
        for ty in &kind.counters {
            let event = PajeEvent::Variable { time, container: id, ty: *ty, op: VariableOp::Set, value: 0.0 };
            self.emit(&event)?;
        }
        Ok(number)
    }

    /// The process and thread to which a container with these keys belongs. [`KeyPart::None`] if
    /// its type belongs to none.
    fn owner(&self, container: usize, keys: &[KeyPart]) -> KeyPart {
        let kind = &self.model.containers[container];
        let owner = keys.len().checked_sub(kind.keys.len() + 1).and_then(|index| keys.get(index)).copied();
        owner.filter(|_| kind.distinctness.is_some()).unwrap_or(KeyPart::None)
    }

    /// Fills the placeholders of a container's pattern with keys of its path, fields of
    /// `create … with`, and facts of the stream.
    fn name(
        &self,
        node: PathNode,
        container: usize,
        keys: &[KeyPart],
        scope: Option<&RecordScope<'_>>,
    ) -> ContainerName {
        let kind = &self.model.containers[container];
        let mut names: Vec<&str> = Vec::new();
        let mut holder = Some(container);
        while let Some(container) = holder {
            let kind = &self.model.containers[container];
            let referent = kind.distinctness.map(|_| "");
            names.splice(0..0, referent.into_iter().chain(kind.keys.iter().map(String::as_str)));
            holder = kind.parent;
        }
        let fields = self.survey.names.get(&node).map_or(&[][..], |fields| fields);
        let owner = self.owner(container, keys);
        let mut text = String::new();
        for piece in &kind.pattern {
            let (hole, format) = match piece {
                PatternPiece::Text(literal) => {
                    text.push_str(literal);
                    continue;
                }
                PatternPiece::Name(hole, _) if hole == PROCESS_NAME => {
                    if let KeyPart::Of { process, .. } = owner {
                        text.push_str(&self.plan.run().process_name(process as usize));
                    }
                    continue;
                }
                PatternPiece::Name(hole, format) => (hole, *format),
                PatternPiece::Expr(..) => continue,
            };
            // The innermost key of that name applies.
            let key = names.iter().rposition(|name| name == hole).and_then(|index| keys.get(index));
            let key = key.or_else(|| fields.iter().find(|(name, _)| name == hole).map(|(_, key)| key));
            let val = match (key, builtin_key(hole), scope) {
                (Some(key), _, _) => key.value(),
                (None, Some(builtin), Some(scope)) => match self.model.referents.stream_of(owner) {
                    Some(stream) => RecordScope { stream, ..*scope }.builtin(builtin),
                    None => scope.builtin(builtin),
                },
                _ => RuleValue::None,
            };
            placeholder::append(val, format, "", self.symbols, &mut text);
        }
        if text.is_empty() {
            text.push_str(&kind.name);
        }
        let label_bytes = text.len();
        if let KeyPart::Of { process, thread } = owner
            && let Some(suffix) = self.label_suffixes.get(LabelKey { container, process, thread })
        {
            text.push_str(suffix);
        }
        ContainerName { text, label_bytes }
    }
}
