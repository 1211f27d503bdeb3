//! Parts of messages that depend on values.

/// A number of bands, as far as it is counted.
pub(super) fn bands_needed(needed: usize) -> String {
    match needed {
        ..=1_000_000 => needed.to_string(),
        _ => "more than 1,000,000".to_owned(),
    }
}

/// What to do if so many bands are needed. The most lanes give 64.
pub(super) fn advice_on_bands(needed: usize) -> &'static str {
    match needed {
        ..=64 => "raise the threshold, lower the recall, or take more lanes",
        _ => "raise the threshold or lower the recall",
    }
}

/// A document of a batch, by its id or else by its place.
pub(super) fn document(place: usize, id: &str) -> String {
    match id {
        "" => format!("the document at place {place} of the batch, counted from 0, is refused"),
        id => format!("document {id:?} is refused"),
    }
}
