//! The four Gospels in two translations, the real texts of the studies.
//!
//! They are those of Dembele, Lo 2015, section 6, as far as known: the paper names the French site
//! of its texts but not the edition.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use twindex::{Error, Result};
use twindex::{Form, Normalization, Shingle, Shingler, Whitespace};

/// The normalisation of section 6, which drops words of fewer than three letters. Folding case is
/// an addition; the paper does not mention case.
pub(crate) const NORMALIZATION: Normalization =
    Normalization { lower: true, form: Form::Unchanged, whitespace: Whitespace::Keep, min_word: 3 };

/// Shingles of three characters (section 6.2).
pub(crate) const SHINGLE: Shingle = Shingle::chars(3);

/// The evangelists in the order of the paper's tables.
pub(crate) const NAMES: [&str; 4] = ["John", "Luke", "Mark", "Matthew"];

/// All pairs of the four, in the order of the paper's tables.
pub(crate) const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// One translation of the four Gospels.
pub(crate) struct Translation {
    /// Its name, `LSG 1910` or `KJV`.
    pub(crate) name: &'static str,
    /// Its language, in English.
    pub(crate) language: &'static str,
    /// The texts of the files, in the order of [`NAMES`].
    pub(crate) texts: [Cow<'static, str>; 4],
}

/// The shingles of one text.
pub(crate) struct TextShingles {
    /// The hashes, ascending, each as often as the shingle occurs.
    pub(crate) occurrences: Vec<u64>,
    /// The distinct hashes, ascending.
    pub(crate) distinct: Vec<u64>,
}

/// Name, language, file names and texts of a translation.
type EmbeddedTranslation = (&'static str, &'static str, [(&'static str, &'static str); 4]);

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../data/gospels/", $name)))
    };
}

const SOURCES: [EmbeddedTranslation; 2] = [
    (
        "LSG 1910",
        "French",
        [
            file!("fr_lsg1910_jean.txt"),
            file!("fr_lsg1910_luc.txt"),
            file!("fr_lsg1910_marc.txt"),
            file!("fr_lsg1910_matthieu.txt"),
        ],
    ),
    (
        "KJV",
        "English",
        [
            file!("en_kjv_john.txt"),
            file!("en_kjv_luke.txt"),
            file!("en_kjv_mark.txt"),
            file!("en_kjv_matthew.txt"),
        ],
    ),
];

/// The texts built into the command: French, then English.
pub(crate) fn embedded() -> [Translation; 2] {
    SOURCES.map(|(name, language, files)| Translation {
        name,
        language,
        texts: files.map(|(_, text)| Cow::Borrowed(text)),
    })
}

/// Texts with the same file names in a folder.
///
/// # Errors
///
/// [`Error::Io`] with the name of the file that is missing or not UTF-8.
pub(crate) fn in_folder(folder: &Path) -> Result<[Translation; 2]> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::Io {
            path: folder.to_owned(),
            action: "reading the Gospels",
            source: io::Error::new(
                io::ErrorKind::NotADirectory,
                "is a file; name a directory with files as in data/gospels",
            ),
        });
    }
    let mut translations = embedded();
    for (translation, (_, _, files)) in translations.iter_mut().zip(SOURCES) {
        for (text, (name, _)) in translation.texts.iter_mut().zip(files) {
            let path = folder.join(name);
            let read = std::fs::read_to_string(&path);
            *text = read.map(Cow::Owned).map_err(|source| Error::Io {
                path,
                action: "reading one of the eight Gospels, which are named as in data/gospels",
                source,
            })?;
        }
    }
    Ok(translations)
}

/// What cuts texts as in section 6.
///
/// # Errors
///
/// None for any text.
pub(crate) fn shingler() -> Result<Shingler> {
    Shingler::new(SHINGLE, NORMALIZATION, false, 0)
}

impl TextShingles {
    /// Those of a text, prepared as in section 6.
    ///
    /// # Errors
    ///
    /// None for any text.
    pub(crate) fn of(text: &str) -> Result<Self> {
        let mut occurrences = shingler()?.hashes(text);
        occurrences.sort_unstable();
        let mut distinct = occurrences.clone();
        distinct.dedup();
        Ok(Self { occurrences, distinct })
    }
}

impl Translation {
    /// The shingles of the four texts.
    ///
    /// # Errors
    ///
    /// None for any text.
    pub(crate) fn shingles(&self) -> Result<Vec<TextShingles>> {
        self.texts.iter().map(|text| TextShingles::of(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes are from a Python program for the same files: `re.findall(r"[^\W_]+",
    /// text.lower())`, words of at least 3 letters joined by spaces, all windows of 3 characters,
    /// and `len` of the list and of its set.
    #[test]
    fn texts_have_the_numbers_of_shingles_of_another_program() {
        let sizes = [
            [(77_938, 2_583), (107_028, 3_146), (63_308, 2_726), (100_705, 3_081)],
            [(83_811, 2_305), (116_099, 2_910), (68_754, 2_529), (107_778, 2_807)],
        ];
        for (translation, sizes) in embedded().iter().zip(sizes) {
            let shingles = translation.shingles().expect("valid settings");
            let counted = shingles.iter().map(|s| (s.occurrences.len(), s.distinct.len()));
            assert_eq!(counted.collect::<Vec<_>>(), sizes, "{}", translation.name);
        }
    }

    #[test]
    fn no_text_would_change_by_unicode_composition() {
        let composed = Normalization { form: Form::Nfc, ..NORMALIZATION };
        for text in embedded().iter().flat_map(|translation| &translation.texts) {
            assert_eq!(NORMALIZATION.apply(text), composed.apply(text));
        }
    }

    #[test]
    fn texts_are_read_from_a_folder_and_a_missing_file_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, _) in SOURCES.iter().flat_map(|source| source.2) {
            std::fs::write(folder.path().join(name), name).expect("written");
        }
        let read = in_folder(folder.path()).expect("all are there");
        assert_eq!(read[1].texts[2], "en_kjv_mark.txt");
        std::fs::remove_file(folder.path().join("fr_lsg1910_luc.txt")).expect("removed");
        let error = in_folder(folder.path()).err().map(|error| error.to_string());
        let error = error.expect("one is missing");
        assert!(error.contains("fr_lsg1910_luc.txt") && error.contains("eight Gospels"), "{error}");
        let file = in_folder(&folder.path().join("en_kjv_mark.txt")).err();
        let cause = file.as_ref().and_then(|error| std::error::Error::source(error));
        let cause = cause.map(|cause| cause.to_string());
        assert!(cause.is_some_and(|error| error.contains("is a file; name a directory")));
    }
}
