//! The options for creating and opening an index.

use crate::error::{Error, Result};
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::index::patience::{GiveUp, Patience};
use crate::index::track::update::bring_up_to_date;
use crate::store::{
    Engine, PassageRequest, Repair, SeedRequest, Settings, SettingsRequest, Tuning, Work, repair,
};
use crate::text::{Normalization, Shingle, UnicodeVersions};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The options for creating and opening an index, in two groups.
///
/// *Settings* are fixed when the index is created, and stored in it: threshold, recall, lanes,
/// shingle, normalisation, multiset, weighted, stored texts, passages, seed, Unicode versions. When
/// an existing index is opened, a setting given here must equal the stored one; the others are read
/// from the file.
///
/// *Performance options* apply while the index is open and are not stored: sizes of cache, flushes
/// and merges, and the wait for other processes. They never change the results of queries.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("lines.twx");
/// use twindex::{Index, Shingle};
/// let index = Index::options()
///     .threshold(0.7)
///     .shingle(Shingle::words(3))
///     .cache_bytes(16 << 20)
///     .open_or_create(&path)?;
/// assert_eq!(index.settings().plan.bands(), 26);
/// drop(index);
///
/// let refused = Index::options().threshold(0.9).open(&path);
/// assert!(refused.is_err()); // created with threshold 0.7
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing until the index is opened or created"]
pub struct IndexOptions {
    request: SettingsRequest,
    tuning: Tuning,
    pub(crate) patience: Patience,
}

