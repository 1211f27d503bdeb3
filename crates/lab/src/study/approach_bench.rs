//! Times four ways to find all similar pairs of some texts (Bergillos, Rambla, Cabeza 2018, section
//! 8.3).

use super::similar_columns::{shared, similarity};
use crate::sketch::{Family, MinHash, shift_xor_hash};
use std::path::PathBuf;
use std::time::Instant;
use twindex::Index;
use twindex::internals::SplitMix;
use twindex::{Error, Result};
use twindex::{Normalization, Shingle, Shingler};

/// The characters of a shingle (Bergillos and others 2018, section 8.3).
pub(crate) const WIDTH: u16 = 5;

/// The numbers of hash functions, bands, and rows in a band (Bergillos and others 2018, section
/// 8.3).
pub(crate) const FUNCTIONS: usize = 200;
pub(crate) const BANDS: usize = 20;
pub(crate) const ROWS: usize = FUNCTIONS / BANDS;

/// The threshold by the usual rule for these bands and rows, (1/20)^(1/10) = 0.7411.
pub(crate) fn threshold() -> f64 {
    (1.0 / BANDS as f64).powf(1.0 / ROWS as f64)
}

/// The approaches, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approach {
    Exact,
    Signatures,
    Banding,
    Index,
}

impl Approach {
    pub(crate) const ALL: [Approach; 4] =
        [Self::Exact, Self::Signatures, Self::Banding, Self::Index];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact, all pairs",
            Self::Signatures => "signatures, all pairs",
            Self::Banding => "signatures in bands",
            Self::Index => "twindex",
        }
    }

    /// Whether it compares every pair, so that its time is quadratic.
    pub(crate) const fn compares_all(self) -> bool {
        matches!(self, Self::Exact | Self::Signatures)
    }
}

/// One run of an approach: its times and the pairs found.
#[derive(Clone, Debug)]
pub(crate) struct ApproachRun {
    pub(crate) documents: usize,
    /// The seconds to prepare all texts: to compute their sets of shingles or signatures, or to
    /// insert them into an index on disk and commit.
    pub(crate) preparing: f64,
    /// The seconds to find the pairs.
    pub(crate) comparing: f64,
    /// The number of pairs compared; unknown for an index.
    pub(crate) compared: Option<u64>,
    /// The pairs found to be similar, exactly or by estimate. They are ascending, with the smaller
    /// number first.
    pub(crate) found: Vec<(u32, u32)>,
}

impl ApproachRun {
    pub(crate) fn seconds(&self) -> f64 {
        self.preparing + self.comparing
    }
}

/// Texts, with the sets and signatures prepared so far, and the cumulative seconds of preparing
/// them. Larger collections begin with the same texts, so nothing is prepared twice.
pub(crate) struct Bench<'t> {
    texts: &'t [String],
    shingler: Shingler,
    functions: MinHash,
    sets: Vec<Vec<u64>>,
    seconds_of_sets: Vec<f64>,
    signatures: Vec<Vec<u64>>,
    seconds_of_signatures: Vec<f64>,
    /// The folder in which the folders of indexes are created.
    folder: PathBuf,
    seed: u64,
}

/// The number of texts between two checks whether the run must end.
const BATCH: usize = 1000;

impl<'t> Bench<'t> {
    pub(crate) fn new(texts: &'t [String], family: Family, seed: u64) -> Result<Self> {
        let mut words = SplitMix::new(seed);
        let shingle = Shingle::chars(WIDTH);
        Ok(Self {
            texts,
            shingler: Shingler::new(shingle, Normalization::default(), false, words.next())?,
            functions: MinHash::new(family, FUNCTIONS, words.next())?,
            sets: Vec::new(),
            seconds_of_sets: Vec::new(),
            signatures: Vec::new(),
            seconds_of_signatures: Vec::new(),
            folder: std::env::temp_dir(),
            seed,
        })
    }

    /// Finds the similar pairs of the first `documents` texts. Calls `tell` regularly, which may
    /// end the run.
    pub(crate) fn run(
        &mut self,
        approach: Approach,
        documents: usize,
        tell: &dyn Fn() -> Result<()>,
    ) -> Result<ApproachRun> {
        match approach {
            Approach::Exact => self.exact(documents, tell),
            Approach::Signatures => self.signatures(documents, tell),
            Approach::Banding => self.banding(documents, tell),
            Approach::Index => self.index(documents, tell),
        }
    }

