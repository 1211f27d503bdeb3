//! What the audit of `dedup` says of a record.

use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::removal::Remove;
use crate::commands::outputs::audit::{Audit, known_values, passages_of};
use crate::report::Histogram;
use crate::run::failure::Failure;
use crate::terminal::output::likeness;
use serde_json::Value;
use twindex::{Match, Outcome};

/// A record of which the audit may tell.
pub(super) struct AuditedRecord<'a> {
    pub(super) id: &'a str,
    /// Where it is in the input, if each line says so.
    pub(super) place: Option<String>,
    /// Its text, if each line has it.
    pub(super) text: Option<String>,
}

/// The audit of a run.
pub(crate) struct RunAudit<'a> {
    pub(crate) args: &'a Dedup,
    pub(crate) lines: Audit,
    /// The similarities of what this process removed; `None` if an interrupted run removed some.
    pub(crate) similarities: Option<Histogram>,
}

impl RunAudit<'_> {
    /// Writes a line to the audit if the record was removed, changed or spared.
    pub(super) fn tell(
        &mut self,
        record: AuditedRecord<'_>,
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        match outcome {
            Outcome::Duplicate { of, against } => self.tell_similar(record, of, *against, false),
            Outcome::Spared { of, against, .. } => self.tell_similar(record, of, *against, true),
            Outcome::Cut { known, .. } => {
                let values = known_values(record.id, known.share(), passages_of(known), true);
                self.line(record, values, None)
            }
            Outcome::Covered(known) => {
                let values = known_values(record.id, known.share(), passages_of(known), false);
                self.line(record, values, None)
            }
            _ => Ok(()),
        }
    }

    /// Writes the line of a record that is similar to a document, which may be in another index.
    fn tell_similar(
        &mut self,
        record: AuditedRecord<'_>,
        of: &Match,
        against: Option<usize>,
        kept: bool,
    ) -> Result<(), Failure> {
        if self.args.removal.remove.is_by_passages() {
            // The record came before, as it is.
            let values = known_values(record.id, of.similarity, Value::Array(Vec::new()), kept);
            return self.line(record, values, None);
        }
        // What came before, as it is, contains itself.
        let contained = of.containment.map_or(of.similarity, |containment| containment.share);
        if !kept {
            self.removed_at(of.similarity);
        }
        let values = [record.id.into(), of.id.as_str().into(), likeness(of.similarity, of.exact)];
        let values = values.into_iter().chain([of.exact.into()]);
        self.line(record, values.chain(self.if_contained(contained, kept)), against)
    }

    /// Writes the line of a record whose text came before in this run, with the same id.
    pub(super) fn tell_copy(&mut self, record: AuditedRecord<'_>) -> Result<(), Failure> {
        if self.args.removal.remove.is_by_passages() {
            let values = known_values(record.id, 1.0, Value::Array(Vec::new()), false);
            return self.line(record, values, None);
        }
        self.removed_at(1.0);
        let values = [record.id.into(), record.id.into(), likeness(1.0, true), true.into()];
        self.line(record, values.into_iter().chain(self.if_contained(1.0, false)), None)
    }

    /// Writes a line, with what ends each line. `against` is the place of the other index that has
    /// the similar document.
    fn line(
        &mut self,
        record: AuditedRecord<'_>,
        values: impl IntoIterator<Item = Value>,
        against: Option<usize>,
    ) -> Result<(), Failure> {
        let others = &self.args.against;
        let name = against.and_then(|at| others.get(at)).map(|path| path.display().to_string());
        let against = (!others.is_empty()).then(|| name.map_or(Value::Null, Value::from));
        let (place, text) = (record.place.map(Value::from), record.text.map(Value::from));
        self.lines.line(values.into_iter().chain(place).chain(against).chain(text))
    }

    fn removed_at(&mut self, similarity: f64) {
        if let Some(similarities) = &mut self.similarities {
            similarities.add(similarity);
        }
    }

    /// The values that only the audit of `--remove contained` has.
    fn if_contained(&self, share: f64, kept: bool) -> Vec<Value> {
        match self.args.removal.remove {
            Remove::Contained => vec![likeness(share, true), kept.into()],
            _ => Vec::new(),
        }
    }
}
