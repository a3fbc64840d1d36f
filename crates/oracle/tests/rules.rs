//! Compares the rules for single runs with all runs.

mod common;

use oracle::program::{Barrier, BarrierKind, Op, Step, Thread};
use oracle::{
    CheckerVerdict, Disagreement, Explorer, Kernel, Program, agree, compare, generate, observe,
    shrink,
};

/// Checks that a random run, judged by the rules for single runs, agrees with all runs.
fn check(explorer: &mut Explorer, program: &Program, seed: u64) -> Result<(), Box<Disagreement>> {
    let oracle = explorer.explore(program);
    let checker = observe(program, seed);
    agree(&oracle, &checker).map(drop).map_err(|reasons| {
        Box::new(Disagreement { program: program.clone(), reasons, checker, oracle })
    })
}

#[test]
fn one_run_agrees_with_all_runs() {
    let mut explorer = Explorer::default();
    for seed in 0..12_000 {
        let program = generate(seed);
        if check(&mut explorer, &program, seed).is_err() {
            let smallest = shrink(&program, |p| check(&mut explorer, p, seed).is_err());
            let disagreement = check(&mut explorer, &smallest, seed).expect_err("still disagrees");
            panic!("seed {seed}: {disagreement}");
        }
    }
}

/// Every combination of two to four warps with one to three steps each, at most eight in total, all syncs or
/// arrivals at one barrier for two warps. The order of warps does not matter, so only sorted programs are listed.
fn one_barrier() -> Vec<Program> {
    let lists: Vec<Vec<BarrierKind>> =
        (1..=3).flat_map(|length| (0..1 << length).map(move |bits| kinds(bits, length))).collect();
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    let mut programs = Vec::new();
    for warps in 1..=4 {
        chosen = chosen
            .iter()
            .flat_map(|list| {
                let least = list.last().copied().unwrap_or(0);
                (least..lists.len()).map(move |next| [&list[..], &[next]].concat())
            })
            .collect();
        if warps >= 2 {
            programs.extend(chosen.iter().map(|chosen| named_barrier(chosen, &lists)));
        }
    }
    programs.retain(|program| program.len() <= 8);
    programs
}

fn kinds(bits: u32, length: u32) -> Vec<BarrierKind> {
    let kind = |bit| if bits >> bit & 1 == 0 { BarrierKind::Sync } else { BarrierKind::Arrive };
    (0..length).map(kind).collect()
}

fn named_barrier(chosen: &[usize], lists: &[Vec<BarrierKind>]) -> Program {
    let step = |&kind: &BarrierKind| {
        let op = Op::Barrier(Barrier { kind, id: 0, count: Some(64), aligned: true });
        Step { op, joint: false }
    };
    let thread = |(warp, &list): (usize, &usize)| Thread {
        warp: warp as u8,
        lane: 0,
        steps: lists[list].iter().map(step).collect(),
    };
    Program { warps: chosen.len() as u8, threads: chosen.iter().enumerate().map(thread).collect() }
}

/// Compares the reuse rule, on single runs that complete, with all runs: it must accept exactly the programs
/// for which every run completes with the same matching.
#[test]
fn the_rule_for_reuse_is_exact_for_one_barrier() {
    let mut explorer = Explorer::default();
    let (mut judged, mut safe, mut deadlocking) = (0, 0, 0);
    for program in one_barrier() {
        let oracle = explorer.explore(&program);
        if !oracle.completes {
            continue;
        }
        let runs = (0..1_000).map(|seed| observe(&program, seed));
        let complete: Vec<_> = runs.filter(|run| run.buffers.is_some()).take(3).collect();
        assert!(!complete.is_empty(), "no run completes by chance\n{program}");
        for run in &complete {
            assert_eq!(run.reuse, oracle.schedule_dependent(), "{program}{oracle:?}");
        }
        judged += 1;
        safe += usize::from(!oracle.schedule_dependent());
        deadlocking += usize::from(oracle.deadlocks);
    }
    assert_eq!((judged, safe, deadlocking), (1004, 17, 803));
}

/// The comparison itself must be able to fail.
#[test]
fn checkers_that_see_nothing_or_everything_are_caught() {
    let mut explorer = Explorer::default();
    let blind = |_: &Kernel| CheckerVerdict::default();
    let alarmed = |_: &Kernel| CheckerVerdict { race: true, ..CheckerVerdict::default() };
    for seed in 0..500 {
        let program = generate(seed);
        let oracle = explorer.explore(&program);
        let is_caught = compare(&mut explorer, &program, &blind).is_err();
        assert!(is_caught, "not even the contents are compared\n{program}");
        let is_caught = compare(&mut explorer, &program, &alarmed).is_err();
        assert!(is_caught || !oracle.races.is_empty(), "{program}");
    }
}

#[test]
fn generated_programs_are_valid_and_print_as_they_are_read() {
    for seed in 0..5_000 {
        let program = generate(seed);
        assert_eq!(program.validate(), Ok(()), "seed {seed}\n{program}");
        assert_eq!(program.to_string().parse(), Ok(program.clone()), "seed {seed}\n{program}");
        assert_eq!(generate(seed), program);
    }
}

#[test]
fn shrinking_keeps_the_property() {
    let races = |program: &Program| !Explorer::default().explore(program).races.is_empty();
    let found = (0..2_000).map(generate).filter(races).take(20);
    for program in found {
        let smallest = shrink(&program, races);
        assert!(races(&smallest));
        assert!(smallest.len() <= 2, "{program}\n{smallest}");
    }
}
