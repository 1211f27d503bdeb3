//! `twindex explain` and `compare --explain`: show what two texts share, or what differs, as lines
//! for a program or side by side on a terminal.

use crate::commands::{explain_removed, explained_texts};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::InputOptions;
use crate::run::{ending::Ending, opening};
use crate::terminal::output::{Results, count, rounded, summary};
use crate::terminal::side_by_side::{Marked, TitledText, draw, terminal_width};
use std::path::PathBuf;
use twindex::Explanation;
use twindex::{Shingle, Shingler};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Texts come from the index, which must have been created with --store-text, from records of files
(--record), and from an audit with texts (--removed). Each line is a passage that both share, in
the order of A: a_start, a_end, b_start, b_end (bytes of the texts), the same four with char_
(characters), shingles, text (as written in A). With --differences, each line is a part of one
text that the other lacks: in (a or b), start, end, char_start, char_end, text. A terminal shows
both texts side by side instead, with what was asked for in colour and the rest shortened. The
exit status is 1 if nothing is printed. Memory: some 60 bytes for each shingle of both texts.

With one id, explain names the document of which a removed record is a duplicate, by the audit of
dedup or by its text. This needs no stored texts. Output columns: id, duplicate_of, similarity,
exact.

Examples:
  twindex explain pages.twx page-1 page-2
  twindex explain seen.twx page-9 --removed removed.jsonl
  twindex explain seen.twx docs/copy.txt                  a file that was removed
  twindex explain seen.twx --record today.jsonl:page-9 page-1 --differences
  twindex explain seen.twx page-9 page-1 --removed removed.jsonl
  twindex explain pages.twx page-1 page-2 --json | jq -r .text")]
pub(crate) struct Explain {
    /// The index file
    pub(crate) index: PathBuf,
    /// The id of a document, or of a record that was removed as a duplicate
    #[arg(required_unless_present = "record")]
    pub(crate) a: Option<String>,
    /// The id of another document; without it, say of what A is a duplicate
    pub(crate) b: Option<String>,
    /// The audit in which A is looked for, as `dedup --removed FILE` writes it; with B, its text,
    /// which `dedup --removed-text` adds
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,
    /// Compare the text of a record of a file, in place of A (repeatable: in place of A and B)
    #[arg(long, value_name = "FILE:ID")]
    pub(crate) record: Vec<String>,
    /// A file with the text of A [default: the file that is called A, if there is one]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["b", "record"])]
    pub(crate) text: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) explanation: ExplanationOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
}

pub(crate) fn run(global: &GlobalOptions, args: &Explain) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    if let (Some(a), None, []) = (&args.a, &args.b, &args.record[..]) {
        return explain_removed::run(global, args, &snapshot, a);
    }
    let settings = snapshot.settings();
    let no_passages = if settings.weighted {
        Some("an index of weights has no passages to show")
    } else {
        not_explained(settings.shingle)
    };
    if let Some(cause) = no_passages {
        return Err(anyhow::anyhow!("{}: {cause}", args.index.display()).into());
    }
    let texts = explained_texts::find(args, &snapshot)?;
    let shingler =
        Shingler::new(settings.shingle, settings.normalization, settings.multiset, settings.seed)?;
    let [a, b] = texts.each_ref().map(|(name, text)| TitledText { name, text });
    let (_, any) = explain(global, &shingler, a, b, &args.explanation)?;
    Ok(if any { Ending::Done } else { Ending::Nothing })
}

/// What an explanation shows.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplanationOptions {
    /// Show what differs instead: the parts of each text that the other one lacks
    #[arg(long)]
    pub(crate) differences: bool,
    /// Leave out shared passages with fewer characters, which may be coincidences
    #[arg(long, value_name = "CHARS")]
    pub(crate) min_length: Option<usize>,
}

/// The reason why passages cannot be shown for this kind of shingle, or `None` if they can.
pub(crate) fn not_explained(shingle: Shingle) -> Option<&'static str> {
    shingle.kmer_width().map(|_| {
        "k-mers cannot be explained, as those that are shared may lie on other strands and make no \
         passages; cut the texts by char:N, word:N, line:N or token"
    })
}

/// Prints the passages that two texts share, or what differs, and a summary of their share of each
/// text on standard error. Returns the explanation, and whether anything was printed.
pub(crate) fn explain(
    global: &GlobalOptions,
    shingler: &Shingler,
    a: TitledText<'_>,
    b: TitledText<'_>,
    options: &ExplanationOptions,
) -> Result<(Explanation, bool), Failure> {
    let explanation = Explanation::new(shingler, a.text, b.text)?;
    let explanation = explanation.without_shorter(options.min_length.unwrap_or(0));
    let differences = [explanation.differences_in_a(), explanation.differences_in_b()];
    let (any, marked) = if options.differences {
        (differences.iter().any(|found| !found.is_empty()), Marked::Differences)
    } else {
        (!explanation.passages.is_empty(), Marked::Shared)
    };
    let mut results = Results::new(global);
    if results.is_aligned() {
        if any {
            let (width, color) = (terminal_width(), results.is_colored());
            results.text(&draw(a, b, &explanation, marked, width, color))?;
        }
    } else if options.differences {
        for (side, text, found) in [("a", a.text, &differences[0]), ("b", b.text, &differences[1])]
        {
            for span in found {
                results.line(&[
                    ("in", side.into()),
                    ("start", span.start.into()),
                    ("end", span.end.into()),
                    ("char_start", span.char_start.into()),
                    ("char_end", span.char_end.into()),
                    ("text", text[span.bytes()].into()),
                ])?;
            }
        }
    } else {
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
    }
    results.flush()?;
    summarise(global, &explanation, a.name, b.name);
    Ok((explanation, any))
}

/// Prints the number of passages, their share of each text and the similarity.
fn summarise(global: &GlobalOptions, explanation: &Explanation, a: &str, b: &str) {
    let (share_of_a, share_of_b) = (explanation.share_of_a(), explanation.share_of_b());
    let overlap = explanation.overlap;
    let passages = explanation.passages.len() as u64;
    // A share below 1 must not be rounded up to 100 %.
    let cap = |share: f64| if share < 1.0 { 99.9 } else { 100.0 };
    let percent = |share: f64| format!("{:.1} %", (100.0 * share).min(cap(share)));
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
