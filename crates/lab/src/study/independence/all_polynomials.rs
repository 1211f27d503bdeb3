//! The exact bias of every set of keys of a small field, over all polynomials of a degree.

/// The set with the greatest bias.
pub(super) struct WorstSet {
    pub(super) prime: usize,
    /// K; the polynomials have degree K - 1 or less.
    pub(super) independence: usize,
    /// The keys of the set.
    pub(super) set: Vec<usize>,
    /// The greatest |n P(x) - 1| of the n keys x of the set, where P(x) is the probability that x
    /// has the least value.
    pub(super) bias: f64,
    /// The greatest bias of a set of at most K keys, which should be none.
    pub(super) bias_of_few: f64,
}

/// Calls `visit` with the values at all keys of each polynomial without a constant term whose
/// degree is below `independence`: p^(K - 1) of them.
fn each_polynomial(prime: usize, independence: usize, mut visit: impl FnMut(&[usize])) {
    let mut values = vec![0; prime];
    // The coefficients of x, x² and so on count up like the digits of a number. A step of a digit
    // adds its power to every value; p steps lead back to 0, and the next digit is advanced.
    let powers: Vec<Vec<usize>> = (1..independence)
        .map(|power| (0..prime).map(|key| (0..power).fold(1, |x, _| x * key % prime)).collect())
        .collect();
    let mut digits = vec![0; powers.len()];
    loop {
        visit(&values);
        let mut at = 0;
        loop {
            let (Some(digit), Some(power)) = (digits.get_mut(at), powers.get(at)) else { return };
            values.iter_mut().zip(power).for_each(|(value, by)| *value = (*value + by) % prime);
            *digit = (*digit + 1) % prime;
            if *digit > 0 {
                break;
            }
            at += 1;
        }
    }
}

/// Adds, for each key of the set, the number of constant terms with which it has the least value.
/// Keys that share the least value share the number.
///
/// A constant term turns the circle of values, so the least value is the first from a start that
/// moves around it: each value counts as often as the gap before it is wide.
fn add_turns(prime: usize, values: &[usize], set: &[usize], turns: &mut [f64]) {
    let mut sharing = [0_u8; 64];
    set.iter().for_each(|key| sharing[values[*key]] += 1);
    for (key, turns) in set.iter().zip(turns) {
        let value = values[*key];
        let gap = (1..=prime).find(|by| sharing[(value + prime - by) % prime] > 0);
        *turns += gap.unwrap_or(prime) as f64 / f64::from(sharing[value]);
    }
}

/// The greatest |n P(x) - 1|.
fn bias(prime: usize, independence: usize, turns: &[f64]) -> f64 {
    let all = (prime as f64).powi(independence as i32);
    turns.iter().map(|own| (turns.len() as f64 * own / all - 1.0).abs()).fold(0.0, f64::max)
}

/// The set of keys with the greatest bias, over all sets of two keys or more of the field of
/// `prime` elements, which must be below 64.
///
/// Substituting u x + v for x maps the polynomials onto each other, so every set has the bias of
/// one with the keys 0 and 1, and only these are looked at.
pub(super) fn worst_set(prime: usize, independence: usize) -> WorstSet {
    let sets: Vec<Vec<usize>> = (0..1_u64 << (prime - 2))
        .map(|rest| [0, 1].into_iter().chain((2..prime).filter(move |k| rest >> (k - 2) & 1 == 1)))
        .map(Iterator::collect)
        .collect();
    let mut turns: Vec<Vec<f64>> = sets.iter().map(|set| vec![0.0; set.len()]).collect();
    each_polynomial(prime, independence, |values| {
        sets.iter().zip(&mut turns).for_each(|(set, turns)| add_turns(prime, values, set, turns));
    });
    let biases: Vec<f64> = turns.iter().map(|turns| bias(prime, independence, turns)).collect();
    let few = sets.iter().zip(&biases).filter(|(set, _)| set.len() <= independence);
    let bias_of_few = few.map(|(_, bias)| *bias).fold(0.0, f64::max);
    let worst = sets.iter().zip(&biases).max_by(|x, y| x.1.total_cmp(y.1));
    let (set, bias) = worst.map_or((Vec::new(), 0.0), |(set, bias)| (set.clone(), *bias));
    WorstSet { prime, independence, set, bias, bias_of_few }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every polynomial with its constant term, one by one, and every set of the field.
    fn brute_force(prime: usize, independence: u32) -> f64 {
        let mut worst = 0.0_f64;
        for set in 0..1_usize << prime {
            let keys: Vec<usize> = (0..prime).filter(|key| set >> key & 1 == 1).collect();
            let mut least = vec![0.0; keys.len()];
            for number in 0..prime.pow(independence) {
                let value = |key: usize| {
                    let digits = (0..independence).map(|at| number / prime.pow(at) % prime);
                    digits.rev().fold(0, |sum, digit| (sum * key + digit) % prime)
                };
                let values: Vec<usize> = keys.iter().map(|key| value(*key)).collect();
                let Some(lowest) = values.iter().min() else { continue };
                let sharing = values.iter().filter(|value| *value == lowest).count() as f64;
                let both = least.iter_mut().zip(&values).filter(|(_, value)| *value == lowest);
                both.for_each(|(least, _)| *least += 1.0 / sharing);
            }
            worst = worst.max(bias(prime, independence as usize, &least));
        }
        worst
    }

    #[test]
    fn the_worst_set_is_that_of_brute_force() {
        for (prime, independence) in [(3, 2), (5, 2), (5, 3), (5, 4), (7, 2), (7, 3)] {
            let expected = brute_force(prime, independence);
            let got = worst_set(prime, independence as usize);
            let what = format!("{prime} {independence}: {}, not {expected}", got.bias);
            assert!((got.bias - expected).abs() < 1e-9, "{what}");
            assert!(got.bias_of_few < 1e-9, "{what}");
        }
    }

    #[test]
    fn all_polynomials_are_visited_once() {
        let mut seen = std::collections::BTreeSet::new();
        each_polynomial(5, 4, |values| {
            assert!(seen.insert(values.to_vec()) && values[0] == 0, "{values:?}");
        });
        // Polynomials of degree below p are different functions.
        assert_eq!(seen.len(), 125);
    }
}
