//! Reading never panics, with any bytes and with any sequence of likely words.

use proptest::prelude::*;

use super::{EventLog, with_header};
use crate::read::read;

fn fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "20",
        "S",
        "T",
        "R",
        "c1",
        "c2",
        "\"",
        "\"a b\"",
        "#",
        "%",
        "%EventDef",
        "PajeSetState",
        "%EndEventDef",
        "Time",
        "date",
        "-1",
        "1e9",
        "\n",
        "\n",
        "\n",
        "\t",
        "\r",
        "é",
        "\0",
    ]);
    prop::collection::vec(words, 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_bytes_are_rejected_or_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(bytes.as_slice(), &mut EventLog::default());
        let mut body = with_header("");
        body.extend_from_slice(&bytes);
        prop_assert!(read(body.as_slice(), &mut EventLog::default()).is_ok());
    }

    #[test]
    fn any_likely_words_are_read(text in fragments()) {
        prop_assert!(read(with_header(&text).as_slice(), &mut EventLog::default()).is_ok());
    }
}
