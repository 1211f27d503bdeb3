//! What does not change while an index is open.

use crate::store::bytes::schema::Layout;
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::settings::Settings;
use crate::store::tuning::Tuning;
use std::path::Path;

/// The properties of an index that do not change while it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<'a> {
    pub(crate) path: &'a Path,
    pub(crate) layout: Layout,
    pub(crate) lanes: usize,
    pub(crate) id_key: u64,
    /// Whether texts are stored.
    pub(crate) texts: bool,
    /// The memory for the filters of lane bands, in bytes.
    pub(crate) filter_bytes: u64,
}

impl<'a> Fixed<'a> {
    pub(crate) fn new(
        path: &'a Path,
        (settings, stored): (&Settings, &StoredSettings),
        tuning: &Tuning,
    ) -> Self {
        let (layout, lanes, texts) = (settings.layout(), settings.lanes.get(), settings.store_text);
        let (id_key, filter_bytes) = (stored.id_key, tuning.filter_bytes());
        Self { path, layout, lanes, id_key, texts, filter_bytes }
    }
}
