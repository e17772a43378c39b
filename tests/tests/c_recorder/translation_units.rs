//! One program of several translation units, languages and shared libraries has one recorder, and
//! one file.

use std::path::{Path, PathBuf};

use tests::lang::c::{C99, CCompiler, CXX11, GNU99, folder, header, record};
use tests::run::{ProcessFile, read};

const T: &str = "trace t;\nlevel L { event tick { n: u64 } span work { n: u32 } }\n";
const U: &str = "trace u;\nlevel L { event other { n: u32 } event named { text: interned } }\n";

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a writable folder");
    path
}

fn compile(compiler: CCompiler, sources: &[&Path], to: &Path, extra: &[&str]) {
    compiler.compile(sources, to, extra).unwrap_or_else(|error| panic!("{error}"));
}

fn run(program: &Path, folder: &Path) -> (Vec<ProcessFile>, Vec<String>) {
    let run = record(program, folder, "run.tmt", &[]);
    let files = read(&run);
    std::fs::remove_dir_all(&run).expect("the run can go");
    assert!(files.iter().all(|file| file.end.is_some() && file.totals().1 == 0));
    let mut texts: Vec<_> = files.iter().flat_map(ProcessFile::texts).collect();
    texts.sort();
    (files, texts)
}

/// Each library works in a separate thread.
fn library(function: &str, header: &str, calls: &str) -> String {
    format!(
        "#include \"{header}\"\n#include <pthread.h>\n\
         #ifdef __cplusplus\nextern \"C\"\n#endif\n__attribute__((visibility(\"default\"))) void {function}(void);\n\
         static void *thread_of_{function}(void *unused) {{ {calls} return unused; }}\n\
         void {function}(void) {{\n    pthread_t other;\n    {calls}\n\
         if (pthread_create(&other, NULL, thread_of_{function}, NULL) == 0) {{ pthread_join(other, NULL); }}\n}}\n"
    )
}

#[test]
fn a_program_and_its_libraries_have_one_recorder() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    header(folder.path(), T);
    header(folder.path(), U);
    let first_source = write(folder.path(), "one.c", &library("one", "u_trace.h", "u_other(1); u_named(\"both\");"));
    let two = write(folder.path(), "two.cc", &library("two", "u_trace.h", "u_other(2); u_named(\"both\");"));
    let plug = write(folder.path(), "plug.c", &library("plug", "t_trace.h", "t_tick(30);"));
    let main = write(
        folder.path(),
        "main.c",
        r#"
#include "t_trace.h"
#include <dlfcn.h>
void one(void);
void two(void);
int main(void) {
    void *library = dlopen("./plug.so", RTLD_NOW | RTLD_LOCAL);
    void (*plug)(void);
    if (library == NULL) { fputs(dlerror(), stderr); return 1; }
    *(void **)(void *)&plug = dlsym(library, "plug");
    t_tick(1);
    one();
    two();
    plug();
    dlclose(library);
    t_tick(2);
    return 0;
}
"#,
    );
    let mut expected = vec!["tick n=Unsigned(1)", "tick n=Unsigned(2)"];
    for _ in 0..2 {
        expected.extend(["other n=Unsigned(1)", "other n=Unsigned(2)", "tick n=Unsigned(30)"]);
        expected.extend(["named text=\"both\""; 2]);
    }
    expected.sort_unstable();
    for flags in [&["-O0", "-Wl,--no-as-needed"][..], &["-O1", "-flto=1", "-fvisibility=hidden", "-Wl,--no-as-needed"]]
    {
        let shared = |compiler, source: &Path, name: &str| {
            compile(compiler, &[source], &path(name), &[flags, &["-fPIC", "-shared"]].concat());
        };
        shared(GNU99, &first_source, "libone.so");
        shared(CXX11, &two, "libtwo.so");
        shared(GNU99, &plug, "plug.so");
        let (here, libraries) = (format!("-L{}", folder.path().display()), ["-lone", "-ltwo", "-Wl,-rpath,$ORIGIN"]);
        let object = path("main.o");
        compile(GNU99, &[&main], &object, &[flags, &["-c"]].concat());
        // Libraries follow the objects that need them.
        let mut link = std::process::Command::new("gcc");
        link.args(flags).arg(&object).arg(here).args(libraries).args(["-pthread", "-ldl", "-o"]).arg(path("program"));
        tests::programs::succeed(&mut link);
        let (files, texts) = run(&path("program"), folder.path());
        assert_eq!(files.len(), 1, "{flags:?}: one recorder");
        assert_eq!(files[0].schemas.len(), 2, "each spec once");
        assert_eq!(files[0].records.len(), 4, "main and a thread of each library");
        assert_eq!(texts, expected);
    }
}

