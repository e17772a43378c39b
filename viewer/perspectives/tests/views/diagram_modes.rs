//! The modes of the diagram keep the rows of a trace, and show the categories, tasks, messages and
//! the path of its units.

use std::sync::Arc;

use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::draw::PaletteKind;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::query::{EntityId, PajeTypeKind, RgbColor, StateLaneId, TimelineSource, TypeId, TypeInfo};
use tumit_viewer::store::TraceStore;

/// Two ranks on a node. `b` waits for a message of `a`, and then works.
fn trace() -> Arc<dyn TimelineSource> {
    let text = format!(
        "{}0 N 0 Node\n0 R N Rank\n2 A R Activity\n4 M 0 R R Message\n6 0 n 0 N n\n6 0 a n R a\n6 0 b n R b\n\
         11 0 a A work\n11 0 b A wait\n11 4 a A send\n15 4 0 M a m k\n11 5 a A wait\n16 6 0 M b m k\n\
         11 6 b A work\n7 10 R a\n7 10 R b\n7 10 N n\n",
        include_str!("../../../tests/header.paje")
    );
    Arc::new(TraceStore::from_paje("two ranks", text.as_bytes()).unwrap())
}

/// The types of a kind that only the mode has.
fn added(source: &dyn TimelineSource, mode: &dyn TimelineSource, is_kind: fn(&TypeInfo) -> bool) -> Vec<TypeInfo> {
    let first = source.model().types.len();
    mode.model().types[first..].iter().filter(|ty| is_kind(ty)).cloned().collect()
}

fn is_state(ty: &TypeInfo) -> bool {
    ty.kind == PajeTypeKind::State
}

#[test]
fn the_rows_stay_and_their_states_are_categories() {
    let source = trace();
    let units = Execution::new(Arc::clone(&source), ExecutionSettings::default()).unwrap();
    let level = DiagramMode::UtilizationGantt.row_level(&units);
    let mut settings = ExecutionSettings::default();
    settings.units.level = level.or_else(|| Some(units.model().types[units.units().ty.index()].name.clone()));
    let rows = Execution::new(Arc::clone(&source), settings).unwrap();
    let mode = DiagramMode::UtilizationGantt
        .with_mode(&source, (&units, &rows), source.extent(), PaletteKind::Standard)
        .unwrap();
    assert_eq!(mode.containers(), source.containers());
    let model = mode.model();
    let ty = added(source.as_ref(), mode.as_ref(), is_state).remove(0);
    for (unit, info) in rows.units().list().iter().enumerate() {
        let lane = StateLaneId { container: info.container, ty: ty.id, depth: 0 };
        let states = mode.states(lane, source.extent(), usize::MAX).unwrap();
        assert!(states.total > 0 && mode.depths(info.container, ty.id) == 1);
        for state in &states.items {
            let category = rows.activity().unwrap().at(unit, state.life.from.0);
            assert_eq!(model.values[state.value.index()].name, category.word());
            let facts = mode.facts(state.id).unwrap();
            assert_eq!(
                (facts.container, facts.life, facts.name.as_str()),
                (info.container, state.life, category.word())
            );
        }
        // The mixtures are those of the states.
        let times = mode.times(&[lane], source.extent()).unwrap();
        let sum: i64 = states.items.iter().map(|state| state.life.to.0 - state.life.from.0).sum();
        assert_eq!(times.iter().map(|time| time.1).sum::<i64>(), sum);
        // The states of the trace are replaced.
        for old in source.model().types.iter().filter(|ty| is_state(ty)) {
            assert_eq!(mode.depths(info.container, old.id), 0);
        }
    }
}

#[test]
fn the_path_is_drawn_over_the_states() {
    let source = trace();
    let units = Execution::new(Arc::clone(&source), ExecutionSettings::default()).unwrap();
    let mode =
        DiagramMode::CriticalPath.with_mode(&source, (&units, &units), source.extent(), PaletteKind::Standard).unwrap();
    let ty = added(source.as_ref(), mode.as_ref(), is_state).remove(0);
    let mut path = 0;
    for info in units.units().list() {
        let lane = StateLaneId { container: info.container, ty: ty.id, depth: 0 };
        if mode.depths(info.container, ty.id) > 0 {
            path += mode.states(lane, source.extent(), usize::MAX).unwrap().total;
        }
    }
    assert!(path > 0);
    for old in source.model().types.iter().filter(|ty| is_state(ty)) {
        for info in source.containers().iter() {
            assert_eq!(mode.depths(info.id, old.id), source.depths(info.id, old.id));
        }
    }
    // The messages connect the containers of the trace.
    for ty in added(source.as_ref(), mode.as_ref(), |ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        let links = mode.links(ty.id, source.extent(), usize::MAX).unwrap();
        assert_eq!(links.items.len(), units.messages().unwrap().list().len());
        for link in &links.items {
            let ends = [link.start, link.end].map(|id| source.containers().iter().any(|info| info.id == id));
            assert_eq!(ends, [true, true]);
            assert!(matches!(link.id, EntityId::Link(_)) && mode.facts(link.id).is_ok());
        }
    }
}

#[test]
fn the_palette_determines_the_colours_of_all_modes() {
    let text = format!(
        "{}0 R 0 Rank\n2 A R \"Task phase\"\n5 w A work \"0.8 0.1 0.1\"\n4 M 0 R R Message\n6 0 a 0 R a\n\
         6 0 b 0 R b\n11 0 a A w\n11 0 b A w\n15 4 0 M a m k\n16 6 0 M b m k\n7 10 R a\n7 10 R b\n",
        include_str!("../../../tests/header.paje")
    );
    let source: Arc<dyn TimelineSource> = Arc::new(TraceStore::from_paje("tasks", text.as_bytes()).unwrap());
    let units = Execution::new(Arc::clone(&source), ExecutionSettings::default()).unwrap();
    let colors = |mode: DiagramMode, palette: PaletteKind| -> Vec<RgbColor> {
        let shown = mode.with_mode(&source, (&units, &units), source.extent(), palette).unwrap();
        let model = shown.model();
        let is_state = |ty: TypeId| model.types[ty.index()].kind == PajeTypeKind::State;
        // The states of the trace stay below the critical path.
        let first = source.model().values.len();
        let is_shown = |ty: TypeId, index: usize| index >= first || mode == DiagramMode::CriticalPath && is_state(ty);
        let values = model.values.iter().enumerate().filter(|(index, value)| is_shown(value.ty, *index));
        values.map(|(_, value)| value.color).collect()
    };
    let is_grey = |color: &RgbColor| color.red == color.green && color.green == color.blue;
    for mode in DiagramMode::ALL {
        let standard = colors(mode, PaletteKind::Standard);
        assert!(!standard.iter().all(is_grey), "{mode:?}: {standard:?}");
        let greys = colors(mode, PaletteKind::Monochrome);
        // The colour of messages off the path and those of the theme's ink are nearly grey.
        let spread = |color: &RgbColor| {
            let channels = [color.red, color.green, color.blue];
            channels.into_iter().max().unwrap() - channels.into_iter().min().unwrap()
        };
        assert!(greys.iter().all(|color| spread(color) < 24), "{mode:?}: {greys:?}");
    }
    let (standard, lights) = [PaletteKind::Standard, PaletteKind::TrafficLights]
        .map(|palette| colors(DiagramMode::UtilizationGantt, palette))
        .into();
    assert_ne!(standard, lights);
}
