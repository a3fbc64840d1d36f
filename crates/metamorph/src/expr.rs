//! Integer expressions, conditions and values of the loop-nest language: trees, their construction with a little
//! folding of constants, and substitution.

use std::ops::{Add, Div, Mul, Rem, Sub};

/// An integer variable: a launch dimension, a size, a macro or a local; an index into [`crate::nest::Vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Var(pub usize);

/// A local variable of type `float`; an index into the kernel's names of locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Local(pub usize);

/// An array; an index into the kernel's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrayId(pub usize);

/// Operations on integers. `Div` and `Rem` round as C does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Shl,
    Xor,
}

/// An integer expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    /// A number.
    Const(i64),
    /// A variable.
    Var(Var),
    /// An operation.
    Bin(IntOp, Box<Int>, Box<Int>),
    /// The first expression if the condition holds, else the second.
    Select(Box<Cond>, Box<Int>, Box<Int>),
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CmpOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// A condition on integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cond {
    /// A comparison.
    Cmp(CmpOp, Int, Int),
    /// All of them hold; true if there are none.
    And(Vec<Cond>),
    /// One of them holds.
    Or(Vec<Cond>),
    /// A power of two; in contracts only.
    PowerOfTwo(Int),
}

/// Operations on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ValOp {
    Add,
    Sub,
    Mul,
    Max,
    Min,
}

/// An element of an array. One coordinate for an array of several dimensions is a linear index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// The coordinates, the slowest first.
    pub coords: Vec<Int>,
}

/// A value of type `float`, taken for a real number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val {
    /// A number.
    Const(i64),
    /// Less than every value: the start of a maximum.
    Lowest,
    /// Greater than every value: the start of a minimum.
    Highest,
    /// An element.
    Load(Access),
    /// A local variable.
    Local(Local),
    /// An operation.
    Bin(ValOp, Box<Val>, Box<Val>),
    /// The first value if the condition holds, else the second.
    Select(Cond, Box<Val>, Box<Val>),
    /// All values of the body for `var` in a range, combined; in base kernels only.
    Fold(Box<Fold>),
}

/// A fold over a range of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The combining operation: `Add`, `Max` or `Min`.
    pub op: ValOp,
    /// The variable.
    pub var: Var,
    /// The first number.
    pub from: Int,
    /// The end, excluded.
    pub to: Int,
    /// The combined value.
    pub body: Val,
}

impl From<i64> for Int {
    fn from(number: i64) -> Self {
        Self::Const(number)
    }
}

impl From<Var> for Int {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}

impl From<&Int> for Int {
    fn from(int: &Int) -> Self {
        int.clone()
    }
}

/// Applies an operation to numbers as C does; `None` for a division by 0.
#[must_use]
pub fn int_op(op: IntOp, a: i64, b: i64) -> Option<i64> {
    match op {
        IntOp::Add => a.checked_add(b),
        IntOp::Sub => a.checked_sub(b),
        IntOp::Mul => a.checked_mul(b),
        IntOp::Div => a.checked_div(b),
        IntOp::Rem => a.checked_rem(b),
        IntOp::Min => Some(a.min(b)),
        IntOp::Max => Some(a.max(b)),
        IntOp::Shl => a.checked_mul(1 << b.clamp(0, 30)),
        IntOp::Xor => Some(a ^ b),
    }
}

/// Compares numbers.
#[must_use]
pub fn compare(op: CmpOp, a: i64, b: i64) -> bool {
    match op {
        CmpOp::Lt => a < b,
        CmpOp::Le => a <= b,
        CmpOp::Gt => a > b,
        CmpOp::Ge => a >= b,
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
    }
}

impl Int {
    /// Builds an operation; folds constants and drops units.
    pub fn bin(op: IntOp, a: impl Into<Int>, b: impl Into<Int>) -> Self {
        let (a, b) = (a.into(), b.into());
        if let (Self::Const(a), Self::Const(b)) = (&a, &b)
            && let Some(result) = int_op(op, *a, *b)
        {
            return Self::Const(result);
        }
        match (op, &a, &b) {
            (IntOp::Add | IntOp::Sub, _, Self::Const(0)) => a,
            (IntOp::Mul | IntOp::Div, _, Self::Const(1)) => a,
            (IntOp::Add, Self::Const(0), _) | (IntOp::Mul, Self::Const(1), _) => b,
            (IntOp::Mul, Self::Const(0), _) | (IntOp::Mul, _, Self::Const(0)) => Self::Const(0),
            (IntOp::Add, _, Self::Const(number)) if *number < 0 => {
                Self::bin(IntOp::Sub, a, -number)
            }
            (IntOp::Sub, Self::Bin(IntOp::Add, left, right), Self::Const(_)) if **right == b => {
                (**left).clone()
            }
            _ => Self::Bin(op, Box::new(a), Box::new(b)),
        }
    }

    /// Returns the lesser of two.
    pub fn min(self, other: impl Into<Int>) -> Self {
        Self::bin(IntOp::Min, self, other)
    }

    /// Returns the greater of two.
    pub fn max(self, other: impl Into<Int>) -> Self {
        Self::bin(IntOp::Max, self, other)
    }

    /// Builds a comparison.
    pub fn cmp(self, op: CmpOp, other: impl Into<Int>) -> Cond {
        Cond::Cmp(op, self, other.into())
    }

