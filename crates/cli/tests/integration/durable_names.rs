//! A file is on the disk before it gets its name, and its name before the command ends. A test that
//! kills processes cannot tell, so this one looks at the calls of the system.

use crate::command::{Shell, jsonl, report};
use crate::support::text;

/// The calls with which a command syncs files and names them, in order; `None` if nothing may be
/// traced here.
fn calls(shell: &Shell, words: &str) -> Option<Vec<String>> {
    if shell.sh("strace -qq -o /dev/null true").status != 0 {
        report("SKIPPED: there is no `strace` here that may trace");
        return None;
    }
    let names = "fsync,fdatasync,rename,renameat,renameat2,link,linkat";
    let traced = format!("strace -f -qq -y -o calls -e trace={names} $TWINDEX {words} >printed");
    assert_eq!(shell.sh(&traced).status, 0, "{words}");
    let calls = String::from_utf8(shell.read("calls")).expect("UTF-8");
    Some(calls.lines().map(str::to_owned).collect())
}

/// Fails unless a command syncs a file before it names it, and the folder behind that.
fn names_durably(shell: &Shell, words: &str, name: &str) -> Option<()> {
    let calls = calls(shell, words)?;
    // The name is that of a file in the folder, with or without the path of it.
    let targets = [format!("/{name}\""), format!("\"{name}\"")];
    let is_target = |call: &str| targets.iter().any(|target| call.contains(target));
    let names = |call: &String| !call.contains("sync(") && is_target(call);
    let at = calls.iter().position(names);
    let at = at.unwrap_or_else(|| panic!("{words}: nothing is named {name}: {calls:#?}"));
    // `renameat(AT_FDCWD</tmp/x>, "/tmp/x/.twindex-1.new", AT_FDCWD</tmp/x>, "name")`
    let old = calls[at].split('"').nth(1).and_then(|path| path.rsplit('/').next());
    let old = format!("/{}>", old.expect("a name before"));
    let syncs = |call: &String, path: &str| call.contains("sync(") && call.contains(path);
    assert!(calls[..at].iter().any(|call| syncs(call, &old)), "{words}: {name}: {calls:#?}");
    let folder = shell.path("").display().to_string();
    let folder = format!("<{}>", folder.trim_end_matches('/'));
    assert!(calls[at..].iter().any(|call| syncs(call, &folder)), "{words}: {name}: {calls:#?}");
    Some(())
}

#[test]
fn files_are_on_the_disk_before_they_have_their_names() {
    let shell = Shell::new();
    let texts: Vec<(String, String)> =
        (0..200).map(|n| (n.to_string(), text(n / 2, n % 2, 40))).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (&**id, &**text)).collect();
    shell.write("in.jsonl", jsonl(&texts));
    let commands = [
        ("create new.twx", "new.twx"),
        ("add i.twx in.jsonl --store-text", "i.twx"),
        ("backup i.twx copy.twx", "copy.twx"),
        ("rebuild i.twx --threshold 0.7", "i.twx"),
        ("dedup other.twx in.jsonl -o out.jsonl --removed gone.jsonl", "out.jsonl"),
        ("dedup third.twx in.jsonl -o kept.jsonl --removed audit.jsonl", "audit.jsonl"),
        ("check i.twx --repair", "i.twx"),
    ];
    for (words, name) in commands {
        if words.starts_with("check") {
            // A file that was cut off is repaired, which makes a new one.
            let mut bytes = shell.read(name);
            bytes.extend([0; 4096]);
            shell.write(name, bytes);
        }
        if names_durably(&shell, words, name).is_none() {
            return;
        }
    }
}
