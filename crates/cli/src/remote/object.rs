//! Reads files behind addresses: as streams, or at any place.

use super::store::{Place, explained, runtime, wait};
use super::{BLOCK, BLOCKS, Looked, Seen};
use bytes::{Buf, Bytes};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStoreExt};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

/// How often a connection may break without a byte in between.
const BREAKS: u32 = 6;

/// How many pieces of a stream may wait to be read. Stores send some 16 KiB at once.
const AHEAD: usize = 16;

/// A file behind an address, as it was when it was opened. If it changes, reading it fails.
pub struct RemoteFile {
    place: Place,
    size: u64,
    /// What the store calls this state of the file.
    tag: Option<String>,
    /// The blocks that were read last, by their numbers.
    blocks: Mutex<VecDeque<(u64, Bytes)>>,
}

/// What an address leads to.
pub fn look(address: &str) -> io::Result<Looked> {
    let place = Place::of(address)?;
    if !address.ends_with('/') && !place.key.as_ref().is_empty() {
        match wait(place.store.head(&place.key)) {
            Ok(found) => return Ok(Looked::File(RemoteFile::new(place, &found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !place.is_web => {}
            Err(error) => return Err(error),
        }
    }
    if place.is_web {
        let cause = "is no file; a web server does not list its files, so name each of them";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, cause));
    }
    let mut found: Vec<ObjectMeta> = wait(place.store.list(Some(&place.key)).try_collect())?;
    // Folder by folder, as the files of a folder on this machine come.
    found.sort_by(|a, b| a.location.parts().cmp(b.location.parts()));
    let mut files = Vec::new();
    for (at, object) in found.iter().enumerate() {
        let next = found.get(at + 1).map(|next| &next.location);
        if object.size > 0 || !is_folder(&place, &object.location, next)? {
            let path = PathBuf::from(format!("{}{}", place.base, object.location));
            let place = Place { key: object.location.clone(), ..place.clone() };
            files.push((path, RemoteFile::new(place, object)));
        }
    }
    if files.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "is not there, nor is a file below it",
        ));
    }
    Ok(Looked::Folder(files))
}

/// Whether an empty object stands for a folder, as some programs make them: its name ends in `/`,
/// which a listing does not tell. `next` is the object behind it.
fn is_folder(place: &Place, key: &Key, next: Option<&Key>) -> io::Result<bool> {
    if *key == place.key || next.is_some_and(|next| next.prefix_matches(key)) {
        return Ok(true);
    }
    match wait(place.store.head(key)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(_) => Ok(false),
    }
}

/// What is at an address.
pub fn seen(address: &str) -> io::Result<Seen> {
    match RemoteFile::open(address) {
        Ok(file) => Ok(Seen::File(file.size)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(Seen::Nothing),
            io::ErrorKind::PermissionDenied => Ok(Seen::Denied),
            _ => Err(error),
        },
    }
}

impl RemoteFile {
    /// Opens the file at an address.
    pub fn open(address: &str) -> io::Result<Self> {
        let place = Place::of(address)?;
        let found = wait(place.store.head(&place.key))?;
        Ok(Self::new(place, &found))
    }

    fn new(place: Place, found: &ObjectMeta) -> Self {
        let (size, tag) = (found.size, found.e_tag.clone());
        Self { place, size, tag, blocks: Mutex::default() }
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What to ask for: all of the file or a part, in the state in which it was opened.
    fn request(&self, range: Option<GetRange>) -> GetOptions {
        GetOptions { if_match: self.strong_tag(), range, ..GetOptions::default() }
    }

    /// The tag, unless it is a weak one, which stands for several states.
    fn strong_tag(&self) -> Option<String> {
        self.tag.clone().filter(|tag| !tag.starts_with("W/"))
    }

    /// Whether an answer is of this state of the file, as far as it tells. A server may ignore the
    /// condition of a request.
    fn is_same(&self, answer: &ObjectMeta) -> bool {
        answer.size == self.size && is_same_tag(self.tag.as_deref(), answer.e_tag.as_deref())
    }

    /// Reads it from its start to its end. A connection that breaks is made again where the store
    /// allows that; else it is an error, and never the end of the file.
    pub fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        let answer = wait(self.place.store.get_opts(&self.place.key, self.request(None)))?;
        if !self.is_same(&answer.meta) {
            return Err(changed());
        }
        let (sender, pieces) = channel(AHEAD);
        let rest =
            Rest { place: self.place.clone(), tag: self.strong_tag(), size: self.size, done: 0 };
        runtime()?.spawn(rest.receive(answer, sender));
        Ok(Box::new(RemoteStream { pieces, piece: Bytes::new(), left: self.size }))
    }

