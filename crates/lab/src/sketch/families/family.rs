//! The trait of hash functions, and the names of the families.

use super::Independence;
use std::fmt;
use std::str::FromStr;
use twindex::{Error, Result};

/// A function from 64-bit keys to 64-bit values, drawn at random from its family.
///
/// MinHash uses the order of the values as a random order of the keys. A family is unbiased if
/// every key of a set has the least value equally often (Broder, Charikar, Frieze, Mitzenmacher
/// 1998, "Min-wise independent permutations"). Values may use fewer than 64 bits; two keys with the
/// same value count as one element.
///
/// ```
/// use twindex_lab::methods::{HashFunction, Xxh3};
/// let (f, g) = (Xxh3::new(1), Xxh3::new(2));
/// assert_eq!(f.hash(7), Xxh3::new(1).hash(7));
/// assert_ne!(f.hash(7), g.hash(7));
/// ```
pub trait HashFunction {
    /// The value of a key.
    fn hash(&self, key: u64) -> u64;
}

/// A family of hash functions, with the name that the command accepts.
///
/// ```
/// use twindex_lab::methods::Family;
/// let family: Family = "murmur3".parse()?;
/// assert_eq!(family, Family::Murmur3);
/// assert_eq!("polynomial:3".parse::<Family>()?.to_string(), "polynomial:3");
/// assert_eq!(Family::ALL.len(), 8);
/// assert_eq!(Family::default().to_string(), "default");
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// (a x + b) mod 2^61 - 1: [`Modular`](super::Modular).
    Modular,
    /// A random polynomial over the same field: [`Polynomial`](super::Polynomial).
    Polynomial(Independence),
    /// Jenkins' mix of 96 bits: [`Jenkins`](super::Jenkins).
    Jenkins,
    /// s x mod 2^64: [`Multiplicative`](super::Multiplicative).
    Multiplicative,
    /// MurmurHash3 of the key's bytes, 32 bits: [`Murmur3`](super::Murmur3).
    Murmur3,
    /// A table of random words for each byte of the key: [`Tabulation`](super::Tabulation).
    Tabulation,
    /// XXH3 of the key's bytes, 64 bits: [`Xxh3`](super::Xxh3).
    Xxh3,
    /// The sketch of an index, which fills all lanes in one pass over the keys.
    #[default]
    Default,
}

impl Family {
    /// All families, in the order of listings; polynomials with
    /// [`Independence::DEFAULT`].
    pub const ALL: [Family; 8] = [
        Family::Modular,
        Family::Polynomial(Independence::DEFAULT),
        Family::Jenkins,
        Family::Multiplicative,
        Family::Murmur3,
        Family::Tabulation,
        Family::Xxh3,
        Family::Default,
    ];

    /// The name, without the degree of polynomials.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Modular => "modular",
            Family::Polynomial(_) => "polynomial",
            Family::Jenkins => "jenkins",
            Family::Multiplicative => "multiplicative",
            Family::Murmur3 => "murmur3",
            Family::Tabulation => "tabulation",
            Family::Xxh3 => "xxh3",
            Family::Default => "default",
        }
    }

    /// A description of its functions in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Family::Modular => "(a x + b) mod 2^61 - 1",
            Family::Polynomial(_) => "A polynomial of degree K - 1 modulo 2^61 - 1, K from 2 to 64",
            Family::Jenkins => "Jenkins' mix of 96 bits",
            Family::Multiplicative => "s x mod 2^64",
            Family::Murmur3 => "MurmurHash3, 32 bits",
            Family::Tabulation => "A table of random words for each byte",
            Family::Xxh3 => "XXH3, 64 bits",
            Family::Default => "The sketch of an index",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Family::Polynomial(independence) => {
                f.pad(&format!("{}:{}", self.name(), independence.get()))
            }
            _ => f.pad(self.name()),
        }
    }
}

impl FromStr for Family {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if let Some(keys) = name.strip_prefix("polynomial:").and_then(|keys| keys.parse().ok()) {
            return Independence::new(keys).map(Family::Polynomial);
        }
        let plain = |family: &Family| family.to_string() == name;
        Family::ALL.into_iter().find(plain).ok_or_else(|| Error::InvalidSetting {
            setting: "hash family",
            got: name.to_owned(),
            expected: "modular, polynomial:K (K from 2 to 64), jenkins, multiplicative, murmur3, \
                       tabulation, xxh3 or default",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_errors_list_all_families() {
        for family in Family::ALL {
            assert_eq!(family.to_string().parse::<Family>().ok(), Some(family));
            let message = "md5".parse::<Family>().expect_err("no such family").to_string();
            assert!(message.contains("md5") && message.contains(family.name()), "{message}");
        }
    }

    #[test]
    fn the_degree_of_polynomials_is_part_of_the_name() {
        let seven: Family = "polynomial:7".parse().expect("valid");
        assert_eq!(seven, Family::Polynomial(Independence::new(7).expect("valid")));
        assert_eq!(seven.to_string(), "polynomial:7");
        for wrong in ["polynomial", "polynomial:1", "polynomial:65", "polynomial:", "polynomial:x"]
        {
            assert!(wrong.parse::<Family>().is_err(), "{wrong}");
        }
    }
}
