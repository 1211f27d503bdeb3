//! A real S3-compatible server on loopback, if one is installed.
//!
//! `TWINDEX_S3_SERVER` is its command, in which PORT and FOLDER stand for a port and an empty
//! folder: `moto_server -H 127.0.0.1 -p PORT`, or
//! `s3s-fs --access-key AK --secret-key SK --host 127.0.0.1 --port PORT FOLDER`.

use crate::command::report;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// The bucket of the tests.
pub const BUCKET: &str = "corpus";

/// A running server. It ends when this is dropped.
pub struct S3 {
    child: Child,
    port: u16,
    endpoint: String,
    folder: TempDir,
    keeps_files: bool,
}

impl S3 {
    /// Starts the server with an empty bucket; `None` if there is no server.
    pub fn start() -> Option<Self> {
        let Some(command) = std::env::var("TWINDEX_S3_SERVER").ok() else {
            report("skipped: TWINDEX_S3_SERVER names no S3-compatible server");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let port = port.port();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let keeps_files = command.contains("FOLDER");
        let path = folder.path().to_str().expect("UTF-8");
        let command = command.replace("PORT", &port.to_string()).replace("FOLDER", path);
        let mut words = command.split(' ');
        let mut program = Command::new(words.next().expect("a command"));
        let program = program.args(words).stdout(Stdio::null()).stderr(Stdio::null());
        let child = program.spawn().expect("the server starts");
        let endpoint = format!("http://127.0.0.1:{port}");
        let server = Self { child, port, endpoint, folder, keeps_files };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                if !keeps_files {
                    server.request("PUT", "").expect("a bucket");
                }
                return Some(server);
            }
            sleep(Duration::from_millis(50));
        }
        panic!("the S3-compatible server does not answer");
    }

    /// The variables with which the command finds the server.
    pub fn variables(&self) -> [(&str, &str); 4] {
        [
            ("AWS_ACCESS_KEY_ID", "AK"),
            ("AWS_SECRET_ACCESS_KEY", "SK"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &self.endpoint),
        ]
    }

    /// Whether the server checks signatures.
    pub fn checks_keys(&self) -> bool {
        self.keeps_files
    }

    /// An object, read without the code under test; `None` if there is none.
    pub fn object(&self, key: &str) -> Option<Vec<u8>> {
        if self.keeps_files {
            std::fs::read(self.folder.path().join(BUCKET).join(key)).ok()
        } else {
            self.request("GET", key)
        }
    }

    /// Makes an object without content on a server that does not check signatures.
    pub fn put_empty(&self, key: &str) {
        self.request("PUT", key).expect("put");
    }

    /// Sends a request without a body, to a server that does not check its signature. Returns the
    /// body of the answer if it is good.
    fn request(&self, method: &str, key: &str) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(
            stream,
            "{method} /{BUCKET}/{key} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=AK/20240101/us-east-1/s3/aws4_request, \
             SignedHeaders=host, Signature=0\r\nConnection: close\r\n\r\n",
            self.port
        )
        .ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let head = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
        answer.starts_with(b"HTTP/1.1 200").then(|| answer.split_off(head + 4))
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
