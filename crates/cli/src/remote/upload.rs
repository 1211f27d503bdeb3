//! Copies complete files to addresses.

use super::object::size_of;
use super::store::{Place, explained, runtime, wait};
use futures_util::StreamExt;
use object_store::{Error, ObjectStoreExt, WriteMultipart};
use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind, Read, Seek};
use std::time::Duration;
use tokio::time::sleep;

/// The least bytes of a part, and the most parts of a file: stores allow 10,000.
const PART: u64 = 8 << 20;
const PARTS: u64 = 9_000;

/// The most parts that are sent at the same time.
const AT_ONCE: usize = 4;

/// How often a copy looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// Fails if an address names no file of a store that can be reached, before anything is made. Only
/// writing shows whether it may be written.
pub fn check_writable(address: &str) -> io::Result<()> {
    let place = Place::of(address)?;
    if address.ends_with('/') || place.key.as_ref().is_empty() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "names no file"));
    }
    let is_there = match size_of(address)? {
        // The answer does not tell a missing bucket from a missing file.
        None if !place.is_web => {
            let first = async { place.store.list(Some(&place.key)).next().await.transpose() };
            wait(first).map(drop)
        }
        _ => Ok(()),
    };
    match is_there {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        result => result,
    }
}

/// Copies a file to an address. The file appears there when it is complete, and replaces another.
/// `stop` is asked now and then whether to give up.
pub fn upload(file: &mut File, address: &str, stop: fn() -> bool) -> io::Result<()> {
    let place = Place::of(address)?;
    file.rewind()?;
    let size = file.metadata()?.len();
    // A web server takes a file in one request.
    if size <= PART || place.is_web {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let put = place.store.put(&place.key, bytes.into());
        return runtime()?.block_on(unless(stop, put)).map(drop);
    }
    let part = PART.max(size.div_ceil(PARTS));
    let upload = wait(place.store.put_multipart(&place.key))?;
    let mut upload = WriteMultipart::new_with_chunk_size(upload, part as usize);
    let mut bytes = vec![0; PART as usize];
    let sent = runtime()?.block_on(async {
        loop {
            let read = file.read(&mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            unless(stop, upload.wait_for_capacity(AT_ONCE)).await?;
            upload.write(&bytes[..read]);
        }
    });
    match sent {
        Ok(()) => runtime()?.block_on(unless(stop, upload.finish())).map(drop),
        Err(error) => {
            // What cannot be taken back is removed by the rules of the bucket.
            let _ = wait(upload.abort());
            Err(error)
        }
    }
}

/// Waits for a request, unless it is to stop.
async fn unless<T>(
    stop: fn() -> bool,
    request: impl Future<Output = Result<T, Error>>,
) -> io::Result<T> {
    let stopped = async {
        while !stop() {
            sleep(LOOK).await;
        }
    };
    tokio::select! {
        done = request => done.map_err(|error| explained(&error)),
        () = stopped => Err(io::Error::new(ErrorKind::Interrupted, "interrupted")),
    }
}
