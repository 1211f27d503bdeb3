//! The Mash distance of two genomes, computed from the similarity of their sets of k-mers.

/// Converts a Jaccard similarity J of sets of k-mers to the Mash distance -ln(2J/(1+J))/k, from 0
/// to 1 (Ondov et al. 2016, "Mash: fast genome and metagenome distance estimation using MinHash",
/// equation 4).
///
/// The distance D estimates the number of substitutions per letter between two genomes of about
/// equal size. It assumes independent point mutations, so that a k-mer survives with probability
/// e^(-kD). Similarity 1 has distance 0. Similarity 0 has distance 1, and a distance that the
/// formula puts above 1 is 1, as in Mash.
///
/// The distance falls as the similarity rises. An interval of the similarity from `low` to `high`
/// is therefore an interval of the distance from `mash_distance(high, k)` to
/// `mash_distance(low, k)`. The last digits depend on the platform's logarithm.
///
/// ```
/// use twindex::mash_distance;
/// assert_eq!(mash_distance(1.0, 21), 0.0);
/// assert_eq!(mash_distance(0.0, 21), 1.0);
/// // If 95 of 100 letters are equal, a 21-mer survives with probability e^(-21 * 0.05) = 0.35.
/// assert!((mash_distance(0.2121, 21) - 0.05).abs() < 1e-4);
/// ```
///
/// # Panics
///
/// If `similarity` is not from 0 to 1, or `k` is 0.
pub fn mash_distance(similarity: f64, k: u16) -> f64 {
    assert!((0.0..=1.0).contains(&similarity) && k > 0, "{similarity}, {k}-mers");
    let distance = ((1.0 + similarity) / (2.0 * similarity)).ln() / f64::from(k);
    distance.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Similarity, k, distance.
    const REFERENCE: [(f64, u16, f64); 5] = [
        (0.9, 21, 0.002574629584298846),
        (0.5, 16, 0.025341569256760274),
        (0.05, 32, 0.07348047678635868),
        (0.999, 21, 2.3827394852439e-05),
        (0.25, 1, 0.9162907318741551),
    ];

    /// The reference values were computed from the formula with 40 digits.
    #[test]
    fn distances_agree_with_reference_values() {
        for (similarity, k, distance) in REFERENCE {
            let got = mash_distance(similarity, k);
            assert!((got - distance).abs() < 1e-14, "{got} at {similarity} of {k}-mers");
        }
    }

    #[test]
    fn a_distance_above_1_is_1() {
        assert_eq!(mash_distance(1e-9, 3), 1.0);
        assert_eq!(mash_distance(f64::MIN_POSITIVE, 21), 1.0);
    }

    #[test]
    fn the_similarity_expected_under_the_model_gives_its_distance() {
        for k in [11, 21, 31] {
            for distance in [0.001, 0.01, 0.05, 0.1] {
                let survive = (-f64::from(k) * distance).exp();
                let got = mash_distance(survive / (2.0 - survive), k);
                assert!((got - distance).abs() < 1e-12, "{got} for {distance} of {k}-mers");
            }
        }
    }
}
