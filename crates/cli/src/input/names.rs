//! The message for a record that lacks a field, with the fields that it has.

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// The most characters of names in a message.
const SHOWN: usize = 200;

/// The message for a record that lacks a field: the fields it has, and the option for another name.
pub(super) fn no_field(name: &str, option: &str, line: &[u8]) -> String {
    let names = serde_json::from_slice::<Names>(line).map(|names| names.0).unwrap_or_default();
    if names.is_empty() {
        format!("no field `{name}`; the record is empty")
    } else {
        format!(
            "no field `{name}`, but {}; name another with {option}",
            shortened(names.iter().map(String::as_str))
        )
    }
}

/// Names in a message, in backticks, shortened if they are long.
pub(super) fn shortened<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match all.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &all[..end]),
        None => all,
    }
}

/// The names of the fields of an object.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        parser.deserialize_map(NamesVisitor)
    }
}
