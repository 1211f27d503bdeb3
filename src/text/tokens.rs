//! Sets of tokens, and the text in which an index stores them.

use super::units::{ELEMENT_END, excerpt};
use crate::error::{Error, Result};

/// A set of tokens, for an index or sketcher whose shingle is [`token`](crate::Shingle::Tokens).
///
/// A token may be empty or hold white space, unlike the tokens that are cut from a text. The order
/// of the tokens does not affect similarity. Repetitions count only in an index of multisets.
///
/// Tokens are not normalised by default. If no token of a set is empty or holds white space, they
/// are normalised as one text: [`Drop`](crate::Whitespace::Drop) then makes one token of them all,
/// [`min_word`](crate::Normalization::min_word) cuts them at signs, and
/// [`Nfkc`](crate::Form::Nfkc) at the white space that it makes of some characters. Otherwise each
/// is normalised by itself.
///
/// ```
/// use twindex::{Normalization, Shingle, Shingler, Sketcher, Tokens};
/// let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0)?;
/// let sketcher = Sketcher::new(shingler, 256, 0)?;
/// let (a, b) = (Tokens::new(["New York", "Rome"])?, Tokens::new(["Rome", "New York"])?);
/// assert_eq!(sketcher.signature(&a)?, sketcher.signature(&b)?);
/// assert_ne!(sketcher.signature(&a)?, sketcher.signature("New York Rome")?);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tokens(String);

impl Tokens {
    /// Returns a set of these tokens, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidToken`] for a token that holds the character U+001F.
    pub fn new<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Result<Self> {
        // Each token is followed by ELEMENT_END.
        let mut text = String::new();
        // Whether spaces can separate the tokens.
        let mut spaces = true;
        for token in tokens {
            let token = token.as_ref();
            if token.contains(ELEMENT_END) {
                return Err(Error::InvalidToken { token: excerpt(token) });
            }
            spaces &= !token.is_empty() && !token.contains(char::is_whitespace);
            text.push_str(token);
            text.push(ELEMENT_END);
        }
        if spaces {
            text.pop();
            text = text.replace(ELEMENT_END, " ");
        }
        Ok(Self(text))
    }

    /// The text that the shingle `token` cuts into the tokens of this set. The tokens are joined by
    /// spaces if no token is empty or holds white space; otherwise each is followed by U+001F.
    pub(crate) fn as_stored(&self) -> &str {
        &self.0
    }

    /// Returns the tokens in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let ended = self.0.contains(ELEMENT_END);
        let spaced = if ended || self.0.is_empty() { None } else { Some(self.0.split(' ')) };
        let ended = ended.then(|| self.0.split_terminator(ELEMENT_END));
        spaced.into_iter().flatten().chain(ended.into_iter().flatten())
    }

    /// Returns whether the set has no token.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_joined_by_spaces_unless_one_is_empty_or_holds_white_space() {
        for (tokens, text) in [
            (&["a", "b"][..], "a b"),
            (&[], ""),
            (&["a"], "a"),
            (&[""], "\u{1f}"),
            (&["a b", "c"], "a b\u{1f}c\u{1f}"),
            (&["a", "", "\u{a0}"], "a\u{1f}\u{1f}\u{a0}\u{1f}"),
        ] {
            let set = Tokens::new(tokens).expect("no U+001F");
            assert_eq!(set.as_stored(), text, "{tokens:?}");
            assert_eq!(set.iter().collect::<Vec<_>>(), tokens);
            assert_eq!(set.is_empty(), tokens.is_empty());
        }
        let refused = Tokens::new(["fine", "a\u{1f}"]).expect_err("U+001F");
        assert!(refused.to_string().contains("\"a\\u{1f}\""), "{refused}");
    }
}
