//! What `exec` says of emitted kernels, against all schedules: races, deadlocks, misused and reused
//! barriers, undefined values, and what clean programs leave behind.

mod common;

use common::engine;
use oracle::{Agreement, Explorer, compare, emit, generate, shrink};

#[test]
fn the_engine_agrees_with_all_schedules() {
    let mut explorer = Explorer::default();
    let (mut clean, mut wrong) = (0, 0);
    for seed in 0..20_000 {
        let program = generate(seed);
        match compare(&mut explorer, &program, &engine) {
            Ok(Agreement::Clean) => clean += 1,
            Ok(Agreement::Wrong) => wrong += 1,
            Ok(Agreement::GaveUp) => panic!("seed {seed}: {:?}", engine(&emit(&program)).unknown),
            Err(_) => {
                let smallest = shrink(&program, |candidate| {
                    compare(&mut explorer, candidate, &engine).is_err()
                });
                let found = compare(&mut explorer, &smallest, &engine).expect_err("still");
                panic!("seed {seed}: {found}");
            }
        }
    }
    assert!(clean > 5_000 && wrong > 1_000, "{clean} clean, {wrong} wrong");
}

/// Programs that were found to go wrong, made small.
const FOUND: &[(&str, &str)] = &[
    (
        "three warps at a barrier for two: all are let go",
        "warps 3\n0.0: bar.sync 1 64\n1.0: bar.sync 1 64\n2.0: bar.sync 1 64",
    ),
    (
        "generations of single warps: two reductions become one, and count each other's votes",
        "warps 2\n0.0: bar.popc 3 32 t\n1.0: bar.popc 3 32 f",
    ),
    (
        "a lane that comes again while its warp's other lane waits counts the warp twice",
        "warps 1\n0.0: barrier.sync 1 64\n0.1: barrier.arrive 1 64; barrier.sync 1 64",
    ),
];

#[test]
fn what_was_found_is_mended() {
    for (what, text) in FOUND {
        let found = compare(&mut Explorer::default(), &common::program(text), &engine);
        assert!(found.is_ok(), "{what}\n{}", found.expect_err("wrong"));
    }
}
