//! Group `launch`: the mapping of the box's points to threads.
//!
//! Axes become loops or are put into groups. A group is one number (flattened if it has several axes), distributed
//! over blocks and threads along an axis of the launch in one of several styles.

use crate::draft::Draft;
use crate::expr::{Cond, Int, Var};
use crate::nest::{Axis, Dim, For, Kernel, Stmt, VarKind};
use testing::Random;

/// Distribution of the numbers below an extent over the threads along an axis of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// One for each thread; the threads beyond the extent do nothing.
    Ragged,
    /// One for each thread; exactly as many threads.
    Exact,
    /// One for each thread; the size of a block divides the extent.
    Dividing,
    /// One for each thread; exactly as many threads, blocks in reversed order.
    Reversed,
    /// One for each thread; a macro names the size of a block.
    Macro,
    /// One for each block.
    Blocks,
    /// One for each thread of one block.
    Threads,
    /// Several for each thread, as far apart as the grid has threads.
    GridStride,
    /// Several for each thread of one block, as far apart as the block has threads.
    ThreadStride,
    /// A few consecutive ones for each thread.
    Coarse,
}

const STYLES: [Style; 12] = [
    Style::Ragged,
    Style::Ragged,
    Style::Ragged,
    Style::Exact,
    Style::Dividing,
    Style::Reversed,
    Style::Macro,
    Style::Blocks,
    Style::Threads,
    Style::GridStride,
    Style::ThreadStride,
    Style::Coarse,
];

impl Style {
    fn name(self) -> &'static str {
        match self {
            Self::Ragged => "ragged",
            Self::Exact => "exact",
            Self::Dividing => "dividing",
            Self::Reversed => "reversed-blocks",
            Self::Macro => "macro-block",
            Self::Blocks => "block-each",
            Self::Threads => "thread-each",
            Self::GridStride => "grid-stride",
            Self::ThreadStride => "thread-stride",
            Self::Coarse => "coarse",
        }
    }
}

/// Gives a draft the plainest launch: an axis of the launch for each axis, guarded.
#[must_use]
pub fn plain(draft: Draft) -> Kernel {
    let Draft { mut kernel, axes } = draft;
    let mut mapping = Mapping::default();
    let body = std::mem::take(&mut kernel.body);
    for (axis, dim) in axes.iter().rev().zip(Dim::ALL) {
        mapping.one_each(&mut kernel, axis, dim, Style::Ragged);
    }
    kernel.body = mapping.finish(body, false);
    kernel
}

/// Gives a draft a launch drawn at random.
#[must_use]
pub fn draw(draft: Draft, random: &mut Random) -> Kernel {
    let Draft { mut kernel, mut axes } = draft;
    let mut body = std::mem::take(&mut kernel.body);
    if random.chance(25) && (axes.len() > 1 || random.chance(20)) {
        let axis = axes.remove(random.below(axes.len()));
        body = vec![For::range(axis.var, 0.into(), axis.extent, body).into()];
        kernel.note("launch", "axis-to-loop");
    }
    if axes.is_empty() {
        kernel.require(Int::Var(Dim::X.blocks()).equals(1));
        kernel.require(Int::Var(Dim::X.threads()).equals(1));
        kernel.body = body;
        return kernel;
    }
    if axes.len() == 2 && random.chance(20) {
        kernel.body = block_and_threads(&mut kernel, &axes, body, random);
        return kernel;
    }
    let groups = draw_groups(&mut kernel, axes, random);
    let mut dims = Dim::ALL[..groups.len()].to_vec();
    if random.chance(30) {
        random.shuffle(&mut dims);
    }
    kernel.body = map_groups(&mut kernel, groups, &dims, body, random);
    kernel
}

/// Axes flattened to one number.
struct Group {
    axes: Vec<Axis>,
    number: Axis,
}

