//! `check --repair`, as a person uses it.

use crate::command::{Shell, lines};
use std::fs;

/// Four hundred documents, all in one run.
fn filled() -> Shell {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --id-prefix p -", lines(400)).succeeds();
    shell.run("compact i.twx -q").succeeds();
    shell
}

#[test]
fn an_index_that_is_whole_is_left_alone() {
    let shell = filled();
    let ids = shell.ids();
    let done = shell.run("check i.twx --repair --json").succeeds();
    assert_eq!(done.stdout, "");
    let summary: serde_json::Value = serde_json::from_str(&done.stderr).expect("JSON");
    assert_eq!(summary["repaired"], false);
    assert_eq!(summary["documents"], 400);
    assert_eq!(shell.ids(), ids);
}

#[test]
fn a_damaged_page_is_repaired_or_what_it_costs_is_said() {
    let shell = filled();
    let (whole, ids) = (shell.read("i.twx"), shell.ids());
    let pairs = shell.run("pairs i.twx -q").stdout;
    let (mut repaired, mut lost) = (0, 0);
    for page in (1..whole.len() / 4096).step_by(5) {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 100] ^= 16;
        shell.write("i.twx", bytes);
        let done = shell.run("check i.twx --repair --json");
        if done.status == 2 {
            assert!(done.stderr.starts_with("twindex: i.twx: "), "page {page}: {done:?}");
            continue;
        }
        shell.assert_clean();
        let summary = done.stderr.lines().last().expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(summary).expect("JSON");
        let missing = summary["lost"].as_u64().expect("a number") as usize;
        assert_eq!(shell.ids().len(), ids.len() - missing, "page {page}");
        assert_eq!(done.status, i32::from(missing > 0), "page {page}: {done:?}");
        // Rows below a damaged page may be out of date, so the file may be kept without a loss.
        let kept = shell.path("i.twx.damaged");
        assert!(kept.exists() || missing == 0, "page {page}: {done:?}");
        assert_eq!(summary["kept"].is_null(), !kept.exists(), "page {page}: {done:?}");
        if missing == 0 {
            assert_eq!(shell.run("pairs i.twx -q").stdout, pairs, "page {page}");
        } else {
            lost += 1;
            // What was lost can be added again.
            shell.pipe("add i.twx -q --id-prefix p -", lines(400)).succeeds();
            assert_eq!(shell.ids().len(), ids.len(), "page {page}");
        }
        if kept.exists() {
            fs::remove_file(kept).expect("removed");
        }
        repaired += usize::from(summary["repaired"] == true);
    }
    assert!(repaired > 0 && lost > 0, "{repaired} repaired, {lost} with losses");
}

#[test]
fn a_file_that_is_no_index_is_not_repaired() {
    let shell = Shell::new();
    shell.run("check missing.twx --repair").fails_with("missing.twx: no such index");
    shell.write("text.twx", "some text");
    shell.run("check text.twx --repair").fails_with("text.twx: not a twindex index");
    assert_eq!(shell.read("text.twx"), b"some text");
    shell.run("check text.twx --repair --lost gone").fails_with("text.twx: not a twindex index");
    assert_eq!(shell.names(), ["text.twx"], "no list is begun");
}

/// The leaf page that holds these bytes, as they were written last.
fn page_with(bytes: &[u8], text: &str) -> usize {
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    at.expect("stored") / 4096
}

#[test]
fn a_truncated_or_padded_file_is_repaired_and_the_old_file_is_kept() {
    let shell = filled();
    let (whole, ids) = (shell.read("i.twx"), shell.ids());
    for length in [whole.len() - 4096, whole.len() - 1, whole.len() + 100, whole.len() + 8192] {
        let mut bytes = whole.clone();
        bytes.resize(length, 0);
        shell.write("i.twx", bytes);
        shell.run("list i.twx").fails_with("i.twx: damaged: file header: it is");
        let done = shell.run("check i.twx --repair");
        assert!(done.stderr.contains("was damaged"), "{length}: {done:?}");
        assert!(!done.stderr.contains("check --repair"), "{length}: {done:?}");
        shell.assert_clean();
        if length > whole.len() {
            assert_eq!(shell.ids(), ids, "{length}");
        }
        let _ = fs::remove_file(shell.path("i.twx.damaged"));
    }
}

