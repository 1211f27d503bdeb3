//! Compares modular hashing with 128-bit arithmetic and with the law of its minima.

use super::*;

#[test]
fn the_remainder_without_division_is_exact() {
    let mut words = SplitMix::new(1);
    let p = u128::from(Modular::PRIME);
    let edges =
        [0, 1, Modular::PRIME - 1, Modular::PRIME, Modular::PRIME + 1, u64::MAX - 1, u64::MAX];
    for run in 0..300 {
        let (a, b) = match run {
            0 => (Modular::PRIME - 1, Modular::PRIME - 1),
            _ => (words.next(), words.next()),
        };
        let function = Modular::of_numbers(a, b);
        for key in edges.into_iter().chain([words.next(), words.next()]) {
            let expected = (u128::from(a) % p * u128::from(key) + u128::from(b)) % p;
            assert_eq!(u128::from(function.hash(key)), expected, "{a} {b} {key}");
        }
    }
}

#[test]
fn rows_are_permuted_and_no_product_overflows() {
    for rows in [1, 2, 30, 1_000] {
        let prime = Prime::at_least(rows).expect("small");
        for seed in 0..20 {
            let function = RowModular::new(prime, seed);
            let mut places: Vec<u64> = (0..prime.get().into()).map(|x| function.hash(x)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..prime.get().into()), "{rows} rows, seed {seed}");
        }
    }
    let p = u64::from(Prime::MAX.get());
    let function = RowModular::of_numbers(Prime::MAX, Prime::MAX.get() - 1, Prime::MAX.get() - 1);
    // (p - 1)^2 + p - 1 is p (p - 1).
    assert_eq!(function.hash(p - 1), 0);
    assert_eq!(function.hash(u64::MAX), function.hash(u64::MAX % p));
}

/// Counts the functions modulo p under which a row from 20 to 79 is the least of the rows 0 to 99,
/// and all functions.
fn middle_is_least(prime: Prime) -> (u64, u64) {
    let p = prime.get();
    let (mut middle, mut all) = (0, 0);
    for a in 1..p {
        for b in 0..p {
            let function = RowModular::of_numbers(prime, a, b);
            let least = (0..100).min_by_key(|row| function.hash(*row));
            middle += u64::from(least.is_some_and(|row| (20..80).contains(&row)));
            all += 1;
        }
    }
    (middle, all)
}

/// With p rows in all, uniform b alone makes each row the least equally often. With 100 rows of
/// 101, the 60 rows in the middle are the least for 0.6 of all functions, though not for each a.
/// With a greater p their share is below 0.6. The expected counts are the sums over a of the gaps
/// before these rows on the circle, computed separately.
#[test]
fn neighbouring_rows_are_biased_unless_they_are_all_rows() {
    let all_rows = Prime::at_least(100).expect("small");
    // There are 101 values but 100 rows. If the missing row would be the least, the next row takes
    // its place.
    assert_eq!(middle_is_least(all_rows), (6_060, 10_100));
    let more_rows = Prime::at_least(200).expect("small");
    assert_eq!(middle_is_least(more_rows), (24_028, 44_310));
}

#[test]
fn the_printed_form_merges_rows_if_its_prime_divides_their_number() {
    for (prime, rows, values) in [(3, 12, 4), (2, 12, 6), (5, 12, 12), (7, 7, 1), (13, 12, 12)] {
        let prime = Prime::at_least(prime).expect("small");
        let function = PrintedModular::of_numbers(prime, 5, rows).expect("rows");
        let mut seen: Vec<u64> = (0..rows).map(|row| function.hash(row)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), values, "{prime:?} and {rows}");
    }
    assert!(PrintedModular::new(0, 1).is_err());
    assert!(PrintedModular::new(u64::MAX, 1).is_err());
}

#[test]
fn no_function_of_the_printed_form_maps_all_rows_to_one_value() {
    for rows in [2, 3, 5, 7, 11, 31, 1_009] {
        for seed in 0..200 {
            let function = PrintedModular::new(rows, seed).expect("rows");
            assert_ne!(function.hash(0), function.hash(1), "{rows} rows, seed {seed}");
        }
    }
    assert!(PrintedModular::new(1, 0).is_ok());
    assert!(PrintedModular::new(Prime::MAX.get().into(), 0).is_ok());
}

#[test]
fn errors_name_the_number_of_rows_that_was_given() {
    for rows in [0, u64::from(Prime::MAX.get()) + 1, u64::MAX] {
        let message = PrintedModular::new(rows, 1).expect_err("too many").to_string();
        assert!(message.contains(&rows.to_string()), "{message}");
    }
}
