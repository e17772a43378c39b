//! Reads any text as a card file. A card without mistakes is drawn for a small trace, in all time
//! modes.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use tumit_perspectives::cards::{CardFile, CardView};
use tumit_perspectives::draw::{DrawOptions, draw};
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::options::ViewOptions;
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewRequest};
use tumit_viewer::query::GlobalNanos;
use tumit_viewer::store::TraceStore;

/// Two threads with states, a variable, a message, and events with fields.
const TRACE: &str = concat!(
    include_str!("../../../viewer/tests/header.paje"),
    "%EventDef PajeNewEvent 21\n% Time date\n% Container string\n% Type string\n% Value string\n",
    "% Id int\n% Pos int\n%EndEventDef\n",
    "0 T 0 Thread\n1 V T Load \"0 1 0\"\n2 A T Activity\n3 E T Place \"0 1 0\"\n4 M 0 T T Message\n",
    "6 0 a 0 T a\n6 0 b 0 T b\n8 0 a V 1\n11 0 a A work\n11 0 b A wait\n15 1 0 M a m k\n16 2 0 M b m k\n",
    "21 1 a E placed 7 0\n21 2 b E placed 8 1\n21 3 a E placed 7 1\n7 4 T a\n7 4 T b\n",
);

fn execution() -> &'static Execution {
    static EXECUTION: OnceLock<Execution> = OnceLock::new();
    EXECUTION.get_or_init(|| {
        let store = TraceStore::from_paje("fuzz", TRACE.as_bytes()).expect("a valid trace");
        Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a trace with units")
    })
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(card) = CardFile::parse("fuzz.card.toml", text) else { return };
    let (view, execution) = (CardView::new(card), execution());
    let range = execution.extent();
    for (_, mode) in TimeMode::WORDS {
        let mut options = ViewOptions::default();
        options.width = Some(1_000_000_000);
        let request = ViewRequest { mode, range, time: GlobalNanos(range.to.0 / 2), columns: 8, options, needs_table: true };
        if let Ok(chart) = view.chart(execution, &request) {
            let _scene = draw(&chart, DrawOptions::default());
        }
    }
});
