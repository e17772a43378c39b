//! Messages are paired with the receives that got them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::environment::{MpiLibrary, records};

/// The messages of a run, by communicator, sender, receiver, tag and number: the sizes that the
/// sender and the receiver recorded.
fn messages(records: &[Value]) -> BTreeMap<[i64; 5], [Vec<i64>; 2]> {
    let mut messages: BTreeMap<[i64; 5], [Vec<i64>; 2]> = BTreeMap::new();
    for record in records {
        let field = |name: &str| record["fields"][name].as_i64().unwrap_or_else(|| panic!("{name}: {record}"));
        let communicator = || record["fields"]["communicator"].as_u64().expect("an id").cast_signed();
        let rank = record["rank"].as_i64().expect("each process has a rank");
        let (from, to, end) = match record["event"].as_str() {
            Some("send") => (rank, field("to"), 0),
            Some("receive" | "late_receive") => (field("from"), rank, 1),
            _ => continue,
        };
        let key = [communicator(), from, to, field("tag"), field("number")];
        messages.entry(key).or_default()[end].push(field("bytes"));
    }
    messages
}

/// Checks that each message has one sender and one receiver, and that both name the same size.
fn check(library: &MpiLibrary, threads: &str) {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let program = library.compile(folder.path(), "messages.c", &[]);
    check_messages(library, folder.path(), &program, &["8", threads]);
}

/// Runs a program that prints its number of messages, and checks the messages of its records.
fn check_messages(library: &MpiLibrary, folder: &Path, program: &Path, arguments: &[&str]) {
    let (run, output) = library.record(folder, program, arguments);
    let expected: usize = output.trim().parse().expect("rank 0 prints the number of messages");
    let messages = messages(&records(&run));
    let wrong: Vec<_> = messages.iter().filter(|(_, [sent, received])| sent.len() != 1 || sent != received).collect();
    assert!(wrong.is_empty(), "{library:?}: {} of {} messages: {wrong:?}", wrong.len(), messages.len());
    assert_eq!(messages.len(), expected, "{library:?}");
}

#[test]
fn each_message_has_the_receive_that_got_it() {
    for library in MpiLibrary::all() {
        check(&library, "1");
    }
}

#[test]
fn messages_of_several_threads_have_the_receives_that_got_them() {
    for library in MpiLibrary::all() {
        check(&library, "3");
    }
}

/// The request of a send has the handle of a receive that is complete, and that the recorder has
/// not removed yet.
#[test]
fn handles_of_complete_receives_are_used_again_by_another_thread() {
    for library in MpiLibrary::all() {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let interposer = folder.path().join("libinterposer.so");
        let options = ["-shared", "-fPIC", "-DLIBRARY"].map(OsStr::new);
        let compiled = library.compile(folder.path(), "handle_reuse.c", &options);
        fs::rename(compiled, &interposer).expect("the folder is writable");
        let program = library.compile(folder.path(), "handle_reuse.c", &[interposer.as_os_str()]);
        check_messages(&library, folder.path(), &program, &[]);
    }
}
