//! The records that a report is about: those that were removed, each with the document it was
//! removed for.

use super::id_hash;
use super::reading::{LONGEST_TEXT, beginning};
use crate::run::failure::Failure;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use std::io::BufRead;

/// A record that was removed, or a document that a cluster could do without.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Removed {
    /// The id of the record.
    pub(crate) id: String,
    /// The id of the document that is kept for it.
    pub(crate) of: String,
    /// The other index that has that document; `None` for the index itself.
    pub(crate) against: Option<String>,
    /// How similar the two are.
    pub(crate) similarity: f64,
    /// The text of the record, if the list has it.
    pub(crate) text: Option<String>,
}

impl Removed {
    /// The hash of the document that is kept for it. Other indexes may have the same ids.
    pub(super) fn kept_hash(&self) -> u64 {
        match &self.against {
            None => id_hash(&self.of),
            Some(index) => id_hash(&format!("{index}\0{}", self.of)),
        }
    }
}

/// A list of removed records, which can be read as often as needed.
pub(crate) trait RemovedRecords {
    /// Reads the list from its beginning.
    fn each(&mut self, take: &mut dyn FnMut(Removed) -> Result<(), Failure>)
    -> Result<(), Failure>;
}

/// The removed records of an audit. `open` calls what it is given with the lines from the first.
pub(crate) struct AuditLines<F>(pub(crate) F);

/// What an audit tells of a record.
#[derive(Deserialize)]
struct AuditLine {
    id: String,
    duplicate_of: String,
    similarity: f64,
    /// Whether it stayed in spite of the similarity.
    #[serde(default)]
    kept: bool,
    #[serde(default)]
    against: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

/// What reads an audit: it gives its argument a stream of lines.
pub(crate) type ReadLines<'a> = dyn FnMut(&mut dyn BufRead) -> Result<(), Failure> + 'a;

impl<F: FnMut(&mut ReadLines<'_>) -> Result<(), Failure>> RemovedRecords for AuditLines<F> {
    fn each(
        &mut self,
        take: &mut dyn FnMut(Removed) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        (self.0)(&mut |lines| {
            for (number, line) in lines.lines().enumerate() {
                let line = line.context("the audit")?;
                let line: AuditLine = serde_json::from_str(&line)
                    .map_err(|error| anyhow!("the audit: line {}: {error}", number + 1))?;
                let AuditLine { id, duplicate_of: of, similarity, kept, against, text } = line;
                // More of a text is not looked at.
                let text = text.map(|text| beginning(&text, LONGEST_TEXT).to_owned());
                if !kept {
                    take(Removed { id, of, against, similarity, text })?;
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_lists_what_was_removed_and_not_what_was_spared() {
        let text = "{\"id\":\"a\",\"duplicate_of\":\"b\",\"similarity\":0.9,\"exact\":true}\n\
                    {\"id\":\"c\",\"duplicate_of\":\"b\",\"similarity\":1.0,\"kept\":true}\n";
        let mut audit = AuditLines(|read: &mut ReadLines<'_>| read(&mut text.as_bytes()));
        for _ in 0..2 {
            let mut found = Vec::new();
            let read = audit.each(&mut |removed| {
                found.push((removed.id, removed.of, removed.similarity));
                Ok(())
            });
            assert!(read.is_ok());
            assert_eq!(found, [("a".to_owned(), "b".to_owned(), 0.9)]);
        }
    }

    #[test]
    fn a_broken_line_is_named() {
        let mut audit = AuditLines(|read: &mut ReadLines<'_>| read(&mut "{}\n".as_bytes()));
        let Err(Failure::Error(error)) = audit.each(&mut |_| Ok(())) else { panic!("an error") };
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}