    /// Compares every pair exactly, by merging two sorted sets.
    fn exact(&mut self, documents: usize, tell: &dyn Fn() -> Result<()>) -> Result<ApproachRun> {
        for text in self.texts.iter().take(documents).skip(self.sets.len()) {
            let begun = Instant::now();
            let mut set = self.shingler.hashes(text);
            set.sort_unstable();
            set.dedup();
            self.sets.push(set);
            push(&mut self.seconds_of_sets, begun);
        }
        let (sets, threshold, begun) = (&self.sets[..documents], threshold(), Instant::now());
        let (mut found, mut compared) = (Vec::new(), 0);
        for (b, of_b) in sets.iter().enumerate() {
            tell()?;
            compared += sets[..b].len() as u64;
            for (a, of_a) in sets[..b].iter().enumerate() {
                if similarity(shared(of_a, of_b), of_a.len(), of_b.len()) >= threshold {
                    found.push((a as u32, b as u32));
                }
            }
        }
        let comparing = begun.elapsed().as_secs_f64();
        found.sort_unstable();
        let compared = Some(compared);
        let preparing = seconds_until(&self.seconds_of_sets, documents);
        Ok(ApproachRun { documents, preparing, comparing, compared, found })
    }

    /// Computes the missing signatures.
    fn sign(&mut self, documents: usize, tell: &dyn Fn() -> Result<()>) -> Result<()> {
        let unsigned = self.texts.iter().take(documents).skip(self.signatures.len());
        for texts in unsigned.collect::<Vec<_>>().chunks(BATCH) {
            tell()?;
            for text in texts {
                let begun = Instant::now();
                let signature = self.functions.signature(&self.shingler.hashes(text));
                // A text of fifty words always has a signature.
                self.signatures.push(signature.unwrap_or_default());
                push(&mut self.seconds_of_signatures, begun);
            }
        }
        Ok(())
    }

    /// Compares the signatures of every pair.
    fn signatures(
        &mut self,
        documents: usize,
        tell: &dyn Fn() -> Result<()>,
    ) -> Result<ApproachRun> {
        self.sign(documents, tell)?;
        let (signatures, threshold) = (&self.signatures[..documents], threshold());
        let begun = Instant::now();
        let (mut found, mut compared) = (Vec::new(), 0);
        for (b, of_b) in signatures.iter().enumerate() {
            tell()?;
            compared += signatures[..b].len() as u64;
            for (a, of_a) in signatures[..b].iter().enumerate() {
                if MinHash::similarity(of_a, of_b) >= threshold {
                    found.push((a as u32, b as u32));
                }
            }
        }
        let comparing = begun.elapsed().as_secs_f64();
        found.sort_unstable();
        let compared = Some(compared);
        let preparing = seconds_until(&self.seconds_of_signatures, documents);
        Ok(ApproachRun { documents, preparing, comparing, compared, found })
    }

