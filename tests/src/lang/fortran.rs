//! Fortran: compiles a spec and a driver to a program, with the generated module and its C file.

use std::path::{Path, PathBuf};
use std::process::Command;

use tumit::codegen::{Backend, CodegenOptions, fortran::FortranBackend};

/// The warnings that a generated module must not cause.
pub const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wimplicit-interface", "-Werror"];
/// The language of modules and drivers. Drivers are preprocessed: `__FILE__` and `__LINE__` give
/// their source locations.
pub const F2008: &str = "-std=f2008";
/// A further standard that modules support.
pub const F2018: &str = "-std=f2018";

/// The compilers of a program.
#[derive(Clone, Copy, Debug)]
pub struct FortranCompilers {
    /// The Fortran compiler.
    pub fortran: &'static str,
    /// The compiler of the C file.
    pub c: &'static str,
    /// Fortran standard.
    pub standard: &'static str,
    /// Optimisation of Fortran files.
    pub optimisation: &'static str,
    /// Flags of the C file alone.
    pub c_flags: &'static [&'static str],
    /// Flags of the program's own Fortran files alone.
    pub driver_flags: &'static [&'static str],
}

/// gfortran with Fortran 2008, and gcc.
pub const GFORTRAN: FortranCompilers = FortranCompilers {
    fortran: "gfortran",
    c: "gcc",
    standard: F2008,
    optimisation: "-O1",
    c_flags: &[],
    driver_flags: &[],
};
/// The same with MPI.
pub const MPIFORT: FortranCompilers =
    FortranCompilers { fortran: "mpifort", c: "mpicc", c_flags: &["-DTUMIT_MPI"], ..GFORTRAN };

/// Writes the module and the C file of a spec into `folder`, and returns their names.
///
/// # Panics
/// If the spec has errors, or Fortran cannot express it.
pub fn module(folder: &Path, text: &str) -> [String; 2] {
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let files = FortranBackend.generate(&spec, &CodegenOptions::default()).expect("a module");
    for file in &files.0 {
        std::fs::write(folder.join(&file.name), &file.text).expect("the folder is writable");
    }
    let [module, routines] = &files.0[..] else { panic!("a module and a C file") };
    [module.name.clone(), routines.name.clone()]
}

impl FortranCompilers {
    /// Compiles the module of `spec` and the driver to a program in `folder`.
    ///
    /// # Errors
    /// The compiler's messages.
    ///
    /// # Panics
    /// If a compiler is not installed, or the spec has errors.
    pub fn build(&self, folder: &Path, spec: &str, driver: &str) -> Result<PathBuf, String> {
        let [module, routines] = module(folder, spec);
        std::fs::write(folder.join("drive.f90"), driver).expect("the folder is writable");
        self.object(folder, &routines)?;
        self.object(folder, &module)?;
        self.object(folder, "drive.f90")?;
        let objects = [routines, module, "drive.f90".into()].map(|source| source + ".o");
        self.link(folder, &objects.each_ref().map(String::as_str))
    }

    /// Compiles one file of `folder` to `FILE.o` there. Fortran files except the modules of specs
    /// may use the preprocessor.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn object(&self, folder: &Path, source: &str) -> Result<(), String> {
        let mut command = if source.ends_with(".c") {
            let mut command = Command::new(self.c);
            command.args(["-std=gnu99", "-O0", "-pipe"]).args(super::c::WARNINGS).args(self.c_flags);
            command
        } else {
            let mut command = Command::new(self.fortran);
            command.args([self.standard, self.optimisation, "-pipe"]).args(WARNINGS);
            if !source.ends_with("_trace.f90") {
                command.arg("-cpp").args(self.driver_flags);
            }
            command
        };
        run(command.current_dir(folder).args(["-c", source, "-o"]).arg(format!("{source}.o")))
    }

    /// Links objects of `folder` to a program.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, folder: &Path, objects: &[&str]) -> Result<PathBuf, String> {
        let mut command = Command::new(self.fortran);
        command.current_dir(folder).args(objects).args(self.driver_flags).args(["-o", "drive", "-pthread"]);
        run(&mut command).map(|()| folder.join("drive"))
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
