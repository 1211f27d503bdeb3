//! Weighted sets: tokens with a weight each, and the text in which an index stores them.

use super::shingle::Shingler;
use super::units::{ELEMENT_END, excerpt};
use crate::error::{Error, Result};

/// A weighted set: tokens, each with a finite weight above 0.
///
/// The similarity of two weighted sets is the sum of the lesser weights over the sum of the greater
/// weights, token by token. A token that a set lacks has weight 0 there. Doubling all weights of a
/// set gives a set of similarity 1/2 to it.
///
/// ```
/// use twindex::{Index, Weights};
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("tags.twx");
/// let index = Index::options().weighted(true).threshold(0.5).create(&path)?;
/// let weights = Weights::new([("sea", 2.5), ("ship", 0.5), ("shore", 0.0)])?;
/// let mut txn = index.begin_write()?;
/// txn.insert("a", &weights)?;
/// txn.commit()?;
/// let found = index.snapshot()?.query().by_content(&weights)?;
/// assert_eq!(found.first().map(|m| m.similarity), Some(1.0));
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(Vec<(String, f64)>);

impl Weights {
    /// Returns the weighted set of these tokens, which may be in any order. A token of weight 0 is
    /// left out.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidWeight`] for a weight that is negative, infinite or NaN, and for a token
    /// that occurs twice; [`Error::InvalidToken`] for a token that holds the character U+001F.
    pub fn new<T: Into<String>>(weights: impl IntoIterator<Item = (T, f64)>) -> Result<Self> {
        let invalid = |token: &str, weight: f64, expected| Error::InvalidWeight {
            token: excerpt(token),
            got: weight.to_string(),
            expected,
        };
        let checked = weights.into_iter().map(|(token, weight)| {
            let token = token.into();
            if !weight.is_finite() || weight < 0.0 {
                return Err(invalid(&token, weight, "a finite number from 0 on"));
            }
            if token.contains(ELEMENT_END) {
                return Err(Error::InvalidToken { token: excerpt(&token) });
            }
            Ok((token, weight))
        });
        // If the weights come from a vector, they are collected in place.
        let mut all: Vec<(String, f64)> = checked.collect::<Result<_>>()?;
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let second = all.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| &pair[1]);
        if let Some((token, weight)) = second {
            let expected = "one weight for each token, and this is its second";
            return Err(invalid(token, *weight, expected));
        }
        all.retain(|(_, weight)| *weight > 0.0);
        Ok(Self(all))
    }

    /// Returns the text form of the set, which [`from_export`](Self::from_export) reads. Equal sets
    /// have equal texts. The text of the empty set is empty.
    ///
    /// The text lists the tokens in byte order. Each is followed by U+001F, its weight in decimal,
    /// and U+001F. A weight has the fewest digits that identify it, and an exponent (`1e-7`) if it
    /// is below 0.00001 or at least 10¹⁶.
    ///
    /// ```
    /// let weights = twindex::Weights::new([("b", 3.0), ("a", 0.5)])?;
    /// assert_eq!(weights.to_export(), "a\u{1f}0.5\u{1f}b\u{1f}3\u{1f}");
    /// assert_eq!(twindex::Weights::from_export(&weights.to_export())?, weights);
    /// # Ok::<(), twindex::Error>(())
    /// ```
    pub fn to_export(&self) -> String {
        self.to_stored()
    }

    /// Reads the text that [`to_export`](Self::to_export) writes.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] for a text that is not of this form.
    pub fn from_export(text: &str) -> Result<Self> {
        Self::from_stored(text)
    }

    /// The text that an index stores. Its hash identifies equal sets.
    pub(crate) fn to_stored(&self) -> String {
        let mut text = String::new();
        for (token, weight) in &self.0 {
            let number = if (1e-5..1e16).contains(weight) {
                weight.to_string()
            } else {
                format!("{weight:e}")
            };
            for part in [token, &number] {
                text.push_str(part);
                text.push(ELEMENT_END);
            }
        }
        text
    }

    /// Reads a stored text.
    pub(crate) fn from_stored(text: &str) -> Result<Self> {
        let weights =
            tokens(text).map(|pair| pair.map(|(token, weight)| (token.to_owned(), weight)));
        weights.collect::<Result<_>>().map(Self)
    }

    /// Returns the tokens with their weights, in byte order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(token, weight)| (token.as_str(), *weight))
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set has no token.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads the tokens and weights of a stored text. Tokens must ascend strictly: otherwise the text
/// was not written by this module, and a repeated token would count twice.
fn tokens(text: &str) -> impl Iterator<Item = Result<(&str, f64)>> {
    // Text after the last ELEMENT_END is a token without a weight, even if it is a number.
    let ends = text.rfind(ELEMENT_END).map_or(0, |at| at + ELEMENT_END.len_utf8());
    let (text, rest) = text.split_at(ends);
    let mut parts = text.split_terminator(ELEMENT_END);
    let mut before: Option<&str> = None;
    let weights = std::iter::from_fn(move || {
        let token = parts.next()?;
        let number = parts.next().and_then(|number| number.parse::<f64>().ok());
        let weight = number.filter(|weight| weight.is_finite() && *weight > 0.0);
        let ascends = before.is_none_or(|before| before < token);
        before = Some(token);
        Some(weight.filter(|_| ascends).map(|weight| (token, weight)).ok_or(Error::NotWeights))
    });
    weights.chain((!rest.is_empty()).then_some(Err(Error::NotWeights)))
}

