//! A column of text on a terminal: wrapped to a width, passages in colour, long stretches shortened.

use crate::terminal::color::{PASSAGES, paint};
use crate::terminal::escape::for_terminal;
use crate::terminal::output::grouped;
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A part of a text, with the number of the passage that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub bytes: Range<usize>,
    pub passage: Option<usize>,
}

/// A stretch in no passage that takes more lines than this is shortened,
const LONGEST: usize = 8;
/// to so many of its first,
const FIRST: usize = 3;
/// and so many of its last.
const LAST: usize = 2;

/// Lines of fewer characters end where they do on purpose. Wrapped prose mostly has 65 to 80.
const SHORTEST_WRAPPED: usize = 55;

/// Lines that are filled one after the other.
pub struct Column<'t> {
    stretches: std::vec::IntoIter<Stretch>,
    text: &'t str,
    /// Where the line of the text begins that is being laid out.
    line_start: usize,
    width: usize,
    color: bool,
    lines: Vec<Line>,
    /// What is not to be broken, and waits for its end to be known.
    word: Vec<Cluster<'t>>,
}

#[derive(Default)]
struct Line {
    /// Neighbouring parts are in different passages.
    parts: Vec<(Option<usize>, String)>,
    width: usize,
}

/// What a person takes for one character.
struct Cluster<'t> {
    shown: Cow<'t, str>,
    width: usize,
    passage: Option<usize>,
}

impl<'t> Column<'t> {
    pub fn new(stretches: Vec<Stretch>, width: usize, color: bool, text: &'t str) -> Self {
        let (stretches, lines) = (stretches.into_iter(), vec![Line::default()]);
        Self { stretches, text, line_start: 0, width, color, lines, word: Vec::new() }
    }

    /// Lays out the stretches that begin before this byte and were not so far.
    pub fn lay_until(&mut self, byte: usize) {
        while self.stretches.as_slice().first().is_some_and(|next| next.bytes.start < byte) {
            let Some(stretch) = self.stretches.next() else { return };
            self.lay(&stretch);
        }
    }

    /// How many lines there are.
    pub fn line(&self) -> usize {
        self.lines.len()
    }

    /// The first line of which nothing is taken, once the last word is where it belongs.
    pub fn next_line(&mut self) -> usize {
        self.end_word();
        let is_blank = self.lines.last().is_some_and(|line| line.width == 0);
        self.lines.len() + usize::from(!is_blank)
    }

    /// Leaves lines empty until there are so many.
    pub fn go_on_at(&mut self, line: usize) {
        if self.lines.len() < line {
            self.lines.resize_with(line, Line::default);
        }
    }

    /// The lines, painted, each with the columns it takes.
    pub fn finish(mut self) -> Vec<(String, usize)> {
        self.end_word();
        let color = self.color;
        let painted = |(passage, text): (Option<usize>, String)| match passage {
            Some(number) if color => paint(PASSAGES[number % PASSAGES.len()], &text),
            _ => text,
        };
        let line = |line: Line| (line.parts.into_iter().map(painted).collect(), line.width);
        self.lines.into_iter().map(line).collect()
    }

    /// As much of a name as there is room for, and the columns it takes.
    pub fn one_line(name: &str, width: usize) -> (String, usize) {
        let (mut out, mut used) = (String::new(), 0);
        for cluster in name.graphemes(true) {
            let shown = for_terminal(cluster);
            used += shown.width();
            if used > width {
                return (out, used - shown.width());
            }
            out += &shown;
        }
        (out, used)
    }

    fn lay(&mut self, stretch: &Stretch) {
        let Some(number) = stretch.passage else {
            return self.lay_other(&stretch.bytes);
        };
        // Without colour a passage is told by its number.
        if !self.color {
            self.lay_text(Cow::Owned(format!("[{} ", number + 1)), None);
        }
        self.lay_clusters(stretch.bytes.clone(), stretch.passage);
        if !self.color {
            self.lay_text("]".into(), None);
        }
    }

