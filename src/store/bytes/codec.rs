//! What all records share: little-endian numbers, taken apart with checks, and a checksum at the end.

use crate::hash::{GOLDEN, checksum};
use crate::store::bytes::schema::Table;

/// Why a record cannot be read.
pub(crate) type Fault = &'static str;

pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The seed of a checksum: a record copied to another place does not pass there.
const fn place(table: Table, key: u64) -> u64 {
    key.wrapping_add((table as u64).wrapping_mul(GOLDEN))
}

/// Appends the checksum of a record for its place.
pub(crate) fn seal(mut record: Vec<u8>, table: Table, key: u64) -> Vec<u8> {
    let sum = checksum(&record, place(table, key));
    record.extend_from_slice(&sum.to_le_bytes());
    record
}

/// Checks the checksum and takes it off.
pub(crate) fn unseal(sealed: &[u8], table: Table, key: u64) -> Result<&[u8], Fault> {
    let (record, sum) = sealed.split_last_chunk::<CHECKSUM_BYTES>().ok_or("cut short")?;
    match u32::from_le_bytes(*sum) == checksum(record, place(table, key)) {
        true => Ok(record),
        false => Err("its checksum does not match"),
    }
}

/// Takes little-endian numbers off the front of a record.
pub(crate) struct Numbers<'a>(pub(crate) &'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (number, rest) = self.0.split_first_chunk::<N>().ok_or("cut short")?;
        self.0 = rest;
        Ok(*number)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        self.take().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Fault> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        self.take().map(u64::from_le_bytes)
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err("too long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_only_in_its_place_and_whole() {
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
