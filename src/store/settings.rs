//! The settings of an index: chosen at creation, stored in the file, the same ever after.

use super::codec::Fault;
use super::record::{decode, encode};
use super::schema::{Layout, Table};
use crate::error::{Error, Result};
use crate::lsh::BandPlan;
use crate::params::{Lanes, Recall, Threshold};
use crate::sketch::Sketcher;
use crate::text::{Form, Normalization, Shingle, Shingler, UnicodeVersions, Whitespace};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::path::Path;

/// What an index was created with. Two indexes with equal settings make equal signatures.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The similarity from which on documents count as similar, unless a query says otherwise.
    pub threshold: Threshold,
    /// The least probability with which a pair at the threshold becomes a candidate.
    pub recall: Recall,
    /// The lanes of a signature.
    pub lanes: Lanes,
    /// What a shingle is.
    pub shingle: Shingle,
    /// How texts are normalised before they are cut into shingles.
    pub normalization: Normalization,
    /// Whether repeated shingles count as often as they occur.
    pub multiset: bool,
    /// Whether texts are stored, so that answers are exact.
    pub store_text: bool,
    /// The seed of all hashes of shingles and lanes.
    pub seed: u64,
    /// The bands that follow from threshold, recall and lanes.
    pub plan: BandPlan,
    /// The Unicode tables of the twindex that created the index.
    pub unicode: UnicodeVersions,
}

impl Settings {
    /// The sketcher that makes this index's signatures.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] where the shingle is out of range, which no stored one is.
    pub fn sketcher(&self) -> Result<Sketcher> {
        let shingler = Shingler::new(self.shingle, self.normalization, self.multiset, self.seed)?;
        Ok(Sketcher::new(shingler, self.lanes, self.seed))
    }

    /// Checks that another index has equal settings, so that signatures of it can be taken in. Other
    /// Unicode tables do not count.
    pub(crate) fn same(&self, path: &Path, other: &Settings, from: &Path) -> Result<()> {
        match SettingsRequest::of(other).check(self, path) {
            Err(Error::SettingMismatch { setting, stored, asked, .. }) => {
                Err(Error::UnequalSettings {
                    path: from.to_owned(),
                    setting,
                    found: asked,
                    other: path.to_owned(),
                    expected: stored,
                })
            }
            checked => checked,
        }
    }

    pub(super) fn layout(&self) -> Layout {
        Layout { bands: self.plan.bands() as u8, depth: self.plan.depth() as u8 }
    }
}

/// What a caller asks for; what is left open takes the default, or what the file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsRequest {
    pub(crate) threshold: Option<f64>,
    pub(crate) recall: Option<f64>,
    pub(crate) lanes: Option<usize>,
    pub(crate) shingle: Option<Shingle>,
    pub(crate) normalization: Option<Normalization>,
    pub(crate) multiset: Option<bool>,
    pub(crate) store_text: Option<bool>,
    pub(crate) seed: Option<u64>,
    /// Those of this program if left out.
    pub(crate) unicode: Option<UnicodeVersions>,
}

impl SettingsRequest {
    /// What an index must have been created with so that its signatures compare with others.
    pub(crate) fn of_signatures(settings: &Settings) -> Self {
        Self { threshold: None, recall: None, store_text: None, ..Self::of(settings) }
    }

    /// Asks for these settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            threshold: Some(settings.threshold.get()),
            recall: Some(settings.recall.get()),
            lanes: Some(settings.lanes.get()),
            shingle: Some(settings.shingle),
            normalization: Some(settings.normalization),
            multiset: Some(settings.multiset),
            store_text: Some(settings.store_text),
            seed: Some(settings.seed),
            unicode: Some(settings.unicode),
        }
    }

    /// The settings of a new index.
    pub(crate) fn resolve(&self) -> Result<Settings> {
        let threshold = self.threshold.map_or(Ok(Threshold::DEFAULT), Threshold::new)?;
        let recall = self.recall.map_or(Ok(Recall::DEFAULT), Recall::new)?;
        let lanes = self.lanes.map_or(Ok(Lanes::DEFAULT), Lanes::new)?;
        let shingle = self.shingle.unwrap_or_default().validate()?;
        Ok(Settings {
            threshold,
            recall,
            lanes,
            shingle,
            normalization: self.normalization.unwrap_or_else(|| shingle.default_normalization()),
            multiset: self.multiset.unwrap_or(false),
            store_text: self.store_text.unwrap_or(false),
            seed: self.seed.unwrap_or(0),
            plan: BandPlan::new(threshold, recall, lanes)?,
            unicode: self.unicode.unwrap_or_else(UnicodeVersions::current),
        })
    }

    /// Checks that whatever is asked for is what the index was created with.
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
        agree("threshold", self.threshold.as_ref(), &stored.threshold.get(), path)?;
        agree("recall", self.recall.as_ref(), &stored.recall.get(), path)?;
        agree("lanes", self.lanes.as_ref(), &stored.lanes.get(), path)?;
        agree("shingle", self.shingle.as_ref(), &stored.shingle, path)?;
        agree("normalize", self.normalization.as_ref(), &stored.normalization, path)?;
        agree("multiset", self.multiset.as_ref(), &stored.multiset, path)?;
        agree("store-text", self.store_text.as_ref(), &stored.store_text, path)?;
        agree("seed", self.seed.as_ref(), &stored.seed, path)
    }
}

