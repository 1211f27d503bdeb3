//! `dedup --keep`: all records are read first, and judged in the order of preference.

use crate::commands::dedup::input_record::InputRecord;
use crate::commands::outputs::choices::Choice;
use crate::commands::outputs::kept_output::OutputRecord;
use crate::input::TextForm;
use crate::run::failure::Failure;
use crate::run::preference::Rank;
use crate::run::spilled_sort::{Sorted, SpilledSort};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use twindex::{Document, Signature, Weights};

/// The memory for records that wait. More go to temporary files.
const ROOM: usize = 128 << 20;

/// Records that wait until all are read.
pub(crate) struct Preferred {
    sort: SpilledSort<Waiting>,
    /// The number of records so far.
    count: u64,
    /// Those that lack what the rule goes by.
    unknown: u64,
}

/// A record that waits, in parts that can be written to a file. Fields are compared in this order,
/// so the least record is the one to judge first.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Waiting {
    rank: Rank,
    number: u64,
    id: String,
    place: String,
    signature: Vec<u8>,
    text_hash: String,
    text_bytes: u64,
    numbered: bool,
    fingerprints: Option<Vec<u8>>,
    /// The text or weights, if the index stores texts.
    content: Option<String>,
    /// The text for the audit.
    audited: Option<String>,
}

impl Preferred {
    /// Begins with no records.
    pub(crate) fn new() -> Self {
        Self { sort: SpilledSort::new(ROOM), count: 0, unknown: 0 }
    }

    /// The numbers of all records, and of those that lack what the rule goes by.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.count, self.unknown)
    }

    /// Adds the next record of the input. What the output receives is not kept.
    pub(crate) fn add(&mut self, record: InputRecord) -> Result<(), Failure> {
        let InputRecord { document, place, numbered, rank, text, .. } = record;
        let weights = document.weights()?.map(|weights| weights.to_export());
        let waiting = Waiting {
            rank,
            number: self.count,
            id: document.id().to_owned(),
            place,
            signature: document.signature().to_bytes(),
            text_hash: document.text_hash().to_string(),
            text_bytes: document.text_bytes(),
            numbered,
            fingerprints: document.fingerprints().map(<[u8]>::to_vec),
            content: weights.or_else(|| document.text().map(str::to_owned)),
            audited: text,
        };
        self.count += 1;
        self.unknown += u64::from(waiting.rank.is_unknown);
        let texts = [&waiting.content, &waiting.audited].into_iter().flatten();
        let bytes = texts.map(String::len).sum::<usize>()
            + waiting.signature.len()
            + waiting.fingerprints.as_ref().map_or(0, Vec::len)
            + waiting.id.len()
            + waiting.place.len();
        Ok(self.sort.push(waiting, bytes).context("a temporary file")?)
    }

    /// All records, the most preferred first, and those of equal rank in the order of the input.
    pub(crate) fn sorted(self, weighted: bool) -> Result<InPreference, Failure> {
        let records = self.sort.sorted().context("a temporary file")?;
        Ok(InPreference { records, weighted })
    }
}

/// Records in the order of preference. Each stands in the output for its number in the input.
pub(crate) struct InPreference {
    records: Sorted<Waiting>,
    weighted: bool,
}

impl Iterator for InPreference {
    type Item = Result<InputRecord, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let waiting = self.records.next()?;
        Some(waiting.context("a temporary file").map_err(Failure::from).and_then(|waiting| {
            let (number, numbered, rank) = (waiting.number, waiting.numbered, waiting.rank.clone());
            let (place, text) = (waiting.place.clone(), waiting.audited.clone());
            let document = document(waiting, self.weighted)?;
            let written = OutputRecord::Chosen(Choice::of(number, &document));
            let form = TextForm::Fixed;
            Ok(InputRecord { document, place, numbered, rank, written, hash: 0, form, text })
        }))
    }
}

/// The document of a record that has waited.
fn document(waiting: Waiting, weighted: bool) -> Result<Document, Failure> {
    let signature = Signature::from_bytes(&waiting.signature)
        .ok_or_else(|| anyhow::anyhow!("a temporary file: holds no signature where one was"))?;
    let is_named = !waiting.id.is_empty();
    let id = if is_named { waiting.id } else { "#".to_owned() };
    let document = Document::from_signature(id, signature)?;
    let document = document.with_text_hash(waiting.text_hash.parse()?, waiting.text_bytes);
    let document = match waiting.fingerprints {
        Some(fingerprints) => document.with_fingerprints(&fingerprints)?,
        None => document,
    };
    let document = match waiting.content {
        Some(content) if weighted => document.with_content(&Weights::from_export(&content)?),
        Some(content) => document.with_content(&*content),
        None => document,
    };
    Ok(if is_named { document } else { document.without_id() })
}
