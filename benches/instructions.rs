//! Hot paths, each alone in a process, for a tool that counts instructions.
//!
//! `instructions fill FOLDER` makes the index there that paths work on. After that,
//! `instructions PATH 0 FOLDER` prepares PATH and `instructions PATH 1 FOLDER` runs it too: the
//! difference of their counts is that of the path. `benches/instructions.py` takes it. Without
//! arguments the program does nothing, so that `cargo bench` goes on to the others.

use std::hint::black_box;
use std::path::Path;
use twindex::{Index, IndexOptions, Insertion, Shingle, Shingler, Signature, Sketcher};

#[path = "scale/synthetic.rs"]
#[expect(dead_code, reason = "the long runs use more of it")]
mod synthetic;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const DOCUMENTS: u64 = 10_000;

/// So that these documents make three runs and a tail, and not a tail alone.
const FLUSHED: usize = 3_000;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (path, run, folder) = match args[..] {
        ["fill", folder] => return fill(Path::new(folder)),
        [path, run, folder] => (path, run == "1", Path::new(folder)),
        _ => return Ok(()),
    };
    match path {
        "sketch-ascii" => sketch(&ascii(), run),
        "sketch-unicode" => sketch(&unicode(), run),
        "insert" => insert(folder, run),
        "query" => query(folder, run),
        "pairs" => pairs(folder, run),
        "clusters" => clusters(folder, run),
        "exact-pairs" => exact_pairs(folder, run, None),
        "exact-limited-pairs" => exact_pairs(folder, run, Some(1)),
        "exact-clusters" => exact_clusters(folder, run),
        "exact-dedup" => exact_dedup(folder, run),
        "open" => open_again(folder, run),
        "containment" => containment(folder, run),
        "dedup" => dedup(folder, run),
        "remove" => remove(folder, run),
        "compact" => compact(folder, run),
        other => Err(format!("{other}: no such path").into()),
    }
}

/// Does a thing once to fill caches, and again if it is to be measured.
fn warm(run: bool, mut path: impl FnMut() -> Outcome) -> Outcome {
    path()?;
    if run { path() } else { Ok(()) }
}

/// A megabyte of words as natural language has them: few are frequent, many are rare.
fn words(word: impl Fn(u64) -> String) -> String {
    let mut random = synthetic::Random(7);
    let mut text = String::new();
    while text.len() < 1 << 20 {
        let most = 1 << (random.next() % 14);
        text += &word(random.next() % most);
        text.push(if random.next().is_multiple_of(12) { '\n' } else { ' ' });
    }
    text
}

/// The word of a number: letters of an alphabet of 26 from this one on.
fn word(number: u64, first: char) -> String {
    let mut random = synthetic::Random(number);
    let letters = 2 + random.next() % 8;
    (0..letters)
        .filter_map(|_| char::from_u32(first as u32 + (random.next() % 26) as u32))
        .collect()
}

fn ascii() -> String {
    words(|number| word(number, 'a'))
}

/// Mostly ASCII; a word in three is Cyrillic, Greek, Chinese, or has an accent to be composed.
fn unicode() -> String {
    words(|number| match number % 12 {
        0 => word(number, '\u{430}'),
        1 => word(number, '\u{3B1}'),
        2 => word(number, '\u{4E00}'),
        3 => word(number, 'a') + "e\u{301}",
        _ => word(number, 'a'),
    })
}

fn sketch(text: &str, run: bool) -> Outcome {
    let shingle = Shingle::default();
    let shingler = Shingler::new(shingle, shingle.default_normalization(), false, 0)?;
    let sketcher = Sketcher::new(shingler, 256, 0).expect("valid");
    warm(run, || {
        black_box(sketcher.signature(black_box(text)).expect("a text"));
        Ok(())
    })
}

fn options() -> IndexOptions {
    Index::options().flush_documents(FLUSHED)
}

fn insert(folder: &Path, run: bool) -> Outcome {
    into_new(folder, run, |insertion| insertion)
}

fn dedup(folder: &Path, run: bool) -> Outcome {
    into_new(folder, run, |insertion| insertion.unless_similar(0.8))
}

