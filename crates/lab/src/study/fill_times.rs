//! Times how long each family of hash functions takes to fill a signature matrix.

use super::hash_time::{HashTimeSettings, SIZES};
use super::shingle_matrix::{RowKeys, ShingledText};
use super::timing::{PartTimes, seconds};
use crate::methods::{Family, HashFunction, MinHash, minima};
use std::hint::black_box;
use twindex::Result;
use twindex::internals::SplitMix;

/// The functions that fill the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatrixFiller {
    /// (a x + b) mod p, where p is the least prime that is not below the number of rows, as
    /// printed.
    Rows,
    /// A family. The modular family has p = 2^61 - 1.
    Of(Family),
    /// floor(m frac(x A)) in floating point, as in the formula.
    Reals,
}

impl MatrixFiller {
    pub(super) const ALL: [MatrixFiller; 9] = [
        MatrixFiller::Rows,
        MatrixFiller::Of(Family::Jenkins),
        MatrixFiller::Of(Family::Multiplicative),
        MatrixFiller::Of(Family::Murmur3),
        MatrixFiller::Of(Family::Tabulation),
        MatrixFiller::Of(Family::Xxh3),
        MatrixFiller::Of(Family::Default),
        MatrixFiller::Reals,
        MatrixFiller::Of(Family::Modular),
    ];

    /// The families of the papers.
    pub(super) const PRINTED: [MatrixFiller; 4] = [
        MatrixFiller::Rows,
        MatrixFiller::Of(Family::Jenkins),
        MatrixFiller::Of(Family::Multiplicative),
        MatrixFiller::Of(Family::Murmur3),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            MatrixFiller::Rows => "modular",
            MatrixFiller::Of(Family::Modular) => "modular, p = 2^61 - 1",
            MatrixFiller::Of(family) => family.name(),
            MatrixFiller::Reals => "multiplicative, in reals",
        }
    }

    fn drawn(self, rows: u64, hashes: usize, seed: u64) -> Result<FillerFunctions> {
        Ok(match self {
            // Rows count from 1, and the last must be below p.
            MatrixFiller::Rows => FillerFunctions::Exact(MinHash::of_rows(rows + 1, hashes, seed)?),
            MatrixFiller::Of(family) => FillerFunctions::Exact(MinHash::new(family, hashes, seed)?),
            MatrixFiller::Reals => {
                let mut words = SplitMix::new(seed);
                // A multiple of 2^-53 below 1.
                let mut constant = || (words.next() >> 11) as f64 / (1_u64 << 53) as f64;
                FillerFunctions::Reals(
                    (0..hashes).map(|_| RealMultiplicative { constant: constant() }).collect(),
                )
            }
        })
    }
}

/// The drawn functions of a filler.
enum FillerFunctions {
    Exact(MinHash),
    Reals(Vec<RealMultiplicative>),
}

/// floor(m frac(x A)) with m = 2^32, which leaves 32 of the 53 bits of a number.
struct RealMultiplicative {
    constant: f64,
}

impl HashFunction for RealMultiplicative {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let product = key as f64 * self.constant;
        ((product - product.floor()) * 4_294_967_296.0) as u64
    }
}

impl FillerFunctions {
    fn signature(&self, rows: &[u64]) -> Option<Vec<u64>> {
        match self {
            FillerFunctions::Exact(functions) => functions.signature(rows),
            FillerFunctions::Reals(functions) => minima(functions, rows),
        }
    }
}

/// A matrix of documents, with the times that each filler takes to fill its signature matrix.
pub(super) struct FilledMatrix {
    pub(super) size: u16,
    pub(super) rows: u64,
    /// The number of ones in the matrix: the rows of all documents.
    pub(super) entries: u64,
    pub(super) times: Vec<PartTimes>,
}

/// Documents as sets of rows, and the number of rows of the matrix.
struct DocumentRows {
    size: u16,
    rows: u64,
    documents: Vec<Vec<u64>>,
}

impl DocumentRows {
    fn new(settings: &HashTimeSettings, size: u16) -> Result<Self> {
        let text = ShingledText::new(size, settings.documents * settings.characters)?;
        let (keys, rows) = text.keys(RowKeys::Alphabetical);
        let mut documents: Vec<Vec<u64>> =
            keys.chunks(settings.characters).map(<[u64]>::to_vec).collect();
        for rows in &mut documents {
            rows.sort_unstable();
            rows.dedup();
        }
        Ok(Self { size, rows, documents })
    }

    /// The seconds to fill the column of each document in the signature matrix.
    fn filled(&self, functions: &FillerFunctions) -> impl Iterator<Item = f64> {
        self.documents.iter().map(|rows| {
            seconds(|| {
                black_box(functions.signature(black_box(rows)));
            })
        })
    }
}

/// Times every size and filler in each run, so that a temporary disturbance affects one run of all
/// fillers and not all runs of one filler.
pub(super) fn fill(
    settings: &HashTimeSettings,
    seed: u64,
    tell: impl Fn(usize) -> Result<()>,
) -> Result<Vec<FilledMatrix>> {
    let matrices: Vec<DocumentRows> =
        SIZES.map(|size| DocumentRows::new(settings, size)).collect::<Result<_>>()?;
    let parts = |matrix: &DocumentRows| vec![Vec::new(); matrix.documents.len()];
    let mut times: Vec<Vec<Vec<Vec<f64>>>> =
        matrices.iter().map(|matrix| vec![parts(matrix); MatrixFiller::ALL.len()]).collect();
    for run in 0..settings.runs {
        for (matrix, times) in matrices.iter().zip(&mut times) {
            tell(run)?;
            for (filler, times) in MatrixFiller::ALL.into_iter().zip(times) {
                let functions = filler.drawn(matrix.rows, settings.hashes, seed)?;
                times
                    .iter_mut()
                    .zip(matrix.filled(&functions))
                    .for_each(|(all, one)| all.push(one));
            }
        }
    }
    let filled = matrices.iter().zip(times).map(|(matrix, times)| FilledMatrix {
        size: matrix.size,
        rows: matrix.rows,
        entries: matrix.documents.iter().map(|rows| rows.len() as u64).sum(),
        times: times.into_iter().map(PartTimes::of).collect(),
    });
    Ok(filled.collect())
}
