//! One cell of a table by columns, as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use twindex_columns::IdColumn;

/// The value of a column in a row: a string, a number, or a time as seconds since 1970. `None` if
/// there is no such column, if the value is null, or if it is of another type.
pub fn cell(batch: &RecordBatch, row: usize, name: &str) -> Option<String> {
    value(&batch.column_by_name(name)?.slice(row, 1))
}

/// The value of a column of one row.
fn value(column: &ArrayRef) -> Option<String> {
    if column.is_null(0) {
        return None;
    }
    if let Ok(value) = IdColumn::new(column) {
        return Some(value.get(0).ok()??.into_owned());
    }
    Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().value(0).to_string(),
        DataType::Float16 => column.as_primitive::<Float16Type>().value(0).to_string(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(0).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(0).to_string(),
        DataType::Decimal32(..) => column.as_primitive::<Decimal32Type>().value_as_string(0),
        DataType::Decimal64(..) => column.as_primitive::<Decimal64Type>().value_as_string(0),
        DataType::Decimal128(..) => column.as_primitive::<Decimal128Type>().value_as_string(0),
        DataType::Decimal256(..) => column.as_primitive::<Decimal256Type>().value_as_string(0),
        DataType::Date32 => {
            (i64::from(column.as_primitive::<Date32Type>().value(0)) * 86_400).to_string()
        }
        DataType::Date64 => seconds(column.as_primitive::<Date64Type>().value(0), 3),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => seconds(column.as_primitive::<TimestampSecondType>().value(0), 0),
            TimeUnit::Millisecond => {
                seconds(column.as_primitive::<TimestampMillisecondType>().value(0), 3)
            }
            TimeUnit::Microsecond => {
                seconds(column.as_primitive::<TimestampMicrosecondType>().value(0), 6)
            }
            TimeUnit::Nanosecond => {
                seconds(column.as_primitive::<TimestampNanosecondType>().value(0), 9)
            }
        },
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let place = *dictionary.normalized_keys().first()?;
            return value(&dictionary.values().slice(place, 1));
        }
        _ => return None,
    })
}

/// A time in units of seconds with this many decimals, as seconds.
fn seconds(time: i64, decimals: usize) -> String {
    let unit = 10_u64.pow(decimals as u32);
    let (whole, rest) = (time.unsigned_abs() / unit, time.unsigned_abs() % unit);
    let sign = if time < 0 { "-" } else { "" };
    match rest {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{rest:0decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int8Array,
        Int64Array, StringArray, TimestampMicrosecondArray, TimestampNanosecondArray,
        TimestampSecondArray,
    };
    use std::sync::Arc;

    #[test]
    fn times_are_seconds_whatever_their_unit() {
        let time = 1_577_836_800;
        let decimal = Decimal128Array::from(vec![825]).with_precision_and_scale(9, 2);
        let columns: [(&str, ArrayRef); 6] = [
            ("s", Arc::new(TimestampSecondArray::from(vec![time]))),
            ("us", Arc::new(TimestampMicrosecondArray::from(vec![time * 1_000_000]))),
            ("ns", Arc::new(TimestampNanosecondArray::from(vec![-1_500_000_000]))),
            ("days", Arc::new(Date32Array::from(vec![18_262]))),
            ("decimal", Arc::new(decimal.expect("9 digits"))),
            ("dictionary", {
                let keys = Int8Array::from(vec![1]);
                let values = Arc::new(Float64Array::from(vec![1.5, 2.5]));
                Arc::new(DictionaryArray::new(keys, values))
            }),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("a table");
        let found = ["s", "us", "ns", "days", "decimal", "dictionary"];
        let found = found.map(|name| cell(&batch, 0, name).expect("a value"));
        assert_eq!(
            found,
            ["1577836800", "1577836800", "-1.500000000", "1577836800", "8.25", "2.5"]
        );
    }

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
