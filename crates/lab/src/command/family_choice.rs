//! The value of `--family`: one family of hash functions, or all of them.

use crate::sketch::Family;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::ffi::OsStr;

/// One family of hash functions, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FamilyChoice {
    One(Family),
    All,
}

impl FamilyChoice {
    /// The families that are chosen.
    pub(super) fn families(self) -> Vec<Family> {
        match self {
            Self::One(family) => vec![family],
            Self::All => Family::ALL.to_vec(),
        }
    }
}

/// Reads a [`FamilyChoice`], and lists all of them in the help. A name may end in a number, so the
/// values are no plain list.
#[derive(Clone, Copy)]
pub(super) struct FamilyParser;

impl TypedValueParser for FamilyParser {
    type Value = FamilyChoice;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<FamilyChoice, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        if text == "all" {
            return Ok(FamilyChoice::All);
        }
        text.parse().map(FamilyChoice::One).map_err(|error| {
            let error = format!("invalid value '{text}' for '--family <NAME>': {error}\n");
            clap::Error::raw(ErrorKind::ValueValidation, error).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let name = |family: Family| match family {
            Family::Polynomial(_) => "polynomial:K",
            _ => family.name(),
        };
        let each = move |family: Family| PossibleValue::new(name(family)).help(family.summary());
        let all = PossibleValue::new("all").help("All of these, one line each; polynomial:4");
        Some(Box::new(Family::ALL.into_iter().map(each).chain([all])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FamilyChoice, clap::Error> {
        FamilyParser.parse_ref(&Command::new("test"), None, OsStr::new(text))
    }

    #[test]
    fn every_family_can_be_chosen_by_its_name() {
        let others = ["polynomial:2", "polynomial:64"].map(|name| name.parse().expect("valid"));
        for family in Family::ALL.into_iter().chain(others) {
            let choice = read(&family.to_string()).expect("a family");
            assert_eq!((choice, choice.families()), (FamilyChoice::One(family), vec![family]));
        }
        let all = read("all").expect("all families");
        assert_eq!(all.families(), Family::ALL);
        for wrong in ["md5", "polynomial", "polynomial:1"] {
            let error = read(wrong).expect_err("no such family").to_string();
            assert!(error.contains(wrong) && error.contains("from 2 to 64"), "{error}");
        }
    }

    #[test]
    fn the_help_names_every_family() {
        let values: Vec<_> = FamilyParser.possible_values().expect("values").collect();
        assert_eq!(values.len(), Family::ALL.len() + 1);
        let named = |family: Family| {
            values.iter().any(|one| one.get_name().split(':').next() == Some(family.name()))
        };
        assert!(Family::ALL.into_iter().all(named));
    }
}
