//! Tables of text.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A name that is safe in a line. A terminal would interpret control characters as commands.
pub(crate) fn printable_name(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return name.into();
    }
    let printable = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(printable).collect::<String>().into()
}

/// Maximum width of a cell in terminal columns. A very long name must not displace all other cells.
const MAX_WIDTH: usize = 64;

/// The part of a cell that fits.
fn clip_cell(cell: Cow<'_, str>) -> Cow<'_, str> {
    if cell.width() <= MAX_WIDTH {
        return cell;
    }
    let mut room = MAX_WIDTH - 1;
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let fits = width <= room;
        room -= width.min(room);
        fits
    };
    cell.chars().take_while(fits).chain(['…']).collect::<String>().into()
}

/// Appends a table after an empty line. The first row is its head. The columns in `right` are
/// aligned right.
pub(crate) fn append(text: &mut String, rows: &[Vec<String>], right: &[usize]) {
    let cells = |row: &Vec<String>| row.iter().map(|cell| clip_cell(printable_name(cell)).into_owned()).collect();
    append_whole(text, &rows.iter().map(cells).collect::<Vec<_>>(), right);
}

/// The same as [`append`], with whole cells, for texts of this program.
pub(crate) fn append_whole(text: &mut String, rows: &[Vec<String>], right: &[usize]) {
    let cells = |row: &Vec<String>| row.iter().map(|cell| printable_name(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0))
        .collect();
    text.push('\n');
    for row in &rows {
        let start = text.len();
        for (column, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - cell.width());
            let (left_blanks, right_blanks) = if right.contains(&column) { (&*blanks, "") } else { ("", &*blanks) };
            text.extend([left_blanks, cell, right_blanks, "  "]);
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
        assert_eq!(super::printable_name("a\nb\u{1b}[2J é"), "a\\nb\\u{1b}[2J é");
        let rows = [["a", "n"], ["long", "10"]].map(|row| row.map(str::to_owned).to_vec());
        let mut text = String::new();
        super::append(&mut text, &rows, &[1]);
        assert_eq!(text, "\na      n\nlong  10\n");
    }

    #[test]
    fn wide_letters_are_two_columns_and_long_names_are_cut() {
        let rows = [["日本".to_owned(), "a".repeat(3000)], ["x".to_owned(), "日".repeat(40)]].map(Vec::from);
        let mut text = String::new();
        super::append(&mut text, &rows, &[]);
        assert_eq!(text, format!("\n日本  {}…\nx     {}…\n", "a".repeat(63), "日".repeat(31)));
    }
}