    /// Whether it can be read at any place. Some web servers send whole files only.
    pub fn is_seekable(&self) -> bool {
        self.size == 0 || !self.place.is_web || self.fetch(0, 1).is_ok()
    }

    /// Reads bytes at a place, fewer only at the end of a block or of the file.
    pub fn read_at(&self, place: u64, out: &mut [u8]) -> io::Result<usize> {
        if place >= self.size || out.is_empty() {
            return Ok(0);
        }
        let (number, within) = (place / BLOCK, (place % BLOCK) as usize);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let block = match blocks.iter().position(|(kept, _)| *kept == number) {
            Some(at) => blocks.remove(at),
            None => {
                let start = number * BLOCK;
                Some((number, self.fetch(start, (start + BLOCK).min(self.size))?))
            }
        };
        let Some((number, bytes)) = block else { return Ok(0) };
        let found = bytes.get(within..).unwrap_or_default();
        let read = found.len().min(out.len());
        out[..read].copy_from_slice(&found[..read]);
        blocks.push_front((number, bytes));
        blocks.truncate(BLOCKS);
        Ok(read)
    }

    /// Asks for the bytes from one place to another.
    fn fetch(&self, from: u64, to: u64) -> io::Result<Bytes> {
        let request = self.request(Some(GetRange::Bounded(from..to)));
        let store = &self.place.store;
        let (meta, bytes) = wait(async {
            let answer = store.get_opts(&self.place.key, request).await?;
            Ok((answer.meta.clone(), answer.bytes().await?))
        })?;
        if self.is_same(&meta) && bytes.len() as u64 == to - from {
            Ok(bytes)
        } else {
            Err(changed())
        }
    }
}

/// Whether two tags may be of one state of a file: both are not, if both are strong and differ.
fn is_same_tag(one: Option<&str>, other: Option<&str>) -> bool {
    let is_strong = |tag: &&str| !tag.starts_with("W/");
    match (one.filter(is_strong), other.filter(is_strong)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

fn changed() -> io::Error {
    let cause = "was changed while it was read, or the server tells another length than it sends";
    io::Error::new(io::ErrorKind::InvalidData, cause)
}

/// What must still be received of a file.
struct Rest {
    place: Place,
    tag: Option<String>,
    /// The length of the file, and how much of it was received.
    size: u64,
    done: u64,
}

impl Rest {
    /// Receives a file, and asks for the rest if the connection breaks. After as many breaks
    /// without a byte between them as requests are tried again, it gives up.
    async fn receive(mut self, answer: GetResult, to: Sender<io::Result<Bytes>>) {
        let (mut stream, mut breaks) = (answer.into_stream(), 0);
        loop {
            match stream.next().await {
                None => return,
                Some(Ok(piece)) => {
                    self.done += piece.len() as u64;
                    breaks = 0;
                    if to.send(Ok(piece)).await.is_err() {
                        return;
                    }
                }
                Some(Err(error)) => {
                    breaks += 1;
                    match self.again(breaks).await {
                        Some(answer) => stream = answer.into_stream(),
                        None => {
                            let cause = format!("the connection broke: {}", explained(&error));
                            let _ = to.send(Err(io::Error::other(cause))).await;
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Asks for the rest; `None` if the server does not give it, or did not several times.
    async fn again(&self, breaks: u32) -> Option<GetResult> {
        let tag = self.tag.clone().filter(|_| breaks <= BREAKS)?;
        sleep(Duration::from_millis(200) * breaks).await;
        let range = Some(GetRange::Offset(self.done));
        let rest = GetOptions { if_match: Some(tag.clone()), range, ..GetOptions::default() };
        let answer = self.place.store.get_opts(&self.place.key, rest).await.ok()?;
        let is_same =
            answer.meta.size == self.size && is_same_tag(Some(&tag), answer.meta.e_tag.as_deref());
        (is_same && answer.range.start == self.done).then_some(answer)
    }
}

/// A file that is being received.
struct RemoteStream {
    pieces: Receiver<io::Result<Bytes>>,
    piece: Bytes,
    /// The bytes that must still come.
    left: u64,
}

impl Read for RemoteStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.piece = piece?,
                None if self.left == 0 => return Ok(0),
                None => {
                    let cause = format!("the connection ended {} bytes before the file", self.left);
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cause));
                }
            }
        }
        let read = self.piece.len().min(out.len());
        self.piece.copy_to_slice(&mut out[..read]);
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}
