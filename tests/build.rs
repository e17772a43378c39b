//! Lists the Rust drivers of `cases/`: adding a case is adding a folder.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Each driver is a complete program with its own `main`.
const EXPECTED: &str = r#"#[expect(unreachable_pub, reason = "`main` of a driver is called from here")]"#;

fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let cases = Path::new(&package).join("cases");
    println!("cargo::rerun-if-changed=cases");
    let entries = fs::read_dir(&cases).expect("the package has a folder of cases");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable folder"))
        .filter(|entry| entry.path().join("drive.rs").is_file())
        .map(|entry| entry.file_name().into_string().expect("a name in UTF-8"))
        .collect();
    names.sort();
    let mut code = String::new();
    for name in &names {
        let module = name.replace('-', "_");
        let path = cases.join(name).join("drive.rs");
        let _ = writeln!(code, "#[path = {path:?}]\n{EXPECTED}\nmod case_{module};");
    }
    code.push_str("const CASES: &[(&str, fn())] = &[\n");
    for name in &names {
        let _ = writeln!(code, "    ({name:?}, case_{}::main),", name.replace('-', "_"));
    }
    code.push_str("];\n");
    let out = env::var_os("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("cases.rs"), code).expect("a writable folder");
}
