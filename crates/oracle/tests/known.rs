//! Programs with known verdicts, from the manual and from hardware.

mod common;

use common::program;
use oracle::{Explorer, Misuse, Verdict, observe};

fn explore(text: &str) -> Verdict {
    Explorer::default().explore(&program(text))
}

#[track_caller]
fn clean(text: &str) {
    let verdict = explore(text);
    assert!(verdict.is_clean(), "{verdict:?}");
    assert_eq!(verdict.outcomes.expect("computed for clean programs").len(), 1);
}

#[track_caller]
fn races(text: &str) {
    let verdict = explore(text);
    assert!(!verdict.races.is_empty(), "{verdict:?}");
    assert!(verdict.misuses.is_empty() && !verdict.schedule_dependent(), "{verdict:?}");
}

#[track_caller]
fn deadlocks(text: &str) {
    let verdict = explore(text);
    assert!(verdict.deadlocks && !verdict.completes && verdict.misuses.is_empty(), "{verdict:?}");
}

#[track_caller]
fn misuses(text: &str, misuse: Misuse) {
    let verdict = explore(text);
    assert!(verdict.misuses.contains(&misuse), "{verdict:?}");
}

#[test]
fn exits_release_barriers_without_a_count_only() {
    clean("warps 2\n0.0: bar.sync 0");
    clean("warps 2\n0.0: bar.sync 1\n1.0: write s0");
    deadlocks("warps 2\n0.0: bar.sync 0 64");
    deadlocks("warps 2\n0.0: bar.sync 1 64\n1.0: write s0");
    clean("warps 2\n0.0: bar.sync 1 64\n1.1: bar.sync 1 64");
}

#[test]
fn an_exit_orders_nothing() {
    races("warps 2\n0.0: bar.sync 0; read s0\n1.0: write s0");
    races("warps 1\n0.0: warpsync 3; read s0\n0.1: write s0");
    races("warps 2\n0.0: barrier.sync 1 64; write s0\n0.1: write s0\n1.0: bar.sync 1 64");
}

#[test]
fn barriers_order_memory_transitively() {
    clean("warps 2\n0.0: write s0; bar.sync 0\n1.0: bar.sync 0; read s0");
    clean("warps 2\n0.0: write g0; bar.sync 0\n1.0: bar.sync 0; read g0");
    clean(
        "warps 3
        0.0: write s0; bar.sync 1 64
        1.0: bar.sync 1 64; bar.sync 2 64
        2.0: bar.sync 2 64; read s0",
    );
    races("warps 2\n0.0: write s0\n1.0: read s0");
    races("warps 2\n0.0: write.1 s0+3\n1.0: read.8 s0");
    clean("warps 2\n0.0: write.1 s0+3\n1.0: read.2 s0");
}

#[test]
fn an_arrival_releases_and_does_not_acquire() {
    clean("warps 2\n0.0: write s0; bar.arrive 1 64\n1.0: bar.sync 1 64; read s0");
    races("warps 2\n0.0: bar.arrive 1 64; read s0\n1.0: write s0; bar.sync 1 64");
    // Nor among the lanes of its own warp.
    races("warps 1\n0.0: write s0; *bar.arrive 1 32\n0.1: *bar.arrive 1 32; read s0");
    clean("warps 1\n0.0: write s0; *bar.sync 1 32\n0.1: *bar.sync 1 32; read s0");
}

#[test]
fn a_registration_waits_for_the_warp() {
    // Half a warp arrives; the other half waits for it.
    deadlocks("warps 2\n0.0: barrier.arrive 1 64; warpsync 3\n0.1: warpsync 3\n1.0: write s0");
    clean("warps 1\n0.0: barrier.sync 1 32\n0.1: barrier.sync 1 32");
    deadlocks("warps 1\n0.0: barrier.sync 1 32\n0.1: warpsync 3");
}

#[test]
fn misuse() {
    misuses("warps 1\n0.0: barrier.sync 1 32\n0.1: barrier.arrive 1 32", Misuse::ArriveAndWait);
    misuses("warps 1\n0.0: bar.sync 1\n0.1: bar.sync 1", Misuse::Divergence);
    misuses("warps 1\n0.0: bar.sync 1\n0.1: barrier.sync 1", Misuse::Divergence);
    misuses("warps 1\n0.0: barrier.sync 1\n0.1: barrier.sync 2", Misuse::DifferentBarriers);
    misuses("warps 2\n0.0: bar.sync 1 64\n1.0: bar.sync 1 96", Misuse::MixedCounts);
    misuses("warps 2\n0.0: bar.sync 1 64\n1.0: bar.popc 1 64 t", Misuse::MixedReduction);
    misuses("warps 2\n0.0: bar.sync 1 40", Misuse::BadCount);
}

#[test]
fn a_warp_that_registers_twice_counts_twice() {
    clean(
        "warps 1\n0.0: write s0; *bar.arrive 1 64; *bar.sync 1 64\n0.1: *bar.arrive 1 64; *bar.sync 1 64; read s0",
    );
    clean(
        "warps 2
        0.0: bar.arrive 1 96; bar.sync 1 96; read s0
        1.0: write s0; bar.arrive 1 96",
    );
    deadlocks("warps 1\n0.0: bar.arrive 1 96; bar.sync 1 96");
    // Two arrivals of one warp, or one of each.
    assert!(
        explore("warps 2\n0.0: bar.arrive 1 64; bar.arrive 1 64\n1.0: bar.sync 1 64")
            .matchings_differ
    );
}

