//! Compares `exec` with all schedules on emitted kernels: races, deadlocks, misused and reused barriers,
//! undefined values, and the final memory of clean programs.

mod common;

use common::engine;
use oracle::{Agreement, Explorer, compare, emit, generate, shrink};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of compared programs: the first seeds, in portions that threads take in turn.
const PROGRAMS: u64 = 100_000;
const PORTION: u64 = 500;

#[test]
fn the_engine_agrees_with_all_schedules() {
    let (next, clean, wrong) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                let mut explorer = Explorer::default();
                loop {
                    let first = next.fetch_add(PORTION, Ordering::Relaxed);
                    if first >= PROGRAMS {
                        break;
                    }
                    for seed in first..first + PORTION {
                        match agreement(&mut explorer, seed) {
                            Agreement::Clean => clean.fetch_add(1, Ordering::Relaxed),
                            Agreement::Wrong => wrong.fetch_add(1, Ordering::Relaxed),
                            Agreement::GaveUp => 0,
                        };
                    }
                }
            });
        }
    });
    let (clean, wrong) = (clean.into_inner(), wrong.into_inner());
    assert!(clean > PROGRAMS / 4 && wrong > PROGRAMS / 20, "{clean} clean, {wrong} wrong");
}

/// Compares one program; on a disagreement, shrinks it.
fn agreement(explorer: &mut Explorer, seed: u64) -> Agreement {
    let program = generate(seed);
    match compare(explorer, &program, &engine) {
        Ok(Agreement::GaveUp) => panic!("seed {seed}: {:?}", engine(&emit(&program)).unknown),
        Ok(agreement) => agreement,
        Err(_) => {
            let smallest =
                shrink(&program, |candidate| compare(explorer, candidate, &engine).is_err());
            let found = compare(explorer, &smallest, &engine).expect_err("still");
            panic!("seed {seed}: {found}");
        }
    }
}

/// Reduced programs with past disagreements.
const FOUND: &[(&str, &str)] = &[
    (
        "three warps at a barrier for two: all are released",
        "warps 3\n0.0: bar.sync 1 64\n1.0: bar.sync 1 64\n2.0: bar.sync 1 64",
    ),
    (
        "generations of single warps: two reductions become one, and count each other's votes",
        "warps 2\n0.0: bar.popc 3 32 t\n1.0: bar.popc 3 32 f",
    ),
    (
        "a lane that registers again while its warp's other lane waits counts the warp twice",
        "warps 1\n0.0: barrier.sync 1 64\n0.1: barrier.arrive 1 64; barrier.sync 1 64",
    ),
    (
        "writes of one value before and after an access of fewer bytes: the access splits the cell",
        "warps 2\n0.0: write s1 common\n0.1: read.1 s0; *bar.arrive 2 64\n1.0: *bar.sync 2 64; write s1 common",
    ),
    (
        "a write that another thread repeats does not hide what that thread read before",
        "warps 2\n0.0: write s0 common\n1.1: read s0; write s0 common",
    ),
    (
        "a write that another thread repeats does not hide what others read before it",
        "warps 2\n0.0: read s0; bar.sync 1 64; write s1\n1.0: bar.sync 1 64; write s0 common\n1.1: write s0 common",
    ),
];

#[test]
fn differences_found_earlier_are_gone() {
    for (what, text) in FOUND {
        let found = compare(&mut Explorer::default(), &common::program(text), &engine);
        assert!(found.is_ok(), "{what}\n{}", found.expect_err("wrong"));
    }
}

/// Unused reads may race with writes without an error, unless something else races too.
#[test]
fn racing_unused_reads_are_not_errors() {
    for (text, agreement) in [
        ("warps 2\n0.0: write s0\n1.0: look s0", Agreement::Clean),
        ("warps 2\n0.0: write g0\n1.0: look g0; look g0\n1.1: look g0", Agreement::Clean),
        ("warps 2\n0.0: add s0\n1.0: look s0", Agreement::Clean),
        ("warps 2\n0.0: write.2 s0\n1.0: look.2 s0; read.2 s0+2", Agreement::Clean),
        // The lane also uses a value that it reads, before or after.
        ("warps 2\n0.0: write s0\n1.0: look s0; read s0", Agreement::Wrong),
        ("warps 2\n0.0: write s0\n1.0: read s0; look s0", Agreement::Wrong),
        ("warps 2\n0.0: write s0\n1.0: look.2 s0", Agreement::Wrong),
        ("warps 2\n0.0: write s0\n0.1: write s0\n1.0: look s0", Agreement::Wrong),
    ] {
        let found = compare(&mut Explorer::default(), &common::program(text), &engine);
        assert_eq!(found.ok(), Some(agreement), "{text}");
    }
}
