//! [`SavedPositions`]: positions of units in a file of lines `name x y`.

use rustc_hash::FxHashMap;

use super::node_layout::{NodePosition, fit_to_square};
use crate::error::PerspectiveError;

/// The positions of units by name.
#[derive(Debug, Default)]
pub(crate) struct SavedPositions {
    by_name: FxHashMap<String, NodePosition>,
}

impl SavedPositions {
    /// Reads a file. Each line has the name of a unit, which may contain blanks, and two numbers.
    /// Empty lines and lines that begin with `#` have no meaning.
    pub(crate) fn read(path: &str) -> Result<Self, PerspectiveError> {
        let error = |problem: String| PerspectiveError::File { path: path.to_owned(), problem };
        let text = std::fs::read_to_string(path).map_err(|cause| error(cause.to_string()))?;
        Self::parse(&text).map_err(error)
    }

    /// Parses the text of a file. If a number is not from 0 to 1, all positions are scaled.
    fn parse(text: &str) -> Result<Self, String> {
        let (mut names, mut positions) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, position) = parse_line(line)
                .ok_or_else(|| format!("line {number} is not a name and two numbers, such as `rank 3  0.25 0.5`"))?;
            names.push(name.to_owned());
            positions.push(position);
        }
        let is_inside = |(x, y): &NodePosition| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y);
        let positions = if positions.iter().all(is_inside) { positions } else { fit_to_square(positions) };
        Ok(Self { by_name: names.into_iter().zip(positions).collect() })
    }

    /// The names, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn get(&self, name: &str) -> Option<NodePosition> {
        self.by_name.get(name).copied()
    }
}

fn parse_line(line: &str) -> Option<(&str, NodePosition)> {
    let (rest, y) = line.rsplit_once(char::is_whitespace)?;
    let (name, x) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    let (x, y): (f64, f64) = (x.parse().ok()?, y.parse().ok()?);
    let name = name.trim_end();
    (x.is_finite() && y.is_finite() && !name.is_empty()).then_some((name, (x, y)))
}

#[cfg(test)]
mod tests {
    use super::SavedPositions;

    #[test]
    fn lines_have_names_with_blanks_and_two_numbers() {
        let saved = SavedPositions::parse("# saved\n\nrank 3  0.25\t0.5\nhost 1 0\n").unwrap();
        assert_eq!(saved.get("rank 3"), Some((0.25, 0.5)));
        assert_eq!(saved.get("host"), Some((1.0, 0.0)));
        let scaled = SavedPositions::parse("a 0 0\nb 200 100").unwrap();
        let (x, y) = scaled.get("b").unwrap();
        assert!((x - 0.95).abs() < 1e-9 && (y - 0.725).abs() < 1e-9);
        assert!(SavedPositions::parse("a 0").unwrap_err().starts_with("line 1"));
        assert!(SavedPositions::parse("a nan 0").is_err());
    }
}