#[test]
fn a_file_that_cannot_be_repaired_is_not_told_to_be_repaired() {
    let shell = filled();
    let mut bytes = shell.read("i.twx");
    bytes.truncate(8192);
    shell.write("i.twx", &bytes);
    let done = shell.run("check i.twx --repair");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("it cannot be repaired"), "{done:?}");
    assert!(!done.stderr.contains("check --repair"), "{done:?}");
    assert!(done.stderr.contains("restore a copy"), "{done:?}");
    assert_eq!(shell.read("i.twx"), bytes, "it is left as it was");
}

#[test]
fn all_lost_ids_are_written_to_a_file() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --id-prefix p -", lines(4000)).succeeds();
    shell.run("compact i.twx -q").succeeds();
    let ids = shell.ids();
    let mut bytes = shell.read("i.twx");
    // The second half of the signatures is gone: zeros on every page that holds no id.
    let whole = bytes.clone();
    let mut lost = 0;
    for (number, page) in bytes.chunks_mut(4096).enumerate().skip(1) {
        let holds = |text: &[u8]| page.windows(text.len()).any(|window| window == text);
        // A leaf of signatures: 4-byte keys, rows of one length.
        let is_leaf = page[0] == 1 && !holds(b"p:");
        if is_leaf && number % 2 == 0 {
            page[200..4000].fill(0);
            lost += 1;
        }
    }
    assert!(lost > 5 && bytes != whole);
    shell.write("i.twx", bytes);
    let done = shell.run("check i.twx --repair --lost lost.txt");
    assert_eq!(done.status, 1, "{done:?}");
    let listed = String::from_utf8(shell.read("lost.txt")).expect("text");
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!(listed.len() + shell.ids().len(), ids.len());
    assert!(listed.iter().all(|id| ids.iter().any(|other| other == id)));
    let again = shell.run("check i.twx --repair --lost lost.txt");
    again.fails_with("lost.txt: already exists; name a new file");
}

#[test]
fn a_list_of_lost_ids_that_another_repair_writes_is_left_alone() {
    let shell = filled();
    let path = shell.path("lost.txt.part");
    fs::write(&path, "p:1\n").expect("written");
    let other = fs::File::open(&path).expect("opened");
    other.lock().expect("locked");
    let refused = shell.run("check i.twx --repair --lost lost.txt");
    refused.fails_with("lost.txt.part: another run is writing it");
    assert_eq!(shell.read("lost.txt.part"), b"p:1\n");
    drop(other);
    shell.run("check i.twx --repair --lost lost.txt").succeeds();
    assert!(!path.exists());
    assert_eq!(shell.read("lost.txt"), b"");
}

#[cfg(unix)]
#[test]
fn a_repair_in_a_folder_that_cannot_be_read_replaces_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let shell = filled();
    let mut bytes = shell.read("i.twx");
    bytes.extend([0; 4096]);
    fs::create_dir(shell.path("f")).expect("made");
    shell.write("f/i.twx", &bytes);
    let permit = |name: &str, mode: u32| {
        fs::set_permissions(shell.path(name), fs::Permissions::from_mode(mode)).expect("permitted");
    };
    permit("f/i.twx", 0o666);
    // To be written and searched by everyone.
    permit("f", 0o333);
    let done = shell.run_bound("check f/i.twx --repair --lost f/lost.txt");
    permit("f", 0o755);
    if let Some(done) = done {
        done.fails_with("f/i.twx: replacing the old file: Permission denied");
    }
    assert_eq!(fs::read_dir(shell.path("f")).expect("readable").count(), 1);
    assert!(shell.read("f/i.twx") == bytes, "the index is as it was");
}

#[test]
fn a_flipped_bit_where_redb_keeps_its_free_pages_is_found_before_a_write() {
    let shell = filled();
    let (whole, ids) = (shell.read("i.twx"), shell.ids());
    let storage = page_with(&whole, "allocator_state");
    let mut refused = 0;
    // The pages around the list of redb's own tables, and that list.
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 40] ^= 64;
        shell.write("i.twx", bytes);
        let clean = shell.run("check i.twx").status == 0;
        let added = shell.pipe("add i.twx -q --id-prefix q -", lines(50));
        if clean {
            added.succeeds();
            shell.assert_clean();
            assert_eq!(shell.ids().len(), ids.len() + 50, "page {page}");
        } else {
            refused += usize::from(page == storage);
        }
    }
    assert_eq!(refused, 1, "the list of redb's own tables is page {storage}");
}
