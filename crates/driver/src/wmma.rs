//! Whether a kernel relies on how fragments of `wmma` are laid out, which the manual leaves open
//! (§9.7.14.4.1).
//!
//! Loading, multiplying and storing does not, nor does copying registers. Computing with elements does
//! unless it does the same to all of them, which is not looked into: the answer then holds for the layout
//! that the engine has, that of sm_80 and sm_90, and says so. Handing a fragment of one kind to an
//! instruction that takes another is undefined.
//!
//! Flow-insensitive over registers: it may find more than there is, never less.

use crate::precision::Kernel;
use base::Index;
use exec::Place;
use ir::{
    Element, Fragment, Function, Layout, Op, Operand, Reg, Shape, WmmaLoad, WmmaMma, WmmaStore,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a kernel does with fragments besides handing them on.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The first instruction that computes with elements.
    pub(crate) elements: Option<Place>,
    /// The first instruction that takes a fragment of one kind for another.
    pub(crate) other_kind: Option<Place>,
}

/// Fragments of one kind may be exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    fragment: Fragment,
    shape: Shape,
    element: Element,
    /// Of A and B; C has none in registers.
    layout: Option<Layout>,
}

/// What a kernel and the functions it calls do.
pub(crate) fn uses(kernel: Kernel<'_>) -> Uses {
    let mut uses = Uses::default();
    for function in kernel.functions() {
        let kinds = kinds(function);
        if kinds.is_empty() {
            continue;
        }
        let computed = computed(function);
        for instruction in function.instructions() {
            let place = Place { span: instruction.span, location: instruction.location };
            look(&instruction.op, place, (&kinds, &computed), &mut uses);
        }
    }
    uses
}

type Kinds = FxHashMap<Reg, Vec<Kind>>;

fn look(op: &Op, place: Place, (kinds, computed): (&Kinds, &FxHashSet<Reg>), uses: &mut Uses) {
    let known = |operand: Operand| match operand {
        Operand::Register(register) => kinds.get(&register),
        Operand::Constant(_) => None,
    };
    if matches!(op, Op::Copy { .. }) {
        return;
    }
    let taken = takes(op);
    if taken.is_empty() {
        op.visit(&mut |access| {
            if let ir::Access::Read(operand) = access
                && known(operand).is_some()
            {
                uses.elements.get_or_insert(place);
            }
        });
    }
    for (wanted, operands) in taken {
        let other = |&operand: &Operand| {
            known(operand).is_some_and(|kinds| kinds.iter().any(|&kind| kind != wanted))
        };
        if operands.iter().any(other) {
            uses.other_kind.get_or_insert(place);
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

/// Fragments that an instruction takes.
fn takes(op: &Op) -> Vec<(Kind, &[Operand])> {
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

/// Registers that may hold something else than fragments and constants.
fn computed(function: &Function) -> FxHashSet<Reg> {
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

/// The kinds of fragments that each register may hold.
fn kinds(function: &Function) -> Kinds {
    let mut kinds = Kinds::default();
    let mut copies = Vec::new();
    let mut add = |register: Reg, kind: Kind| {
        let all = kinds.entry(register).or_default();
        if !all.contains(&kind) {
            all.push(kind);
        }
    };
    for instruction in function.instructions() {
        match &instruction.op {
            Op::WmmaLoad(load) => {
                let WmmaLoad { fragment, shape, element, layout, .. } = **load;
                let layout = (fragment != Fragment::C).then_some(layout);
                let kind = Kind { fragment, shape, element, layout };
                load.dsts.iter().for_each(|&register| add(register, kind));
            }
            Op::WmmaMma(mma) => {
                let [.., kind] = kinds_of(mma);
                mma.d.iter().for_each(|&register| add(register, kind));
            }
            Op::Copy { dst, src: Operand::Register(src) } => copies.push((*src, *dst)),
            _ => {}
        }
    }
    spread(&mut kinds, copies);
    kinds
}

/// Copies hold what they are copies of.
fn spread(kinds: &mut Kinds, mut copies: Vec<(Reg, Reg)>) {
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
