//! Genomes: FASTA files and their records as sets of k-mers, beside a script that shares no code.

use crate::command::Shell;
use crate::support::Random;
use std::process::Command;

/// A random sequence.
fn sequence(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| b"ACGT"[random.below(4) as usize]).collect()
}

/// The sequence with a substitution in about one of so many letters.
fn mutated(sequence: &[u8], random: &mut Random, one_in: u64) -> Vec<u8> {
    let mutate = |letter: &u8| match random.below(one_in) {
        0 => b"ACGT"[random.below(4) as usize],
        _ => *letter,
    };
    sequence.iter().map(mutate).collect()
}

fn reverse_complement(sequence: &[u8]) -> Vec<u8> {
    let complement = |letter: &u8| match letter {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    };
    sequence.iter().rev().map(complement).collect()
}

/// FASTA with lines of 60 letters.
fn fasta(records: &[(&str, &[u8])]) -> String {
    let mut out = String::new();
    for (header, sequence) in records {
        out += &format!(">{header}\n");
        for line in sequence.chunks(60) {
            out += std::str::from_utf8(line).expect("letters");
            out.push('\n');
        }
    }
    out
}

/// Two genomes of two records each that differ as `seed` says, with lower case, U, N, blank lines
/// and comments, and one strand turned round.
fn write_two_strains(shell: &Shell, seed: u64) {
    let mut random = Random(seed);
    let (one, two) = (sequence(&mut random, 3000), sequence(&mut random, 1500));
    let (mut other, another) = (mutated(&one, &mut random, 150), mutated(&two, &mut random, 40));
    let at = random.below(2000) as usize;
    other[at..at + 30].fill(b'N');
    other[at + 200..at + 260].make_ascii_lowercase();
    other[at + 500] = b'R';
    let a = fasta(&[("one ACGTACGTACGTACGTACGTACGTACGT", &one), ("two", &two)]);
    let b = fasta(&[("two", &reverse_complement(&another)), ("one", &other)]);
    shell.write("a.fa", format!(";a comment\n\n{a}"));
    shell.write("b.fa", b.replace("GATT", "GAUU").replace('\n', "\r\n"));
}

