//! `twindex remove`: documents leave an index.

use super::args::{Global, Remove};
use super::failure::{Failure, message};
use super::output::{count, grouped, summary};
use super::{Ending, interrupt, opening};
use crate::error::Result;
use crate::index::Index;
use crate::input::STANDARD_INPUT;
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::time::Instant;

/// Ids in one commit: what a killed run has to do again at the most.
const BATCH: usize = 100_000;

pub(super) fn run(global: &Global, args: &Remove) -> std::result::Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_write(global, &args.index)?;
    let (mut ids, mut named, mut removed, mut interrupted) = (Vec::new(), 0_u64, 0_u64, false);
    let from: Box<dyn BufRead> = match &args.ids_from {
        None => Box::new(io::empty()),
        Some(path) if path.as_os_str() == STANDARD_INPUT => Box::new(io::stdin().lock()),
        Some(path) => {
            let file = File::open(path).with_context(|| path.display().to_string())?;
            Box::new(BufReader::new(file))
        }
    };
    let given = args.ids.iter().map(|id| Ok((id.clone().into_bytes(), None)));
    let listed = from.split(b'\n').zip(1_u64..).map(|(line, at)| line.map(|line| (line, Some(at))));
    let mut failed = 0_u64;
    for id in given.chain(listed) {
        let source =
            || args.ids_from.as_ref().map_or_else(String::new, |p| p.display().to_string());
        let (id, line) = id.with_context(source)?;
        let id = match String::from_utf8(id) {
            Ok(id) => id,
            Err(error) => {
                failed += 1;
                let at = error.utf8_error().valid_up_to() + 1;
                let line = line.unwrap_or_default();
                message(&format!("{}:{line}: not valid UTF-8 at byte {at}", source()));
                continue;
            }
        };
        let id = id.strip_suffix('\r').filter(|_| line.is_some()).unwrap_or(&id);
        if id.is_empty() && line.is_some() {
            continue;
        }
        ids.push(id.to_owned());
        interrupted = interrupt::asked();
        if interrupted {
            break;
        }
        if ids.len() == BATCH {
            removed += remove(&index, &ids)?;
            named += ids.len() as u64;
            ids.clear();
        }
    }
    if !ids.is_empty() {
        removed += remove(&index, &ids)?;
        named += ids.len() as u64;
    }
    let missing = named - removed;
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("removed", removed.into()),
        ("missing", missing.into()),
        ("failed", failed.into()),
        ("seconds", ((seconds * 1000.0).round() / 1000.0).into()),
        ("interrupted", interrupted.into()),
    ];
    let mut sentence = format!("removed {}", count(removed, "document"));
    if missing > 0 {
        sentence += &format!(", {} missing", grouped(missing));
    }
    summary(global, &fields, &sentence);
    if interrupted {
        return Err(anyhow::anyhow!(
            "{}: interrupted; what was removed is committed",
            args.index.display()
        )
        .into());
    }
    Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

/// Removes documents in a commit of their own; returns how many there were.
fn remove(index: &Index, ids: &[String]) -> Result<u64> {
    let mut txn = index.begin_write()?;
    let removed = txn.remove_batch(ids)?;
    txn.commit()?;
    Ok(removed)
}
