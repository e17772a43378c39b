//! The Fortran module, compiled and run: both standards that it promises, and records that decode.

use tests::lang::c::{folder, record};
use tests::lang::fortran::{Compiler, F2018, GFORTRAN};
use tests::run::{ProcessFile, read};

const TYPES: &str = include_str!("../cases/types/spec.tumit");
const DRIVE_TYPES: &str = include_str!("../cases/types/drive.f90");

fn only(run: &std::path::Path) -> ProcessFile {
    let mut files = read(run);
    assert_eq!(files.len(), 1, "one process, one file");
    files.remove(0)
}

#[test]
fn every_standard_compiles_clean_and_records_the_same() {
    let mut all = Vec::new();
    for compiler in [GFORTRAN, Compiler { standard: F2018, ..GFORTRAN }] {
        let folder = folder();
        let program = compiler.build(folder.path(), TYPES, DRIVE_TYPES).unwrap_or_else(|error| panic!("{error}"));
        let file = only(&record(&program, folder.path(), "run.tmt", &[]));
        assert_eq!(file.totals(), (28, 0));
        all.push(file.texts());
    }
    assert_eq!(all[0], all[1]);
}
