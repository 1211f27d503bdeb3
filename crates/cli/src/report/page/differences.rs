//! Two texts side by side, with what differs marked and long equal parts folded.

use super::shown::shown;
use crate::terminal::numbers::grouped;
use maud::{Markup, html};
use twindex::{Explanation, Shingler, Span};

/// An equal part that is longer than this many characters is folded:
const LONGEST_EQUAL: usize = 400;
/// so many characters remain of each of its ends that touches a difference, and the rest of the
/// word if it is not longer than this.
const CONTEXT: usize = 120;
const LONGEST_WORD: usize = 30;

/// The most characters of a text that are shown, after folding.
const MOST_SHOWN: usize = 3000;

/// Which side of a pair a text is on. What the other text lacks is marked as deleted or inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The text that was removed.
    Removed,
    /// The text that is kept.
    Kept,
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// The other text has it.
    Equal(&'t str),
    /// The other text lacks it.
    Different(&'t str),
    /// The number of characters that both texts have and that are not shown.
    Folded(usize),
}

/// Both texts with their differences.
pub(super) struct Differences {
    /// The shares of both texts that do not differ, from 0 to 1.
    pub(super) shares: [f64; 2],
    pub(super) removed: Markup,
    pub(super) kept: Markup,
}

/// Compares two texts. `None` if they cannot be compared passage by passage, as k-mers.
pub(super) fn differences(shingler: &Shingler, removed: &str, kept: &str) -> Option<Differences> {
    let found = Explanation::new(shingler, removed, kept).ok()?;
    let in_removed = found.differences_in_a();
    let in_kept = found.differences_in_b();
    Some(Differences {
        shares: [share(removed, &in_removed), share(kept, &in_kept)],
        removed: draw(&pieces(removed, &in_removed), Side::Removed),
        kept: draw(&pieces(kept, &in_kept), Side::Kept),
    })
}

/// The share of a text that does not differ. White space at its ends does not count.
fn share(text: &str, different: &[Span]) -> f64 {
    let all = text.trim().chars().count().max(1);
    let different: usize = different.iter().map(|span| span.char_end - span.char_start).sum();
    1.0 - different.min(all) as f64 / all as f64
}

/// A text of which nothing is marked.
pub(super) fn unmarked(text: &str) -> Markup {
    draw(&[Piece::Equal(text)], Side::Kept)
}

/// Cuts a text at the borders of what differs, and folds what is long and equal.
fn pieces<'t>(text: &'t str, different: &[Span]) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for span in different {
        if at < span.start {
            fold(&text[at..span.start], at > 0, true, &mut pieces);
        }
        pieces.push(Piece::Different(&text[span.bytes()]));
        at = span.end;
    }
    if at < text.len() {
        fold(&text[at..], at > 0, false, &mut pieces);
    }
    pieces
}

/// Adds an equal part, whose ends may touch differences.
fn fold<'t>(part: &'t str, before: bool, after: bool, pieces: &mut Vec<Piece<'t>>) {
    let chars = part.chars().count();
    if chars <= LONGEST_EQUAL || !(before || after) {
        return pieces.push(Piece::Equal(part));
    }
    let first =
        if before { &part[..whole_word(part.char_indices(), CONTEXT, part.len())] } else { "" };
    let last = if after {
        // From behind, a word ends where its first character begins.
        let ends = part.char_indices().rev().map(|(at, c)| (at + c.len_utf8(), c));
        &part[whole_word(ends, CONTEXT, 0)..]
    } else {
        ""
    };
    let folded = part.len() - first.len() - last.len();
    let folded = part[first.len()..first.len() + folded].chars().count();
    pieces.extend(Some(Piece::Equal(first)).filter(|_| before));
    pieces.push(Piece::Folded(folded));
    pieces.extend(Some(Piece::Equal(last)).filter(|_| after));
}

/// The place behind so many characters and the rest of their last word.
fn whole_word(chars: impl Iterator<Item = (usize, char)>, count: usize, otherwise: usize) -> usize {
    let mut behind = chars.skip(count).take(LONGEST_WORD);
    let first = behind.next();
    let end = first.into_iter().chain(behind).find(|(_, c)| c.is_whitespace());
    end.or(first).map_or(otherwise, |(at, _)| at)
}

