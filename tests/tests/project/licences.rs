//! The check of licences, `.ci/licences`: it finds planted violations of each kind, and it accepts
//! the expressions that packages use.

use std::process::{Command, Output};

use tests::programs::workspace;

/// Runs the check on one package with these JSON members, under the policy of the workspace.
fn check(members: &str) -> Output {
    let dir = tempfile::tempdir().expect("there is a temporary folder");
    let path = dir.path().join("metadata.json");
    let registry = r#""source": "registry+index/crates.io-index""#;
    let source = if members.contains("\"source\"") { "" } else { registry };
    let comma = if source.is_empty() { "" } else { ", " };
    let package = format!(r#"{{"name": "planted", "version": "1.0.0", "dependencies": [], {source}{comma}{members}}}"#);
    std::fs::write(&path, format!(r#"{{"packages": [{package}]}}"#)).expect("the folder is writable");
    let mut command = Command::new(workspace().join(".ci/licences"));
    command.current_dir(workspace()).arg("--metadata").arg(&path).output().expect("Python 3 is installed")
}

fn errors(members: &str) -> String {
    let output = check(members);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).expect("the check writes UTF-8")
}

#[test]
fn allowed_licence_expressions_comply() {
    for expression in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR GPL-3.0-only",
        "(MIT OR GPL-3.0-only) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    ] {
        let output = check(&format!(r#""license": "{expression}""#));
        assert!(output.status.success(), "{expression}: {output:?}");
    }
}

#[test]
fn other_licences_are_refused() {
    for expression in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR Zlib) AND GPL-3.0-only", "MIT WITH unknown"] {
        let errors = errors(&format!(r#""license": "{expression}""#));
        assert!(errors.contains(&format!("planted 1.0.0 has the licence `{expression}`")), "{errors}");
    }
    assert!(errors(r#""license": null"#).contains("planted 1.0.0 states no licence"));
    for expression in ["(MIT", "MIT OR", "MIT Zlib", "AND"] {
        assert!(errors(&format!(r#""license": "{expression}""#)).contains("cannot parse the licence expression"));
    }
}

#[test]
fn other_sources_and_wildcards_are_refused() {
    let git = errors(r#""license": "MIT", "source": "git+https://example.org/x""#);
    assert!(git.contains("is from the Git repository"), "{git}");
    let registry = errors(r#""license": "MIT", "source": "registry+https://example.org/index""#);
    assert!(registry.contains("is from an unknown registry"), "{registry}");
    let members = r#""license": "MIT", "source": null, "dependencies": [{"name": "other", "req": "*"}]"#;
    let wildcard = errors(members);
    assert!(wildcard.contains("accepts any version of other"), "{wildcard}");
}
