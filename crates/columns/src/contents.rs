//! Columns of documents: texts, sets of tokens, and weighted sets.

use crate::texts::{NoText, TextColumn};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use std::fmt::{self, Display};
use std::ops::Range;
use twindex::{Content, Tokens, Weights};

/// The type of a column that holds no documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoContent(pub DataType);

impl Display for NoContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "is of type {}: expected strings, or lists of strings (tokens), or maps of strings to \
             numbers (weights)",
            self.0
        )
    }
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq)]
pub enum RowContent<'c> {
    Text(&'c str),
    Tokens(Tokens),
    Weights(Weights),
}

impl RowContent<'_> {
    /// The content as the library takes it.
    pub fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(text),
            Self::Tokens(tokens) => Content::Tokens(tokens),
            Self::Weights(weights) => Content::Weights(weights),
        }
    }
}

/// A column of documents.
pub enum ContentColumn {
    Texts(TextColumn),
    /// Lists of tokens.
    Sets(Lists, TextColumn),
    /// Maps of tokens to weights.
    Weights(Lists, TextColumn, Vec<Option<f64>>),
}

impl ContentColumn {
    pub fn new(array: &ArrayRef) -> Result<Self, NoContent> {
        let no_content = || NoContent(array.data_type().clone());
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let lists = Lists::new(list.offsets(), list.nulls());
                let tokens =
                    TextColumn::new(&lists.own(list.values())).map_err(|_| no_content())?;
                Ok(Self::Sets(lists, tokens))
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let lists = Lists::new(list.offsets(), list.nulls());
                let tokens =
                    TextColumn::new(&lists.own(list.values())).map_err(|_| no_content())?;
                Ok(Self::Sets(lists, tokens))
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let lists = Lists::new(map.offsets(), map.nulls());
                let tokens = TextColumn::new(&lists.own(map.keys())).map_err(|_| no_content())?;
                let weights = numbers(&lists.own(map.values())).ok_or_else(no_content)?;
                Ok(Self::Weights(lists, tokens, weights))
            }
            _ => TextColumn::new(array).map(Self::Texts).map_err(|NoText(kind)| NoContent(kind)),
        }
    }

    /// What a row holds; `None` if it is null. An error says what the row is.
    pub fn get(&self, row: usize) -> Result<Option<RowContent<'_>>, String> {
        match self {
            Self::Texts(texts) => Ok(texts.get(row)?.map(RowContent::Text)),
            Self::Sets(lists, tokens) => {
                let Some(places) = lists.get(row) else { return Ok(None) };
                let token = |place| tokens.get(place)?.ok_or("a list with a token that is null");
                let tokens = places.map(token).collect::<Result<Vec<_>, _>>()?;
                let tokens = Tokens::new(tokens)
                    .map_err(|error| format!("a list that cannot be taken: {error}"))?;
                Ok(Some(RowContent::Tokens(tokens)))
            }
            Self::Weights(lists, tokens, weights) => {
                let Some(places) = lists.get(row) else { return Ok(None) };
                let entry = |place| {
                    let token = tokens.get(place)?.ok_or("a map with a token that is null")?;
                    let weight = weights.get(place).copied().flatten();
                    Ok((token, weight.ok_or("a map with a weight that is null")?))
                };
                let entries = places.map(entry).collect::<Result<Vec<_>, &str>>()?;
                let weights = Weights::new(entries)
                    .map_err(|error| format!("a map that cannot be taken: {error}"))?;
                Ok(Some(RowContent::Weights(weights)))
            }
        }
    }

    /// The bytes of the text or of the tokens of a row.
    pub fn bytes(&self, row: usize) -> usize {
        match self {
            Self::Texts(texts) => texts.bytes(row).map_or(0, <[u8]>::len),
            Self::Sets(lists, tokens) | Self::Weights(lists, tokens, _) => {
                let places = lists.get(row).unwrap_or_default();
                places.map(|place| tokens.bytes(place).map_or(0, <[u8]>::len)).sum()
            }
        }
    }
}

/// Where the values of each row are.
pub struct Lists {
    /// The first value of all rows. A slice of an array has the values of the whole array.
    first: usize,
    /// The end of each row's values from there on, after the begin of the first one's, 0.
    ends: Vec<usize>,
    nulls: Option<NullBuffer>,
}

