//! One dictionary for all rows of a column whose batches have dictionaries of their own.

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, PrimitiveArray, UInt64Array, downcast_integer,
    downcast_primitive_array, new_empty_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;
use std::collections::HashMap;
use std::sync::Arc;

/// Gathers the distinct values of a column.
///
/// It holds each of them twice. Values that have others within, as lists do, are not compared: each
/// batch adds its own.
#[derive(Default)]
pub(crate) struct DistinctValues {
    places: Places,
    /// What each batch added.
    added: Vec<ArrayRef>,
}

impl DistinctValues {
    /// Adds the values of a batch.
    pub(crate) fn add(&mut self, column: &dyn Array) -> Result<(), ArrowError> {
        let values = column.as_any_dictionary().values();
        let new = self.places.find(values);
        if !new.is_empty() {
            self.added.push(take(values, &UInt64Array::from(new), None)?);
        }
        Ok(())
    }

    /// Makes one dictionary of the values, for a column of this type. Its keys are wider than those
    /// of the column if these are too narrow for all values and for `spare` more.
    pub(crate) fn into_dictionary(
        self,
        column: &DataType,
        spare: usize,
    ) -> Result<WholeDictionary, ArrowError> {
        let DataType::Dictionary(keys, values) = column else {
            return Err(ArrowError::SchemaError(format!("{column} is not a dictionary")));
        };
        let added: Vec<&dyn Array> = self.added.iter().map(AsRef::as_ref).collect();
        let whole = if added.is_empty() { new_empty_array(values) } else { concat(&added)? };
        let keys = Box::new(keys_for(keys, whole.len() + spare));
        let kind = DataType::Dictionary(keys, values.clone());
        Ok(WholeDictionary { kind, values: whole, places: self.places.again() })
    }
}

/// The dictionary of all rows of a column.
pub(crate) struct WholeDictionary {
    /// The type of the column with this dictionary.
    pub(crate) kind: DataType,
    values: ArrayRef,
    places: Places,
}

impl WholeDictionary {
    /// The rows of a batch with this dictionary. The batches come in the order in which their
    /// values were gathered.
    pub(crate) fn apply(&mut self, column: &dyn Array) -> Result<ArrayRef, ArrowError> {
        let column = column.as_any_dictionary();
        self.places.find(column.values());
        let found = self.places.last();
        let keys = column.keys();
        let own = if found.is_empty() { vec![0; keys.len()] } else { column.normalized_keys() };
        let rows = own.into_iter().enumerate();
        let rows =
            rows.map(
                |(row, own)| {
                    if keys.is_null(row) { None } else { found.get(own).copied().flatten() }
                },
            );
        macro_rules! with_keys {
            ($keys:ty) => {
                with_keys::<$keys>(rows, &self.values)
            };
        }
        match &self.kind {
            DataType::Dictionary(keys, _) => downcast_integer! {
                keys.as_ref() => (with_keys),
                other => Err(ArrowError::SchemaError(format!("{other} is no type of keys")))
            },
            other => Err(ArrowError::SchemaError(format!("{other} is not a dictionary"))),
        }
    }
}

/// Where the values of batches stand among all distinct ones.
#[derive(Default)]
struct Places {
    known: HashMap<Box<[u8]>, usize>,
    next: usize,
    /// The values of the last batch, and their places: none for a null. Most batches share their
    /// values with the one before.
    last: Option<(ArrayRef, Vec<Option<usize>>)>,
}

impl Places {
    /// Finds the places of values, which `last` has then. Returns the numbers of the new ones.
    fn find(&mut self, values: &ArrayRef) -> Vec<u64> {
        if self.last.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, values)) {
            return Vec::new();
        }
        let bytes_of = bytes_of_each(values);
        let mut new = Vec::new();
        let places = (0..values.len()).map(|number| {
            if values.is_null(number) {
                return None;
            }
            let known = bytes_of.as_ref().and_then(|bytes_of| self.known.get(bytes_of(number)));
            if let Some(place) = known {
                return Some(*place);
            }
            let place = self.next;
            if let Some(bytes_of) = &bytes_of {
                self.known.insert(bytes_of(number).into(), place);
            }
            self.next += 1;
            new.push(number as u64);
            Some(place)
        });
        let places = places.collect();
        self.last = Some((Arc::clone(values), places));
        new
    }

    fn last(&self) -> &[Option<usize>] {
        self.last.as_ref().map_or(&[], |(_, places)| places)
    }

    /// The same values, to be found in the same order again.
    fn again(self) -> Self {
        Self { known: self.known, ..Self::default() }
    }
}

/// Rows with these places in a dictionary.
fn with_keys<K: ArrowDictionaryKeyType>(
    rows: impl Iterator<Item = Option<usize>>,
    values: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let key = |place| K::Native::from_usize(place).ok_or(ArrowError::DictionaryKeyOverflowError);
    let keys = rows.map(|place| place.map(key).transpose());
    let keys: PrimitiveArray<K> = keys.collect::<Result<_, _>>()?;
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(values))?))
}

/// The narrowest type of keys for so many values that is no narrower than this one.
fn keys_for(own: &DataType, values: usize) -> DataType {
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let kinds = match own {
        UInt8 | UInt16 | UInt32 | UInt64 => [UInt8, UInt16, UInt32, UInt64],
        _ => [Int8, Int16, Int32, Int64],
    };
    let sign = u32::from(own.is_signed_integer());
    let width = own.primitive_width().unwrap_or(0);
    let fits = |kind: &DataType| {
        let bits = kind.primitive_width().unwrap_or(0) as u32 * 8 - sign;
        kind.primitive_width() >= Some(width) && values as u128 <= 1 << bits
    };
    kinds.into_iter().find(fits).unwrap_or_else(|| own.clone())
}

/// The bytes of the value with a number.
type BytesOf<'a> = Box<dyn Fn(usize) -> &'a [u8] + 'a>;

/// Returns what gives the bytes of a value, which tell it from others. `None` if values have others
/// within.
fn bytes_of_each<'a>(values: &'a ArrayRef) -> Option<BytesOf<'a>> {
    let values = values.as_ref();
    macro_rules! of {
        ($values:expr) => {{
            let values = $values;
            Some(Box::new(move |number| values.value(number).as_ref()))
        }};
    }
    downcast_primitive_array!(
        values => {
            let width = values.data_type().primitive_width().unwrap_or(0);
            let bytes = values.values().inner().as_slice();
            Some(Box::new(move |number| &bytes[number * width..][..width]))
        }
        DataType::Boolean => {
            let values = values.as_boolean();
            Some(Box::new(move |number| if values.value(number) { &[1] } else { &[0] }))
        }
        DataType::Utf8 => of!(values.as_string::<i32>()),
        DataType::LargeUtf8 => of!(values.as_string::<i64>()),
        DataType::Utf8View => of!(values.as_string_view()),
        DataType::Binary => of!(values.as_binary::<i32>()),
        DataType::LargeBinary => of!(values.as_binary::<i64>()),
        DataType::BinaryView => of!(values.as_binary_view()),
        DataType::FixedSizeBinary(_) => of!(values.as_fixed_size_binary()),
        _ => None,
    )
}
