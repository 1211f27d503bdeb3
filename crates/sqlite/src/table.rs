//! What the table-valued functions have in common: their arguments are hidden columns, the first of
//! which is the path of an index.
#![expect(unsafe_code, reason = "virtual tables are structures that SQLite points to")]

use crate::error::{failure, guarded};
use crate::indexes::Indexes;
use crate::values::text;
use rusqlite::types::Value;
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, VTab, VTabConfig, VTabConnection, VTabCursor,
};
use rusqlite::{Result, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;
use twindex::Snapshot;

/// A table-valued function.
pub(crate) trait Function {
    /// Its name, for messages.
    const NAME: &'static str;
    /// The declaration of its columns.
    const DECLARATION: &'static CStr;
    /// The number of columns that are no arguments.
    const COLUMNS: c_int;
    /// The names of its arguments.
    const ARGUMENTS: &'static [&'static str];
    /// How many of them are needed.
    const NEEDED: usize;
    /// About how many rows it has, for the planner of queries.
    const ROWS: i64;
    type Rows: Rows;

    /// The rows for these arguments; NULL for those that were left out. `None` if there are none.
    fn rows(snapshot: Arc<Snapshot>, arguments: &[Value]) -> Result<Option<Self::Rows>>;
}

/// Rows that are found one after the other.
pub(crate) trait Rows {
    /// Goes to the next row. Returns whether there is one.
    fn advance(&mut self) -> Result<bool>;

    /// A value of the row.
    fn column(&self, column: c_int) -> Value;
}

/// The virtual table of a function.
#[repr(C)]
pub(crate) struct Table<F> {
    base: ffi::sqlite3_vtab,
    indexes: Indexes,
    function: PhantomData<F>,
}

// SAFETY: the base comes first.
unsafe impl<'vtab, F: Function + 'vtab> VTab<'vtab> for Table<F> {
    type Aux = Indexes;
    type Cursor = Cursor<'vtab, F>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Indexes>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        // Views and triggers of a stranger's database must not open files.
        db.config(VTabConfig::DirectOnly)?;
        let indexes = aux.cloned().unwrap_or_default();
        let base = ffi::sqlite3_vtab::default();
        Ok((Cow::Borrowed(F::DECLARATION), Self { base, indexes, function: PhantomData }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut places: Vec<Option<usize>> = vec![None; F::ARGUMENTS.len()];
        let mut waits = vec![false; F::ARGUMENTS.len()];
        for (place, constraint) in info.constraints().enumerate() {
            let argument = usize::try_from(constraint.column() - F::COLUMNS).ok();
            let Some(argument) = argument.filter(|argument| *argument < F::ARGUMENTS.len()) else {
                continue;
            };
            let equals = matches!(
                constraint.operator(),
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                    | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_IS
                    | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_ISNULL
            );
            if equals {
                match constraint.is_usable() {
                    true => places[argument] = Some(place),
                    // It comes from a table that has to be read before.
                    false => waits[argument] = true,
                }
            }
        }
        // With a value from elsewhere, SQLite compares the argument with that table later.
        if places.iter().zip(waits).any(|(place, waits)| place.is_none() && waits) {
            return Ok(false);
        }
        // SQLite also asks for plans that it does not take. One without all arguments is an error
        // when it is carried out.
        let is_whole = places.iter().take(F::NEEDED).all(Option::is_some);
        let (mut known, mut next) = (0, 0);
        let mut cost = F::ROWS as f64 * 10.0;
        let used = info.col_used();
        for (argument, place) in places.iter().enumerate() {
            let Some(place) = place else {
                // There may be a condition on it within alternatives. The plan that asks for them
                // one by one has to be the cheaper one, however many rows both sort.
                if used & 1 << (F::COLUMNS as usize + argument) != 0 {
                    cost *= 1e50;
                }
                continue;
            };
            next += 1;
            known |= 1 << argument;
            let mut usage = info.constraint_usage(*place);
            usage.set_argv_index(next);
            usage.set_omit(true);
        }
        info.set_idx_num(known);
        info.set_estimated_rows(F::ROWS);
        info.set_estimated_cost(if is_whole { cost } else { 1e99 });
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Cursor<'vtab, F>> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            indexes: self.indexes.clone(),
            arguments: Vec::new(),
            rows: None,
            row: 0,
            table: PhantomData,
        })
    }
}

