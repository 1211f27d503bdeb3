//! `twindex list`, `get` and `info`: what is in an index.

use super::args::{Global, IndexPath};
use super::failure::{Failure, message};
use super::output::Results;
use super::{Ending, opening};
use crate::text::UnicodeVersions;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Get {
    /// The index file
    pub(super) index: PathBuf,
    /// The id of the document
    pub(super) id: String,
}

pub(super) fn list(global: &Global, args: &IndexPath) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let mut results = Results::new(global);
    for id in snapshot.ids() {
        results.line(&[("id", Value::from(id?))])?;
    }
    results.flush()?;
    Ok(Ending::Done)
}

pub(super) fn get(global: &Global, args: &Get) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let Some(document) = index.snapshot()?.get(&args.id)? else {
        message(&format!("{}: no document has the id {}", args.index.display(), args.id));
        return Ok(Ending::Nothing);
    };
    let lanes = document.signature.lanes().iter().fold(String::new(), |mut hex, lane| {
        let _ = write!(hex, "{lane:02x}");
        hex
    });
    let mut results = Results::new(global);
    results.object(&[
        ("id", Value::from(document.id)),
        ("bytes", document.text_bytes.into()),
        ("shingles", (document.shingles as u64).into()),
        ("inserted", document.inserted.into()),
        ("signature", lanes.into()),
    ])?;
    results.flush()?;
    Ok(Ending::Done)
}

pub(super) fn info(global: &Global, args: &IndexPath) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let (settings, usage) = (index.settings(), snapshot.usage()?);
    let mut results = Results::new(global);
    let used = usage.signature_bytes + usage.document_bytes + usage.posting_bytes;
    let per_document = match usage.documents {
        0 => Value::Null,
        documents => (used / documents).into(),
    };
    results.object(&[
        ("path", args.index.display().to_string().into()),
        ("format", snapshot.format_version().into()),
        ("documents", usage.documents.into()),
        ("dead", usage.dead.into()),
        ("unflushed", usage.tail.into()),
        ("runs", usage.runs.into()),
        ("commits", usage.commits.into()),
        ("created", snapshot.created().into()),
        ("file_bytes", usage.file_bytes.into()),
        ("signature_bytes", usage.signature_bytes.into()),
        ("document_bytes", usage.document_bytes.into()),
        ("posting_bytes", usage.posting_bytes.into()),
        ("bytes_per_document", per_document),
        ("threshold", settings.threshold.get().into()),
        ("recall", settings.recall.get().into()),
        ("lanes", settings.lanes.get().into()),
        ("bands", settings.plan.bands().into()),
        ("depth", settings.plan.depth().into()),
        ("shingle", settings.shingle.to_string().into()),
        ("normalize", settings.normalization.to_string().into()),
        ("multiset", settings.multiset.into()),
        ("seed", settings.seed.into()),
        ("unicode", settings.unicode.to_string().into()),
    ])?;
    results.flush()?;
    warn_of_unicode(&args.index, settings.unicode);
    Ok(Ending::Done)
}

/// Says when texts would be cut by other tables than those the index was made with.
pub(super) fn warn_of_unicode(path: &Path, stored: UnicodeVersions) {
    let current = UnicodeVersions::current();
    if stored != current {
        message(&format!(
            "{}: warning: made with Unicode tables {stored}, this twindex has {current}; \
             texts with characters that are new since may be cut differently",
            path.display()
        ));
    }
}

/// Says when texts were cut by other tables than those of the index that takes them in.
pub(super) fn warn_of_other_unicode(
    path: &Path,
    found: UnicodeVersions,
    expected: UnicodeVersions,
) {
    if found != expected {
        message(&format!(
            "{}: warning: made with Unicode tables {found}, the index with {expected}; \
             texts with characters that are new since may have been cut differently",
            path.display()
        ));
    }
}
