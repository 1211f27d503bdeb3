//! A hint for texts that are too short for the shingle of their index.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::terminal::messages::note;
use twindex::{Document, Index, Settings, Shingle};

/// The number of documents that are looked at, and the fewest that tell anything.
const MOST: usize = 1000;
const FEWEST: usize = 500;

/// The narrowest shingles of characters that are worth advising: narrower ones, every text has.
const NARROWEST: u16 = 3;

/// The numbers of shingles of the first documents that go into an index.
pub struct ShortTexts {
    settings: Settings,
    sizes: Vec<u64>,
}

impl ShortTexts {
    /// Begins if the index has no documents yet, or is still to be created. Later it is too late
    /// for another shingle.
    pub fn of_first(index: Option<&Index>, settings: &Settings) -> Result<Option<Self>, Failure> {
        let is_first = match index {
            Some(index) => index.snapshot()?.is_empty(),
            None => true,
        };
        Ok(is_first.then(|| Self { settings: *settings, sizes: Vec::new() }))
    }

    /// Looks at a document.
    pub fn add(&mut self, document: &Document) {
        let size = document.signature().set_size();
        if self.sizes.len() < MOST && !size.is_empty() {
            self.sizes.push(size.estimate().round() as u64);
        }
    }

    /// Says once what suits short texts better, if most of them are short.
    pub fn tell(&mut self, global: &GlobalOptions) {
        if let Some(hint) = self.hint().filter(|_| !global.quiet && !global.json) {
            note(&hint);
        }
    }

    fn hint(&mut self) -> Option<String> {
        let Settings { shingle, multiset, weighted, .. } = self.settings;
        let Shingle::Chars(width) = shingle else { return None };
        if self.sizes.len() < FEWEST || multiset || weighted {
            return None;
        }
        let middle = self.sizes.len() / 2;
        let (_, median, _) = self.sizes.select_nth_unstable(middle);
        let chars = *median + u64::from(width) - 1;
        let threshold = self.settings.threshold();
        let is_left = |width: u16| similarity_after_a_change(chars, width) >= threshold;
        if is_left(width) {
            return None;
        }
        let better = (NARROWEST..width).rev().find(|narrower| is_left(*narrower));
        let advice = match better {
            Some(narrower) => format!("--shingle char:{narrower} tolerates one"),
            None if width <= NARROWEST => "a lower --threshold tolerates more".to_owned(),
            None => format!("a lower --threshold and --shingle char:{NARROWEST} tolerate more"),
        };
        Some(format!(
            "hint: most of these texts have {chars} characters or fewer, so that one changed \
             character leaves less than {threshold} of similarity by char:{width}; in a new index, \
             {advice}"
        ))
    }
}

/// The similarity of two texts of so many characters, one of which differs: it is in as many
/// shingles as they are wide.
fn similarity_after_a_change(chars: u64, width: u16) -> f64 {
    let width = u64::from(width);
    let shingles = (chars + 1).saturating_sub(width);
    shingles.saturating_sub(width) as f64 / (shingles + width) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::{Index, Overlap, Shingler};

    fn hint(length: usize, documents: usize, shingle: u16) -> Option<String> {
        let settings = Index::options().shingle(Shingle::Chars(shingle)).settings();
        let settings = settings.expect("settings");
        let sketcher = settings.sketcher().expect("a sketcher");
        let mut texts = ShortTexts { settings, sizes: Vec::new() };
        for number in 0..documents {
            // Every shingle occurs once.
            let letters = (0..length).map(|at| 0x4E00 + (number + at) as u32);
            let text: String = letters.filter_map(char::from_u32).collect();
            texts.add(&Document::sketch("-", text.as_str(), &sketcher).expect("a document"));
        }
        texts.hint()
    }

    #[test]
    fn a_changed_character_is_in_as_many_shingles_as_they_are_wide() {
        let (width, chars) = (9, 60);
        let shingler = Shingler::new(Shingle::chars(width), Default::default(), false, 0);
        let shingler = shingler.expect("a shingler");
        let text: String =
            (0..chars).map(|n| char::from_u32(0x4E00 + n).expect("a char")).collect();
        let changed = text.replace(text.chars().nth(30).expect("a char"), "x");
        let set = |text: &str| {
            let mut hashes = shingler.hashes(text);
            hashes.sort_unstable();
            hashes
        };
        let exact = Overlap::of_sets(&set(&text), &set(&changed)).similarity();
        assert!((exact - similarity_after_a_change(chars.into(), 9)).abs() < 1e-9);
    }

    #[test]
    fn only_many_short_texts_get_a_hint() {
        assert_eq!(hint(40, 10, 9), None, "too few to tell");
        assert_eq!(hint(200, 600, 9), None, "long enough");
        let short = hint(60, 600, 9).expect("a hint");
        assert!(short.contains("--shingle char:6 tolerates one"), "{short}");
        let shortest = hint(12, 600, 9).expect("a hint");
        assert!(shortest.contains("a lower --threshold"), "{shortest}");
        assert_eq!(hint(60, 600, 5), None);
        let narrow = hint(12, 600, NARROWEST).expect("a hint");
        assert!(narrow.ends_with("in a new index, a lower --threshold tolerates more"), "{narrow}");
    }
}
