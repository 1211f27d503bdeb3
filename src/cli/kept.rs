//! The output of `dedup`: kept records, each as it came.

use super::failure::Failure;
use super::part::Sink;
use crate::input::Raw;
use anyhow::anyhow;
use std::sync::Arc;

/// What a kept record is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The path of a file, on a line of its own.
    Path(String),
    /// Bytes of a stream.
    Bytes(Vec<u8>),
    /// A record of a table, whose header comes first.
    Row { header: Arc<[u8]>, bytes: Vec<u8> },
}

impl Written {
    pub(super) fn new(raw: Raw<'_>, id: &str) -> Self {
        match raw {
            Raw::File => Self::Path(id.to_owned()),
            Raw::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
            Raw::Row { header, bytes } => {
                Self::Row { header: Arc::clone(header), bytes: bytes.to_owned() }
            }
        }
    }
}

/// What all records of an output are alike in.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Paths,
    Lines,
    /// Records of tables with this header.
    Rows(Arc<[u8]>),
}

impl Shape {
    /// Whether records of both can be in one output.
    fn is_like(&self, other: &Self) -> bool {
        fn columns(header: &[u8]) -> &[u8] {
            const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
            header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header).trim_ascii_end()
        }
        match (self, other) {
            (Self::Rows(one), Self::Rows(other)) => columns(one) == columns(other),
            (one, other) => one == other,
        }
    }
}

/// The kept records.
pub(super) struct Kept {
    sink: Sink,
    shape: Option<Shape>,
    /// The last line has no end yet, as it was the last of its input.
    unended: bool,
    /// Whether an interrupted run has begun it.
    resumed: bool,
}

impl Kept {
    pub(super) fn new(sink: Sink) -> Result<Self, Failure> {
        let last = match &sink {
            Sink::Part(part) => part.last()?,
            _ => None,
        };
        let unended = last.is_some_and(|last| last != b'\n');
        Ok(Self { sink, shape: None, unended, resumed: last.is_some() })
    }

    /// Checks that a record can be in one output with those before it.
    pub(super) fn admit(&mut self, written: &Written, place: &str) -> Result<(), Failure> {
        let shape = match written {
            Written::Path(path) if path.contains('\n') => {
                return Err(anyhow!(
                    "{path}: a path with a line break cannot be written to a list of paths"
                )
                .into());
            }
            Written::Path(_) => Shape::Paths,
            Written::Bytes(_) => Shape::Lines,
            Written::Row { header, .. } => Shape::Rows(Arc::clone(header)),
        };
        let Some(before) = &self.shape else {
            self.shape = Some(shape);
            return Ok(());
        };
        if before.is_like(&shape) {
            return Ok(());
        }
        let why = match (before, &shape) {
            (Shape::Rows(_), Shape::Rows(_)) => "tables with other columns",
            (Shape::Rows(_), _) | (_, Shape::Rows(_)) => "tables and others",
            _ => "files and lines",
        };
        Err(anyhow!(
            "{place}: {why} cannot be written to one output; deduplicate them one after the other"
        )
        .into())
    }

    /// Begins a table, if nothing else is begun: its header comes before its records, if any.
    pub(super) fn begin_table(&mut self, header: &Arc<[u8]>) -> Result<(), Failure> {
        if self.shape.is_some() {
            return Ok(());
        }
        self.shape = Some(Shape::Rows(Arc::clone(header)));
        if self.resumed { Ok(()) } else { self.put(header) }
    }

    /// Writes a record that was admitted.
    pub(super) fn write(&mut self, written: &Written) -> Result<(), Failure> {
        if self.unended {
            self.put(b"\n")?;
        }
        match written {
            Written::Path(path) => {
                self.put(path.as_bytes())?;
                self.put(b"\n")
            }
            Written::Bytes(bytes) | Written::Row { bytes, .. } => {
                self.put(bytes)?;
                self.unended = !bytes.ends_with(b"\n");
                Ok(())
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.unended = false;
        self.sink.write(bytes)
    }

    /// Makes durable what was written; its length, where that can be gone on from.
    pub(super) fn sync(&mut self) -> Result<Option<u64>, Failure> {
        self.sink.sync()
    }

    /// Lets the output appear.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::Part;
    use super::*;

    #[test]
    fn a_line_end_that_is_missing_is_written_when_another_line_follows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let part = Part::create(&path).ok().expect("created");
        let mut kept = Kept::new(Sink::Part(part)).ok().expect("new");
        assert!(kept.write(&Written::Bytes(b"a\r\n".to_vec())).is_ok());
        assert!(kept.write(&Written::Bytes(b"b".to_vec())).is_ok());
        assert!(kept.sync().is_ok());
        let part = Part::resume(&path, 4).ok().flatten().expect("it is there");
        let mut kept = Kept::new(Sink::Part(part)).ok().expect("new");
        assert!(kept.write(&Written::Bytes(b"c".to_vec())).is_ok());
        assert!(kept.finish().is_ok());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "a\r\nb\nc");
    }
}