impl Lists {
    fn new<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, nulls: Option<&NullBuffer>) -> Self {
        let first = offsets.first().as_usize();
        let ends = offsets.iter().map(|end| end.as_usize() - first).collect();
        Self { first, ends, nulls: nulls.cloned() }
    }

    /// The values of these rows, of those of the whole array.
    fn own(&self, values: &ArrayRef) -> ArrayRef {
        values.slice(self.first, self.ends.last().copied().unwrap_or_default())
    }

    fn get(&self, row: usize) -> Option<Range<usize>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        Some(*self.ends.get(row)?..*self.ends.get(row + 1)?)
    }
}

/// The values of a column of numbers.
fn numbers(array: &ArrayRef) -> Option<Vec<Option<f64>>> {
    Some(match array.data_type() {
        DataType::Float64 => as_f64::<Float64Type>(array, |number| number),
        DataType::Float32 => as_f64::<Float32Type>(array, f64::from),
        DataType::Int8 => as_f64::<Int8Type>(array, f64::from),
        DataType::Int16 => as_f64::<Int16Type>(array, f64::from),
        DataType::Int32 => as_f64::<Int32Type>(array, f64::from),
        DataType::Int64 => as_f64::<Int64Type>(array, |number| number as f64),
        DataType::UInt8 => as_f64::<UInt8Type>(array, f64::from),
        DataType::UInt16 => as_f64::<UInt16Type>(array, f64::from),
        DataType::UInt32 => as_f64::<UInt32Type>(array, f64::from),
        DataType::UInt64 => as_f64::<UInt64Type>(array, |number| number as f64),
        _ => return None,
    })
}

fn as_f64<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(T::Native) -> f64,
) -> Vec<Option<f64>> {
    array.as_primitive::<T>().iter().map(|number| number.map(&convert)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use arrow_array::builder::{
        Float64Builder, LargeListBuilder, ListBuilder, MapBuilder, StringBuilder,
    };
    use std::sync::Arc;

    fn tokens(tokens: &[&str]) -> Option<RowContent<'static>> {
        Some(RowContent::Tokens(Tokens::new(tokens).expect("tokens")))
    }

    #[test]
    fn lists_of_strings_are_sets_of_tokens() {
        let mut small = ListBuilder::new(StringBuilder::new());
        let mut large = LargeListBuilder::new(StringBuilder::new());
        for row in [Some(vec![Some("skipped")]), Some(vec![Some("a b"), Some("c")]), Some(vec![])] {
            small.append_option(row.clone());
            large.append_option(row);
        }
        small.append_null();
        large.append_null();
        small.append_value([Some("a"), None]);
        large.append_value([Some("a"), None]);
        let arrays: [ArrayRef; 2] = [Arc::new(small.finish()), Arc::new(large.finish())];
        for array in arrays {
            let column = ContentColumn::new(&array.slice(1, 4)).expect("lists of strings");
            assert_eq!(column.get(0), Ok(tokens(&["a b", "c"])));
            assert_eq!(column.bytes(0), 4);
            assert_eq!(column.get(1), Ok(tokens(&[])));
            assert_eq!(column.get(2), Ok(None));
            assert_eq!(column.get(3), Err("a list with a token that is null".to_owned()));
        }
    }

    #[test]
    fn maps_of_numbers_are_weights() {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
        maps.keys().append_value("a");
        maps.values().append_value(2.5);
        maps.append(true).expect("a value for each key");
        maps.append(false).expect("no entries");
        maps.keys().append_value("b");
        maps.values().append_value(-1.0);
        maps.append(true).expect("a value for each key");
        let column = ContentColumn::new(&(Arc::new(maps.finish()) as ArrayRef));
        let column = column.expect("maps of numbers");
        let weights = Weights::new([("a", 2.5)]).expect("weights");
        assert_eq!(column.get(0), Ok(Some(RowContent::Weights(weights))));
        assert_eq!(column.get(1), Ok(None));
        assert!(column.get(2).is_err_and(|error| error.contains("-1")));
    }

    #[test]
    fn other_types_are_no_documents() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a text"]));
        let column = ContentColumn::new(&texts).expect("texts");
        assert_eq!(column.get(0), Ok(Some(RowContent::Text("a text"))));
        let mut numbers = ListBuilder::new(Float64Builder::new());
        numbers.append_value([Some(1.0)]);
        let numbers: ArrayRef = Arc::new(numbers.finish());
        let kind = numbers.data_type().clone();
        assert_eq!(ContentColumn::new(&numbers).err(), Some(NoContent(kind)));
    }
}
