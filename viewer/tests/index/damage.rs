//! Damaged, truncated and foreign index files.

use tumit_viewer::index::IndexReader;
use tumit_viewer::query::QueryError;

use super::source_comparison::compare;
use super::{KEY, store, write_index};

/// Files with each byte changed (of the zeros that fill pages, only some), and of many lengths. A
/// file that is read as a whole is rejected. A file that is read on demand gives the same answers
/// or errors.
#[test]
fn damage_is_detected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_index(&path, 40);
    let original = std::fs::read(&path).expect("it was just written");
    let whole = store(40);
    let damaged = folder.path().join("damaged.tmtx");
    for position in (0..original.len()).filter(|&at| original[at] != 0 || at % 16 == 0) {
        let mut bytes = original.clone();
        bytes[position] ^= 1 << (position % 8);
        std::fs::write(&damaged, &bytes).expect("room for it");
        assert!(IndexReader::open_file(&damaged, KEY).is_err(), "byte {position}");
        if position % 211 == 0
            && let Ok(index) = IndexReader::map_file(&damaged, KEY)
        {
            let result = compare(&whole, &index);
            assert!(matches!(result, Ok(()) | Err(QueryError::Damaged)), "byte {position}: {result:?}");
            assert_eq!(result.is_err(), !damaged.exists(), "a damaged index is removed");
        }
    }
    for length in (0..original.len()).step_by(61).chain([original.len() - 1]) {
        std::fs::write(&damaged, &original[..length]).expect("room for it");
        assert!(
            IndexReader::open_file(&damaged, KEY).is_err() && IndexReader::map_file(&damaged, KEY).is_err(),
            "{length} bytes"
        );
    }
    let longer = [original.as_slice(), b"x"].concat();
    std::fs::write(&damaged, longer).expect("room for it");
    assert!(IndexReader::open_file(&damaged, KEY).is_err());
}

/// Another program may shorten the file while it is mapped: queries fail, and the program
/// continues.
#[test]
fn a_mapped_file_that_is_truncated_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = store(3_000);
    for (length, is_read_before) in [(0, true), (5_000, true), (5_000, false), (40_961, true), (u64::MAX, true)] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, 3_000);
        let bytes = std::fs::metadata(&path).expect("it was just written").len();
        let index = IndexReader::map_file(&path, KEY).expect("it was just written");
        if is_read_before {
            compare(&whole, &index).expect("the index is whole");
        }
        let file = std::fs::File::options().write(true).open(&path).expect("it is there");
        file.set_len(length.min(bytes - 3)).expect("it can be shortened");
        let result = compare(&whole, &index);
        assert!(matches!(result, Err(QueryError::Damaged)), "{length} of {bytes} bytes: {result:?}");
        assert!(!path.exists(), "a damaged index is removed");
    }
}
