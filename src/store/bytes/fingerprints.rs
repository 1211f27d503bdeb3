//! Encodes fingerprint rows (`docs/format.md`, section "Fingerprint row").

use crate::sketch::Fingerprints;
use crate::store::bytes::codec::{DecodeError, seal, unseal};
use crate::store::bytes::schema::{DocNo, Table};

/// Encodes a fingerprint row: the fingerprints, the checksum.
pub(crate) fn encode_fingerprints(fingerprints: &Fingerprints, doc: DocNo) -> Vec<u8> {
    seal(fingerprints.as_bytes().to_vec(), Table::Fingerprints, u64::from(doc.0))
}

/// Decodes a fingerprint row.
pub(crate) fn decode_fingerprints(sealed: &[u8], doc: DocNo) -> Result<Fingerprints, DecodeError> {
    Fingerprints::from_bytes(unseal(sealed, Table::Fingerprints, u64::from(doc.0))?)
}
