//! Folds ASCII: lower case and white space, many bytes at a time.

#[cfg(target_arch = "x86_64")]
use super::ascii_wide;
use multiversion::multiversion;
use multiversion::target::match_target;

/// The room that [`fold_ascii`] needs besides that for the text.
pub(super) const SLACK: usize = 8;

/// Folds ASCII to the front of `out`, and returns the length of what it wrote: white space becomes
/// a space, and a space after a space is left out.
///
/// Takes some .06 ns a byte with AVX-512 VBMI2, .2 with AVX2, and .7 without both, where it folds
/// eight bytes at a time.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vbmi+avx512vbmi2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
pub(super) fn fold_ascii(
    text: &[u8],
    lower: bool,
    after_space: &mut bool,
    out: &mut [u8],
) -> usize {
    let (read, mut length) = match_target! {
        "x86_64+avx512bw+avx512vbmi2" => ascii_wide::avx512::fold(text, lower, after_space, out),
        "x86_64+avx2+bmi2+popcnt" => ascii_wide::avx2::fold(text, lower, after_space, out),
        _ => (0, 0),
    };
    let (words, rest) = text[read..].as_chunks::<8>();
    for word in words {
        let (word, kept) = fold_word(u64::from_le_bytes(*word), lower, after_space);
        out[length..length + 8].copy_from_slice(&word.to_le_bytes());
        length += kept;
    }
    for &byte in rest {
        let space = is_ascii_space(byte);
        out[length] = match (space, lower) {
            (true, _) => b' ',
            (false, true) => byte.to_ascii_lowercase(),
            (false, false) => byte,
        };
        // The next byte overwrites a space that follows a space.
        length += usize::from(!(space && *after_space));
        *after_space = space;
    }
    length
}

/// Folds eight ASCII bytes. Returns them with the number of those that are kept.
#[inline(always)]
fn fold_word(word: u64, lower: bool, after_space: &mut bool) -> (u64, usize) {
    let spaces = space_bytes(word);
    let filled = (spaces >> 7) * 0xFF;
    let word = (word & !filled) | (filled & (ONES * b' ' as u64));
    let mut word = if lower { lower_bytes(word) } else { word };
    let mut doubled = spaces & (spaces << 8 | u64::from(*after_space) << 7);
    *after_space = spaces >> 63 != 0;
    let mut kept = 8;
    // The common case is one run of spaces, such as an indentation.
    while doubled != 0 {
        let first = doubled.trailing_zeros() & !7;
        let run = (!(doubled >> (first + 7)) & ONES).trailing_zeros();
        let before = (1 << first) - 1;
        // In two shifts: all eight bytes can be dropped, and a shift by 64 would overflow.
        let cut = |bytes: u64| (bytes >> (run - 8) >> 8) & !before;
        word = (word & before) | cut(word);
        doubled = cut(doubled);
        kept -= run as usize / 8;
    }
    (word, kept)
}

/// Whether an ASCII character has the Unicode property `White_Space`. Unlike
/// `u8::is_ascii_whitespace`, this includes the vertical tab.
pub(super) const fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// The length of the ASCII stretch at the front. Checks 32 bytes at a time, then eight.
pub(super) fn ascii_prefix(text: &[u8]) -> usize {
    let is_ascii = |words: &[[u8; 8]]| {
        words.iter().fold(0, |all, word| all | u64::from_le_bytes(*word)) & HIGH == 0
    };
    let (words, _) = text.as_chunks::<8>();
    let (blocks, _) = words.as_chunks::<4>();
    let whole = blocks.iter().take_while(|block| is_ascii(&block[..])).count() * 4;
    let rest = words[whole..].iter().take_while(|word| is_ascii(&[**word])).count();
    let read = (whole + rest) * 8;
    read + text[read..].iter().take_while(|byte| byte.is_ascii()).count()
}

// The functions below work on eight bytes at once. All eight must be ASCII, so that no sum carries
// into the next byte.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// The high bit of each byte that is at least `byte`.
const fn bytes_from(word: u64, byte: u8) -> u64 {
    word + (0x80 - byte as u64) * ONES
}

/// The high bit of each byte that is white space by [`is_ascii_space`].
const fn space_bytes(word: u64) -> u64 {
    let controls = bytes_from(word, b'\t') & !bytes_from(word, b'\r' + 1);
    let blanks = bytes_from(word, b' ') & !bytes_from(word, b' ' + 1);
    (controls | blanks) & HIGH
}

/// Lowers the letters from A to Z.
const fn lower_bytes(word: u64) -> u64 {
    let letters = bytes_from(word, b'A') & !bytes_from(word, b'Z' + 1) & HIGH;
    word | letters >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Folds pieces of `size` bytes, each after the other.
    fn in_pieces(text: &str, size: usize, lower: bool) -> String {
        let (mut out, mut length, mut after_space) = (vec![0; text.len() + SLACK], 0, true);
        for piece in text.as_bytes().chunks(size) {
            length += fold_ascii(piece, lower, &mut after_space, &mut out[length..]);
        }
        String::from_utf8(out[..length].to_vec()).expect("ASCII")
    }

    proptest! {
        // Pieces of less than 8 bytes are folded byte by byte, those of less than 32 in words.
        #[test]
        fn pieces_of_every_size_fold_as_the_definition_says(
            text in "([A-Z]{0,3}[\\x00-\\x7f]{1,9}[ \\t\\n\\r]{0,20}| {60,140}){0,40}",
            lower in any::<bool>(),
        ) {
            let cased = if lower { text.to_ascii_lowercase() } else { text.clone() };
            let words: Vec<_> = cased.split_whitespace().collect();
            for size in [1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 200, 10_000] {
                let folded = in_pieces(&text, size, lower);
                prop_assert_eq!(folded.trim_end_matches(' '), words.join(" "), "{}", size);
            }
        }
    }
}
