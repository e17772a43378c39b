//! [`DiagramMarks`]: the marks of a card with a mode of the diagram: the pixel columns of its rows.

use serde_json::{Value, json};
use tumit_perspectives::diagram::DiagramMode;
use tumit_perspectives::unit_lists::UnitLists;
use tumit_viewer::layout::{ContainerOutline, LayoutOptions, LayoutRow, StripKind};
use tumit_viewer::query::{ContainerId, QueryError, TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentRows, ImagePoint, PickedMixture, mixture};
use tumit_viewer::text::time_display::{duration, timestamp};

use super::region_message::{UnitContainers, add_units, differences, frame_json, tenths};

/// The smallest share of a value that a text mentions. Smaller ones would be written as 0 %.
const LEAST_SHARE: f32 = 0.005;

/// The rows of a diagram. Each pixel column of a row is a mark.
pub(super) struct DiagramMarks<'a> {
    /// The trace of the diagram.
    pub(super) source: &'a dyn TimelineSource,
    pub(super) outline: &'a ContainerOutline,
    /// For each unit, its container in the trace of the diagram. Units of a bundle share one.
    pub(super) leaves: &'a [ContainerId],
    pub(super) options: &'a LayoutOptions,
    pub(super) rows: DocumentRows,
    pub(super) range: TimeRange,
    pub(super) mode: Option<DiagramMode>,
}

impl DiagramMarks<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the width of an image")]
    fn columns(&self) -> u32 {
        self.rows.frame.width.max(1.0) as u32
    }

    /// The region of all rows. Times are nanoseconds after `origin`.
    pub(super) fn region_json(&self, units: &UnitContainers, origin: i64) -> Value {
        let (rows, columns) = (&self.rows.layout.rows, self.columns());
        let mut json = json!({
            "kind": "lanes",
            "frame": frame_json(&self.rows.frame),
            "columns": columns,
            "marks": rows.len() * columns as usize,
            "tops": differences(rows.iter().map(|row| tenths(row.y))),
            "heights": rows.iter().map(|row| tenths(row.height)).collect::<Vec<_>>(),
            "from": self.range.from.0.saturating_sub(origin),
            "to": self.range.to.0.saturating_sub(origin),
        });
        add_units(&mut json, "units", &self.unit_lists(), units);
        json
    }

    /// The units of each row.
    fn unit_lists(&self) -> UnitLists {
        let mut places: Vec<(ContainerId, u32)> = self.leaves.iter().copied().zip(0..).collect();
        places.sort_unstable();
        let of_container = |container: ContainerId| {
            let first = places.partition_point(|place| place.0 < container);
            places[first..].iter().take_while(move |place| place.0 == container).map(|place| place.1)
        };
        let units = |row: &LayoutRow| self.outline.subtree(row.container).flat_map(of_container).collect::<Vec<u32>>();
        self.rows.layout.rows.iter().map(units).collect()
    }

    /// The row, the time and the states of a mark.
    pub(super) fn text(&self, mark: usize) -> Result<Option<String>, QueryError> {
        let columns = self.columns();
        let (row, column) = (mark / columns as usize, u32::try_from(mark % columns as usize).unwrap_or(0));
        let Some(row) = self.rows.layout.rows.get(row) else { return Ok(None) };
        let has_states = |kind: &StripKind| matches!(kind, StripKind::States { .. } | StripKind::Summary { .. });
        let Some(strip) = row.strips.iter().find(|strip| has_states(&strip.kind)) else {
            return Ok(Some(row.name.clone()));
        };
        let time_range = self.range.column(column, columns);
        let point = ImagePoint { time_range, y: strip.y + strip.height / 2.0 };
        let picked_mixture = mixture(self.source, &self.rows.layout, self.options, point)?;
        let resolution = ((time_range.to.0 - time_range.from.0) / 10).max(1);
        let states = match picked_mixture {
            None => self.absence().to_owned(),
            Some(found) => self.states_text(&found, resolution)?,
        };
        Ok(Some(format!("{} at {}: {states}", row.name, timestamp(time_range.from, resolution))))
    }

    fn states_text(&self, picked_mixture: &PickedMixture, resolution: i64) -> Result<String, QueryError> {
        if let Some(state) = picked_mixture.first.filter(|_| picked_mixture.states == 1) {
            let facts = self.source.facts(state)?;
            let TimeRange { from, to } = facts.life;
            let nanos = to.0.saturating_sub(from.0);
            let resolution = (nanos / 1000).clamp(1, resolution);
            let (start, end) = (timestamp(from, resolution), timestamp(to, resolution));
            return Ok(format!("{} {} from {start} to {end}", facts.name, duration(nanos)));
        }
        let parts = picked_mixture.parts.iter().filter(|part| part.share >= LEAST_SHARE);
        let parts: Vec<String> = parts.map(|part| format!("{} {:.0} %", part.name, part.share * 100.0)).collect();
        Ok(if parts.is_empty() { self.absence().to_owned() } else { parts.join(", ") })
    }

    /// The meaning of a time without a state.
    fn absence(&self) -> &'static str {
        match self.mode {
            Some(DiagramMode::SpaceTime | DiagramMode::CriticalPath) => "idle",
            Some(DiagramMode::TaskGantt) => "no task",
            _ => "no state",
        }
    }
}
