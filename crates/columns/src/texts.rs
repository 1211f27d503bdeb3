//! Columns of texts and of ids.
//!
//! Producers need not check that strings are UTF-8, so texts are read as bytes here.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray,
    PrimitiveArray,
};
use arrow_schema::DataType;
use std::borrow::Cow;
use std::fmt::{self, Display};

/// A value, or why it cannot be read.
pub type Value<T> = Result<T, &'static str>;

/// The type of a column that holds no texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoText(pub DataType);

impl Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is of type {}: expected string, large_string or string_view", self.0)
    }
}

/// The type of a column that holds no ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoId(pub DataType);

impl Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is of type {}: expected strings or whole numbers", self.0)
    }
}

/// A column of strings.
pub enum TextColumn {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
    /// The place of each row's value in the second column; `None` for a null.
    Dictionary(Vec<Option<usize>>, Box<TextColumn>),
    /// Nulls alone.
    Nulls,
}

impl TextColumn {
    pub fn new(array: &ArrayRef) -> Result<Self, NoText> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Small(array.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Self::Large(array.as_string::<i64>().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Null => Self::Nulls,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                Self::Dictionary(places(dictionary), Box::new(Self::new(dictionary.values())?))
            }
            other => return Err(NoText(other.clone())),
        })
    }

    /// The text of a row; `None` if it is null.
    pub fn get(&self, row: usize) -> Value<Option<&str>> {
        let text = self.bytes(row).map(std::str::from_utf8).transpose();
        text.map_err(|_| "not valid UTF-8, although the column is one of strings")
    }

    /// The text of a row before it is checked; `None` if it is null.
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Nulls => None,
            Self::Dictionary(places, values) => values.bytes(places.get(row).copied().flatten()?),
        }
    }
}

/// A column of ids: strings, or whole numbers, which become their decimal digits.
pub enum IdColumn {
    Text(TextColumn),
    Numbers(Vec<Option<String>>),
    /// The place of each row's value in the second column; `None` for a null.
    Dictionary(Vec<Option<usize>>, Box<IdColumn>),
}

impl IdColumn {
    pub fn new(array: &ArrayRef) -> Result<Self, NoId> {
        let numbers = match array.data_type() {
            DataType::Int8 => digits::<Int8Type>(array),
            DataType::Int16 => digits::<Int16Type>(array),
            DataType::Int32 => digits::<Int32Type>(array),
            DataType::Int64 => digits::<Int64Type>(array),
            DataType::UInt8 => digits::<UInt8Type>(array),
            DataType::UInt16 => digits::<UInt16Type>(array),
            DataType::UInt32 => digits::<UInt32Type>(array),
            DataType::UInt64 => digits::<UInt64Type>(array),
            DataType::Dictionary(_, values) if values.is_integer() => {
                let dictionary = array.as_any_dictionary();
                let (values, places) = (dictionary.values(), places(dictionary));
                // A slice of an array has the dictionary of the whole array.
                if values.len() > 2 * array.len() {
                    let one = |place: Option<usize>| match Self::new(&values.slice(place?, 1)) {
                        Ok(Self::Numbers(digits)) => digits.into_iter().next().flatten(),
                        _ => None,
                    };
                    return Ok(Self::Numbers(places.into_iter().map(one).collect()));
                }
                return Ok(Self::Dictionary(places, Box::new(Self::new(values)?)));
            }
            _ => return TextColumn::new(array).map(Self::Text).map_err(|NoText(kind)| NoId(kind)),
        };
        Ok(Self::Numbers(numbers))
    }

    /// The id of a row; `None` if it is null.
    pub fn get(&self, row: usize) -> Value<Option<Cow<'_, str>>> {
        match self {
            Self::Text(column) => Ok(column.get(row)?.map(Cow::Borrowed)),
            Self::Numbers(digits) => {
                Ok(digits.get(row).and_then(|row| row.as_deref()).map(Cow::Borrowed))
            }
            Self::Dictionary(places, values) => match places.get(row).copied().flatten() {
                Some(place) => values.get(place),
                None => Ok(None),
            },
        }
    }
}

/// The place of each row's value in a dictionary.
fn places(dictionary: &dyn AnyDictionaryArray) -> Vec<Option<usize>> {
    let keys = dictionary.keys();
    if dictionary.values().is_empty() {
        return vec![None; keys.len()];
    }
    let places = dictionary.normalized_keys().into_iter().enumerate();
    places.map(|(row, place)| keys.is_valid(row).then_some(place)).collect()
}

fn digits<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<Option<String>>
where
    T::Native: Display,
{
    let numbers: &PrimitiveArray<T> = array.as_primitive();
    numbers.iter().map(|number| number.map(|number| number.to_string())).collect()
}
