//! The summary of a filtered source: the number of its entities, counted with its own lists.

use crate::query::entity_walk::EVER;
use crate::query::{PajeTypeKind, QueryError, StateLaneId, TimelineSource, TraceSummary};

/// The summary of the inner source, with the numbers of the outer one. It costs one query per lane,
/// so callers cache it.
pub(crate) fn summary(source: &dyn TimelineSource, inner_summary: TraceSummary) -> TraceSummary {
    let mut summary = TraceSummary { extent: source.extent(), ..inner_summary };
    // A source that cannot count its own entities keeps the numbers of the inner one.
    if let Ok([containers, states, events, links, samples]) = counts(source) {
        summary = TraceSummary { containers, states, events, links, samples, ..summary };
    }
    summary
}

fn counts(source: &dyn TimelineSource) -> Result<[u64; 5], QueryError> {
    let (model, list) = (source.model(), source.containers());
    let [mut states, mut events, mut links, mut samples] = [0; 4];
    for ty in &model.types {
        match ty.kind {
            PajeTypeKind::Container => {}
            PajeTypeKind::Link { .. } => links += source.links(ty.id, EVER, 0)?.total,
            PajeTypeKind::State => {
                for info in list.iter() {
                    for depth in 0..source.depths(info.id, ty.id) {
                        states += source.states(StateLaneId { container: info.id, ty: ty.id, depth }, EVER, 0)?.total;
                    }
                }
            }
            PajeTypeKind::Event => {
                for info in list.iter() {
                    events += source.events(info.id, ty.id, EVER, 0)?.total;
                }
            }
            PajeTypeKind::Variable => {
                for info in list.iter() {
                    samples += source.samples(info.id, ty.id, EVER, 0)?.total;
                }
            }
        }
    }
    Ok([list.len().saturating_sub(1) as u64, states, events, links, samples])
}
