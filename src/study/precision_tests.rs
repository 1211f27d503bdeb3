//! The study in a small form, and the pair that it measures.

use super::*;

#[test]
fn both_passages_are_similar_to_6_tenths_exactly() {
    let text = Shingled::new(SHINGLE, 20_000).expect("valid");
    for keys in Keys::ALL {
        let (of_text, _) = text.keys(keys);
        for length in [60, 200, 800] {
            let places = passages(&of_text, length).expect("long enough");
            let [a, b] = places.map(|places| set(&of_text[places]));
            let shared = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
            assert_eq!(5 * shared, 3 * (a.len() + b.len() - shared), "{length} of {keys:?}");
        }
    }
    assert!(passages(&[1, 2, 3], 800).is_none());
}

fn small() -> Settings {
    Settings { runs: 40, hashes: 128, passage: 80, characters: 2_000 }
}

#[test]
fn the_bias_of_modular_hashing_is_seen_in_few_runs() {
    let report = run(&small(), &Work::unwatched(1)).expect("valid settings");
    assert_eq!(report.findings.len(), 3, "200 functions are not reached");
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    let numbers = GRID.iter().filter(|k| **k <= 128).count();
    assert_eq!(report.table.rows.len(), 3 * 8 - 1);
    assert_eq!(report.data.rows.len(), numbers * (3 * 8 - 1));
    assert_eq!(report.figure.panels.len(), 4);
}

#[test]
fn a_seed_gives_the_same_points_and_another_gives_others() {
    let settings = Settings { runs: 2, hashes: 10, ..small() };
    let points = |seed| run(&settings, &Work::unwatched(seed)).expect("valid settings").data.rows;
    assert_eq!(points(3), points(3));
    assert_ne!(points(3), points(4));
}

#[test]
fn settings_out_of_range_are_refused() {
    for settings in [
        Settings { runs: 1, ..small() },
        Settings { hashes: 9, ..small() },
        Settings { hashes: 5_000, ..small() },
        Settings { passage: 2_000, ..small() },
        Settings { characters: 5, ..small() },
    ] {
        assert!(run(&settings, &Work::unwatched(0)).is_err(), "{settings:?}");
    }
}
