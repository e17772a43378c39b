//! [`SelectedRows`]: the rows of the page's selection.

use std::str::FromStr;

use tumit_viewer::query::{ContainerId, ContainerInfo};

use super::RequestError;

/// The rows of the selection: containers with everything below them. Without any, all rows.
///
/// The text has the ids, in which consecutive ones are a run: `3-7 9`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelectedRows {
    /// The first and last id of each run, sorted.
    runs: Vec<(u32, u32)>,
}

impl FromStr for SelectedRows {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        let run = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let run: (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            (run.0 <= run.1).then_some(run)
        };
        let invalid = |part: &str| {
            RequestError::of_client(format!(
                "`{part}`: expected the number of a row, or a run of numbers such as `3-7`"
            ))
        };
        let runs = text.split_whitespace().map(|part| run(part).ok_or_else(|| invalid(part)));
        let mut runs = runs.collect::<Result<Vec<_>, _>>()?;
        runs.sort_unstable();
        // Overlapping runs become one, so that a search by halves finds the run of an id.
        runs.dedup_by(|next, run| {
            let overlaps = next.0 <= run.1;
            if overlaps {
                run.1 = run.1.max(next.1);
            }
            overlaps
        });
        Ok(Self { runs })
    }
}

impl SelectedRows {
    /// Whether all rows are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether the container itself is named.
    pub(crate) fn names(&self, container: ContainerId) -> bool {
        let after = self.runs.partition_point(|run| run.0 <= container.0);
        after.checked_sub(1).is_some_and(|run| container.0 <= self.runs[run].1)
    }

    /// The named containers of a list that are not below another one, in the order of the list. If
    /// rows are named but none exists any more, the id of a named one, which the caller refuses.
    pub(crate) fn topmost_containers(&self, containers: &[ContainerInfo]) -> Vec<ContainerId> {
        let mut rows = Vec::new();
        // The depth of the found container that the present one is in. The list is depth first.
        let mut top: Option<u32> = None;
        for info in containers.iter().filter(|_| !self.is_all()) {
            top = top.filter(|depth| info.depth > *depth);
            if top.is_none() && self.names(info.id) {
                top = Some(info.depth);
                rows.push(info.id);
            }
        }
        if rows.is_empty() {
            rows.extend(self.runs.first().map(|run| ContainerId(run.0)));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use tumit_viewer::query::{ContainerId, ContainerInfo, GlobalNanos, TimeRange, TypeId};

    use super::SelectedRows;

    /// A trace with containers of these depths, numbered from 0.
    fn list(depths: &[u32]) -> Vec<ContainerInfo> {
        let life = TimeRange { from: GlobalNanos(0), to: GlobalNanos(1) };
        let info = |(id, &depth): (u32, &u32)| ContainerInfo {
            id: ContainerId(id),
            ty: TypeId(depth),
            parent: ContainerId(0),
            name: id.to_string(),
            depth,
            life,
        };
        (0..).zip(depths).map(info).collect()
    }

    #[test]
    fn runs_are_read_and_containers_below_others_left_out() {
        let rows: SelectedRows = "9 3-5 4-7 1".parse().unwrap();
        let named: Vec<u32> = (0..12).filter(|&id| rows.names(ContainerId(id))).collect();
        assert_eq!(named, [1, 3, 4, 5, 6, 7, 9]);
        let all = list(&[0, 1, 2, 2, 1, 2, 1]);
        let topmost = |text: &str| {
            let rows: SelectedRows = text.parse().unwrap();
            rows.topmost_containers(&all).iter().map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(topmost("1-3 5"), [1, 5]);
        assert_eq!(topmost("2 6"), [2, 6]);
        assert_eq!(topmost("0-4294967295"), [0]);
        assert_eq!(topmost(""), Vec::<u32>::new());
        // A row that a filter has removed is not the same as no row.
        assert_eq!(topmost("40-50"), [40]);
        for wrong in ["x", "3-", "7-3", "-1"] {
            let error = wrong.parse::<SelectedRows>().unwrap_err().body().to_string();
            assert!(error.contains("expected the number of a row"), "{error}");
        }
    }
}
