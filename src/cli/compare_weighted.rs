//! `twindex compare --weighted`: two weighted sets, exactly and by estimate, without an index.

use super::Ending;
use super::args::Global;
use super::compare::Compare;
use super::failure::Failure;
use super::output::{Results, rounded, similarity};
use crate::estimate::{Estimate, weighted_jaccard};
use crate::input::{weights, whole_text};
use crate::params::{Confidence, Lanes, Threshold};
use crate::sketch::{Signature, Sketcher};
use crate::text::{Shingle, Shingler};
use std::path::Path;

/// What is made of a file: its tokens with their weights, by ascending hash, and its signature.
struct Side {
    weights: Vec<(u64, f64)>,
    signature: Signature,
}

pub(super) fn run(global: &Global, args: &Compare) -> Result<Ending, Failure> {
    let threshold = args.threshold.map(Threshold::new).transpose()?;
    let confidence = Confidence::new(args.confidence)?;
    let sketcher = sketcher(args)?;
    let side = |path: &Path| -> Result<Side, Failure> {
        let weights = weights_of(args, path)?;
        let signature = sketcher.signature_of_weights(&weights)?;
        Ok(Side { weights, signature })
    };
    let (a, b) = (side(&args.a)?, side(&args.b)?);
    let exact = weighted_jaccard(&a.weights, &b.weights);
    let in_b = |(hash, _): &&(u64, f64)| b.weights.binary_search_by_key(hash, |x| x.0).is_ok();
    let shared = a.weights.iter().filter(in_b).count();
    // Nothing is similar to an empty set, for certain.
    let nothing = Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
    let estimate = a.signature.similarity_at(&b.signature, confidence).unwrap_or(nothing);

    let mut results = Results::new(global);
    results.object(&[
        ("a", args.a.display().to_string().into()),
        ("b", args.b.display().to_string().into()),
        ("similarity", rounded(exact)),
        ("estimate", similarity(estimate.similarity)),
        ("low", similarity(estimate.low)),
        ("high", similarity(estimate.high)),
        ("tokens_a", a.weights.len().into()),
        ("tokens_b", b.weights.len().into()),
        ("shared", shared.into()),
    ])?;
    results.flush()?;
    let below = threshold.is_some_and(|threshold| exact < threshold.get());
    Ok(if below { Ending::Nothing } else { Ending::Done })
}

fn sketcher(args: &Compare) -> Result<Sketcher, Failure> {
    let shingle = args.shingle.unwrap_or(Shingle::Tokens);
    let normalization = args.normalize.unwrap_or(shingle.default_normalization());
    let shingler = Shingler::new(shingle, normalization, false, args.seed)?;
    Ok(Sketcher::weighted(shingler, Lanes::new(args.lanes)?, args.seed)?)
}

/// The weighted set of a file, by ascending hash.
pub(super) fn weights_of(args: &Compare, path: &Path) -> Result<Vec<(u64, f64)>, Failure> {
    let sketcher = sketcher(args)?;
    let object = whole_text(path, args.max_record).map_err(|bad| anyhow::anyhow!("{bad}"))?;
    let weights = weights(&object).map_err(|cause| anyhow::anyhow!("{}: {cause}", path.display()))?;
    drop(object);
    Ok(sketcher.shingler().weights(&weights))
}
