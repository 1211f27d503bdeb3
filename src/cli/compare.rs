//! `twindex compare`: two texts, exactly and by estimate, without an index.

use super::Ending;
use super::args::Global;
use super::failure::Failure;
use super::inputs::{LONGEST, size};
use super::output::{Results, rounded, significant, similarity};
use crate::estimate::{Estimate, Overlap, RandomSubsets};
use crate::input::{STANDARD_INPUT, whole_text};
use crate::params::{Confidence, Lanes, Threshold};
use crate::sketch::{Signature, Sketcher};
use crate::text::{Normalization, Shingle, Shingler};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Output, a name and a value a line (fields of one object with --json): a, b, similarity,
multiset_similarity, estimate, low, high, containment_a_in_b, containment_b_in_a, dice,
shingles_a, shingles_b, shared, universe, expected_by_chance, chance_log10. Both similarities are exact; low and high are the interval of the
estimate at --confidence. expected_by_chance is the similarity of random sets of
these sizes, of --universe elements; they share as many as these or more with a probability of 10
to the power of chance_log10. An empty text is similar to nothing. Memory: 8 bytes for each shingle of both. The
exit status is 1 if the similarity is below --threshold.

Examples:
  twindex compare old.txt new.txt
  twindex compare --shingle word:3 old.txt new.txt --json
  twindex compare old.txt new.txt --confidence 0.99 --universe 1000000
  git show HEAD:main.c | twindex compare --shingle line:2 - main.c
  twindex compare old.txt new.txt --threshold 0.9 --quiet && echo similar")]
pub(super) struct Compare {
    /// A file, or - for standard input
    a: PathBuf,
    /// Another file, or - for standard input
    b: PathBuf,
    /// Exit with 1 if the exact similarity is below it [default: none]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// What a shingle is: char:N, word:N, line:N or token
    #[arg(long, value_name = "KIND", default_value_t = Shingle::default())]
    shingle: Shingle,
    /// Of lower, nfc or nfkc, space or nospace, minword=N; or none [default: lower,nfc,space; none
    /// for tokens]
    #[arg(long, value_name = "LIST")]
    normalize: Option<Normalization>,
    /// Lanes of the signatures that the estimate is made from: 64, 128, 256 or 512
    #[arg(long, value_name = "K", default_value_t = Lanes::DEFAULT.get())]
    lanes: usize,
    /// Probability with which low and high enclose the true similarity
    #[arg(long, value_name = "P", default_value_t = Confidence::DEFAULT.get())]
    confidence: f64,
    /// Elements there are in all, of which random sets are drawn for expected_by_chance and
    /// chance_log10 [default: shingles_a + shingles_b]
    #[arg(long, value_name = "N")]
    universe: Option<u64>,
    /// Seed of all hashes
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count repeated shingles as often as they occur: in the estimate, containment, Dice, the
    /// numbers of shingles, and for --threshold
    #[arg(long)]
    multiset: bool,
    /// The most bytes of a text; a longer one is an error
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    max_record: usize,
}

/// What is made of a text: its shingles in ascending order, with repetitions, and its signature.
struct Side {
    shingles: Vec<u64>,
    signature: Signature,
}

pub(super) fn run(global: &Global, args: &Compare) -> Result<Ending, Failure> {
    let is_input = |path: &Path| path.as_os_str() == STANDARD_INPUT;
    if is_input(&args.a) && is_input(&args.b) {
        return Err(anyhow::anyhow!("only one of both can be standard input").into());
    }
    let threshold = args.threshold.map(Threshold::new).transpose()?;
    let confidence = Confidence::new(args.confidence)?;
    let normalization = args.normalize.unwrap_or(args.shingle.default_normalization());
    let shingler = |multiset| Shingler::new(args.shingle, normalization, multiset, args.seed);
    let plain = shingler(false)?;
    let sketcher = Sketcher::new(shingler(args.multiset)?, Lanes::new(args.lanes)?, args.seed);
    let side = |path: &Path| -> Result<Side, Failure> {
        let text = whole_text(path, args.max_record).map_err(|bad| anyhow::anyhow!("{bad}"))?;
        let mut shingles = plain.hashes(&text);
        shingles.sort_unstable();
        Ok(Side { shingles, signature: sketcher.signature(&text) })
    };
    let (mut a, mut b) = (side(&args.a)?, side(&args.b)?);

    let multisets = Overlap::of_multisets(&a.shingles, &b.shingles);
    a.shingles.dedup();
    b.shingles.dedup();
    let sets = Overlap::of_sets(&a.shingles, &b.shingles);
    let asked = if args.multiset { multisets } else { sets };
    let chance = RandomSubsets::like(asked, args.universe.unwrap_or(asked.a + asked.b))?;
    // Nothing is similar to an empty text, for certain.
    let nothing = Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
    let estimate = a.signature.similarity_at(&b.signature, confidence).unwrap_or(nothing);

    let mut results = Results::new(global);
    results.object(&[
        ("a", args.a.display().to_string().into()),
        ("b", args.b.display().to_string().into()),
        ("similarity", rounded(sets.similarity())),
        ("multiset_similarity", rounded(multisets.similarity())),
        ("estimate", similarity(estimate.similarity)),
        ("low", similarity(estimate.low)),
        ("high", similarity(estimate.high)),
        ("containment_a_in_b", rounded(asked.a_in_b())),
        ("containment_b_in_a", rounded(asked.b_in_a())),
        ("dice", rounded(asked.dice())),
        ("shingles_a", asked.a.into()),
        ("shingles_b", asked.b.into()),
        ("shared", asked.shared.into()),
        ("universe", chance.universe().into()),
        ("expected_by_chance", significant(chance.expected_similarity())),
        ("chance_log10", similarity(chance.tail_log10(asked.shared))),
    ])?;
    results.flush()?;
    let below = threshold.is_some_and(|threshold| asked.similarity() < threshold.get());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}
