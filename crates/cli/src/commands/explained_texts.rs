//! The texts of an explanation: those of documents of an index, of records that were removed, and
//! of records of files.

use crate::commands::explain::Explain;
use crate::commands::explain_removed::text_in_audit;
use crate::run::failure::Failure;
use crate::run::records;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{Error, Snapshot};

/// A text with its name.
pub(crate) type Named = (String, String);

/// Finds both texts: those of `--record` come first.
pub(crate) fn find(args: &Explain, snapshot: &Snapshot) -> Result<[Named; 2], Failure> {
    let named = args.record.len() + args.a.iter().chain(&args.b).count();
    if named != 2 {
        return Err(anyhow!("two texts are explained, and {} named", count(named)).into());
    }
    let records = args.record.iter().map(|record| in_file(args, snapshot, record));
    let ids = args.a.iter().chain(&args.b).map(|id| by_id(args, snapshot, id));
    let mut found = records.chain(ids).collect::<Result<Vec<_>, _>>()?.into_iter();
    Ok([(); 2].map(|()| found.next().unwrap_or_default()))
}

fn count(number: usize) -> String {
    if number == 1 { "1 was".to_owned() } else { format!("{number} were") }
}

/// The text of a document, or of a record that an audit lists with its text.
fn by_id(args: &Explain, snapshot: &Snapshot, id: &str) -> Result<Named, Failure> {
    let path = args.index.display();
    let known = match snapshot.text(id) {
        // What was removed needs no stored texts.
        Err(Error::NoTexts { .. }) if args.removed.is_some() && !snapshot.contains(id)? => None,
        Err(Error::NoTexts { .. }) => {
            return Err(anyhow!(
                "{path}: stores no texts; create it with --store-text and add the texts again, or \
                 name both as records of files, with --record FILE:ID"
            )
            .into());
        }
        found => found?,
    };
    if let Some(text) = known {
        return Ok((id.to_owned(), text));
    }
    let Some(audit) = &args.removed else {
        return Err(anyhow!(
            "{path}: no document has the id {id}; `twindex list` prints all ids, and --record \
             FILE:ID names a record of a file"
        )
        .into());
    };
    match text_in_audit(audit, id)? {
        Some(text) => Ok((id.to_owned(), text)),
        None => Err(anyhow!(
            "{path}: no document has the id {id}, and {} has no line with its text; \
             `dedup --removed-text` writes texts",
            audit.display()
        )
        .into()),
    }
}

/// The text of a record of a file.
fn in_file(args: &Explain, snapshot: &Snapshot, record: &str) -> Result<Named, Failure> {
    let Some((file, id)) = file_and_id(record) else {
        return Err(anyhow!(
            "{record}: expected FILE:ID, with a file that is there; a text without an id is named \
             by its file, as in notes.txt:notes.txt"
        )
        .into());
    };
    let settings = snapshot.settings();
    args.input.check(settings.shingle, settings.weighted, &args.index)?;
    let inputs = args.input.of(std::slice::from_ref(&file), &args.index, settings.weighted);
    let wanted = id.to_owned();
    let records = records::start(inputs, settings, move |record| {
        let is_wanted = record.name.id() == Some(&wanted);
        Ok(is_wanted.then(|| record.body.text().map(str::to_owned)))
    })?;
    let mut messages = Vec::new();
    for batch in records {
        messages.extend(batch.messages);
        if let Some(text) = batch.good.into_iter().flatten().next() {
            let no_text = || anyhow!("{record}: is a set, and no text");
            return Ok((record.to_owned(), text.ok_or_else(no_text)?));
        }
    }
    let cause = messages.first().map_or(String::new(), |cause| format!("; {cause}"));
    Err(anyhow!("{}: no record has the id {id}{cause}", file.display()).into())
}

/// Cuts `FILE:ID` at the first colon behind the name of a file.
fn file_and_id(record: &str) -> Option<(PathBuf, &str)> {
    let mut cuts = record.match_indices(':').map(|(at, _)| (&record[..at], &record[at + 1..]));
    let (file, id) = cuts.find(|(file, _)| Path::new(file).is_file())?;
    Some((PathBuf::from(file), id))
}
