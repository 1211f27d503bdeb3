//! A record of the input of `dedup`, as it comes to be judged.

use crate::commands::outputs::kept_output::OutputRecord;
use crate::input::TextForm;
use crate::run::preference::Rank;
use twindex::Document;

/// A record of the input. If its document has no id, the run assigns one when it judges it.
pub(crate) struct InputRecord {
    pub(crate) document: Document,
    /// Where the record stands in the input, for messages.
    pub(crate) place: String,
    /// Whether its file and number name it, as it has no id.
    pub(crate) numbered: bool,
    /// How much it is preferred to others.
    pub(crate) rank: Rank,
    /// What the output receives if the record is kept.
    pub(crate) written: OutputRecord,
    /// A hash of that; 0 of a record that was read before and waits to be judged.
    pub(crate) hash: u64,
    /// How that holds the text.
    pub(crate) form: TextForm,
    /// The text for the audit, if it is asked for.
    pub(crate) text: Option<String>,
}
