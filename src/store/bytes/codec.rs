//! What all rows share: little-endian numbers, read with checks, and a checksum at the end
//! (`docs/format.md`, section "Checksums").

use crate::hash::{GOLDEN, checksum};
use crate::store::bytes::schema::Table;

/// Why a row cannot be decoded. Messages have the table and the key before it.
pub(crate) type DecodeError = &'static str;

/// The process may not use enough memory. This is no damage.
pub(crate) const NO_MEMORY: DecodeError = "it does not fit into memory";

pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The seed of a checksum. It depends on table and key, so a row copied to another key is invalid.
const fn checksum_seed(table: Table, key: u64) -> u64 {
    key.wrapping_add((table as u64).wrapping_mul(GOLDEN))
}

/// Seals a record: appends its checksum for this table and key.
pub(crate) fn seal(mut record: Vec<u8>, table: Table, key: u64) -> Vec<u8> {
    seal_from(&mut record, 0, table, key);
    record
}

/// Seals the record that begins at `start` and goes to the end of these bytes.
pub(crate) fn seal_from(bytes: &mut Vec<u8>, start: usize, table: Table, key: u64) {
    let record = bytes.get(start..).unwrap_or_default();
    let sum = checksum(record, checksum_seed(table, key));
    bytes.extend_from_slice(&sum.to_le_bytes());
}

/// Verifies the checksum of a row and returns the record without it.
pub(crate) fn unseal(sealed: &[u8], table: Table, key: u64) -> Result<&[u8], DecodeError> {
    let (record, sum) = sealed.split_last_chunk::<CHECKSUM_BYTES>().ok_or("cut short")?;
    if u32::from_le_bytes(*sum) == checksum(record, checksum_seed(table, key)) {
        Ok(record)
    } else {
        Err("its checksum does not match")
    }
}

/// Verifies a row, and appends it sealed for another key.
pub(crate) fn reseal(
    bytes: &mut Vec<u8>,
    sealed: &[u8],
    table: Table,
    from: u64,
    to: u64,
) -> Result<(), DecodeError> {
    let (record, start) = (unseal(sealed, table, from)?, bytes.len());
    bytes.extend_from_slice(record);
    seal_from(bytes, start, table, to);
    Ok(())
}

/// Reads little-endian numbers from the front of a record.
pub(crate) struct NumberReader<'a>(pub(crate) &'a [u8]);

impl NumberReader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (number, rest) = self.0.split_first_chunk::<N>().ok_or("cut short")?;
        self.0 = rest;
        Ok(*number)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.take().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, DecodeError> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, DecodeError> {
        self.take().map(u64::from_le_bytes)
    }

    /// Reads a number of seven bits a byte (see [`push_varint`](crate::sketch::push_varint)). A
    /// number has one encoding, the shortest.
    pub(crate) fn varint(&mut self) -> Result<u64, DecodeError> {
        const TOO_LONG: DecodeError = "a number is too long";
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7F);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                return Err(TOO_LONG);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(TOO_LONG)
    }

    /// Checks that no bytes are left.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err("too long") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::push_varint;

    #[test]
    fn a_varint_has_one_encoding() {
        let decode = |bytes: &[u8]| {
            let mut numbers = NumberReader(bytes);
            numbers.varint().and_then(|number| numbers.end().map(|()| number))
        };
        for number in [0, 1, 127, 128, 300, 1 << 31, 1 << 62, 1 << 63, u64::MAX] {
            for number in [number, number.wrapping_add(1), number.wrapping_sub(1)] {
                let mut bytes = Vec::new();
                push_varint(&mut bytes, number);
                assert_eq!(decode(&bytes), Ok(number));
                assert!(decode(bytes.split_last().expect("a byte").1).is_err(), "cut short");
                // The same number with a superfluous byte.
                *bytes.last_mut().expect("a byte") |= 0x80;
                bytes.push(0);
                assert!(decode(&bytes).is_err(), "{bytes:?}");
            }
        }
        let ten = |last| [&[0xFF; 9][..], &[last]].concat();
        assert_eq!(decode(&ten(1)), Ok(u64::MAX));
        assert!(decode(&ten(2)).is_err(), "2^64 and more");
    }

    #[test]
    fn a_row_opens_only_whole_and_under_its_own_table_and_key() {
        let sealed = seal(vec![1, 2, 3], Table::Documents, 7);
        assert_eq!(unseal(&sealed, Table::Documents, 7), Ok(&[1, 2, 3][..]));
        assert!(unseal(&sealed, Table::Documents, 8).is_err());
        assert!(unseal(&sealed, Table::Signatures, 7).is_err());
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            *flipped.get_mut(at).expect("a byte") ^= 1;
            assert!(unseal(&flipped, Table::Documents, 7).is_err(), "byte {at}");
            assert!(unseal(sealed.split_at(at).0, Table::Documents, 7).is_err(), "cut at {at}");
        }
    }
}