/// A walk over the rows of a function.
#[repr(C)]
pub(crate) struct Cursor<'vtab, F: Function> {
    base: ffi::sqlite3_vtab_cursor,
    indexes: Indexes,
    arguments: Vec<Value>,
    /// `None` after the last row.
    rows: Option<F::Rows>,
    row: i64,
    table: PhantomData<&'vtab Table<F>>,
}

impl<F: Function> Cursor<'_, F> {
    /// Begins to look for the rows. The bits of `known` tell which arguments there are.
    fn begin(&mut self, known: c_int, values: &Filters<'_>) -> Result<()> {
        let is_known = |argument: usize| known & 1 << argument != 0;
        if let Some(missing) = (0..F::NEEDED).find(|argument| !is_known(*argument)) {
            let (name, arguments) = (F::NAME, F::ARGUMENTS.join(", "));
            let missing = F::ARGUMENTS[missing];
            return Err(failure(format!(
                "{name}({arguments}): the argument {missing} is missing, or comes from a table \
                 that this kind of join reads later (of a RIGHT JOIN, too)"
            )));
        }
        let mut given = values.iter();
        let argument = |argument: usize| {
            if is_known(argument) {
                given.next().map_or(Ok(Value::Null), |value| {
                    Value::try_from(value).map_err(|_| {
                        let name = F::ARGUMENTS[argument];
                        failure(format!("{}: the argument {name} is not valid UTF-8", F::NAME))
                    })
                })
            } else {
                Ok(Value::Null)
            }
        };
        self.arguments = (0..F::ARGUMENTS.len()).map(argument).collect::<Result<_>>()?;
        let path = self.arguments.first().map_or(Ok(None), |path| text(path.into(), "the path"))?;
        let path = path.ok_or_else(|| failure(format!("{}: the path is NULL", F::NAME)))?;
        let snapshot = self.indexes.snapshot(&path)?;
        let rows = F::rows(snapshot, &self.arguments);
        self.rows = rows.inspect_err(|_| self.indexes.has_failed(&path))?;
        self.row = first_row(&self.arguments);
        Ok(())
    }

    /// Goes to the next row. Returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        let Some(rows) = &mut self.rows else { return Ok(false) };
        rows.advance().inspect_err(|_| {
            if let Some(Value::Text(path)) = self.arguments.first() {
                self.indexes.has_failed(path);
            }
        })
    }
}

/// The number before that of the first row. SQLite takes rows of one number for one row, also if
/// they come from calls with other arguments, so each set of arguments has numbers of its own.
fn first_row(arguments: &[Value]) -> i64 {
    let mut hasher = DefaultHasher::new();
    for argument in arguments {
        match argument {
            Value::Null => hasher.write_u8(0),
            Value::Integer(number) => (1_u8, number).hash(&mut hasher),
            Value::Real(number) => (2_u8, number.to_bits()).hash(&mut hasher),
            Value::Text(text) => (3_u8, text).hash(&mut hasher),
            Value::Blob(bytes) => (4_u8, bytes).hash(&mut hasher),
        }
    }
    hasher.finish() as i64
}

// SAFETY: the base comes first.
unsafe impl<F: Function> VTabCursor for Cursor<'_, F> {
    fn filter(&mut self, known: c_int, _: Option<&str>, values: &Filters<'_>) -> Result<()> {
        self.rows = None;
        guarded(|| self.begin(known, values))?;
        self.next()
    }

    fn next(&mut self) -> Result<()> {
        self.row = self.row.wrapping_add(1);
        if !guarded(|| self.advance())? {
            self.rows = None;
        }
        Ok(())
    }

    fn eof(&self) -> bool {
        self.rows.is_none()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let argument = usize::try_from(column - F::COLUMNS).ok();
        match (argument.and_then(|argument| self.arguments.get(argument)), &self.rows) {
            (Some(argument), _) => context.set_result(argument),
            (None, Some(rows)) => context.set_result(&rows.column(column)),
            (None, None) => Ok(()),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row)
    }
}
