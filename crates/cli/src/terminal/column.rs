//! A column of text on a terminal: wrapped, with marked parts in colour and long stretches
//! shortened.

use super::color::{DELETED, INSERTED, PASSAGES, paint};
use super::escape::for_terminal;
use super::numbers::grouped;
use clap::builder::styling::Style;
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A part of a text, which is marked as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it is in the text.
    pub bytes: Range<usize>,
    /// The number of what is marked, from 0.
    pub mark: Option<usize>,
}

/// How a column shows what is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// By colours in turn, or with its number.
    Numbers,
    /// In red or `[-…-]`: what the second text lacks.
    Deleted,
    /// In green or `{+…+}`: what the first text lacks.
    Inserted,
}

impl Marks {
    fn style(self, number: usize) -> Style {
        match self {
            Self::Numbers => PASSAGES[number % PASSAGES.len()],
            Self::Deleted => DELETED,
            Self::Inserted => INSERTED,
        }
    }

    /// What stands around a mark without colour.
    fn around(self, number: usize) -> (String, &'static str) {
        match self {
            Self::Numbers => (format!("[{} ", number + 1), "]"),
            Self::Deleted => ("[-".to_owned(), "-]"),
            Self::Inserted => ("{+".to_owned(), "+}"),
        }
    }
}

/// The most lines of a stretch that is not marked. A longer one is shortened:
const LONGEST: usize = 8;
/// this many of its first lines remain,
const FIRST: usize = 3;
/// and this many of its last.
const LAST: usize = 2;

/// A shorter line is taken to end on purpose. Lines of wrapped prose mostly have 65 to 80
/// characters.
const SHORTEST_WRAPPED: usize = 55;

/// A column, filled line by line.
pub struct Column<'t> {
    stretches: std::vec::IntoIter<Stretch>,
    text: &'t str,
    /// Where the current line of the text begins.
    line_start: usize,
    width: usize,
    color: bool,
    marks: Marks,
    lines: Vec<ColumnLine>,
    /// The current word, which is placed as a whole once its end is known.
    word: Vec<Grapheme<'t>>,
}

#[derive(Default)]
struct ColumnLine {
    /// Pieces of text, each with its mark. Neighbours have different marks.
    parts: Vec<(Option<usize>, String)>,
    width: usize,
}

/// What a reader sees as one character.
struct Grapheme<'t> {
    shown: Cow<'t, str>,
    width: usize,
    mark: Option<usize>,
}

impl<'t> Column<'t> {
    /// Prepares a column of this width for a text that is cut into stretches.
    pub fn new(
        stretches: Vec<Stretch>,
        width: usize,
        color: bool,
        marks: Marks,
        text: &'t str,
    ) -> Self {
        let stretches = stretches.into_iter();
        let lines = vec![ColumnLine::default()];
        Self { stretches, text, line_start: 0, width, color, marks, lines, word: Vec::new() }
    }

    /// Lays out the remaining stretches that begin before this byte.
    pub fn lay_until(&mut self, byte: usize) {
        while self.stretches.as_slice().first().is_some_and(|next| next.bytes.start < byte) {
            let Some(stretch) = self.stretches.next() else { return };
            self.lay(&stretch);
        }
    }

    /// The number of lines so far.
    pub fn line(&self) -> usize {
        self.lines.len()
    }

    /// Places the last word; returns the number of the first empty line.
    pub fn next_line(&mut self) -> usize {
        self.end_word();
        let is_blank = self.lines.last().is_some_and(|line| line.width == 0);
        self.lines.len() + usize::from(!is_blank)
    }

    /// Adds empty lines until there are this many.
    pub fn continue_at(&mut self, line: usize) {
        if self.lines.len() < line {
            self.lines.resize_with(line, ColumnLine::default);
        }
    }

    /// The painted lines, each with its width in columns.
    pub fn finish(mut self) -> Vec<(String, usize)> {
        self.end_word();
        let Self { color, marks, .. } = self;
        let painted = |(mark, text): (Option<usize>, String)| match mark {
            Some(number) if color => paint(marks.style(number), &text),
            _ => text,
        };
        let line = |line: ColumnLine| (line.parts.into_iter().map(painted).collect(), line.width);
        self.lines.into_iter().map(line).collect()
    }

    /// As much of a name as fits, with its width in columns.
    pub fn one_line(name: &str, width: usize) -> (String, usize) {
        let mut out = String::new();
        let mut used = 0;
        for grapheme in name.graphemes(true) {
            let shown = for_terminal(grapheme);
            used += shown.width();
            if used > width {
                return (out, used - shown.width());
            }
            out += &shown;
        }
        (out, used)
    }

    fn lay(&mut self, stretch: &Stretch) {
        let Some(number) = stretch.mark else {
            return self.lay_other(&stretch.bytes);
        };
        let (before, after) = self.marks.around(number);
        if !self.color {
            self.lay_text(Cow::Owned(before), None);
        }
        self.lay_graphemes(stretch.bytes.clone(), stretch.mark);
        if !self.color {
            self.lay_text(after.into(), None);
        }
    }

