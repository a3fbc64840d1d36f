//! Random kernels whose warps wait for each other at barriers of some warps.
//!
//! Fast paths forget reads that all threads know of, the general code keeps them: both find the same. A run that may
//! end early ends exactly if the whole run has an unwanted finding.

mod comparing;
mod launching;

use comparing::compare;
use exec::{Checks, EarlyFinding, Fault, Finding, Launch, Limits, Outcome, Place};
use launching::{Arg, kernel, launch};
use std::collections::BTreeSet;
use testing::Random;

const WARPS: usize = 4;
const MODULE: &str = ".shared .align 16 .b8 tile[1024];";

/// The address of a lane: a row, the row backwards, or the same for all lanes.
const ADDRESSES: [&str; 3] = ["%r1", "%r2", "%r3"];

/// An access of a warp to a row, or to one word.
fn access(random: &mut Random) -> String {
    let warp = random.below(WARPS);
    let address = random.pick(&ADDRESSES);
    let offset = random.pick(&[0, 4, 8, 64, 128]);
    match random.below(5) {
        0 => format!("@%p{warp} st.shared.u32 [{address}+{offset}], {};", random.below(2)),
        1 => format!("@%p{warp} st.shared.u32 [{address}+{offset}], %r4;"),
        _ => format!("@%p{warp} ld.shared.u32 %r5, [{address}+{offset}];"),
    }
}

/// A barrier of at least two warps; at least one of them waits.
fn barrier(random: &mut Random, id: usize) -> String {
    let mut warps: Vec<usize> = (0..WARPS).collect();
    random.shuffle(&mut warps);
    warps.truncate(2 + random.below(WARPS - 1));
    let count = 32 * warps.len();
    let one = |(position, warp): (usize, &usize)| {
        let kind = if position == 0 || random.chance(60) { "sync" } else { "arrive" };
        format!("@%p{warp} bar.{kind} {id}, {count};")
    };
    warps.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
}

fn body(random: &mut Random) -> String {
    let mut lines = vec![
        "mov.u32 %r0, %tid.x; and.b32 %r4, %r0, 31; shr.u32 %r6, %r0, 5; mov.u32 %r3, tile;
         mad.lo.u32 %r1, %r4, 4, %r3; sub.u32 %r2, 31, %r4; mad.lo.u32 %r2, %r2, 4, %r3;"
            .to_owned(),
    ];
    lines.extend((0..WARPS).map(|warp| format!("setp.eq.u32 %p{warp}, %r6, {warp};")));
    lines.push("bar.sync 0;\nmov.u32 %r7, 0;\nLOOP:".to_owned());
    for id in 1..=2 + random.below(5) {
        for _ in 0..random.below(6) {
            lines.push(access(random));
        }
        lines.push(barrier(random, id));
    }
    lines.push("add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 3;\n@%p4 bra LOOP;".to_owned());
    lines.join("\n")
}

fn launched(body: &str) -> (ir::Program, Launch) {
    let program = kernel(MODULE, ".param .u64 p", body);
    let threads = [32 * WARPS as u32, 1, 1];
    let launch = launch(&program, "k", [1; 3], threads, 0, &[Arg::InOut(vec![0; 64])]);
    (program, launch)
}

/// The places of the races, and of pairs that are left open.
fn races(outcome: &Outcome) -> BTreeSet<[Place; 2]> {
    let race = |finding: &Finding| match &finding.fault {
        Fault::Race(race) => Some(race.sides.each_ref().map(|side| side.place)),
        _ => None,
    };
    let open = outcome.undecided.iter().map(|open| open.race.sides.each_ref().map(|one| one.place));
    outcome.findings.iter().filter_map(race).chain(open).map(sorted).collect()
}

fn sorted([a, b]: [Place; 2]) -> [Place; 2] {
    [a.min(b), a.max(b)]
}

#[test]
fn known_reads_are_forgotten_without_a_difference() {
    let (limits, checks) = (Limits::default(), Checks::default());
    let (mut racy, mut clean) = (0, 0);
    for seed in 0..400 {
        let body = body(&mut Random::new((7 << 32) + seed));
        let (program, launch) = launched(&body);
        let difference = compare(&program, &launch, limits.lane_instructions);
        assert_eq!(difference, None, "seed {seed}\n{body}");
        let outcome = exec::check_with(&program, &launch, limits, checks);
        let races = races(&outcome);
        if races.is_empty() {
            clean += 1
        } else {
            racy += 1
        }
        for unwanted in &races {
            let is_unwanted = |found: EarlyFinding<'_>| match found {
                EarlyFinding::Race(places) => sorted(places) == *unwanted,
                EarlyFinding::Fault(..) => false,
            };
            let ended = exec::check_until(&program, &launch, limits, checks, &is_unwanted);
            assert_eq!(ended, None, "seed {seed}\n{body}");
        }
        let is_unwanted = |found: EarlyFinding<'_>| match found {
            EarlyFinding::Race(places) => !races.contains(&sorted(places)),
            EarlyFinding::Fault(..) => false,
        };
        let ended = exec::check_until(&program, &launch, limits, checks, &is_unwanted);
        assert_eq!(ended, Some(outcome), "seed {seed}\n{body}");
    }
    assert!(racy > 100 && clean > 20, "{racy} with races, {clean} without");
}
