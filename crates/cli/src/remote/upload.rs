//! Copies complete files to addresses.

use super::object::size_of;
use super::store::{Place, explained, runtime, wait};
use object_store::{ObjectStoreExt, WriteMultipart};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The least bytes of a part, and the most parts of a file: stores allow 10,000.
const PART: u64 = 8 << 20;
const PARTS: u64 = 9_000;

/// The most parts that are sent at the same time.
const AT_ONCE: usize = 4;

/// Fails if an address names no file of a store that can be reached, before anything is made. Only
/// writing shows whether it may be written.
pub fn check_writable(address: &str) -> io::Result<()> {
    if address.ends_with('/') || Place::of(address)?.key.as_ref().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "names no file"));
    }
    size_of(address).map(drop)
}

/// Copies a file to an address. The file appears there when it is complete, and replaces another.
pub fn upload(file: &Path, address: &str) -> io::Result<()> {
    let place = Place::of(address)?;
    let mut file = File::open(file)?;
    let size = file.metadata()?.len();
    // A web server takes a file in one request.
    if size <= PART || place.is_web {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return wait(place.store.put(&place.key, bytes.into())).map(drop);
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
            upload.wait_for_capacity(AT_ONCE).await.map_err(|error| explained(&error))?;
            upload.write(&bytes[..read]);
        }
    });
    match sent {
        Ok(()) => wait(upload.finish()).map(drop),
        Err(error) => {
            // What cannot be taken back is removed by the rules of the bucket.
            let _ = wait(upload.abort());
            Err(error)
        }
    }
}
