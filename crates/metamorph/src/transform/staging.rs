//! Group `memory`: a block's part of an input goes through shared memory, with the border that a stencil needs.

use crate::bases::{Base, Border, Stencil, Structure};
use crate::draft::{Draft, guarded};
use crate::expr::{ArrayId, Cond, Int, Val, ValOp, Var};
use crate::nest::{Axis, Dim, For, Kernel, Space, Stmt, VarKind};
use testing::Random;

/// The strategy that fills the border of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// There is no border.
    Whole,
    /// All threads go over the tile with its border.
    Loop,
    /// The first threads fill both ends; on lines.
    Edges,
    /// Blocks are larger than their computed part.
    ExtraThreads,
}

/// An axis of the tile.
struct Side {
    axis: Axis,
    dim: Dim,
    reach: i64,
    /// Number of points a block computes, in the contract's terms.
    points: Int,
    /// `points` as an expression of type `int`.
    width: Int,
    /// The local that holds it, if it is not a macro.
    local: Option<Var>,
    /// The thread's number in the block.
    thread: Var,
    /// The first point of the block.
    first: Var,
}

/// Stages an input that all points read at their own coordinates, or a stencil's; `None` if there is none.
#[must_use]
pub fn draw(draft: &Draft, base: &Base, random: &mut Random) -> Option<Kernel> {
    let (input, reach) = staged_input(base)?;
    let radius = reach.iter().copied().max().unwrap_or(0);
    let fill = match (radius, draft.axes.len()) {
        (0, _) => Fill::Whole,
        (_, 1) => random.pick(&[Fill::Loop, Fill::Edges, Fill::ExtraThreads]),
        _ => random.pick(&[Fill::Loop, Fill::ExtraThreads]),
    };
    let Draft { mut kernel, axes } = draft.clone();
    kernel.body.clear();
    let fixed = random.chance(50);
    let sides = sides(&mut kernel, &axes, &reach, fill, fixed);
    let pad = if axes.len() == 2 { random.below(2_i64) } else { 0 };
    let tile = tile(&mut kernel, &sides, fixed, pad);
    kernel.note(
        "memory",
        match fill {
            Fill::Whole => "stage-tile",
            Fill::Loop => "halo-by-loop",
            Fill::Edges => "halo-by-edge-threads",
            Fill::ExtraThreads => "halo-by-extra-threads",
        },
    );
    if pad == 1 {
        kernel.note("memory", "pitch+1");
    }
    let plan = Plan { base, input, tile, sides, fill };
    let mut body = plan.prologue();
    body.extend(plan.fill(&mut kernel));
    body.push(Stmt::Barrier);
    body.extend(plan.compute());
    kernel.body = body;
    Some(kernel)
}

/// Returns the input to stage and the distance that points reach along each axis.
fn staged_input(base: &Base) -> Option<(ArrayId, Vec<i64>)> {
    if base.axes.len() > 2 {
        return None;
    }
    match &base.shape {
        Structure::Stencil(stencil) => Some((stencil.input, stencil.radius.clone())),
        Structure::Plain => {
            let point: Vec<Int> = base.axes.iter().map(|axis| Int::Var(axis.var)).collect();
            let shape: Vec<Int> = base.axes.iter().map(|axis| axis.extent.clone()).collect();
            let mut found = None;
            base.value.visit(&mut |val| match val {
                Val::Load(access) if access.coords == point => found = Some(access.array),
                _ => {}
            });
            let array = found.filter(|array| base.arrays[array.0].shape == shape)?;
            let mut plain = !matches!(base.value, Val::Select(..) | Val::Fold(_));
            base.value.visit(&mut |val| match val {
                Val::Load(access) if access.array == array => plain &= access.coords == point,
                _ => {}
            });
            plain.then(|| (array, vec![0; base.axes.len()]))
        }
        _ => None,
    }
}

fn sides(kernel: &mut Kernel, axes: &[Axis], reach: &[i64], fill: Fill, fixed: bool) -> Vec<Side> {
    let mut sides = Vec::new();
    for (index, axis) in axes.iter().enumerate() {
        let dim = if index + 1 == axes.len() { Dim::X } else { Dim::Y };
        let reach = reach[index];
        let border = if fill == Fill::ExtraThreads { 2 * reach } else { 0 };
        let points = if fixed {
            let size = kernel.vars.add("T", VarKind::Macro);
            kernel.require(Int::Var(dim.threads()).equals(size + border));
            Int::Var(size)
        } else {
            if border > 0 {
                kernel.require(Int::Var(dim.threads()).cmp(crate::expr::CmpOp::Gt, border));
            }
            dim.threads() - border
        };
        let covered = Int::Var(dim.blocks()) * &points;
        kernel.require(covered.clone().ge(axis.extent.clone()));
        kernel.require_fits(covered + 2 * reach.max(1));
        if fill == Fill::Edges {
            kernel.require(points.clone().ge(reach));
        }
        let name = if dim == Dim::X { "x" } else { "y" };
        let thread = kernel.int(&format!("t{name}"));
        let first = kernel.int(&format!("{name}0"));
        let local = (!fixed).then(|| kernel.int(&format!("b{name}")));
        let width = local.map_or(points.clone(), Int::Var);
        sides.push(Side { axis: axis.clone(), dim, reach, points, width, local, thread, first });
    }
    sides
}

fn tile(kernel: &mut Kernel, sides: &[Side], fixed: bool, pad: i64) -> ArrayId {
    let mut shape: Vec<Int> =
        sides.iter().map(|side| side.points.clone() + 2 * side.reach).collect();
    if let Some(last) = shape.last_mut() {
        *last = last.clone() + pad;
    }
    kernel.array("s", shape, if fixed { Space::Static } else { Space::Dynamic })
}