    /// Lays out what is in no passage.
    fn lay_other(&mut self, bytes: &Range<usize>) {
        let text = &self.text[bytes.clone()];
        if reach(text.graphemes(true), LONGEST * self.width, self.width) == text.len() {
            return self.lay_clusters(bytes.clone(), None);
        }
        let first = reach(text.graphemes(true), FIRST * self.width, self.width);
        let last = reach(text.graphemes(true).rev(), LAST * self.width, self.width);
        // Between words, if there are any.
        let first = text[..first].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(first);
        let rest = text.len() - last;
        let last = rest + text[rest..].find(char::is_whitespace).unwrap_or(0);
        let left_out = text[first..last].chars().count() as u64;
        self.lay_clusters(bytes.start..bytes.start + first, None);
        self.break_line();
        let mark = format!("... {} characters ...", grouped(left_out));
        for word in mark.split(' ') {
            self.lay_text(word.to_owned().into(), None);
            self.lay_text(" ".into(), None);
        }
        self.break_line();
        let last = text.len() - text[last..].trim_start().len();
        // The line that is gone on with may have begun in what is left out.
        if let Some(end) = text[first..last].rfind(LINE_ENDS) {
            let end = bytes.start + first + end;
            self.line_start = end + self.text[end..].chars().next().map_or(0, char::len_utf8);
        }
        self.lay_clusters(bytes.start + last..bytes.end, None);
    }

    fn lay_clusters(&mut self, bytes: Range<usize>, passage: Option<usize>) {
        for (at, cluster) in self.text[bytes.clone()].grapheme_indices(true) {
            if !is_line_end(cluster) {
                match cluster {
                    "\t" => self.lay_text("    ".into(), passage),
                    _ => self.lay_text(for_terminal(cluster), passage),
                }
                continue;
            }
            let (end, next) = (bytes.start + at, bytes.start + at + cluster.len());
            match self.is_wrapped(end, next) {
                true => self.lay_text(" ".into(), passage),
                false => self.break_line(),
            }
            self.line_start = next;
        }
    }

    /// Whether the line that ends here does so only because its writer's lines were not longer: prose
    /// that is wrapped again can be read, code cannot.
    fn is_wrapped(&self, end: usize, next: usize) -> bool {
        let (line, after) = (&self.text[self.line_start..end], &self.text[next..]);
        let goes_on = after.chars().next().is_some_and(|next| !next.is_whitespace());
        goes_on && line.chars().nth(SHORTEST_WRAPPED - 1).is_some()
    }

    /// Lays out what is not to be broken, unless it is longer than a line.
    fn lay_text(&mut self, shown: Cow<'t, str>, passage: Option<usize>) {
        let width = shown.width();
        let is_space = shown.chars().all(char::is_whitespace);
        // Between ideographs a line may be broken.
        let stands_alone = is_space || width > 1 && shown.chars().all(|c| !c.is_ascii());
        if stands_alone {
            self.end_word();
        }
        if is_space && self.room() < width {
            // What would be blank before the end is so after it.
            return;
        }
        self.word.push(Cluster { shown, width, passage });
        if stands_alone {
            self.end_word();
        }
    }

    fn room(&self) -> usize {
        self.width - self.lines.last().map_or(0, |line| line.width.min(self.width))
    }

    fn break_line(&mut self) {
        self.end_word();
        // Of several blank lines one is enough.
        let blank = self.lines.iter().rev().take(2).take_while(|line| line.width == 0).count();
        if blank < 2 {
            self.lines.push(Line::default());
        }
    }

    fn end_word(&mut self) {
        let width: usize = self.word.iter().map(|cluster| cluster.width).sum();
        if width > self.room() && width <= self.width {
            self.lines.push(Line::default());
        }
        for cluster in std::mem::take(&mut self.word) {
            if cluster.width > self.room() && self.room() < self.width {
                self.lines.push(Line::default());
            }
            let Some(line) = self.lines.last_mut() else { return };
            line.width += cluster.width;
            match line.parts.last_mut().filter(|(passage, _)| *passage == cluster.passage) {
                Some((_, text)) => text.push_str(&cluster.shown),
                None => line.parts.push((cluster.passage, cluster.shown.into_owned())),
            }
        }
    }
}

/// How many bytes fill so many cells, in lines of `width`.
fn reach<'c>(clusters: impl Iterator<Item = &'c str>, cells: usize, width: usize) -> usize {
    let (mut bytes, mut used) = (0, 0_usize);
    for cluster in clusters {
        used = match is_line_end(cluster) {
            // Blank lines cost nothing: they are not laid out one by one.
            true => used.next_multiple_of(width),
            false => used + for_terminal(cluster).width(),
        };
        if used > cells {
            break;
        }
        bytes += cluster.len();
    }
    bytes
}

const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

fn is_line_end(cluster: &str) -> bool {
    // Of longer clusters only CR and LF begin with one.
    cluster.starts_with(LINE_ENDS)
}

#[cfg(test)]
#[path = "column_tests.rs"]
mod tests;
