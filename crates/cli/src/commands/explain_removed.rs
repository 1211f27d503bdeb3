//! `twindex explain` of one id: whether it was a duplicate, and of what.

use crate::commands::explain::Explain;
use crate::input::{Format, open_lines};
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::records;
use crate::terminal::messages::message;
use crate::terminal::output::{Results, likeness};
use anyhow::anyhow;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use twindex::Snapshot;

/// The fields of a result, which are those of an audit.
const FIELDS: [&str; 4] = ["id", "duplicate_of", "similarity", "exact"];

/// The longest line of an audit: of `--remove spans`, all passages of a long text.
const LONGEST_LINE: usize = 1 << 26;

/// Says of what a record is a duplicate that is not in the index: by the audit, or by its text.
pub(crate) fn run(
    global: &GlobalOptions,
    args: &Explain,
    snapshot: &Snapshot,
    id: &str,
) -> Result<Ending, Failure> {
    let index = args.index.display();
    if args.explanation.differences || args.explanation.min_length.is_some() {
        return Err(anyhow!("--differences and --min-length are for two texts").into());
    }
    if snapshot.contains(id)? {
        message(&format!(
            "{index}: {id} is in the index, so it was not removed as a duplicate; name another \
             document to compare it with"
        ));
        return Ok(Ending::Nothing);
    }
    let mut found = match &args.removed {
        Some(audit) => in_audit(audit, id)?,
        None => Vec::new(),
    };
    let file = args.text.clone().or_else(|| Some(PathBuf::from(id)).filter(|path| path.is_file()));
    if let (true, Some(file)) = (found.is_empty(), &file) {
        found.extend(by_text(args, snapshot, id, file)?);
    }
    if found.is_empty() {
        let looked = match (&args.removed, &file) {
            (None, None) => {
                return Err(anyhow!(
                    "{index}: no document has the id {id}; if it was removed, name the audit with \
                     --removed FILE, or a file with its text with --text FILE"
                )
                .into());
            }
            (Some(audit), _) if went_for_passages(audit, id)? => {
                format!("by {} it went for known passages, which its line lists", audit.display())
            }
            (Some(audit), None) => format!("{} has no line about it", audit.display()),
            (None, Some(file)) => format!("the text of {} is similar to none", file.display()),
            (Some(audit), Some(file)) => format!(
                "{} has no line about it, and the text of {} is similar to none",
                audit.display(),
                file.display()
            ),
        };
        message(&format!("{index}: no document has the id {id}, and {looked}"));
        return Ok(Ending::Nothing);
    }
    let mut results = Results::new(global);
    for values in found {
        let mut values = values.into_iter();
        results.line(&FIELDS.map(|name| (name, values.next().unwrap_or_default())))?;
    }
    results.flush()?;
    Ok(Ending::Done)
}

/// What an audit says of what this record was removed for.
fn in_audit(audit: &Path, id: &str) -> Result<Vec<[Value; 4]>, Failure> {
    let mut found = Vec::new();
    lines_about(audit, id, |fields| {
        let is_removed = fields.get("kept") != Some(&Value::Bool(true));
        if is_removed && fields.contains_key("duplicate_of") {
            found.push(FIELDS.map(|name| fields.get(name).cloned().unwrap_or_default()));
        }
    })?;
    Ok(found)
}

/// Whether an audit says that this record was removed because of passages that were known.
fn went_for_passages(audit: &Path, id: &str) -> Result<bool, Failure> {
    let mut found = false;
    lines_about(audit, id, |fields| {
        let is_removed = fields.get("kept") != Some(&Value::Bool(true));
        found |= is_removed && fields.contains_key("passages");
    })?;
    Ok(found)
}

/// The text of a record in an audit, if it lists texts.
pub(crate) fn text_in_audit(audit: &Path, id: &str) -> Result<Option<String>, Failure> {
    let mut found = None;
    lines_about(audit, id, |mut fields| {
        if let Some(Value::String(text)) = fields.remove("text") {
            found = Some(text);
        }
    })?;
    Ok(found)
}

/// Reads the lines of an audit about this id.
fn lines_about(
    audit: &Path,
    id: &str,
    mut take: impl FnMut(Map<String, Value>),
) -> Result<(), Failure> {
    let place = audit.display();
    let mut blocks =
        open_lines(audit, LONGEST_LINE).map_err(|error| anyhow!("{place}: {error}"))?;
    while let Some(block) = blocks.read_block().map_err(|error| anyhow!("{place}: {error}"))? {
        for line in block.lines() {
            let fields: Map<String, Value> = serde_json::from_slice(line.text).map_err(|_| {
                anyhow!(
                    "{place}:{}: no line of an audit, as `dedup --removed FILE` writes it",
                    line.number
                )
            })?;
            if fields.get("id").and_then(Value::as_str) == Some(id) {
                take(fields);
            }
        }
    }
    Ok(())
}

/// The document that is most similar to the text in a file.
fn by_text(
    args: &Explain,
    snapshot: &Snapshot,
    id: &str,
    file: &Path,
) -> Result<Option<[Value; 4]>, Failure> {
    let (place, settings) = (file.display(), snapshot.settings());
    if settings.weighted {
        return Err(anyhow!("{place}: an index of weights compares no texts").into());
    }
    if file.is_dir() {
        return Err(anyhow!("{place}: is a directory; name a file").into());
    }
    let mut inputs = args.input.of(&[file.to_owned()], &args.index, settings.weighted);
    inputs.format = Format::Text;
    let records = records::start(inputs, settings, |record| {
        Ok(record.body.text().unwrap_or_default().to_owned())
    })?;
    let mut text = String::new();
    for batch in records {
        if let Some(cause) = batch.messages.into_iter().next() {
            return Err(anyhow!("{cause}").into());
        }
        text.extend(batch.good);
    }
    let matches = snapshot.query().top(1).by_content(text.as_str())?;
    Ok(matches.into_iter().next().map(|nearest| {
        let similarity = likeness(nearest.similarity, nearest.exact);
        [id.into(), nearest.id.into(), similarity, nearest.exact.into()]
    }))
}
