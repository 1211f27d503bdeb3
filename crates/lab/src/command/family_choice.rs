//! The value of `--family`: one family of hash functions, or all of them.

use crate::sketch::Family;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// One family of hash functions, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FamilyChoice {
    One(Family),
    All,
}

/// Every family, in the order of [`Family::ALL`], then all of them together.
const CHOICES: [FamilyChoice; Family::ALL.len() + 1] = {
    let mut choices = [FamilyChoice::All; Family::ALL.len() + 1];
    let mut at = 0;
    while at < Family::ALL.len() {
        choices[at] = FamilyChoice::One(Family::ALL[at]);
        at += 1;
    }
    choices
};

impl FamilyChoice {
    /// The families that are chosen.
    pub(super) fn families(self) -> Vec<Family> {
        match self {
            Self::One(family) => vec![family],
            Self::All => Family::ALL.to_vec(),
        }
    }
}

impl ValueEnum for FamilyChoice {
    fn value_variants<'a>() -> &'a [Self] {
        &CHOICES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::One(family) => PossibleValue::new(family.name()).help(family.summary()),
            Self::All => PossibleValue::new("all").help("All of these, one line each"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_can_be_chosen_by_its_name() {
        for family in Family::ALL {
            let choice = FamilyChoice::from_str(family.name(), false).expect("a family");
            assert_eq!((choice, choice.families()), (FamilyChoice::One(family), vec![family]));
        }
        let all = FamilyChoice::from_str("all", false).expect("all families");
        assert_eq!(all.families(), Family::ALL);
        assert!(FamilyChoice::from_str("md5", false).is_err());
    }
}
