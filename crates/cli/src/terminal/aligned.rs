//! Rows of cells, aligned in columns for a terminal.

use super::color::{NAME, paint};
use clap::builder::styling::Style;
use unicode_width::UnicodeWidthStr;

/// The width up to which a cell makes its column wider. A longer one, such as a URL, is printed
/// whole and moves only what is behind it.
const WIDEST: usize = 60;

/// The part of rows to paint.
#[derive(Clone, Copy)]
pub(super) enum Painted {
    Column(usize, Style),
    /// The first row.
    Heading,
}

/// A cell, filled up with spaces to a width in columns of the terminal.
pub(super) fn padded(cell: &str, width: usize) -> String {
    format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
}

/// The lines of some rows.
pub(super) fn aligned(rows: &[Vec<String>], painted: Option<Painted>) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest =
                (*widest).max(Some(cell.width()).filter(|width| *width <= WIDEST).unwrap_or(0));
        }
    }
    let line = |(number, row): (usize, &Vec<String>)| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let padded = padded(cell, *width);
            match painted {
                Some(Painted::Column(one, style)) if one == column && !cell.is_empty() => {
                    paint(style, cell) + &padded[cell.len()..]
                }
                _ => padded,
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        match painted {
            Some(Painted::Heading) if number == 0 => paint(NAME, line.trim_end()),
            _ => line.trim_end().to_owned(),
        }
    };
    rows.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::color::VALUE;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn columns_of_the_terminal_count_and_not_characters() {
        let lines = aligned(&rows(&[&["文書", "0.9", "x"], &["e\u{301}", "1", ""]]), None);
        assert_eq!(lines, ["文書  0.9  x", "e\u{301}     1"]);
    }

    #[test]
    fn a_long_cell_moves_only_what_is_behind_it() {
        let long = "u".repeat(61);
        let lines = aligned(&rows(&[&[&long, "1"], &["id", "2"]]), None);
        assert_eq!(lines, [format!("{long}  1"), "id  2".to_owned()]);
    }

    #[test]
    fn only_the_cell_of_a_column_is_painted() {
        let rows = rows(&[&["id", "0.9", "true"], &["文書", "é.9", ""]]);
        let green = |column| aligned(&rows, Some(Painted::Column(column, VALUE)));
        let line = "id    \u{1b}[32m0.9\u{1b}[0m  true";
        assert_eq!(green(1), [line, "文書  \u{1b}[32mé.9\u{1b}[0m"]);
        assert_eq!(green(0)[0], "\u{1b}[32mid\u{1b}[0m    0.9  true");
        assert_eq!(green(2)[1], "文書  é.9");
        let heading = aligned(&rows, Some(Painted::Heading));
        assert_eq!(heading[0], paint(NAME, "id    0.9  true"));
        assert_eq!(heading[1], "文書  é.9");
    }
}
