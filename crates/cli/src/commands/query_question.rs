//! What the kinds of `twindex query` differ in.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::results_table::Column;
use crate::terminal::output::{Results, count_as};
use twindex::Content;

/// What is asked about each text, record and id, with the options of the command.
pub(super) trait Question: Clone + Send + Sync + 'static {
    type Answer: Send + 'static;
    /// Sums over all answers, for the summary.
    type Totals: Default;

    /// The columns of the results.
    fn columns(&self) -> Vec<Column>;

    /// Fails if an option is out of range, or if the index cannot answer.
    fn check(&self) -> twindex::Result<()>;

    /// Asks about a content. A record with an id of its own does not match itself.
    fn by_content(
        &self,
        content: Content<'_>,
        own_id: Option<&str>,
    ) -> twindex::Result<Self::Answer>;

    /// Asks about the document with this id; `None` if there is none.
    fn by_id(&self, id: &str) -> twindex::Result<Option<Self::Answer>>;

    /// Prints the answer for what is named `query`, and adds it to the totals.
    fn print(
        &self,
        query: &str,
        answer: &Self::Answer,
        results: &mut Results,
        totals: &mut Self::Totals,
    ) -> Result<(), Failure>;

    /// Prints the summary. `failed` is the number of records and ids that could not be asked about.
    fn report(&self, global: &GlobalOptions, totals: &Self::Totals, failed: u64, seconds: f64);
}

/// Says how many queries may not have compared all of their candidates, or nothing if all did.
pub(super) fn bounded_note(bounded: u64) -> String {
    match bounded {
        0 => String::new(),
        _ => {
            let queries = count_as(bounded, "query", "queries");
            format!("; {queries} compared only some of their candidates (--max-candidates)")
        }
    }
}
