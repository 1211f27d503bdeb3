//! Two texts side by side on a terminal, with what they share or what differs in colour.

use super::color::{NAME, paint};
use super::column::{Column, Marks, Stretch};
use std::io;
use twindex::{Explanation, Passage, Span};

/// A text and its title.
#[derive(Clone, Copy)]
pub struct TitledText<'t> {
    /// The title, such as the id of the document.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
}

/// The width of the terminal in columns; 80 if it is unknown.
pub fn terminal_width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(80, |(width, _)| usize::from(width.0))
}

/// The fewest characters of a passage that is always aligned with its counterpart.
const LEAST_ALIGNED: usize = 24;

/// The most lines that a shorter passage may stand apart from its counterpart.
const LEAST_APART: usize = 2;

const BETWEEN: &str = " \u{2502} ";

/// What is marked in two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// The passages that both have. A passage has the same colour on both sides, or the same number
    /// if there is no colour.
    Shared,
    /// What the other text lacks: in red and green, or between `[-` and `-]`, `{+` and `+}`.
    Differences,
}

/// Draws both texts in columns that are `width` wide together. What is long and not marked is
/// shortened.
///
/// A passage begins on the same line on both sides, unless it is short or passages have changed
/// places.
pub fn draw(
    a: TitledText<'_>,
    b: TitledText<'_>,
    found: &Explanation,
    marked: Marked,
    width: usize,
    color: bool,
) -> String {
    // Narrower columns hold no word. On a terminal that is narrower still, lines wrap.
    let width = (width.saturating_sub(BETWEEN.chars().count()) / 2).max(12);
    let passages = &found.passages;
    let ([of_a, of_b], marks) = match marked {
        Marked::Shared => (
            [
                stretches(a.text.len(), passages.iter().map(|passage| passage.a)),
                stretches(b.text.len(), passages.iter().map(|passage| passage.b)),
            ],
            [Marks::Numbers; 2],
        ),
        Marked::Differences => (
            [
                stretches(a.text.len(), found.differences_in_a().into_iter()),
                stretches(b.text.len(), found.differences_in_b().into_iter()),
            ],
            [Marks::Deleted, Marks::Inserted],
        ),
    };
    let mut left = Column::new(of_a, width, color, marks[0], a.text);
    let mut right = Column::new(of_b, width, color, marks[1], b.text);
    for passage in in_both_orders(passages) {
        left.lay_until(passage.a.start);
        right.lay_until(passage.b.start);
        let apart = left.line().abs_diff(right.line());
        let is_long = passage.a.char_end - passage.a.char_start >= LEAST_ALIGNED;
        if apart > if is_long { 0 } else { LEAST_APART } {
            let line = left.next_line().max(right.next_line());
            left.continue_at(line);
            right.continue_at(line);
        }
    }
    left.lay_until(a.text.len());
    right.lay_until(b.text.len());

    let [name_a, name_b] = [a.name, b.name].map(|name| Column::one_line(name, width));
    let mut drawing = String::new();
    let heading = |name: &str| if color { paint(NAME, name) } else { name.to_owned() };
    let pad = |used: usize| " ".repeat(width.saturating_sub(used));
    drawing += &format!("{}{}{BETWEEN}", heading(&name_a.0), pad(name_a.1));
    drawing += &format!("{}\n", heading(&name_b.0));
    let rule = "\u{2500}".repeat(width + 1);
    drawing += &format!("{rule}\u{253c}{rule}\n");
    let (left, right) = (left.finish(), right.finish());
    let nothing = (String::new(), 0);
    for at in 0..left.len().max(right.len()) {
        let (text, used) = left.get(at).unwrap_or(&nothing);
        let other = right.get(at).map_or("", |(text, _)| text);
        let line = format!("{text}{}{BETWEEN}{other}", pad(*used));
        drawing += line.trim_end();
        drawing.push('\n');
    }
    drawing
}

/// Cuts a whole text into stretches inside and outside what is marked. Where marked parts overlap,
/// the overlap belongs to the one that begins first.
fn stretches(length: usize, spans: impl Iterator<Item = Span>) -> Vec<Stretch> {
    let mut ordered: Vec<(usize, Span)> = spans.enumerate().collect();
    ordered.sort_by_key(|(number, span)| (span.start, *number));
    let mut out = Vec::new();
    let mut at = 0;
    for (number, span) in ordered {
        if at < span.start {
            out.push(Stretch { bytes: at..span.start, mark: None });
            at = span.start;
        }
        if at < span.end {
            out.push(Stretch { bytes: at..span.end, mark: Some(number) });
            at = span.end;
        }
    }
    if at < length {
        out.push(Stretch { bytes: at..length, mark: None });
    }
    out
}

/// The passages that have the same order in both texts and the most characters together: a heaviest
/// increasing subsequence. The best chain for each end is kept in a Fenwick tree (Fenwick 1994).
fn in_both_orders(passages: &[Passage]) -> Vec<Passage> {
    let mut starts: Vec<usize> = passages.iter().map(|passage| passage.b.start).collect();
    starts.sort_unstable();
    starts.dedup();
    // For each node of the tree: the weight of a chain and the number of its last passage.
    let mut best = vec![(0, None); starts.len() + 1];
    let mut before = Vec::with_capacity(passages.len());
    for (number, passage) in passages.iter().enumerate() {
        let rank = starts.partition_point(|start| *start < passage.b.start);
        let (mut chain, mut at) = ((0, None), rank);
        while at > 0 {
            chain = chain.max(best[at]);
            at &= at - 1;
        }
        before.push(chain.1);
        let longer = (chain.0 + passage.a.char_end - passage.a.char_start, Some(number));
        at = rank + 1;
        while let Some(known) = best.get_mut(at) {
            *known = longer.max(*known);
            at += at & at.wrapping_neg();
        }
    }
    let mut last = best.iter().max().and_then(|(_, last)| *last);
    let mut chain = Vec::new();
    while let Some(number) = last {
        chain.push(passages[number]);
        last = before[number];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
#[path = "side_by_side_tests.rs"]
mod tests;
