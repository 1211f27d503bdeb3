//! A new file under other settings that takes the place of the old one when it is complete.

use crate::error::{Error, Result};
use crate::store::bytes::record::Counters;
use crate::store::create::{NewFile, behind_link};
use crate::store::engine::{Engine, Tuning};
use crate::store::progress::Watch;
use crate::store::settings::{SettingsRequest, StoredSettings};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;

/// Makes an index again from its stored texts. What is asked for is changed, all else stays; `fill` puts
/// the documents of the first index into the second. A failure leaves the file as it was.
pub(crate) fn rebuild(
    path: &Path,
    request: &SettingsRequest,
    tuning: Tuning,
    watch: &mut Watch<'_>,
    fill: impl FnOnce(&Arc<Engine>, &Arc<Engine>, &mut Watch<'_>) -> Result<()>,
) -> Result<()> {
    let path = &*behind_link(path);
    // Open until the new file has the name: nobody else changes the old one meanwhile.
    let old = Engine::open(path, &SettingsRequest::default(), tuning)?;
    if !old.settings().store_text {
        return Err(Error::NoTexts { path: path.to_owned() });
    }
    // The text of a weighted set is none of words, and the other way round.
    let kind = SettingsRequest { weighted: request.weighted, ..SettingsRequest::default() };
    kind.check(old.settings(), path)?;
    let settings = request.over(old.settings()).resolve()?;
    let key = RandomState::new().build_hasher().finish();
    let stored = StoredSettings::new(&settings, key, old.created());
    let new = NewFile::begin_like(path, &stored, path)?;
    let mut engine = Engine::open(new.place(), &SettingsRequest::default(), tuning)?;
    fill(&old, &engine, watch)?;
    let auto_ids = old.read()?.state.counters.auto_ids;
    let mut writer = engine.write()?;
    writer.restore_counters(Counters { auto_ids, ..Counters::default() })?;
    writer.commit()?;
    engine.finish_merges(watch)?;
    // The storage takes space for a file that grows, half of it for nothing.
    if let Some(engine) = Arc::get_mut(&mut engine) {
        engine.shrink()?;
    }
    drop(engine);
    // A file that is open cannot be replaced there.
    #[cfg(windows)]
    drop(old);
    new.replace()
}
