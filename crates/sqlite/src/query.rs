//! `twindex_query(path, text, threshold)`: the documents that are similar to a text.

use crate::error::of_library;
use crate::table::{Function, Rows};
use crate::values::{number, text};
use rusqlite::Result;
use rusqlite::types::Value;
use std::ffi::{CStr, c_int};
use std::sync::Arc;
use std::vec::IntoIter;
use twindex::{Match, Snapshot, Weights};

pub(crate) struct Similar;

impl Function for Similar {
    const NAME: &'static str = "twindex_query";
    const DECLARATION: &'static CStr = c"CREATE TABLE x(id TEXT, similarity REAL, low REAL, \
                                         high REAL, exact INTEGER, path HIDDEN, text HIDDEN, \
                                         threshold HIDDEN)";
    const COLUMNS: c_int = 5;
    const ARGUMENTS: &'static [&'static str] = &["path", "text", "threshold"];
    const NEEDED: usize = 2;
    const ROWS: i64 = 10;
    type Rows = Found;

    fn rows(snapshot: Arc<Snapshot>, arguments: &[Value]) -> Result<Option<Found>> {
        let [_, asked, threshold] = arguments else { return Ok(None) };
        let Some(asked) = text(asked.into(), "the text")? else { return Ok(None) };
        let mut query = snapshot.query();
        if let Some(threshold) = number(threshold.into(), "the threshold")? {
            query = query.threshold(threshold);
        }
        let matches = if snapshot.settings().weighted {
            Weights::from_export(&asked).and_then(|weights| query.by_content(&weights))
        } else {
            query.by_text(&asked)
        };
        let matches = matches.map_err(of_library)?;
        let matches: Vec<Match> = matches.into_iter().collect();
        Ok(Some(Found { rest: matches.into_iter(), current: None }))
    }
}

/// Matches, the most similar ones first.
pub(crate) struct Found {
    rest: IntoIter<Match>,
    current: Option<Match>,
}

impl Rows for Found {
    fn advance(&mut self) -> Result<bool> {
        self.current = self.rest.next();
        Ok(self.current.is_some())
    }

    fn column(&self, column: c_int) -> Value {
        let Some(found) = &self.current else { return Value::Null };
        match column {
            0 => Value::Text(found.id.clone()),
            1 => Value::Real(found.similarity),
            2 => Value::Real(found.low),
            3 => Value::Real(found.high),
            _ => Value::Integer(found.exact.into()),
        }
    }
}
