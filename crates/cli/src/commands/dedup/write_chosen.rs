//! Writes the records that a run in an order of preference has chosen, in the order of the input.

use crate::commands::dedup::kept_before::{KeptBefore, would_lose_by_going_on};
use crate::commands::dedup::options::Purpose;
use crate::commands::dedup::request::Request;
use crate::commands::outputs::choices::{Choice, Choices};
use crate::commands::outputs::kept::Kept;
use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile};
use crate::commands::outputs::targets::{Target, Targets};
use crate::run::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::{Context, anyhow};

/// Reads the input again, and writes the chosen records to the output of the run, which gets its
/// name. Returns the content of the output. `before` is what an earlier run has written to it, if
/// that is more.
///
/// # Errors
///
/// Fails if a chosen record is not there any more, if the user interrupts, or if the output is
/// there with another content and more records.
pub(super) fn write(
    request: &Request<'_>,
    choices: Choices,
    before: Option<KeptBefore>,
) -> Result<Option<LengthAndHash>, Failure> {
    let Request { args, written_targets: targets, settings, global, .. } = *request;
    let mut chosen = choices.sorted()?;
    let mut next = || chosen.next().transpose().context("a temporary file");
    let mut kept = Kept::create(&targets.out)?;
    let records = args.records(targets, &settings, Purpose::Write, true)?;
    let progress = ProgressBar::new(global, records.expected_bytes);
    let mut progress = progress.named("writing what is kept");
    let (mut wanted, mut number) = (next()?, 0);
    // What was said first of a file that could not be read, perhaps as little as before.
    let mut unread = None;
    for parsed in records {
        let documents = parsed.records();
        if parsed.source.unread {
            unread = unread.or(parsed.messages.first().cloned());
        }
        kept.begin(&parsed.source)?;
        for record in parsed.good {
            if wanted.is_some_and(|wanted| wanted.number == number) {
                if wanted != Some(Choice::of(number, &record.document)) {
                    return Err(differs(&record.place, unread));
                }
                kept.admit(&record.written, &record.place)?;
                kept.write(&record.written)?;
                wanted = next()?;
            }
            number += 1;
        }
        progress.add(documents, parsed.bytes);
    }
    progress.finish();
    if interrupt::asked() {
        let place = args.index.display();
        return Err(anyhow!("{place}: interrupted; run the same command again to go on").into());
    }
    if wanted.is_some() {
        return Err(differs("the input", unread));
    }
    let content = kept.sync(true)?;
    if let Some(before) = before
        && replaces_another(targets, &kept, content)?
    {
        return Err(would_lose_by_going_on(args, before));
    }
    Ok(kept.finish()?.or(content))
}

/// Whether an output that lacks only its names would replace another one.
fn replaces_another(
    targets: &Targets,
    kept: &Kept,
    content: Option<LengthAndHash>,
) -> Result<bool, Failure> {
    if !targets.is_there()? {
        return Ok(false);
    }
    match (&targets.out, &targets.delivery, content) {
        (Target::File(_), Some(delivery), Some(content)) => Ok(!delivery.is_there(content)?),
        (Target::File(file), None, _) => Ok(PartialFile::content_of(file)? != content),
        (_, delivery, _) => kept.replaces_shards(delivery.as_ref()),
    }
}

/// The error for an input that is not what was judged. `unread` says that some of it could not be
/// read now, which may pass.
fn differs(place: &str, unread: Option<String>) -> Failure {
    match unread {
        Some(unread) => {
            anyhow!("{unread}; what is kept was not written: run the same command again")
        }
        None => anyhow!("{place}: was changed after it was judged; run the command with --restart"),
    }
    .into()
}
