//! Reports counters that a run does not contain, with the reason.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_converter::run::{OpenRun, ProcessInRun};
use tumit_converter::tools::dump::{RecordSelection, list_selected};

/// The name of `std:counters`.
const COUNTERS: &str = "counters";

/// Whether a run contains only counters. It has no states then, so that there are no shares of time
/// and no waits.
pub(crate) fn has_only_counters(run: &OpenRun) -> bool {
    run.processes.iter().flat_map(|process| &process.providers).all(|provider| provider.schema.name == COUNTERS)
}

/// A line for each reason. The machines of a run may have different reasons.
pub(crate) fn counter_limits(run: &OpenRun) -> Vec<String> {
    let has_counters =
        |process: &ProcessInRun| process.providers.iter().any(|provider| provider.schema.name == COUNTERS);
    if !run.processes.iter().any(has_counters) {
        return Vec::new();
    }
    let mut options = ConvertOptions::default();
    (options.clock, options.has_causal_pass) = (CorrectionMethod::None, false);
    let mut selection = RecordSelection::default();
    selection.events.push("counter_limited".to_owned());
    // The counters in the order of their records, by reason and setting.
    let mut limits: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let listed = list_selected::<ConvertError>(run, &options, &selection, |record| {
        let text = |name: &str| record.fields.iter().find(|field| field.0 == name).map(|field| field.1.to_string());
        if let (Some(counter), Some(reason), Some(setting)) = (text("counter"), text("reason"), text("paranoid")) {
            let counters = limits.entry((reason, setting)).or_default();
            if !counters.contains(&counter) {
                counters.push(counter);
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    if listed.is_err() {
        return Vec::new();
    }
    limits.into_iter().map(|((reason, setting), counters)| limit_text(&reason, &setting, &counters)).collect()
}

fn limit_text(reason: &str, setting: &str, counters: &[String]) -> String {
    let names = counters.join(", ").replace('_', " ");
    let missing = format!("these counters were not recorded: {names}");
    match reason {
        "hardware" => format!("{missing}; the processor has none, or the virtual machine does not show them"),
        "permission" => format!(
            "{missing}; the setting kernel.perf_event_paranoid={setting} forbids them: `sysctl kernel.perf_event_paranoid=2` as root permits them"
        ),
        "sandbox" => format!(
            "{missing}; a sandbox forbids the system call perf_event_open: in Docker, `--cap-add PERFMON` permits it"
        ),
        "user_code_only" => format!(
            "these counters exclude the kernel: {names}; the setting kernel.perf_event_paranoid={setting} forbids it: `sysctl kernel.perf_event_paranoid=1` as root permits it"
        ),
        _ => format!("{missing}; the system refused them"),
    }
}

#[cfg(test)]
mod tests {
    use super::limit_text;

    #[test]
    fn each_reason_has_a_text() {
        let counters = ["cycles".to_owned(), "cache_misses".to_owned()];
        let texts = ["hardware", "permission", "sandbox", "user_code_only", "error"]
            .map(|reason| limit_text(reason, "3", &counters));
        assert!(texts.iter().all(|text| text.contains("cycles, cache misses; ")), "{texts:?}");
        assert!(texts[1].contains("kernel.perf_event_paranoid=3 forbids them"), "{}", texts[1]);
    }
}