impl Shingler {
    /// Returns the hashes of the tokens of a weighted set with their weights, in ascending order of
    /// the hashes. [`weighted_jaccard`](crate::weighted_jaccard) and
    /// [`Sketcher::signature_of_weights`](crate::Sketcher::signature_of_weights) take this form.
    ///
    /// Each token is normalised under the shingler's settings. Weights of tokens that are then
    /// equal are added, and a token that normalisation makes empty is dropped. Takes 16 bytes a
    /// token.
    pub fn weights(&self, weights: &Weights) -> Vec<(u64, f64)> {
        let mut hashed = Hashed::new(self);
        weights.iter().for_each(|(token, weight)| hashed.push(token, weight));
        hashed.finish()
    }

    /// Like [`weights`](Self::weights), for a set that is given by its stored text.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] for a text that is not that of a weighted set.
    pub(crate) fn stored_weights(&self, text: &str) -> Result<Vec<(u64, f64)>> {
        let mut hashed = Hashed::new(self);
        for pair in tokens(text) {
            let (token, weight) = pair?;
            hashed.push(token, weight);
        }
        Ok(hashed.finish())
    }
}

/// Collects the hashes of tokens with their weights.
struct Hashed<'s> {
    shingler: &'s Shingler,
    weights: Vec<(u64, f64)>,
    normalised: String,
}

impl<'s> Hashed<'s> {
    fn new(shingler: &'s Shingler) -> Self {
        Self { shingler, weights: Vec::new(), normalised: String::new() }
    }

    fn push(&mut self, token: &str, weight: f64) {
        self.shingler.normalize(token, &mut self.normalised);
        if token.is_empty() || !self.normalised.is_empty() {
            self.weights.push((self.shingler.hash(self.normalised.as_bytes()), weight));
        }
    }

    fn finish(mut self) -> Vec<(u64, f64)> {
        add_equal(&mut self.weights);
        self.weights
    }
}

