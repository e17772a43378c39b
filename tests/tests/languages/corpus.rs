//! The central guarantee of the recorders: the same calls in Rust, C, C++ and Fortran give the same
//! records, byte for byte except timestamps and ids, for every case in `cases/`.
//!
//! `CASE=spans cargo test -p tests --test languages corpus` runs the cases with this text in their
//! name, and `LANGUAGE=fortran` compares that language alone with Rust. `UPDATE_EXPECT=1` rewrites
//! expected listings: check the difference before you commit.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tests::corpus::compare::LanguageRun;
use tests::corpus::coverage::{covered_features, required_features};
use tests::corpus::{CorpusCase, case_outputs, cases};
use tests::lang::c::{C99, CCompiler, CXX11, record};
use tests::lang::fortran::{FortranCompilers, GFORTRAN};
use tests::lang::rust;
use tumit::codegen::c::CBackend;
use tumit::codegen::fortran::FortranBackend;

const C11: CCompiler = CCompiler { command: "clang", flags: &["-std=c11", "-D_GNU_SOURCE"] };
const CXX17: CCompiler = CCompiler { command: "clang++", flags: &["-std=c++17", "-x", "c++"] };
/// Languages, dialects and compilers of the drivers in C and C++.
const DIALECTS: [(&str, &str, CCompiler); 4] =
    [("c", "c99 gcc", C99), ("c", "c11 clang", C11), ("c++", "c++11 g++", CXX11), ("c++", "c++17 clang++", CXX17)];
/// The dialect that is optimised. The other dialects are compared with it.
const OPTIMISED: &str = "c99 gcc";
/// Fortran with a C file that uses the recorder of another file.
const FORTRAN_EXTERN: FortranCompilers =
    FortranCompilers { optimisation: "-O0", c_flags: &["-DTUMIT_EXTERN"], ..GFORTRAN };

/// The total time of each language, over all cases and threads.
#[derive(Default)]
struct CompileTimes(Mutex<BTreeMap<&'static str, Duration>>);

impl CompileTimes {
    fn of<T>(&self, language: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        *self.0.lock().expect("no panic inside").entry(language).or_default() += started.elapsed();
        result
    }
}

#[test]
fn the_same_calls_give_the_same_records_in_every_language() {
    let selected = std::env::var("CASE").unwrap_or_default();
    let cases: Vec<CorpusCase> = cases().into_iter().filter(|case| case.name.contains(&selected)).collect();
    assert!(!cases.is_empty(), "no case has `{selected}` in its name");
    let (next, times, failures) = (AtomicUsize::new(0), CompileTimes::default(), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = catch_unwind(AssertUnwindSafe(|| check(case, &times)));
            let failed = match result {
                Ok(failed) => failed,
                Err(panic) => vec![message(panic.as_ref())],
            };
            if !failed.is_empty() {
                failures.lock().expect("no panic inside").insert(case.name.clone(), failed.join("\n"));
            }
        }
    };
    let started = Instant::now();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    println!("{} cases in {:.1?} on {threads} threads", cases.len(), started.elapsed());
    for (language, time) in times.0.into_inner().expect("no panic inside") {
        println!("  {language}: {time:.1?}");
    }
    let failures = failures.into_inner().expect("no panic inside");
    let report: Vec<String> = failures.iter().map(|(case, failed)| format!("---- {case}\n{failed}")).collect();
    assert!(report.is_empty(), "{} of {} cases fail\n{}", report.len(), cases.len(), report.join("\n"));
}

#[test]
fn every_feature_of_the_language_is_in_some_case() {
    let covered: BTreeSet<String> = cases().iter().flat_map(covered_features).collect();
    let missing: Vec<String> = required_features().difference(&covered).cloned().collect();
    assert!(missing.is_empty(), "no case has {}", missing.join("; "));
}