/// The settings row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSettings {
    version: u16,
    threshold: f64,
    recall: f64,
    lanes: u16,
    shingle: u8,
    width: u16,
    lower: bool,
    form: u8,
    whitespace: u8,
    min_word: u16,
    multiset: bool,
    store_text: bool,
    seed: u64,
    bands: u8,
    depth: u8,
    unicode: [(u8, u8, u8); 3],
    /// The key of this file's id hashes, drawn at creation.
    pub(super) id_key: u64,
    /// Seconds since 1970 when the index was created.
    pub(super) created: i64,
}

impl StoredSettings {
    const VERSION: u16 = 1;

    pub(super) fn new(settings: &Settings, id_key: u64, created: i64) -> Self {
        let (shingle, width) = match settings.shingle {
            Shingle::Chars(n) => (0, n),
            Shingle::Words(n) => (1, n),
            Shingle::Lines(n) => (2, n),
            Shingle::Tokens => (3, 0),
        };
        let Normalization { lower, form, whitespace, min_word } = settings.normalization;
        let UnicodeVersions { case, normalization, segmentation } = settings.unicode;
        Self {
            version: Self::VERSION,
            threshold: settings.threshold.get(),
            recall: settings.recall.get(),
            lanes: settings.lanes.get() as u16,
            shingle,
            width,
            lower,
            form: match form {
                Form::Unchanged => 0,
                Form::Nfc => 1,
                Form::Nfkc => 2,
            },
            whitespace: match whitespace {
                Whitespace::Keep => 0,
                Whitespace::Fold => 1,
                Whitespace::Drop => 2,
            },
            min_word,
            multiset: settings.multiset,
            store_text: settings.store_text,
            seed: settings.seed,
            bands: settings.plan.bands() as u8,
            depth: settings.plan.depth() as u8,
            unicode: [case, normalization, segmentation],
            id_key,
            created,
        }
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, Fault> {
        encode(self, Table::Meta, 1)
    }

    pub(super) fn decode(sealed: &[u8]) -> Result<Self, Fault> {
        let stored: Self = decode(sealed, Table::Meta, 1)?;
        match stored.version {
            Self::VERSION => Ok(stored),
            _ => Err("of an unknown version"),
        }
    }

    /// The settings, every field checked.
    pub(super) fn settings(&self) -> Result<Settings, Fault> {
        let lanes =
            Lanes::new(self.lanes.into()).map_err(|_| "its number of lanes is impossible")?;
        let shingle = match self.shingle {
            0 => Shingle::Chars(self.width),
            1 => Shingle::Words(self.width),
            2 => Shingle::Lines(self.width),
            3 if self.width == 0 => Shingle::Tokens,
            3 => return Err("its tokens have a width"),
            _ => return Err("its kind of shingle is unknown"),
        };
        let [case, normalization, segmentation] = self.unicode;
        Ok(Settings {
            threshold: Threshold::new(self.threshold).map_err(|_| "its threshold is impossible")?,
            recall: Recall::new(self.recall).map_err(|_| "its recall is impossible")?,
            lanes,
            shingle: shingle.validate().map_err(|_| "its shingle width is impossible")?,
            normalization: Normalization {
                lower: self.lower,
                form: match self.form {
                    0 => Form::Unchanged,
                    1 => Form::Nfc,
                    2 => Form::Nfkc,
                    _ => return Err("its Unicode form is unknown"),
                },
                whitespace: match self.whitespace {
                    0 => Whitespace::Keep,
                    1 => Whitespace::Fold,
                    2 => Whitespace::Drop,
                    _ => return Err("its white-space rule is unknown"),
                },
                min_word: self.min_word,
            },
            multiset: self.multiset,
            store_text: self.store_text,
            seed: self.seed,
            plan: BandPlan::stored(self.bands, self.depth, lanes)
                .ok_or("its bands do not fit its lanes")?,
            unicode: UnicodeVersions { case, normalization, segmentation },
        })
    }
}
