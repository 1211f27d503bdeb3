//! The settings of an index, in the words of a report.

use twindex::{Settings, Shingle};

/// What the similarities of a report were computed from.
pub(crate) fn circumstances(settings: &Settings, estimate: bool) -> Vec<(&'static str, String)> {
    let Settings { shingle, normalization, multiset, weighted, store_text, .. } = *settings;
    let pieces = match shingle {
        _ if weighted => "tokens with weights".to_owned(),
        Shingle::Tokens => "tokens".to_owned(),
        other => other.to_string(),
    };
    let repeated = if multiset { "count as often as they occur" } else { "count once" };
    let lanes = settings.lanes();
    let exact = if store_text && !estimate {
        "exact, from stored texts".to_owned()
    } else {
        // The standard error of a proportion of one half, the greatest there is.
        let error = 0.5 / (lanes as f64).sqrt();
        format!(
            "estimates from signatures of {lanes} lanes, with a standard error up to {error:.3}"
        )
    };
    vec![
        ("similarities", exact),
        ("pieces of a text", pieces),
        ("repeated pieces", repeated.to_owned()),
        ("made equal before", normalization.to_string()),
    ]
}