#[test]
fn each_case_has_drivers_a_spec_and_an_expected_dump() {
    let all = cases();
    assert!(all.len() >= 40, "{} cases", all.len());
    let mut lacking = Vec::new();
    for case in &all {
        let drivers = [("rust", "drive.rs"), ("c", "drive.c"), ("fortran", "drive.f90")];
        let drivers = drivers.iter().filter(|(language, _)| case.has(language)).map(|(_, file)| *file);
        let files = drivers.chain(["spec.tumit", "expect.dump"]).filter(|file| !case.file(file).is_file());
        lacking.extend(files.map(|file| format!("{}/{file}", case.name)));
        let spec = std::fs::read_to_string(case.file("spec.tumit")).unwrap_or_default();
        if !spec.starts_with("//! ") {
            lacking.push(format!("{}/spec.tumit: a first line `//!` that says what it is about", case.name));
        }
    }
    assert!(lacking.is_empty(), "missing: {}", lacking.join(", "));
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "a panic without words".to_owned())
}

/// A program that makes the calls of a case.
struct CaseProgram {
    language: &'static str,
    /// Language and compiler, for messages.
    dialect: &'static str,
    path: PathBuf,
}

impl CaseProgram {
    /// The programs of a case in all its languages.
    fn all(case: &CorpusCase, folder: &Path, times: &CompileTimes) -> Vec<Self> {
        let mut programs = Vec::new();
        let selected = std::env::var("LANGUAGE").ok();
        let has =
            |language: &str| case.has(language) && selected.as_deref().is_none_or(|selected| selected == language);
        if case.has("rust") {
            programs.push(Self { language: "rust", dialect: "rust", path: env!("CARGO_BIN_EXE_trace_driver").into() });
        }
        let recorder = times
            .of("recorder in C", || recorder(case, folder))
            .unwrap_or_else(|error| panic!("the recorder cannot be compiled:\n{error}"));
        for (language, dialect, compiler) in DIALECTS {
            if !has(language) || (compiler.command.starts_with("clang") && !is_turn_of(case, compiler.is_cxx())) {
                continue;
            }
            let cxx = case.file("drive.cpp");
            let source = if language == "c++" && cxx.exists() { cxx } else { case.file("drive.c") };
            let path = folder.join(dialect.replace(' ', "-"));
            let (include, object) = (format!("-I{}", folder.display()), format!("-Wl,{}", recorder.display()));
            let flags = [&include, optimisation(dialect), "-DTUMIT_EXTERN", &object];
            times
                .of(language, || compiler.compile(&[&source], &path, &flags))
                .unwrap_or_else(|error| panic!("{dialect} refuses it:\n{error}"));
            programs.push(Self { language, dialect, path });
        }
        if has("fortran") {
            let path = times
                .of("fortran", || fortran(case, folder, &recorder))
                .unwrap_or_else(|error| panic!("Fortran refuses it:\n{error}"));
            programs.push(Self { language: "fortran", dialect: "fortran", path });
        }
        programs
    }

    fn record(
        &self,
        case: &CorpusCase,
        folder: &Path,
        environment: &[(&str, &str)],
        times: &CompileTimes,
    ) -> LanguageRun {
        let run = times.of(self.language, || match self.language {
            "rust" => rust::record(&self.path, &case.name, folder, environment),
            _ => record(&self.path, folder, "run.tmt", environment),
        });
        let mut recorded = LanguageRun::read(self.dialect, &run);
        recorded.images = times.of("converter", || {
            let rows = case.file("expect.rows").exists().then(|| ("expect.rows".to_owned(), case_outputs::rows(&run)));
            let outputs = case.outputs.iter().map(|name| (format!("expect.{name}"), case_outputs::output(&run, name)));
            rows.into_iter().chain(outputs).collect()
        });
        if run.exists() {
            std::fs::remove_dir_all(run).expect("a writable folder");
        }
        recorded
    }
}

/// A number of a case that distributes the cases evenly over compilers.
fn turn(case: &CorpusCase) -> usize {
    case.name.bytes().map(usize::from).sum()
}