    /// Builds `self < other`.
    pub fn lt(self, other: impl Into<Int>) -> Cond {
        self.cmp(CmpOp::Lt, other)
    }

    /// Builds `self <= other`.
    pub fn le(self, other: impl Into<Int>) -> Cond {
        self.cmp(CmpOp::Le, other)
    }

    /// Builds `self >= other`.
    pub fn ge(self, other: impl Into<Int>) -> Cond {
        self.cmp(CmpOp::Ge, other)
    }

    /// Builds `self == other`.
    pub fn equals(self, other: impl Into<Int>) -> Cond {
        self.cmp(CmpOp::Eq, other)
    }

    /// Multiplies all of them; 1 if there are none.
    pub fn product<'a>(factors: impl IntoIterator<Item = &'a Int>) -> Self {
        factors.into_iter().fold(Self::Const(1), |product, factor| product * factor)
    }

    /// Replaces a variable.
    #[must_use]
    pub fn substitute(&self, var: Var, by: &Int) -> Self {
        self.map(&mut |int| match int {
            Self::Var(found) if *found == var => Some(by.clone()),
            _ => None,
        })
    }

    /// Rebuilds the expression; if `change` returns something, it replaces the subexpression.
    pub fn map(&self, change: &mut dyn FnMut(&Int) -> Option<Int>) -> Self {
        if let Some(changed) = change(self) {
            return changed;
        }
        match self {
            Self::Const(_) | Self::Var(_) => self.clone(),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.map(change), b.map(change));
                Self::bin(*op, a, b)
            }
            Self::Select(cond, a, b) => {
                let (cond, a, b) = (cond.map(change), a.map(change), b.map(change));
                Self::Select(Box::new(cond), Box::new(a), Box::new(b))
            }
        }
    }

    /// Visits this expression and all below it.
    pub fn visit(&self, visitor: &mut dyn FnMut(&Int)) {
        visitor(self);
        match self {
            Self::Const(_) | Self::Var(_) => {}
            Self::Bin(_, a, b) => {
                a.visit(visitor);
                b.visit(visitor);
            }
            Self::Select(cond, a, b) => {
                cond.visit(visitor);
                a.visit(visitor);
                b.visit(visitor);
            }
        }
    }

    /// Returns `true` if the variable occurs.
    #[must_use]
    pub fn mentions(&self, var: Var) -> bool {
        let mut found = false;
        self.visit(&mut |int| found |= *int == Self::Var(var));
        found
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<B: Into<Int>> $trait<B> for Int {
            type Output = Int;
            fn $method(self, other: B) -> Int {
                Int::bin(IntOp::$trait, self, other)
            }
        }
        impl<B: Into<Int>> $trait<B> for Var {
            type Output = Int;
            fn $method(self, other: B) -> Int {
                Int::bin(IntOp::$trait, self, other)
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);
operator!(Rem, rem);

impl Cond {
    /// Combines conditions; nested conjunctions become one.
    #[must_use]
    pub fn all(conds: impl IntoIterator<Item = Cond>) -> Self {
        let mut flat = Vec::new();
        for cond in conds {
            match cond {
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            1 => flat.remove(0),
            _ => Self::And(flat),
        }
    }

    /// Returns `true` if it is the empty conjunction.
    #[must_use]
    pub fn is_true(&self) -> bool {
        matches!(self, Self::And(conds) if conds.is_empty())
    }

    /// Builds the negation.
    ///
    /// A condition of contracts (`PowerOfTwo`) has none and is returned as it is.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self {
            Self::Cmp(op, a, b) => Self::Cmp(opposite(*op), a.clone(), b.clone()),
            Self::And(conds) if conds.len() == 1 => conds[0].negate(),
            Self::And(conds) => Self::Or(conds.iter().map(Self::negate).collect()),
            Self::Or(conds) => Self::And(conds.iter().map(Self::negate).collect()),
            Self::PowerOfTwo(_) => self.clone(),
        }
    }

    /// Replaces a variable.
    #[must_use]
    pub fn substitute(&self, var: Var, by: &Int) -> Self {
        self.map(&mut |int| (*int == Int::Var(var)).then(|| by.clone()))
    }

    /// Rebuilds the condition with other integers in it.
    pub fn map(&self, change: &mut dyn FnMut(&Int) -> Option<Int>) -> Self {
        match self {
            Self::Cmp(op, a, b) => {
                let (a, b) = (a.map(change), b.map(change));
                Self::Cmp(*op, a, b)
            }
            Self::And(conds) => Self::And(conds.iter().map(|cond| cond.map(change)).collect()),
            Self::Or(conds) => Self::Or(conds.iter().map(|cond| cond.map(change)).collect()),
            Self::PowerOfTwo(int) => Self::PowerOfTwo(int.map(change)),
        }
    }

    /// Visits all integer expressions.
    pub fn visit(&self, visitor: &mut dyn FnMut(&Int)) {
        match self {
            Self::Cmp(_, a, b) => {
                a.visit(visitor);
                b.visit(visitor);
            }
            Self::And(conds) | Self::Or(conds) => conds.iter().for_each(|cond| cond.visit(visitor)),
            Self::PowerOfTwo(int) => int.visit(visitor),
        }
    }
}

fn opposite(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
    }
}
