//! The permutations of the three schemes.

use multiversion::multiversion;
use pyo3::buffer::Element;

/// How many permutations a loop over the hashes handles at once. Their minima fit into registers.
const GROUP: usize = 32;

/// The Mersenne prime that the legacy scheme reduces by.
const PRIME: u64 = (1 << 61) - 1;

/// A way from hashes to minima. `mix` is what is done with a hash once, `lower` what is done with
/// every hash under every permutation.
pub(super) trait Scheme: Send + Sync + 'static {
    type Word: Element + Copy + Ord + Default + Send + Sync + 'static;

    /// The permutations `a * h + b`, where `parameters` are all `a`, then all `b`.
    fn new(parameters: Vec<Self::Word>) -> Self;

    /// The hash as a word: its low bits.
    fn word(hash: u64) -> Self::Word;

    fn mix(hash: Self::Word) -> Self::Word;

    /// Lowers each minimum to the least of what its permutation makes of the mixed hashes.
    fn lower(&self, hashes: &[Self::Word], minima: &mut [Self::Word]);

    /// The bytes of words, as they lie in memory.
    fn write(words: &[Self::Word], bytes: &mut [u8]);
}

/// `a * h + b` for many permutations.
pub(super) struct Parameters<W> {
    a: Vec<W>,
    b: Vec<W>,
}

impl<W> Parameters<W> {
    fn new(mut parameters: Vec<W>) -> Self {
        let b = parameters.split_off(parameters.len() / 2);
        Self { a: parameters, b }
    }
}

/// `a * h + b mod 2^32` of hashes that MurmurHash3's finalizer has mixed.
pub(super) struct Affine32(Parameters<u32>);

/// The same with 64 bits.
pub(super) struct Affine64(Parameters<u64>);

/// `(a * h + b mod 2^64) mod (2^61 - 1)`, of which the low 32 bits stay. The first reduction is the
/// overflow of the arithmetic that datasketch had before 2.0.
pub(super) struct Legacy(Parameters<u64>);

impl Scheme for Affine32 {
    type Word = u32;

    fn new(parameters: Vec<u32>) -> Self {
        Self(Parameters::new(parameters))
    }

    fn word(hash: u64) -> u32 {
        hash as u32
    }

    fn mix(mut h: u32) -> u32 {
        h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
        h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
        h ^ (h >> 16)
    }

    fn lower(&self, hashes: &[u32], minima: &mut [u32]) {
        lower_affine32(&self.0.a, &self.0.b, hashes, minima);
    }

    fn write(words: &[u32], bytes: &mut [u8]) {
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_ne_bytes();
        }
    }
}

impl Scheme for Affine64 {
    type Word = u64;

    fn new(parameters: Vec<u64>) -> Self {
        Self(Parameters::new(parameters))
    }

    fn word(hash: u64) -> u64 {
        hash
    }

    fn mix(mut h: u64) -> u64 {
        h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        h ^ (h >> 33)
    }

    fn lower(&self, hashes: &[u64], minima: &mut [u64]) {
        lower_affine64(&self.0.a, &self.0.b, hashes, minima);
    }

    fn write(words: &[u64], bytes: &mut [u8]) {
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_ne_bytes();
        }
    }
}

impl Scheme for Legacy {
    type Word = u64;

    fn new(parameters: Vec<u64>) -> Self {
        Self(Parameters::new(parameters))
    }

    fn word(hash: u64) -> u64 {
        hash
    }

    fn mix(h: u64) -> u64 {
        h
    }

    fn lower(&self, hashes: &[u64], minima: &mut [u64]) {
        lower_legacy(&self.0.a, &self.0.b, hashes, minima);
    }

    fn write(words: &[u64], bytes: &mut [u8]) {
        Affine64::write(words, bytes);
    }
}

/// Lowers the minima, a group of permutations after the other.
macro_rules! lower {
    ($word:ty, $a:expr, $b:expr, $hashes:expr, $minima:expr, $permute:expr) => {
        let groups = $a.chunks(GROUP).zip($b.chunks(GROUP)).zip($minima.chunks_mut(GROUP));
        for ((a, b), minima) in groups {
            // Arrays of known length are what the compiler makes vectors of.
            if let (Ok(a), Ok(b), Ok(minima)) = (
                <&[$word; GROUP]>::try_from(a),
                <&[$word; GROUP]>::try_from(b),
                <&mut [$word; GROUP]>::try_from(&mut *minima),
            ) {
                let mut least = *minima;
                for &h in $hashes {
                    for i in 0..GROUP {
                        least[i] = least[i].min($permute(a[i], b[i], h));
                    }
                }
                *minima = least;
            } else {
                for ((&a, &b), least) in a.iter().zip(b).zip(minima) {
                    *least = $hashes.iter().fold(*least, |least, &h| least.min($permute(a, b, h)));
                }
            }
        }
    };
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.1"))]
fn lower_affine32(a: &[u32], b: &[u32], hashes: &[u32], minima: &mut [u32]) {
    lower!(u32, a, b, hashes, minima, |a: u32, b: u32, h: u32| a.wrapping_mul(h).wrapping_add(b));
}

#[multiversion(targets("x86_64+avx2"))]
fn lower_affine64(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    lower!(u64, a, b, hashes, minima, |a: u64, b: u64, h: u64| a.wrapping_mul(h).wrapping_add(b));
}

#[multiversion(targets("x86_64+avx2"))]
fn lower_legacy(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    lower!(u64, a, b, hashes, minima, |a: u64, b: u64, h: u64| {
        let product = a.wrapping_mul(h).wrapping_add(b);
        // 2^61 is 1 modulo the prime, so the three high bits are added to the others.
        let folded = (product & PRIME) + (product >> 61);
        let reduced = if folded >= PRIME { folded - PRIME } else { folded };
        reduced & 0xffff_ffff
    });
}
