//! Refuses recursion: engines keep the frames of a call tree that is known in advance.
//!
//! Functions that call nobody left are peeled off, then those nobody left calls; what remains is on
//! a cycle or between two cycles, and calls among the remaining functions are refused.

use base::{Code, Diagnostic, IndexVec};
use ir::{FuncId, Op, Program};

/// Replaces every recursive call by [`Op::Unsupported`] and says so.
pub(super) fn refuse(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let calls: IndexVec<FuncId, Vec<FuncId>> =
        program.functions.iter().map(|function| callees(function).collect()).collect();
    let mut callers: IndexVec<FuncId, Vec<FuncId>> = calls.iter().map(|_| Vec::new()).collect();
    for (caller, callees) in calls.enumerate() {
        callees.iter().for_each(|&callee| callers[callee].push(caller));
    }
    let mut left: IndexVec<FuncId, bool> = calls.iter().map(|_| true).collect();
    peel(&mut left, &calls, &callers);
    peel(&mut left, &callers, &calls);
    for id in calls.indices().filter(|&id| left[id]) {
        refuse_calls(program, id, &left, diagnostics);
    }
}

fn callees(function: &ir::Function) -> impl Iterator<Item = FuncId> {
    function.instructions().filter_map(|instruction| match instruction.op {
        Op::Call { callee, .. } => Some(callee),
        _ => None,
    })
}

/// Removes functions without an edge to one that is left, until there are none.
fn peel(
    left: &mut IndexVec<FuncId, bool>,
    edges: &IndexVec<FuncId, Vec<FuncId>>,
    reversed: &IndexVec<FuncId, Vec<FuncId>>,
) {
    let count = |id: FuncId, left: &IndexVec<FuncId, bool>| {
        edges[id].iter().filter(|&&next| left[next]).count()
    };
    let mut pending: IndexVec<FuncId, usize> = edges.indices().map(|id| count(id, left)).collect();
    let mut free: Vec<FuncId> =
        edges.indices().filter(|&id| left[id] && pending[id] == 0).collect();
    while let Some(id) = free.pop() {
        left[id] = false;
        for &previous in reversed[id].iter().filter(|&&previous| left[previous]) {
            pending[previous] -= 1;
            if pending[previous] == 0 {
                free.push(previous);
            }
        }
    }
}

fn refuse_calls(
    program: &mut Program,
    caller: FuncId,
    recursive: &IndexVec<FuncId, bool>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for block in program.functions[caller].blocks.iter_mut() {
        for instruction in &mut block.instructions {
            let Op::Call { callee, .. } = instruction.op else { continue };
            if !recursive[callee] {
                continue;
            }
            let message = "recursive calls are not supported";
            let code = Code::UnsupportedControlFlow;
            diagnostics.push(Diagnostic::unsupported(code, instruction.span, message));
            instruction.op = Op::Unsupported { what: message.to_owned() };
        }
    }
}
