//! Encodes and decodes the settings row (`docs/format.md`, section "Settings row").

use crate::lsh::BandPlan;
use crate::params::{Lanes, Recall, Threshold};
use crate::sketch::Winnowing;
use crate::store::bytes::codec::{DecodeError, unseal};
use crate::store::bytes::record::{decode, encode};
use crate::store::bytes::schema::Table;
use crate::store::settings::Settings;
use crate::text::{Form, Normalization, Shingle, UnicodeVersions, Whitespace};
use serde::{Deserialize, Serialize};

/// The settings row (`docs/format.md`, section "Settings row").
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredSettings {
    fields: StoredFields,
    /// The length of passages and of grams, if the index finds passages.
    passages: Option<(u32, u32)>,
    /// The key of the id hashes, drawn at random when the index is created.
    pub(crate) id_key: u64,
    /// The time of creation, in seconds since 1970.
    pub(crate) created: i64,
}

/// The fields that every settings row has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredFields {
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
    /// 0 sets, 1 multisets, 2 weighted sets.
    kind: u8,
    store_text: bool,
    seed: u64,
    bands: u8,
    depth: u8,
    unicode: [(u8, u8, u8); 3],
    id_key: u64,
    created: i64,
}

/// The fields of a row of version 2.
#[derive(Serialize, Deserialize)]
struct FieldsWithPassages {
    fields: StoredFields,
    length: u32,
    gram: u32,
}

impl StoredSettings {
    /// The version of rows without passages. Older builds read no other.
    const VERSION: u16 = 1;
    const WITH_PASSAGES: u16 = 2;

    pub(crate) fn new(settings: &Settings, id_key: u64, created: i64) -> Self {
        let (shingle, width) = match settings.shingle {
            Shingle::Chars(n) => (0, n),
            Shingle::Words(n) => (1, n),
            Shingle::Lines(n) => (2, n),
            Shingle::Tokens => (3, 0),
            Shingle::Kmers(k) => (4, k),
        };
        let Normalization { lower, form, whitespace, min_word } = settings.normalization;
        let UnicodeVersions { case, normalization, segmentation } = settings.unicode;
        let passages = settings.winnowing;
        let passages = passages.map(|passages| (passages.length() as u32, passages.gram() as u32));
        let fields = StoredFields {
            version: if passages.is_some() { Self::WITH_PASSAGES } else { Self::VERSION },
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
            kind: match (settings.multiset, settings.weighted) {
                (false, false) => 0,
                (true, _) => 1,
                (false, true) => 2,
            },
            store_text: settings.store_text,
            seed: settings.seed,
            bands: settings.plan.bands() as u8,
            depth: settings.plan.depth() as u8,
            unicode: [case, normalization, segmentation],
            id_key,
            created,
        };
        Self { fields, passages, id_key, created }
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        match self.passages {
            None => encode(&self.fields, Table::Meta, 1),
            Some((length, gram)) => {
                let fields = self.fields.clone();
                encode(&FieldsWithPassages { fields, length, gram }, Table::Meta, 1)
            }
        }
    }

    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, DecodeError> {
        let of = |fields: StoredFields, passages| {
            let StoredFields { id_key, created, .. } = fields;
            Self { fields, passages, id_key, created }
        };
        match sealed.first_chunk::<2>().map(|version| u16::from_le_bytes(*version)) {
            Some(Self::VERSION) => Ok(of(decode(sealed, Table::Meta, 1)?, None)),
            Some(Self::WITH_PASSAGES) => {
                let FieldsWithPassages { fields, length, gram } = decode(sealed, Table::Meta, 1)?;
                Ok(of(fields, Some((length, gram))))
            }
            _ => unseal(sealed, Table::Meta, 1).and(Err("its version is unknown")),
        }
    }

    /// Whether the index finds passages.
    pub(crate) fn has_passages(&self) -> bool {
        self.passages.is_some()
    }

    /// Converts the row to settings and checks every field.
    pub(crate) fn settings(&self) -> Result<Settings, DecodeError> {
        let fields = &self.fields;
        let lanes =
            Lanes::new(fields.lanes.into()).map_err(|_| "its number of lanes is out of range")?;
        let shingle = match fields.shingle {
            0 => Shingle::Chars(fields.width),
            1 => Shingle::Words(fields.width),
            2 => Shingle::Lines(fields.width),
            3 if fields.width == 0 => Shingle::Tokens,
            3 => return Err("its tokens have a length"),
            4 => Shingle::Kmers(fields.width),
            _ => return Err("its kind of shingle is unknown"),
        };
        let normalization = Normalization {
            lower: fields.lower,
            form: match fields.form {
                0 => Form::Unchanged,
                1 => Form::Nfc,
                2 => Form::Nfkc,
                _ => return Err("its Unicode form is unknown"),
            },
            whitespace: match fields.whitespace {
                0 => Whitespace::Keep,
                1 => Whitespace::Fold,
                2 => Whitespace::Drop,
                _ => return Err("its white-space rule is unknown"),
            },
            min_word: fields.min_word,
        };
        let shingle = shingle.validate().map_err(|_| "its shingle length is out of range")?;
        let shingle =
            shingle.validate_with(&normalization).map_err(|_| "its k-mers are normalised")?;
        if fields.kind > 2 || (fields.kind == 2 && shingle != Shingle::Tokens) {
            return Err("its kind of set is unknown");
        }
        let winnowing = match self.passages {
            None => None,
            Some((length, gram)) => Some(
                Winnowing::stored(length, gram, shingle)
                    .filter(|_| fields.kind != 2)
                    .ok_or("its passages are out of range")?,
            ),
        };
        let [case, form, segmentation] = fields.unicode;
        Ok(Settings {
            threshold: Threshold::new(fields.threshold)
                .map_err(|_| "its threshold is out of range")?,
            recall: Recall::new(fields.recall).map_err(|_| "its recall is out of range")?,
            lanes,
            shingle,
            normalization,
            multiset: fields.kind == 1,
            weighted: fields.kind == 2,
            store_text: fields.store_text,
            winnowing,
            seed: fields.seed,
            plan: BandPlan::stored(fields.bands, fields.depth, lanes)
                .ok_or("its bands do not fit its lanes")?,
            unicode: UnicodeVersions { case, normalization: form, segmentation },
        })
    }
}
