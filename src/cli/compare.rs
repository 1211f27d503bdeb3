//! `twindex compare`: two texts, exactly and by estimate, without an index.

use super::args::Global;
use super::compare_methods::MethodOptions;
use super::explain::{explain, not_explained};
use super::failure::Failure;
use super::inputs::{LONGEST, size};
use super::method::Method;
use super::output::{Results, distance, rounded, significant, similarity};
use super::side_by_side::Side as Shown;
use super::{Ending, compare_file, compare_methods, compare_weighted};
use crate::estimate::{Estimate, Overlap, RandomSubsets};
use crate::input::{STANDARD_INPUT, no_sequence, whole_text};
use crate::params::{Confidence, Lanes, Threshold};
use crate::sketch::{Signature, Sketcher};
use crate::text::{Normalization, Shingle, Shingler};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Output, a name and a value a line (fields of one object with --json): a, b, similarity,
multiset_similarity, estimate, low, high, containment_a_in_b, containment_b_in_a, dice,
shingles_a, shingles_b, shared, universe, expected_by_chance, chance_log10; for kmer:N also
distance. Both similarities are exact; low and high are the interval of the estimate at
--confidence. expected_by_chance is the similarity of two random sets of these sizes, out of
--universe elements; they are as similar as these or more with a probability of 10 to the power of
chance_log10. distance is the Mash distance -ln(2J/(1+J))/N of the similarity J. An empty text is
similar to nothing. Memory: 8 bytes for each shingle of both. The exit status is 1 if the
similarity is below --threshold.

With --explain, a line for each passage that both share, by its place in A: a_start, a_end,
b_start, b_end (bytes of the files), the same four with char_ (characters), shingles, text (as it
stands in A). On a terminal instead both texts side by side, shared passages in colour. The exit
status is 1 also if there is none. Memory: some 60 bytes for each shingle of both.

With --method, a line for each value: method, of (sets, multisets, or weights), measure (jaccard,
dice, cosine, probability), estimate, low, high, mean, spread, runs, seconds, bytes. What is exact
has low = high; a sample that tends to another similarity has neither, nor has SimHash of fewer
than 32 elements or where one outweighs the others. cosine of multisets is that of their counts.
mean and spread are of the runs; seconds are those of one, from the sorted shingles on, but of
file with reading and cutting: these are not to be compared. bytes is what is held of both texts
to compare them. rum is also run on samples, as rum-on-samples, if --sample is less than a text
has. The exit status is 1 if the first estimate is below --threshold.

--method all begins with what chance makes of two texts of their sizes, as sets and as multisets,
and whether they are beyond it. Its file reads both texts a second time, and is left out unless
both are regular files.

An option that the method does not read is an error: --hashes and --runs are of all that have
some, --sample of sample and rum, --family of minhash, --memory of file, --universe of none;
--method all reads every one, but with --weighted only --hashes and --runs.

With --method file, texts that need not fit into memory, by the same similarities: a, b, method,
similarity, multiset_similarity, shingles_a, shingles_b, shared, runs (sorted runs that were
written), temporary_bytes (on disk, in TMPDIR), memory, peak_memory (bytes), seconds; for kmer:N
also distance. Memory: as --memory says, and some 10 MiB; of zstd also the window, up to 128 MiB.
Disk: 8 bytes for each shingle of both. A line, word or token has at most 1/32 of the memory;
--max-record does not matter.

Examples:
  twindex compare old.txt new.txt
  twindex compare --shingle word:3 old.txt new.txt --json
  twindex compare essay.txt source.txt --explain --shingle word:5
  twindex compare old.txt new.txt --confidence 0.99 --universe 1000000
  twindex compare --shingle kmer:21 strain-a.fasta.gz strain-b.fasta.gz
  git show HEAD:main.c | twindex compare --shingle line:2 - main.c
  twindex compare --weighted old.json new.json
  twindex compare old.txt new.txt --method all
  twindex compare old.txt new.txt --method minhash --family murmur3 --hashes 200 --runs 50
  twindex compare --weighted old.json new.json --method p-minhash
  twindex compare old.txt.zst new.txt.zst --method file --memory 1G
  twindex compare old.txt new.txt --threshold 0.9 --quiet && echo similar")]
