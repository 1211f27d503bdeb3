//! Represents a multiset as a set, in which each occurrence is a separate element.

use twindex::internals::ShingleHasher;

/// Makes each occurrence of ascending hashes a separate element, in no order. Two texts share as
/// many elements of a shingle as the smaller of its two counts.
pub(crate) fn ranked(occurrences: &[u64]) -> Vec<u64> {
    let hasher = ShingleHasher::new(0);
    let equals = occurrences.chunk_by(|x, y| x == y);
    equals.flat_map(|equals| (0..).zip(equals).map(|(rank, x)| hasher.ranked(*x, rank))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::Overlap;

    #[test]
    fn ranked_occurrences_have_the_overlap_of_the_multisets() {
        let (a, b) = ([1, 1, 1, 2, 5, 5], [1, 1, 3, 5, 5, 5]);
        let overlap = Overlap::of_multisets(&a, &b);
        let (mut ranked_a, mut ranked_b) = (ranked(&a), ranked(&b));
        ranked_a.sort_unstable();
        ranked_b.sort_unstable();
        assert_eq!(Overlap::of_sets(&ranked_a, &ranked_b), overlap);
    }
}
