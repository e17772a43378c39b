//! The imbalance of a state over time, which no view of Tumit shows.
//!
//! The imbalance of a time column is the largest share of time that a container spends in the
//! state, divided by the mean share of all containers. It is 1 if all containers have the same
//! share. It is the number of containers if only one of them is in the state.
//!
//! ```sh
//! cargo run -p tumit-viewer --example imbalance -- run.tmt 'Local forces'
//! ```

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use tumit_viewer::OpenOptions;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{PajeTypeKind, StateLaneId};
use tumit_viewer::text::time_display::timestamp;

const COLUMNS: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, trace, value] = args.as_slice() else { return Err("usage: imbalance TRACE VALUE".into()) };
    let source = tumit_viewer::open(Path::new(trace), &OpenOptions::default())?;
    let (model, extent) = (source.model(), source.extent());
    let named = NamePattern::new(value.as_str());
    let fits = |id: tumit_viewer::query::ValueId| named.fits(&model.values[id.index()].name);

    // A row of cells for each container that has states: exact, by a query that does not depend on
    // the number of states.
    let mut rows: Vec<Vec<i64>> = Vec::new();
    for container in source.containers().iter() {
        for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
            let depths = source.depths(container.id, ty.id);
            let lanes: Vec<StateLaneId> =
                (0..depths).map(|depth| StateLaneId { container: container.id, ty: ty.id, depth }).collect();
            let cells = source.cells(&lanes, extent, COLUMNS)?.cells;
            let mut row = vec![0; COLUMNS as usize];
            for (at, cell) in cells.iter().enumerate() {
                let time: i64 = cell.shares.iter().filter(|share| fits(share.0)).map(|share| share.1).sum();
                row[at % COLUMNS as usize] += time;
            }
            if row.iter().any(|&time| time > 0) {
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        return Err(format!("no container is ever in a state called `{value}`").into());
    }
    let mut text = String::new();
    for column in 0..COLUMNS {
        let times = rows.iter().map(|row| row[column as usize]);
        let (largest, total) = (times.clone().max().unwrap_or(0), times.sum::<i64>());
        let from = timestamp(extent.column(column, COLUMNS).from, 1_000_000);
        match total {
            0 => writeln!(text, "{from:>12}  -")?,
            _ => writeln!(text, "{from:>12}  {:.2}", largest as f64 * rows.len() as f64 / total as f64)?,
        }
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
