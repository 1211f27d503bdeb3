//! The content of a document as a caller gives it: a text, a set of tokens or a weighted set.

use super::tokens::Tokens;
use super::weights::Weights;
use crate::hash::TextHash;
use std::borrow::Cow;

/// The content of a document as a caller gives it: a text, a set of tokens or a weighted set.
///
/// Methods that take a document's content accept `&str`, `&String`, [`&Tokens`](Tokens) and
/// [`&Weights`](Weights) directly. Which content is accepted depends on the index or sketcher:
///
/// - One of weighted sets accepts only weights. Anything else is
///   [`Error::NotWeights`](crate::Error::NotWeights).
/// - Every other one refuses weights with
///   [`Error::UnexpectedWeights`](crate::Error::UnexpectedWeights).
/// - A set of tokens needs the shingle [`token`](crate::Shingle::Tokens). With any other shingle it
///   is [`Error::UnexpectedTokens`](crate::Error::UnexpectedTokens).
///
/// ```
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let path = folder.path().join("cities.twx");
/// use twindex::{Index, Shingle, Tokens};
/// let index = Index::options().shingle(Shingle::Tokens).create(path)?;
/// let mut txn = index.begin_write()?;
/// txn.insert("a", "Rome Paris Oslo")?;
/// txn.insert("b", &Tokens::new(["New York", "Rome", "Oslo"])?)?;
/// txn.commit()?;
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'a> {
    /// A text, which the index normalises and cuts into shingles.
    Text(&'a str),
    /// A set of tokens, which is not cut further.
    Tokens(&'a Tokens),
    /// A weighted set.
    Weights(&'a Weights),
}

impl<'a> Content<'a> {
    /// Returns the hash by which an index recognises equal content: BLAKE3, the same
    /// as [`Document::text_hash`](crate::Document::text_hash).
    pub fn text_hash(self) -> TextHash {
        TextHash::of(self.stored().as_bytes())
    }

    /// Whether this is the hash of the content, of either kind.
    pub fn has_hash(self, hash: TextHash) -> bool {
        hash.is_of(self.stored().as_bytes())
    }

    /// The text that an index stores (`docs/format.md`, "Texts").
    pub(crate) fn stored(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Tokens(tokens) => Cow::Borrowed(tokens.as_stored()),
            Self::Weights(weights) => Cow::Owned(weights.to_stored()),
        }
    }
}

impl<'a> From<&'a str> for Content<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a &str> for Content<'a> {
    fn from(text: &'a &str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a &String> for Content<'a> {
    fn from(text: &'a &String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Content<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Tokens> for Content<'a> {
    fn from(tokens: &'a Tokens) -> Self {
        Self::Tokens(tokens)
    }
}

impl<'a> From<&'a Weights> for Content<'a> {
    fn from(weights: &'a Weights) -> Self {
        Self::Weights(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_distinguishes_contents_and_determines_the_hash() {
        let tokens = Tokens::new(["a b", "c"]).expect("tokens");
        let weights = Weights::new([("a", 0.5)]).expect("weights");
        for (content, stored) in [
            (Content::from("a text"), "a text"),
            (Content::from(&tokens), "a b\u{1f}c\u{1f}"),
            (Content::from(&weights), "a\u{1f}0.5\u{1f}"),
        ] {
            assert_eq!(content.stored(), stored);
            let hash = TextHash::of(stored.as_bytes());
            assert!(content.text_hash() == hash && content.has_hash(hash));
            assert!(content.has_hash(TextHash::Xxh3(crate::hash::xxh3(stored.as_bytes()))));
            assert!(!content.has_hash(TextHash::of(b"other")));
        }
    }
}
