//! The parser of time ranges reads the table of test texts as written there. The tests of the
//! filter language, of the commands and of the page read the same table.

use serde_json::Value;
use tumit_paje::time_range::OpenTimeRange;

#[test]
fn the_table_is_read_as_written() {
    let table: Vec<Value> = serde_json::from_str(include_str!("time_ranges.json")).expect("a table");
    for row in &table {
        let text = row["text"].as_str().expect("each row has a text");
        match text.parse::<OpenTimeRange>() {
            Ok(range) => {
                let bounds = [range.from, range.to].map(|time| time.map(|time| time.0.to_string()));
                assert_eq!(bounds, ["from", "to"].map(|key| row[key].as_str().map(str::to_owned)), "{text}");
                assert_eq!(row.get("error"), None, "{text}");
                assert_eq!(range.to_string().parse(), Ok(range), "{text}");
            }
            Err(error) => assert_eq!(Some(error.to_string().as_str()), row["error"].as_str(), "{text}"),
        }
    }
    assert!(table.len() > 60, "{}", table.len());
}
