//! Base kernels: `out[ω(i)] = E(i)` for all `i` of a box of symbolic extents, drawn at random within each kind.

mod gather;
mod map;
mod reduce;
mod stencil;

pub(crate) use stencil::weighted;

use crate::expr::{Access, ArrayId, Cond, Int, Val, ValOp, Var};
use crate::nest::{Array, Axis, INT_MAX, Kernel, Space, Spelling, VarKind, Vars};
use crate::print::Claim;
use testing::Random;

/// The kinds of base kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BaseKind {
    Map,
    Stencil,
    Reduce,
    Scan,
    Matmul,
    Gather,
}

impl BaseKind {
    /// All kinds.
    pub const ALL: [BaseKind; 6] = [
        BaseKind::Map,
        BaseKind::Stencil,
        BaseKind::Reduce,
        BaseKind::Scan,
        BaseKind::Matmul,
        BaseKind::Gather,
    ];

    /// Returns the name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Stencil => "stencil",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Matmul => "matmul",
            Self::Gather => "gather",
        }
    }
}

/// The value of a stencil's neighbours outside of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// The nearest element.
    Clamp,
    /// Zero.
    Zero,
    /// Only inner points are computed.
    Interior,
}

/// A weighted neighbour of a stencil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// The offset along each axis.
    pub offset: Vec<i64>,
    /// The weight.
    pub weight: i64,
}

/// The structure of a stencil, for transformations of stencils.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stencil {
    /// The array that is read.
    pub input: ArrayId,
    /// The neighbours.
    pub taps: Vec<Tap>,
    /// The greatest offset along each axis.
    pub radius: Vec<i64>,
    /// Values outside of the array.
    pub border: Border,
}

/// The elements that a scan combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Up to the element itself.
    Inclusive,
    /// Before the element.
    Exclusive,
    /// From the element to the end.
    Suffix,
}

/// The structure of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// The axis along which it goes; the last one of the box.
    pub axis: Axis,
    /// The combining operation.
    pub op: ValOp,
    /// The combined elements.
    pub prefix: Prefix,
    /// The element at the axis's variable.
    pub element: Val,
}

/// Facts about a base that transformations use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// No further facts: transformations can use only the claim.
    Plain,
    /// A stencil.
    Stencil(Stencil),
    /// A scan of rows.
    Scan(Scan),
    /// A transpose: axes y, x of the input; the output is stored at x, y.
    Transpose {
        /// The array that is read.
        input: ArrayId,
    },
    /// A product of matrices `A[.., y, k]*B[.., k, x]`.
    Matmul {
        /// The left factor.
        a: ArrayId,
        /// The right factor.
        b: ArrayId,
        /// The inner extent.
        inner: Int,
    },
}

/// A base kernel.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its kind.
    pub kind: BaseKind,
    /// Its name within the kind.
    pub variant: &'static str,
    /// Its sizes and the variables of its box.
    pub vars: Vars,
    /// Its arrays; one is written.
    pub arrays: Vec<Array>,
    /// Requirements on sizes.
    pub requires: Vec<Cond>,
    /// The box.
    pub axes: Vec<Axis>,
    /// The computed points of the box.
    pub guard: Cond,
    /// The element that holds the value of a point.
    pub target: Access,
    /// The stored value.
    pub value: Val,
    /// Facts for transformations.
    pub shape: Structure,
}

impl Base {
    /// Draws a base kernel.
    #[must_use]
    pub fn draw(random: &mut Random) -> Self {
        match random.pick(&BaseKind::ALL) {
            BaseKind::Map => map::draw(random),
            BaseKind::Stencil => stencil::draw(random),
            BaseKind::Reduce => reduce::draw(random),
            BaseKind::Scan => reduce::draw_scan(random),
            BaseKind::Matmul => reduce::draw_matmul(random),
            BaseKind::Gather => gather::draw(random),
        }
    }

    /// Returns the computed result as a claim of a contract.
    #[must_use]
    pub fn claim(&self) -> Claim<'_> {
        Claim { axes: &self.axes, guard: &self.guard, target: &self.target, value: &self.value }
    }

    /// Returns a kernel with its arrays and requirements, and no statements.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Kernel {
        Kernel {
            name: name.to_string(),
            vars: self.vars.clone(),
            locals: Vec::new(),
            arrays: self.arrays.clone(),
            requires: self.requires.clone(),
            body: Vec::new(),
            spelling: Spelling::default(),
            applied: Vec::new(),
        }
    }
}

/// A base kernel under construction.
struct Builder {
    vars: Vars,
    arrays: Vec<Array>,
    requires: Vec<Cond>,
    axes: Vec<Axis>,
}

impl Builder {
    fn new() -> Self {
        Self { vars: Vars::default(), arrays: Vec::new(), requires: Vec::new(), axes: Vec::new() }
    }

    /// Adds a size of at least `least`.
    fn size(&mut self, name: &str, least: i64) -> Int {
        let var = self.vars.add(name, VarKind::Size);
        self.requires.push(Int::Var(var).ge(least));
        Int::Var(var)
    }

    fn axis(&mut self, name: &str, extent: Int) -> Var {
        let var = self.vars.add(name, VarKind::Local);
        self.axes.push(Axis { var, extent });
        var
    }

    /// Adds an array; its number of elements fits into `int`.
    fn array(&mut self, name: &str, shape: Vec<Int>, space: Space) -> ArrayId {
        let elements = Int::product(&shape);
        let fits = elements.clone().le(INT_MAX);
        if !matches!(elements, Int::Var(_) | Int::Const(_)) && !self.requires.contains(&fits) {
            self.requires.push(fits);
        }
        self.arrays.push(Array { name: name.to_string(), shape, space });
        ArrayId(self.arrays.len() - 1)
    }

    fn input(&mut self, name: &str, shape: Vec<Int>) -> ArrayId {
        self.array(name, shape, Space::Input)
    }

    fn output(&mut self, shape: Vec<Int>) -> ArrayId {
        self.array("out", shape, Space::Output)
    }

    fn finish(
        self,
        (kind, variant): (BaseKind, &'static str),
        target: Access,
        value: Val,
        shape: Structure,
    ) -> Base {
        Base {
            kind,
            variant,
            vars: self.vars,
            arrays: self.arrays,
            requires: self.requires,
            axes: self.axes,
            guard: Cond::And(Vec::new()),
            target,
            value,
            shape,
        }
    }
}

/// Draws a combination of values: weights, sums, differences, products, extremes.
fn combine(random: &mut Random, values: Vec<Val>) -> Val {
    let mut combined = None;
    for value in values {
        let value = decorate(random, value);
        combined = Some(match combined {
            None => value,
            Some(left) => {
                let ops = [ValOp::Add, ValOp::Add, ValOp::Sub, ValOp::Mul, ValOp::Max, ValOp::Min];
                Val::bin(random.pick(&ops), left, value)
            }
        });
    }
    combined.unwrap_or(Val::Const(1))
}

/// Draws an operation on one value: nothing, a weight, a square, a bound.
fn decorate(random: &mut Random, value: Val) -> Val {
    match random.below(6) {
        0 => Val::bin(ValOp::Mul, Val::Const(random.below(3_i64) + 2), value),
        1 => Val::bin(ValOp::Mul, value.clone(), value),
        2 => Val::bin(ValOp::Max, value, Val::Const(0)),
        _ => value,
    }
}