/// The parts of the kernel.
struct Plan<'a> {
    base: &'a Base,
    input: ArrayId,
    tile: ArrayId,
    sides: Vec<Side>,
    fill: Fill,
}

impl Plan<'_> {
    /// Declares the thread's numbers, the block's first points and the thread's point.
    fn prologue(&self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for side in &self.sides {
            stmts.push(Stmt::Int(side.thread, side.dim.thread().into()));
            stmts.extend(side.local.map(|local| Stmt::Int(local, side.points.clone())));
            stmts.push(Stmt::Int(side.first, side.dim.block() * &side.width));
            let shift = if self.fill == Fill::ExtraThreads { side.reach } else { 0 };
            stmts.push(Stmt::Int(side.axis.var, side.first + side.thread - shift));
        }
        stmts
    }

    fn fill(&self, kernel: &mut Kernel) -> Vec<Stmt> {
        let threads: Vec<Int> = self.sides.iter().map(|side| side.thread.into()).collect();
        let points: Vec<Int> = self.sides.iter().map(|side| side.axis.var.into()).collect();
        match self.fill {
            Fill::Whole => {
                let inside = Cond::all(self.sides.iter().map(is_in_array));
                let store = self.store(threads, Val::load(self.input, points));
                guarded(&inside, vec![store])
            }
            Fill::ExtraThreads => self.fill_element(threads, points),
            Fill::Loop => self.fill_by_loops(kernel),
            Fill::Edges => self.fill_edges(),
        }
    }

    fn store(&self, place: Vec<Int>, value: Val) -> Stmt {
        Stmt::Store(crate::expr::Access::new(self.tile, place), value)
    }

    /// Stores the element at some coordinates, or the border value outside of the array.
    fn fill_element(&self, place: Vec<Int>, at: Vec<Int>) -> Vec<Stmt> {
        let border = self.stencil().map_or(Border::Interior, |stencil| stencil.border);
        let extents = self.sides.iter().map(|side| side.axis.extent.clone());
        let inside = Cond::all(
            at.iter()
                .zip(extents.clone())
                .flat_map(|(at, to)| [at.clone().ge(0), at.clone().lt(to)]),
        );
        match border {
            Border::Clamp => {
                let clamped =
                    at.into_iter().zip(extents).map(|(at, to)| at.max(0).min(to - 1)).collect();
                vec![self.store(place, Val::load(self.input, clamped))]
            }
            Border::Zero => {
                let value = Val::select(inside, Val::load(self.input, at), Val::Const(0));
                vec![self.store(place, value)]
            }
            Border::Interior => {
                guarded(&inside, vec![self.store(place, Val::load(self.input, at))])
            }
        }
    }

    fn stencil(&self) -> Option<&Stencil> {
        match &self.base.shape {
            Structure::Stencil(stencil) => Some(stencil),
            _ => None,
        }
    }

    fn fill_by_loops(&self, kernel: &mut Kernel) -> Vec<Stmt> {
        let vars: Vec<Var> = self.sides.iter().map(|_| kernel.int("l")).collect();
        let places: Vec<Int> = vars.iter().map(|var| Int::Var(*var)).collect();
        let at = vars.iter().zip(&self.sides).map(|(var, side)| side.first + *var - side.reach);
        let mut body = self.fill_element(places, at.collect());
        for (var, side) in vars.iter().zip(&self.sides).rev() {
            let to = side.width.clone() + 2 * side.reach;
            let range = For::range(*var, side.thread.into(), to, body);
            body = vec![For { next: *var + &side.width, ..range }.into()];
        }
        body
    }

    fn fill_edges(&self) -> Vec<Stmt> {
        let side = &self.sides[0];
        let (thread, point, reach) = (side.thread, side.axis.var, side.reach);
        let mut stmts = self.fill_element(vec![thread + reach], vec![point.into()]);
        let mut edges = self.fill_element(vec![thread.into()], vec![point - reach]);
        let right_edge = thread + reach + &side.width;
        edges.extend(self.fill_element(vec![right_edge], vec![point + &side.width]));
        stmts.push(Stmt::If(Int::Var(thread).lt(reach), edges, Vec::new()));
        stmts
    }

    fn compute(&self) -> Vec<Stmt> {
        let mut conds = Vec::new();
        for side in &self.sides {
            if self.fill == Fill::ExtraThreads {
                let thread = Int::Var(side.thread);
                conds.push(thread.clone().ge(side.reach));
                conds.push(thread.lt(side.width.clone() + side.reach));
            }
            conds.push(is_in_array(side));
        }
        conds.push(self.base.guard.clone());
        let store = Stmt::Store(self.base.target.clone(), self.value());
        guarded(&Cond::all(conds), vec![store])
    }

    fn value(&self) -> Val {
        let Some(stencil) = self.stencil() else {
            let place: Vec<Int> = self.sides.iter().map(|side| side.thread.into()).collect();
            return self.base.value.map(&mut |val| match val {
                Val::Load(access) if access.array == self.input => {
                    Some(Val::load(self.tile, place.clone()))
                }
                _ => None,
            });
        };
        let terms = stencil.taps.iter().map(|tap| {
            let place = self.sides.iter().zip(&tap.offset).map(|(side, offset)| {
                let shift = if self.fill == Fill::ExtraThreads { 0 } else { side.reach };
                side.thread + (shift + offset)
            });
            crate::bases::weighted(tap.weight, Val::load(self.tile, place.collect()))
        });
        terms.reduce(|sum, term| Val::bin(ValOp::Add, sum, term)).unwrap_or(Val::Const(0))
    }
}

fn is_in_array(side: &Side) -> Cond {
    Int::Var(side.axis.var).lt(side.axis.extent.clone())
}