/// Draws pieces until there is enough.
fn draw(pieces: &[Piece<'_>], side: Side) -> Markup {
    let length = |piece: &Piece<'_>| match piece {
        Piece::Equal(text) | Piece::Different(text) => text.chars().count(),
        Piece::Folded(_) => 0,
    };
    let is_whole = pieces.iter().map(length).sum::<usize>() <= MOST_SHOWN;
    let mut room = MOST_SHOWN;
    html! {
        @for piece in pieces {
            @if room > 0 {
                @match piece {
                    Piece::Folded(chars) => {
                        span.fold { "\u{22ef} " (grouped(*chars as u64)) " equal characters" }
                    }
                    Piece::Equal(text) => (shown(taken(text, &mut room))),
                    Piece::Different(text) if side == Side::Removed => {
                        del { (shown(taken(text, &mut room))) }
                    }
                    Piece::Different(text) => ins { (shown(taken(text, &mut room))) },
                }
            }
        }
        @if !is_whole { span.fold { "\u{22ef} the rest is not shown" } }
    }
}

/// As much of a text as there is room for.
fn taken<'t>(text: &'t str, room: &mut usize) -> &'t str {
    let mut end = text.len();
    let mut taken = 0;
    for (at, _) in text.char_indices() {
        if taken == *room {
            end = at;
            break;
        }
        taken += 1;
    }
    *room -= taken;
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::{Normalization, Shingle};

    fn span(start: usize, end: usize) -> Span {
        Span { start, end, char_start: start, char_end: end }
    }

    #[test]
    fn a_text_is_cut_at_what_differs() {
        let text = "same other same";
        assert_eq!(
            pieces(text, &[span(5, 10)]),
            [Piece::Equal("same "), Piece::Different("other"), Piece::Equal(" same")]
        );
        assert_eq!(pieces(text, &[span(0, 15)]), [Piece::Different(text)]);
        assert_eq!(pieces(text, &[]), [Piece::Equal(text)]);
        assert_eq!(pieces("", &[]), []);
    }

    #[test]
    fn long_equal_parts_are_folded_towards_differences() {
        let text = format!("{}XYZ{}", "é".repeat(500), "b".repeat(700));
        let found = pieces(&text, &[span(1000, 1003)]);
        let (left, right) = ("é".repeat(CONTEXT), "b".repeat(CONTEXT));
        assert_eq!(
            found,
            [
                Piece::Folded(500 - CONTEXT),
                Piece::Equal(&left),
                Piece::Different("XYZ"),
                Piece::Equal(&right),
                Piece::Folded(700 - CONTEXT)
            ]
        );
    }

    #[test]
    fn folds_do_not_cut_words() {
        let equal = "some words ".repeat(100);
        let text = format!("{equal}X{equal}");
        let found = pieces(&text, &[span(1100, 1101)]);
        let [Piece::Folded(a), Piece::Equal(left), _, Piece::Equal(right), Piece::Folded(b)] =
            found[..]
        else {
            panic!("{found:?}")
        };
        assert!(left.starts_with("some ") || left.starts_with("words "), "{left}");
        assert!(right.ends_with(" some") || right.ends_with(" words"), "{right}");
        assert_eq!((a + left.len(), b + right.len()), (1100, 1100));
    }

    #[test]
    fn a_changed_word_is_marked_on_both_sides_and_the_rest_is_not_endless() {
        let shingler = Shingler::new(Shingle::chars(9), Normalization::default(), false, 0)
            .expect("a shingler");
        let common = "it was the best of times, it was the worst of times, ";
        let (a, b) = (format!("{common}he said {common}"), format!("{common}she wrote {common}"));
        let found = differences(&shingler, &a, &b).expect("compared");
        let (a, b) = (found.removed.into_string(), found.kept.into_string());
        assert!(a.contains("<del>") && !a.contains("<ins>"), "{a}");
        assert!(b.contains("<ins>") && !b.contains("<del>"), "{b}");
        assert!(found.shares.iter().all(|share| *share > 0.8 && *share < 1.0));
        let long = unmarked(&"x".repeat(10 * MOST_SHOWN)).into_string();
        assert!(long.len() < MOST_SHOWN + 100 && long.contains("not shown"));
    }
}