    /// Compares the signatures of pairs with the same hash in a band (Bergillos and others 2018,
    /// section 5.4).
    fn banding(&mut self, documents: usize, tell: &dyn Fn() -> Result<()>) -> Result<ApproachRun> {
        self.sign(documents, tell)?;
        let (signatures, threshold) = (&self.signatures[..documents], threshold());
        let begun = Instant::now();
        let mut candidates = Vec::new();
        for band in 0..BANDS {
            tell()?;
            let rows = band * ROWS..(band + 1) * ROWS;
            let hash = |signature: &Vec<u64>| shift_xor_hash(&signature[rows.clone()]);
            let mut places: Vec<(u64, u32)> = signatures.iter().map(hash).zip(0..).collect();
            places.sort_unstable();
            for bucket in places.chunk_by(|a, b| a.0 == b.0) {
                for (at, (_, a)) in bucket.iter().enumerate() {
                    candidates.extend(bucket[at + 1..].iter().map(|(_, b)| (*a, *b)));
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let compared = Some(candidates.len() as u64);
        candidates.retain(|(a, b)| {
            let (a, b) = (&signatures[*a as usize], &signatures[*b as usize]);
            MinHash::similarity(a, b) >= threshold
        });
        let comparing = begun.elapsed().as_secs_f64();
        let preparing = seconds_until(&self.seconds_of_signatures, documents);
        Ok(ApproachRun { documents, preparing, comparing, compared, found: candidates })
    }

    /// Inserts the texts into a new index in a temporary folder, commits, and asks it for all
    /// pairs.
    fn index(&mut self, documents: usize, tell: &dyn Fn() -> Result<()>) -> Result<ApproachRun> {
        // The folder and its contents are removed in all cases.
        let folder = tempfile::tempdir_in(&self.folder).map_err(|source| Error::Io {
            path: self.folder.clone(),
            action: "making a folder for an index",
            source,
        })?;
        let begun = Instant::now();
        let options = Index::options().threshold(threshold()).seed(self.seed);
        let options = options.shingle(Shingle::chars(WIDTH));
        let index = options.create(folder.path().join("approaches.twx"))?;
        let mut txn = index.begin_write()?;
        let mut numbered = self.texts.iter().enumerate().take(documents);
        loop {
            tell()?;
            let batch = numbered.by_ref().take(BATCH);
            let batch = batch.map(|(number, text)| index.prepare(number.to_string(), text));
            let batch = batch.collect::<Result<Vec<_>>>()?;
            if batch.is_empty() {
                break;
            }
            txn.insertion().documents(batch)?;
        }
        txn.commit()?;
        let preparing = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut found = Vec::new();
        for (number, pair) in index.snapshot()?.pairs(threshold())?.enumerate() {
            if number % BATCH == 0 {
                tell()?;
            }
            let pair = pair?;
            // Ids are the numbers of the texts.
            if let (Ok(a), Ok(b)) = (pair.a.parse::<u32>(), pair.b.parse::<u32>()) {
                found.push((a.min(b), a.max(b)));
            }
        }
        let comparing = begun.elapsed().as_secs_f64();
        found.sort_unstable();
        Ok(ApproachRun { documents, preparing, comparing, compared: None, found })
    }

    /// The exact similarity of two texts.
    pub(crate) fn similarity(&self, a: u32, b: u32) -> f64 {
        let set = |number: u32| {
            let mut set = self.shingler.hashes(&self.texts[number as usize]);
            set.sort_unstable();
            set.dedup();
            set
        };
        let (a, b) = (set(a), set(b));
        similarity(shared(&a, &b), a.len(), b.len())
    }
}

/// Appends the cumulative seconds: the last entry plus the time since `begun`.
fn push(seconds: &mut Vec<f64>, begun: Instant) {
    seconds.push(seconds.last().unwrap_or(&0.0) + begun.elapsed().as_secs_f64());
}

/// The seconds that the first `documents` took.
fn seconds_until(seconds: &[f64], documents: usize) -> f64 {
    documents.checked_sub(1).and_then(|last| seconds.get(last)).copied().unwrap_or(0.0)
}

/// The number of pairs of `documents` documents.
pub(crate) fn pairs_of(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::super::planted_copies::PlantedTexts;
    use super::*;
    use std::cell::Cell;

    /// Checks the numbers of pairs, which do not depend on the times.
    #[test]
    fn bands_compare_few_pairs_and_report_a_subset_of_the_pairs_by_signatures() {
        let planted = PlantedTexts::new(200, 5);
        let mut bench = Bench::new(&planted.texts, Family::Default, 5).expect("valid");
        let mut run = |approach| bench.run(approach, 200, &|| Ok(())).expect("done");
        let (exact, all, banded) =
            (run(Approach::Exact), run(Approach::Signatures), run(Approach::Banding));
        assert_eq!((exact.compared, all.compared), (Some(19_900), Some(19_900)));
        assert!(banded.compared.is_some_and(|pairs| pairs < 70), "{:?}", banded.compared);
        assert!(banded.found.iter().all(|pair| all.found.binary_search(pair).is_ok()));
        assert!(banded.found.len() >= all.found.len() / 2 && all.found.len() > 10);
        for (a, b) in &exact.found {
            assert!(bench.similarity(*a, *b) >= threshold());
        }
    }

    #[test]
    fn fewer_documents_take_less_time_to_prepare() {
        let planted = PlantedTexts::new(40, 5);
        let mut bench = Bench::new(&planted.texts, Family::Default, 5).expect("valid");
        for approach in [Approach::Exact, Approach::Signatures, Approach::Banding] {
            let mut seconds =
                |documents| bench.run(approach, documents, &|| Ok(())).expect("done").preparing;
            let (all, none, half) = (seconds(40), seconds(0), seconds(20));
            assert!(none == 0.0 && 0.0 < half && half < all, "{}", approach.name());
        }
    }

    #[test]
    fn an_interrupted_index_leaves_nothing_behind() {
        let (planted, place) = (PlantedTexts::new(50, 5), tempfile::tempdir().expect("a folder"));
        let mut bench = Bench::new(&planted.texts, Family::Default, 5).expect("valid");
        bench.folder = place.path().to_owned();
        let folders = || std::fs::read_dir(place.path()).expect("a folder").count();
        for refused in 1..=3 {
            let asked = Cell::new(0);
            let tell = || {
                asked.set(asked.get() + 1);
                assert_eq!(folders(), 1, "the index is there");
                if asked.get() < refused { Ok(()) } else { Err(Error::WriteInProgress) }
            };
            let ended = bench.run(Approach::Index, 50, &tell);
            assert!(matches!(ended, Err(Error::WriteInProgress)), "asked {refused} times");
            assert_eq!((asked.get(), folders()), (refused, 0));
        }
    }
}
