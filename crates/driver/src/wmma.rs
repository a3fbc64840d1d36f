//! Detects if a kernel relies on the register layout of `wmma` fragments, which the manual leaves open
//! (§9.7.14.4.1).
//!
//! Loading, multiplying and storing fragments is independent of the layout, and so is copying registers in their
//! order. Computing with elements depends on it, unless the same is done to all of them; this is not examined. The
//! answer then holds for the layout of the engine, the one of sm_80 and sm_90, and says so. Passing a fragment of one
//! kind to an instruction for another kind is undefined.
//!
//! The analysis is flow-insensitive over registers: it may report too much, never too little.

use crate::precision::Kernel;
use base::Index;
use exec::Place;
use ir::{
    Element, Fragment, Function, Layout, Op, Operand, Reg, Shape, WmmaLoad, WmmaMma, WmmaStore,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Uses of fragments other than handing them on.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The first instruction that computes with elements.
    pub(crate) elements: Option<Place>,
    /// The first instruction that takes a fragment of one kind for another.
    pub(crate) other_kind: Option<Place>,
}

/// Kind of a fragment. Fragments of one kind may be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    fragment: Fragment,
    shape: Shape,
    element: Element,
    /// The layout of A or B; `None` for C, which has no layout in registers.
    layout: Option<Layout>,
}

/// Collects uses of fragments in a kernel and the functions it calls.
pub(crate) fn uses(kernel: Kernel<'_>) -> Uses {
    let mut uses = Uses::default();
    for function in kernel.functions() {
        let kinds = kinds(function);
        if kinds.is_empty() {
            continue;
        }
        let (computed, constants) = (computed_registers(function), constants(function));
        for instruction in function.instructions() {
            let place = Place { span: instruction.span, location: instruction.location };
            record_uses(&instruction.op, place, (&kinds, &computed), &mut uses);
            let fragments = fragments_taken(&instruction.op);
            if fragments.iter().any(|(_, operands)| !all_alike(&constants, operands)) {
                uses.elements.get_or_insert(place);
            }
        }
    }
    uses
}

/// The possible kinds of fragments in each register, with the register's position in the fragment.
type Kinds = FxHashMap<Reg, Vec<(Kind, usize)>>;

/// The possible constants in each register.
type Constants = FxHashMap<Reg, BTreeSet<u64>>;

fn record_uses(
    op: &Op,
    place: Place,
    (kinds, computed): (&Kinds, &FxHashSet<Reg>),
    uses: &mut Uses,
) {
    let known = |operand: Operand| match operand {
        Operand::Register(register) => kinds.get(&register),
        Operand::Constant(_) => None,
    };
    if matches!(op, Op::Copy { .. }) {
        return;
    }
    let fragments = fragments_taken(op);
    if fragments.is_empty() {
        op.visit(&mut |access| {
            if let ir::Access::Read(operand) = access
                && known(operand).is_some()
            {
                uses.elements.get_or_insert(place);
            }
        });
    }
    for (wanted, operands) in fragments {
        for (position, &operand) in operands.iter().enumerate() {
            for &(kind, held) in known(operand).into_iter().flatten() {
                let Kind { fragment, shape, element, .. } = wanted;
                let first = |number| exec::original_register(fragment, shape, element, number);
                if kind != wanted {
                    uses.other_kind.get_or_insert(place);
                } else if first(held) != first(position) {
                    uses.elements.get_or_insert(place);
                }
            }
        }
        let is_computed = |operand: &Operand| match operand {
            Operand::Register(register) => computed.contains(register),
            Operand::Constant(_) => false,
        };
        if operands.iter().any(is_computed) {
            uses.elements.get_or_insert(place);
        }
    }
}

/// Returns `true` if the copies of each element that the product at a place multiplies come from one load, and so are
/// equal.
///
/// Checked on the text, not on the run: no other instruction may write a copy, and each load must write all of them.
pub(crate) fn copies_are_loaded(kernel: Kernel<'_>, place: Place) -> bool {
    let mut products = kernel.functions().into_iter().flat_map(|function| {
        let here =
            move |instr: &&ir::Instr| instr.span == place.span && instr.location == place.location;
        function.instructions().filter(here).map(move |instruction| (function, &instruction.op))
    });
    products.all(|(function, op)| match op {
        Op::WmmaMma(mma) => {
            let sides =
                [(Fragment::A, &mma.a, mma.a_element), (Fragment::B, &mma.b, mma.b_element)];
            sides.into_iter().all(|(fragment, registers, element)| {
                let kind = Kind { fragment, shape: mma.shape, element, layout: None };
                pairs(kind, registers).all(|pair| loaded_together(function, pair))
            })
        }
        _ => false,
    })
}

/// Pairs each copy of an element with its original register.
fn pairs(kind: Kind, registers: &[Operand]) -> impl Iterator<Item = [Operand; 2]> {
    let Kind { fragment, shape, element, .. } = kind;
    registers.iter().enumerate().filter_map(move |(position, &copy)| {
        let original = exec::original_register(fragment, shape, element, position);
        (original != position).then(|| [registers[original], copy])
    })
}

