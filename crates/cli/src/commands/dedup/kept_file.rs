//! The output of `dedup`: kept records, each as it came.

use crate::commands::dedup::partial_file::{Content, Sink};
use crate::input::RawRecord;
use crate::run::failure::Failure;
use anyhow::anyhow;
use std::sync::Arc;

/// What some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a kept record is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The path of a file, on a line of its own.
    Path(String),
    /// Bytes of a stream.
    Bytes(Vec<u8>),
    /// A record of a table, whose header comes first.
    Row { header: Arc<[u8]>, bytes: Vec<u8> },
}

impl Written {
    pub(crate) fn new(raw: RawRecord<'_>, id: &str) -> Self {
        match raw {
            RawRecord::File => Self::Path(id.to_owned()),
            RawRecord::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
            RawRecord::Row { header, bytes } => {
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
            let header = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(header);
            let end = header.iter().rposition(|byte| !b"\r\n".contains(byte));
            header.get(..end.map_or(0, |last| last + 1)).unwrap_or_default()
        }
        match (self, other) {
            (Self::Rows(one), Self::Rows(other)) => columns(one) == columns(other),
            (one, other) => one == other,
        }
    }
}

/// The kept records.
pub(crate) struct Kept {
    sink: Sink,
    shape: Option<Shape>,
    /// The last byte so far, also of an interrupted run that has begun it.
    last: Option<u8>,
}

impl Kept {
    pub(crate) fn new(sink: Sink) -> Self {
        let last = match &sink {
            Sink::Part(part) => part.last(),
            Sink::Stream(..) | Sink::Nowhere => None,
        };
        Self { sink, shape: None, last }
    }

    /// Checks that a record can be in one output with those before it.
    pub(crate) fn admit(&mut self, written: &Written, place: &str) -> Result<(), Failure> {
        let shape = match written {
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
    pub(crate) fn begin_table(&mut self, header: &Arc<[u8]>) -> Result<(), Failure> {
        if self.shape.is_some() {
            return Ok(());
        }
        self.shape = Some(Shape::Rows(Arc::clone(header)));
        if self.last.is_some() { Ok(()) } else { self.put(header) }
    }

    /// Writes a record that was admitted.
    pub(crate) fn write(&mut self, written: &Written) -> Result<(), Failure> {
        // Records of tables may end in `\r` alone.
        let in_table = matches!(self.shape, Some(Shape::Rows(_)));
        let ended = match self.last {
            None | Some(b'\n') => true,
            Some(b'\r') => in_table,
            Some(_) => false,
        };
        if !ended {
            self.put(b"\n")?;
        }
        match written {
            Written::Path(path) => {
                self.put(path.as_bytes())?;
                self.put(b"\n")
            }
            // What marks the beginning of a file is nothing in the middle of one.
            Written::Bytes(bytes) if self.last.is_some() => {
                self.put(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes))
            }
            Written::Bytes(bytes) | Written::Row { bytes, .. } => self.put(bytes),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.last = bytes.last().copied().or(self.last);
        self.sink.write(bytes)
    }

    /// Makes durable what was written; what that is, where it can be gone on from.
    pub(crate) fn sync(&mut self) -> Result<Option<Content>, Failure> {
        self.sink.sync()
    }

    /// Lets the output appear.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.sink.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::dedup::partial_file::Part;

    fn bytes(text: &str) -> Written {
        Written::Bytes(text.into())
    }

    #[test]
    fn a_line_end_that_is_missing_is_written_when_another_line_follows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        let part = Part::create(&path).ok().expect("created");
        let mut kept = Kept::new(Sink::Part(part));
        for text in ["\u{feff}a\r\n", "\u{feff}b"] {
            assert!(kept.write(&bytes(text)).is_ok());
        }
        let begun = kept.sync().ok().flatten().expect("a file");
        let part = Part::resume(&path, begun).ok().flatten().expect("it is there");
        let mut kept = Kept::new(Sink::Part(part));
        assert!(kept.write(&bytes("c")).is_ok());
        assert!(kept.finish().is_ok());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "\u{feff}a\r\nb\nc");
    }

    #[test]
    fn rows_may_end_in_a_carriage_return_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        for (header, expected) in
            [("id,text\r", "id,text\ra,x\rb,y\nc,z\r"), ("id,text", "id,text\na,x\rb,y\nc,z\r")]
        {
            let mut kept = Kept::new(Sink::Part(Part::create(&path).ok().expect("created")));
            assert!(kept.begin_table(&header.as_bytes().into()).is_ok());
            for row in ["a,x\r", "b,y", "c,z\r"] {
                let header = header.as_bytes().into();
                assert!(kept.write(&Written::Row { header, bytes: row.into() }).is_ok());
            }
            assert!(kept.finish().is_ok());
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), expected);
        }
    }
}
