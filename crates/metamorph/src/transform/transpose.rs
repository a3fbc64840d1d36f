//! Group `memory`: a transpose through a square tile, read and written along rows of both arrays.

use crate::bases::{Base, Structure};
use crate::draft::{Draft, guarded};
use crate::expr::{Access, ArrayId, Cond, Int, Val, Var};
use crate::nest::{Axis, Dim, For, Kernel, Space, Stmt, VarKind};
use testing::Random;

/// Stages a transpose; `None` if the base is not one.
#[must_use]
pub fn draw(draft: &Draft, base: &Base, random: &mut Random) -> Option<Kernel> {
    let Structure::Transpose { input } = base.shape else { return None };
    let Draft { mut kernel, axes } = draft.clone();
    let plan = Plan::draw(&mut kernel, &axes, input, random);
    kernel.note("memory", "transposed-tile");
    kernel.body = plan.body(base);
    Some(kernel)
}

/// The parts of the kernel.
struct Plan {
    axes: Vec<Axis>,
    input: ArrayId,
    tile: ArrayId,
    size: Int,
    /// The size of the tile divides the extents of the arrays.
    exact: bool,
    /// The tile is transposed when it is filled, not when it is read.
    is_transposed_by_fill: bool,
    tx: Var,
    ty: Var,
    /// The first row and column of the block's tile.
    origin: [Var; 2],
    /// The variables of the loops over the rows of the tile, if a thread handles several rows.
    row: Option<[Var; 2]>,
}

impl Plan {
    fn draw(kernel: &mut Kernel, axes: &[Axis], input: ArrayId, random: &mut Random) -> Self {
        let by_rows = random.chance(30);
        let fixed = by_rows || random.chance(60);
        let exact = random.chance(30);
        let size = block_size(kernel, fixed, by_rows);
        let pitch = draw_pitch(kernel, &size, random);
        let space = if fixed { Space::Static } else { Space::Dynamic };
        let tile = kernel.array("tile", vec![size.clone(), pitch], space);
        for (dim, axis) in [(Dim::Y, &axes[0]), (Dim::X, &axes[1])] {
            let covered = Int::Var(dim.blocks()) * &size;
            let extent = axis.extent.clone();
            kernel.require(if exact {
                covered.clone().equals(extent)
            } else {
                covered.clone().ge(extent)
            });
            kernel.require_fits(covered);
        }
        Self {
            axes: axes.to_vec(),
            input,
            tile,
            size,
            exact,
            is_transposed_by_fill: random.chance(30),
            tx: kernel.int("tx"),
            ty: kernel.int("ty"),
            origin: ["y0", "x0"].map(|name| kernel.int(name)),
            row: by_rows.then(|| ["j", "l"].map(|name| kernel.int(name))),
        }
    }

    fn body(&self, base: &Base) -> Vec<Stmt> {
        let [y0, x0] = self.origin;
        let mut body = vec![
            Stmt::Int(self.tx, Dim::X.thread().into()),
            Stmt::Int(self.ty, Dim::Y.thread().into()),
            Stmt::Int(y0, Dim::Y.block() * &self.size),
            Stmt::Int(x0, Dim::X.block() * &self.size),
        ];
        let rows = self.row.map(|rows| rows.map(Int::Var));
        let [fill_row, read_row] = rows.unwrap_or([Int::Var(self.ty), Int::Var(self.ty)]);
        let tx = Int::Var(self.tx);
        let at = [y0 + &fill_row, x0 + &tx];
        let load = Val::load(self.input, at.to_vec());
        let fill =
            Stmt::Store(Access::new(self.tile, self.tile_coords(fill_row, tx.clone())), load);
        body.extend(self.over_rows(0, guarded(&self.inside(&at), vec![fill])));
        body.push(Stmt::Barrier);
        let at = [y0 + &tx, x0 + &read_row];
        let tile_coords = self.tile_coords(tx, read_row);
        let value = base.value.map(&mut |val| match val {
            Val::Load(_) => Some(Val::load(self.tile, tile_coords.clone())),
            _ => None,
        });
        let [y, x] = at.clone();
        let store = Stmt::Store(Access::new(base.target.array, vec![x, y]), value);
        body.extend(self.over_rows(1, guarded(&self.inside(&at), vec![store])));
        body
    }

    /// Repeats statements for all rows of the tile that belong to the thread.
    fn over_rows(&self, which: usize, body: Vec<Stmt>) -> Vec<Stmt> {
        let Some(rows) = self.row else { return body };
        let range = For::range(rows[which], self.ty.into(), self.size.clone(), body);
        vec![For { next: rows[which] + Dim::Y.threads(), ..range }.into()]
    }

    fn tile_coords(&self, first: Int, second: Int) -> Vec<Int> {
        if self.is_transposed_by_fill { vec![second, first] } else { vec![first, second] }
    }

    fn inside(&self, at: &[Int; 2]) -> Cond {
        if self.exact {
            return Cond::And(Vec::new());
        }
        Cond::all(at.iter().zip(&self.axes).map(|(at, axis)| at.clone().lt(axis.extent.clone())))
    }
}

/// Requires square blocks, or blocks with fewer rows, and returns the size of a tile.
fn block_size(kernel: &mut Kernel, fixed: bool, by_rows: bool) -> Int {
    let [across, down] = [Dim::X, Dim::Y].map(|dim| Int::Var(dim.threads()));
    if !fixed {
        kernel.require(across.clone().equals(down));
        return across;
    }
    let size = kernel.vars.add("T", VarKind::Macro);
    kernel.require(across.equals(size));
    if by_rows {
        kernel.note("memory", "rows-of-tile-by-loop");
    } else {
        kernel.require(down.equals(size));
    }
    Int::Var(size)
}

/// Draws the length of a row of the tile: its size, one more, or any sufficient length.
fn draw_pitch(kernel: &mut Kernel, size: &Int, random: &mut Random) -> Int {
    match random.below(4) {
        0 | 1 => size.clone(),
        2 => {
            kernel.note("memory", "pitch+1");
            size.clone() + 1
        }
        _ => {
            kernel.note("memory", "pitch-symbolic");
            let pitch = kernel.vars.add("LD", VarKind::Macro);
            kernel.require(Int::Var(pitch).ge(size.clone()));
            Int::Var(pitch)
        }
    }
}
