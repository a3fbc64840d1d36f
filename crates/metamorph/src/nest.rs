//! The loop-nest language: kernels with symbolic sizes, a launch, a contract and statements for one thread.

use crate::expr::{Access, ArrayId, Cond, Int, Local, Val, ValOp, Var};

/// An axis of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Dim {
    X,
    Y,
    Z,
}

impl Dim {
    /// All axes.
    pub const ALL: [Dim; 3] = [Dim::X, Dim::Y, Dim::Z];

    /// Returns `threadIdx` along this axis.
    #[must_use]
    pub fn thread(self) -> Var {
        Var(self as usize)
    }

    /// Returns `blockIdx` along this axis.
    #[must_use]
    pub fn block(self) -> Var {
        Var(3 + self as usize)
    }

    /// Returns `blockDim` along this axis.
    #[must_use]
    pub fn threads(self) -> Var {
        Var(6 + self as usize)
    }

    /// Returns `gridDim` along this axis.
    #[must_use]
    pub fn blocks(self) -> Var {
        Var(9 + self as usize)
    }
}

/// Number of variables of every kernel: `threadIdx`, `blockIdx`, `blockDim` and `gridDim` along three axes.
pub const LAUNCH_VARS: usize = 12;

/// The role of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// `threadIdx`, `blockIdx`, `blockDim`, `gridDim`.
    Launch,
    /// A parameter.
    Size,
    /// A macro that stands for any number from 1.
    Macro,
    /// A local variable.
    Local,
}

/// The names of integer variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vars {
    entries: Vec<(String, VarKind)>,
}

impl Default for Vars {
    fn default() -> Self {
        let mut entries = Vec::new();
        for name in ["threadIdx", "blockIdx", "blockDim", "gridDim"] {
            for axis in ["x", "y", "z"] {
                entries.push((format!("{name}.{axis}"), VarKind::Launch));
            }
        }
        Self { entries }
    }
}

impl Vars {
    /// Adds a variable; its name gets a number if it is taken.
    pub fn add(&mut self, name: &str, kind: VarKind) -> Var {
        let unique = self.unique(name);
        self.entries.push((unique, kind));
        Var(self.entries.len() - 1)
    }

    /// Renames a variable; its name gets a number if it is taken.
    pub fn rename(&mut self, var: Var, name: &str) {
        self.entries[var.0].0 = self.unique(name);
    }

    fn unique(&self, name: &str) -> String {
        let is_used = |name: &str| self.entries.iter().any(|(found, _)| found == name);
        let mut unique = name.to_string();
        let mut number = 2;
        while is_used(&unique) {
            unique = format!("{name}{number}");
            number += 1;
        }
        unique
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self, var: Var) -> &str {
        &self.entries[var.0].0
    }

    /// Returns the role of a variable.
    #[must_use]
    pub fn kind(&self, var: Var) -> VarKind {
        self.entries[var.0].1
    }

    /// Returns the number of variables.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns all variables of a kind.
    pub fn of_kind(&self, kind: VarKind) -> impl Iterator<Item = Var> + '_ {
        (0..self.entries.len()).filter(move |index| self.entries[*index].1 == kind).map(Var)
    }
}

/// Memory space of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A parameter that is only read.
    Input,
    /// A parameter that is written.
    Output,
    /// Shared memory whose dimensions are constants and macros.
    Static,
    /// Shared memory whose size the launch gives; a kernel has at most one such array.
    Dynamic,
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The name.
    pub name: String,
    /// The dimensions, the slowest first.
    pub shape: Vec<Int>,
    /// Its memory space.
    pub space: Space,
}

impl Array {
    /// Returns `true` for shared memory.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.space, Space::Static | Space::Dynamic)
    }

    /// Computes the linear index of coordinates.
    #[must_use]
    pub fn linear(&self, coords: &[Int]) -> Int {
        if coords.len() != self.shape.len() {
            return coords.first().cloned().unwrap_or(Int::Const(0));
        }
        let mut index = Int::Const(0);
        for (coord, extent) in coords.iter().zip(&self.shape) {
            index = index * extent + coord;
        }
        index
    }
}

/// The orders of a loop's iterations that mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any order: iterations combine with an operation that commutes, or are independent.
    Free,
    /// Only the given order.
    Fixed,
}

/// The syntax of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Form {
    For,
    While,
    /// `if (test) do … while (test)`.
    Do,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The variable.
    pub var: Var,
    /// Start value of the variable; `None` if it is declared before and keeps its value.
    pub from: Option<Int>,
    /// The loop runs while this holds.
    pub test: Cond,
    /// The next value of the variable.
    pub next: Int,
    /// The body.
    pub body: Vec<Stmt>,
    /// The orders of the iterations that mean the same.
    pub order: Order,
    /// Its syntax.
    pub form: Form,
    /// Set for the loop over the iterations that an unrolled or halved loop leaves.
    pub is_remainder: bool,
}

