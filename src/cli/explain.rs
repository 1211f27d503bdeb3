//! The shared passages of two texts, as lines for programs or side by side for a person.

use super::args::Global;
use super::failure::Failure;
use super::output::{Results, count, rounded, summary};
use super::side_by_side::{Side, draw, terminal_width};
use crate::estimate::Explanation;
use crate::text::Shingler;

/// Prints the passages that two texts share, and on standard error how much of each they are.
pub(super) fn explain(
    global: &Global,
    shingler: &Shingler,
    a: Side<'_>,
    b: Side<'_>,
) -> Result<Explanation, Failure> {
    let explanation = Explanation::new(shingler, a.text, b.text)?;
    let mut results = Results::new(global);
    if !results.is_aligned() {
        for passage in &explanation.passages {
            let (in_a, in_b) = (passage.a, passage.b);
            results.line(&[
                ("a_start", in_a.start.into()),
                ("a_end", in_a.end.into()),
                ("b_start", in_b.start.into()),
                ("b_end", in_b.end.into()),
                ("a_char_start", in_a.char_start.into()),
                ("a_char_end", in_a.char_end.into()),
                ("b_char_start", in_b.char_start.into()),
                ("b_char_end", in_b.char_end.into()),
                ("shingles", passage.shingles.into()),
                ("text", a.text[in_a.bytes()].into()),
            ])?;
        }
    } else if !explanation.passages.is_empty() {
        let color = results.is_colored();
        results.text(&draw(a, b, &explanation.passages, terminal_width(), color))?;
    }
    results.flush()?;
    summarise(global, &explanation, a.name, b.name);
    Ok(explanation)
}

fn summarise(global: &Global, explanation: &Explanation, a: &str, b: &str) {
    let (share_of_a, share_of_b) = (explanation.share_of_a(), explanation.share_of_b());
    let overlap = explanation.overlap;
    let passages = explanation.passages.len() as u64;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let sentence = format!(
        "{}: {} of {a}, {} of {b}; similarity {}",
        count(passages, "shared passage"),
        percent(share_of_a),
        percent(share_of_b),
        rounded(overlap.similarity())
    );
    let fields = [
        ("passages", passages.into()),
        ("share_of_a", rounded(share_of_a)),
        ("share_of_b", rounded(share_of_b)),
        ("similarity", rounded(overlap.similarity())),
        ("shingles_a", overlap.a.into()),
        ("shingles_b", overlap.b.into()),
        ("shared", overlap.shared.into()),
    ];
    summary(global, &fields, &sentence);
}
