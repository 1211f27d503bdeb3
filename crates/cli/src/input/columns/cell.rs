//! One cell of a table by columns, as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use twindex_columns::IdColumn;

/// The value of a column in a row: a string, a number, or a time as the number that is stored.
/// `None` if there is no such column, if the value is null, or if it is of another type.
pub fn cell(batch: &RecordBatch, row: usize, name: &str) -> Option<String> {
    let column = batch.column_by_name(name)?;
    if column.is_null(row) {
        return None;
    }
    if let Ok(value) = IdColumn::new(&column.slice(row, 1)) {
        return Some(value.get(0).ok()??.into_owned());
    }
    Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Date32 => column.as_primitive::<Date32Type>().value(row).to_string(),
        DataType::Date64 => column.as_primitive::<Date64Type>().value(row).to_string(),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => column.as_primitive::<TimestampSecondType>().value(row),
            TimeUnit::Millisecond => column.as_primitive::<TimestampMillisecondType>().value(row),
            TimeUnit::Microsecond => column.as_primitive::<TimestampMicrosecondType>().value(row),
            TimeUnit::Nanosecond => column.as_primitive::<TimestampNanosecondType>().value(row),
        }
        .to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, TimestampSecondArray,
    };
    use std::sync::Arc;

    #[test]
    fn a_cell_is_found_by_the_name_of_its_column() {
        let columns: [(&str, ArrayRef); 5] = [
            ("s", Arc::new(StringArray::from(vec![Some("a"), None]))),
            ("n", Arc::new(Int64Array::from(vec![-5, 7]))),
            ("f", Arc::new(Float64Array::from(vec![0.25, 3.0]))),
            ("b", Arc::new(BooleanArray::from(vec![true, false]))),
            ("t", Arc::new(TimestampSecondArray::from(vec![10, 20]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("a table");
        let row = |row| ["s", "n", "f", "b", "t", "none"].map(|name| cell(&batch, row, name));
        let text = |value: &str| Some(value.to_owned());
        assert_eq!(row(0), [text("a"), text("-5"), text("0.25"), text("true"), text("10"), None]);
        assert_eq!(row(1), [None, text("7"), text("3"), text("false"), text("20"), None]);
    }
}