/// Sorts weights by hash and adds the weights of equal hashes.
pub(crate) fn add_equal(weights: &mut Vec<(u64, f64)>) {
    // Sorting equal hashes by weight makes the order of addition, and so the rounding, independent
    // of the input order.
    weights.sort_unstable_by_key(|&(hash, weight)| (hash, weight.to_bits()));
    weights.dedup_by(|next, first| {
        let equal = next.0 == first.0;
        if equal {
            first.1 = (first.1 + next.1).min(f64::MAX);
        }
        equal
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Shingle;
    use proptest::prelude::*;

    fn shingler(normalization: &str) -> Shingler {
        let normalization = normalization.parse().expect("a normalisation");
        Shingler::new(Shingle::Tokens, normalization, false, 0).expect("valid")
    }

    #[test]
    fn the_text_of_a_set_does_not_depend_on_order_or_tokens_of_weight_0() {
        let text = "a\u{1f}0.1\u{1f}b c\u{1f}1000000\u{1f}z\u{1f}1e-7\u{1f}";
        for tokens in [
            [("a", 0.1), ("b c", 1e6), ("z", 1e-7), ("none", 0.0)],
            [("none", -0.0), ("z", 0.000_000_1), ("b c", 1_000_000.0), ("a", 0.1)],
        ] {
            assert_eq!(Weights::new(tokens).expect("valid").to_stored(), text);
        }
        assert_eq!(Weights::default().to_stored(), "");
    }

    #[test]
    fn invalid_weights_are_refused_by_an_error_that_names_the_token() {
        for bad in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = Weights::new([("good", 1.0), ("bad", bad)]).expect_err("not a weight");
            assert!(error.to_string().contains("\"bad\""), "{error}");
        }
        for tokens in
            [[("a", 1.0), ("a", 1.0)], [("a", 0.0), ("a", 2.0)], [("a", 1.0), ("\u{1f}", 1.0)]]
        {
            assert!(Weights::new(tokens).is_err(), "{tokens:?}");
        }
    }

    #[test]
    fn a_text_that_is_no_weighted_set_is_refused() {
        for text in [
            "a",
            "a b",
            "a\u{1f}",
            "a\u{1f}1",
            "a\u{1f}x\u{1f}",
            "a\u{1f}0\u{1f}",
            "a\u{1f}-1\u{1f}",
            "a\u{1f}inf\u{1f}",
            "a\u{1f}NaN\u{1f}",
            "a\u{1f}1e999\u{1f}",
            "a\u{1f}1\u{1f}b",
            "b\u{1f}1\u{1f}a\u{1f}1\u{1f}",
            "a\u{1f}1\u{1f}a\u{1f}1\u{1f}",
            "a\u{1f}1\u{1f}\u{1f}1\u{1f}",
        ] {
            assert!(Weights::from_stored(text).is_err(), "{text:?}");
            assert!(shingler("none").stored_weights(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn weights_of_tokens_that_normalisation_makes_equal_are_added() {
        let weights = Weights::new([("Sea", 1.0), ("sea", 0.25), ("  ", 9.0), ("", 2.0)]);
        let set = weights.expect("valid");
        let weights = shingler("lower,space").weights(&set);
        let mut expected = [("sea", 1.25), ("", 2.0)]
            .map(|(token, weight)| (shingler("none").hash(token.as_bytes()), weight));
        expected.sort_unstable_by_key(|pair| pair.0);
        assert_eq!(weights, expected);
        assert_eq!(shingler("none").weights(&set).len(), 4);
        let huge = Weights::new([("A", f64::MAX), ("a", f64::MAX)]).expect("valid");
        assert_eq!(shingler("lower").weights(&huge)[0].1, f64::MAX);
    }

    proptest! {
        #[test]
        fn a_stored_text_reads_back_as_its_set(
            tokens in proptest::collection::btree_map(
                "[^\u{1f}]*", proptest::num::f64::POSITIVE, 0..8,
            ),
        ) {
            let weights = Weights::new(tokens.clone()).expect("valid");
            prop_assert_eq!(&weights.0, &tokens.into_iter().collect::<Vec<_>>());
            let text = weights.to_stored();
            let shingler = shingler("lower,space");
            let stored = shingler.stored_weights(&text).expect("its own");
            prop_assert_eq!(stored, shingler.weights(&weights));
            prop_assert_eq!(Weights::from_stored(&text).expect("its own"), weights);
        }
    }
}
