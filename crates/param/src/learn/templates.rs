//! Which elements hold which range of a fold, as functions of a stride.
//!
//! Each template is written twice: as numbers, to compare it with a run, and as a clause with an index that can be
//! inverted. `(x+1) % s == 0` becomes `x = s·q − 1`, and `lowbit(x+1) < s` becomes `x = p·(2r+1) − 1` with a power of two `p < s`.

use super::build::{add, binary, compare, int, is_pow2, mul, sub, var};
use crate::kir::{Binary, Compare, Expr, Type, VarId};

/// A stride that a variable gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Double,
    /// Twice the variable, at least 1.
    DoubleOrOne,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Double, Self::DoubleOrOne];

    pub(super) fn value(self, of: i128) -> i128 {
        match self {
            Self::Plain => of,
            Self::Double => 2 * of,
            Self::DoubleOrOne => (2 * of).max(1),
        }
    }

    pub(super) fn expr(self, of: Expr) -> Expr {
        match self {
            Self::Plain => of,
            Self::Double => mul(int(2), of),
            Self::DoubleOrOne => binary(Binary::Max, int(1), mul(int(2), of)),
        }
    }
}

/// Elements and the ranges they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Template {
    /// `x` holds `[0, x+1)`.
    Prefix,
    /// `x` holds `[0, x)`.
    Before,
    /// `x` holds `[x, x+1)`.
    Single,
    /// `x` holds the last `s` up to itself.
    Window,
    /// `x` holds the last `s` before itself.
    WindowBefore,
    /// `s·q − 1` holds `[s·(q−1), s·q)`.
    Block,
    /// `s·q − 1` holds `[0, s·q)`.
    BlockPrefix,
    /// `s·q − 1` holds `[0, s·(q−1))`.
    BlockBefore,
    /// `p·(2r+1) − 1` holds `[2·p·r, p·(2r+1))` for powers of two `p < s`.
    Levels,
}

/// A clause in the making: `index`, `low` and `high` in terms of the variables.
pub(super) struct Made {
    pub(super) when: Vec<Expr>,
    pub(super) index: Expr,
    pub(super) low: Expr,
    pub(super) high: Expr,
}

impl Template {
    pub(super) const ALL: [Self; 9] = [
        Self::Prefix,
        Self::Before,
        Self::Single,
        Self::Window,
        Self::WindowBefore,
        Self::BlockPrefix,
        Self::BlockBefore,
        Self::Block,
        Self::Levels,
    ];

    /// Whether it depends on a stride.
    pub(super) fn has_stride(self) -> bool {
        !matches!(self, Self::Prefix | Self::Before | Self::Single)
    }

    /// The names of its variables.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Block | Self::BlockPrefix | Self::BlockBefore => &["q"],
            Self::Levels => &["p", "r"],
            _ => &["i"],
        }
    }

    /// The range that element `x` holds, if the template speaks of it.
    pub(super) fn range(self, x: i128, s: i128) -> Option<(i128, i128)> {
        match self {
            Self::Prefix => Some((0, x + 1)),
            Self::Before => Some((0, x)),
            Self::Single => Some((x, x + 1)),
            Self::Window => Some(((x + 1 - s).max(0), x + 1)),
            Self::WindowBefore => Some(((x - s).max(0), x)),
            Self::Block | Self::BlockPrefix | Self::BlockBefore => {
                let q = ((x + 1) % s == 0).then_some((x + 1) / s)?;
                Some(match self {
                    Self::Block => (s * (q - 1), s * q),
                    Self::BlockPrefix => (0, s * q),
                    _ => (0, s * (q - 1)),
                })
            }
            Self::Levels => {
                let p = (x + 1) & -(x + 1);
                (p < s).then_some((x + 1 - p, x + 1))
            }
        }
    }

    /// As a clause about an array of a size, with these variables and this stride.
    pub(super) fn made(self, vars: &[VarId], stride: &Expr, size: Expr) -> Made {
        let own = |number: usize| var(vars[number], Type::Whole);
        let s = || stride.clone();
        let less = |one, two| compare(Compare::Lt, one, two);
        let at_most = |one, two| compare(Compare::Le, one, two);
        let greatest = |one, two| binary(Binary::Max, one, two);
        match self {
            Self::Prefix | Self::Before | Self::Single | Self::Window | Self::WindowBefore => {
                let i = || own(0);
                let when = vec![at_most(int(0), i()), less(i(), size)];
                let after = || add(i(), int(1));
                let (low, high) = match self {
                    Self::Prefix => (int(0), after()),
                    Self::Before => (int(0), i()),
                    Self::Single => (i(), after()),
                    Self::Window => (greatest(int(0), sub(after(), s())), after()),
                    _ => (greatest(int(0), sub(i(), s())), i()),
                };
                Made { when, index: i(), low, high }
            }
            Self::Block | Self::BlockPrefix | Self::BlockBefore => {
                let end = || mul(s(), own(0));
                let start = || mul(s(), sub(own(0), int(1)));
                let when = vec![at_most(int(1), own(0)), at_most(end(), size)];
                let (low, high) = match self {
                    Self::Block => (start(), end()),
                    Self::BlockPrefix => (int(0), end()),
                    _ => (int(0), start()),
                };
                let index = sub(end(), int(1));
                Made { when, index, low, high }
            }
            Self::Levels => {
                let (p, r) = (|| own(0), || own(1));
                let end = || mul(p(), add(mul(int(2), r()), int(1)));
                let when =
                    vec![is_pow2(p()), less(p(), s()), at_most(int(0), r()), at_most(end(), size)];
                let low = mul(int(2), mul(p(), r()));
                let index = sub(end(), int(1));
                Made { when, index, low, high: end() }
            }
        }
    }
}
