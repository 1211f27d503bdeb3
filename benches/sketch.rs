//! From text to signature, by kind of shingle and number of lanes. `cargo bench --bench sketch`

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use twindex::{DEFAULT_LANES, Normalization, Shingle, Shingler, Sketcher, Weights, equal_lanes};

fn sketcher(shingle: Shingle, lanes: usize) -> Sketcher {
    let shingler = Shingler::new(shingle, shingle.default_normalization(), false, 0);
    Sketcher::new(shingler.expect("a valid shingle"), lanes, 0).expect("valid lanes")
}

/// The text in other alphabets, line by line in turn: Cyrillic, Greek with accents that normalising
/// composes, Chinese, and astral letters of four bytes.
fn alphabets(text: &str) -> String {
    let mut out = String::with_capacity(3 * text.len());
    for (number, line) in text.lines().enumerate() {
        for letter in line.chars() {
            let Some(at) = ('a'..='z').position(|other| other == letter.to_ascii_lowercase())
            else {
                out.push(letter);
                continue;
            };
            let first = ['\u{430}', '\u{3B1}', '\u{4E00}', '\u{1D41A}'][number % 4];
            out.extend(char::from_u32(first as u32 + at as u32));
            if number % 4 == 1 && at == 0 {
                out.push('\u{301}');
            }
        }
        out.push('\n');
    }
    out
}

/// A random genome of this many letters as FASTA, in lines of 70.
fn genome(letters: usize) -> String {
    let mut out = String::from(">genome\n");
    let mut word = 1_u64;
    for at in 1..=letters {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.push(char::from(b"ACGT"[(word >> 62) as usize]));
        if at % 70 == 0 {
            out.push('\n');
        }
    }
    out
}

fn sketch(criterion: &mut Criterion) {
    let long = include_str!("../crates/lab/data/gospels/en_kjv_luke.txt");
    let verse = long.lines().next().unwrap_or_default();
    let (accents, alphabets) = (long.replace('e', "é"), alphabets(long));
    for (name, text) in
        [("Gospel", long), ("verse", verse), ("accents", &accents), ("alphabets", &alphabets)]
    {
        let mut group = criterion.benchmark_group(format!("sketch a {name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        for shingle in [
            Shingle::chars(5),
            Shingle::chars(9),
            Shingle::chars(20),
            Shingle::words(3),
            Shingle::lines(2),
            Shingle::Tokens,
        ] {
            let sketcher = sketcher(shingle, 256);
            group.bench_function(BenchmarkId::new("256 lanes", shingle), |bencher| {
                bencher.iter(|| sketcher.signature(black_box(text)));
            });
        }
        for lanes in [64, 128, 512] {
            let sketcher = sketcher(Shingle::chars(9), lanes);
            group.bench_function(BenchmarkId::new(format!("{lanes} lanes"), "char:9"), |bencher| {
                bencher.iter(|| sketcher.signature(black_box(text)));
            });
        }
        group.finish();
    }
    let genome = genome(1_000_000);
    let mut group = criterion.benchmark_group("sketch a genome");
    group.throughput(Throughput::Bytes(genome.len() as u64));
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for shingle in [Shingle::kmers(21), Shingle::kmers(32), Shingle::chars(9)] {
        let sketcher = sketcher(shingle, 256);
        group.bench_function(BenchmarkId::new("256 lanes", shingle), |bencher| {
            bencher.iter(|| sketcher.signature(black_box(&genome)));
        });
    }
    group.finish();
    weighted(criterion);
    let (a, b) = ([7_u8; 256], [8_u8; 256]);
    criterion.bench_function("compare two signatures of 256 lanes", |bencher| {
        bencher.iter(|| equal_lanes(black_box(&a), black_box(&b)));
    });
}

/// Weighted sets with weights from 1e-3 to 1e6.
fn weighted(criterion: &mut Criterion) {
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0);
    let sketcher = Sketcher::weighted(shingler.expect("valid"), DEFAULT_LANES, 0);
    let sketcher = sketcher.expect("tokens");
    let mut group = criterion.benchmark_group("sketch a weighted set");
    for tokens in [1_u32, 100, 1_000, 100_000] {
        let weight =
            |n: u32| 10.0_f64.powf(f64::from(n.wrapping_mul(2_654_435_761) >> 8) / 2e6 - 3.0);
        let weights = Weights::new((0..tokens).map(|n| (n.to_string(), weight(n))));
        let set = weights.expect("valid weights");
        group.throughput(Throughput::Elements(tokens.into()));
        group.bench_function(BenchmarkId::new("256 lanes", tokens), |bencher| {
            bencher.iter(|| sketcher.signature(black_box(&set)));
        });
    }
    group.finish();
}

criterion_group!(benches, sketch);
criterion_main!(benches);
