//! The command and stored texts: `--store-text`, `get --text`, `export` and `import` with texts.

use crate::command::Shell;

const TEXT: &str = "Ein Satz\r\nmit  Umlauten: äöü\n";

fn shell() -> Shell {
    let shell = Shell::new();
    shell.write("a.txt", TEXT);
    shell.run("add i.twx -q --store-text a.txt").succeeds();
    shell
}

#[test]
fn a_text_is_given_back_as_it_was() {
    let shell = shell();
    assert_eq!(shell.run("get i.twx a.txt --text").succeeds().stdout, TEXT);
    let object = shell.run("get i.twx a.txt --json").succeeds().json().remove(0);
    assert_eq!(object["text"], TEXT);
    assert_eq!(shell.run("get i.twx b.txt --text").status, 1);
}

#[test]
fn an_index_without_texts_says_what_to_do() {
    let shell = Shell::with(&[("a", "some text")]);
    let refused = shell.run("get i.twx a --text");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("--store-text"), "{}", refused.stderr);
    let refused = shell.run("add i.twx --store-text -");
    assert!(refused.stderr.contains("created with store-text false"), "{}", refused.stderr);
}

#[test]
fn texts_are_exported_and_imported() {
    let shell = shell();
    shell.run("export i.twx -q -o e.jsonl").succeeds();
    shell.run("import j.twx -q e.jsonl").succeeds();
    assert_eq!(shell.run("get j.twx a.txt --text").succeeds().stdout, TEXT);
    shell.run("check j.twx").succeeds();
}

#[test]
fn an_import_misses_texts_that_it_is_to_store() {
    let shell = shell();
    let export = shell.run("export i.twx -q").succeeds().stdout;
    let cut = export.find(",\"text\":\"Ein").expect("a text");
    shell.write("bare.jsonl", format!("{}}}\n", &export[..cut]));
    let refused = shell.run("import k.twx bare.jsonl");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("no field `text`"), "{}", refused.stderr);
}