#[test]
fn units_of_both_languages_share_one_recorder() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    header(folder.path(), T);
    header(folder.path(), U);
    let main = "#include \"t_trace.h\"\nvoid two(void);\nvoid three(void);\n\
                int main(void) { t_tick(1); two(); three(); t_tick(3); return 0; }\n";
    let two = "#include \"u_trace.h\"\n#include \"t_trace.h\"\nextern \"C\" void two(void);\n\
               void two(void) { t_work_scope guard(2); u_other(2); }\n";
    // This unit has no recorder.
    let three = "#define TUMIT_EXTERN\n#include \"t_trace.h\"\n#include \"u_trace.h\"\nvoid three(void);\n\
                 void three(void) { u_named(\"three\"); t_tick(tumit1_new_task()); tumit1_flush(); }\n";
    let (main, two) = (write(folder.path(), "main.c", main), write(folder.path(), "two.cc", two));
    let three = write(folder.path(), "three.c", three);
    for flags in [&["-O0"][..], &["-O1", "-flto=1"]] {
        compile(C99, &[&main], &path("main.o"), &[flags, &["-c"]].concat());
        compile(CXX11, &[&two], &path("two.o"), &[flags, &["-c", "-fno-exceptions", "-fno-rtti"]].concat());
        compile(
            CCompiler { command: "gcc", flags: &["-std=c99"] },
            &[&three],
            &path("three.o"),
            &[flags, &["-c"]].concat(),
        );
        let mut archive = std::process::Command::new("gcc-ar");
        tests::programs::succeed(archive.arg("rcs").arg(path("libthree.a")).arg(path("three.o")));
        let mut link = std::process::Command::new("g++");
        link.args(flags).args([path("main.o"), path("two.o"), path("libthree.a")]).args(["-pthread", "-o"]);
        tests::programs::succeed(link.arg(path("program")));
        let (files, _) = run(&path("program"), folder.path());
        assert_eq!((files.len(), files[0].schemas.len()), (1, 2));
        let expected = [
            "tick n=Unsigned(1)",
            "work.begin n=Unsigned(2)",
            "other n=Unsigned(2)",
            "work.end",
            "named text=\"three\"",
            "tick n=Unsigned(1)",
            "tick n=Unsigned(3)",
        ];
        assert_eq!(files[0].texts(), expected);
    }
    let separate = write(
        folder.path(),
        "alone.c",
        "#define TUMIT_EXTERN\n#include \"t_trace.h\"\nint main(void) { t_tick(1); return 0; }\n",
    );
    let error = GNU99.compile(&[&separate], &path("alone"), &[]).expect_err("nobody has the recorder");
    let advice = "tumit1_one_source_file_must_include_the_header_without_TUMIT_EXTERN";
    assert!(error.contains(&format!("undefined reference to `{advice}'")), "{error}");
}

#[test]
fn libraries_share_the_recorder_and_can_be_unloaded() {
    let folder = folder();
    header(folder.path(), T);
    header(folder.path(), "trace u;\nlevel L { event other { n: u32 } }\n");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    };
    let library = write(
        "lib.c",
        "#include \"u_trace.h\"\nvoid work(unsigned n);\nvoid work(unsigned n) { u_other(n); }\n\
            __attribute__((destructor)) static void end(void) { u_other(9); }\n",
    );
    let linked = write(
        "linked.c",
        "#include \"t_trace.h\"\nvoid work(unsigned n);\nint main(void) { t_tick(1); work(2); t_tick(3); return 0; }\n",
    );
    let loaded = write(
        "loaded.c",
        r#"
#include "t_trace.h"
#include <dlfcn.h>
static void *thread(void *unused) {
    void *library = dlopen("./lib.so", RTLD_NOW);
    void (*work)(unsigned);
    if (library == NULL) { return unused; }
    *(void **)(void *)&work = dlsym(library, "work");
    work(2);
    dlclose(library);
    t_tick(3);
    return unused;
}
int main(void) {
    pthread_t other;
    t_tick(1);
    if (pthread_create(&other, NULL, thread, NULL) != 0) { return 1; }
    return pthread_join(other, NULL);
}
"#,
    );
    let lib = folder.path().join("lib.so");
    GNU99.compile(&[&library], &lib, &["-fPIC", "-shared"]).unwrap_or_else(|error| panic!("{error}"));
    for (source, extra, files) in [
        (&linked, vec!["-Wl,--no-as-needed", lib.to_str().expect("UTF-8"), "-Wl,-rpath,$ORIGIN"], 1),
        (&loaded, vec!["-rdynamic"], 1), // the library finds the program's recorder
        (&loaded, vec![], 2),            // it does not, and is a recorder of its own
    ] {
        let program = folder.path().join("program");
        GNU99.compile(&[source], &program, &extra).unwrap_or_else(|error| panic!("{error}"));
        let run = record(&program, folder.path(), "run.tmt", &[]);
        let records = read(&run);
        std::fs::remove_dir_all(&run).expect("the run can go");
        let mut texts: Vec<_> = records.iter().flat_map(ProcessFile::texts).collect();
        texts.sort();
        // Destructors of a library run after those of the program.
        assert_eq!(texts, ["other n=Unsigned(2)", "other n=Unsigned(9)", "tick n=Unsigned(1)", "tick n=Unsigned(3)"]);
        assert_eq!(records.len(), files);
        assert!(records.iter().all(|file| file.end.is_some()));
    }
}
