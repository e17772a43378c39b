//! A filter of a library user: states shorter than a threshold are shown as the value "short".
//!
//! It implements [`FilterLayer`] and overrides the queries with different answers. The inner source
//! answers all other queries. Views, statistics and other filters use it like a trace.
//!
//! ```sh
//! cargo run -p tumit-viewer --example own_filter -- run.tmt 100us short.svg
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use tumit_paje::time_text;
use tumit_viewer::OpenOptions;
use tumit_viewer::export::{self, ImageFormat};
use tumit_viewer::filter::{FilterChain, FilterLayer};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{
    EntityFacts, EntityId, EntityList, MixtureCell, MixtureCells, PajeTypeKind, QueryError, StateEntity, StateLaneId,
    TimeRange, TimelineSource, TypeModel, ValueId, ValueInfo, entity_walk,
};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::style::theme::rgb;

struct ShortStates {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    /// The new value of each type.
    short_values: Vec<Option<ValueId>>,
    nanos: i64,
}

impl ShortStates {
    fn new(inner: Arc<dyn TimelineSource>, nanos: i64) -> Self {
        let mut model = inner.model().as_ref().clone();
        let mut short_values = vec![None; model.types.len()];
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            // Ids of a source within keep their meaning; new ones come after them.
            let id = ValueId(u32::try_from(model.values.len()).unwrap_or(u32::MAX));
            model.values.push(ValueInfo {
                id,
                ty: ty.id,
                name: "short".to_owned(),
                color: rgb(0x0055_5b64),
                style: ty.style,
                category: None,
            });
            short_values[ty.id.index()] = Some(id);
        }
        Self { inner, model: Arc::new(model), short_values, nanos }
    }

    fn change_value(&self, lane: StateLaneId, mut state: StateEntity) -> StateEntity {
        if state.life.to.0 - state.life.from.0 < self.nanos {
            state.value = self.short_values[lane.ty.index()].unwrap_or(state.value);
        }
        state
    }
}

impl FilterLayer for ShortStates {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::clone(&self.model)
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let listed = self.inner.states(lane, time_range, limit)?;
        let items = listed.items.into_iter().map(|state| self.change_value(lane, state)).collect();
        Ok(EntityList { total: listed.total, items })
    }

    /// Sums of values do not contain the durations of states, so this reads each state.
    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        let mut cells = Vec::new();
        for &lane in lanes {
            for column in (0..columns).map(|at| time_range.column(at, columns)) {
                let mut cell = MixtureCell::default();
                entity_walk::states(self.inner_source(), lane, column, |state| {
                    let state = self.change_value(lane, *state);
                    let nanos = state.life.to.0.min(column.to.0) - state.life.from.0.max(column.from.0);
                    match cell.shares.iter_mut().find(|share| share.0 == state.value) {
                        Some(share) => share.1 += nanos,
                        None => cell.shares.push((state.value, nanos)),
                    }
                    Ok(())
                })?;
                cell.shares.retain(|share| share.1 > 0);
                cell.shares.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
                cells.push(cell);
            }
        }
        Ok(MixtureCells { columns, cells })
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let mut facts = self.inner.facts(id)?;
        if matches!(id, EntityId::State(_)) && facts.life.to.0 - facts.life.from.0 < self.nanos {
            facts.name = "short".to_owned();
        }
        Ok(facts)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, trace, threshold, image] = args.as_slice() else {
        return Err("usage: own_filter TRACE THRESHOLD IMAGE.svg".into());
    };
    let format = ImageFormat::of(Path::new(image))?;
    let trace = tumit_viewer::open(Path::new(trace), &OpenOptions::default())?;
    let short: Arc<dyn TimelineSource> = Arc::new(ShortStates::new(trace, time_text::parse(threshold)?));
    // Other filters accept it like a trace.
    let chain: FilterChain = ["bright short".parse()?].into_iter().collect();
    let source = chain.apply(short)?;
    let outline = ContainerOutline::new(source.as_ref())?;
    let time_range = source.extent();
    let of = DocumentOptions { time_range, width: 1600.0, height: None, resolution: 1.0, titles: true };
    let scene = document(source.as_ref(), &outline, &LayoutOptions::default(), of)?;
    export::save(&scene, format, 1.0, Path::new(image))?;
    Ok(())
}
