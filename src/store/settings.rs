//! The settings of an index: chosen at creation, stored in the file, never changed.

use crate::error::{Error, Result};
use crate::estimate::least_equal_lanes;
use crate::hash::random_key;
use crate::lsh::{BandPlan, Margin, Probe};
use crate::params::{Lanes, Recall, Threshold};
use crate::sketch::{SketchSettings, Sketcher, Winnowing};
use crate::store::bytes::schema::Layout;
use crate::text::{Normalization, Shingle, Shingler, UnicodeVersions};
use std::fmt::Display;
use std::path::Path;

/// The settings of an index. Two indexes with equal settings make equal signatures.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    pub(crate) threshold: Threshold,
    pub(crate) recall: Recall,
    pub(crate) lanes: Lanes,
    /// The kind of shingles and their length.
    pub shingle: Shingle,
    /// How texts are normalised before they are cut into shingles.
    pub normalization: Normalization,
    /// Whether repeated shingles count as often as they occur.
    pub multiset: bool,
    /// Whether documents are weighted sets: tokens with a weight each.
    pub weighted: bool,
    /// Whether texts are stored, so that answers are exact.
    pub store_text: bool,
    /// Which shared passages the index finds; `None` if it keeps no fingerprints of them.
    pub winnowing: Option<Winnowing>,
    /// The seed of all hashes of shingles and lanes.
    pub seed: u64,
    /// The bands, which follow from threshold, recall and lanes.
    pub plan: BandPlan,
    /// The Unicode versions of the program that created the index.
    pub unicode: UnicodeVersions,
}

impl Settings {
    /// The similarity from which on documents count as similar, unless a query says otherwise.
    pub fn threshold(&self) -> f64 {
        self.threshold.get()
    }

    /// The least probability with which a pair at the threshold becomes a candidate.
    pub fn recall(&self) -> f64 {
        self.recall.get()
    }

    /// The number of lanes of a signature.
    pub fn lanes(&self) -> usize {
        self.lanes.get()
    }

    /// The number of equal lanes from which on two documents that share a bucket are similar, by
    /// estimate and at the threshold of the index. With `exact`, the number from which on their
    /// texts are compared; it is lower, so that the promised recall holds for exact similarities.
    ///
    /// A program that searches buckets by itself, for instance on many machines, gets the answers
    /// of an index by these numbers. [`Settings::plan`] tells the bands.
    ///
    /// ```
    /// let settings = twindex::Index::options().threshold(0.8).settings()?;
    /// assert_eq!(settings.least_equal_lanes(false), 205);
    /// assert_eq!(settings.least_equal_lanes(true), 187);
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn least_equal_lanes(&self, exact: bool) -> usize {
        if exact {
            let probe = Probe::of(self.plan, self.threshold, self.recall);
            Margin::of_probe(probe, self.lanes, self.threshold, self.recall).least
        } else {
            least_equal_lanes(self.threshold.get(), self.lanes.get())
        }
    }

    /// The sketcher that makes this index's signatures.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if the shingle is out of range. A stored shingle never is.
    pub fn sketcher(&self) -> Result<Sketcher> {
        let shingler = Shingler::new(self.shingle, self.normalization, self.multiset, self.seed)?;
        if self.weighted {
            Sketcher::weighted(shingler, self.lanes(), self.seed)
        } else {
            Ok(Sketcher::of(shingler, self.lanes, self.seed).winnowing(self.winnowing))
        }
    }

    /// What the index's signatures depend on.
    pub(crate) fn of_sketches(&self) -> SketchSettings {
        SketchSettings {
            shingle: self.shingle,
            normalization: self.normalization,
            multiset: self.multiset,
            seeds: (self.seed, self.seed),
        }
    }

    /// Checks that the index at `from` has the settings of this index at `path`, so that its
    /// signatures can be inserted here. The Unicode versions may differ.
    ///
    /// # Errors
    ///
    /// [`Error::UnequalSettings`] with the first setting that differs.
    pub fn check_same(&self, path: &Path, other: &Settings, from: &Path) -> Result<()> {
        let gram = |settings: &Settings| settings.winnowing.map_or(0, Winnowing::gram);
        match SettingsRequest::of(other).check(self, path) {
            Ok(()) if gram(self) != gram(other) => Err(Error::UnequalSettings {
                path: from.to_owned(),
                setting: "gram of passages",
                found: gram(other).to_string(),
                other: path.to_owned(),
                expected: gram(self).to_string(),
            }),
            checked => checked.map_err(|error| unequal(error, path, from)),
        }
    }

