//! Group `memory`: a product of matrices by tiles in shared memory, with one pair of tiles or two in turn.

use crate::bases::{Base, Structure};
use crate::draft::{Draft, guarded};
use crate::expr::{Access, ArrayId, Cond, Int, Local, Val, ValOp, Var};
use crate::nest::{Dim, For, Kernel, Order, Space, Stmt, VarKind};
use testing::Random;

/// Multiplies by tiles; `None` if the base is not a product of matrices.
#[must_use]
pub fn draw(draft: &Draft, base: &Base, random: &mut Random) -> Option<Kernel> {
    let Structure::Matmul { a, b, inner } = base.shape.clone() else { return None };
    let Draft { mut kernel, axes } = draft.clone();
    let exact = random.chance(40);
    let size = Int::Var(kernel.vars.add("T", VarKind::Macro));
    let toggle = random.chance(50).then(|| Toggle::draw(&mut kernel, random));
    let pad = random.below(2_i64);
    let mut shape = vec![size.clone(), size.clone() + pad];
    if let Some(toggle) = toggle {
        shape.insert(0, Int::Const(toggle.buffers()));
    }
    let tiles = ["As", "Bs"].map(|name| kernel.array(name, shape.clone(), Space::Static));
    require_launch(&mut kernel, &axes, &size, &inner, exact);
    kernel.note("memory", if exact { "matmul-tiles-dividing" } else { "matmul-tiles-ragged" });
    if let Some(toggle) = toggle {
        kernel.note("memory", toggle.name());
    }
    let [y, x] = [&axes[axes.len() - 2], &axes[axes.len() - 1]];
    let plan = Plan {
        factors: [a, b],
        tiles,
        batch: axes[..axes.len() - 2].iter().map(|axis| Int::Var(axis.var)).collect(),
        point: [y.var, x.var],
        extents: [y.extent.clone(), x.extent.clone()],
        threads: ["ty", "tx"].map(|name| kernel.int(name)),
        toggle,
        size,
        inner,
        sum: kernel.local("acc"),
        exact,
    };
    kernel.body = plan.body(&mut kernel, base, &axes, random);
    Some(kernel)
}

/// Selects one of several tiles, and switches between them.
#[derive(Clone, Copy)]
struct Toggle {
    var: Var,
    style: ToggleStyle,
}

#[derive(Clone, Copy)]
enum ToggleStyle {
    Minus,
    Xor,
    Choice,
    Modulo3,
}

impl Toggle {
    fn draw(kernel: &mut Kernel, random: &mut Random) -> Self {
        let style = random.pick(&[
            ToggleStyle::Minus,
            ToggleStyle::Xor,
            ToggleStyle::Choice,
            ToggleStyle::Modulo3,
        ]);
        Self { var: kernel.int("cur"), style }
    }

    fn buffers(self) -> i64 {
        if matches!(self.style, ToggleStyle::Modulo3) { 3 } else { 2 }
    }

    fn name(self) -> &'static str {
        match self.style {
            ToggleStyle::Minus => "double-buffer",
            ToggleStyle::Xor => "double-buffer-xor",
            ToggleStyle::Choice => "double-buffer-choice",
            ToggleStyle::Modulo3 => "triple-buffer",
        }
    }

    fn next(self) -> Int {
        match self.style {
            ToggleStyle::Minus => Int::Const(1) - self.var,
            ToggleStyle::Xor => Int::bin(crate::expr::IntOp::Xor, self.var, 1),
            ToggleStyle::Choice => {
                let is_first = Int::Var(self.var).equals(0);
                Int::Select(Box::new(is_first), Box::new(1.into()), Box::new(0.into()))
            }
            ToggleStyle::Modulo3 => (self.var + 1) % 3,
        }
    }
}

fn require_launch(
    kernel: &mut Kernel,
    axes: &[crate::nest::Axis],
    size: &Int,
    inner: &Int,
    exact: bool,
) {
    for (axis, dim) in axes.iter().rev().zip(Dim::ALL) {
        let (blocks, threads) = (Int::Var(dim.blocks()), Int::Var(dim.threads()));
        if dim == Dim::Z {
            kernel.require(threads.equals(1));
            kernel.require(blocks.equals(axis.extent.clone()));
            continue;
        }
        kernel.require(threads.equals(size.clone()));
        let covered = blocks * size;
        let extent = axis.extent.clone();
        kernel.require(if exact {
            covered.clone().equals(extent)
        } else {
            covered.clone().ge(extent)
        });
        kernel.require_fits(covered);
    }
    if exact {
        kernel.require((inner.clone() % size).equals(0));
    } else {
        kernel.require_fits(inner.clone() + size);
    }
}

