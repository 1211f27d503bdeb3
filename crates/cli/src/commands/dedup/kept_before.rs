//! What the index remembers of an output: which records an earlier run has written to it.

use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::records_hash::RecordsHash;
use crate::commands::dedup::run_notes::RunNotes;
use crate::commands::outputs::kept;
use crate::commands::outputs::partial_file::LengthAndHash;
use crate::commands::outputs::targets::{Target, Targets};
use crate::remote::is_remote;
use crate::run::failure::Failure;
use crate::run::resume_key::ResumeKey;
use crate::terminal::output::count;
use anyhow::anyhow;
use std::path::Path;
use twindex::{DedupInput, DedupRun, Index, WriteTxn};

/// What an earlier run has written to the output of this one.
#[derive(Clone, Copy)]
pub(crate) struct KeptBefore {
    /// The input of that run.
    pub(crate) input: DedupInput,
    /// The records that it has written.
    pub(crate) records: u64,
    /// The most that a run has written to the output, of the same input.
    pub(super) most: u64,
    /// The hash of the lengths of all files of its input, without the empty ones, if it can be read
    /// twice.
    pub(super) lengths: Option<u64>,
    /// The hash of its records, with all fields; 0 if it is not known.
    pub(super) fields: RecordsHash,
    /// The number of its records that were bad.
    pub(super) failed: u64,
    /// The length and hash of the file that told how far its output was.
    pub(super) progress: LengthAndHash,
    /// The length and hash of its audit.
    pub(super) audit: LengthAndHash,
}

impl KeptBefore {
    /// Whether the output is that of the run, as far as its progress tells.
    pub(super) fn is_still_there(&self, targets: &Targets) -> Result<bool, Failure> {
        match &targets.delivery {
            Some(delivery) => delivery.is_there(self.progress),
            None => kept::is_complete(&targets.out, self.progress),
        }
    }

    /// Returns the ten numbers to store.
    fn encode(&self) -> [u64; 10] {
        let Self { records, most, lengths, fields, failed, progress, audit, input: _ } = *self;
        let lengths = lengths.unwrap_or_default();
        [records, lengths, progress.0, progress.1, audit.0, audit.1, most, fields.0, failed, 0]
    }

    /// Reads what was stored under the key of an output.
    fn of(run: &DedupRun) -> Self {
        let [records, lengths, length, hash, audit_length, audit_hash, most, fields, failed, _] =
            run.notes();
        let lengths = Some(lengths).filter(|lengths| *lengths != 0);
        let (progress, audit) = ((length, hash), (audit_length, audit_hash));
        let (input, most, fields) = (run.judged(), most.max(records), RecordsHash(fields));
        Self { input, records, most, lengths, fields, failed, progress, audit }
    }
}

/// The key under which is remembered what an output holds, whichever command has written it.
pub(super) fn key_of_output(args: &Dedup) -> ResumeKey {
    let out = args.output.as_deref().unwrap_or(Path::new(""));
    let absolute = if is_remote(out) { None } else { Target::absolute(out) };
    ResumeKey::default().with_path("output", absolute.as_deref().unwrap_or(out))
}

/// What an earlier run has written to the output, if any has.
pub(super) fn stored(args: &Dedup, index: &Index) -> Result<Option<KeptBefore>, Failure> {
    let run = DedupRun::last_finished(&index.begin_write()?, key_of_output(args))?;
    Ok(run.as_ref().map(KeptBefore::of))
}

/// Remembers what a run that has judged all its records has written to its output. `lengths` and
/// `fields` are those of its input, `failed` the number of records that were bad.
///
/// If an earlier run has written more records of the same input, their number stays: the user may
/// have moved that output away, and may move it back.
pub(crate) fn remember_kept(
    args: &Dedup,
    txn: &mut WriteTxn,
    run: &DedupRun,
    (lengths, fields, failed): (Option<u64>, RecordsHash, u64),
) -> Result<(), Failure> {
    let RunNotes { kept: progress, audit, counts, may_replace, .. } = RunNotes::of(run);
    let known = if args.skip_known { 0 } else { counts.unchanged };
    let input = run.judged();
    let before = DedupRun::last_finished(txn, key_of_output(args))?.as_ref().map(KeptBefore::of);
    let more = before.filter(|before| !may_replace && before.input == input);
    let records = counts.inserted() + known;
    let most = records.max(more.map_or(0, |before| before.most));
    let kept = KeptBefore { input, records, most, lengths, fields, failed, progress, audit };
    let mut run = run.clone().with_key(key_of_output(args));
    run.set_notes(kept.encode());
    Ok(run.remember(txn, "")?)
}

/// Whether the output is of records with these fields, as far as it is known. It is that of a run
/// with this input.
pub(crate) fn has_same_fields(
    args: &Dedup,
    index: &Index,
    input: DedupInput,
    fields: RecordsHash,
) -> Result<bool, Failure> {
    let before = stored(args, index)?.filter(|before| before.input == input);
    let known = before.map(|before| before.fields).filter(|known| known.0 != 0);
    Ok(known.is_none_or(|known| known == fields))
}

/// The error for an interrupted run that would replace an output that has more of its records.
pub(crate) fn would_lose_by_going_on(args: &Dedup, before: KeptBefore) -> Failure {
    anyhow!(
        "{}: an earlier run has written {} to it, and the interrupted run would replace it by what \
         was not known; move it elsewhere, and run the command again",
        args.output.as_deref().unwrap_or(Path::new("")).display(),
        count(before.records, "record"),
    )
    .into()
}

/// The error for a run that would write fewer records of the same input than an earlier one.
/// `committed` says that the index has some of its records.
pub(crate) fn would_lose(args: &Dedup, before: KeptBefore, committed: bool) -> Failure {
    let out = args.output.as_deref().unwrap_or(Path::new(""));
    let first = if committed { "; the first of them are in the index now" } else { "" };
    let (why, leave_out) = if args.skip_known {
        ("--skip-known would leave out those that are known", "leave out --skip-known, ")
    } else {
        (
            "this run would write fewer, as its options differ, or documents were replaced or \
             removed since",
            "",
        )
    };
    let input = match before.failed {
        0 => "of the same input",
        _ => "of an input with bad records",
    };
    anyhow!(
        "{}: an earlier run has written {} to it, {input}; {why}, so nothing was written{first}; \
         {leave_out}name another output, or add --restart to replace this one",
        out.display(),
        count(before.records, "record"),
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_numbers_are_these() {
        let kept = KeptBefore {
            input: DedupInput::default(),
            records: 1,
            most: 7,
            lengths: Some(2),
            fields: RecordsHash(8),
            failed: 9,
            progress: (3, 4),
            audit: (5, 6),
        };
        assert_eq!(kept.encode(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
        let of_a_stream = KeptBefore { lengths: None, ..kept };
        assert_eq!(of_a_stream.encode(), [1, 0, 3, 4, 5, 6, 7, 8, 9, 0]);
    }
}
