//! `twindex_pairs(path, threshold)`: all pairs of similar documents.

use crate::error::of_library;
use crate::table::{Function, Rows};
use crate::values::number;
use rusqlite::Result;
use rusqlite::types::Value;
use self_cell::self_cell;
use std::ffi::{CStr, c_int};
use std::sync::Arc;
use twindex::{Pair, Pairs, Snapshot};

pub(crate) struct AllPairs;

impl Function for AllPairs {
    const NAME: &'static str = "twindex_pairs";
    const DECLARATION: &'static CStr =
        c"CREATE TABLE x(a TEXT, b TEXT, similarity REAL, low REAL, \
                                         high REAL, exact INTEGER, path HIDDEN, threshold HIDDEN)";
    const COLUMNS: c_int = 6;
    const ARGUMENTS: &'static [&'static str] = &["path", "threshold"];
    const NEEDED: usize = 1;
    const ROWS: i64 = 1_000_000;
    type Rows = Found;

    fn rows(snapshot: Arc<Snapshot>, arguments: &[Value]) -> Result<Option<Found>> {
        let [_, threshold] = arguments else { return Ok(None) };
        let threshold = number(threshold.into(), "the threshold")?;
        let threshold = threshold.unwrap_or(snapshot.settings().threshold());
        let pairs = PairsCell::try_new(snapshot, |snapshot| snapshot.pairs(threshold));
        Ok(Some(Found { pairs: pairs.map_err(of_library)?, current: None }))
    }
}

self_cell!(
    struct PairsCell {
        owner: Arc<Snapshot>,
        #[not_covariant]
        dependent: Pairs,
    }
);

/// Pairs, which are found while they are read.
pub(crate) struct Found {
    pairs: PairsCell,
    current: Option<Pair>,
}

impl Rows for Found {
    fn advance(&mut self) -> Result<bool> {
        let next = self.pairs.with_dependent_mut(|_, pairs| pairs.next());
        self.current = next.transpose().map_err(of_library)?;
        Ok(self.current.is_some())
    }

    fn column(&self, column: c_int) -> Value {
        let Some(pair) = &self.current else { return Value::Null };
        match column {
            0 => Value::Text(pair.a.clone()),
            1 => Value::Text(pair.b.clone()),
            2 => Value::Real(pair.similarity),
            3 => Value::Real(pair.low),
            4 => Value::Real(pair.high),
            _ => Value::Integer(pair.exact.into()),
        }
    }
}