/// Whether a case belongs to the even or the odd ones. Clang compiles each case in one of its two
/// languages, because compiling takes most of the time. A single case (`CASE`) has both.
fn is_turn_of(case: &CorpusCase, even: bool) -> bool {
    std::env::var_os("CASE").is_some() || turn(case).is_multiple_of(2) == even
}

fn optimisation(dialect: &str) -> &'static str {
    if dialect == OPTIMISED { "-O1" } else { "-O0" }
}

/// Compiles the recorder with the tables of the specs to an object. All drivers in C and C++ are
/// linked with it: a recorder per driver would take most of the time. Clang compiles most recorders,
/// because gcc takes twice as long. The tests of `c_recorder/standards.rs` compare the recorders of
/// all compilers.
fn recorder(case: &CorpusCase, folder: &Path) -> Result<PathBuf, String> {
    let headers = case.generate(&CBackend, folder);
    let text: String = headers.iter().map(|header| format!("#include \"{header}\"\n")).collect();
    let (source, object) = (folder.join("recorder.c"), folder.join("recorder.o"));
    std::fs::write(&source, text).map_err(|error| format!("recorder.c: {error}"))?;
    let (compiler, flag) = match turn(case) % 8 {
        0 => (C99, "-O1"),
        2 => (CXX11, "-O0"),
        number if number.is_multiple_of(2) => (C11, "-O0"),
        _ => (CXX17, "-O0"),
    };
    compiler.compile(&[&source], &object, &[flag, "-c"]).map(|()| object)
}

/// Records a case in all its languages; returns the failures.
fn check(case: &CorpusCase, times: &CompileTimes) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let programs = CaseProgram::all(case, folder.path(), times);
    let (mut failed, mut listing) = (Vec::new(), String::new());
    for environment in &case.environments {
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let record = |program: &CaseProgram| program.record(case, folder.path(), &environment, times);
        let recorded: Vec<LanguageRun> = programs.iter().map(record).collect();
        let (first, others) = recorded.split_first().expect("a language that can say it");
        failed.extend(others.iter().filter_map(|output| first.difference(output)));
        for (file, text) in recorded.iter().flat_map(|recorded| &recorded.images) {
            failed.extend(expected(case, file, text));
        }
        if case.environments.len() > 1 {
            let set: Vec<String> = environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
            listing.push_str(&format!("with {}\n", set.join(" ")));
        }
        listing.push_str(&first.listing);
    }
    failed.extend(expected(case, "expect.dump", &listing));
    failed
}

/// Builds one program of the modules, their C files and the driver. The C files of every fourth
/// case contain the recorder, and its modules are optimised. The others use the given recorder.
fn fortran(case: &CorpusCase, folder: &Path, recorder: &Path) -> Result<PathBuf, String> {
    std::fs::copy(case.file("drive.f90"), folder.join("drive.f90")).map_err(|error| format!("drive.f90: {error}"))?;
    let mut sources = case.generate(&FortranBackend, folder);
    sources.push("drive.f90".to_owned());
    let has_own_recorder = (turn(case) / DIALECTS.len()).is_multiple_of(4);
    let compilers = if has_own_recorder { GFORTRAN } else { FORTRAN_EXTERN };
    for source in &sources {
        compilers.object(folder, source)?;
    }
    let mut objects: Vec<String> = sources.iter().map(|source| format!("{source}.o")).collect();
    objects.extend((!has_own_recorder).then(|| recorder.display().to_string()));
    compilers.link(folder, &objects.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Compares a text with a file of the case.
fn expected(case: &CorpusCase, name: &str, output: &str) -> Option<String> {
    let path = case.file(name);
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected == output {
        return None;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, output).expect("the package can be written");
        return None;
    }
    let (line, (line_of_file, line_found)) = expected
        .lines()
        .chain(std::iter::repeat("(nothing)"))
        .zip(output.lines().chain(std::iter::repeat("(nothing)")))
        .enumerate()
        .find(|(_, (line_of_file, line_found))| line_of_file != line_found)?;
    Some(format!("line {} of {name}\n  expected: {line_of_file}\n  found:    {line_found}", line + 1))
}
