//! Tables of text.

use std::borrow::Cow;

/// A name as it can be shown in a line: a terminal would take control characters for orders.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return name.into();
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(shown).collect::<String>().into()
}

/// Appends a table after an empty line; the first row is its head. Columns in `right` are flush right.
pub(crate) fn append(text: &mut String, rows: &[Vec<String>], right: &[usize]) {
    let rows: Vec<Vec<Cow<'_, str>>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    text.push('\n');
    for row in &rows {
        let start = text.len();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            if right.contains(&column) {
                text.push_str(&format!("{cell:>width$}  "));
            } else {
                text.push_str(&format!("{cell:<width$}  "));
            }
        }
        let length = text[start..].trim_end().len();
        text.truncate(start + length);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_aligned() {
        assert_eq!(super::plain("a\nb\u{1b}[2J é"), "a\\nb\\u{1b}[2J é");
        let rows = [["a", "n"], ["long", "10"]].map(|row| row.map(str::to_owned).to_vec());
        let mut text = String::new();
        super::append(&mut text, &rows, &[1]);
        assert_eq!(text, "\na      n\nlong  10\n");
    }
}