fn draw_groups(kernel: &mut Kernel, axes: Vec<Axis>, random: &mut Random) -> Vec<Group> {
    let flatten = match axes.len() {
        1 => 1,
        2 => random.pick(&[1, 2]),
        _ => random.pick(&[1, 1, 2, 3]),
    };
    if flatten == 1 {
        return axes.into_iter().map(|axis| Group { axes: vec![], number: axis }).collect();
    }
    kernel.note("launch", if flatten == 2 { "flatten-2" } else { "flatten-3" });
    let first = random.below(axes.len() - flatten + 1);
    let mut groups = Vec::new();
    let mut flat = Vec::new();
    for (index, axis) in axes.into_iter().enumerate() {
        if index < first || index >= first + flatten {
            groups.push(Group { axes: vec![], number: axis });
            continue;
        }
        flat.push(axis);
        if flat.len() == flatten {
            groups.push(flat_group(kernel, std::mem::take(&mut flat)));
        }
    }
    groups
}

fn flat_group(kernel: &mut Kernel, axes: Vec<Axis>) -> Group {
    let extent = Int::product(axes.iter().map(|axis| &axis.extent));
    kernel.require_fits(extent.clone());
    let var = kernel.int("p");
    Group { axes, number: Axis { var, extent } }
}

/// Computes the axes of a flattened number.
fn unflatten(group: &Group, random: &mut Random) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    let nested = random.chance(30);
    for (index, axis) in group.axes.iter().enumerate() {
        let below = Int::product(group.axes[index + 1..].iter().map(|axis| &axis.extent));
        let here = below.clone() * &axis.extent;
        let p = Int::Var(group.number.var);
        let digit = if index == 0 {
            p / below
        } else if below == Int::Const(1) {
            p % &axis.extent
        } else if nested {
            (p % here) / below
        } else {
            p / below % &axis.extent
        };
        stmts.push(Stmt::Int(axis.var, digit));
    }
    stmts
}

/// Maps every group to an axis of the launch, in a style of its own.
fn map_groups(
    kernel: &mut Kernel,
    groups: Vec<Group>,
    dims: &[Dim],
    mut body: Vec<Stmt>,
    random: &mut Random,
) -> Vec<Stmt> {
    let mut mapping = Mapping::default();
    for (group, dim) in groups.iter().rev().zip(dims) {
        let style = random.pick(&STYLES);
        kernel.note("launch", style.name());
        if *dim != Dim::X {
            kernel.note("launch", if *dim == Dim::Y { "2d" } else { "3d" });
        }
        let mut inner = unflatten(group, random);
        inner.append(&mut body);
        body = match style {
            Style::GridStride | Style::ThreadStride | Style::Coarse => {
                strided_loop(kernel, &group.number, *dim, style, inner, random)
            }
            _ => {
                mapping.one_each(kernel, &group.number, *dim, style);
                inner
            }
        };
    }
    let early_return = random.chance(35);
    if early_return {
        kernel.note("launch", "early-return");
    }
    mapping.finish(body, early_return)
}

/// Builds the loop over the numbers of a thread that has several.
fn strided_loop(
    kernel: &mut Kernel,
    number: &Axis,
    dim: Dim,
    style: Style,
    body: Vec<Stmt>,
    random: &mut Random,
) -> Vec<Stmt> {
    let (blocks, threads) = (dim.blocks(), dim.threads());
    let global = dim.block() * threads + dim.thread();
    let range = For::range(number.var, 0.into(), number.extent.clone(), body);
    match style {
        Style::ThreadStride => {
            kernel.require(Int::Var(blocks).equals(1));
            kernel.require_fits(number.extent.clone() + threads);
            let next = number.var + threads;
            vec![For { from: Some(dim.thread().into()), next, ..range }.into()]
        }
        Style::Coarse => {
            let count = random.below(3_i64) + 2;
            let enough = (blocks * threads * count).ge(number.extent.clone());
            kernel.require(enough);
            kernel.require_fits(blocks * threads * count);
            let from = global * count;
            let to = (from.clone() + count).min(number.extent.clone());
            let first = kernel.int("first");
            let to = to.map(&mut |int| (*int == from).then_some(Int::Var(first)));
            let range = For::range(number.var, first.into(), to, range.body);
            vec![Stmt::Int(first, from), range.into()]
        }
        _ => {
            kernel.require_fits(number.extent.clone() + blocks * threads);
            let next = number.var + blocks * threads;
            vec![For { from: Some(global), next, ..range }.into()]
        }
    }
}