/// The parts of the kernel; pairs belong to A and B, or to rows and columns.
struct Plan {
    factors: [ArrayId; 2],
    tiles: [ArrayId; 2],
    batch: Vec<Int>,
    point: [Var; 2],
    extents: [Int; 2],
    threads: [Var; 2],
    toggle: Option<Toggle>,
    size: Int,
    inner: Int,
    sum: Local,
    exact: bool,
}

impl Plan {
    fn body(
        &self,
        kernel: &mut Kernel,
        base: &Base,
        axes: &[crate::nest::Axis],
        random: &mut Random,
    ) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for (index, dim) in [Dim::Y, Dim::X].into_iter().enumerate() {
            stmts.push(Stmt::Int(self.threads[index], dim.thread().into()));
            let point = dim.block() * &self.size + self.threads[index];
            stmts.push(Stmt::Int(self.point[index], point));
        }
        for axis in &axes[..axes.len() - 2] {
            stmts.push(Stmt::Int(axis.var, Dim::Z.block().into()));
        }
        stmts.push(Stmt::Float(self.sum, Val::Const(0)));
        stmts.extend(self.toggle.map(|toggle| Stmt::Int(toggle.var, 0.into())));
        stmts.push(self.tiles_loop(kernel, random));
        let store = Stmt::Store(base.target.clone(), Val::Local(self.sum));
        let inside = match self.exact {
            true => Cond::And(Vec::new()),
            false => Cond::all(
                axes[axes.len() - 2..]
                    .iter()
                    .map(|axis| Int::Var(axis.var).lt(axis.extent.clone())),
            ),
        };
        stmts.extend(guarded(&inside, vec![store]));
        stmts
    }

    fn tiles_loop(&self, kernel: &mut Kernel, random: &mut Random) -> Stmt {
        let (first, k) = (kernel.int("k0"), kernel.int("k"));
        let counts_tiles = random.chance(50);
        let start = if counts_tiles { first * &self.size } else { Int::Var(first) };
        let mut body = self.fill(&start);
        body.push(Stmt::Barrier);
        let [ty, tx] = self.threads;
        let left = Val::load(self.tiles[0], self.tile_coords(ty, k));
        let right = Val::load(self.tiles[1], self.tile_coords(k, tx));
        let step = Stmt::Combine(self.sum, ValOp::Add, Val::bin(ValOp::Mul, left, right));
        body.push(For::range(k, 0.into(), self.size.clone(), vec![step]).into());
        match self.toggle {
            Some(toggle) => body.push(Stmt::Assign(toggle.var, toggle.next())),
            None => body.push(Stmt::Barrier),
        }
        let to = match (counts_tiles, self.exact) {
            (true, true) => self.inner.clone() / &self.size,
            (true, false) => (self.inner.clone() + &self.size - 1) / &self.size,
            (false, _) => self.inner.clone(),
        };
        if !counts_tiles && self.exact {
            kernel.require_fits(self.inner.clone() + &self.size);
        }
        let range = For { order: Order::Fixed, ..For::range(first, 0.into(), to, body) };
        let next = if counts_tiles { first + 1 } else { first + &self.size };
        For { next, ..range }.into()
    }

    fn tile_coords(&self, row: Var, column: Var) -> Vec<Int> {
        let buffer = self.toggle.map(|toggle| Int::Var(toggle.var));
        buffer.into_iter().chain([row.into(), column.into()]).collect()
    }

    /// Fills both tiles; elements outside of a factor are 0.
    fn fill(&self, start: &Int) -> Vec<Stmt> {
        let ([ty, tx], [y, x]) = (self.threads, self.point);
        let coords = [[Int::Var(y), start.clone() + tx], [start.clone() + ty, Int::Var(x)]];
        let mut stmts = Vec::new();
        for (which, at) in coords.into_iter().enumerate() {
            let full: Vec<Int> = self.batch.iter().chain(&at).cloned().collect();
            let load = Val::load(self.factors[which], full);
            let value = if self.exact {
                load
            } else {
                Val::select(self.inside(which, &at), load, Val::Const(0))
            };
            stmts
                .push(Stmt::Store(Access::new(self.tiles[which], self.tile_coords(ty, tx)), value));
        }
        stmts
    }

    fn inside(&self, which: usize, at: &[Int; 2]) -> Cond {
        match which {
            0 => Cond::all([
                at[0].clone().lt(self.extents[0].clone()),
                at[1].clone().lt(self.inner.clone()),
            ]),
            _ => Cond::all([
                at[0].clone().lt(self.inner.clone()),
                at[1].clone().lt(self.extents[1].clone()),
            ]),
        }
    }
}