/// Similarity, k-mers of both, shared, distance.
fn by_script(shell: &Shell, k: u16) -> Vec<f64> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/kmers.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(k.to_string()).args(["a.fa", "b.fa"]).current_dir(shell.path(""));
    let done = command.output().expect("python3 runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let out = String::from_utf8(done.stdout).expect("numbers");
    out.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn compare_agrees_with_a_script_on_sets_of_strings() {
    let shell = Shell::new();
    for (seed, k) in [(1, 21), (2, 21), (3, 4), (4, 11), (5, 16), (6, 31), (7, 32), (8, 1)] {
        write_two_strains(&shell, seed);
        let expected = by_script(&shell, k);
        let got = shell.run(&format!("compare a.fa b.fa --shingle kmer:{k} --json")).succeeds();
        let names = ["similarity", "shingles_a", "shingles_b", "shared", "distance"];
        for (name, expected) in names.iter().zip(expected) {
            let got = got.json()[0][name].as_f64().expect("a number");
            assert!((got - expected).abs() < 1e-6, "seed {seed}, {name}: {got}, not {expected}");
        }
    }
}

#[test]
fn a_genome_and_its_other_strand_are_one() {
    let shell = Shell::new();
    let forward = sequence(&mut Random(1), 2000);
    shell.write("a.fa", fasta(&[("a", &forward)]));
    shell.write("b.txt", reverse_complement(&forward));
    let done = shell.run("compare a.fa b.txt --shingle kmer:21 --json").succeeds();
    let got = &done.json()[0];
    assert_eq!((got["similarity"].as_f64(), got["distance"].as_f64()), (Some(1.0), Some(0.0)));
}

#[test]
fn a_substitution_costs_both_genomes_k_kmers() {
    let shell = Shell::new();
    let mut letters = sequence(&mut Random(2), 2000);
    shell.write("a.fa", fasta(&[("a", &letters)]));
    letters[1000] = if letters[1000] == b'A' { b'C' } else { b'A' };
    shell.write("b.fa", fasta(&[("b", &letters)]));
    let done = shell.run("compare a.fa b.fa --shingle kmer:21 --json").succeeds();
    assert_eq!(done.json()[0]["shared"], 1980 - 21);
}

#[test]
fn a_file_is_one_document_and_query_and_pairs_tell_the_distance() {
    let shell = Shell::new();
    write_two_strains(&shell, 1);
    shell.write("c.fna", fasta(&[("c", &sequence(&mut Random(9), 4000))]));
    shell.run("add g.twx --shingle kmer:21 --threshold 0.5 -q a.fa b.fa c.fna").succeeds();
    let script = by_script(&shell, 21);
    let scanned = shell.run("query g.twx --id a.fa --scan --json").succeeds();
    let found = &scanned.json()[0];
    assert_eq!(found["id"], "b.fa");
    let near = |name: &str| found[name].as_f64().expect("a number");
    assert!(near("low") <= script[0] && script[0] <= near("high"), "{found}");
    let from_estimate = (2.0 * near("similarity") / (1.0 + near("similarity"))).ln() / -21.0;
    assert!((near("distance") - from_estimate).abs() < 1e-5, "{found}");
    let queried = shell.run("query g.twx --scan -q b.fa").succeeds();
    let paired = shell.run("pairs g.twx -q").succeeds();
    let distance = found["distance"].to_string();
    assert_eq!(queried.column(6), [distance.as_str()], "as a file, and as a last column");
    assert_eq!(paired.column(6), [distance.as_str()]);
}

#[test]
fn stored_genomes_are_compared_exactly() {
    let shell = Shell::new();
    write_two_strains(&shell, 1);
    let create = "add -q g.twx --shingle kmer:21 --threshold 0.5 --store-text a.fa b.fa";
    shell.run(create).succeeds();
    let found = shell.run("query g.twx --id a.fa --json").succeeds();
    let script = by_script(&shell, 21);
    for (name, expected) in [("similarity", script[0]), ("distance", script[4])] {
        let got = found.json()[0][name].as_f64().expect("a number");
        assert!((got - expected).abs() < 1e-6, "{name}: {got}, not {expected}");
    }
}

#[test]
fn other_shingles_have_no_distance() {
    let shell = Shell::new();
    write_two_strains(&shell, 1);
    let compared = shell.run("compare a.fa b.fa --shingle char:9").succeeds();
    assert!(!compared.stdout.contains("distance"), "{compared:?}");
    shell.run("add g.twx -q a.fa b.fa").succeeds();
    let found = shell.run("query g.twx --id a.fa --scan --threshold 0.01 --json").succeeds();
    assert_eq!(found.json()[0].as_object().map(serde_json::Map::len), Some(6));
}

#[test]
fn every_record_is_a_document_where_that_is_asked_for() {
    let shell = Shell::new();
    let (a, b) = (sequence(&mut Random(1), 500), sequence(&mut Random(2), 500));
    shell.write("x.fa", fasta(&[("a first", &a), ("b", &b), ("c", &reverse_complement(&a))]));
    shell.run("add g.twx --shingle kmer:21 --per-record -q x.fa").succeeds();
    assert_eq!(shell.run("list g.twx").succeeds().column(0), ["a", "b", "c"]);
    let pairs = shell.run("pairs g.twx -q").succeeds();
    assert_eq!((pairs.column(0), pairs.column(1)), (vec!["a"], vec!["c"]));
    let again = shell.run("add g.twx --per-record --json x.fa").succeeds();
    assert_eq!(again.summary()["unchanged"], 3);
}

#[test]
fn a_record_has_the_same_text_wherever_it_stands() {
    let shell = Shell::new();
    shell.write("x.fa", ">a\nACGTACGTA\n>b\nGGGTACGTA\n\n\n>c\nCCCTACGTA\n");
    shell.write("y.fa", ">c\nCCCTACGTA\n\n>b\nGGGTACGTA\n>a\nACGTACGTA");
    shell.run("add -q g.twx --shingle kmer:5 --per-record x.fa").succeeds();
    let again = shell.run("add g.twx --per-record --json y.fa").succeeds();
    assert_eq!(again.summary()["unchanged"], 3);
}

#[test]
fn kept_records_are_written_as_they_came() {
    let shell = Shell::new();
    let [a, b, d] = [1, 2, 3].map(|seed| sequence(&mut Random(seed), 500));
    let c = reverse_complement(&a);
    let text = fasta(&[("a x\ty", &a), ("b", &b), ("c", &c), ("d", &d)]);
    let text = text.trim_end().replace('\n', "\r\n").to_lowercase();
    shell.write("x.fa", &text);
    shell.run("dedup g.twx --shingle kmer:21 --per-record -q x.fa -o kept.fa").succeeds();
    let [c, d] = [">c", ">d"].map(|header| text.find(header).expect("a record"));
    assert_eq!(shell.read("kept.fa"), [&text[..c], &text[d..]].concat().into_bytes());
}

#[test]
fn bad_records_are_named_by_file_and_line_and_the_rest_goes_on() {
    let shell = Shell::new();
    let long = "ACGT\n".repeat(1000);
    shell.write("x.fa", format!("\n>a\nACGTACGT\n> \nACGT\n>long\n{long}>b\nACGTTTTT\n"));
    let done = shell.run("add -q g.twx --shingle kmer:5 --per-record --max-record 1K x.fa");
    assert_eq!(done.status, 2);
    let said: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(said.len(), 2, "{done:?}");
    assert_eq!(said[0], "twindex: x.fa:4: no id behind >");
    assert!(said[1].starts_with("twindex: x.fa:6: longer than 1K"), "{done:?}");
    assert_eq!(shell.run("list g.twx").succeeds().column(0), ["a", "b"]);
}

#[test]
fn input_that_is_no_fasta_is_refused() {
    let shell = Shell::new();
    shell.write("reads.fq", "@r1\nACGTACGT\n+\nIIIIIIII\n");
    shell.write("bare.fa", "ACGTACGT\n>a\nACGT\n");
    shell.run("create -q g.twx --shingle kmer:5").succeeds();
    for command in [
        "add -q g.twx --shingle kmer:5 reads.fq",
        "add -q g.twx --shingle kmer:5 --format fasta reads.fq",
        "add -q g.twx --shingle kmer:5 --per-record reads.fq",
        "compare reads.fq bare.fa --shingle kmer:5",
    ] {
        shell.run(command).fails_with("is FASTQ");
    }
    let stdin = shell.pipe("add -q g.twx --shingle kmer:5 -", "@r1\nACGTACGT\n+\nIIIIIIII\n");
    stdin.fails_with("standard input:1: is FASTQ");
    for command in ["add -q g.twx bare.fa", "add -q g.twx --per-record bare.fa"] {
        shell.run(command).fails_with("is no FASTA");
    }
    assert!(shell.run("list g.twx").stdout.is_empty());
}

#[test]
fn fastq_is_refused_behind_blank_lines_and_as_a_text() {
    let shell = Shell::new();
    let reads = "\n \n;\n@r1\nACGTACGT\n+\nIIIIIIII\n";
    shell.write("f.fq", reads);
    shell.write("a.fa", ">a\nACGTACGT\n");
    shell.run("add -q g.twx --shingle kmer:5 a.fa").succeeds();
    for command in
        ["add -q g.twx f.fq", "query -q g.twx f.fq", "compare a.fa f.fq --shingle kmer:5"]
    {
        shell.run(command).fails_with("f.fq: is FASTQ");
    }
    for text in [reads, "@r1 ACGT"] {
        let asked = shell.args(&["query", "-q", "g.twx", "--text", text], "");
        asked.fails_with("--text: is FASTQ");
    }
    shell.run("add -q t.twx a.fa").succeeds();
    let other = shell.args(&["query", "-q", "t.twx", "--text", "@r1 ACGT"], "");
    assert_eq!(other.status, 1, "elsewhere it is a text like any: {other:?}");
}

#[test]
fn explaining_kmers_is_an_error_that_names_the_input() {
    let shell = Shell::new();
    shell.write("a.fa", ">a\nACGTACGT\n");
    shell.write("b.fa", ">b\nACGTACGA\n");
    let compared = shell.run("compare a.fa b.fa --explain --shingle kmer:5");
    compared.fails_with("a.fa and b.fa: k-mers cannot be explained");
    shell.run("add -q g.twx --shingle kmer:5 a.fa b.fa").succeeds();
    shell.run("explain g.twx a.fa b.fa").fails_with("g.twx: k-mers cannot be explained");
}

#[test]
fn fasta_is_refused_by_an_index_of_other_shingles_but_read_as_text() {
    let shell = Shell::new();
    shell.write("a.fa", "no header\n");
    shell.run("add -q t.twx --format fasta a.fa").fails_with("create one with --shingle kmer:21");
    shell.run("add -q t.twx --per-record a.fa").fails_with("--per-record reads sequences");
    shell
        .run("add -q k.twx --shingle kmer:21 --per-record --format lines a.fa")
        .fails_with("--per-record");
    shell.run("add -q t.twx a.fa").succeeds();
    assert_eq!(shell.run("list t.twx").succeeds().column(0), ["a.fa"]);
}

#[test]
fn kmers_with_a_normalisation_are_refused_by_name() {
    let shell = Shell::new();
    for command in [
        "create g.twx --shingle kmer:21 --normalize lower",
        "compare a b --shingle kmer:21 --normalize lower",
    ] {
        shell.run(command).fails_with("normalize lower with kmer:21: expected none");
    }
    let refused = shell.run("create g.twx --shingle kmer:33");
    assert!(refused.stderr.contains("kmer:N with N from 1 to 32"), "{refused:?}");
}

#[test]
fn sequences_come_from_standard_input_lines_and_json() {
    let shell = Shell::new();
    let letters = String::from_utf8(sequence(&mut Random(3), 300)).expect("letters");
    shell.write("a.fa", format!(">a\n{letters}\n"));
    shell.run("add g.twx --shingle kmer:21 -q a.fa").succeeds();
    let found = |args: &str, input: &str| {
        let done = shell.pipe(&format!("query -q g.twx {args}-"), input).succeeds();
        assert_eq!(done.column(1), ["a.fa"], "{args} {input}");
    };
    found("", &format!(">x\n{letters}\n"));
    found("", &format!("{letters}\n"));
    found("--per-record ", &format!(">x\n{letters}\n>y\nACGT\n"));
    found("--format lines ", &format!("{}\n", letters.to_lowercase()));
    found("", &format!("{{\"id\":\"x\",\"text\":\"{letters}\"}}\n"));
}
