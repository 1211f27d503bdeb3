//! Prime numbers of up to 32 bits, for arithmetic on row numbers.

use twindex::{Error, Result};

/// A prime number below 2^32.
///
/// ```
/// use twindex_lab::methods::Prime;
/// assert_eq!(Prime::at_least(1_000)?.get(), 1_009);
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prime(u32);

impl Prime {
    /// The greatest, 2^32 - 5.
    pub const MAX: Prime = Prime(4_294_967_291);

    /// The least prime that is not below the number. Takes some 10 primality tests, each by trial
    /// division with up to 32,768 odd numbers.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSetting`] if the number is above [`MAX`](Self::MAX).
    pub fn at_least(number: u64) -> Result<Self> {
        (number.max(2)..=u64::from(Self::MAX.0))
            .find_map(|number| u32::try_from(number).ok().filter(|number| is_prime(*number)))
            .map(Self)
            .ok_or_else(|| Error::InvalidSetting {
                setting: "rows",
                got: number.to_string(),
                expected: "at most 4294967291, the greatest prime below 2^32",
            })
    }

    /// The number itself.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Tests by trial division up to the root of the number.
fn is_prime(number: u32) -> bool {
    if number < 4 {
        return number >= 2;
    }
    let small = |divisor: u32| u64::from(divisor).pow(2) <= u64::from(number);
    !number.is_multiple_of(2)
        && (3..).step_by(2).take_while(|divisor| small(*divisor)).all(|d| !number.is_multiple_of(d))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the sieve of Eratosthenes.
    #[test]
    fn the_next_prime_agrees_with_the_sieve() {
        let mut composite = vec![false; 2_100];
        let mut primes = Vec::new();
        for number in 2..composite.len() {
            if !composite[number] {
                primes.push(number as u64);
                (number * number..composite.len())
                    .step_by(number)
                    .for_each(|m| composite[m] = true);
            }
        }
        for number in 0..2_000 {
            let expected = primes.iter().find(|prime| **prime >= number).copied();
            let got = Prime::at_least(number).ok().map(|prime| u64::from(prime.get()));
            assert_eq!(got, expected, "{number}");
        }
    }

    #[test]
    fn numbers_above_the_greatest_prime_are_refused() {
        // 2^32 - 17 is the prime before 2^32 - 5 (Caldwell's list of primes just below powers of
        // two).
        assert_eq!(Prime::at_least((1 << 32) - 17).map(Prime::get).ok(), Some(4_294_967_279));
        assert_eq!(Prime::at_least((1 << 32) - 16).ok(), Some(Prime::MAX));
        assert!(Prime::at_least((1 << 32) - 4).is_err());
    }
}
