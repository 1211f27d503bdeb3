//! The hash of a vector by shifts and exclusive or.

/// The hash of a band of a signature (Bergillos, Rambla, Cabeza 2018, section 5.1, `hash_vec`; also
/// known as `hash_combine` of Boost): the state s starts with the length, and each component v
/// changes it to s xor (v + 0x9e3779b9 + (s << 6) + (s >> 2)), modulo 2^64.
///
/// It takes some 5 dependent operations for each component and mixes poorly: small components reach
/// only the low bits and their shifted copies, so short vectors of small numbers collide.
/// `twindex-lab study hash-time` counts how often. An index does not hash bands: its
/// [lanes](twindex::Signature::lanes) already are hashes, and their consecutive bytes are the
/// bucket.
///
/// ```
/// use twindex_lab::methods::shift_xor_hash;
/// assert_eq!(shift_xor_hash(&[]), 0);
/// assert_eq!(shift_xor_hash(&[0]), 1 ^ (0x9E37_79B9 + (1 << 6)));
/// // Two pairs of numbers below 100 with the same hash.
/// assert_eq!(shift_xor_hash(&[1, 63]), shift_xor_hash(&[2, 0]));
/// ```
pub fn shift_xor_hash(vector: &[u64]) -> u64 {
    vector.iter().fold(vector.len() as u64, |state, component| {
        state
            ^ component.wrapping_add(0x9E37_79B9).wrapping_add(state << 6).wrapping_add(state >> 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The values are from a Python program with integers of any size, taken modulo 2^64.
    #[test]
    fn it_is_the_printed_function() {
        assert_eq!(shift_xor_hash(&[1, 2, 3]), 0x0a16_fb2b_5814);
        assert_eq!(shift_xor_hash(&[u64::MAX; 10]), 0x6e41_1368_b518_bf34);
    }

    /// Counted by a Python program.
    #[test]
    fn most_pairs_of_small_numbers_collide() {
        let pairs = (0..100).flat_map(|a| (0..100).map(move |b| [a, b]));
        let hashes: HashSet<u64> = pairs.map(|pair| shift_xor_hash(&pair)).collect();
        assert_eq!(hashes.len(), 6_411);
    }
}
