//! Group `loops`: other orders and partitions of the iterations of a loop that counts up by one.

use crate::expr::{CmpOp, Int, Val, Var};
use crate::nest::{For, Kernel, Order, Stmt, VarKind};
use crate::walk;
use testing::Random;

/// The members of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    TileGuard,
    TileMin,
    TileSecondCondition,
    TileDividing,
    UnrollBehind,
    UnrollBefore,
    Residues,
    Halves,
    Accumulators,
    Backwards,
    Swap,
}

const MEMBERS: [Member; 11] = [
    Member::TileGuard,
    Member::TileMin,
    Member::TileSecondCondition,
    Member::TileDividing,
    Member::UnrollBehind,
    Member::UnrollBefore,
    Member::Residues,
    Member::Halves,
    Member::Accumulators,
    Member::Backwards,
    Member::Swap,
];

/// Factors of unrolling and counts of residues.
const UNROLL: [i64; 6] = [2, 2, 3, 4, 4, 8];

impl Member {
    fn name(self) -> &'static str {
        match self {
            Self::TileGuard => "tile-guard",
            Self::TileMin => "tile-min",
            Self::TileSecondCondition => "tile-second-condition",
            Self::TileDividing => "tile-dividing",
            Self::UnrollBehind => "unroll-rest-behind",
            Self::UnrollBefore => "unroll-rest-before",
            Self::Residues => "residues",
            Self::Halves => "halves",
            Self::Accumulators => "accumulators",
            Self::Backwards => "backwards",
            Self::Swap => "swap",
        }
    }

    /// Returns `true` if it keeps the meaning of a loop, and the contract can state its conditions.
    fn applies(self, kernel: &Kernel, inner: &For) -> bool {
        let Some((from, to)) = inner.as_range() else { return false };
        let closed = is_closed(kernel, &from) && is_closed(kernel, &to);
        let free = inner.order == Order::Free;
        match self {
            Self::TileGuard | Self::TileMin | Self::TileSecondCondition | Self::UnrollBehind => {
                closed
            }
            Self::TileDividing => closed && from == Int::Const(0) && !matches!(to, Int::Const(_)),
            Self::Residues => closed && free,
            Self::Halves | Self::UnrollBefore => true,
            Self::Accumulators => closed && free && only_combine(inner).is_some(),
            Self::Backwards => free,
            Self::Swap => free && nested(inner).is_some(),
        }
    }
}

/// Returns `true` if only parameters, macros and the launch occur.
fn is_closed(kernel: &Kernel, int: &Int) -> bool {
    let mut closed = true;
    int.visit(&mut |part| {
        if let Int::Var(var) = part {
            closed &= kernel.vars.kind(*var) != VarKind::Local;
        }
    });
    closed
}

/// Returns the accumulation, if it is the whole body.
fn only_combine(inner: &For) -> Option<(crate::expr::Local, crate::expr::ValOp, &Val)> {
    match inner.body.as_slice() {
        [Stmt::Combine(local, op, val)] => Some((*local, *op, val)),
        _ => None,
    }
}

/// Returns the inner loop, if it is the whole body and has bounds of its own.
fn nested(inner: &For) -> Option<&For> {
    match inner.body.as_slice() {
        [Stmt::For(inner_loop)] => {
            let (from, to) = inner_loop.as_range()?;
            let is_independent = !from.mentions(inner.var) && !to.mentions(inner.var);
            (is_independent && inner_loop.order == Order::Free).then_some(inner_loop)
        }
        _ => None,
    }
}

/// Applies a member drawn at random to a loop drawn at random; false if none applies.
pub fn draw(kernel: &mut Kernel, random: &mut Random) -> bool {
    let mut choices = Vec::new();
    let mut number = 0;
    walk::visit(&kernel.body, &mut |stmt| {
        if let Stmt::For(inner) = stmt
            && !walk::has_barrier(&inner.body)
        {
            let members = MEMBERS.into_iter().filter(|member| member.applies(kernel, inner));
            choices.extend(members.map(|member| (number, member)));
        }
        number += 1;
    });
    if choices.is_empty() {
        return false;
    }
    let (number, member) = random.pick(&choices);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = walk::replace(body, number, &mut |stmt| match stmt {
        Stmt::For(inner) => apply(member, kernel, *inner, random),
        other => vec![other],
    });
    kernel.note("loops", member.name());
    true
}