    /// Checks that the signatures of the index at `from` compare with those of this index at
    /// `path`.
    ///
    /// # Errors
    ///
    /// [`Error::UnequalSettings`] with the first setting that differs.
    pub(crate) fn check_comparable(
        &self,
        path: &Path,
        other: &Settings,
        from: &Path,
    ) -> Result<()> {
        let asked = SettingsRequest::of_signatures(other);
        asked.check(self, path).map_err(|error| unequal(error, path, from))
    }

    pub(crate) fn layout(&self) -> Layout {
        let (bands, depth) = (self.plan.bands() as u8, self.plan.depth() as u8);
        Layout { bands, depth, passages: self.winnowing.is_some() }
    }

    /// The length of the passages that the index finds; 0 if it finds none.
    fn passages(&self) -> usize {
        self.winnowing.map_or(0, Winnowing::length)
    }
}

/// The seed that a caller asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeedRequest {
    /// This seed.
    Fixed(u64),
    /// A seed that nobody can guess in a new index, and any seed in an existing index.
    Random,
}

/// The passages that a caller asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PassageRequest {
    /// Those of this length; 0 stands for none.
    Length(usize),
    /// Those of the usual length in a new index, and of any length in an existing one.
    Usual,
}

impl PassageRequest {
    /// The length for an index of this shingle.
    fn length(self, shingle: Shingle) -> usize {
        match self {
            Self::Length(length) => length,
            Self::Usual => Winnowing::default_length(shingle),
        }
    }
}

/// The same mismatch, as one of two indexes: `path` has the stored setting, `from` the other one.
fn unequal(error: Error, path: &Path, from: &Path) -> Error {
    match error {
        Error::SettingMismatch { setting, stored, asked, .. } => Error::UnequalSettings {
            path: from.to_owned(),
            setting,
            found: asked,
            other: path.to_owned(),
            expected: stored,
        },
        other => other,
    }
}

/// The settings that a caller asks for. `None` stands for the default in a new index, and for any
/// value in an existing index.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsRequest {
    pub(crate) threshold: Option<f64>,
    pub(crate) recall: Option<f64>,
    pub(crate) lanes: Option<usize>,
    pub(crate) shingle: Option<Shingle>,
    pub(crate) normalization: Option<Normalization>,
    pub(crate) multiset: Option<bool>,
    pub(crate) weighted: Option<bool>,
    pub(crate) store_text: Option<bool>,
    pub(crate) passages: Option<PassageRequest>,
    pub(crate) seed: Option<SeedRequest>,
    /// `None` stands for the versions of this program.
    pub(crate) unicode: Option<UnicodeVersions>,
}

impl SettingsRequest {
    /// Asks for the settings that determine signatures, so that those of two indexes compare.
    pub(crate) fn of_signatures(settings: &Settings) -> Self {
        Self {
            threshold: None,
            recall: None,
            store_text: None,
            passages: None,
            ..Self::of(settings)
        }
    }