    /// Lays out a stretch that is not marked, shortened if it is long.
    fn lay_other(&mut self, bytes: &Range<usize>) {
        let text = &self.text[bytes.clone()];
        if reach(text.graphemes(true), LONGEST * self.width, self.width) == text.len() {
            return self.lay_graphemes(bytes.clone(), None);
        }
        let first = reach(text.graphemes(true), FIRST * self.width, self.width);
        let last = reach(text.graphemes(true).rev(), LAST * self.width, self.width);
        // Cut between words if possible.
        let first = text[..first].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(first);
        let rest = text.len() - last;
        let last = rest + text[rest..].find(char::is_whitespace).unwrap_or(0);
        let left_out = text[first..last].chars().count() as u64;
        self.lay_graphemes(bytes.start..bytes.start + first, None);
        self.break_line();
        let mark = format!("... {} characters ...", grouped(left_out));
        for word in mark.split(' ') {
            self.lay_text(word.to_owned().into(), None);
            self.lay_text(" ".into(), None);
        }
        self.break_line();
        let last = text.len() - text[last..].trim_start().len();
        // The current line may have begun in the part that is left out.
        if let Some(end) = text[first..last].rfind(LINE_ENDS) {
            let end = bytes.start + first + end;
            self.line_start = end + self.text[end..].chars().next().map_or(0, char::len_utf8);
        }
        self.lay_graphemes(bytes.start + last..bytes.end, None);
    }

    fn lay_graphemes(&mut self, bytes: Range<usize>, mark: Option<usize>) {
        for (at, grapheme) in self.text[bytes.clone()].grapheme_indices(true) {
            if !is_line_end(grapheme) {
                match grapheme {
                    "\t" => self.lay_text("    ".into(), mark),
                    _ => self.lay_text(for_terminal(grapheme), mark),
                }
                continue;
            }
            let end = bytes.start + at;
            let next = end + grapheme.len();
            if self.is_wrapped(end, next) {
                self.lay_text(" ".into(), mark);
            } else {
                self.break_line();
            }
            self.line_start = next;
        }
    }

    /// Whether the line that ends here was wrapped by its writer, so that it may be joined with the
    /// next one. Prose stays readable when it is wrapped again; code does not.
    fn is_wrapped(&self, end: usize, next: usize) -> bool {
        let line = &self.text[self.line_start..end];
        let after = &self.text[next..];
        let goes_on = after.chars().next().is_some_and(|next| !next.is_whitespace());
        goes_on && line.chars().nth(SHORTEST_WRAPPED - 1).is_some()
    }

    /// Lays out a piece that is not broken unless it is longer than a line.
    fn lay_text(&mut self, shown: Cow<'t, str>, mark: Option<usize>) {
        let width = shown.width();
        let is_space = shown.chars().all(char::is_whitespace);
        // A line may be broken between ideographs.
        let stands_alone = is_space || width > 1 && shown.chars().all(|c| !c.is_ascii());
        if stands_alone {
            self.end_word();
        }
        if is_space && self.room() < width {
            // A space at the end of a line is dropped.
            return;
        }
        self.word.push(Grapheme { shown, width, mark });
        if stands_alone {
            self.end_word();
        }
    }

    fn room(&self) -> usize {
        self.width - self.lines.last().map_or(0, |line| line.width.min(self.width))
    }

    fn break_line(&mut self) {
        self.end_word();
        // Several blank lines become one.
        let blank = self.lines.iter().rev().take(2).take_while(|line| line.width == 0).count();
        if blank < 2 {
            self.lines.push(ColumnLine::default());
        }
    }

    /// Places the current word, on a new line if the current one has no room for it.
    fn end_word(&mut self) {
        let width: usize = self.word.iter().map(|grapheme| grapheme.width).sum();
        if width > self.room() && width <= self.width {
            self.lines.push(ColumnLine::default());
        }
        for grapheme in std::mem::take(&mut self.word) {
            if grapheme.width > self.room() && self.room() < self.width {
                self.lines.push(ColumnLine::default());
            }
            let Some(line) = self.lines.last_mut() else { return };
            line.width += grapheme.width;
            match line.parts.last_mut().filter(|(mark, _)| *mark == grapheme.mark) {
                Some((_, text)) => text.push_str(&grapheme.shown),
                None => line.parts.push((grapheme.mark, grapheme.shown.into_owned())),
            }
        }
    }
}

/// How many bytes fill this many cells, in lines of `width`.
fn reach<'c>(graphemes: impl Iterator<Item = &'c str>, cells: usize, width: usize) -> usize {
    let mut bytes = 0;
    let mut used = 0_usize;
    for grapheme in graphemes {
        used = if is_line_end(grapheme) {
            // Further blank lines take no cells: several become one.
            used.next_multiple_of(width)
        } else {
            used + for_terminal(grapheme).width()
        };
        if used > cells {
            break;
        }
        bytes += grapheme.len();
    }
    bytes
}

const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

fn is_line_end(grapheme: &str) -> bool {
    // CR with LF is the only longer grapheme that begins with one of these.
    grapheme.starts_with(LINE_ENDS)
}

#[cfg(test)]
#[path = "column_tests.rs"]
mod tests;
