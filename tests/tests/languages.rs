//! The central promise of the recorders: the same calls in C, C++, Fortran and Rust give the same records, byte for byte but for
//! dates, source positions and the ids of processes and threads.

use std::path::Path;

use tests::lang::c::{C99, CXX11, record};
use tests::lang::fortran::GFORTRAN;
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;
use tumit::codegen::{Backend, Options, c::C};

/// The runs of a driver in C, C++ and Fortran, and that of the same driver in Rust, for the spec in `tests/cases/NAME`.
fn runs(name: &str, rust: &str, environment: &[(&str, &str)]) -> Vec<ProcessFile> {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name);
    let text = std::fs::read_to_string(case.join("spec.tumit")).expect("the case has a spec");
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", &text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = C.generate(&spec, &Options::default()).expect("a header").0.remove(0);
    std::fs::write(folder.path().join(&header.name), &header.text).expect("a writable folder");
    let include = format!("-I{}", folder.path().display());
    let mut runs = vec![record(Path::new(rust), folder.path(), "rust.tmt", environment)];
    for (compiler, run) in [(C99, "c.tmt"), (CXX11, "cxx.tmt")] {
        let program = folder.path().join(run).with_extension("program");
        compiler.compile(&[&case.join("drive.c")], &program, &[&include]).unwrap_or_else(|error| panic!("{error}"));
        runs.push(record(&program, folder.path(), run, environment));
    }
    let driver = std::fs::read_to_string(case.join("drive.f90")).expect("the case has a driver in Fortran");
    let program = GFORTRAN.build(folder.path(), &text, &driver).unwrap_or_else(|error| panic!("{error}"));
    runs.push(record(&program, folder.path(), "fortran.tmt", environment));
    let mut files: Vec<ProcessFile> = runs.iter().flat_map(|run| read(run)).collect();
    assert_eq!(files.len(), 4, "one file for each language");
    files.sort_by_key(|file| file.process[&tag::WRITER].clone());
    files
}

/// All that must not differ, a line per record.
fn essence(file: &ProcessFile) -> Vec<String> {
    let records = file.records.iter().flat_map(|(stream, records)| records.iter().map(move |record| (stream, record)));
    records.map(|(stream, record)| format!("{stream} {} {:02x?}", record.text, record.bytes)).collect()
}

fn assert_alike(files: &[ProcessFile]) {
    let (rust_file, others) = files.split_last().expect("four files");
    assert!(rust_file.process[&tag::WRITER].starts_with(b"rust "));
    for other in others {
        assert!(other.process[&tag::WRITER].starts_with(b"c "));
        let (ours, theirs) = (essence(other), essence(rust_file));
        for (line, (c, rust)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(c, rust, "record {line}: C on the left, Rust on the right");
        }
        assert_eq!(ours.len(), theirs.len());
        let mut schemas = [other.schemas.clone(), rust_file.schemas.clone()];
        for (_, schema) in schemas.iter_mut().flatten() {
            schema.sources.iter_mut().for_each(|source| source.path.clear());
        }
        assert_eq!(schemas[0], schemas[1], "the same schema, but for the path of the spec");
        assert_eq!(other.totals(), rust_file.totals());
        for tag in [tag::CLOCK_KIND, tag::CLOCK_DOMAIN, tag::HOST, tag::CLOCK_HZ] {
            assert_eq!(other.process.get(&tag), rust_file.process.get(&tag), "tag {tag} of the process");
        }
        assert_eq!(other.thread_name(0), rust_file.thread_name(0));
    }
}

#[test]
fn every_type_is_recorded_alike() {
    let files = runs("types", env!("CARGO_BIN_EXE_drive-types"), &[]);
    assert_alike(&files);
    assert_eq!(files[0].totals(), (28, 0));
    assert!(files.iter().all(|file| file.strings == files[0].strings), "the same ids for the same strings");
}

#[test]
fn levels_are_switched_alike() {
    for levels in [
        "all=off",
        "ALL=off,QUIET=on",
        "types.loud=off, quiet = true",
        "other.LOUD=off",
        "all=off,all=1",
        "all=OFF,loud",
    ] {
        let files = runs("types", env!("CARGO_BIN_EXE_drive-types"), &[("TUMIT_LEVELS", levels)]);
        assert_alike(&files);
    }
}

#[test]
fn ranks_and_jobs_are_told_alike() {
    let environment = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "8"), ("PMIX_NAMESPACE", "job 7")];
    let files = runs("types", env!("CARGO_BIN_EXE_drive-types"), &environment);
    for file in &files {
        assert_eq!((file.process_integer(tag::RANK), file.process_integer(tag::RANKS)), (Some(3), Some(8)));
        assert_eq!(file.process[&tag::JOB], b"job 7");
        let name = file.path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("r00003-"), "{name}");
    }
}
