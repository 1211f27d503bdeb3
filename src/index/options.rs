//! How an index is created and opened.

use crate::error::{Error, Result};
use crate::index::handle::{Index, ReadOnlyIndex};
use crate::store::{Engine, Repair, Settings, SettingsRequest, Tuning, Work, repair};
use crate::text::{Normalization, Shingle, UnicodeVersions};
use std::cell::RefCell;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest pause between two looks at a file that another process has open: short beside what a
/// person notices, long beside the 20 us that a look takes.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Options of creating and opening an index, in two groups.
///
/// *Settings* are fixed when the index is created and stored in it: threshold, recall, lanes,
/// shingle, normalisation, multiset, weighted, stored texts, seed. When an existing index is opened,
/// a setting that is named here must be the stored one; those left out are taken from the file.
///
/// *Performance*: cache and flush size hold for as long as the index is open and are not stored.
/// Answers do not depend on them. Nor do they on how long opening waits for other processes.
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
    wait: Duration,
}

impl IndexOptions {
    /// Default settings and sizes.
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

    /// The similarity from which on documents count as similar: above 0, at most 1; default 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.request.threshold = Some(threshold);
        self
    }

    /// The probability with which a pair at the threshold becomes a candidate, at least: between
    /// 0 and 1; default 0.99.
    pub fn recall(mut self, recall: f64) -> Self {
        self.request.recall = Some(recall);
        self
    }

    /// Lanes of a signature: 64, 128, 256 or 512; default 256. A lane is a byte on disk.
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.request.lanes = Some(lanes);
        self
    }

    /// What a shingle is; default `char:9`.
    pub fn shingle(mut self, shingle: Shingle) -> Self {
        self.request.shingle = Some(shingle);
        self
    }

    /// How texts are normalised; default `lower,nfc,space`, and `none` for tokens.
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.request.normalization = Some(normalization);
        self
    }

    /// Whether repeated shingles count as often as they occur; default no.
    pub fn multiset(mut self, multiset: bool) -> Self {
        self.request.multiset = Some(multiset);
        self
    }

    /// Whether documents are weighted sets, tokens with a number each, given by
    /// [`Weights`](crate::Weights); default no. The shingle is then `token`, and texts are not
    /// normalised unless [`normalization`](Self::normalization) says so.
    pub fn weighted(mut self, weighted: bool) -> Self {
        self.request.weighted = Some(weighted);
        self
    }

    /// Whether texts are stored, compressed, in the index; default no. Then queries, pairs, clusters
    /// and check-and-insert give exact answers, and the index can be rebuilt under other settings.
    pub fn store_text(mut self, store: bool) -> Self {
        self.request.store_text = Some(store);
        self
    }

    /// The seed of all hashes of shingles; default 0. Signatures of different seeds do not
    /// compare.
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.seed = Some(seed);
        self
    }

    /// The versions of the Unicode tables that a new index is marked with; default
    /// [`UnicodeVersions::current`](crate::UnicodeVersions::current). For an index that takes in
    /// signatures made elsewhere, by a program of other versions.
    pub fn unicode(mut self, versions: UnicodeVersions) -> Self {
        self.request.unicode = Some(versions);
        self
    }

    /// The settings that an index created with these options has.
    ///
    /// ```
    /// let settings = twindex::Index::options().threshold(0.8).settings()?;
    /// assert_eq!((settings.plan.bands(), settings.plan.depth()), (16, 6));
    /// # Ok::<(), twindex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`], [`Error::UnreachableRecall`].
    pub fn settings(&self) -> Result<Settings> {
        self.request.resolve()
    }

    /// Memory for pages of the file, in bytes; default 64 MiB.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.tuning.cache_bytes = bytes;
        self
    }

    /// Latest documents that are held in memory before they are written as a sorted run: at
    /// least 1; default 65,536, which takes some 20 MiB.
    pub fn flush_documents(mut self, documents: usize) -> Self {
        self.tuning.flush_documents = documents.max(1);
        self.tuning.merge_step = self.tuning.flush_documents as u64;
        self
    }

    /// Runs of one size that are merged into one of the next: 2 to 64; default 8.
    pub fn merge_runs(mut self, runs: usize) -> Self {
        self.tuning.merge_runs = runs.clamp(2, 64);
        self
    }

    /// How long opening waits for other processes to close the index before it fails with
    /// [`Error::Locked`]; default zero. There is no queue: of several that wait, any may be next.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use twindex::Index;
    /// let index = Index::options().wait(Duration::from_secs(10)).open("pages.twx")?;
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Creates an index and opens it.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`], [`Error::InvalidSetting`], [`Error::UnreachableRecall`], or
    /// [`Error::Io`] where the folder is missing or may not be written to.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Index> {
        Engine::create(path.as_ref(), &self.request.resolve()?)?;
        self.open(path)
    }

    /// Opens an index for reading and writing. No other process can have it open meanwhile.
    ///
    /// After an unclean stop it is repaired first: some milliseconds after a batch, a pass over
    /// the file after single-document commits.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::NotAnIndex`], [`Error::NewerFormat`], [`Error::Locked`],
    /// [`Error::SettingMismatch`], [`Error::Damaged`], or [`Error::Io`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        Index::new(self.patiently(|| Engine::open(path, &self.request, self.tuning))?)
    }

    /// Opens an index, creating it first if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open) and [`create`](Self::create).
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Index> {
        match self.open(&path) {
            Err(Error::NotFound { .. }) => match self.create(&path) {
                // Someone else was faster.
                Err(Error::AlreadyExists { .. }) => self.open(&path),
                created => created,
            },
            opened => opened,
        }
    }

    /// Opens an index for reading. Any number of processes may do so at once, but not beside
    /// one that writes.
    ///
    /// After an unclean stop the index is repaired once, for which this process must be allowed
    /// to write to it.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), and [`Error::NeedsRepair`].
    pub fn open_read_only(&self, path: impl AsRef<Path>) -> Result<ReadOnlyIndex> {
        let path = path.as_ref();
        let open = || Engine::open_read_only(path, &self.request, self.tuning);
        ReadOnlyIndex::new(self.patiently(open)?)
    }

    /// Checks an index and every page of its file. If anything is wrong, makes a new file from the
    /// documents that can be read, which takes the place of the old one.
    ///
    /// Ids, signatures and all else that is stored of a document are taken over as they are, in
    /// their order; bands and counters are made again from them. Needs the space of a second file
    /// beside the first, and takes as long as inserting all signatures. Memory is that of inserting.
    /// It counts rows that are read and checked, and cannot be stopped while the pages are verified
    /// at first.
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
    /// Those of [`open`](Self::open); [`Error::Damaged`] where not even the settings can be read;
    /// [`Error::Interrupted`]. The file is then as it was.
    pub fn repair(&self, path: impl AsRef<Path>) -> Work<'static, Repair> {
        let (options, path) = (self.clone(), path.as_ref().to_owned());
        Work::new(move |tell| {
            let tell = RefCell::new(tell);
            options.patiently(|| {
                let mut tell = tell.borrow_mut();
                repair(&path, &options.request, options.tuning, &mut **tell)
            })
        })
    }

    /// The settings of another index, of which nothing may then be asked for otherwise. A new index
    /// also takes over which Unicode tables they were made with.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let (one, other) = (folder.path().join("1.twx"), folder.path().join("2.twx"));
    /// use twindex::Index;
    /// let one = Index::options().threshold(0.7).create(one)?;
    /// let other = Index::options().like(one.settings()).create(other)?;
    /// assert_eq!(one.settings(), other.settings());
    /// # Ok(())
    /// # }
    /// ```
    pub fn like(mut self, settings: &Settings) -> Self {
        self.request = SettingsRequest::of(settings);
        self
    }

    /// Tries again for as long as another process has the file and there is time. Locks of the
    /// operating system cannot be waited for with an end, so they are looked at.
    pub(crate) fn patiently<T>(&self, open: impl Fn() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let left = self.wait.saturating_sub(start.elapsed());
            match open() {
                Err(Error::Locked { .. }) if !left.is_zero() => sleep(pause.min(left)),
                opened => return opened,
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}
