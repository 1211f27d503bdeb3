//! The formats of files of rows by columns, by their names.

use std::path::Path;

/// The format of a file of rows by columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFormat {
    Parquet,
    /// An IPC file.
    Arrow,
    /// An IPC stream.
    ArrowStream,
}

impl ColumnFormat {
    /// The format by the name of a file; `None` if it is another one.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// The format of what is kept of an input. An Arrow file may be a stream by any name: so
    /// Hugging Face stores it, and reads nothing else.
    pub fn as_input(self, is_stream: bool) -> Self {
        match self {
            Self::Arrow if is_stream => Self::ArrowStream,
            own => own,
        }
    }
}
