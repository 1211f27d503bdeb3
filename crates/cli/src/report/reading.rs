//! Reads the input once more for a report: texts that it shows, and where records come from.

use super::id_hash;
use super::sources::SourceMap;
use super::target::interrupted;
use crate::input::{Body, Inputs, RawRecord};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::records;
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::progress_bar::ProgressBar;
use std::collections::hash_map::Entry;
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
    /// Texts by the hash of their id.
    pub(super) texts: HashMap<u64, TextsOfId>,
    pub(super) signatures: Vec<(u64, Signature)>,
    pub(super) sources: SourceMap,
    /// What was said of records that failed, as far as there is room.
    pub(super) failures: Vec<String>,
}

/// The texts of an id, cut to [`LONGEST_TEXT`].
pub(super) struct TextsOfId {
    first: String,
    /// The last one, if there are several.
    last: Option<String>,
}

impl TextsOfId {
    /// The first text, or the last one.
    pub(super) fn one(&self, last: bool) -> &str {
        self.last.as_ref().filter(|_| last).unwrap_or(&self.first)
    }
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
            let id = record.name.into_id().unwrap_or_default();
            let hash = id_hash(&id);
            let text = wanted.texts.contains(&hash).then(|| shown(&record.body)).flatten();
            let is_sketched = wanted.signatures.contains(&hash);
            let signature =
                is_sketched.then(|| Document::sketch("-", record.body.content(), &sketcher));
            let signature = signature.and_then(Result::ok).map(|found| found.signature().clone());
            let folder = |path: &str| match path.rfind('/') {
                Some(end) => path[..=end].to_owned(),
                None => "./".to_owned(),
            };
            let group = group.or(match record.raw {
                RawRecord::File(path) => Some(folder(path)),
                _ => None,
            });
            Ok(Told { id: hash, text, signature, group })
        })?;
        let progress = ProgressBar::new(global, records.expected_bytes);
        let mut progress = progress.named("reading again for the report");
        let sources = SourceMap::new(field.is_none());
        let mut found = ReadAgain { sources, ..ReadAgain::default() };
        for batch in records {
            progress.add(batch.records(), batch.bytes);
            let room = MOST_FAILURES - found.failures.len();
            found.failures.extend(batch.messages.into_iter().take(room));
            let file = batch.source.file.map(|file| file.display().to_string());
            for Told { id, text, signature, group } in batch.good {
                found.signatures.extend(signature.map(|signature| (id, signature)));
                if let Some(text) = text {
                    match found.texts.entry(id) {
                        Entry::Occupied(mut known) => known.get_mut().last = Some(text),
                        Entry::Vacant(new) => {
                            new.insert(TextsOfId { first: text, last: None });
                        }
                    }
                }
                let source = group.as_ref().or(file.as_ref()).map_or("", String::as_str);
                found.sources.add(source, id, sourced.contains(&id));
            }
        }
        progress.finish();
        if let Some(field) = field.filter(|_| !has_field.load(Ordering::Relaxed)) {
            message(&format!("the report tells no sources: no record has the field `{field}`"));
        }
        if interrupt::asked() { Err(interrupted()) } else { Ok(found) }
    }
}

/// What a report shows of a body: nothing of weights.
fn shown(body: &Body<'_>) -> Option<String> {
    match body {
        Body::Text(_) => body.text().map(|text| beginning(text, LONGEST_TEXT).to_owned()),
        Body::Set(tokens) => {
            // Where spaces would not tell elements apart, this character ends each, as in an index.
            let plain = |token: &str| !token.is_empty() && !token.contains(char::is_whitespace);
            let text: String = if tokens.iter().all(plain) {
                tokens.iter().collect::<Vec<_>>().join(" ")
            } else {
                tokens.iter().flat_map(|token| [token, "\u{1f}"]).collect()
            };
            Some(beginning(&text, LONGEST_TEXT).to_owned())
        }
        Body::Weights(_) => None,
    }
}

/// The first characters of a text.
pub(crate) fn beginning(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
