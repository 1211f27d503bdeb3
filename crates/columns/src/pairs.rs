//! Similar pairs as a table.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;
use twindex::Pair;

/// The columns `a`, `b`, `similarity`, `low`, `high` and `exact`.
pub fn pair_schema() -> SchemaRef {
    let text = |name| Field::new(name, DataType::Utf8, false);
    let number = |name| Field::new(name, DataType::Float64, false);
    Arc::new(Schema::new(vec![
        text("a"),
        text("b"),
        number("similarity"),
        number("low"),
        number("high"),
        Field::new("exact", DataType::Boolean, false),
    ]))
}

/// A batch of pairs, with the columns of [`pair_schema`].
pub fn pair_batch(schema: &SchemaRef, pairs: &[Pair]) -> Result<RecordBatch, ArrowError> {
    let text = |of: fn(&Pair) -> &String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(pairs.iter().map(of)))
    };
    let number = |of: fn(&Pair) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(pairs.iter().map(of)))
    };
    let exact: BooleanArray = pairs.iter().map(|pair| Some(pair.exact)).collect();
    let columns = vec![
        text(|pair| &pair.a),
        text(|pair| &pair.b),
        number(|pair| pair.similarity),
        number(|pair| pair.low),
        number(|pair| pair.high),
        Arc::new(exact),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns)
}
