//! Tests the worked example of `docs/format.md` against the rows that this build writes.

use crate::hash::{TextHash, id_hash};
use crate::store::bytes::clusters::{ChangeRow, ClusterRow, Tracking};
use crate::store::bytes::record::{
    Counters, DocumentRecord, RunRow, encode_fences, encode_signature,
};
use crate::store::bytes::schema::{DocNo, Layout, MAGIC, RunNo, posting_key};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::runs::flush::{PackedBand, pack_tail};
use crate::store::runs::segment::{Tail, TailDocument};
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::SettingsRequest;
use crate::store::write::dedup_row::{DedupRow, DedupStage, OwnNumbers};
use crate::text::UnicodeVersions;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rows of the index in the section "A worked example" of `docs/format.md`: three documents
/// and one flushed run; then the second document is removed.
fn example() -> Vec<(String, Vec<u8>)> {
    const ID_KEY: u64 = 0x0123_4567_89AB_CDEF;
    const TIME: i64 = 1_700_000_000;
    let mut settings =
        SettingsRequest { lanes: Some(64), ..SettingsRequest::default() }.resolve().unwrap();
    settings.unicode =
        UnicodeVersions { case: (17, 0, 0), normalization: (17, 0, 0), segmentation: (17, 0, 0) };
    let layout = Layout { bands: 7, depth: 3, passages: false };
    assert_eq!(settings.layout(), layout);

    let mut rows = Vec::new();
    let mut row = |place: String, bytes: Vec<u8>| rows.push((place, bytes));
    row("meta format".into(), [&MAGIC[..], &5_u32.to_le_bytes()].concat());
    let stored = StoredSettings::new(&settings, ID_KEY, TIME).encode().unwrap();
    row("meta settings".into(), stored);
    let counters = Counters {
        commit: 2,
        documents: 2,
        auto_ids: 0,
        next_doc: 3,
        flushed_upto: 3,
        next_run: 1,
    };
    row("meta state".into(), counters.encode());
    let run = 0x0123_4567_89AB_CDEF;
    let mut row_of_run = DedupRow {
        stage: DedupStage::Judged,
        documents: 4,
        input: 0xFEDC_BA98_7654_3210,
        notes: [120, 0x1111_2222_3333_4444, 80, 0x5555_6666_7777_8888, 3, 0, 0, 1, 1, 81],
        own: OwnNumbers::default(),
    };
    row_of_run.own.add(3..5);
    row_of_run.own.add(7..8);
    row("meta dedup 0123456789abcdef".into(), row_of_run.encode(run));
    assert_eq!(DedupRow::decode(&row_of_run.encode(run), run), Ok(row_of_run.clone()));
    row_of_run.stage = DedupStage::Finished(0x0F1E_2D3C_4B5A_6978);
    row_of_run.own = OwnNumbers::default();
    row("meta dedup 0123456789abcdef, finished".into(), row_of_run.encode(run));

    let tracking = Tracking { next_cluster: 2, upto: 3, since: 1 };
    row("meta clusters".into(), tracking.encode());
    let place = ClusterRow { cluster: Some(1), changed: 1 };
    row("clusters 0".into(), place.encode(DocNo(0)));
    let removed = ChangeRow::Removed("b".to_owned());
    row("cluster changes 2 1".into(), removed.encode(2, DocNo(1)));

    let sketcher = settings.sketcher().unwrap();
    let mut fresh = Vec::new();
    let texts = ["The quick brown fox jumps.", "The quick brown fox jumped.", ""];
    for (doc, (id, text)) in (0..).map(DocNo).zip(["a", "b", "c"].into_iter().zip(texts)) {
        let mut signature = sketcher.signature(text).unwrap();
        let record = DocumentRecord {
            id: id.to_owned(),
            text_hash: TextHash::of(text.as_bytes()),
            text_length: text.len() as u64,
            inserted: TIME,
        };
        if id != "b" {
            row(format!("signatures {}", doc.0), encode_signature(&signature, doc));
            row(format!("documents {}", doc.0), record.encode(doc).unwrap());
        }
        let lanes = (!signature.is_empty()).then(|| signature.take_lanes());
        fresh.push(TailDocument {
            doc,
            id_hash: id_hash(id, ID_KEY),
            lanes,
            fingerprints: Box::default(),
        });
    }

    let mut tail = Tail::default();
    tail.push(layout, &fresh);
    for packed in pack_tail(layout, RunNo(0), &tail, &Tombstones::default()) {
        let PackedBand { band, rows, content } = packed;
        let run = RunRow {
            tier: 0,
            first: DocNo(0),
            last: DocNo(2),
            entries: content.entries,
            chunks: content.chunks(),
        };
        let place = |table: &str| format!("{table} run 0 band {}", band.0);
        row(place("runs"), run.encode(RunNo(0), band));
        row(place("fences"), encode_fences(&content.fences, RunNo(0), band));
        assert_eq!(rows.len(), 1);
        for (key, chunk) in rows {
            assert_eq!(key, posting_key(RunNo(0), band, 0));
            row(place("postings"), chunk);
        }
    }
    let mut tombstones = Tombstones::default();
    tombstones.insert(DocNo(1));
    for (piece, bytes) in tombstones.changed_rows(&Tombstones::default()) {
        row(format!("dead {piece}"), bytes.unwrap());
    }
    rows
}

/// Reads the rows of this section: headings `### table key`, and below each of them lines that
/// begin with bytes in hexadecimal. A comment follows the bytes after two spaces.
fn documented() -> Vec<(String, String)> {
    let document = include_str!("../../../docs/format.md");
    let (_, example) = document.split_once("\n## A worked example\n").unwrap();
    let example = example.split("\n## ").next().unwrap();
    example
        .split("\n### ")
        .skip(1)
        .map(|row| {
            let (place, lines) = row.split_once('\n').unwrap();
            let (_, block) = lines.split_once("```text\n").unwrap();
            let (block, _) = block.split_once("```").unwrap();
            let bytes = |line: &str| line.split("  ").next().unwrap_or_default().replace(' ', "");
            (place.to_owned(), block.lines().map(bytes).collect())
        })
        .collect()
}

#[test]
fn the_worked_example_of_the_format_page_is_right() {
    let rows = example();
    let documented = documented();
    assert!(documented.len() >= 12, "{} rows", documented.len());
    for (place, bytes) in documented {
        let row = rows.iter().find(|row| row.0 == place);
        let row = row.unwrap_or_else(|| panic!("the example has no row `{place}`"));
        assert_eq!(hex(&row.1), bytes, "{place}");
    }
}
