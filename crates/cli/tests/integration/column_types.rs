//! Types that Parquet or Arrow has alone: what becomes of them in kept rows.

use crate::command::Shell;
use crate::support::text;
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType as ValueType, FixedLenByteArray, FixedLenByteArrayType,
    Int96, Int96Type,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::Cursor;
use std::sync::Arc;

const ROWS: i64 = 20;

/// Writes a column without nulls, whose values lie so many optional fields deep.
fn column<T: ValueType>(group: &mut SerializedRowGroupWriter<Vec<u8>>, values: &[T::T], deep: i16) {
    let mut column = group.next_column().expect("written").expect("a column");
    let (levels, zeros) = (vec![deep; values.len()], vec![0; values.len()]);
    let written = column.typed::<T>().write_batch(values, Some(&levels), Some(&zeros));
    written.expect("written");
    column.close().expect("written");
}

/// A file of Parquet, as a program without Arrow writes it. `columns` says what follows the texts.
fn file(columns: &str, write: impl FnOnce(&mut SerializedRowGroupWriter<Vec<u8>>)) -> Vec<u8> {
    let schema = format!("message m {{ optional binary text (STRING); {columns} }}");
    let schema = parse_message_type(&schema).expect("a schema");
    let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Default::default());
    let mut writer = writer.expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    let texts: Vec<ByteArray> =
        (0..ROWS as u64).map(|n| text(n / 2, 0, 20).as_str().into()).collect();
    column::<ByteArrayType>(&mut group, &texts, 1);
    write(&mut group);
    group.close().expect("written");
    writer.into_inner().expect("written")
}

/// What `dedup` keeps of a file: the first of each two rows.
fn kept(input: Vec<u8>) -> ParquetRecordBatchReaderBuilder<bytes::Bytes> {
    let shell = Shell::new();
    shell.write("in.parquet", input);
    let done = shell.run("dedup i.twx in.parquet -o out.parquet --removed gone.jsonl --json");
    assert_eq!((done.status, done.counted("added")), (0, ROWS as u64 / 2), "{done:?}");
    let bytes = bytes::Bytes::from(shell.read("out.parquet"));
    ParquetRecordBatchReaderBuilder::try_new(bytes).expect("Parquet")
}

/// The microseconds of a timestamp of 96 bits: days that are far from 1970 in both directions.
fn time(row: i64) -> i64 {
    let day = if row % 2 == 0 { 2_932_896 } else { -719_162 };
    (day + row) * 86_400_000_000 + row * 1_000_001
}

fn int96(micros: i64) -> Int96 {
    let (day, rest) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let nanos = rest * 1_000;
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, (day + 2_440_588) as u32);
    value
}

#[test]
fn timestamps_of_96_bits_keep_years_that_nanoseconds_do_not_reach() {
    let columns = "optional int96 at; \
                   optional group all (LIST) { repeated group list { optional int96 element; } }";
    let times: Vec<Int96> = (0..ROWS).map(|row| int96(time(row))).collect();
    let kept = kept(file(columns, |group| {
        column::<Int96Type>(group, &times, 1);
        column::<Int96Type>(group, &times, 3);
    }));
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    assert_eq!(kept.schema().field(1).data_type(), &micros);
    let element = Field::new("element", micros, true);
    assert_eq!(kept.schema().field(2).data_type(), &DataType::List(Arc::new(element)));
    let rows = kept.build().expect("a reader").next().expect("rows").expect("rows");
    let expected: Vec<i64> = (0..ROWS).step_by(2).map(time).collect();
    for column in [rows.column(1), rows.column(2).as_list::<i32>().values()] {
        assert_eq!(column.as_primitive::<TimestampMicrosecondType>().values(), &expected[..]);
    }
}

#[test]
fn uuids_and_json_stay_what_they_are() {
    let columns = "optional fixed_len_byte_array(16) u (UUID); optional binary j (JSON);";
    let uuids: Vec<FixedLenByteArray> =
        (0..ROWS as u8).map(|n| ByteArray::from(vec![n; 16]).into()).collect();
    let json: Vec<ByteArray> = (0..ROWS).map(|n| format!("[{n}]").as_str().into()).collect();
    let kept = kept(file(columns, |group| {
        column::<FixedLenByteArrayType>(group, &uuids, 1);
        column::<ByteArrayType>(group, &json, 1);
    }));
    let leaves = kept.parquet_schema().columns().iter();
    let types: Vec<_> = leaves.map(|leaf| leaf.logical_type_ref().cloned()).collect();
    assert_eq!(types[1..], [Some(LogicalType::Uuid), Some(LogicalType::Json)]);
    let rows = kept.build().expect("a reader").next().expect("rows").expect("rows");
    let found = rows.column(1).as_fixed_size_binary().value(3);
    assert_eq!((found, rows.column(2).as_string::<i32>().value(3)), (&[6_u8; 16][..], "[6]"));
}

#[test]
fn an_ordered_dictionary_keeps_its_order_or_is_ordered_no_more() {
    let rows = ROWS as usize;
    let values: ArrayRef = Arc::new(StringArray::from(vec!["low", "high", "unused"]));
    let keys = Int32Array::from_iter_values((0..ROWS as i32).map(|row| i32::from(row % 4 == 0)));
    let grade: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    let texts: ArrayRef =
        Arc::new((0..rows as u64).map(|n| Some(text(n / 2, 0, 20))).collect::<StringArray>());
    #[expect(deprecated, reason = "nothing else makes an ordered dictionary")]
    let ordered = Field::new_dict("grade", grade.data_type().clone(), false, 0, true);
    let schema = Schema::new(vec![ordered, Field::new("text", DataType::Utf8, false)]);
    let table = RecordBatch::try_new(Arc::new(schema), vec![grade, texts]).expect("a table");
    let mut writer = FileWriter::try_new(Vec::new(), &table.schema()).expect("a writer");
    writer.write(&table).expect("written");
    let shell = Shell::new();
    shell.write("in.arrow", writer.into_inner().expect("written"));
    shell.run("dedup a.twx in.arrow -o out.arrow --removed gone.jsonl -q").succeeds();
    let mut arrow = FileReader::try_new(Cursor::new(shell.read("out.arrow")), None).expect("Arrow");
    assert_eq!(arrow.schema().field(0).dict_is_ordered(), Some(true));
    let found = arrow.next().expect("rows").expect("rows");
    let values = found.column(0).as_any_dictionary().values().as_string::<i32>();
    assert_eq!(values.iter().flatten().collect::<Vec<_>>(), ["low", "high", "unused"]);
    shell.run("dedup p.twx in.arrow -o out.parquet --removed gone.jsonl -q").succeeds();
    let bytes = bytes::Bytes::from(shell.read("out.parquet"));
    let parquet = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("Parquet");
    assert_eq!(parquet.schema().field(0).dict_is_ordered(), Some(false));
}
