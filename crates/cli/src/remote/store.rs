//! Opens the store that an address names, with the credentials of the environment.

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, Error, ObjectStore, RetryConfig,
};
use std::collections::HashMap;
use std::error::Error as _;
use std::future::Future;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The most characters of a store's message.
const SHOWN: usize = 400;

/// How long to wait for a connection, and for the next bytes of an answer. A whole answer may take
/// any time.
const READING: [(ClientConfigKey, &str); 3] = [
    (ClientConfigKey::ConnectTimeout, "10 seconds"),
    (ClientConfigKey::ReadTimeout, "60 seconds"),
    (ClientConfigKey::Timeout, "1000 days"),
];

/// The same for what is sent. The wait for an answer begins with the request, and a large file is
/// sent for long.
const WRITING: [(ClientConfigKey, &str); 3] = [
    (ClientConfigKey::ConnectTimeout, "10 seconds"),
    (ClientConfigKey::ReadTimeout, "12 hours"),
    (ClientConfigKey::Timeout, "1000 days"),
];

/// The limits of requests of a kind.
type Timeouts = [(ClientConfigKey, &'static str); 3];

/// A store, and a place in it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) key: Key,
    /// The address of the whole store as it was given, with a slash at its end.
    pub(super) base: String,
    /// Whether it is a web server, which has files and no list of them.
    pub(super) is_web: bool,
}

/// The stores that were opened, by their addresses and whether they are written to: each keeps its
/// connections.
static STORES: LazyLock<Mutex<Stores>> = LazyLock::new(Mutex::default);
type Stores = HashMap<(String, bool), Arc<dyn ObjectStore>>;

/// The runtime of requests; an error if it cannot be started.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    // Fails only if another provider was installed, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Builder::new_multi_thread().worker_threads(1).thread_name("remote").enable_all().build()
});

/// The runtime of requests.
pub(super) fn runtime() -> io::Result<&'static Runtime> {
    RUNTIME.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// Waits for a request.
pub(super) fn wait<T>(request: impl Future<Output = Result<T, Error>>) -> io::Result<T> {
    runtime()?.block_on(request).map_err(|error| explained(&error))
}

impl Place {
    /// The place that an address names, to read it.
    pub(super) fn of(address: &str) -> io::Result<Self> {
        Self::opened(address, false)
    }

    /// The place that an address names, to write to it.
    pub(super) fn to_write(address: &str) -> io::Result<Self> {
        Self::opened(address, true)
    }

    fn opened(address: &str, is_written: bool) -> io::Result<Self> {
        let invalid = |cause: String| io::Error::new(io::ErrorKind::InvalidInput, cause);
        let (given, rest) = address.split_once("://").unwrap_or_default();
        let scheme = &*given.to_ascii_lowercase();
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_web = matches!(scheme, "http" | "https");
        if is_web && key.contains(['?', '#']) {
            return Err(invalid("is an address with a query, which cannot be sent".to_owned()));
        }
        if is_web && host.contains('@') {
            let cause = "is an address with a password, which ids and messages would show";
            return Err(invalid(cause.to_owned()));
        }
        if is_web && key.to_ascii_lowercase().contains("%2f") {
            let cause = "has a slash within a name (%2F), and would lead to another file";
            return Err(invalid(cause.to_owned()));
        }
        // An address of the web has escapes; the names of objects are literal, as in other tools.
        let key = if is_web { Key::from_url_path(key) } else { Key::parse(key) };
        let key = key.map_err(|error| invalid(error.to_string()))?;
        let whole = format!("{scheme}://{host}/");
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let named = (whole, is_written);
        let store = match stores.get(&named) {
            Some(store) => Arc::clone(store),
            None => {
                runtime()?;
                let timeouts = if is_written { WRITING } else { READING };
                let store = open(scheme, &named.0, timeouts).map_err(|error| explained(&error))?;
                stores.insert(named, Arc::clone(&store));
                store
            }
        };
        Ok(Self { store, key, base: format!("{given}://{host}/"), is_web })
    }
}

/// Opens a store.
fn open(scheme: &str, base: &str, timeouts: Timeouts) -> Result<Arc<dyn ObjectStore>, Error> {
    let retries = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        },
        max_retries: 6,
        // It begins with a request, and a large file is read for long.
        retry_timeout: Duration::from_secs(365 * 24 * 3600),
    };
    Ok(match scheme {
        "s3" | "s3a" => {
            let mut builder = AmazonS3Builder::from_env().with_url(base).with_retry(retries);
            for (key, value) in timeouts {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
            }
            let endpoints = [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint];
            let mut endpoints = endpoints.iter().filter_map(|key| builder.get_config_value(key));
            if endpoints.any(|endpoint| endpoint.starts_with("http://")) {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.build()?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(base).with_retry(retries);
            let timed = timeouts.into_iter().fold(builder, |builder, (key, value)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            });
            Arc::new(timed.build()?)
        }
        "http" | "https" => {
            let options =
                timeouts.into_iter().fold(ClientOptions::new(), |options, (key, value)| {
                    options.with_config(key, value)
                });
            let builder = HttpBuilder::new().with_url(base).with_retry(retries);
            Arc::new(builder.with_client_options(options.with_allow_http(true)).build()?)
        }
        "az" | "adl" | "azure" | "abfs" | "abfss" => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(base).with_retry(retries);
            let timed = timeouts.into_iter().fold(builder, |builder, (key, value)| {
                builder.with_config(AzureConfigKey::Client(key), value)
            });
            Arc::new(timed.build()?)
        }
        other => {
            let source = format!("{other}:// is not known; s3, gs, az, http and https are").into();
            return Err(Error::Generic { store: "addresses", source });
        }
    })
}

/// An error of a store, in one line and with what to do.
pub(super) fn explained(error: &Error) -> io::Error {
    use io::ErrorKind;
    let denied = "access was denied; credentials for object stores come from variables of the \
                  environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from the \
                  machine's role";
    let no_bucket = "there is no such bucket";
    let (kind, what) = match error {
        Error::NotFound { source, .. } if source.to_string().contains("NoSuchBucket") => {
            (ErrorKind::NotFound, no_bucket)
        }
        Error::NotFound { .. } => (ErrorKind::NotFound, "is not there"),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            (ErrorKind::PermissionDenied, denied)
        }
        Error::Precondition { .. } => (ErrorKind::InvalidData, "was changed while it was read"),
        _ => (ErrorKind::Other, ""),
    };
    if !what.is_empty() {
        return io::Error::new(kind, what);
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    if text.contains("contained empty path segment") {
        text += "; twindex reads no names with an empty part, nor folders that hold them";
    }
    // The address at which machines of the cloud tell their roles.
    if text.contains("169.254.169.254") {
        let cause = "no credentials were found; set variables of the environment, such as \
                     AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SKIP_SIGNATURE=true for \
                     public files)";
        return io::Error::new(ErrorKind::PermissionDenied, cause);
    }
    if text.contains("403 Forbidden") {
        return io::Error::new(ErrorKind::PermissionDenied, denied);
    }
    if text.contains("NoSuchBucket") {
        return io::Error::new(ErrorKind::NotFound, no_bucket);
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(':');
    let shown: String = line.chars().take(SHOWN).collect();
    io::Error::other(if shown.len() < line.len() { shown + "..." } else { shown })
}