#[test]
fn a_lane_stuck_before_an_aligned_barrier() {
    let verdict = explore("warps 1\n0.0: bar.sync 1\n0.1: shfl 3 from 1");
    assert!(verdict.deadlocks && verdict.stuck_at_aligned_barrier);
    // An exited lane is no longer waited for.
    clean("warps 1\n0.0: bar.sync 1\n0.1: write s0");
}

#[test]
fn collectives_of_a_warp() {
    clean("warps 1\n0.0: write s0; warpsync 3\n0.1: warpsync 3; read s0");
    races("warps 1\n0.0: write s0; *shfl 3 from 0\n0.1: *shfl 3 from 0; read s0");
    races("warps 1\n0.0: write s0; *vote 3 t\n0.1: *vote 3 t; read s0");
    races("warps 1\n0.0: write s0; warpsync 1\n0.1: warpsync 2; read s0");
    clean("warps 1\n0.0: warpsync 3");
    deadlocks("warps 1\n0.0: shfl 3 from 0\n0.1: vote 3 t");
    deadlocks("warps 1\n0.0: warpsync 3\n0.1: warpsync 2; shfl 3 from 1");
    assert!(explore("warps 1\n0.0: shfl 3 from 1").undefined);
}

#[test]
fn results_of_collectives_and_reductions() {
    let results = |text: &str| {
        let outcomes = explore(text).outcomes.expect("clean");
        outcomes.into_iter().next().expect("one").results
    };
    let votes = "warps 1\n0.0: *vote 3 f\n0.1: *vote 3 t";
    assert_eq!(results(votes), [2, 2]);
    let shuffle = "warps 1\n0.0: *shfl 3 from 1\n0.1: *shfl 3 from 1";
    assert_eq!(results(shuffle), [0x101, 0x101]);
    let reduction = "warps 2\n0.0: *bar.popc 0 t\n0.1: *bar.popc 0 f\n1.0: bar.popc 0 t";
    assert_eq!(results(reduction), [2, 2, 2]);
    let read = "warps 2\n0.0: write.2 s0+2; bar.sync 0\n1.1: bar.sync 0; read s0";
    assert_eq!(results(read), [0, 0, 0, 0x1010_a1a0]);
}

#[test]
fn copies_are_agents() {
    clean("warps 1\n0.0: copy s0 g0; commit; wait 0; read s0");
    clean("warps 1\n0.0: copy s0 g0; waitall; read s0");
    races("warps 1\n0.0: copy s0 g0; commit; read s0");
    races("warps 1\n0.0: copy s0 g0; wait 0; read s0");
    races("warps 1\n0.0: copy s0 g0; commit; wait 1; read s0");
    clean("warps 1\n0.0: copy s0 g0; commit; copy s1 g1; commit; wait 1; read s0");
    races("warps 1\n0.0: copy s0 g0; commit; copy s1 g1; commit; wait 1; read s1");
    clean("warps 1\n0.0: write g0; copy s0 g0; waitall");
    races("warps 1\n0.0: copy s0 g0; write g0; waitall");
    races("warps 1\n0.0: copy s0 g0; copy s0 g1; waitall");
    // The wait covers its own thread; others need a barrier after it.
    clean("warps 2\n0.0: copy s0 g0; waitall; bar.sync 0\n1.0: bar.sync 0; read s0");
    races("warps 2\n0.0: copy s0 g0; bar.sync 0; waitall\n1.0: bar.sync 0; read s0");
    // Without a wait, the copy races with threads released by the exit's barrier, and with no others.
    races("warps 2\n0.0: copy s0 g0\n1.0: bar.sync 0; read s0");
    clean("warps 2\n0.0: copy s0 g0\n1.0: bar.sync 0; read s1");
}

#[test]
fn additions_commute_and_equal_stores_are_no_race() {
    clean("warps 2\n0.0: add s0\n1.0: add s0");
    races("warps 2\n0.0: add s0\n1.0: read s0");
    races("warps 2\n0.0: add s0\n1.0: write s0");
    let equal = explore("warps 2\n0.0: write s0 common\n1.0: write s0 common");
    assert!(equal.is_clean() && equal.equal_stores.len() == 1);
    races("warps 2\n0.0: write s0 common\n1.0: write.2 s0 common");
    races("warps 2\n0.0: copy s0 g0\n1.0: copy s0 g0");
}

#[test]
fn a_race_has_several_outcomes() {
    let program = program("warps 2\n0.0: write s0; write s1\n1.0: write s0; write s1");
    assert_eq!(Explorer::default().outcomes(&program).len(), 4);
}

#[test]
fn generations_must_not_be_mistaken() {
    // The smallest program in which a thread's first command is at fault.
    let text = "warps 3\n0.0: bar.sync 1 64; bar.sync 1 64\n1.0: bar.sync 1 64\n2.0: bar.sync 1 64";
    let verdict = explore(text);
    assert!(verdict.completes && verdict.deadlocks && verdict.matchings_differ);
    assert!((0..20).all(|seed| observe(&program(text), seed).reuse));
    // Arrivals alone are enough.
    let arrivals = "warps 3\n0.0: bar.arrive 1 64\n1.0: bar.arrive 1 64\n2.0: bar.arrive 1 64";
    assert!(explore(arrivals).matchings_differ);
    // A chain of waits orders generations.
    clean(
        "warps 3
        0.0: bar.sync 1 64; bar.sync 2 64
        1.0: bar.sync 1 64
        2.0: bar.sync 2 64; bar.sync 1 32",
    );
    // Generations of single warps cannot be mistaken for each other, ordered or not.
    clean("warps 2\n0.0: bar.sync 1 32\n1.0: bar.sync 1 32");
    assert!((0..20).all(|seed| {
        let text = "warps 2\n0.0: bar.sync 1 32\n1.0: bar.sync 1 32";
        !observe(&program(text), seed).finds_something()
    }));
}
