//! `twindex compare`: compares two texts, exactly and by estimate, without an index.

use super::compare_weighted;
use super::explain::{ExplanationOptions, explain, not_explained};
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::two_texts::TwoTexts;
use crate::terminal::output::{Results, distance, rounded, significant, similarity};
use crate::terminal::side_by_side::TitledText;
use std::path::Path;
use twindex::{DEFAULT_LANES, Estimate, Overlap, RandomSubsets, Signature, Sketcher};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is a name and a value (with --json, a field of one object): a, b, similarity,
multiset_similarity, estimate, low, high, containment_a_in_b, containment_b_in_a, dice,
shingles_a, shingles_b, shared, universe, expected_by_chance, chance_log10; for kmer:N also
distance. Both similarities are exact; low and high are the interval of the estimate at
--confidence. expected_by_chance is the similarity of two random sets of these sizes, drawn from
--universe elements; 10 to the power of chance_log10 is the probability that two such sets are at
least this similar. distance is the Mash distance -ln(2J/(1+J))/N of the similarity J. An empty
text is similar to nothing. Memory: 8 bytes for each shingle of both texts. The exit status is 1
if the similarity is below --threshold.

With --explain, each line is a passage that both texts share, in the order of A: a_start, a_end,
b_start, b_end (bytes of the files after a byte order mark), the same four with char_
(characters), shingles, text (as written in A). With --differences, each line is a part of one
text that the other lacks: in (a or b), start, end, char_start, char_end, text. A terminal shows
both texts side by side instead, with what was asked for in colour and the rest shortened. The
exit status is also 1 if there is none. Memory: some 60 bytes for each shingle of both texts.

Examples:
  twindex compare old.txt new.txt
  twindex compare --shingle word:3 old.txt new.txt --json
  twindex compare essay.txt source.txt --explain --shingle word:5 --min-length 40
  twindex compare old.txt new.txt --explain --differences
  twindex compare old.txt new.txt --confidence 0.99 --universe 1000000
  twindex compare --shingle kmer:21 strain-a.fasta.gz strain-b.fasta.gz
  git show HEAD:main.c | twindex compare --shingle line:2 - main.c
  twindex compare --weighted old.json new.json
  twindex compare old.txt new.txt --threshold 0.9 --quiet && echo similar")]
pub(crate) struct Compare {
    #[command(flatten)]
    texts: TwoTexts,
    /// Show the passages that both share, and where they are
    #[arg(long, conflicts_with_all = ["lanes", "confidence", "universe", "weighted"])]
    explain: bool,
    #[command(flatten)]
    explanation: ExplanationOptions,
    /// Lanes of the signatures that the estimate is made from: 64, 128, 256 or 512
    #[arg(long, value_name = "K", default_value_t = DEFAULT_LANES)]
    lanes: usize,
    /// Elements there are in all, of which random sets are drawn for expected_by_chance and
    /// chance_log10 [default: shingles_a + shingles_b]
    #[arg(long, value_name = "N", conflicts_with = "weighted")]
    universe: Option<u64>,
}

/// The shingle hashes of a text, in ascending order with repetitions, and its signature.
struct SketchedText {
    shingles: Vec<u64>,
    signature: Signature,
}

pub(crate) fn run(global: &GlobalOptions, args: &Compare) -> Result<Ending, Failure> {
    args.texts.check()?;
    if args.explain {
        return show_passages(global, &args.texts, &args.explanation);
    }
    if args.explanation.differences || args.explanation.min_length.is_some() {
        return Err(anyhow::anyhow!("--differences and --min-length are for --explain").into());
    }
    compare(global, &args.texts, args.lanes, args.universe)
}

/// Prints the passages that the two texts share.
fn show_passages(
    global: &GlobalOptions,
    texts: &TwoTexts,
    options: &ExplanationOptions,
) -> Result<Ending, Failure> {
    let names = [&texts.a, &texts.b].map(|path| path.display().to_string());
    if let Some(cause) = not_explained(texts.shingle()) {
        return Err(anyhow::anyhow!("{} and {}: {cause}", names[0], names[1]).into());
    }
    let [a, b] = [texts.read(&texts.a)?, texts.read(&texts.b)?];
    let (a, b) =
        (TitledText { name: &names[0], text: &a }, TitledText { name: &names[1], text: &b });
    let (found, any) = explain(global, &texts.shingler(texts.multiset)?, a, b, options)?;
    let similar = !texts.is_below(found.overlap.similarity());
    Ok(if similar && any { Ending::Done } else { Ending::Nothing })
}

/// Prints the exact and the estimated similarity of two texts or weighted sets.
pub fn compare(
    global: &GlobalOptions,
    texts: &TwoTexts,
    lanes: usize,
    universe: Option<u64>,
) -> Result<Ending, Failure> {
    if texts.weighted {
        return compare_weighted::run(global, texts, lanes);
    }
    let plain = texts.shingler(false)?;
    let sketcher = Sketcher::new(texts.shingler(texts.multiset)?, lanes, texts.seed)?;
    let sketch = |path: &Path| -> Result<SketchedText, Failure> {
        let text = texts.read(path)?;
        let mut shingles = plain.hashes(&text);
        shingles.sort_unstable();
        Ok(SketchedText { shingles, signature: sketcher.signature(&text)? })
    };
    let (mut a, mut b) = (sketch(&texts.a)?, sketch(&texts.b)?);

    let multisets = Overlap::of_multisets(&a.shingles, &b.shingles);
    a.shingles.dedup();
    b.shingles.dedup();
    let sets = Overlap::of_sets(&a.shingles, &b.shingles);
    let overlap = if texts.multiset { multisets } else { sets };
    let chance = RandomSubsets::with_sizes_of(overlap, universe.unwrap_or(overlap.a + overlap.b))?;
    // An empty text is similar to no other text; the interval has no width.
    let no_similarity = Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
    let estimate =
        a.signature.similarity_at(&b.signature, texts.confidence)?.unwrap_or(no_similarity);

    let mut results = Results::new(global);
    let mut fields = vec![
        ("a", texts.a.display().to_string().into()),
        ("b", texts.b.display().to_string().into()),
        ("similarity", rounded(sets.similarity())),
        ("multiset_similarity", rounded(multisets.similarity())),
        ("estimate", similarity(estimate.similarity)),
        ("low", similarity(estimate.low)),
        ("high", similarity(estimate.high)),
        ("containment_a_in_b", rounded(overlap.a_in_b())),
        ("containment_b_in_a", rounded(overlap.b_in_a())),
        ("dice", rounded(overlap.dice())),
        ("shingles_a", overlap.a.into()),
        ("shingles_b", overlap.b.into()),
        ("shared", overlap.shared.into()),
        ("universe", chance.universe().into()),
        ("expected_by_chance", significant(chance.expected_similarity())),
        ("chance_log10", similarity(chance.tail_log10(overlap.shared))),
    ];
    if let Some(k) = texts.shingle().kmer_width() {
        fields.push(distance(sets.similarity(), k));
    }
    results.object(&fields)?;
    results.flush()?;
    let below = texts.is_below(overlap.similarity());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}
