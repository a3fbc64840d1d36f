//! Templates: which elements hold which range of a fold, as functions of a stride.
//!
//! Each template exists in two forms: as numbers, to compare it with a run, and as a clause with an index that can be
//! inverted. `(x+1) % s == 0` becomes `x = s·q − 1`, and `lowbit(x+1) < s` becomes `x = p·(2r+1) − 1` with a power of
//! two `p < s`.

use super::build::{add, binary, compare, int, is_pow2, mul, sub, var, whole};
use super::combine::Range;
use kir::{Binary, Compare, Expr, Type, VarId};

/// A stride computed from a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Double,
    /// Twice the variable, at least 1.
    DoubleOrOne,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Double, Self::DoubleOrOne];

    pub(super) fn value(self, variable: i128) -> i128 {
        match self {
            Self::Plain => variable,
            Self::Double => 2 * variable,
            Self::DoubleOrOne => (2 * variable).max(1),
        }
    }

    pub(super) fn expr(self, variable: Expr) -> Expr {
        match self {
            Self::Plain => variable,
            Self::Double => mul(int(2), variable),
            Self::DoubleOrOne => binary(Binary::Max, int(1), mul(int(2), variable)),
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
    /// `s·q` holds `[s·q, s·(q+1))`.
    Start,
    /// Like `Start`; the last range ends with the array.
    StartCut,
    /// `x < s` holds `x`, `x + s`, `x + 2s`, …; `s` divides the size.
    Class,
    /// `p·(2r+1) − 1` holds `[2·p·r, p·(2r+1))` for powers of two `p < s`.
    Levels,
}

/// A clause under construction: `index`, `low` and `high` in terms of the variables.
pub(super) struct ClauseParts {
    pub(super) when: Vec<Expr>,
    pub(super) index: Expr,
    pub(super) low: Expr,
    pub(super) high: Expr,
    /// Set if the range counts elements: the first element and the distance.
    pub(super) class: Option<(Expr, Expr)>,
}

impl Template {
    pub(super) const ALL: [Self; 12] = [
        Self::Prefix,
        Self::Before,
        Self::Single,
        Self::Window,
        Self::WindowBefore,
        Self::BlockPrefix,
        Self::BlockBefore,
        Self::Block,
        Self::Start,
        Self::StartCut,
        Self::Class,
        Self::Levels,
    ];

    /// Returns `true` if it depends on a stride.
    pub(super) fn has_stride(self) -> bool {
        !matches!(self, Self::Prefix | Self::Before | Self::Single)
    }

    /// The names of its variables.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Block | Self::BlockPrefix | Self::BlockBefore | Self::Start | Self::StartCut => {
                &["q"]
            }
            Self::Levels => &["p", "r"],
            _ => &["i"],
        }
    }

    /// The range that element `x` holds, if the template covers it.
    pub(super) fn range(self, x: i128, s: i128, size: i128) -> Option<Range> {
        let (low, high) = match self {
            Self::Class => {
                let range = Range { low: x, high: size, step: s };
                return (x < s && size % s == 0).then_some(range);
            }
            Self::Start => (x % s == 0 && x + s <= size).then_some((x, x + s)),
            Self::StartCut => (x % s == 0).then_some((x, size.min(x + s))),
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
        }?;
        Some(Range::new(low, high))
    }

    /// Builds a clause about an array of a size, with these variables and this stride.
    pub(super) fn clause_parts(self, vars: &[VarId], stride: &Expr, size: Expr) -> ClauseParts {
        let digit = |number: usize| var(vars[number], Type::Whole);
        let size = whole(size);
        let s = || stride.clone();
        let less = |one, two| compare(Compare::Lt, one, two);
        let at_most = |one, two| compare(Compare::Le, one, two);
        let greatest = |one, two| binary(Binary::Max, one, two);
        match self {
            Self::Prefix | Self::Before | Self::Single | Self::Window | Self::WindowBefore => {
                let i = || digit(0);
                let when = vec![at_most(int(0), i()), less(i(), size)];
                let after = || add(i(), int(1));
                let (low, high) = match self {
                    Self::Prefix => (int(0), after()),
                    Self::Before => (int(0), i()),
                    Self::Single => (i(), after()),
                    Self::Window => (greatest(int(0), sub(after(), s())), after()),
                    _ => (greatest(int(0), sub(i(), s())), i()),
                };
                ClauseParts { when, index: i(), low, high, class: None }
            }
            Self::Class => {
                let i = || digit(0);
                let when = vec![at_most(int(0), i()), less(i(), s())];
                let high = binary(Binary::Div, size, s());
                ClauseParts { when, index: i(), low: int(0), high, class: Some((i(), s())) }
            }
            Self::Start | Self::StartCut => {
                let (start, end) = (|| mul(s(), digit(0)), || mul(s(), add(digit(0), int(1))));
                let inside = match self {
                    Self::Start => at_most(end(), size.clone()),
                    _ => less(start(), size.clone()),
                };
                let high = match self {
                    Self::Start => end(),
                    _ => binary(Binary::Min, end(), size),
                };
                let when = vec![at_most(int(0), digit(0)), inside];
                ClauseParts { when, index: start(), low: start(), high, class: None }
            }
            Self::Block | Self::BlockPrefix | Self::BlockBefore => {
                let end = || mul(s(), digit(0));
                let start = || mul(s(), sub(digit(0), int(1)));
                let when = vec![at_most(int(1), digit(0)), at_most(end(), size)];
                let (low, high) = match self {
                    Self::Block => (start(), end()),
                    Self::BlockPrefix => (int(0), end()),
                    _ => (int(0), start()),
                };
                let index = sub(end(), int(1));
                ClauseParts { when, index, low, high, class: None }
            }
            Self::Levels => {
                let (p, r) = (|| digit(0), || digit(1));
                let end = || mul(p(), add(mul(int(2), r()), int(1)));
                let when =
                    vec![is_pow2(p()), less(p(), s()), at_most(int(0), r()), at_most(end(), size)];
                let low = mul(int(2), mul(p(), r()));
                let index = sub(end(), int(1));
                ClauseParts { when, index, low, high: end(), class: None }
            }
        }
    }
}