/// Declarations of the number of each thread, and the conditions under which a thread has one.
#[derive(Default)]
struct Mapping {
    numbers: Vec<Stmt>,
    guards: Vec<Cond>,
}

impl Mapping {
    /// Gives each thread one number.
    fn one_each(&mut self, kernel: &mut Kernel, number: &Axis, dim: Dim, style: Style) {
        let (blocks, threads) = (Int::Var(dim.blocks()), Int::Var(dim.threads()));
        let extent = number.extent.clone();
        let guard = Int::Var(number.var).lt(extent.clone());
        let value = match style {
            Style::Exact | Style::Reversed => {
                kernel.require((blocks.clone() * &threads).equals(extent));
                match style {
                    Style::Exact => dim.block() * threads + dim.thread(),
                    _ => (blocks - 1 - dim.block()) * threads + dim.thread(),
                }
            }
            Style::Dividing => {
                kernel.require((extent.clone() % &threads).equals(0));
                kernel.require(blocks.equals(extent / &threads));
                dim.block() * threads + dim.thread()
            }
            Style::Blocks => {
                kernel.require(threads.equals(1));
                kernel.require(blocks.equals(extent));
                dim.block().into()
            }
            Style::Threads => {
                kernel.require(blocks.equals(1));
                kernel.require(threads.ge(extent));
                self.guards.push(guard);
                dim.thread().into()
            }
            Style::Macro => {
                let size = kernel.vars.add("T", VarKind::Macro);
                kernel.require(threads.equals(size));
                kernel.require((blocks.clone() * size).ge(extent));
                kernel.require_fits(blocks * size);
                self.guards.push(guard);
                dim.block() * size + dim.thread()
            }
            _ => {
                kernel.require((blocks * &threads).ge(extent));
                self.guards.push(guard);
                dim.block() * threads + dim.thread()
            }
        };
        self.numbers.push(Stmt::Int(number.var, value));
    }

    fn finish(self, body: Vec<Stmt>, early_return: bool) -> Vec<Stmt> {
        let mut stmts = self.numbers;
        let guard = Cond::all(self.guards);
        if early_return && !guard.is_true() {
            stmts.push(Stmt::If(guard.negate(), vec![Stmt::Return], Vec::new()));
            stmts.extend(body);
        } else {
            stmts.extend(crate::draft::guarded(&guard, body));
        }
        stmts
    }
}

/// Gives the first axis to blocks and the second one to the threads of a block.
fn block_and_threads(
    kernel: &mut Kernel,
    axes: &[Axis],
    body: Vec<Stmt>,
    random: &mut Random,
) -> Vec<Stmt> {
    kernel.note("launch", "block-and-threads");
    let (outer, inner) = if random.chance(75) { (0, 1) } else { (1, 0) };
    let (outer, inner) = (&axes[outer], &axes[inner]);
    let dim = Dim::X;
    let body = if random.chance(50) {
        kernel.require_fits(inner.extent.clone() + dim.threads());
        let range = For::range(inner.var, 0.into(), inner.extent.clone(), body);
        let next = inner.var + dim.threads();
        vec![For { from: Some(dim.thread().into()), next, ..range }.into()]
    } else {
        kernel.require(Int::Var(dim.threads()).equals(inner.extent.clone()));
        let mut stmts = vec![Stmt::Int(inner.var, dim.thread().into())];
        stmts.extend(body);
        stmts
    };
    by_blocks(kernel, outer.var, &outer.extent, body, random.chance(40))
}

/// Gives one number to each block, or strides over blocks.
pub(crate) fn by_blocks(
    kernel: &mut Kernel,
    var: Var,
    extent: &Int,
    body: Vec<Stmt>,
    strided: bool,
) -> Vec<Stmt> {
    let dim = Dim::X;
    if strided {
        kernel.require_fits(extent.clone() + dim.blocks());
        let range = For::range(var, 0.into(), extent.clone(), body);
        let next = var + dim.blocks();
        return vec![For { from: Some(dim.block().into()), next, ..range }.into()];
    }
    kernel.require(Int::Var(dim.blocks()).equals(extent.clone()));
    let mut stmts = vec![Stmt::Int(var, dim.block().into())];
    stmts.extend(body);
    stmts
}
