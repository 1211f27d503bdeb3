//! Results in a file of CSV.

use crate::command::Shell;
use serde_json::json;

#[test]
fn results_as_csv_quote_what_has_to_be() {
    let shell = Shell::new();
    let text = "the quick brown fox jumps over the lazy dog again and again";
    let ids = ["a,b", "say \"hi\"", "two\nlines", "tab\tback\\slash"];
    let lines = ids.map(|id| format!("{}\n", json!({"id": id, "text": text})));
    shell.write("in.jsonl", lines.concat());
    shell.run("add i.twx in.jsonl").succeeds();
    let read = |name: &str| String::from_utf8(shell.read(name)).expect("UTF-8");
    shell.run("list i.twx -o ids.csv").succeeds();
    let quoted = "\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\ntab\tback\\slash\n";
    assert_eq!(read("ids.csv"), format!("id\n{quoted}"));
    shell.run("clusters i.twx -o clusters.csv").succeeds();
    let members = serde_json::to_string(&ids).expect("JSON").replace('"', "\"\"");
    let row = format!("\"a,b\",4,\"{members}\"\n");
    assert_eq!(read("clusters.csv"), format!("representative,size,members\n{row}"));
    shell.run("query i.twx --id a,b --top 1 -o hits.CSV.gz").succeeds();
    let hits =
        "query,id,similarity,low,high,exact\n\"a,b\",\"say \"\"hi\"\"\",1.0,0.9852,1.0,false\n";
    assert_eq!(shell.sh("gzip -dc hits.CSV.gz").stdout, hits);
    // The index reads it back.
    shell.run("list i.twx -o ids.csv.zst").succeeds();
    shell.run("add j.twx --text-field id --shingle char:3 ids.csv.zst").succeeds();
    assert_eq!(shell.run("list j.twx --json").stdout, shell.run("list i.twx --json").stdout);
    // Without results there is the header.
    shell.run("pairs j.twx --threshold 1 -o none.csv");
    assert_eq!(read("none.csv"), "a,b,similarity,low,high,exact\n");
}
