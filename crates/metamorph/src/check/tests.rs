//! The machine finds each mistake in a kernel of a few lines.

use super::{Fault, Launch, Program, run};
use crate::expr::{Access, ArrayId, CmpOp, Int, Val};
use crate::nest::{Dim, Kernel, Space, Spelling, Stmt, Vars};

/// Builds a kernel of one output and one shared array with as many elements as a block has threads.
fn kernel(body: Vec<Stmt>) -> Kernel {
    let mut kernel = Kernel {
        name: "k".to_string(),
        vars: Vars::default(),
        locals: Vec::new(),
        arrays: Vec::new(),
        requires: Vec::new(),
        body,
        spelling: Spelling::default(),
        applied: Vec::new(),
    };
    let threads = Int::Var(Dim::X.threads());
    kernel.array("out", vec![threads.clone() * Dim::X.blocks()], Space::Output);
    kernel.array("s", vec![threads], Space::Dynamic);
    kernel
}

fn fault(body: Vec<Stmt>, blocks: i64, threads: i64) -> (Option<Fault>, bool) {
    let kernel = kernel(body);
    let mut vars = vec![0; kernel.vars.count()];
    for dim in Dim::ALL {
        vars[dim.threads().0] = if dim == Dim::X { threads } else { 1 };
        vars[dim.blocks().0] = if dim == Dim::X { blocks } else { 1 };
    }
    let elements = usize::try_from(blocks * threads).unwrap();
    let memory = vec![vec![0; elements], Vec::new()];
    let outcome = run(&Program::new(&kernel), &kernel, &Launch { vars }, memory);
    (outcome.fault, outcome.uninitialised)
}

const OUT: ArrayId = ArrayId(0);
const S: ArrayId = ArrayId(1);

fn t() -> Int {
    Int::Var(Dim::X.thread())
}

fn store(array: ArrayId, at: Int, value: Val) -> Stmt {
    Stmt::Store(Access::new(array, vec![at]), value)
}

/// Fills shared memory, runs `barrier`, and stores a neighbour's element.
fn neighbour(barrier: Vec<Stmt>) -> Vec<Stmt> {
    let other = Int::Var(Dim::X.threads()) - 1 - t();
    let mut body = vec![store(S, t(), Val::load(OUT, vec![t()]))];
    body.extend(barrier);
    body.push(store(OUT, t(), Val::load(S, vec![other])));
    body
}

#[test]
fn a_barrier_orders() {
    assert_eq!(fault(neighbour(vec![Stmt::Barrier]), 1, 4), (None, false));
    assert_eq!(fault(neighbour(Vec::new()), 1, 4), (Some(Fault::Race), true));
}

#[test]
fn a_barrier_that_some_miss() {
    let some = Stmt::If(t().cmp(CmpOp::Ne, 0), vec![Stmt::Barrier], Vec::new());
    assert_eq!(fault(vec![some.clone()], 1, 4).0, Some(Fault::Barrier));
    assert_eq!(fault(vec![some], 1, 1).0, None);
    let leaves = Stmt::If(t().lt(1), vec![Stmt::Return], Vec::new());
    assert_eq!(fault(vec![leaves.clone(), Stmt::Barrier], 1, 2).0, Some(Fault::Barrier));
    assert_eq!(fault(vec![leaves], 1, 2).0, None);
}

#[test]
fn blocks_are_not_ordered() {
    let block = Val::load(OUT, vec![Dim::X.block().into()]);
    assert_eq!(fault(vec![store(OUT, 0.into(), block)], 2, 1).0, Some(Fault::Race));
    let each_block_writes = store(OUT, Dim::X.block().into(), Val::Const(1));
    assert_eq!(fault(vec![each_block_writes.clone()], 2, 1).0, None);
    // Stores of equal values give the same result in every order.
    assert_eq!(fault(vec![each_block_writes], 2, 3).0, None);
}

#[test]
fn accesses_outside_and_divisions() {
    assert_eq!(fault(vec![store(OUT, t() + 1, Val::Const(1))], 1, 2).0, Some(Fault::Bounds));
    assert_eq!(fault(vec![store(OUT, t() - 1, Val::Const(1))], 1, 2).0, Some(Fault::Bounds));
    assert_eq!(fault(vec![store(OUT, t() / t(), Val::Const(1))], 1, 2).0, Some(Fault::Division));
}

#[test]
fn shared_memory_is_fresh_in_every_block() {
    let first = Int::Var(Dim::X.block()).equals(0);
    let fill = Stmt::If(first, vec![store(S, t(), Val::Const(1))], Vec::new());
    let read = store(OUT, t() + Dim::X.block() * Dim::X.threads(), Val::load(S, vec![t()]));
    assert_eq!(fault(vec![fill.clone(), read.clone()], 1, 3), (None, false));
    assert_eq!(fault(vec![fill, read], 2, 3), (None, true));
}