    /// Asks for exactly these settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            threshold: Some(settings.threshold.get()),
            recall: Some(settings.recall.get()),
            lanes: Some(settings.lanes.get()),
            shingle: Some(settings.shingle),
            normalization: Some(settings.normalization),
            multiset: Some(settings.multiset),
            weighted: Some(settings.weighted),
            store_text: Some(settings.store_text),
            passages: Some(PassageRequest::Length(settings.passages())),
            seed: Some(SeedRequest::Fixed(settings.seed)),
            unicode: Some(settings.unicode),
        }
    }

    /// Completes the request with `settings`. If only the shingle changes and the normalisation was
    /// the default of the old shingle, it becomes the default of the new one. The Unicode versions
    /// become those of this program.
    pub(crate) fn over(&self, settings: &Settings) -> Self {
        let was_default = settings.normalization == settings.shingle.default_normalization();
        let keep = self.shingle.is_none() || !was_default;
        let old_normalization = keep.then_some(settings.normalization);
        Self {
            threshold: self.threshold.or(Some(settings.threshold.get())),
            recall: self.recall.or(Some(settings.recall.get())),
            lanes: self.lanes.or(Some(settings.lanes.get())),
            shingle: self.shingle.or(Some(settings.shingle)),
            normalization: self.normalization.or(old_normalization),
            multiset: self.multiset.or(Some(settings.multiset)),
            weighted: self.weighted.or(Some(settings.weighted)),
            store_text: self.store_text.or(Some(settings.store_text)),
            passages: self.passages.or(Some(PassageRequest::Length(settings.passages()))),
            seed: self.seed.or(Some(SeedRequest::Fixed(settings.seed))),
            unicode: None,
        }
    }

    /// Validates the request as the settings of a new index.
    pub(crate) fn resolve(&self) -> Result<Settings> {
        let threshold = self.threshold.map_or(Ok(Threshold::DEFAULT), Threshold::new)?;
        let recall = self.recall.map_or(Ok(Recall::DEFAULT), Recall::new)?;
        let lanes = self.lanes.map_or(Ok(Lanes::DEFAULT), Lanes::new)?;
        let weighted = self.weighted.unwrap_or(false);
        let shingle = if weighted {
            self.shingle.unwrap_or(Shingle::Tokens)
        } else {
            self.shingle.unwrap_or_default()
        };
        let normalization = self.normalization.unwrap_or_else(|| shingle.default_normalization());
        let shingle = shingle.validate_with(&normalization)?;
        let winnowing = match self.passages.map(|asked| asked.length(shingle)) {
            None | Some(0) => None,
            Some(_) if weighted => {
                return Err(Error::InvalidSetting {
                    setting: "passages",
                    got: "of weights".to_owned(),
                    expected: "an index of texts, because weighted sets have no order",
                });
            }
            Some(length) => Some(Winnowing::new(length, shingle)?),
        };
        let settings = Settings {
            threshold,
            recall,
            lanes,
            shingle,
            normalization,
            multiset: self.multiset.unwrap_or(false),
            weighted,
            store_text: self.store_text.unwrap_or(false),
            winnowing,
            seed: match self.seed {
                Some(SeedRequest::Fixed(seed)) => seed,
                Some(SeedRequest::Random) => random_key(),
                None => 0,
            },
            plan: BandPlan::of(threshold, recall, lanes)?,
            unicode: self.unicode.unwrap_or_else(UnicodeVersions::current),
        };
        // The sketcher rejects weighted sets with shingles other than tokens, and as multisets.
        settings.sketcher()?;
        Ok(settings)
    }

    /// Checks that an existing index has the settings that are asked for, and first that they are
    /// in range.
    pub(crate) fn check(&self, stored: &Settings, path: &Path) -> Result<()> {
        fn agree<T: PartialEq + Display>(
            setting: &'static str,
            asked: Option<&T>,
            stored: &T,
            path: &Path,
        ) -> Result<()> {
            match asked {
                Some(asked) if asked != stored => Err(Error::SettingMismatch {
                    path: path.to_owned(),
                    setting,
                    stored: stored.to_string(),
                    asked: asked.to_string(),
                }),
                _ => Ok(()),
            }
        }
        // A value out of range is never in any index; saying so helps more than the difference.
        self.threshold.map(Threshold::new).transpose()?;
        self.recall.map(Recall::new).transpose()?;
        self.lanes.map(Lanes::new).transpose()?;
        agree("threshold", self.threshold.as_ref(), &stored.threshold.get(), path)?;
        agree("recall", self.recall.as_ref(), &stored.recall.get(), path)?;
        agree("lanes", self.lanes.as_ref(), &stored.lanes.get(), path)?;
        agree("shingle", self.shingle.as_ref(), &stored.shingle, path)?;
        agree("normalization", self.normalization.as_ref(), &stored.normalization, path)?;
        agree("multiset", self.multiset.as_ref(), &stored.multiset, path)?;
        agree("weighted", self.weighted.as_ref(), &stored.weighted, path)?;
        agree("store_text", self.store_text.as_ref(), &stored.store_text, path)?;
        let passages = self.passages.map(|asked| match (asked, stored.passages()) {
            (PassageRequest::Usual, length @ 1..) => length,
            (asked, _) => asked.length(stored.shingle),
        });
        agree("passages", passages.as_ref(), &stored.passages(), path)?;
        let seed = match self.seed {
            Some(SeedRequest::Fixed(seed)) => Some(seed),
            Some(SeedRequest::Random) | None => None,
        };
        agree("seed", seed.as_ref(), &stored.seed, path)
    }
}
