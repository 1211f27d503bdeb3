//! Rebuilds an index under other settings, in a new file that replaces the old one when it is
//! complete.

use crate::error::{Error, Result};
use crate::hash::random_key;
use crate::store::bytes::record::Counters;
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::create::{NewFile, resolve_link};
use crate::store::engine::Engine;
use crate::store::progress::Watch;
use crate::store::settings::SettingsRequest;
use crate::store::tuning::Tuning;
use std::path::Path;
use std::sync::Arc;

/// Rebuilds an index from its stored texts. Settings that `request` leaves open stay the same.
/// `fill` inserts the documents of the first index into the second. An error leaves the old file
/// unchanged.
pub(crate) fn rebuild(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    watch: &mut Watch<'_>,
    fill: impl FnOnce(&Arc<Engine>, &Arc<Engine>, &mut Watch<'_>) -> Result<()>,
) -> Result<()> {
    let path = &*resolve_link(path);
    // The old file stays open, and so locked, until the new file has its name.
    let old = Engine::open(path, &SettingsRequest::default(), tuning)?;
    if !old.settings().store_text {
        return Err(Error::NoTexts { path: path.to_owned() });
    }
    // A stored text is either weights or a text of words, so `weighted` cannot change.
    let kind = SettingsRequest { weighted: request.weighted, ..SettingsRequest::default() };
    kind.check(old.settings(), path)?;
    let settings = request.over(old.settings()).resolve()?;
    let key = random_key();
    let stored = StoredSettings::new(&settings, key, old.created());
    let new = NewFile::begin_like(path, &stored, path)?;
    let mut engine = Engine::open_new(new.temporary_path(), path, tuning)?;
    fill(&old, &engine, watch)?;
    let auto_ids = old.read()?.state.counters.auto_ids;
    let mut writer = engine.write()?;
    writer.restore_counters(Counters { auto_ids, ..Counters::default() })?;
    writer.commit()?;
    watch.begin("merging runs", 0)?;
    engine.finish_merges(watch)?;
    // redb enlarges a growing file in advance; half of it may be unused.
    if let Some(engine) = Arc::get_mut(&mut engine) {
        engine.shrink()?;
    }
    drop(engine);
    let named = old.named().cloned();
    // Windows cannot replace an open file.
    #[cfg(windows)]
    drop(old);
    new.replace(named.as_ref())
}
