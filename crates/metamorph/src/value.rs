//! Construction, substitution and traversal of values ([`Val`]).

use crate::expr::{Access, ArrayId, Cond, Fold, Int, Local, Val, ValOp, Var};

impl Access {
    /// Names an element.
    #[must_use]
    pub fn new(array: ArrayId, coords: Vec<Int>) -> Self {
        Self { array, coords }
    }

    /// Rebuilds the coordinates.
    pub fn map(&self, change: &mut dyn FnMut(&Int) -> Option<Int>) -> Self {
        let coords = self.coords.iter().map(|coord| coord.map(change)).collect();
        Self { array: self.array, coords }
    }
}

impl ValOp {
    /// Returns the start value of a fold.
    #[must_use]
    pub fn identity(self) -> Val {
        match self {
            Self::Add | Self::Sub => Val::Const(0),
            Self::Mul => Val::Const(1),
            Self::Max => Val::Lowest,
            Self::Min => Val::Highest,
        }
    }
}

impl Val {
    /// Builds an operation.
    #[must_use]
    pub fn bin(op: ValOp, a: Val, b: Val) -> Self {
        Self::Bin(op, Box::new(a), Box::new(b))
    }

    /// Names an element.
    #[must_use]
    pub fn load(array: ArrayId, coords: Vec<Int>) -> Self {
        Self::Load(Access::new(array, coords))
    }

    /// Builds a choice.
    #[must_use]
    pub fn select(cond: Cond, yes: Val, no: Val) -> Self {
        Self::Select(cond, Box::new(yes), Box::new(no))
    }

    /// Rebuilds the value with other integers in it.
    pub fn map_ints(&self, change: &mut dyn FnMut(&Int) -> Option<Int>) -> Self {
        match self {
            Self::Const(_) | Self::Lowest | Self::Highest | Self::Local(_) => self.clone(),
            Self::Load(access) => Self::Load(access.map(change)),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.map_ints(change), b.map_ints(change));
                Self::bin(*op, a, b)
            }
            Self::Select(cond, a, b) => {
                let cond = cond.map(change);
                let (a, b) = (a.map_ints(change), b.map_ints(change));
                Self::select(cond, a, b)
            }
            Self::Fold(fold) => {
                let (from, to) = (fold.from.map(change), fold.to.map(change));
                let body = fold.body.map_ints(change);
                Self::Fold(Box::new(Fold { from, to, body, ..**fold }))
            }
        }
    }

    /// Replaces an integer variable.
    #[must_use]
    pub fn substitute(&self, var: Var, by: &Int) -> Self {
        self.map_ints(&mut |int| (*int == Int::Var(var)).then(|| by.clone()))
    }

    /// Rebuilds the value; if `change` returns something, it replaces the part.
    pub fn map(&self, change: &mut dyn FnMut(&Val) -> Option<Val>) -> Self {
        if let Some(changed) = change(self) {
            return changed;
        }
        match self {
            Self::Bin(op, a, b) => {
                let (a, b) = (a.map(change), b.map(change));
                Self::bin(*op, a, b)
            }
            Self::Select(cond, a, b) => {
                let (a, b) = (a.map(change), b.map(change));
                Self::select(cond.clone(), a, b)
            }
            Self::Fold(fold) => {
                let body = fold.body.map(change);
                Self::Fold(Box::new(Fold {
                    body,
                    from: fold.from.clone(),
                    to: fold.to.clone(),
                    ..**fold
                }))
            }
            _ => self.clone(),
        }
    }

    /// Replaces a local variable.
    #[must_use]
    pub fn substitute_local(&self, local: Local, by: Local) -> Self {
        self.map(&mut |val| (*val == Self::Local(local)).then_some(Self::Local(by)))
    }

    /// Returns the first element that satisfies a test and is loaded unconditionally.
    pub fn first_load(&self, test: &dyn Fn(&Access) -> bool) -> Option<&Access> {
        match self {
            Self::Load(access) if test(access) => Some(access),
            Self::Bin(_, a, b) => a.first_load(test).or_else(|| b.first_load(test)),
            _ => None,
        }
    }

    /// Visits this value and all below it.
    pub fn visit(&self, visitor: &mut dyn FnMut(&Val)) {
        visitor(self);
        match self {
            Self::Bin(_, a, b) | Self::Select(_, a, b) => {
                a.visit(visitor);
                b.visit(visitor);
            }
            Self::Fold(fold) => fold.body.visit(visitor),
            _ => {}
        }
    }

    /// Visits all integer expressions.
    pub fn visit_ints(&self, visitor: &mut dyn FnMut(&Int)) {
        self.visit(&mut |val| match val {
            Self::Load(access) => access.coords.iter().for_each(|coord| coord.visit(visitor)),
            Self::Select(cond, _, _) => cond.visit(visitor),
            Self::Fold(fold) => {
                fold.from.visit(visitor);
                fold.to.visit(visitor);
            }
            _ => {}
        });
    }
}
