//! Draws a view of its own: `sort-view RUN.tmt --at 5ms -o sort.svg`.

mod placements;
mod sort_view;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use clap::Parser;
use tumit_perspectives::chart_text;
use tumit_perspectives::draw::{DrawOptions, draw};
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_perspectives::options::ViewOptions;
use tumit_perspectives::view::{PerspectiveView, TimeMode, ViewRequest};
use tumit_viewer::OpenOptions;
use tumit_viewer::export::svg;
use tumit_viewer::query::GlobalNanos;

use sort_view::SortView;

/// Draws the array of a parallel sort at a time.
#[derive(Debug, Parser)]
struct ViewArguments {
    /// A run of `parallel_sort`
    run: PathBuf,
    /// The time in milliseconds after the first timestamp
    #[arg(long, value_name = "MILLISECONDS", allow_hyphen_values = true)]
    at: f64,
    /// The image, with the ending .svg, or the table of its elements, with the ending .csv
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = ViewArguments::parse();
    let source = tumit_viewer::open(&arguments.run, &OpenOptions::default())?;
    let execution = Execution::new(source, ExecutionSettings::default())?;
    let range = execution.extent();
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
    let time = GlobalNanos(range.from.0.saturating_add((arguments.at * 1e6) as i64));
    let options = ViewOptions::default();
    let request = ViewRequest { mode: TimeMode::At, range, time, columns: 800, options, needs_table: true };
    let chart = SortView.chart(&execution, &request)?;
    let text = match arguments.output.extension() {
        Some(ending) if ending == "csv" => chart_text::csv(&chart.table),
        _ => svg::to_string(&draw(&chart, DrawOptions::new(960.0, 640.0))),
    };
    fs::write(&arguments.output, text)?;
    Ok(())
}
