//! `twindex info`: prints the settings, counts, sizes and bucket sizes of an index.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::seconds::seconds_of;
use crate::run::{ending::Ending, opening};
use crate::terminal::messages::message;
use crate::terminal::output::{Results, grouped};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use twindex::UnicodeVersions;
use twindex::{BucketSizes, SizeClass, Winnowing};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is a name and a value (with --json, a field of one object). The last lines tell how many
buckets of a band hold 1, 2, 3 to 4, 5 to 8, ... documents, and how large the largest bucket is.
Buckets of thousands of documents come from texts that occur thousands of times, or from a
threshold so low that words are short. The bands are much alike, so only the first is counted;
--all-bands reads the entries of all. On a terminal each count has a bar on a logarithmic scale:
one step doubles the count.

Examples:
  twindex info pages.twx
  twindex info pages.twx --all-bands
  twindex info pages.twx --json")]
pub(crate) struct Info {
    /// The index file
    index: PathBuf,
    /// Count the buckets of all bands, not only of the first
    #[arg(long)]
    all_bands: bool,
}

pub(crate) fn run(global: &GlobalOptions, args: &Info) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let (settings, usage) = (index.settings(), snapshot.usage()?);
    let mut results = Results::new(global);
    let rows = usage.signature_bytes + usage.document_bytes + usage.fingerprint_bytes;
    let used = rows + usage.posting_bytes + usage.text_bytes + usage.cluster_bytes;
    let per_document = match usage.documents {
        0 => Value::Null,
        documents => (used / documents).into(),
    };
    let sizes = snapshot.bucket_sizes(if args.all_bands { usize::MAX } else { 1 })?;
    let mut fields = vec![
        ("path", args.index.display().to_string().into()),
        ("format", snapshot.format_version().into()),
        ("documents", usage.documents.into()),
        ("dead", usage.dead.into()),
        ("unflushed", usage.tail.into()),
        ("runs", usage.runs.into()),
        ("commits", usage.commits.into()),
        ("created", seconds_of(snapshot.created()).into()),
        ("file_bytes", usage.file_bytes.into()),
        ("signature_bytes", usage.signature_bytes.into()),
        ("document_bytes", usage.document_bytes.into()),
        ("posting_bytes", usage.posting_bytes.into()),
        ("text_bytes", usage.text_bytes.into()),
        ("fingerprint_bytes", usage.fingerprint_bytes.into()),
        ("cluster_bytes", usage.cluster_bytes.into()),
        ("bytes_per_document", per_document),
        ("held_bytes", usage.held_bytes.into()),
        ("held_since", usage.held_since.map(seconds_of).into()),
        ("threshold", settings.threshold().into()),
        ("recall", settings.recall().into()),
        ("lanes", settings.lanes().into()),
        ("bands", settings.plan.bands().into()),
        ("depth", settings.plan.depth().into()),
        ("shingle", settings.shingle.to_string().into()),
        ("normalize", settings.normalization.to_string().into()),
        ("multiset", settings.multiset.into()),
        ("weighted", settings.weighted.into()),
        ("store_text", settings.store_text.into()),
        ("passages", settings.winnowing.map(Winnowing::length).into()),
        ("tracks_clusters", snapshot.tracks_clusters().into()),
        ("seed", settings.seed.into()),
        ("unicode", settings.unicode.to_string().into()),
        ("counted_bands", sizes.bands.into()),
        ("largest_bucket", sizes.largest.into()),
    ];
    if global.json {
        fields.push(("bucket_sizes", sizes.classes.iter().map(class_object).collect()));
    }
    results.object(&fields)?;
    if !global.json {
        print_histogram(&mut results, &sizes)?;
    }
    results.flush()?;
    warn_of_unicode(&args.index, settings.unicode);
    if let Some(kind) = snapshot.network_file_system() {
        message(&format!(
            "{}: warning: on a network file system ({kind}): use it from one machine only",
            args.index.display()
        ));
    }
    Ok(Ending::Done)
}

/// Prints one line for each class of bucket sizes.
fn print_histogram(results: &mut Results, sizes: &BucketSizes) -> Result<(), Failure> {
    for class in &sizes.classes {
        let name = if class.from == class.to {
            format!("buckets_of_{}", class.from)
        } else {
            format!("buckets_of_{}_to_{}", class.from, class.to)
        };
        let value = if results.is_aligned() {
            Value::from(format!("{:>12} {}", grouped(class.buckets), bar(class.buckets)))
        } else {
            class.buckets.into()
        };
        results.line(&[("name", name.into()), ("value", value)])?;
    }
    Ok(())
}

/// The JSON object of a class of bucket sizes.
fn class_object(class: &SizeClass) -> Value {
    json!({"from": class.from, "to": class.to, "buckets": class.buckets})
}

/// A bar whose length is the number of binary digits of `number`.
///
/// On a linear scale, only the bar of the smallest buckets would be visible.
fn bar(number: u64) -> String {
    "█".repeat((u64::BITS - number.leading_zeros()) as usize)
}

/// Warns if this build has other Unicode tables than those that the index was made with.
fn warn_of_unicode(path: &Path, stored: UnicodeVersions) {
    let current = UnicodeVersions::current();
    if stored != current {
        message(&format!(
            "{}: warning: made with Unicode tables {stored}, this twindex has {current}; \
             texts with characters that are new since may be cut differently",
            path.display()
        ));
    }
}

/// Warns if the source was made with other Unicode tables than the index that receives its
/// documents.
pub(crate) fn warn_of_other_unicode(
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