impl For {
    /// Builds `for (var = from; var < to; var++)`.
    #[must_use]
    pub fn range(var: Var, from: Int, to: Int, body: Vec<Stmt>) -> Self {
        Self {
            var,
            from: Some(from),
            test: Int::from(var).lt(to),
            next: var + 1,
            body,
            order: Order::Free,
            form: Form::For,
            is_remainder: false,
        }
    }

    /// Returns the range of a loop that counts up by one, if it is one.
    #[must_use]
    pub fn as_range(&self) -> Option<(Int, Int)> {
        let from = self.from.clone()?;
        if self.next != self.var + 1 {
            return None;
        }
        match &self.test {
            Cond::Cmp(crate::expr::CmpOp::Lt, Int::Var(var), to) if *var == self.var => {
                (!to.mentions(self.var)).then(|| (from, to.clone()))
            }
            _ => None,
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Declares an integer variable.
    Int(Var, Int),
    /// Assigns to an integer variable.
    Assign(Var, Int),
    /// Declares a float variable.
    Float(Local, Val),
    /// Assigns to a float variable.
    Set(Local, Val),
    /// Combines a local with a value: `a += e`.
    Combine(Local, ValOp, Val),
    /// Stores.
    Store(Access, Val),
    /// Branches.
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// Loops.
    For(Box<For>),
    /// `__syncthreads()`.
    Barrier,
    /// Leaves the kernel.
    Return,
}

impl From<For> for Stmt {
    fn from(inner: For) -> Self {
        Self::For(Box::new(inner))
    }
}

/// A parallel axis of a base kernel's box: from 0 to an extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The variable.
    pub var: Var,
    /// The end, excluded.
    pub extent: Int,
}

/// A transformation that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Applied {
    /// Its group: `launch`, `loops`, `memory`, `reduction` or `surface`.
    pub group: &'static str,
    /// Its name.
    pub name: &'static str,
}

/// The notation of a kernel where its meaning leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Thread numbers are `unsigned`.
    pub is_unsigned: bool,
    /// Indices of two dimensions are computed by a `__device__` function.
    pub index_helper: bool,
    /// The greater of two values is found by a `__device__` function that compares.
    pub max_helper: bool,
    /// Products with powers of two are shifts.
    pub shifts: bool,
    /// `min` and `max` of integers are `?:`.
    pub choices: bool,
    /// Products are written with the constant or size first.
    pub swapped_products: bool,
}

/// A kernel: the statements of one thread, with arrays, sizes and a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// The integer variables.
    pub vars: Vars,
    /// The names of values.
    pub locals: Vec<String>,
    /// The arrays.
    pub arrays: Vec<Array>,
    /// The allowed launches.
    pub requires: Vec<Cond>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Its notation.
    pub spelling: Spelling,
    /// The applied transformations.
    pub applied: Vec<Applied>,
}

/// The greatest `int`.
pub const INT_MAX: i64 = 2_147_483_647;

impl Kernel {
    /// Adds a local variable of type `int`.
    pub fn int(&mut self, name: &str) -> Var {
        self.vars.add(name, VarKind::Local)
    }

    /// Adds a local variable of type `float`.
    pub fn local(&mut self, name: &str) -> Local {
        let is_used = |name: &str| self.locals.iter().any(|found| found == name);
        let mut unique = name.to_string();
        let mut number = 2;
        while is_used(&unique) {
            unique = format!("{name}{number}");
            number += 1;
        }
        self.locals.push(unique);
        Local(self.locals.len() - 1)
    }

    /// Adds an array.
    pub fn array(&mut self, name: &str, shape: Vec<Int>, space: Space) -> ArrayId {
        self.arrays.push(Array { name: name.to_string(), shape, space });
        ArrayId(self.arrays.len() - 1)
    }

    /// Adds a condition on launches, unless it is there.
    pub fn require(&mut self, cond: Cond) {
        if !self.requires.contains(&cond) && !cond.is_true() {
            self.requires.push(cond);
        }
    }

    /// Requires that a number fits into `int`.
    pub fn require_fits(&mut self, int: Int) {
        self.require(int.le(INT_MAX));
    }

    /// Notes a transformation.
    pub fn note(&mut self, group: &'static str, name: &'static str) {
        self.applied.push(Applied { group, name });
    }

    /// Returns the array that is written.
    #[must_use]
    pub fn output(&self) -> Option<ArrayId> {
        self.arrays.iter().position(|array| array.space == Space::Output).map(ArrayId)
    }
}
