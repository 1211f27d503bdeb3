//! The output of `dedup`: kept records, each as it came.

use super::failure::Failure;
use super::part::Sink;
use crate::input::Raw;
use anyhow::anyhow;

/// What a kept record is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The path of a file, on a line of its own.
    Path(String),
    /// Bytes of a stream.
    Bytes(Vec<u8>),
}

impl Written {
    pub(super) fn new(raw: Raw<'_>, id: &str) -> Self {
        match raw {
            Raw::File => Self::Path(id.to_owned()),
            Raw::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
        }
    }
}

/// What all records of an output are alike in.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Paths,
    Lines,
}

/// The kept records.
pub(super) struct Kept {
    sink: Sink,
    shape: Option<Shape>,
    /// The last line has no end yet, as it was the last of its input.
    unended: bool,
}

impl Kept {
    pub(super) fn new(sink: Sink) -> Result<Self, Failure> {
        let unended = match &sink {
            Sink::Part(part) => part.last()?.is_some_and(|last| last != b'\n'),
            _ => false,
        };
        Ok(Self { sink, shape: None, unended })
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
        };
        match &self.shape {
            Some(before) if *before != shape => Err(anyhow!(
                "{place}: files and lines cannot be written to one output; deduplicate them one after the other"
            )
            .into()),
            Some(_) => Ok(()),
            None => {
                self.shape = Some(shape);
                Ok(())
            }
        }
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
            Written::Bytes(bytes) => {
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