/// Inserts the documents into a new index.
fn into_new(folder: &Path, run: bool, how: fn(Insertion<'_>) -> Insertion<'_>) -> Outcome {
    let folder = tempfile::tempdir_in(folder)?;
    let index = options().create(folder.path().join("new.twx"))?;
    let documents = synthetic::documents(0..DOCUMENTS)?;
    if run {
        let mut txn = index.begin_write()?;
        how(txn.insertion()).documents(documents)?;
        txn.commit()?;
    }
    Ok(index.close()?)
}

/// Makes the index that the other paths ask and change: one for all of them, as ids are hashed with
/// another key in each file.
fn fill(folder: &Path) -> Outcome {
    let index = options().create(folder.join("filled.twx"))?;
    synthetic::load(&index, 0..DOCUMENTS, DOCUMENTS, |_, _| {})?;
    Ok(index.close()?)
}

/// Opens a copy of that index.
fn open(folder: &Path) -> Outcome<Index> {
    let path = folder.join("copy.twx");
    std::fs::copy(folder.join("filled.twx"), &path)?;
    Ok(options().open(path)?)
}

fn query(folder: &Path, run: bool) -> Outcome {
    let snapshot = open(folder)?.snapshot()?;
    let hits = (0..500).map(|number| synthetic::signature(20 * number));
    let signatures: Vec<Signature> = hits.chain((0..500).map(synthetic::stranger)).collect();
    warm(run, || {
        for signature in &signatures {
            black_box(snapshot.query().limit(10).by_signature(signature)?);
        }
        Ok(())
    })
}

fn pairs(folder: &Path, run: bool) -> Outcome {
    let snapshot = open(folder)?.snapshot()?;
    warm(run, || {
        for pair in snapshot.pairs(0.8)? {
            black_box(pair?);
        }
        Ok(())
    })
}

fn clusters(folder: &Path, run: bool) -> Outcome {
    let snapshot = open(folder)?.snapshot()?;
    warm(run, || {
        black_box(snapshot.clusters(0.8)?.find().run()?);
        Ok(())
    })
}

/// 600 texts of 8 KiB, in families of three near copies.
fn families() -> Vec<(String, String)> {
    const BYTES: usize = 8 << 10;
    let text = ascii();
    let family = |number: usize| {
        // Each copy begins a little later than the one before.
        let start = number / 3 * 4 * 1024 + number % 3 * 256;
        (number.to_string(), text[start..start + BYTES].to_string())
    };
    (0..600).map(family).collect()
}

/// An empty index that stores texts.
fn with_texts(folder: &Path) -> Outcome<(tempfile::TempDir, Index)> {
    let folder = tempfile::tempdir_in(folder)?;
    let index = options().store_text(true).create(folder.path().join("texts.twx"))?;
    Ok((folder, index))
}

/// The families in an index that stores texts.
fn stored_families(folder: &Path) -> Outcome<(tempfile::TempDir, Index)> {
    let (folder, index) = with_texts(folder)?;
    let mut txn = index.begin_write()?;
    for (id, text) in families() {
        txn.insert(&id, &*text)?;
    }
    txn.commit()?;
    Ok((folder, index))
}

fn exact_pairs(folder: &Path, run: bool, most: Option<u32>) -> Outcome {
    let (_folder, index) = stored_families(folder)?;
    let snapshot = index.snapshot()?;
    warm(run, || {
        let pairs = snapshot.pairs(0.8)?;
        let pairs = match most {
            Some(most) => pairs.max_per_document(most),
            None => pairs,
        };
        for pair in pairs {
            black_box(pair?);
        }
        Ok(())
    })
}

fn exact_clusters(folder: &Path, run: bool) -> Outcome {
    let (_folder, index) = stored_families(folder)?;
    let snapshot = index.snapshot()?;
    warm(run, || {
        black_box(snapshot.clusters(0.8)?.find().run()?);
        Ok(())
    })
}

/// The families into an index that has none of them.
fn exact_dedup(folder: &Path, run: bool) -> Outcome {
    let (_folder, index) = with_texts(folder)?;
    let families = families();
    let documents: Result<Vec<_>, _> =
        families.iter().map(|(id, text)| index.prepare(id, &**text)).collect();
    let documents = documents?;
    if run {
        let mut txn = index.begin_write()?;
        txn.insertion().unless_similar(0.8).documents(documents)?;
        txn.commit()?;
    }
    Ok(index.close()?)
}

/// Opens the index, of which no page is in the cache.
fn open_again(folder: &Path, run: bool) -> Outcome {
    open(folder)?.close()?;
    if run {
        black_box(options().open(folder.join("copy.twx"))?.snapshot()?.len());
    }
    Ok(())
}

/// The first containment query of an open index, which reads the sizes of all sets.
fn containment(folder: &Path, run: bool) -> Outcome {
    let snapshot = open(folder)?.snapshot()?;
    let asked = synthetic::signature(40);
    if run {
        black_box(snapshot.query().containment(true).by_signature(&asked)?);
    }
    Ok(())
}

fn remove(folder: &Path, run: bool) -> Outcome {
    let index = open(folder)?;
    if run {
        remove_some(&index)?;
    }
    Ok(index.close()?)
}

fn remove_some(index: &Index) -> Outcome {
    let mut txn = index.begin_write()?;
    for number in 0..1_000 {
        assert!(txn.remove(&synthetic::id(10 * number))?);
    }
    Ok(txn.commit()?)
}

fn compact(folder: &Path, run: bool) -> Outcome {
    let mut index = open(folder)?;
    remove_some(&index)?;
    if run {
        index.compact().run()?;
    }
    Ok(index.close()?)
}