pub(super) struct Compare {
    /// A file, or - for standard input
    pub(super) a: PathBuf,
    /// Another file, or - for standard input
    pub(super) b: PathBuf,
    /// Show the passages that both share, and where they are
    #[arg(long, conflicts_with_all = ["lanes", "confidence", "universe"])]
    explain: bool,
    /// Exit with 1 if the exact similarity is below it [default: none]
    #[arg(long, value_name = "T")]
    pub(super) threshold: Option<f64>,
    /// What a shingle is: char:N, word:N, line:N, token or kmer:N (of DNA, bare or FASTA)
    /// [default: char:9; token with --weighted]
    #[arg(long, value_name = "KIND")]
    pub(super) shingle: Option<Shingle>,
    /// Of lower, nfc or nfkc, space or nospace, minword=N; or none [default: lower,nfc,space; none
    /// for tokens and k-mers]
    #[arg(long, value_name = "LIST")]
    pub(super) normalize: Option<Normalization>,
    /// Lanes of the signatures that the estimate is made from: 64, 128, 256 or 512
    #[arg(long, value_name = "K", default_value_t = Lanes::DEFAULT.get())]
    pub(super) lanes: usize,
    /// Probability with which low and high enclose the true similarity
    #[arg(long, value_name = "P", default_value_t = Confidence::DEFAULT.get())]
    pub(super) confidence: f64,
    /// Elements there are in all, of which random sets are drawn for expected_by_chance and
    /// chance_log10; of --method only for all, there of the sets, with --multiset of the multisets
    /// [default: shingles_a + shingles_b]
    #[arg(long, value_name = "N")]
    pub(super) universe: Option<u64>,
    /// Seed of all hashes
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Count repeated shingles as often as they occur: in the estimate, containment, Dice, the
    /// numbers of shingles, and for --threshold
    #[arg(long)]
    pub(super) multiset: bool,
    /// The files hold a JSON object each, with a number for each token: compare these weighted sets.
    /// Fields: a, b, similarity, estimate, low, high, tokens_a, tokens_b, shared
    #[arg(long, conflicts_with_all = ["explain", "multiset", "universe"])]
    pub(super) weighted: bool,
    /// Compare by this method [default: none: exactly and by the estimate of an index]
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["explain", "lanes"])]
    pub(super) method: Option<Method>,
    #[command(flatten)]
    pub(super) methods: MethodOptions,
    /// The most bytes of memory for --method file, from 1M on [default: 64M]
    #[arg(long, value_name = "SIZE", requires = "method", value_parser = size)]
    pub(super) memory: Option<usize>,
    /// The most bytes of a text; a longer one is an error, but not with --method file
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    pub(super) max_record: usize,
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
    if let Some(method) = args.method {
        compare_methods::check(args, method)?;
    }
    match args.method {
        None if args.weighted => return compare_weighted::run(global, args),
        None => {}
        Some(Method::File) if !args.weighted => return compare_file::run(global, args),
        Some(method) => return compare_methods::run(global, args, method),
    }
    let threshold = args.threshold.map(Threshold::new).transpose()?;
    let confidence = Confidence::new(args.confidence)?;
    let shingle = args.shingle.unwrap_or_default();
    let normalization = args.normalize.unwrap_or(shingle.default_normalization());
    let shingler = |multiset| Shingler::new(shingle, normalization, multiset, args.seed);
    let read =
        |path: &Path| whole_text(path, args.max_record).map_err(|bad| anyhow::anyhow!("{bad}"));
    if args.explain {
        let names = [&args.a, &args.b].map(|path| path.display().to_string());
        if let Some(cause) = not_explained(shingle) {
            return Err(anyhow::anyhow!("{} and {}: {cause}", names[0], names[1]).into());
        }
        let texts = [read(&args.a)?, read(&args.b)?];
        let side = |at: usize| Shown { name: &names[at], text: &texts[at] };
        let found = explain(global, &shingler(args.multiset)?, side(0), side(1))?;
        let similar = threshold.is_none_or(|least| found.overlap.similarity() >= least.get());
        let any = similar && !found.passages.is_empty();
        return Ok(if any { Ending::Done } else { Ending::Nothing });
    }
    let plain = shingler(false)?;
    let sketcher = Sketcher::new(shingler(args.multiset)?, Lanes::new(args.lanes)?, args.seed);
    let side = |path: &Path| -> Result<Side, Failure> {
        let text = read(path)?;
        if let Some(cause) = shingle.kmer_width().and_then(|_| no_sequence(&text)) {
            return Err(anyhow::anyhow!("{}: {cause}", path.display()).into());
        }
        let mut shingles = plain.hashes(&text);
        shingles.sort_unstable();
        Ok(Side { shingles, signature: sketcher.signature(&text)? })
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
    let mut fields = vec![
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
    ];
    if let Some(k) = shingle.kmer_width() {
        fields.push(distance(sets.similarity(), k));
    }
    results.object(&fields)?;
    results.flush()?;
    let below = threshold.is_some_and(|threshold| asked.similarity() < threshold.get());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}
