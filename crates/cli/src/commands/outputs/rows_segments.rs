//! Kept rows on their way to Parquet: segments, each a complete file with its length behind it. A
//! spool of segments begins as Parquet does, so it can become a file of them all.

use crate::commands::outputs::picked_rows::PickedRows;
use crate::input::{Seekable, unless_panicked};
use crate::run::column_format::ColumnFormat;
use crate::run::columns_file::{ColumnWriter, of_arrow, of_parquet};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A segment ends with the batch that brings its values to this many bytes. Readers want such row
/// groups, and several of them can be encoded at a time.
const SEGMENT_BYTES: usize = 16 << 20;

/// How many batches may wait to be encoded, for each segment.
const WAITING: usize = 2;

/// The most segments that are encoded at a time. Four threads encode faster than one judges.
const MOST_ENCODERS: usize = 4;

/// The bytes of a length.
const LENGTH: u64 = 8;

/// Rows that are being encoded: one segment after the other, each on a thread of its own.
pub(crate) struct Segments {
    schema: SchemaRef,
    /// The segment that takes the next rows, and about the bytes that it has taken.
    open: Option<(SyncSender<PickedRows>, usize)>,
    /// The threads of all segments that are not ready, in order.
    encoders: VecDeque<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Segments {
    /// Begins with no rows of these columns.
    pub(crate) fn new(schema: &SchemaRef) -> Self {
        Self { schema: Arc::clone(schema), open: None, encoders: VecDeque::new() }
    }

    /// Adds rows. Returns the segments that had to be waited for.
    pub(crate) fn write(&mut self, rows: PickedRows) -> io::Result<Vec<Vec<u8>>> {
        let mut ready = Vec::new();
        let (segment, bytes) = match self.open.take() {
            Some(open) => open,
            None => {
                let most = rayon::current_num_threads().min(MOST_ENCODERS);
                while self.encoders.len() >= most {
                    ready.extend(self.first()?);
                }
                (self.begin()?, 0)
            }
        };
        let bytes = bytes + rows.bytes();
        // If the encoder has failed, its end tells why.
        let _ = segment.send(rows);
        self.open = (bytes < SEGMENT_BYTES).then_some((segment, bytes));
        Ok(ready)
    }

    /// Begins a segment.
    fn begin(&mut self) -> io::Result<SyncSender<PickedRows>> {
        let (rows, waiting) = sync_channel::<PickedRows>(WAITING);
        let schema = Arc::clone(&self.schema);
        let encode = move || {
            encoded(&schema, |writer| {
                waiting.into_iter().try_for_each(|rows| {
                    let slices = rows.slices(&schema).map_err(of_arrow)?;
                    slices.iter().try_for_each(|rows| writer.write(rows))
                })
            })
        };
        self.encoders.push_back(Builder::new().name("encoder".to_owned()).spawn(encode)?);
        Ok(rows)
    }

    /// Waits for the first segment that is not ready; `None` if there is none.
    fn first(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(encoder) = self.encoders.pop_front() else { return Ok(None) };
        let encoded = encoder.join();
        let mut encoded =
            encoded.map_err(|_| io::Error::other("the encoder of Parquet failed"))??;
        let length = encoded.len() as u64;
        encoded.extend_from_slice(&length.to_le_bytes());
        Ok(Some(encoded))
    }

    /// Ends all segments. Returns those that were not returned yet.
    pub(crate) fn end(mut self) -> io::Result<Vec<Vec<u8>>> {
        self.open = None;
        std::iter::from_fn(|| self.first().transpose()).collect()
    }
}

/// A Parquet file of some rows.
pub(super) fn encoded(
    schema: &Schema,
    write: impl FnOnce(&mut ColumnWriter<Vec<u8>>) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let encode = || {
        let mut writer = ColumnWriter::new(ColumnFormat::Parquet, Vec::new(), schema)?;
        write(&mut writer)?;
        writer.finish()
    };
    unless_panicked(encode).map_err(io::Error::other)?
}

/// A segment of a spool.
pub(super) struct Placed {
    /// Where it begins in the spool.
    pub(super) start: u64,
    pub(super) bytes: Seekable,
    pub(super) metadata: ArrowReaderMetadata,
}

/// The segments of a spool, in order.
pub(super) fn all(spool: &Seekable) -> io::Result<Vec<Placed>> {
    let (mut segments, mut end) = (VecDeque::new(), spool.len());
    while let Some(segment) = last_before(spool, end)? {
        end = segment.start;
        segments.push_front(segment);
    }
    Ok(segments.into())
}

/// The segment that ends at a place; `None` at the beginning of the spool.
fn last_before(spool: &Seekable, end: u64) -> io::Result<Option<Placed>> {
    if end == 0 {
        return Ok(None);
    }
    let damaged = || io::Error::other("the rows that were kept are damaged");
    let place = end.checked_sub(LENGTH).ok_or_else(damaged)?;
    let length = spool.get_bytes(place, LENGTH as usize).map_err(of_parquet)?;
    let length = u64::from_le_bytes(length.as_ref().try_into().map_err(io::Error::other)?);
    let start = place.checked_sub(length).filter(|start| *start < place).ok_or_else(damaged)?;
    let bytes = spool.part(start, length);
    let metadata = ArrowReaderMetadata::load(&bytes, Default::default()).map_err(of_parquet)?;
    Ok(Some(Placed { start, bytes, metadata }))
}

/// The columns of the last segment of a spool; `None` if it has none.
pub(super) fn schema(spool: &Seekable) -> io::Result<Option<SchemaRef>> {
    let last = last_before(spool, spool.len())?;
    Ok(last.map(|segment| Arc::clone(segment.metadata.schema())))
}
