//! Shrinks a program while it keeps a property, such as a disagreement between oracle and checker.
//!
//! The search is greedy: it takes the first change that keeps the property, until no change does. Large changes are
//! tried first: fewer threads, fewer warps, fewer steps, simpler operations. Each change makes the program smaller in a
//! well-founded order, so the search ends. The result is a local minimum.

use crate::program::{Access, BARRIERS, Barrier, BarrierKind, Op, Program, Space, Step, Value};

/// Returns the smallest program found for which `holds`, starting from one for which it does.
pub fn shrink(program: &Program, mut holds: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let Some(found) = smaller(&best).find(|candidate| holds(candidate)) else { break };
        best = found;
    }
    best
}

fn smaller(program: &Program) -> impl Iterator<Item = Program> {
    let candidates = without_threads(program)
        .chain(with_lower_warps(program))
        .chain(without_barriers(program))
        .chain(without_steps(program))
        .chain(without_two_steps(program))
        .chain(with_plainer_steps(program));
    candidates
        .map(|mut candidate| {
            candidate.separate_unequal();
            candidate
        })
        .filter(|candidate| candidate.validate().is_ok())
}

fn without_threads(program: &Program) -> impl Iterator<Item = Program> {
    (0..program.threads.len()).map(|thread| {
        let mut candidate = program.clone();
        candidate.threads.remove(thread);
        candidate
    })
}

fn with_lower_warps(program: &Program) -> impl Iterator<Item = Program> {
    (0..program.warps).map(|empty| {
        let mut candidate = program.clone();
        candidate.warps -= 1;
        for thread in &mut candidate.threads {
            // If that warp is occupied, its threads collide with others or leave the block, which is invalid.
            thread.warp -= u8::from(thread.warp > empty);
        }
        candidate
    })
}

/// Drops every step at one barrier: partners must go together.
fn without_barriers(program: &Program) -> impl Iterator<Item = Program> {
    (0..BARRIERS as u8).filter_map(|id| {
        let mut candidate = program.clone();
        for thread in &mut candidate.threads {
            thread.steps.retain(|step| !matches!(step.op, Op::Barrier(b) if b.id == id));
        }
        (candidate != *program).then_some(candidate)
    })
}

/// Drops two steps, such as an instruction of both lanes, or a copy and its wait.
fn without_two_steps(program: &Program) -> impl Iterator<Item = Program> {
    let all: Vec<(usize, usize)> = places(program).collect();
    let pairs: Vec<_> = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).collect();
    pairs.into_iter().filter(|(a, b)| a < b).map(|(a, b)| {
        let mut candidate = program.clone();
        // Remove the later one first, so that the earlier one keeps its position.
        candidate.threads[b.0].steps.remove(b.1);
        candidate.threads[a.0].steps.remove(a.1);
        candidate
    })
}

fn places(program: &Program) -> impl Iterator<Item = (usize, usize)> {
    let threads = program.threads.iter().enumerate();
    threads.flat_map(|(thread, t)| (0..t.steps.len()).map(move |step| (thread, step)))
}

fn without_steps(program: &Program) -> impl Iterator<Item = Program> {
    places(program).map(|(thread, step)| {
        let mut candidate = program.clone();
        candidate.threads[thread].steps.remove(step);
        candidate
    })
}

fn with_plainer_steps(program: &Program) -> impl Iterator<Item = Program> {
    places(program).flat_map(move |(thread, step)| {
        let old = program.threads[thread].steps[step];
        plainer(old).into_iter().map(move |new| {
            let mut candidate = program.clone();
            candidate.threads[thread].steps[step] = new;
            candidate
        })
    })
}

/// Returns simpler variants of a step. "Simpler" is a strict order, so that shrinking ends.
fn plainer(step: Step) -> Vec<Step> {
    let ops = match step.op {
        Op::Read(access) => plainer_access(access).into_iter().map(Op::Read).collect(),
        Op::UnusedRead(access) => plainer_access(access).into_iter().map(Op::UnusedRead).collect(),
        Op::Write(access, value) => {
            let mut ops: Vec<Op> =
                plainer_access(access).into_iter().map(|new| Op::Write(new, value)).collect();
            if value == Value::Common {
                ops.push(Op::Write(access, Value::Own));
            }
            ops
        }
        Op::Add(Space::Global, cell) => vec![Op::Add(Space::Shared, cell)],
        Op::Add(Space::Shared, cell) if cell > 0 => vec![Op::Add(Space::Shared, cell - 1)],
        Op::Barrier(barrier) => plainer_barrier(barrier).into_iter().map(Op::Barrier).collect(),
        Op::Shuffle { mask, .. } => vec![Op::Vote { mask, predicate: false }],
        Op::Vote { mask, predicate: true } => vec![Op::Vote { mask, predicate: false }],
        Op::Copy { to, from } if to > 0 => vec![Op::Copy { to: to - 1, from }],
        Op::Copy { to, from } if from > 0 => vec![Op::Copy { to, from: from - 1 }],
        Op::WaitGroup(pending) if pending > 0 => vec![Op::WaitGroup(0)],
        Op::WaitAll => vec![Op::WaitGroup(0)],
        _ => Vec::new(),
    };
    ops.into_iter().map(|op| Step { op, ..step }).collect()
}

fn plainer_access(access: Access) -> Vec<Access> {
    let mut plainer = Vec::new();
    if access.space == Space::Global {
        plainer.push(Access { space: Space::Shared, ..access });
    }
    if access.width != 4 {
        plainer.push(Access { offset: access.offset / 4 * 4, width: 4, ..access });
    }
    if access.offset >= access.width {
        plainer.push(Access { offset: access.offset - access.width, ..access });
    }
    plainer
}

fn plainer_barrier(barrier: Barrier) -> Vec<Barrier> {
    let mut plainer = Vec::new();
    if barrier.id > 0 {
        plainer.push(Barrier { id: barrier.id - 1, ..barrier });
    }
    if barrier.reduces() {
        plainer.push(Barrier { kind: BarrierKind::Sync, ..barrier });
    }
    if barrier.count.is_some() && barrier.waits() {
        plainer.push(Barrier { count: None, ..barrier });
    }
    plainer
}
