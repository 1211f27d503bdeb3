//! Compressing what a test reads.

use std::io::Write;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    pub const ALL: [Self; 3] = [Self::Plain, Self::Gzip, Self::Zstd];

    pub fn pack(self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let bytes = bytes.as_ref();
        match self {
            Self::Plain => bytes.to_vec(),
            Self::Gzip => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("written")
            }
            Self::Zstd => zstd::encode_all(bytes, 1).expect("written"),
        }
    }

    /// What files so compressed have behind their names.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}
