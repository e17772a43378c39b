//! The variables of groups: a variable that several members have is summed over them.

use std::sync::Arc;

use super::group_source::GroupSource;
use super::group_variable::GroupVariable;
use crate::filter::language::ast::ReduceOperation;
use crate::filter::sources::entity_filter;
use crate::filter::sources::function_pieces::{MEMORY_LIMIT, OwnedPiece, PieceFold, PieceMemory, PieceMerge};
use crate::filter::sources::reduce::reduce_input::{MAX_ENTITIES, samples};
use crate::query::{ContainerId, ContainerInfo, EntityFacts, EntityId, PajeTypeKind, QueryError, TypeId, entity_walk};

impl GroupSource {
    /// Sums the variables that several members of a group have.
    pub(super) fn sum_variables(&mut self) -> Result<(), QueryError> {
        let (model, memory) = (Arc::clone(&self.model), PieceMemory::new(MEMORY_LIMIT));
        for info in self.list.iter() {
            let Some(group) = self.groups.get(&info.id) else { continue };
            for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Variable) {
                let any = |member: &&ContainerInfo| {
                    self.inner.samples(member.id, ty.id, entity_walk::EVER, 0).is_ok_and(|list| list.total > 0)
                };
                let members_with_samples: Vec<ContainerId> =
                    group.members.iter().filter(any).map(|member| member.id).collect();
                if members_with_samples.len() < 2 {
                    continue;
                }
                let size = (MAX_ENTITIES / members_with_samples.len()).clamp(16, 4096);
                let lists =
                    members_with_samples.iter().map(|&member| samples(self.inner.as_ref(), 0, member, ty.id, size));
                let mut merge = PieceMerge::new(lists.collect())?;
                let mut fold = PieceFold::new(ReduceOperation::Sum, entity_walk::EVER, None, &memory);
                while let Some(OwnedPiece { piece, .. }) = merge.next()? {
                    fold.add(&piece)?;
                }
                let (container, base, steps) = (info.id, self.free_numbers.sample, fold.finish()?);
                self.free_numbers.sample = base.saturating_add(steps.len() as u32);
                self.sums.push(GroupVariable { container, ty: ty.id, base, steps });
            }
        }
        self.sums.sort_by_key(|sum| (sum.container, sum.ty));
        Ok(())
    }

    /// The sum of a variable over the members of a group, if several members have it.
    pub(super) fn sum(&self, container: ContainerId, ty: TypeId) -> Option<&GroupVariable> {
        let index = self.sums.binary_search_by_key(&(container, ty), |sum| (sum.container, sum.ty)).ok()?;
        Some(&self.sums[index])
    }

    /// The first member of a group with samples of a variable. It is called only if at most one has
    /// any.
    pub(super) fn only_member(&self, members: &[ContainerInfo], ty: TypeId) -> Option<ContainerId> {
        let any = |member: &&ContainerInfo| {
            self.inner.samples(member.id, ty, entity_walk::EVER, 0).is_ok_and(|list| list.total > 0)
        };
        members.iter().find(any).map(|member| member.id)
    }

    /// The facts of a sample of a sum.
    pub(super) fn facts_of_sum(&self, number: u32) -> Option<EntityFacts> {
        let sum = self.sums.iter().find(|sum| (sum.base..sum.base + sum.steps.len() as u32).contains(&number))?;
        let piece = sum.steps.piece((number - sum.base) as usize).ok()?;
        let name = self.model.types.get(sum.ty.index()).map_or_else(String::new, |ty| ty.name.clone());
        Some(EntityFacts {
            id: EntityId::Sample(number),
            name: piece.value.to_string(),
            type_path: vec![name],
            container_path: self.path(sum.container),
            container: sum.container,
            life: piece.life(),
            fields: vec![("sum over".to_owned(), format!("{} containers", self.groups[&sum.container].members.len()))],
            source: None,
        })
    }

    /// Whether these are the facts of a sample that is part of a sum.
    pub(super) fn is_summed_sample(&self, facts: &EntityFacts) -> bool {
        let group = self.group_of(facts.container);
        let ty = entity_filter::type_of(&self.model, facts);
        ty.is_some_and(|ty| self.sum(group, ty).is_some())
    }
}
