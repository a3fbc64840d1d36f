//! Refuses recursion: engines keep the frames of a call tree that is known in advance.
//!
//! A call is recursive if caller and callee are in the same strongly connected component of the call
//! graph. Components are found with Tarjan's algorithm ("Depth-First Search and Linear Graph
//! Algorithms"), on an explicit stack: chains of calls may be long.

use base::{Code, Diagnostic, Index, IndexVec};
use ir::{FuncId, Op, Program};

/// Replaces every recursive call by [`Op::Unsupported`] and reports it.
pub(super) fn refuse(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let calls: IndexVec<FuncId, Vec<FuncId>> =
        program.functions.iter().map(|function| callees(function).collect()).collect();
    let component = components(&calls);
    for caller in calls.indices() {
        let recursive = |callee: FuncId| component[callee] == component[caller];
        if calls[caller].iter().any(|&callee| recursive(callee)) {
            refuse_calls(program, caller, recursive, diagnostics);
        }
    }
}

fn callees(function: &ir::Function) -> impl Iterator<Item = FuncId> {
    function.instructions().filter_map(|instruction| match instruction.op {
        Op::Call { callee, .. } => Some(callee),
        _ => None,
    })
}

/// Computes the strongly connected component of every function, by number.
fn components(calls: &IndexVec<FuncId, Vec<FuncId>>) -> IndexVec<FuncId, usize> {
    const UNSEEN: usize = usize::MAX;
    let mut order: IndexVec<FuncId, usize> = calls.iter().map(|_| UNSEEN).collect();
    let mut lowest = order.clone();
    let mut component = order.clone();
    let (mut seen, mut finished) = (0, 0);
    let mut open: Vec<FuncId> = Vec::new();
    for root in calls.indices() {
        let mut path: Vec<(FuncId, usize)> = Vec::new();
        if order[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                (order[node], lowest[node]) = (seen, seen);
                seen += 1;
                open.push(node);
            }
            if let Some(&callee) = calls[node].get(*next) {
                *next += 1;
                if order[callee] == UNSEEN {
                    path.push((callee, 0));
                } else if component[callee] == UNSEEN {
                    lowest[node] = lowest[node].min(order[callee]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                lowest[parent] = lowest[parent].min(lowest[node]);
            }
            if lowest[node] == order[node] {
                // `node` is the first of its component; the others were opened after it.
                while let Some(member) = open.pop() {
                    component[member] = finished;
                    if member.position() == node.position() {
                        break;
                    }
                }
                finished += 1;
            }
        }
    }
    component
}

fn refuse_calls(
    program: &mut Program,
    caller: FuncId,
    recursive: impl Fn(FuncId) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for block in program.functions[caller].blocks.iter_mut() {
        for instruction in &mut block.instructions {
            let Op::Call { callee, .. } = instruction.op else { continue };
            if !recursive(callee) {
                continue;
            }
            let message = "recursive calls are not supported";
            let code = Code::UnsupportedControlFlow;
            diagnostics.push(Diagnostic::unsupported(code, instruction.span, message));
            instruction.op = Op::Unsupported { what: message.to_owned() };
        }
    }
}
