//! The Mash distance of two genomes, from the similarity of their k-mers.

/// The Mash distance that a Jaccard similarity of k-mers stands for: -ln(2J/(1+J))/k (Ondov et al.
/// 2016, "Mash: fast genome and metagenome distance estimation using MinHash", equation 4), from 0
/// to 1.
///
/// It estimates the substitutions per letter between two genomes of about equal size, if mutations
/// come one by one and anywhere: then a k-mer survives with probability e^(-kD). A similarity of 1 is a
/// distance of 0; one of 0, which no distance explains, is 1, and so is what the formula puts above
/// 1, as in Mash. The distance falls as the similarity grows, so an interval of the similarity from `low` to
/// `high` is one of the distance from `mash_distance(high, k)` to `mash_distance(low, k)`. Depends in its
/// last digits on the platform's logarithm.
///
/// ```
/// use twindex::mash_distance;
/// assert_eq!(mash_distance(1.0, 21), 0.0);
/// assert_eq!(mash_distance(0.0, 21), 1.0);
/// // Where 95 of 100 letters are equal, a 21-mer survives with probability e^(-21 * 0.05) = 0.35.
/// assert!((mash_distance(0.2121, 21) - 0.05).abs() < 1e-4);
/// ```
///
/// # Panics
///
/// Where `similarity` is not from 0 to 1, or `k` is 0.
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

    /// Reference values from the formula, computed apart with 40 digits.
    #[test]
    fn distances_agree_with_reference_values() {
        for (similarity, k, distance) in REFERENCE {
            let got = mash_distance(similarity, k);
            assert!((got - distance).abs() < 1e-14, "{got} at {similarity} of {k}-mers");
        }
    }

    #[test]
    fn a_distance_of_more_than_one_is_one() {
        assert_eq!(mash_distance(1e-9, 3), 1.0);
        assert_eq!(mash_distance(f64::MIN_POSITIVE, 21), 1.0);
    }

    #[test]
    fn kmers_that_survive_by_the_model_give_its_distance() {
        for k in [11, 21, 31] {
            for distance in [0.001, 0.01, 0.05, 0.1] {
                let survive = (-f64::from(k) * distance).exp();
                let got = mash_distance(survive / (2.0 - survive), k);
                assert!((got - distance).abs() < 1e-12, "{got} for {distance} of {k}-mers");
            }
        }
    }
}
