//! One row of an iterable: a text, a pair (id, text), a dict, or a row with named values; and what
//! it is asked for.

use crate::content::{Given, fields_of, id_of, unless_stopped};
use crate::error::invalid;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyFloat, PyInt, PyIterator, PyMapping, PyTuple};
use twindex::Settings;

/// The bytes of text after which a batch ends.
pub(crate) const BYTES: usize = 16 << 20;

/// The names of the columns, or of the keys of dicts.
pub(crate) struct Names {
    /// The column of ids. `None`: the rows have none.
    pub(crate) id: Option<String>,
    /// Whether rows without ids are an error.
    pub(crate) id_needed: bool,
    /// The column of texts, or of signatures.
    pub(crate) content: String,
}

impl Names {
    /// The columns of these names. Without a name for ids, the rows have none.
    pub(crate) fn new(id: Option<&str>, content: &str) -> Self {
        Self { id: id.map(str::to_owned), id_needed: id.is_some(), content: content.to_owned() }
    }

    /// These columns; rows without an id are no error.
    pub(crate) fn if_any(self) -> Self {
        Self { id_needed: false, ..self }
    }
}

/// What the contents of the rows are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Texts and sets of tokens.
    Contents,
    Weights,
    Signatures,
}

impl Kind {
    /// The same under these settings, which may say that contents are weights.
    pub(crate) fn under(self, settings: &Settings) -> Self {
        match self {
            Self::Contents if settings.weighted => Self::Weights,
            kind => kind,
        }
    }
}

/// The content of one row of an iterable.
pub(crate) enum Cell {
    Content(Given),
    Signature(PyBackedBytes),
}

/// Reads the rows of a batch into `cells`, as far as they can be read: the number of the first, and
/// how many there are at most.
pub(crate) fn python_cells(
    rows: &Bound<'_, PyIterator>,
    names: &Names,
    kind: Kind,
    (first, most): (u64, usize),
    cells: &mut Vec<(Option<PyBackedStr>, Cell)>,
) -> PyResult<()> {
    let mut bytes = 0;
    for row in rows.clone() {
        let number = first + cells.len() as u64;
        let (id, cell) =
            python_row(&row?, names, kind).map_err(|error| at_row(rows.py(), number, error))?;
        bytes += match &cell {
            Cell::Content(given) => given.text().map_or(64, str::len),
            Cell::Signature(signature) => signature.len(),
        };
        cells.push((id, cell));
        if cells.len() >= most || bytes >= BYTES {
            break;
        }
    }
    Ok(())
}

/// The exception for one row, which says which one.
fn at_row(py: Python<'_>, number: u64, error: PyErr) -> PyErr {
    // A note keeps the type and the cause of the exception.
    match error.add_note(py, format!("in row {number}, counted from 0")) {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

fn python_row(
    row: &Bound<'_, PyAny>,
    names: &Names,
    kind: Kind,
) -> PyResult<(Option<PyBackedStr>, Cell)> {
    let (id, content) = if let Some(fields) = fields_of(row)? {
        let by_place = row.is_instance_of::<PyTuple>();
        let named = |name: &String| {
            let place = fields.iter().position(|field| field == name);
            let value = |place: usize| match by_place {
                true => row.get_item(place),
                // Some rows take places alone.
                false => row.get_item(name).or_else(|error| {
                    unless_stopped(row.py(), error).and_then(|()| row.get_item(place))
                }),
            };
            place.map(value).transpose()
        };
        let no_content = || {
            let fields = fields.join(", ");
            invalid(format!("no field {:?}: there are {fields}", names.content))
        };
        let id = names.id.as_ref().map(named).transpose()?.flatten();
        (id, named(&names.content)?.ok_or_else(no_content)?)
    } else if names.id.is_some()
        && let Ok(pair) = row.cast::<PyTuple>()
    {
        // Some tokens in a tuple would be a pair, or not, by their number.
        if pair.len() != 2 {
            return Err(invalid(format!(
                "a tuple of {} values: expected (id, text); tokens without an id are a list or a \
                 set, or any of these with id=None",
                pair.len()
            )));
        }
        (Some(pair.get_item(0)?), pair.get_item(1)?)
    } else if let Ok(dict) = row.cast::<PyMapping>() {
        let may_be_weights = kind == Kind::Weights && !names.id_needed;
        let has_content = dict.contains(&names.content)?;
        // A token may have the name of the column of weights.
        let is_weight = may_be_weights && has_content && {
            let value = dict.get_item(&names.content)?;
            value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>()
        };
        match (has_content && !is_weight, may_be_weights) {
            (true, _) => {
                let named = |name: &String| {
                    if dict.contains(name)? { dict.get_item(name).map(Some) } else { Ok(None) }
                };
                let id = names.id.as_ref().map(named).transpose()?.flatten();
                (id, dict.get_item(&names.content)?)
            }
            // The weights of a document without an id.
            (false, true) => (None, row.clone()),
            (false, false) => {
                let keys = dict.keys()?.str()?;
                return Err(invalid(format!("no key {:?}: there are {keys}", names.content)));
            }
        }
    } else {
        (None, row.clone())
    };
    let id = id.filter(|id| !id.is_none());
    if id.is_none() && names.id_needed {
        return Err(invalid(
            "a row without an id: expected (id, text) or a dict with both; for automatic ids, \
             pass id=None",
        ));
    }
    let cell = match kind {
        Kind::Contents | Kind::Weights => Cell::Content(Given::new(&content)?),
        Kind::Signatures => Cell::Signature(content.extract()?),
    };
    Ok((id.map(|id| id_of(&id)).transpose()?, cell))
}
