//! `twindex compare --weighted`: compares two weighted sets, exactly and by estimate, without an
//! index.

use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::two_texts::TwoTexts;
use crate::terminal::output::{Results, rounded, similarity};
use std::path::Path;
use twindex::{Estimate, Signature, Sketcher, weighted_jaccard};

/// The token hashes of a file with their weights, in ascending order of hash, and its signature.
struct SketchedWeights {
    weights: Vec<(u64, f64)>,
    signature: Signature,
}

/// Prints the exact and the estimated similarity of the two sets.
///
/// The fields are a, b, similarity, estimate, low, high, tokens_a,
/// tokens_b, shared.
pub(crate) fn run(
    global: &GlobalOptions,
    texts: &TwoTexts,
    lanes: usize,
) -> Result<Ending, Failure> {
    let sketcher = Sketcher::weighted(texts.shingler(false)?, lanes, texts.seed)?;
    let sketch = |path: &Path| -> Result<SketchedWeights, Failure> {
        let weights = texts.read_weights(path)?;
        let signature = sketcher.signature_of_weights(&weights)?;
        Ok(SketchedWeights { weights, signature })
    };
    let (a, b) = (sketch(&texts.a)?, sketch(&texts.b)?);
    let exact = weighted_jaccard(&a.weights, &b.weights);
    let in_b = |(hash, _): &&(u64, f64)| b.weights.binary_search_by_key(hash, |x| x.0).is_ok();
    let shared = a.weights.iter().filter(in_b).count();
    // An empty set is similar to no other set; the interval has no width.
    let no_similarity = Estimate { similarity: 0.0, low: 0.0, high: 0.0 };
    let estimate =
        a.signature.similarity_at(&b.signature, texts.confidence)?.unwrap_or(no_similarity);

    let mut results = Results::new(global);
    results.object(&[
        ("a", texts.a.display().to_string().into()),
        ("b", texts.b.display().to_string().into()),
        ("similarity", rounded(exact)),
        ("estimate", similarity(estimate.similarity)),
        ("low", similarity(estimate.low)),
        ("high", similarity(estimate.high)),
        ("tokens_a", a.weights.len().into()),
        ("tokens_b", b.weights.len().into()),
        ("shared", shared.into()),
    ])?;
    results.flush()?;
    let below = texts.is_below(exact);
    Ok(if below { Ending::Nothing } else { Ending::Done })
}
