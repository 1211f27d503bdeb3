//! Reads the input once more for a report: texts that it shows, and where records come from.

use super::id_hash;
use super::sources::SourceMap;
use crate::input::{Body, Inputs, RecordName};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::records;
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use twindex::{Document, Settings, Signature};

/// The most characters of a text that a report looks at.
pub(super) const LONGEST_TEXT: usize = 20_000;

/// The most messages about failed records that a report lists.
const MOST_FAILURES: usize = 100;

/// How to read the input of a command again.
pub(crate) struct InputReading {
    pub(crate) inputs: Inputs,
    pub(crate) settings: Settings,
    /// The field of a record that tells where it comes from; `None` for its file.
    pub(crate) group_field: Option<String>,
}

/// What is wanted of the input, by the hashes of ids.
pub(super) struct Wanted {
    pub(super) texts: HashSet<u64>,
    pub(super) signatures: HashSet<u64>,
}

/// What the input tells.
#[derive(Default)]
pub(super) struct ReadAgain {
    /// Texts by the hash of their id, cut to [`LONGEST_TEXT`].
    pub(super) texts: HashMap<u64, String>,
    pub(super) signatures: Vec<(u64, Signature)>,
    pub(super) sources: SourceMap,
    /// What was said of records that failed, as far as there is room.
    pub(super) failures: Vec<String>,
}

/// What a record tells.
struct Told {
    id: u64,
    text: Option<String>,
    signature: Option<Signature>,
    /// The field that tells where it comes from, or the folder of a record that is a whole file.
    group: Option<String>,
}

impl InputReading {
    /// Reads all records: what is wanted of them, and the sources of `sourced`.
    pub(super) fn read(
        self,
        global: &GlobalOptions,
        wanted: Wanted,
        sourced: &HashSet<u64>,
    ) -> Result<ReadAgain, Failure> {
        let Self { mut inputs, settings, group_field } = self;
        inputs.quiet = true;
        inputs.whole_rows = group_field.is_some();
        let sketcher = settings.sketcher()?;
        let (field, has_field) = (group_field.clone(), Arc::new(AtomicBool::new(false)));
        let met = Arc::clone(&has_field);
        let records = records::start(inputs, &settings, move |record| {
            let group = group_field.as_ref().map(|field| {
                let value = record.field(field);
                met.fetch_or(value.is_some(), Ordering::Relaxed);
                value.unwrap_or_else(|| format!("(no {field})"))
            });
            let id = match record.name {
                RecordName::Id(id) => id,
                RecordName::Automatic => String::new(),
            };
            let hash = id_hash(&id);
            let text = wanted.texts.contains(&hash).then(|| shown(&record.body)).flatten();
            let is_sketched = wanted.signatures.contains(&hash);
            let signature =
                is_sketched.then(|| Document::sketch("-", record.body.content(), &sketcher));
            let signature = signature.and_then(Result::ok).map(|found| found.signature().clone());
            let is_whole_file = record.place == id;
            let folder = || match id.rfind('/') {
                Some(end) => id[..=end].to_owned(),
                None => "./".to_owned(),
            };
            let group = group.or_else(|| is_whole_file.then(folder));
            Ok(Told { id: hash, text, signature, group })
        })?;
        let mut progress = ProgressBar::new(global, records.expected_bytes);
        let mut found = ReadAgain::default();
        for batch in records {
            progress.add(batch.records(), batch.bytes);
            let room = MOST_FAILURES - found.failures.len();
            found.failures.extend(batch.messages.into_iter().take(room));
            let file = batch.source.file.map(|file| file.display().to_string());
            for Told { id, text, signature, group } in batch.good {
                found.signatures.extend(signature.map(|signature| (id, signature)));
                if let Some(text) = text {
                    found.texts.entry(id).or_insert(text);
                }
                let source = group.as_ref().or(file.as_ref()).map_or("", String::as_str);
                found.sources.add(source, id, sourced.contains(&id));
            }
        }
        progress.finish();
        if let Some(field) = field.filter(|_| !has_field.load(Ordering::Relaxed)) {
            message(&format!("the report tells no sources: no record has the field `{field}`"));
        }
        match interrupt::asked() {
            true => Err(anyhow!("interrupted before the report was written").into()),
            false => Ok(found),
        }
    }
}

/// What a report shows of a body: nothing of weights.
fn shown(body: &Body<'_>) -> Option<String> {
    match body {
        Body::Text(_) => body.text().map(|text| beginning(text, LONGEST_TEXT).to_owned()),
        Body::Set(tokens) => {
            let text = tokens.iter().collect::<Vec<_>>().join(" ");
            Some(beginning(&text, LONGEST_TEXT).to_owned())
        }
        Body::Weights(_) => None,
    }
}

/// The first characters of a text.
pub(super) fn beginning(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
