//! Shared helpers of the tests: temporary indexes, made-up texts, brute force.

use tempfile::TempDir;
use twindex::{CheckReport, Index, IndexOptions, Settings, Signature, Snapshot};

/// An index path in a temporary folder, which is deleted when this is dropped.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub fn index(&self) -> std::path::PathBuf {
        self.path("index.twx")
    }
}

/// Sizes so small that flushes and merges happen all the time.
pub fn tiny() -> IndexOptions {
    Index::options().flush_documents(8).merge_runs(3).cache_bytes(1 << 20)
}

/// A generator of pseudo-random numbers that is the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Runs a test for some seeds, or for those that the environment names, and prints each:
/// `TWINDEX_SEEDS=100..900 cargo test --test integration -- mixed`.
#[expect(clippy::print_stderr, reason = "the output of a test that fails tells the seed")]
pub fn for_each_seed(usual: std::ops::Range<u64>, test: impl Fn(u64) -> twindex::Result<()>) {
    let named = std::env::var("TWINDEX_SEEDS").ok().map(|seeds| {
        let (first, end) = seeds.split_once("..").expect("TWINDEX_SEEDS is FIRST..END");
        let seed = |text: &str| text.parse().expect("a number in TWINDEX_SEEDS");
        let (first, end) = (seed(first), seed(end));
        assert!(first < end, "TWINDEX_SEEDS names no seed");
        first..end
    });
    for seed in named.unwrap_or(usual) {
        eprintln!("seed {seed}");
        test(seed).expect("no error");
    }
}

/// A text of `words` words. Texts of one family differ in a few words, so they are similar to each
/// other and to no text of another family.
pub fn text(family: u64, variant: u64, words: usize) -> String {
    let mut base = Random(family.wrapping_mul(77) + 1);
    let mut change = Random(family ^ variant.wrapping_mul(0x1234_5678_9ABC));
    let word = |random: &mut Random| {
        let letters = 3 + random.below(6);
        (0..letters).map(|_| (b'a' + random.below(26) as u8) as char).collect::<String>()
    };
    let mut all: Vec<String> = (0..words).map(|_| word(&mut base)).collect();
    for _ in 0..variant % 4 {
        let at = change.below(words as u64) as usize;
        all[at] = word(&mut change);
    }
    all.join(" ")
}

/// The similarity of two signatures by the formula of the documentation.
pub fn estimate(a: &Signature, b: &Signature) -> f64 {
    let equal = a.lanes().iter().zip(b.lanes()).filter(|(x, y)| x == y).count();
    let share = equal as f64 / a.lanes().len() as f64;
    ((share - 1.0 / 256.0) / (1.0 - 1.0 / 256.0)).clamp(0.0, 1.0)
}

/// Whether two signatures share the first `depth` lanes of one of the first `bands` bands.
pub fn meet(a: &Signature, b: &Signature, bands: usize, depth: usize) -> bool {
    (0..bands).any(|band| {
        let lanes = 8 * band..8 * band + depth;
        a.lanes()[lanes.clone()] == b.lanes()[lanes]
    })
}

/// The bands and depth that a query probes, from the rule in the documentation.
pub fn probe(settings: &Settings, threshold: f64) -> (usize, usize) {
    let recall = settings.recall();
    for depth in (2..=settings.plan.depth()).rev() {
        let needed = ((1.0 - recall).ln() / (1.0 - threshold.powi(depth as i32)).ln()).ceil();
        let needed = needed.max(1.0) as usize;
        if needed <= settings.plan.bands() {
            return (needed, depth as usize);
        }
    }
    (settings.plan.bands(), 2)
}

pub fn assert_clean(report: &CheckReport) {
    assert!(report.is_clean(), "{:#?}", report.violations);
}

pub fn all_ids(snapshot: &Snapshot) -> Vec<String> {
    snapshot.ids().collect::<Result<_, _>>().expect("ids can be read")
}