fn apply(member: Member, kernel: &mut Kernel, inner: For, random: &mut Random) -> Vec<Stmt> {
    let Some((from, to)) = inner.as_range() else { return vec![inner.into()] };
    match member {
        Member::TileGuard | Member::TileMin | Member::TileSecondCondition => {
            tile(member, kernel, inner, (from, to), random)
        }
        Member::TileDividing => tile_dividing(kernel, inner, to, random),
        Member::UnrollBehind => unroll_behind(kernel, &inner, from, to, random),
        Member::UnrollBefore => unroll_before(kernel, &inner, &from, to, random),
        Member::Residues => residues(kernel, inner, from, to, random),
        Member::Halves => halves(kernel, &inner, &from, to),
        Member::Accumulators => accumulators(kernel, &inner, &from, to, random),
        Member::Backwards => {
            let test = Int::Var(inner.var).ge(from);
            vec![For { from: Some(to - 1), test, next: inner.var - 1, ..inner }.into()]
        }
        Member::Swap => swap(inner),
    }
}

/// Draws the size of a tile: a number, or a macro.
fn tile_size(kernel: &mut Kernel, random: &mut Random) -> Int {
    if random.chance(40) {
        Int::Var(kernel.vars.add("S", VarKind::Macro))
    } else {
        Int::Const(random.pick(&[2, 3, 4, 8]))
    }
}

fn tile(
    member: Member,
    kernel: &mut Kernel,
    inner: For,
    (from, to): (Int, Int),
    random: &mut Random,
) -> Vec<Stmt> {
    let size = tile_size(kernel, random);
    kernel.require_fits(to.clone() + &size);
    let first = kernel.int("k0");
    let order = inner.order;
    let end = first + &size;
    let inner_loop = match member {
        Member::TileGuard => {
            let offset = kernel.int("k1");
            let mut body = vec![Stmt::Int(inner.var, first + offset)];
            let guard = Int::Var(inner.var).lt(to.clone());
            body.push(Stmt::If(guard, inner.body, Vec::new()));
            For { order, ..For::range(offset, 0.into(), size.clone(), body) }
        }
        Member::TileMin => {
            For { order, ..For::range(inner.var, first.into(), end.min(to.clone()), inner.body) }
        }
        _ => {
            let range = For::range(inner.var, first.into(), to.clone(), inner.body);
            let test = crate::expr::Cond::all([Int::Var(inner.var).lt(end), range.test.clone()]);
            For { order, test, ..range }
        }
    };
    let outer = For::range(first, from, to, vec![inner_loop.into()]);
    vec![For { order, next: first + size, ..outer }.into()]
}

fn tile_dividing(kernel: &mut Kernel, inner: For, to: Int, random: &mut Random) -> Vec<Stmt> {
    let size = tile_size(kernel, random);
    kernel.require((to.clone() % &size).equals(0));
    let (tile, offset) = (kernel.int("k0"), kernel.int("k1"));
    let order = inner.order;
    let mut body = vec![Stmt::Int(inner.var, tile * &size + offset)];
    body.extend(inner.body);
    let inner_loop = For { order, ..For::range(offset, 0.into(), size.clone(), body) };
    vec![For { order, ..For::range(tile, 0.into(), to / size, vec![inner_loop.into()]) }.into()]
}

/// Copies a body once for each of `count` consecutive values of a variable.
fn unrolled(kernel: &mut Kernel, var: Var, body: &[Stmt], at: &Int, count: i64) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    for offset in 0..count {
        let copied = walk::copy(body, kernel);
        stmts.extend(walk::substitute_var(&copied, var, &(at.clone() + offset)));
    }
    stmts
}

