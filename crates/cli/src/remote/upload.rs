//! Copies complete files to addresses.

use super::Seen;
use super::object::seen;
use super::store::{Place, explained, runtime, wait};
use futures_util::StreamExt;
use object_store::{Error, ObjectStoreExt, WriteMultipart};
use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind, Read, Seek};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The least bytes of a part, and the most parts of a file: stores allow 10,000.
const PART: u64 = 8 << 20;
const PARTS: u64 = 9_000;

/// The most parts that are sent at the same time.
const AT_ONCE: usize = 4;

/// How often a copy looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// How long a copy that is to stop waits for the store to complete it, or to take back its parts.
const LAST: Duration = Duration::from_secs(10);

/// Fails if an address names no file of a store that can be reached, before anything is made. Only
/// writing shows whether it may be written.
pub fn check_writable(address: &str) -> io::Result<()> {
    let place = Place::of(address)?;
    if address.ends_with('/') || place.key.as_ref().is_empty() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "names no file"));
    }
    let is_there = match seen(address)? {
        // The answer does not tell a missing bucket from a missing file.
        Seen::Nothing | Seen::Denied if !place.is_web => {
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
    let place = Place::to_write(address)?;
    file.rewind()?;
    let size = file.metadata()?.len();
    // A web server takes a file in one request.
    if size <= PART || place.is_web {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let put = place.store.put(&place.key, bytes.into());
        runtime()?.block_on(unless(stop, put))?;
        return if place.is_web { arrived(address, size) } else { Ok(()) };
    }
    let part = PART.max(size.div_ceil(PARTS));
    let upload = wait(place.store.put_multipart(&place.key))?;
    let mut upload = WriteMultipart::new_with_chunk_size(upload, part as usize);
    let mut bytes = vec![0; PART as usize];
    let sent = runtime()?.block_on(async {
        loop {
            let read = file.read(&mut bytes)?;
            if read == 0 {
                // Parts that are on their way could not be taken back.
                return unless(stop, upload.wait_for_capacity(1)).await;
            }
            unless(stop, upload.wait_for_capacity(AT_ONCE)).await?;
            upload.write(&bytes[..read]);
        }
    });
    match sent {
        Ok(()) => {
            let end = async {
                stopped(stop).await;
                sleep(LAST).await;
            };
            runtime()?.block_on(unless_after(end, upload.finish())).map(drop)
        }
        Err(error) => {
            // What cannot be taken back is removed by the rules of the bucket.
            let _ = runtime()?.block_on(timeout(LAST, upload.abort()));
            Err(error)
        }
    }
}

/// Fails if a web server has said that it took a file, and has another one or none. A server may
/// answer with the page that it shows to people.
fn arrived(address: &str, size: u64) -> io::Result<()> {
    match seen(address) {
        Ok(Seen::Nothing) => {
            Err(io::Error::other("the server said that it took the file, and has none"))
        }
        Ok(Seen::File(other)) if other != size => Err(io::Error::other(format!(
            "the server said that it took the file, and has one of {other} bytes instead of {size}"
        ))),
        // It does not tell.
        _ => Ok(()),
    }
}

/// Waits for a request, unless it is to stop.
async fn unless<T>(
    stop: fn() -> bool,
    request: impl Future<Output = Result<T, Error>>,
) -> io::Result<T> {
    unless_after(stopped(stop), request).await
}

/// Waits until a copy is to stop.
async fn stopped(stop: fn() -> bool) {
    while !stop() {
        sleep(LOOK).await;
    }
}

/// Waits for a request, until something else has ended.
async fn unless_after<T>(
    end: impl Future<Output = ()>,
    request: impl Future<Output = Result<T, Error>>,
) -> io::Result<T> {
    tokio::select! {
        done = request => done.map_err(|error| explained(&error)),
        () = end => Err(io::Error::new(ErrorKind::Interrupted, "interrupted")),
    }
}
