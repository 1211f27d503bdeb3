//! Which of similar records is the better one: the rules of `--keep`.

use crate::input::{Body, Record};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, fmt::temporal::DateTimeParser};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A rule that says which of similar records is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preference {
    /// The first one.
    First,
    /// The one with the most bytes of text.
    Longest,
    /// The one with the smallest id, byte by byte.
    Id,
    /// The one with the greatest number or the latest date in this field.
    Greatest(String),
    /// The one with the least number or the earliest date in this field.
    Least(String),
    /// One of the earliest of these sources.
    Sources(Vec<String>),
}

/// How much a record is preferred: the least rank most.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Whether the record lacks what the rule goes by. Such a record comes after all others.
    pub is_unknown: bool,
    value: u64,
    id: String,
}

impl Preference {
    /// Whether records are judged in another order than they come in.
    pub fn is_ordered(&self) -> bool {
        *self != Self::First
    }

    /// Whether a field of each record decides, which is its source if `group_field` names one.
    pub fn reads_fields(&self, group_field: Option<&str>) -> bool {
        match self {
            Self::Greatest(_) | Self::Least(_) => true,
            Self::Sources(_) => group_field.is_some(),
            Self::First | Self::Longest | Self::Id => false,
        }
    }

    /// The rank of a record. `group_field` is the field that tells its source; without one, that is
    /// its file or a folder above.
    pub fn rank(&self, record: &Record<'_>, group_field: Option<&str>) -> Rank {
        let value = match self {
            Self::First | Self::Id => Some(0),
            Self::Longest => Some(u64::MAX - bytes(&record.body)),
            Self::Greatest(field) => number_in(record, field).map(|number| !in_order(number)),
            Self::Least(field) => number_in(record, field).map(in_order),
            Self::Sources(sources) => match group_field {
                Some(field) => record
                    .field(field)
                    .and_then(|of| sources.iter().position(|source| *source == of)),
                None => sources.iter().position(|source| is_from(source, &record.place)),
            }
            .map(|place| place as u64),
        };
        let id = record.name.id().filter(|_| *self == Self::Id).unwrap_or_default().to_owned();
        Rank { is_unknown: value.is_none(), value: value.unwrap_or_default(), id }
    }

    /// The rank of a document of which only the id is known, by its source.
    pub fn rank_of_id(&self, id: &str) -> Rank {
        let place = match self {
            Self::Sources(sources) => sources.iter().position(|source| is_from(source, id)),
            _ => None,
        };
        let value = place.unwrap_or_default() as u64;
        Rank { is_unknown: place.is_none(), value, id: String::new() }
    }

    /// What a record lacks if its rank is unknown.
    pub fn wanted(&self, group_field: Option<&str>) -> String {
        match (self, group_field) {
            (Self::Greatest(field) | Self::Least(field), _) => {
                format!("a number or date in `{field}`")
            }
            (Self::Sources(sources), Some(field)) => {
                format!("{} in `{field}`", sources.join(" or "))
            }
            (Self::Sources(sources), None) => {
                format!("a name that begins with {}", sources.join(" or "))
            }
            (Self::First | Self::Longest | Self::Id, _) => "an id".to_owned(),
        }
    }
}

impl FromStr for Preference {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = "expected first, longest, id, max:FIELD, min:FIELD or prefer:SOURCE,...";
        let (rule, of) = text.split_once(':').map_or((text, None), |(rule, of)| (rule, Some(of)));
        match (rule, of.filter(|of| !of.is_empty())) {
            ("first", None) if of.is_none() => Ok(Self::First),
            ("longest", None) if of.is_none() => Ok(Self::Longest),
            ("id", None) if of.is_none() => Ok(Self::Id),
            ("max", Some(field)) => Ok(Self::Greatest(field.to_owned())),
            ("min", Some(field)) => Ok(Self::Least(field.to_owned())),
            ("prefer", Some(sources)) => {
                let sources: Vec<_> = sources.split(',').map(str::to_owned).collect();
                if sources.iter().any(String::is_empty) {
                    Err(fault)
                } else {
                    Ok(Self::Sources(sources))
                }
            }
            _ => Err(fault),
        }
    }
}

