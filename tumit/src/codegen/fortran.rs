//! The Fortran back end: a module of Fortran 2008, and one self-contained file with the C routines
//! that it uses. This file contains the C header.
//!
//! Programs call the C routine directly if C can use the arguments unchanged. Otherwise a procedure
//! of the module converts them.
//!
//! ```
//! use tumit::codegen::{Backend, CodegenOptions, fortran::FortranBackend};
//!
//! let text = "trace hello; level APP { event greeting { n: u32 } }";
//! let (spec, _) = tumit::compile_text("hello.tumit", text);
//! let spec = spec.expect("the spec is correct");
//! let files = FortranBackend.generate(&spec, &CodegenOptions::default())?;
//! let names: Vec<_> = files.0.iter().map(|file| file.name.as_str()).collect();
//! assert_eq!(names, ["hello_trace.f90", "hello_trace_fortran.c"]);
//! # Ok::<(), tumit::codegen::UnsupportedFeature>(())
//! ```

mod argument;
mod code_writer;
mod constants;
mod names;
mod procedure;

use super::backend::{Backend, CodegenOptions, GeneratedFile, GeneratedFiles, UnsupportedFeature};
use super::c::{CBackend, CNames};

use crate::Spec;
use code_writer::CodeWriter;
use names::FortranNames;
use procedure::FortranProcedure;

/// Generates Fortran modules: `NAME_trace.f90` and `NAME_trace_fortran.c`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FortranBackend;

impl Backend for FortranBackend {
    fn generate(&self, spec: &Spec, options: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature> {
        let c = CNames::new(spec)?;
        let mut names = FortranNames::new(spec, &c)?;
        let public = names.procedures.clone();
        let procedures: Vec<_> = public
            .iter()
            .enumerate()
            .map(|(index, name)| FortranProcedure::new(spec, &c, &mut names, name, index))
            .collect();
        let stem = names.module.clone();
        let header: String = CBackend.generate(spec, options)?.0.into_iter().map(|file| file.text).collect();
        Ok(GeneratedFiles(vec![
            GeneratedFile { name: format!("{stem}.f90"), text: module(spec, &names, &procedures) },
            GeneratedFile { name: format!("{stem}_fortran.c"), text: routines(&stem, &header, &procedures) },
        ]))
    }
}

const CONTROL_INTERFACES: &str = include_str!("fortran/control_interfaces.f90");
const CONTROL_PROCEDURES: &str = include_str!("fortran/control_procedures.f90");
const RUNTIME: &str = include_str!("fortran/runtime.c");
/// The public names of the fixed parts.
const CONTROL: [&str; 18] = [
    "tumit_now",
    "tumit_new_task",
    "tumit_start",
    "tumit_flush",
    "tumit_dump",
    "tumit_finish",
    "tumit_pause",
    "tumit_resume",
    "tumit_stats",
    "tumit_get_stats",
    "tumit_set_level",
    "tumit_set_thread_name",
    "tumit_set_stream_label",
    "tumit_set_clock",
    "tumit_mpi_start",
    "tumit_mpi_sync",
    "tumit_mpi_sync_point",
    "tumit_mpi_finish",
];

fn module(spec: &Spec, names: &FortranNames, procedures: &[FortranProcedure<'_>]) -> String {
    let mut inner = CodeWriter::default();
    inner.indent(|out| {
        out.list("public :: ", &CONTROL.map(str::to_owned), "");
        for procedure in procedures {
            out.line(&format!("public :: {}", procedure.name));
        }
        constants::write(out, spec, names);
        for procedure in procedures {
            procedure.interfaces(out);
        }
        out.lines(CONTROL_INTERFACES);
    });
    let mut bodies = CodeWriter::default();
    bodies.indent(|out| procedures.iter().for_each(|procedure| procedure.bodies(out)));
    let bodies = bodies.finish();
    let mut inner = inner.finish();
    inner.push_str("\ncontains\n");
    inner.push_str(&bodies);
    let mut end = CodeWriter::default();
    end.indent(|out| {
        out.lines(CONTROL_PROCEDURES);
        write_narrowing(out, &bodies);
    });
    inner.push_str(&end.finish());

    let mut out = CodeWriter::default();
    banner(&mut out, spec, &names.module);
    out.line(&format!("module {}", names.module));
    out.indent(|out| {
        out.list("use, intrinsic :: iso_c_binding, only: ", &names::imported(&inner), "");
        out.line("implicit none");
        out.line("private");
    });
    let mut text = out.finish();
    text.push_str(&inner);
    text.push_str(&format!("\nend module {}\n", names.module));
    text
}

fn banner(out: &mut CodeWriter, spec: &Spec, module: &str) {
    let root = spec.sources.first().map_or("a spec", |source| source.path.rsplit('/').next().unwrap_or_default());
    let version = env!("CARGO_PKG_VERSION");
    let comment = format!(
        "Tracing procedures of the trace `{}`, generated from {root} by tumit {version}. You may copy and use this file without restrictions. \
         It needs {module}_fortran.c, which contains the recorder. Build commands, without and with MPI:",
        spec.name
    );
    out.comment("!", "!", &comment);
    for (c, fortran) in [("cc -O2", "gfortran -O2"), ("mpicc -O2 -DTUMIT_MPI", "mpifort -O2")] {
        out.line("!");
        out.line(&format!("!   {c} -c {module}_fortran.c"));
        out.line(&format!("!   {fortran} {module}.f90 app.f90 {module}_fortran.o -pthread"));
    }
    out.line("!");
    out.comment("!", "!", ABOUT_ARGUMENTS);
    out.line("");
    out.doc(&spec.doc);
}

const ABOUT_ARGUMENTS: &str = "\
Arguments: integers of up to 32 bits have the default kind; integers of 64 bits have the default kind or integer(c_int64_t). \
Unsigned numbers above the range of their kind are the negative numbers with the same bits. Arrays of small integers have the \
kind of that size, or the default kind. f32 is real(c_float), the default kind; f64 is real(c_double). Blanks at the end of texts \
are not recorded. bytes are an array of integer(c_int8_t), or characters with all their blanks. Arguments of type date are results \
of tumit_now(), pointers are type(c_ptr).
A scope with two such modules renames common names: use other_trace, other_now => tumit_now";

/// Writes the functions that narrow default integers, if the procedures use them.
fn write_narrowing(out: &mut CodeWriter, bodies: &str) {
    for (bits, half) in [(8, 128), (16, 32768)] {
        if !bodies.contains(&format!("tumit_low{bits}(")) {
            continue;
        }
        let kind = format!("c_int{bits}_t");
        out.lines(&format!(
            "\n! The low {bits} bits, as in the conversion of C, also of unsigned numbers.
elemental function tumit_low{bits}(wide) result(low)
  integer(c_int), intent(in) :: wide
  integer({kind}) :: low
  low = int(iand(wide, {}) - iand(wide, {half}), {kind})
end function tumit_low{bits}",
            half - 1
        ));
    }
}

/// The C file.
fn routines(module: &str, header: &str, procedures: &[FortranProcedure<'_>]) -> String {
    let mut out = format!(
        "/* The routines of {module}.f90, and the recorder. Compile this file with -O2 and link it with\n \
         * the program. Programs with MPI need -DTUMIT_MPI (and mpicc). -DTUMIT_OFF removes all tracing. The\n \
         * file contains the C header of the same spec; C and C++ files of the same program may include\n \
         * that header. */\n\n"
    );
    out.push_str(header);
    out.push_str(RUNTIME);
    for procedure in procedures {
        procedure.routine_in_c(&mut out);
    }
    out
}

#[cfg(test)]
mod tests;
