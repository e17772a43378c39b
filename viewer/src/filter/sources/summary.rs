//! The summary of a filtered source: what it holds, counted through its own lists.

use crate::query::walk::EVER;
use crate::query::{Lane, QueryError, Summary, TimelineSource, TypeKind};

/// The summary of a source within, with the numbers of the one around it. Costs a question per lane; whoever asks keeps it.
pub(crate) fn summary(source: &dyn TimelineSource, within: Summary) -> Summary {
    let mut summary = Summary { extent: source.extent(), ..within };
    // A source that cannot count its own entities keeps the numbers from within.
    if let Ok([containers, states, events, links, samples]) = counts(source) {
        summary = Summary { containers, states, events, links, samples, ..summary };
    }
    summary
}

fn counts(source: &dyn TimelineSource) -> Result<[u64; 5], QueryError> {
    let (model, list) = (source.model(), source.containers());
    let [mut states, mut events, mut links, mut samples] = [0; 4];
    for ty in &model.types {
        match ty.kind {
            TypeKind::Container => {}
            TypeKind::Link { .. } => links += source.links(ty.id, EVER, 0)?.total,
            TypeKind::State => {
                for info in list.iter() {
                    for depth in 0..source.depths(info.id, ty.id) {
                        states += source.states(Lane { container: info.id, ty: ty.id, depth }, EVER, 0)?.total;
                    }
                }
            }
            TypeKind::Event => {
                for info in list.iter() {
                    events += source.events(info.id, ty.id, EVER, 0)?.total;
                }
            }
            TypeKind::Variable => {
                for info in list.iter() {
                    samples += source.samples(info.id, ty.id, EVER, 0)?.total;
                }
            }
        }
    }
    Ok([list.len().saturating_sub(1) as u64, states, events, links, samples])
}