/// As the option is written.
impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("first"),
            Self::Longest => f.write_str("longest"),
            Self::Id => f.write_str("id"),
            Self::Greatest(field) => write!(f, "max:{field}"),
            Self::Least(field) => write!(f, "min:{field}"),
            Self::Sources(sources) => write!(f, "prefer:{}", sources.join(",")),
        }
    }
}

/// The bytes of a text or of the elements of a set.
fn bytes(body: &Body<'_>) -> u64 {
    match body {
        Body::Set(tokens) => tokens.iter().map(|token| token.len() as u64).sum(),
        Body::Text(_) | Body::Weights(_) => body.text().map_or(0, |text| text.len() as u64),
    }
}

/// The number or date in a field of a record.
fn number_in(record: &Record<'_>, field: &str) -> Option<f64> {
    number(record.field(field)?.trim())
}

/// A number, or a date as seconds since 1970: one of ISO 8601, in UTC unless it says otherwise.
fn number(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| number.is_finite());
    }
    static PARSER: DateTimeParser = DateTimeParser::new();
    let stated = PARSER.parse_timestamp(text).ok();
    let in_utc = || -> Option<Timestamp> {
        let date: DateTime = PARSER.parse_datetime(text).ok()?;
        TimeZone::UTC.to_timestamp(date).ok()
    };
    Some(stated.or_else(in_utc)?.as_nanosecond() as f64 / 1e9)
}

/// Bits that are ordered as the numbers are. Both zeros are one number.
fn in_order(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Whether a record of this place, or a document of this id, is of a file or folder.
fn is_from(source: &str, place: &str) -> bool {
    let plain = |path: &str| path.strip_prefix("./").unwrap_or(path).to_owned();
    let (source, place) = (plain(source), plain(place));
    let rest = place.strip_prefix(source.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written() {
        for rule in ["first", "longest", "id", "max:score", "min:a:b", "prefer:wiki,books/x"] {
            assert_eq!(rule.parse::<Preference>().map(|rule| rule.to_string()), Ok(rule.into()));
        }
        for bad in ["", "First", "max", "max:", "longest:", "prefer:", "prefer:a,,b", "sum:x"] {
            assert!(bad.parse::<Preference>().is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_and_dates_are_in_order() {
        let ascending = [
            "-1e9",
            "-2",
            "0",
            "0.5",
            "3",
            "1999-12-31",
            "2024-05-01",
            "2024-05-01T01:00:00+02:00",
            "2024-05-01T00:00:00.5",
            "2024-05-01 10:00:00",
            "2024-05-01T10:00:01Z",
        ];
        let mut numbers: Vec<u64> =
            ascending.iter().map(|text| in_order(number(text).expect(text))).collect();
        // One hour past midnight in a zone two hours ahead is before midnight.
        numbers.swap(6, 7);
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert_eq!(in_order(-0.0), in_order(0.0));
        for no in ["", "high", "nan", "inf", "2024-13-01", "1,5"] {
            assert_eq!(number(no), None, "{no}");
        }
    }

    #[test]
    fn a_source_is_a_file_or_a_folder_above() {
        for (source, place) in [
            ("wiki", "wiki/a.txt"),
            ("wiki/", "./wiki/b/c.jsonl:7"),
            ("./a.jsonl", "a.jsonl:1"),
            ("a.jsonl", "a.jsonl"),
        ] {
            assert!(is_from(source, place), "{source} {place}");
        }
        for (source, place) in [("wiki", "wikipedia/a"), ("a", "b/a"), ("wiki/b", "wiki")] {
            assert!(!is_from(source, place), "{source} {place}");
        }
    }
}
