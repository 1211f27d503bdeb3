//! A bucket of one band.

use crate::lsh::WordRange;
use crate::store::bytes::schema::BandNo;

/// A bucket: the documents whose words of one band lie in a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) band: BandNo,
    pub(crate) words: WordRange,
}
