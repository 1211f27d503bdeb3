//! Carries the progress of deduplications into a repaired file.

use crate::error::Result;
use crate::store::care::old_file::RowsLeft;
use crate::store::engine::Engine;
use crate::store::write::dedup_row::{self, DedupStage};
use std::sync::Arc;

/// Stores the rows of deduplications that are left in the new file.
///
/// What a finished run has written is known again. An interrupted run goes on only if no document
/// `is_lost`: otherwise its output could have records that are in the index no more, and it begins
/// anew.
pub(super) fn restore_runs(left: &RowsLeft, new: &Arc<Engine>, is_lost: bool) -> Result<()> {
    let rows = left.rows_of_meta().filter_map(|(key, row)| dedup_row::decode(key, row));
    let rows = rows.filter_map(|decoded| decoded.ok());
    let is_kept = |stage| !is_lost || matches!(stage, DedupStage::Finished(_));
    let rows: Vec<_> = rows.filter(|(_, row)| is_kept(row.stage)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let mut writer = new.write()?;
    for (run, row) in &rows {
        writer.set_dedup_row(*run, Some(row))?;
    }
    writer.commit()
}
