//! `twindex list` and `twindex get`: print the ids of an index and single documents.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::{Kind, ResultsOption};
use crate::run::seconds::seconds_of;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::output::Results;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use twindex::Snapshot;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  twindex list pages.twx
  twindex list pages.twx | grep ^spam/ | twindex remove pages.twx --ids-from - --wait 10
  twindex list pages.twx --print0 | grep -z ^spam/ | twindex remove pages.twx -0 --ids-from -")]
pub(crate) struct List {
    /// The index file
    pub(crate) index: PathBuf,
    /// End each id with a NUL instead of a line end, and print it as it is
    #[arg(long, short = '0', conflicts_with_all = ["json", "output"])]
    pub(crate) print0: bool,
    #[command(flatten)]
    pub(crate) results: ResultsOption,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line is a name and a value (with --json, a field of one object): id, bytes of the text,
distinct shingles (by estimate), inserted (seconds since 1970), signature (a byte a lane,
hexadecimal), and the text if the index stores texts. --text prints only the text, as it was
added. The exit status is 1 if there is no such document.

Examples:
  twindex get pages.twx page-1
  twindex get pages.twx page-1 --json
  twindex get pages.twx page-1 --text > page-1.txt")]
pub(crate) struct Get {
    /// The index file
    pub(crate) index: PathBuf,
    /// The id of the document
    pub(crate) id: String,
    /// Print the stored text and nothing else
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
}

/// Prints the id of each document.
pub(crate) fn list(global: &GlobalOptions, args: &List) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let mut results = args.results.results(global, &args.index, &[], &[("id", Kind::Text)])?;
    for id in snapshot.ids() {
        if interrupt::asked() {
            return Err(anyhow::anyhow!("interrupted").into());
        }
        if args.print0 { results.id0(&id?)? } else { results.line(&[("id", Value::from(id?))])? }
    }
    results.finish()?;
    Ok(Ending::Done)
}

/// Prints one document, or its text alone.
pub(crate) fn get(global: &GlobalOptions, args: &Get) -> Result<Ending, Failure> {
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let mut results = Results::new(global);
    if args.text
        && let Some(text) = text_of(&snapshot, &args.id)?
    {
        results.text(&text)?;
        results.flush()?;
        return Ok(Ending::Done);
    }
    let Some(document) = snapshot.get(&args.id)? else {
        message(&format!("{}: no document has the id {}", args.index.display(), args.id));
        return Ok(Ending::Nothing);
    };
    let lanes = document.signature.lanes().iter().fold(String::new(), |mut hex, lane| {
        let _ = write!(hex, "{lane:02x}");
        hex
    });
    let mut fields = vec![
        ("id", Value::from(document.id)),
        ("bytes", document.text_bytes.into()),
        ("shingles", (document.shingles as u64).into()),
        ("inserted", seconds_of(document.inserted).into()),
        ("signature", lanes.into()),
    ];
    if index.settings().store_text {
        fields.extend(text_of(&snapshot, &args.id)?.map(|text| ("text", Value::from(text))));
    }
    results.object(&fields)?;
    results.flush()?;
    Ok(Ending::Done)
}

/// The stored text of a document, or its weights in the text form of an export.
fn text_of(snapshot: &Snapshot, id: &str) -> Result<Option<String>, Failure> {
    Ok(if snapshot.settings().weighted {
        snapshot.weights(id)?.map(|weights| weights.to_export())
    } else {
        snapshot.text(id)?
    })
}
