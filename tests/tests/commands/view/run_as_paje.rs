//! A run that is opened directly and its Pajé file show the same: every row, every field, every
//! relation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tests::programs::{molecular_dynamics, succeed, tumit};
use tumit_viewer::query::{EntityId, GlobalNanos, PajeTypeKind, StateLaneId, TimeRange, TimelineSource};
use tumit_viewer::{IndexChoice, OpenOptions};

fn open(path: &Path) -> Arc<dyn TimelineSource> {
    tumit_viewer::open(path, &OpenOptions::default()).expect("it is there and good")
}

fn rows(source: &dyn TimelineSource) -> Vec<String> {
    let mut out = Vec::new();
    tumit_viewer::text::entity_rows::write(source, &mut out).expect("memory takes it");
    let mut rows: Vec<String> = String::from_utf8(out).expect("rows are text").lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

fn entities(source: &dyn TimelineSource) -> Vec<EntityId> {
    let ever = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };
    let (model, containers) = (source.model(), source.containers());
    let mut all: Vec<EntityId> = containers.iter().map(|container| EntityId::Container(container.id)).collect();
    for ty in &model.types {
        for container in containers.iter().map(|container| container.id) {
            for depth in 0..source.depths(container, ty.id) {
                let lane = StateLaneId { container, ty: ty.id, depth };
                all.extend(source.states(lane, ever, usize::MAX).unwrap().items.iter().map(|state| state.id));
            }
            if ty.kind == PajeTypeKind::Event {
                all.extend(source.events(container, ty.id, ever, usize::MAX).unwrap().items.iter().map(|mark| mark.id));
            }
        }
        if matches!(ty.kind, PajeTypeKind::Link { .. }) {
            all.extend(source.links(ty.id, ever, usize::MAX).unwrap().items.iter().map(|link| link.id));
        }
    }
    all
}

/// The description of each entity with its number of occurrences: its place, timestamps, fields,
/// and related entities.
fn answers(source: &dyn TimelineSource) -> BTreeMap<String, u32> {
    let short = |id: EntityId| {
        let facts = source.facts(id).expect("it is of this source");
        format!("{} {} {:?} {:?}", facts.type_path.join("/"), facts.name, facts.container_path, facts.life)
    };
    let mut answers = BTreeMap::new();
    for id in entities(source) {
        let facts = source.facts(id).expect("it is of this source");
        let mut related: Vec<String> =
            source.related_entities(id, usize::MAX).expect("it is of this source").into_iter().map(short).collect();
        related.sort();
        let text = format!("{}: {:?} {:?} related to {related:?}", short(id), facts.fields, facts.source);
        *answers.entry(text).or_default() += 1;
    }
    answers
}

#[test]
fn a_run_and_its_paje_file_give_the_same_answers() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.tmt");
    let paje = dir.path().join("run.paje");
    succeed(molecular_dynamics().args(["--steps", "3", "--placement", "random"]).env("TUMIT_TRACE", &run));
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    let (recorded_source, written_source) = (open(&run), open(&paje));
    assert!(
        recorded_source.summary().is_intact() && written_source.summary().is_intact(),
        "{:?}",
        written_source.summary().diagnostics
    );
    let (a, b) = (rows(recorded_source.as_ref()), rows(written_source.as_ref()));
    assert!(a.len() > 1000);
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b);
    }
    assert_eq!(a.len(), b.len());
    let (a, b) = (answers(recorded_source.as_ref()), answers(written_source.as_ref()));
    assert!(a.keys().any(|text| text.contains("waits for")), "relations are there");
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b);
    }
    assert_eq!(a.len(), b.len());
}

#[test]
fn an_index_gives_the_same_answers_as_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let (run, index) = (dir.path().join("run.tmt"), dir.path().join("run.tmtx"));
    succeed(molecular_dynamics().args(["--steps", "3", "--placement", "random"]).env("TUMIT_TRACE", &run));
    let build_index = || {
        let output = tumit().arg("index").arg(&run).arg("--index").arg(&index).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(build_index().contains("run.tmtx: made"));
    assert!(build_index().contains("run.tmtx: is there already"));
    let mut options = OpenOptions::default();
    options.index = IndexChoice::At(index.clone());
    let (read, indexed) = (open(&run), tumit_viewer::open(&run, &options).unwrap());
    assert_eq!(read.summary(), indexed.summary());
    assert_eq!(rows(read.as_ref()), rows(indexed.as_ref()));
    assert_eq!(answers(read.as_ref()), answers(indexed.as_ref()));
    let image = |choice: &Path, name: &str| {
        let file = dir.path().join(name);
        succeed(tumit().arg("view").arg(&run).arg("--index").arg(choice).arg("-o").arg(&file));
        std::fs::read(file).unwrap()
    };
    assert!(image(&index, "indexed.svg") == image(Path::new("none"), "read.svg"));
}
