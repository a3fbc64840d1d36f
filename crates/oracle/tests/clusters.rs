//! Compares `exec` with all schedules on two blocks of a cluster.
//!
//! Accepted programs must be clean on every schedule and leave the same values. Rejected ones must not be
//! clean. Undecided ones are allowed and counted. `WARPPROOF_FULL` compares more programs.

mod common;

use common::clusters::compare;
use oracle::clusters::generate_clusters;
use std::collections::BTreeMap;

#[test]
fn accepted_programs_agree_on_every_schedule() {
    let full = std::env::var_os("WARPPROOF_FULL").is_some();
    let (first, programs) = (0, if full { 300_000 } else { 15_000 });
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in first..first + programs {
        match compare(&generate_clusters(seed)) {
            Ok(agreed) => *counts.entry(agreed).or_default() += 1,
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or_default();
    assert!(count("clean") > programs / 10 && count("wrong") > programs / 4, "{counts:?}");
    assert!(count("gave up on a clean one") < programs / 200, "{counts:?}");
}
