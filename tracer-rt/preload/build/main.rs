//! Builds the library with all recorders, `libtumit_preload.so`, which `src/recorder_library.rs`
//! embeds.
//!
//! The library contains the wrappers of all MPI procedures once per family of MPI libraries with
//! one binary interface. `mpi/dispatch.c` selects the family at the first call. The other recorders
//! have a folder with a C file each.

#![expect(clippy::print_stdout, reason = "Cargo reads the standard output of build scripts")]

mod dispatch;
mod procedures;
mod wrappers;

use std::path::{Path, PathBuf};
use std::{env, fs};

use tumit::codegen::c::CBackend;
use tumit::codegen::{Backend, CodegenOptions};

use procedures::Procedure;

/// The families, which are folders in `mpi/abi`.
const FAMILIES: [&str; 3] = ["openmpi", "mpich", "standard"];

/// The C files that are compiled once.
const FILES: [&str; 14] = [
    "mpi/dispatch.c",
    "openmp/openmp.c",
    "threads/threads.c",
    "io/io.c",
    "functions/functions.c",
    "functions/sled_trampolines.S",
    "counters/counters.c",
    "exec/exec.c",
    "code_names/code_names.c",
    "code_names/code_texts.c",
    "code_names/file_sections.c",
    "code_names/modules.c",
    "code_names/runtime_code.c",
    "code_names/symbol_tables.c",
];

/// The functions that the recorder calls and the library exports. The linker redirects these calls
/// to functions with the prefix `__wrap_`, so that the recorder does not record itself.
const REDIRECTED: [&str; 8] =
    ["pthread_create", "pthread_join", "pthread_mutex_lock", "open", "close", "read", "pread", "pwrite"];

fn main() {
    for folder in
        ["build", "mpi", "openmp", "threads", "io", "functions", "counters", "exec", "code_names", "own_thread.h"]
    {
        println!("cargo::rerun-if-changed={folder}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR for build scripts"));
    let table = fs::read_to_string("mpi/procedures.tsv").expect("the package contains the table of procedures");
    let procedures: Vec<Procedure> = table.lines().map(Procedure::parse).collect();
    write(&out, "mpi_trace.h", &tracing_functions("std:mpi"));
    write(&out, "openmp_trace.h", &with_own_text_ids(&tracing_functions("std:openmp")));
    write(&out, "counters_trace.h", &tracing_functions("std:counters"));
    write(&out, "io_trace.h", &tracing_functions("std:io"));
    write(&out, "threads_trace.h", &with_own_text_ids(&tracing_functions("std:threads")));
    write(&out, "functions_trace.h", &with_own_text_ids(&tracing_functions("std:functions")));
    write(&out, "mpi_functions.h", &wrappers::function_table(&procedures));
    write(&out, "mpi_wrappers.h", &wrappers::wrappers(&procedures));
    write(&out, "mpi_entries.S", &dispatch::entries(&procedures, &architecture()));
    link(&out, &compile(&out));
}

/// The tracing functions of a standard spec, with the recorder.
///
/// A call registers the spec, not a constructor. The library contains several recorders, and a run
/// must not contain the specs of those that are not attached.
fn tracing_functions(name: &str) -> String {
    let text = tumit::load::standard(name).expect("the language contains the spec");
    let (spec, diagnostics) = tumit::compile_text(name, text);
    let spec = spec.unwrap_or_else(|| panic!("mistakes in {name}\n{}", diagnostics.render(false)));
    let mut options = CodegenOptions::default();
    options.register_by_call = true;
    let files = CBackend.generate(&spec, &options).expect("C can express the spec");
    files.0.into_iter().next().expect("the C generator makes one file").text
}

/// The generated functions, which take the numbers of texts from the macro `TUMIT_TEXT_ID`. The
/// recorder stores the number with the text, so that a record needs no search for the text.
fn with_own_text_ids(text: &str) -> String {
    let call = "tumit1_put_u32(tumit1_p, tumit1_intern(";
    assert!(text.contains(call), "the generated functions store the numbers of texts");
    text.replace(call, "tumit1_put_u32(tumit1_p, TUMIT_TEXT_ID(")
}

fn architecture() -> String {
    env::var("CARGO_CFG_TARGET_ARCH").expect("Cargo sets the architecture for build scripts")
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap_or_else(|why| panic!("cannot write {name}: {why}"));
}

/// The object files of the library.
fn compile(out: &Path) -> Vec<PathBuf> {
    let mut common = options(out);
    common.files(FILES).file(out.join("mpi_entries.S"));
    let mut objects = common.compile_intermediates();
    for family in FAMILIES {
        let mut family_options = options(out);
        family_options.include(format!("mpi/abi/{family}")).define("FAMILY", family);
        family_options.out_dir(out.join(family)).file("mpi/family.c");
        objects.extend(family_options.compile_intermediates());
    }
    objects
}

/// Options of the compiler for all files.
fn options(out: &Path) -> cc::Build {
    let mut options = cc::Build::new();
    options
        .include(out)
        .include("mpi")
        .include(".")
        .pic(true)
        .opt_level(2)
        .debug(false)
        .warnings(true)
        .extra_warnings(true);
    options.flag("-std=gnu99").flag("-fvisibility=hidden").flag("-ftls-model=initial-exec").flag("-pthread");
    options
}

/// Links the objects to a library that needs no library except the C library.
fn link(out: &Path, objects: &[PathBuf]) {
    let library = out.join("libtumit_preload.so");
    let mut linker = options(out).get_compiler().to_command();
    linker.arg("-shared").arg("-o").arg(&library).args(objects).args([
        "-Wl,-z,defs",
        "-Wl,--gc-sections",
        "-static-libgcc",
        "-ldl",
    ]);
    linker.args(REDIRECTED.map(|function| format!("-Wl,--wrap={function}")));
    let status = linker.status().unwrap_or_else(|why| panic!("cannot run {linker:?}: {why}"));
    assert!(status.success(), "{linker:?} failed");
    println!("cargo::rustc-env=TUMIT_PRELOAD_LIBRARY={}", library.display());
}