fn unroll_behind(
    kernel: &mut Kernel,
    inner: &For,
    from: Int,
    to: Int,
    random: &mut Random,
) -> Vec<Stmt> {
    let count = random.pick(&UNROLL);
    kernel.require_fits(to.clone() + count);
    let var = inner.var;
    let body = unrolled(kernel, var, &inner.body, &var.into(), count);
    let order = Order::Fixed;
    let test = (var + (count - 1)).lt(to.clone());
    let main = For { from: None, test, next: var + count, body, order, ..inner.clone() };
    let rest_body = walk::copy(&inner.body, kernel);
    let rest = For { from: None, body: rest_body, order, is_remainder: true, ..inner.clone() };
    vec![Stmt::Int(var, from), main.into(), rest.into()]
}

fn unroll_before(
    kernel: &mut Kernel,
    inner: &For,
    from: &Int,
    to: Int,
    random: &mut Random,
) -> Vec<Stmt> {
    let count = random.pick(&UNROLL);
    let middle = kernel.int("odd");
    let length = to.clone() - from.clone();
    // If `from > to`, the length is negative, and so is its remainder in C: then both loops are empty.
    let rest_end = from.clone() + length % count;
    let rest = For {
        is_remainder: true,
        ..For::range(inner.var, from.clone(), middle.into(), inner.body.clone())
    };
    let rest = For { order: inner.order, ..rest };
    let var = kernel.int("k");
    let copied = walk::substitute_var(&inner.body, inner.var, &var.into());
    let body = unrolled(kernel, var, &copied, &var.into(), count);
    let main = For { next: var + count, ..For::range(var, middle.into(), to, body) };
    let main = For { order: inner.order, ..main };
    vec![Stmt::Int(middle, rest_end), rest.into(), main.into()]
}

fn residues(kernel: &mut Kernel, inner: For, from: Int, to: Int, random: &mut Random) -> Vec<Stmt> {
    let count = random.pick(&UNROLL);
    kernel.require_fits(to + count);
    let residue = kernel.int("q");
    let var = inner.var;
    let inner_loop = For { from: Some(from + residue), next: var + count, ..inner };
    vec![For::range(residue, 0.into(), count.into(), vec![inner_loop.into()]).into()]
}

fn halves(kernel: &mut Kernel, inner: &For, from: &Int, to: Int) -> Vec<Stmt> {
    let middle = kernel.int("half");
    let half = from.clone() + (to.clone() - from.clone()) / 2;
    let order = inner.order;
    let first = For::range(inner.var, from.clone(), middle.into(), inner.body.clone());
    let second_body = walk::copy(&[For { order, ..inner.clone() }.into()], kernel);
    let mut stmts = vec![Stmt::Int(middle, half), For { order, ..first }.into()];
    for stmt in second_body {
        if let Stmt::For(second) = stmt {
            stmts.push(For { from: Some(middle.into()), is_remainder: true, ..*second }.into());
        }
    }
    stmts
}

fn accumulators(
    kernel: &mut Kernel,
    inner: &For,
    from: &Int,
    to: Int,
    random: &mut Random,
) -> Vec<Stmt> {
    let Some((sum, op, val)) = only_combine(inner) else { return vec![inner.clone().into()] };
    let count = random.pick(&UNROLL);
    kernel.require_fits(to.clone() + count);
    let var = inner.var;
    let mut parts = vec![sum];
    let mut stmts = Vec::new();
    for _ in 1..count {
        let part = kernel.local("part");
        stmts.push(Stmt::Float(part, op.identity()));
        parts.push(part);
    }
    let body = parts
        .iter()
        .zip(0..)
        .map(|(part, offset)| Stmt::Combine(*part, op, val.substitute(var, &(var + offset))))
        .collect();
    let test = (var + (count - 1)).cmp(CmpOp::Lt, to);
    stmts.push(Stmt::Int(var, from.clone()));
    let order = Order::Fixed;
    stmts.push(For { from: None, test, next: var + count, body, order, ..inner.clone() }.into());
    stmts.push(For { from: None, order, is_remainder: true, ..inner.clone() }.into());
    for part in &parts[1..] {
        stmts.push(Stmt::Combine(sum, op, Val::Local(*part)));
    }
    stmts
}

fn swap(mut outer: For) -> Vec<Stmt> {
    match outer.body.pop() {
        Some(Stmt::For(mut inner)) => {
            std::mem::swap(&mut outer.body, &mut inner.body);
            vec![For { body: vec![outer.into()], ..*inner }.into()]
        }
        _ => vec![outer.into()],
    }
}
