//! A small web server on loopback that can be told to misbehave.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// How the server answers.
#[derive(Clone, Copy, Default)]
pub struct Manners {
    /// Whether it sends parts of files, and names their state.
    pub ranges: bool,
    /// After how many bytes of a file it closes the connection, and how often it does so.
    pub cut: Option<(usize, u64)>,
    /// How often it says that it is not ready.
    pub busy: u64,
    /// Whether it tells nothing about files that are asked for, and only takes some.
    pub takes_only: bool,
    /// Whether files have another state, and another name of it, after a connection was cut,
    /// whatever state is asked for.
    pub changes: bool,
    /// Whether it answers a file that is sent with another page, and does not keep it.
    pub redirects: bool,
}

/// A running server. Its thread ends with the test.
pub struct Web {
    pub address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// The bytes of files that were sent.
    pub sent: Arc<AtomicU64>,
    /// Whether it takes files and does not answer.
    pub hangs: Arc<AtomicBool>,
}

impl Web {
    pub fn start(manners: Manners) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let web =
            Self { address, files: Arc::default(), sent: Arc::default(), hangs: Arc::default() };
        let (files, sent) = (Arc::clone(&web.files), Arc::clone(&web.sent));
        let hangs = Arc::clone(&web.hangs);
        let (cuts, refusals) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, sent) = (Arc::clone(&files), Arc::clone(&sent));
                let (cuts, refusals) = (Arc::clone(&cuts), Arc::clone(&refusals));
                let hangs = Arc::clone(&hangs);
                spawn(move || {
                    // The client may close the connection at any time.
                    let _ = serve(&stream, manners, &files, &sent, &cuts, &refusals, &hangs);
                });
            }
        });
        web
    }

    /// Offers a file; returns its address.
    pub fn put(&self, name: &str, content: impl Into<Vec<u8>>) -> String {
        self.files.lock().expect("no panic").insert(name.to_owned(), content.into());
        format!("{}/{name}", self.address)
    }

    /// Deletes a file.
    #[cfg(target_os = "linux")]
    pub fn remove(&self, name: &str) {
        self.files.lock().expect("no panic").remove(name);
    }

    /// A file as it was sent to the server.
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        self.files.lock().expect("no panic").get(name).cloned()
    }
}

/// Answers one request, and closes the connection.
fn serve(
    mut stream: &TcpStream,
    manners: Manners,
    files: &Mutex<BTreeMap<String, Vec<u8>>>,
    sent: &AtomicU64,
    cuts: &AtomicU64,
    refusals: &AtomicU64,
    hangs: &AtomicBool,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut request = String::new();
    lines.read_line(&mut request)?;
    let (mut range, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? <= 2 {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match &*name.to_ascii_lowercase() {
            "range" => range = value.trim().strip_prefix("bytes=").map(str::to_owned),
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    let mut words = request.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let name = path.trim_start_matches('/').to_owned();
    let plain = |stream: &mut &TcpStream, status: &str| {
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    };
    if refusals.fetch_add(1, Ordering::Relaxed) < manners.busy {
        return plain(&mut stream, "503 Service Unavailable");
    }
    if method == "PUT" && hangs.load(Ordering::Relaxed) {
        while hangs.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(10));
        }
        return Ok(());
    }
    if method == "PUT" {
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut lines, &mut body)?;
        if manners.redirects {
            let head = "HTTP/1.1 303 See Other\r\nLocation: /page\r\n";
            return write!(stream, "{head}Content-Length: 0\r\nConnection: close\r\n\r\n");
        }
        files.lock().expect("no panic").insert(name, body);
        return plain(&mut stream, "201 Created");
    }
    if manners.takes_only {
        return plain(&mut stream, "403 Forbidden");
    }
    let Some(content) = files.lock().expect("no panic").get(&name).cloned() else {
        return plain(&mut stream, "404 Not Found");
    };
    let asked = range.filter(|_| manners.ranges).and_then(|range| {
        let (from, to) = range.split_once('-')?;
        let to = to.parse::<usize>().map_or(content.len(), |to| to + 1);
        Some((from.parse::<usize>().ok()?, to.min(content.len())))
    });
    let mut head = match asked {
        Some((from, to)) => {
            let all = content.len();
            format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{all}\r\n",
                to - 1
            )
        }
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
    };
    let body = asked.map_or(&*content, |(from, to)| &content[from..to]);
    head += &format!("Content-Length: {}\r\nConnection: close\r\n", body.len());
    head += "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
    let state = if manners.changes { cuts.load(Ordering::Relaxed) } else { 1 };
    if manners.ranges {
        head += &format!("ETag: \"{state}\"\r\nAccept-Ranges: bytes\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    if method == "HEAD" {
        return Ok(());
    }
    let cut = manners.cut.filter(|(bytes, times)| {
        *bytes < body.len() && cuts.fetch_add(1, Ordering::Relaxed) < *times
    });
    let body = &body[..cut.map_or(body.len(), |(bytes, _)| bytes)];
    for piece in body.chunks(1 << 16) {
        stream.write_all(piece)?;
        sent.fetch_add(piece.len() as u64, Ordering::Relaxed);
    }
    Ok(())
}
