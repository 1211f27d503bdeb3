//! `compare`: two texts without an index.

use crate::command::{Done, Shell};
use crate::support::{Random, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn field(done: &Done, name: &str) -> f64 {
    done.json()[0][name].as_f64().unwrap_or_else(|| panic!("no number {name} in {done:?}"))
}

/// Two files of tokens, and what is in them.
fn tokens(shell: &Shell, seed: u64) -> [Vec<u64>; 2] {
    let mut random = Random(seed);
    ["a", "b"].map(|name| {
        let some: Vec<u64> = (0..random.below(300)).map(|_| random.below(80)).collect();
        let words: Vec<String> = some.iter().map(u64::to_string).collect();
        shell.write(name, words.join(" "));
        some
    })
}

#[test]
fn the_similarities_are_those_of_brute_force() {
    let shell = Shell::new();
    for seed in 0..10 {
        let [a, b] = tokens(&shell, seed);
        let got = shell.run("compare a b --shingle token --json").succeeds();
        let near = |name: &str, expected: f64| {
            let got = field(&got, name);
            assert!((got - expected).abs() < 1e-6, "seed {seed}: {name} {got}, not {expected}");
        };
        let share = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let set = |tokens: &[u64]| tokens.iter().copied().collect::<BTreeSet<u64>>();
        let (x, y) = (set(&a), set(&b));
        let shared = x.intersection(&y).count();
        near("similarity", share(shared, x.union(&y).count()));
        near("containment_a_in_b", share(shared, x.len()));
        near("containment_b_in_a", share(shared, y.len()));
        near("dice", share(2 * shared, x.len() + y.len()));
        near("shared", shared as f64);

        let mut counts = BTreeMap::<u64, [usize; 2]>::new();
        a.iter().for_each(|token| counts.entry(*token).or_default()[0] += 1);
        b.iter().for_each(|token| counts.entry(*token).or_default()[1] += 1);
        let minima = counts.values().map(|[a, b]| a.min(b)).sum();
        let maxima = counts.values().map(|[a, b]| a.max(b)).sum();
        near("multiset_similarity", share(minima, maxima));
        let multiset = shell.run("compare a b --shingle token --multiset --json").succeeds();
        assert_eq!(field(&multiset, "shared"), minima as f64);
        assert_eq!(field(&multiset, "shingles_a"), a.len() as f64);
    }
}

#[test]
fn the_fields_come_in_their_order_and_as_lines_of_name_and_value() {
    let shell = Shell::new();
    shell.write("a", text(1, 0, 50));
    shell.write("b", text(1, 1, 50));
    let names = [
        "a",
        "b",
        "similarity",
        "multiset_similarity",
        "estimate",
        "low",
        "high",
        "containment_a_in_b",
        "containment_b_in_a",
        "dice",
        "shingles_a",
        "shingles_b",
        "shared",
        "universe",
        "expected_by_chance",
        "chance_log10",
    ];
    assert_eq!(shell.run("compare a b").succeeds().column(0), names);
    let json = shell.run("compare a b --json").succeeds().stdout;
    let places: Vec<_> = names.iter().map(|name| json.find(&format!("\"{name}\":"))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{json}");
}

#[test]
fn the_interval_of_the_estimate_holds_the_similarity_nearly_always() {
    let shell = Shell::new();
    let mut inside = 0;
    for family in 0..20 {
        shell.write("a", text(family, 0, 120));
        shell.write("b", text(family, 3, 120));
        let got = shell.run(&format!("compare a b --json --seed {family}")).succeeds();
        let similarity = field(&got, "similarity");
        assert!(similarity > 0.5 && similarity < 1.0, "{got:?}");
        inside += u32::from((field(&got, "low")..=field(&got, "high")).contains(&similarity));
    }
    // Each is outside with a probability of 1 in 20.
    assert!(inside >= 16, "{inside} of 20");
}

#[test]
fn compare_gives_the_estimate_that_an_index_gives() {
    let shell = Shell::new();
    let (a, b) = (text(1, 0, 100), text(1, 1, 100));
    shell.write("a", &a);
    shell.write("b", &b);
    shell.run("add i.twx --format text a b").succeeds();
    let pair = shell.run("pairs i.twx --json").succeeds().json().remove(0);
    let compared = shell.run("compare a b --json").succeeds().json().remove(0);
    for (of_pair, of_both) in [("similarity", "estimate"), ("low", "low"), ("high", "high")] {
        assert_eq!(pair[of_pair], compared[of_both], "{of_both}");
    }
}

#[test]
fn the_exit_status_says_whether_the_threshold_is_reached() {
    let shell = Shell::new();
    // 1 of 3 tokens as sets; as multisets 1 of 5.
    shell.write("a", "x x y");
    shell.write("b", "x z z");
    for (options, status) in [
        ("", 0),
        ("--threshold 0.33", 0),
        ("--threshold 0.34", 1),
        ("--threshold 0.2 --multiset", 0),
        ("--threshold 0.21 --multiset", 1),
    ] {
        let words = format!("compare a b --shingle token {options}");
        let done = shell.run(words.trim());
        assert_eq!((done.status, done.stderr.as_str()), (status, ""), "{options}: {done:?}");
        assert_eq!(done.column(1)[2], "0.333333", "{options}");
    }
}

#[test]
fn an_empty_text_is_similar_to_nothing() {
    let shell = Shell::new();
    shell.write("empty", "");
    shell.write("blank", " \n ");
    shell.write("some", "some text");
    for words in ["compare empty empty", "compare blank some", "compare some empty"] {
        let got = shell.run(&format!("{words} --json")).succeeds();
        for name in ["similarity", "multiset_similarity", "estimate", "high", "dice", "shared"] {
            assert_eq!(field(&got, name), 0.0, "{words}: {name}");
        }
        assert_eq!(shell.run(&format!("{words} --threshold 0.01")).status, 1, "{words}");
    }
}

#[test]
fn one_of_both_can_be_standard_input() {
    let shell = Shell::new();
    shell.write("a", "one text,\nof two lines");
    for words in ["compare - a --json", "compare a - --json"] {
        let got = shell.pipe(words, "one text,\nof two lines").succeeds();
        assert_eq!((field(&got, "similarity"), &got.json()[0]["shared"]), (1.0, &Value::from(14)));
    }
    shell.run("compare - -").fails_with("only one of the two texts can be standard input");
}

#[test]
fn the_chance_of_small_sets_is_what_counting_gives() {
    let shell = Shell::new();
    shell.write("a", "1 2");
    shell.write("b", "2 3 3");
    // Two of 4 and two of 4 share 0, 1, 2 in 1, 4, 1 of 6 cases; of 5, in 3, 6, 1 of 10. As
    // multisets, two of 5 and three of 5 share 0, 1, 2 in 1, 6, 3 of 10.
    for (options, universe, expected, tail) in [
        ("", 4.0, (4.0 / 3.0 + 1.0) / 6.0, 5.0 / 6.0),
        ("--universe 5", 5.0, (6.0 / 3.0 + 1.0) / 10.0, 7.0 / 10.0),
        ("--multiset", 5.0, (6.0 / 4.0 + 3.0 * 2.0 / 3.0) / 10.0, 9.0 / 10.0),
    ] {
        let words = format!("compare a b --shingle token --json {options}");
        let got = shell.run(words.trim()).succeeds();
        for (name, value) in [
            ("universe", universe),
            ("expected_by_chance", expected),
            ("chance_log10", f64::log10(tail)),
        ] {
            let got = field(&got, name);
            assert!((got - value).abs() < 1e-4, "{options}: {name} {got}, not {value}");
        }
    }
    shell
        .run("compare a b --shingle token --universe 2")
        .fails_with("universe 2: expected at least the number of different elements of both sets");
}

#[test]
fn a_similarity_far_beyond_chance_still_has_a_probability() {
    let shell = Shell::new();
    shell.write("a", text(1, 0, 2_000));
    let got = shell.run("compare a a --json --universe 1000000000000").succeeds();
    // There is one way in C(n, k), which is at least (n/k)^k and at most (e n/k)^k.
    let (k, log) = (field(&got, "shared"), field(&got, "chance_log10"));
    let least = k * (1e12 / k).log10();
    assert!(-log >= least && -log <= least + k * std::f64::consts::LOG10_E, "{log} of {k}");
}

#[test]
fn a_confidence_widens_the_interval_of_the_estimate() {
    let shell = Shell::new();
    shell.write("a", text(1, 0, 100));
    shell.write("b", text(1, 1, 100));
    let at = |confidence: &str| {
        let words = format!("compare a b --json --confidence {confidence}");
        shell.run(&words).succeeds()
    };
    let (narrow, usual, wide) = (at("0.5"), at("0.95"), at("0.999"));
    assert_eq!(usual.stdout, shell.run("compare a b --json").stdout);
    for (inner, outer) in [(&narrow, &usual), (&usual, &wide)] {
        assert!(field(outer, "low") < field(inner, "low"), "{inner:?} {outer:?}");
        assert!(field(inner, "high") < field(outer, "high"), "{inner:?} {outer:?}");
    }
    for confidence in ["0", "1", "95", "NaN"] {
        let words = format!("compare a b --confidence {confidence}");
        let error = format!("confidence {confidence}: expected a number above 0 and below 1");
        shell.run(&words).fails_with(&error);
    }
}

#[test]
fn input_that_is_no_text_is_a_clear_error() {
    let shell = Shell::new();
    shell.write("a", "some text");
    shell.write("bad", b"\xff");
    shell.write("folder/inside", "text");
    shell.write("long", "x".repeat(2000));
    for (words, error) in [
        ("compare a folder", "twindex: folder: is a directory; name a file"),
        ("compare missing a", "twindex: missing: No such file"),
        ("compare a bad", "twindex: bad: not valid UTF-8 at byte 1"),
        ("compare a long --max-record 1K", "twindex: long: longer than 1K"),
        ("compare a a --lanes 100", "twindex: lanes 100: expected 64, 128, 256 or 512"),
        ("compare a a --threshold 2", "twindex: threshold 2: expected a number above 0"),
    ] {
        shell.run(words).fails_with(error);
    }
    let mut args = vec!["compare", "a", "-", "--max-record", "1K"];
    shell.args(&args, "y".repeat(2000)).fails_with("longer than 1K");
    args.swap(1, 2);
    shell.args(&args, b"\xff".to_vec()).fails_with("not valid UTF-8 at byte 1");
}
