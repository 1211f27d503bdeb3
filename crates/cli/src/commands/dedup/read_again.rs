//! Reads the input again, to compare it with that of an earlier run.

use crate::commands::dedup::kept_before::has_same_fields;
use crate::commands::dedup::options::Purpose;
use crate::commands::dedup::preferred::Preferred;
use crate::commands::dedup::records_hash::RecordsHash;
use crate::commands::dedup::request::Request;
use crate::run::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use twindex::{DedupInput, DedupRun, Index};

/// The input as it is now.
pub(super) struct Again {
    /// The ids and texts of its records.
    pub(super) input: DedupInput,
    /// All fields of them.
    records: RecordsHash,
    /// The number of bad records.
    pub(super) failed: u64,
}

impl Again {
    /// Whether a run had the same input, with all fields of its records.
    pub(super) fn is_of(
        &self,
        request: &Request<'_>,
        index: &Index,
        run: &DedupRun,
    ) -> Result<bool, Failure> {
        let input = run.judged();
        Ok(self.input == input && has_same_fields(request.args, index, input, self.records)?)
    }
}

/// Reads the input to compare it with that of a run.
pub(super) fn read_again(request: &Request<'_>) -> Result<Again, Failure> {
    let (mut input, mut read, mut failed) = (DedupInput::default(), RecordsHash::default(), 0);
    let records =
        request.args.records(request.written_targets, &request.settings, Purpose::Compare, true)?;
    let is_ordered = request.args.keep.is_ordered();
    let mut preferred = Preferred::new();
    let progress = ProgressBar::new(request.global, records.expected_bytes);
    let mut progress = progress.named("comparing the input with that of the earlier run");
    for parsed in records {
        failed += parsed.failed;
        progress.add(parsed.records(), parsed.bytes);
        for incoming in parsed.good {
            read.add(incoming.hash);
            if is_ordered { preferred.add(incoming)? } else { input.add(&incoming.document) }
        }
    }
    for incoming in preferred.sorted(request.settings.weighted)? {
        input.add(&incoming?.document);
    }
    progress.finish();
    if interrupt::asked() {
        let index = request.args.index.display();
        return Err(anyhow!("{index}: interrupted; nothing was changed").into());
    }
    Ok(Again { input, records: read, failed })
}
