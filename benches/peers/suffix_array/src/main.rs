//! Finds the repeated passages of a corpus with a suffix array of its bytes, as Lee and others
//! (2022) do, and prints the time of each step.
//!
//! `cargo run --release -- CORPUS.jsonl [LENGTH]` reads texts from JSON Lines; a passage is a
//! stretch of LENGTH bytes or more (100) that occurs at another place, and lies in no longer one.
//! Texts are compared byte for byte, without normalisation. Memory: 14 bytes for each byte of text.

use libsais::{SuffixArrayConstruction, ThreadCount};
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("name a file of JSON Lines")?;
    let least: i32 = args.next().map_or(Ok(100), |length| length.parse())?;
    let clock = Instant::now();
    let step = |what: &str| println!("{:8.1} s  {what}", clock.elapsed().as_secs_f64());

    // Texts end in a byte that no text has.
    const END: u8 = 0;
    let mut text: Vec<u8> = Vec::new();
    for line in BufReader::new(File::open(&path)?).lines() {
        let record: Value = serde_json::from_str(&line?)?;
        let own = record["text"].as_str().unwrap_or_default().bytes();
        text.extend(own.filter(|byte| *byte != END));
        text.push(END);
    }
    step(&format!("{} MB of text read", text.len() / 1_000_000));

    let array = SuffixArrayConstruction::for_text(&text)
        .in_owned_buffer32()
        .multi_threaded(ThreadCount::openmp_default())
        .run()
        .map_err(|error| format!("{error:?}"))?;
    step("suffix array");
    let array = array.plcp_construction().multi_threaded(ThreadCount::openmp_default()).run();
    let array = array.map_err(|error| format!("{error:?}"))?;
    let array = array.lcp_construction().multi_threaded(ThreadCount::openmp_default()).run();
    let (order, prefixes, _, _) = array.map_err(|error| format!("{error:?}"))?.into_parts();
    step("common prefixes");

    // The longest stretch at each place that occurs at another one, within its text.
    let mut longest = vec![0_i32; text.len()];
    for (rank, place) in order.iter().enumerate() {
        let after = prefixes.get(rank + 1).copied().unwrap_or(0);
        longest[*place as usize] = prefixes[rank].max(after);
    }
    let mut room = 0;
    for (longest, byte) in longest.iter_mut().zip(&text).rev() {
        room = if *byte == END { 0 } else { room + 1 };
        *longest = room.min(*longest);
    }
    let (mut passages, mut covered, mut end) = (0_u64, 0_u64, 0_usize);
    for (place, longest) in longest.iter().enumerate() {
        let reach = place + *longest as usize;
        if *longest >= least && reach > end {
            passages += 1;
            covered += (reach - place.max(end)) as u64;
            end = reach;
        }
    }
    step(&format!("{passages} places of passages, {covered} bytes in them"));
    Ok(())
}