impl IndexOptions {
    /// Returns options with the default values.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn request(&self) -> &SettingsRequest {
        &self.request
    }

    pub(crate) fn tuning(&self) -> Tuning {
        self.tuning
    }

    #[cfg(test)]
    pub(crate) fn with_tuning(tuning: Tuning) -> Self {
        Self { tuning, ..Self::default() }
    }

    /// Sets the similarity from which on documents count as similar: above 0, at most 1. The
    /// default is 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.request.threshold = Some(threshold);
        self
    }

    /// Sets the minimum probability that a pair at the threshold becomes a candidate: above 0,
    /// below 1. The default is 0.99.
    pub fn recall(mut self, recall: f64) -> Self {
        self.request.recall = Some(recall);
        self
    }

    /// Sets the number of lanes in a signature: 64, 128, 256 or 512. The default is 256. A lane
    /// takes one byte on disk.
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.request.lanes = Some(lanes);
        self
    }

    /// Sets the kind of shingles. The default is `char:9`.
    pub fn shingle(mut self, shingle: Shingle) -> Self {
        self.request.shingle = Some(shingle);
        self
    }

    /// Sets how texts are normalised. The default is `lower,nfc,space`, and `none` for tokens.
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.request.normalization = Some(normalization);
        self
    }

    /// Sets whether a repeated shingle counts as often as it occurs. The default is no.
    pub fn multiset(mut self, multiset: bool) -> Self {
        self.request.multiset = Some(multiset);
        self
    }

    /// Sets whether documents are weighted sets: tokens with a number each, given as
    /// [`Weights`](crate::Weights). The default is no. If yes, the shingle is `token`, and texts
    /// are normalised only if [`normalization`](Self::normalization) is set.
    pub fn weighted(mut self, weighted: bool) -> Self {
        self.request.weighted = Some(weighted);
        self
    }

    /// Sets whether the index stores the texts, compressed. The default is no. With texts, queries,
    /// pairs, clusters and insertions compute exact similarities, and the index can be
    /// [rebuilt](Self::rebuild) with other settings.
    pub fn store_text(mut self, store: bool) -> Self {
        self.request.store_text = Some(store);
        self
    }

    /// Sets the length from which on the index finds every passage that two texts share, in units
    /// of the shingle: characters of the normalised text, words, lines or tokens. The default is 0:
    /// the index keeps no fingerprints of passages. [`Winnowing`](crate::Winnowing) has the range
    /// and a length that suits most texts. If the length is 100, fingerprints take about a quarter
    /// of a byte for each character of text, and insertion takes 1.2 to 2.2 times as long.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = folder.path().join("p.twx");
    /// let index = twindex::Index::options().passages(100).create(path)?;
    /// assert_eq!(index.settings().winnowing.map(|w| w.length()), Some(100));
    /// # Ok(())
    /// # }
    /// ```
    pub fn passages(mut self, length: usize) -> Self {
        self.request.passages = Some(PassageRequest::Length(length));
        self
    }

    /// Lets a new index find passages of the [usual length](crate::Winnowing::default_length) for
    /// its shingle. An existing index must find passages, of any length.
    pub fn usual_passages(mut self) -> Self {
        self.request.passages = Some(PassageRequest::Usual);
        self
    }

    /// Sets the seed of all shingle hashes. The default is 0. Signatures with different seeds
    /// cannot be compared.
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.seed = Some(SeedRequest::Fixed(seed));
        self
    }

    /// Gives a new index a random seed, and opens an existing index whatever its seed is.
    ///
    /// Use this if strangers send the documents. Anyone who knows the seed, which is 0 by default,
    /// can change a few letters of a copy so that it shares no bucket with the original, or fill a
    /// bucket on purpose. The seed is in the index file, and [`Settings::seed`] and exports tell
    /// it: keep them secret. To make another index whose signatures compare with these, take its
    /// [settings](Self::with_settings).
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = |name| folder.path().join(name);
    /// let one = twindex::Index::options().random_seed().create(path("one.twx"))?;
    /// let other = twindex::Index::options().random_seed().create(path("other.twx"))?;
    /// assert_ne!(one.settings().seed, other.settings().seed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn random_seed(mut self) -> Self {
        self.request.seed = Some(SeedRequest::Random);
        self
    }

    /// Sets the versions of the Unicode tables that a new index records. The default is
    /// [`UnicodeVersions::current`](crate::UnicodeVersions::current). Set this for an index of
    /// signatures that a program with other Unicode tables has made.
    pub fn unicode(mut self, versions: UnicodeVersions) -> Self {
        self.request.unicode = Some(versions);
        self
    }

    /// The settings of an index created with these options.
    ///
    /// ```
    /// let settings = twindex::Index::options().threshold(0.8).settings()?;
    /// assert_eq!((settings.plan.bands(), settings.plan.depth()), (16, 6));
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] for a value out of range; [`Error::UnreachableRecall`] if the
    /// lanes are too few for the threshold and the recall.
    pub fn settings(&self) -> Result<Settings> {
        self.request.resolve()
    }

    /// Sets the memory for cached pages of the file, in bytes. The default is 64 MiB.
    ///
    /// Filters, built once a run was searched often, let queries skip most pages. They may take as
    /// much again, or 256 MiB if that is more: 20 bytes a document at the default settings. Work on
    /// all documents, as [`crate::Snapshot::clusters`], may take 3.25 times as much in addition.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.tuning.cache_bytes = bytes;
        self
    }

    /// Sets the number of documents that the memtable holds before it is written as a sorted run:
    /// at least 1, which 0 is taken for. The default is 65,536, which takes about 20 MiB.
    pub fn flush_documents(mut self, documents: usize) -> Self {
        self.tuning.flush_documents = documents.max(1);
        self.tuning.merge_step = self.tuning.flush_documents as u64;
        self
    }

    /// Sets the number of runs of one size that are merged into one of the next size: 2 to 64, or
    /// the nearest of these. The default is 8.
    pub fn merge_runs(mut self, runs: usize) -> Self {
        self.tuning.merge_runs = runs.clamp(2, 64);
        self
    }

    /// Sets how long opening waits for other processes to close the index before it fails with
    /// [`Error::Locked`]. The default is zero. Processes that wait to write take turns: whoever
    /// began to wait first opens the file first. One that does not wait may come before them.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use twindex::Index;
    /// let index = Index::options().wait(Duration::from_secs(10)).open("pages.twx")?;
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn wait(mut self, wait: Duration) -> Self {
        self.patience.wait = wait;
        self
    }

    /// Sets a question that ends a [wait](Self::wait) when its answer is `true`. It is asked
    /// several hundred times a second. Opening then fails with [`Error::Locked`].
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicBool, Ordering};
    /// # use std::time::Duration;
    /// let stop = Arc::new(AtomicBool::new(false));
    /// let asked = Arc::clone(&stop);
    /// let options = twindex::Index::options().wait(Duration::from_secs(3600));
    /// let index = options.give_up_if(move || asked.load(Ordering::Relaxed)).open("pages.twx")?;
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn give_up_if(mut self, asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.patience.give_up = Some(GiveUp(Arc::new(asked)));
        self
    }

    /// Creates an index and opens it.
    ///
    /// # Errors
    ///
    /// - [`Error::AlreadyExists`] if there is a file at the path; [`Error::NotAnIndex`] if there is
    ///   a link to a file that does not exist.
    /// - [`Error::InvalidSetting`] or [`Error::UnreachableRecall`] for settings that are invalid;
    ///   the former also for an empty path.
    /// - [`Error::Io`] if the folder is missing, which the message names then, or not writable.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Index> {
        Engine::create(path.as_ref(), &self.request.resolve()?)?;
        self.open(path)
    }

    /// Opens an index for reading and writing. Other processes can read it meanwhile, each snapshot
    /// the last commit, but not write to it.
    ///
    /// After an unclean stop, opening first recovers the file. This takes some milliseconds if the
    /// last commit was a large batch, and one pass over the file if it was a small one.
    ///
    /// # Errors
    ///
    /// - [`Error::NotFound`] if there is no file, [`Error::NotAnIndex`] if it is another kind of
    ///   file or a link to a file that does not exist, and [`Error::NewerFormat`] if a later
    ///   version of this library wrote it.
    /// - [`Error::Locked`] if another process has the index open for writing.
    /// - [`Error::SettingMismatch`] if a given setting differs from the stored one.
    /// - [`Error::InvalidSetting`] for an empty path.
    /// - [`Error::Damaged`] or [`Error::Io`] if the file cannot be read.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        let open = || Engine::open(path, &self.request, self.tuning);
        Ok(Index::new(self.patience.open_to_write(path, open)?)?.with_options(self.clone()))
    }

    /// Opens an index, creating it first if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open) and [`create`](Self::create).
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Index> {
        match self.open(&path) {
            Err(Error::NotFound { .. }) => match self.create(&path) {
                // Another process created the file in between.
                Err(Error::AlreadyExists { .. }) => self.open(&path),
                created => created,
            },
            opened => opened,
        }
    }

    /// Opens an index for reading. Any number of processes may do so at once, also while one has it
    /// open for writing: each [snapshot](ReadOnlyIndex::snapshot) shows the last commit.
    ///
    /// A reader does not wait for a writer, except while the file is being shrunk, and it needs no
    /// recovery after an unclean stop. Where a file system cannot lock single bytes of a file, it
    /// excludes writers instead, and an unclean stop must be recovered first, for which the process
    /// needs write access.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and [`Error::NeedsRecovery`] if recovery is needed and the
    /// file is not writable.
    pub fn open_read_only(&self, path: impl AsRef<Path>) -> Result<ReadOnlyIndex> {
        let path = path.as_ref();
        let open = || Engine::open_read_only(path, &self.request, self.tuning);
        ReadOnlyIndex::new(self.patience.open(open)?)
    }

    /// Checks an index and every page of its file. If it is damaged, writes all readable documents
    /// to a new file that replaces the old one.
    ///
    /// The new file keeps the ids, signatures and other stored data of the documents, and their
    /// order. Bands and counters are rebuilt. A repair needs free space for a second file, and the
    /// time and memory of inserting all signatures. Progress counts pages and rows read and
    /// checked.
    ///
    /// The pages are verified beneath the storage library before it opens the file, so a damaged
    /// file is not written to. A file that is shorter or longer than its header says is damaged
    /// too.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = folder.path().join("pages.twx");
    /// # drop(twindex::Index::create(&path)?);
    /// let repair = twindex::Index::repair(&path).run()?;
    /// match repair.cause {
    ///     None => println!("nothing was wrong"),
    ///     Some(cause) => println!("{cause}; {} documents could not be read", repair.lost),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), [`Error::Damaged`] if even the settings are unreadable,
    /// [`Error::Moved`] if the file was moved, deleted or replaced meanwhile, and
    /// [`Error::Interrupted`] if the caller stopped the work. The file is unchanged after an error.
    pub fn repair(&self, path: impl AsRef<Path>) -> Work<'static, Repair> {
        self.repair_listing_lost(path, |_| {})
    }

    /// Repairs an index as [`repair`](Self::repair) does, and calls `lost` with the id of each
    /// document that is lost, as far as it can be read. [`Repair::lost_ids`] has only the first
    /// thousand.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = folder.path().join("pages.twx");
    /// # drop(twindex::Index::create(&path)?);
    /// let mut lost = Vec::new();
    /// let options = twindex::Index::options();
    /// options.repair_listing_lost(&path, |id| lost.push(id.to_owned())).run()?;
    /// assert!(lost.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`repair`](Self::repair).
    pub fn repair_listing_lost<'w>(
        &self,
        path: impl AsRef<Path>,
        lost: impl FnMut(&str) + Send + 'w,
    ) -> Work<'w, Repair> {
        let (options, path) = (self.clone(), path.as_ref().to_owned());
        Work::new(move |tell| {
            let hooks = RefCell::new((tell, lost));
            options.patience.open(|| {
                let (tell, lost) = &mut *hooks.borrow_mut();
                let (request, tuning) = (&options.request, options.tuning);
                repair(&path, request, tuning, lost, bring_up_to_date, &mut **tell)
            })
        })
    }

    /// Takes all settings from another index. A new index also records the Unicode versions of that
    /// index.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let (one, other) = (folder.path().join("1.twx"), folder.path().join("2.twx"));
    /// use twindex::Index;
    /// let one = Index::options().threshold(0.7).create(one)?;
    /// let other = Index::options().with_settings(one.settings()).create(other)?;
    /// assert_eq!(one.settings(), other.settings());
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_settings(mut self, settings: &Settings) -> Self {
        self.request = SettingsRequest::of(settings);
        self
    }
}
