//! Random operations against a plain map and brute force over signatures.

use crate::history::{FAMILIES, IDS, Op, VARIANTS, operations, run};
use crate::inputs::for_each_input;
use proptest::prelude::*;

fn op() -> impl Strategy<Value = Op> {
    let id = 0..IDS;
    let family = 0..FAMILIES;
    let variant = 0..VARIANTS;
    let document = (id.clone(), family.clone(), variant.clone());
    prop_oneof![
        8 => document.clone().prop_map(|(id, family, variant)| Op::Insert { id, family, variant }),
        3 => proptest::collection::vec(document.clone(), 0..20).prop_map(Op::InsertBatch),
        3 => document
            .prop_map(|(id, family, variant)| Op::InsertUnlessSimilar { id, family, variant }),
        4 => id.prop_map(|id| Op::Remove { id }),
        4 => Just(Op::Commit),
        1 => Just(Op::Abort),
        1 => Just(Op::Reopen),
        1 => Just(Op::Compact),
        1 => Just(Op::Snapshot),
        4 => (family, variant, 40..100_u8)
            .prop_map(|(family, variant, percent)| Op::Query { family, variant, percent }),
        1 => (60..100_u8).prop_map(|percent| Op::Pairs { percent }),
    ]
}

/// Long runs: `TWINDEX_MODEL_CASES=10000 cargo test --release --test integration -- model`.
fn cases() -> u32 {
    std::env::var("TWINDEX_MODEL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_answers_as_a_map_and_brute_force_do(
        ops in proptest::collection::vec(op(), 1..150)
    ) {
        run(ops);
    }
}

#[test]
fn kept_histories_answer_as_a_map_and_brute_force_do() {
    for_each_input("operations", |bytes| run(operations(bytes)));
}
