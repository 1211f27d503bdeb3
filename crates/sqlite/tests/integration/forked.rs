//! The extension in a process that was forked from one that has used it.

use crate::shell::{Place, library};
use std::process::Command;

/// Uses the extension, and uses it in a child that is ended if it waits for ever.
const SCRIPT: &str = "
import os, signal, sqlite3, sys
library, path = sys.argv[1:]

def connected():
    connection = sqlite3.connect(':memory:')
    connection.enable_load_extension(True)
    connection.load_extension(library)
    return connection

connected().execute(\"SELECT twindex_similarity('a', 'b')\").fetchone()
child = os.fork()
if child == 0:
    signal.alarm(60)
    rows = ' UNION ALL '.join(f\"SELECT {n}, 'text number {n * 7919}'\" for n in range(400))
    own = connected()
    print(own.execute('SELECT twindex_sync(?, ?)', (path, rows)).fetchone()[0], flush=True)
    found = own.execute('SELECT id FROM twindex_query(?, ?, 0.8)', (path, 'text number 7919'))
    os._exit(0 if ('1',) in found.fetchall() else 1)
_, status = os.waitpid(child, 0)
sys.exit(status != 0)
";

/// Python of the system: that of others may be built without extensions.
const PYTHON: &str = "/usr/bin/python3";

#[test]
fn a_forked_child_makes_an_index_follow_a_query() {
    let can = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)";
    let can = Command::new(PYTHON).args(["-c", can]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("TWINDEX_ALL_TOOLS").is_none(), "no {PYTHON} with extensions");
        return;
    }
    let place = Place::new();
    let mut python = Command::new(PYTHON);
    // One thread of the library is in the way of itself soonest.
    python.env("RAYON_NUM_THREADS", "1");
    let output = python.args(["-c", SCRIPT]).arg(library()).arg(place.path("index.twx")).output();
    let output = output.expect("started");
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(told.starts_with("{\"added\":400,"), "{told}");
}