/// Returns `true` if every write of either register is a load that writes both, as copies of one element.
fn loaded_together(function: &Function, [original, copy]: [Operand; 2]) -> bool {
    if original == copy {
        return true;
    }
    let (Operand::Register(original), Operand::Register(copy)) = (original, copy) else {
        return false;
    };
    function.instructions().all(|instruction| {
        let mut writes = [false; 2];
        instruction.op.visit(&mut |access| {
            if let ir::Access::Write(register) = access {
                writes[0] |= register == original;
                writes[1] |= register == copy;
            }
        });
        match &instruction.op {
            Op::WmmaLoad(load) if writes == [true; 2] => {
                let WmmaLoad { fragment, shape, element, .. } = **load;
                let held = |wanted: Reg| {
                    let mut positions = (0..load.dsts.len()).filter(|&at| load.dsts[at] == wanted);
                    let first = positions.next().filter(|_| positions.next().is_none())?;
                    Some(exec::original_register(fragment, shape, element, first))
                };
                held(original).is_some() && held(original) == held(copy)
            }
            _ => writes == [false; 2],
        }
    })
}

/// Fragments that an instruction takes.
fn fragments_taken(op: &Op) -> Vec<(Kind, &[Operand])> {
    match op {
        Op::WmmaMma(mma) => {
            let [a, b, c, _] = kinds_of(mma);
            vec![(a, &mma.a), (b, &mma.b), (c, &mma.c)]
        }
        Op::WmmaStore(store) => {
            let WmmaStore { shape, element, .. } = **store;
            let kind = Kind { fragment: Fragment::C, shape, element, layout: None };
            vec![(kind, &store.srcs)]
        }
        _ => Vec::new(),
    }
}

/// The kinds of A, B, C and D.
fn kinds_of(mma: &WmmaMma) -> [Kind; 4] {
    let shape = mma.shape;
    let kind = |fragment, element, layout| Kind { fragment, shape, element, layout };
    [
        kind(Fragment::A, mma.a_element, Some(mma.a_layout)),
        kind(Fragment::B, mma.b_element, Some(mma.b_layout)),
        kind(Fragment::C, mma.c_element, None),
        kind(Fragment::C, mma.d_element, None),
    ]
}

/// Returns `true` if the registers of a fragment hold the same constants, if any.
fn all_alike(constants: &Constants, operands: &[Operand]) -> bool {
    let values_of = |operand: Operand| match operand {
        Operand::Register(register) => constants.get(&register).cloned().unwrap_or_default(),
        Operand::Constant(constant) => BTreeSet::from([constant]),
    };
    let mut all = operands.iter().map(|&operand| values_of(operand));
    all.next().is_none_or(|first| all.all(|other| other == first))
}

/// Collects the constants that each register may hold.
fn constants(function: &Function) -> Constants {
    let mut constants = Constants::default();
    let mut copies = Vec::new();
    for instruction in function.instructions() {
        match &instruction.op {
            Op::Copy { dst, src: Operand::Constant(constant) } => {
                constants.entry(*dst).or_default().insert(*constant);
            }
            Op::Copy { dst, src: Operand::Register(src) } => copies.push((*src, *dst)),
            _ => {}
        }
    }
    loop {
        let mut changed = false;
        for (src, dst) in &copies {
            let held = constants.get(src).cloned().unwrap_or_default();
            for constant in held {
                changed |= constants.entry(*dst).or_default().insert(constant);
            }
        }
        if !changed {
            return constants;
        }
    }
}

/// Registers that may hold anything besides fragments and constants.
fn computed_registers(function: &Function) -> FxHashSet<Reg> {
    let mut computed = FxHashSet::default();
    let mut copies = Vec::new();
    for instruction in function.instructions() {
        match &instruction.op {
            Op::WmmaLoad(_) | Op::WmmaMma(_) | Op::Copy { src: Operand::Constant(_), .. } => {}
            Op::Copy { dst, src: Operand::Register(src) } => copies.push((*src, *dst)),
            op => op.visit(&mut |access| {
                if let ir::Access::Write(register) = access {
                    computed.insert(register);
                }
            }),
        }
    }
    while copies.iter().any(|(src, dst)| computed.contains(src) && computed.insert(*dst)) {}
    computed
}

/// Collects the kinds of fragments that each register may hold.
fn kinds(function: &Function) -> Kinds {
    let mut kinds = Kinds::default();
    let mut copies = Vec::new();
    let mut add = |kind: Kind, registers: &[Reg]| {
        for (position, &register) in registers.iter().enumerate() {
            let all = kinds.entry(register).or_default();
            if !all.contains(&(kind, position)) {
                all.push((kind, position));
            }
        }
    };
    for instruction in function.instructions() {
        match &instruction.op {
            Op::WmmaLoad(load) => {
                let WmmaLoad { fragment, shape, element, layout, .. } = **load;
                let layout = (fragment != Fragment::C).then_some(layout);
                let kind = Kind { fragment, shape, element, layout };
                add(kind, &load.dsts);
            }
            Op::WmmaMma(mma) => {
                let [.., kind] = kinds_of(mma);
                add(kind, &mma.d);
            }
            Op::Copy { dst, src: Operand::Register(src) } => copies.push((*src, *dst)),
            _ => {}
        }
    }
    propagate(&mut kinds, copies);
    kinds
}

/// Propagates kinds through copies to a fixpoint.
fn propagate(kinds: &mut Kinds, mut copies: Vec<(Reg, Reg)>) {
    copies.sort_by_key(|(src, dst)| (src.position(), dst.position()));
    loop {
        let mut changed = false;
        for (src, dst) in &copies {
            let known = kinds.get(src).cloned().unwrap_or_default();
            for kind in known {
                let all = kinds.entry(*dst).or_default();
                if !all.contains(&kind) {
                    all.push(kind);
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}
