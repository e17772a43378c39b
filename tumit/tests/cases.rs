//! Tests with specs in files.
//!
//! - `good/`: specs that compile. `NAME.txt` is the expected result.
//! - `bad/`: specs with mistakes. `NAME.txt` is the expected output for the user. Each file name
//!   starts with a code that the diagnostics must contain, and every code has a file.
//! - `grown/`: the same for a spec and its older version, `NAME.old.tumit`.
//!
//! `UPDATE_EXPECT=1 cargo test -p tumit --test cases` rewrites the expected texts. Check the
//! difference before you commit it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tumit::{Code, Diagnostics, Loader, Spec, SpecLoadError};

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        fs::read_to_string(self.0.join(path)).map_err(|error| SpecLoadError::new(error.kind().to_string()))
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Names of the specs of a folder, sorted.
fn specs(name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(name)).expect("the folder is part of the package");
    let files = entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"));
    let mut specs: Vec<String> = files.filter(|file| file.ends_with(".tumit")).collect();
    specs.sort();
    assert!(!specs.is_empty(), "no case in {name}");
    specs
}

fn compile(kind: &str, file: &str) -> (Option<Spec>, Diagnostics) {
    tumit::compile(file, &mut Folder(folder(kind)))
}

/// Compares with the expected text in the same folder. Returns a description of the difference.
fn differs(kind: &str, file: &str, output: &str) -> Option<String> {
    let path = folder(kind).join(file).with_extension("txt");
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == output {
        return None;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, output).expect("the package can be written");
        return None;
    }
    Some(format!("---- {kind}/{file}: expected\n{expected}\n---- found\n{output}"))
}

#[test]
fn reports_of_mistakes_match_their_files() {
    let mut failures = Vec::new();
    for file in specs("bad") {
        let (_, diagnostics) = compile("bad", &file);
        let code = Code::parse(&file[..5]).unwrap_or_else(|| panic!("{file} starts with no code"));
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == code), "{file} does not give {code}");
        failures.extend(differs("bad", &file, &diagnostics.render(false)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn reports_of_growth_match_their_files() {
    let mut failures = Vec::new();
    for file in specs("grown").iter().filter(|file| !file.ends_with(".old.tumit")) {
        let older = compile("grown", &file.replace(".tumit", ".old.tumit")).0.expect("the older spec is right");
        assert!(compile("grown", file).0.is_some(), "{file} alone is right");
        let (spec, diagnostics) = tumit::compile_since(file, &mut Folder(folder("grown")), &older);
        assert_eq!(spec.is_none(), diagnostics.has_errors(), "{file}");
        let code = Code::parse(&file[..5]).unwrap_or_else(|| panic!("{file} starts with no code"));
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == code), "{file} does not give {code}");
        failures.extend(differs("grown", file, &diagnostics.render(false)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// This spec is too large for a file of the package.
#[test]
fn a_spec_of_many_megabytes_is_refused() {
    let text = format!("trace large;\n{}", "// a comment of forty-eight letters, over and over\n".repeat(200_000));
    let (spec, diagnostics) = tumit::compile_text("large.tumit", &text);
    assert!(spec.is_none());
    let drawn = diagnostics.render(false);
    assert!(
        drawn.starts_with("error[T0015]: the files of the spec have 10200013 bytes\n --> large.tumit:1:1\n"),
        "{drawn}"
    );
    assert!(
        drawn.contains("exceeds the limit of 8388608 bytes") && drawn.contains("help: write several specs"),
        "{drawn}"
    );
}

#[test]
fn every_code_has_a_case() {
    let files = specs("bad").into_iter().chain(specs("grown"));
    let mut covered: BTreeSet<Code> = files.filter_map(|file| Code::parse(&file[..5])).collect();
    // `a_spec_of_many_megabytes_is_refused` covers this code.
    covered.insert(Code::SpecTooLarge);
    let missing: Vec<String> = Code::ALL.iter().filter(|code| !covered.contains(code)).map(Code::to_string).collect();
    assert!(missing.is_empty(), "no case for {}", missing.join(", "));
}

#[test]
fn errors_and_specs_exclude_each_other() {
    for file in specs("bad") {
        let (spec, diagnostics) = compile("bad", &file);
        assert_eq!(spec.is_none(), diagnostics.has_errors(), "{file}");
        assert!(
            diagnostics.iter().all(|diagnostic| !diagnostic.title.ends_with('.')),
            "{file}: a title ends with a full stop"
        );
    }
}

#[test]
fn good_specs_give_the_expected_result() {
    let mut failures = Vec::new();
    for file in specs("good") {
        let (spec, diagnostics) = compile("good", &file);
        assert!(diagnostics.is_empty(), "{file}:\n{}", diagnostics.render(false));
        let mut spec = spec.expect("no diagnostics");
        let sources = std::mem::take(&mut spec.sources);
        assert_eq!(tumit::compile_sources(&sources).0.map(|again| again.records), Some(spec.records.clone()), "{file}");
        let paths: Vec<&str> = sources.iter().map(|source| source.path.as_str()).collect();
        failures.extend(differs("good", &file, &describe(&spec, &paths)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Removes the spans of references, which change with every edit of a spec.
fn remove_places(text: &mut String) {
    while let Some(start) = text.find(", span: Some(SourceSpan {") {
        let end = text[start..].find("})").expect("the end of the place") + start;
        text.replace_range(start..end + "})".len(), "");
    }
}

/// The contents of a spec, one line per item.
fn describe(spec: &Spec, paths: &[&str]) -> String {
    fn list<T: std::fmt::Debug>(out: &mut String, noun: &str, items: &[T]) {
        for (index, item) in items.iter().enumerate() {
            out.push_str(&format!("{noun} {index}: {item:?}\n"));
        }
    }
    let mut out = format!("{} {paths:?} {:?}\n", spec.name, spec.doc);
    list(&mut out, "level", &spec.levels);
    list(&mut out, "enum", &spec.enums);
    list(&mut out, "record", &spec.records);
    list(&mut out, "span", &spec.spans);
    list(&mut out, "container", &spec.containers);
    list(&mut out, "entity", &spec.entities);
    list(&mut out, "category", &spec.categories);
    for (record, actions) in spec.records.iter().zip(&spec.rules) {
        list(&mut out, &format!("rule of {},", record.layout.name), actions);
    }
    remove_places(&mut out);
    for output in &spec.outputs {
        out.push_str(&format!("output {} {:?}\n", output.name, output.prologue));
        for (record, lines) in spec.records.iter().zip(&output.rules) {
            list(&mut out, &format!("line of {},", record.layout.name), lines);
        }
    }
    out
}

#[test]
fn defaults_apply_only_to_events_without_rules() {
    let text = "trace a;\nlevel L { span bare {} span half {} event e {} event f {} }\npaje { container p { event log } }\n\
                rule half.begin -> mark log = \"x\" on p;\nrule e -> mark log = \"x\" on p;\n";
    let spec = tumit::compile_text("a.tumit", text).0.expect("it is right");
    let ruled: Vec<bool> = (0..6).map(|record| spec.has_rules(tumit::spec::RecordId(record))).collect();
    // bare.begin, bare.end, half.begin, half.end, e, f
    assert_eq!(ruled, [false, false, true, true, true, false]);
}
