//! `clusters --keep`: puts the documents of an index in an order of preference.

use crate::commands::clusters::ClusteringOptions;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::preference::{Preference, Rank};
use crate::run::records;
use crate::run::spilled_sort::SpilledSort;
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::numbers::grouped;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::{Context, anyhow};
use std::cmp::Reverse;
use std::io;
use std::path::Path;
use twindex::{Clustering, Keep, Snapshot};

/// The memory for ids. More go to temporary files.
const ROOM: usize = 64 << 20;

/// Ids with their ranks. Ids of equal rank are in the order in which they were added.
type Ranked = SpilledSort<(Rank, u64, String)>;

/// Sets which document represents a cluster. Returns also how many of the records that tell were
/// bad.
pub(crate) fn prefer<'s>(
    global: &GlobalOptions,
    options: &ClusteringOptions,
    snapshot: &'s Snapshot,
    clustering: Clustering<'s>,
) -> Result<(Clustering<'s>, u64), Failure> {
    let keep = &options.keep;
    let group_field = options.group_field.as_deref();
    match keep {
        Preference::First => return Ok((clustering.keep(Keep::First), 0)),
        Preference::Longest => return Ok((clustering.keep(Keep::Longest), 0)),
        Preference::Id => return Ok((clustering.keep(Keep::Id), 0)),
        Preference::Greatest(_) | Preference::Least(_) | Preference::Sources(_) => {}
    }
    let (ranked, failed) = if keep.reads_fields(group_field) {
        of_records(global, options, snapshot)?
    } else {
        (of_ids(options, snapshot)?, 0)
    };
    let sorted = ranked.sorted().context("a temporary file")?;
    let mut fault = None;
    let ids = sorted.map_while(|next| next.map_err(|error| fault = Some(error)).ok());
    let clustering = clustering.prefer(ids.map(|(_, _, id)| id))?;
    fault.map_or(Ok(()), Err).context("a temporary file")?;
    let known = clustering.preferred();
    let wanted = keep.wanted(group_field);
    if known == 0 && !snapshot.is_empty() {
        return Err(anyhow!("--keep {keep}: no document of the index has {wanted}").into());
    }
    if known < snapshot.len() && !global.quiet {
        let lacking = grouped(snapshot.len() - known);
        let all = grouped(snapshot.len());
        message(&format!(
            "--keep {keep}: {lacking} of {all} documents lack {wanted}, and come after all others"
        ));
    }
    Ok((clustering, failed))
}

/// Refuses options that do not belong together.
pub(crate) fn check(options: &ClusteringOptions, index: &Path) -> Result<(), Failure> {
    let ClusteringOptions { keep, group_field, records, .. } = options;
    let reads_fields = keep.reads_fields(group_field.as_deref());
    if reads_fields && records.is_empty() {
        let path = index.display();
        return Err(anyhow!(
            "{path}: an index keeps no fields of records; say --records FILE for --keep {keep}"
        )
        .into());
    }
    if group_field.is_some() && !matches!(keep, Preference::Sources(_)) {
        return Err(anyhow!("--group-field is for --keep prefer:SOURCE").into());
    }
    if !reads_fields && !records.is_empty() {
        return Err(anyhow!("--records is for a --keep that goes by a field").into());
    }
    Ok(())
}

/// Ranks documents by the fields of their records. Of several with one id, the last one counts, as
/// in the index. Returns also the number of bad records.
fn of_records(
    global: &GlobalOptions,
    options: &ClusteringOptions,
    snapshot: &Snapshot,
) -> Result<(Ranked, u64), Failure> {
    let settings = snapshot.settings();
    let mut inputs = options.input.of(&options.records, snapshot.path(), settings.weighted);
    options.naming.apply(&mut inputs, true);
    inputs.whole_rows = true;
    let keep = options.keep.clone();
    let group_field = options.group_field.clone();
    let records = records::start(inputs, settings, move |record| {
        let rank = keep.rank(&record, group_field.as_deref());
        Ok(record.name.into_id().map(|id| (rank, id)))
    })?;
    let progress = ProgressBar::new(global, records.expected_bytes);
    let mut progress = progress.named("reading the fields of records");
    let mut by_id = SpilledSort::new(ROOM);
    let (mut number, mut failed) = (0_u64, 0);
    for batch in records {
        progress.add(batch.records(), batch.bytes);
        failed += batch.failed;
        batch.messages.iter().for_each(|message| progress.say(message));
        for (rank, id) in batch.good.into_iter().flatten() {
            let bytes = id.len();
            by_id.push((id, Reverse(number), rank), bytes).context("a temporary file")?;
            number += 1;
        }
    }
    progress.finish();
    if interrupt::asked() {
        return Err(anyhow!("interrupted; nothing was printed").into());
    }
    Ok((last_of_each(by_id).context("a temporary file")?, failed))
}

/// The last record of each id, unless its rank is unknown.
fn last_of_each(by_id: SpilledSort<(String, Reverse<u64>, Rank)>) -> io::Result<Ranked> {
    let mut ranked = SpilledSort::new(ROOM);
    let mut last = None;
    for record in by_id.sorted()? {
        let (id, Reverse(number), rank) = record?;
        if last.as_ref() != Some(&id) {
            if !rank.is_unknown {
                ranked.push((rank, number, id.clone()), id.len())?;
            }
            last = Some(id);
        }
    }
    Ok(ranked)
}

/// Ranks documents by the files and folders that begin their ids.
fn of_ids(options: &ClusteringOptions, snapshot: &Snapshot) -> Result<Ranked, Failure> {
    let mut ranked = SpilledSort::new(ROOM);
    for (number, id) in snapshot.ids().enumerate() {
        let id = id?;
        let rank = options.keep.rank_of_id(&id);
        if !rank.is_unknown {
            let bytes = id.len();
            ranked.push((rank, number as u64, id), bytes).context("a temporary file")?;
        }
    }
    Ok(ranked)
}
