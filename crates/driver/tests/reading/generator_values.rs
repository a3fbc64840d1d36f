//! Values: expressions with their known bounds, and the operators that make larger ones.
//!
//! An operator returns `None` if C++ would not define the result, if the order of evaluation would matter and is not
//! fixed, and, in programs that do not wrap, if a value would not fit.

use super::features::Feature;
use super::generator::{Writer, standard};
use super::tree::{Bounds, Node, Role};
use super::types::Type;

/// Precedence, higher binds closer.
pub(crate) mod level {
    pub(crate) const COMMA: u8 = 1;
    pub(crate) const ASSIGN: u8 = 2;
    pub(crate) const OR: u8 = 3;
    pub(crate) const AND: u8 = 4;
    pub(crate) const BIT_OR: u8 = 5;
    pub(crate) const BIT_XOR: u8 = 6;
    pub(crate) const BIT_AND: u8 = 7;
    pub(crate) const EQUAL: u8 = 8;
    pub(crate) const COMPARE: u8 = 9;
    pub(crate) const SHIFT: u8 = 11;
    pub(crate) const ADD: u8 = 12;
    pub(crate) const MULTIPLY: u8 = 13;
    pub(crate) const UNARY: u8 = 15;
    pub(crate) const POSTFIX: u8 = 16;
    pub(crate) const PRIMARY: u8 = 17;
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) node: Node,
    pub(crate) level: u8,
    pub(crate) bounds: Bounds,
    /// It may have wrapped.
    pub(crate) wraps: bool,
    /// Variables that are read and written.
    pub(crate) reads: u128,
    pub(crate) writes: u128,
}

impl Value {
    pub(crate) fn new(text: Node, level: u8, bounds: Bounds) -> Self {
        let node = Node { role: Role::Expression(bounds.clone()), parts: text.parts };
        Self { node, level, bounds, wraps: false, reads: 0, writes: 0 }
    }

    /// A text that is an integer.
    pub(crate) fn integer(
        text: impl Into<String>,
        level: u8,
        ty: Type,
        low: i128,
        high: i128,
    ) -> Self {
        let bounds = Bounds { ty, low, high, grain: 0 };
        Self::new(Node::new(Role::Fixed).text(text), level, bounds)
    }

    pub(crate) fn ty(&self) -> Type {
        self.bounds.ty
    }

    /// Adds the effects of others.
    pub(crate) fn with(mut self, others: &[&Self]) -> Self {
        for other in others {
            self.reads |= other.reads;
            self.writes |= other.writes;
        }
        self
    }

    pub(crate) fn wrapping(mut self, wraps: bool) -> Self {
        self.wraps |= wraps;
        self
    }

    /// Returns `true` if the order of two evaluations is irrelevant.
    pub(crate) fn commutes(&self, other: &Self) -> bool {
        self.writes & (other.reads | other.writes) == 0 && other.writes & self.reads == 0
    }

    /// Range after conversion to an integer type, and if it may have wrapped.
    pub(crate) fn converted(&self, ty: Type) -> (i128, i128, bool) {
        let Bounds { low, high, .. } = self.bounds;
        match ty.holds(low, high) {
            true => (low, high, self.wraps),
            false => (ty.range().0, ty.range().1, true),
        }
    }

    /// The greatest magnitude.
    pub(crate) fn reach(&self) -> i128 {
        self.bounds.low.abs().max(self.bounds.high.abs())
    }

    /// Returns `true` if the value is exact as a float.
    pub(crate) fn is_exact(&self) -> bool {
        let units = self.reach().checked_mul(1 << self.bounds.grain);
        !self.wraps && units.is_some_and(|units| units < 1 << 23)
    }

    /// Returns `true` if an integer is in this range and has not wrapped.
    pub(crate) fn fits(&self, low: i128, high: i128) -> bool {
        !self.wraps && low <= self.bounds.low && self.bounds.high <= high
    }
}

/// The mask of bits that numbers from 0 to `high` use.
fn mask_above(high: i128) -> i128 {
    let mut mask = 1;
    while mask < high {
        mask = mask * 2 + 1;
    }
    mask
}

impl Writer {
    /// The text of an operand, in parentheses if it binds less closely than `level`.
    pub(crate) fn operand(&mut self, value: &Value, level: u8) -> Node {
        let redundant = value.level >= level && self.random.chance(10);
        match value.level < level || redundant {
            true => Node::new(Role::Fixed).text("(").node(value.node.clone()).text(")"),
            false => Node::new(Role::Fixed).node(value.node.clone()),
        }
    }

    fn infix(&mut self, left: &Value, operator: &str, right: &Value, level: u8) -> Node {
        let left = self.operand(left, level);
        let right = self.operand(right, level + 1);
        Node::new(Role::Fixed).node(left).text(format!(" {operator} ")).node(right)
    }

    /// `left operator right` for `+ - * / % & | ^`.
    pub(crate) fn arithmetic(
        &mut self,
        left: &Value,
        operator: &str,
        right: &Value,
    ) -> Option<Value> {
        let ty = left.ty().common(right.ty());
        if !left.commutes(right) {
            return None;
        }
        if ty.is_float() {
            return self.float_arithmetic(left, operator, right);
        }
        let (a, b, left_wraps) = left.converted(ty);
        let (c, d, right_wraps) = right.converted(ty);
        let corners = |f: fn(i128, i128) -> i128| {
            let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
            (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
        };
        let nonnegative = a >= 0 && c >= 0;
        let wide = mask_above(a.abs().max(b.abs()).max(c.abs()).max(d.abs()));
        let mut wraps = left_wraps || right_wraps;
        let (low, high, level) = match operator {
            "+" => (a + c, b + d, level::ADD),
            "-" => (a - d, b - c, level::ADD),
            "*" => {
                let (low, high) = corners(i128::saturating_mul);
                (low, high, level::MULTIPLY)
            }
            "/" | "%" => {
                if c <= 0 && d >= 0 || right_wraps || c < 0 && a == ty.range().0 {
                    return None;
                }
                let most = a.abs().max(b.abs());
                let limit = c.abs().max(d.abs()) - 1;
                let reach = if operator == "%" { most.min(limit) } else { most };
                (if a < 0 || c < 0 && operator == "/" { -reach } else { 0 }, reach, level::MULTIPLY)
            }
            "&" if a >= 0 && b <= d && c >= 0 => (0, b, level::BIT_AND),
            "&" if c >= 0 => (0, d, level::BIT_AND),
            "&" if a >= 0 => (0, b, level::BIT_AND),
            "&" => (-wide - 1, wide, level::BIT_AND),
            "|" => (if nonnegative { 0 } else { -wide - 1 }, wide, level::BIT_OR),
            _ => (if nonnegative { 0 } else { -wide - 1 }, wide, level::BIT_XOR),
        };
        let bitwise = matches!(operator, "&" | "|" | "^");
        let (mut low, mut high) = (low, high);
        if !ty.holds(low, high) {
            if ty.is_signed() {
                return None;
            }
            (low, high) = ty.range();
            wraps = true;
        }
        if wraps && !self.wrapping {
            return None;
        }
        // The bits of a wrapped number are arbitrary.
        let wraps = wraps && !bitwise;
        let node = self.infix(left, operator, right, level);
        let value = Value::new(node, level, Bounds { ty, low, high, grain: 0 });
        Some(value.wrapping(wraps).with(&[left, right]))
    }

    /// A float operation with an exact result: magnitude over grain stays below 2^23.
    fn float_arithmetic(&mut self, left: &Value, operator: &str, right: &Value) -> Option<Value> {
        let ty = left.ty().common(right.ty());
        if !left.is_exact() || !right.is_exact() {
            return None;
        }
        let (one, other) = (left.reach(), right.reach());
        let (grain, high, level) = match operator {
            "+" | "-" => (left.bounds.grain.max(right.bounds.grain), one + other, level::ADD),
            "*" => (left.bounds.grain + right.bounds.grain, one * other, level::MULTIPLY),
            _ => return None,
        };
        if high.checked_shl(grain).is_none_or(|units| units >= 1 << 23) || grain > 8 {
            return None;
        }
        let node = self.infix(left, operator, right, level);
        Some(Value::new(node, level, Bounds { ty, low: 0, high, grain }).with(&[left, right]))
    }

    /// `left << right` or `left >> right`, with a right side less than the width.
    pub(crate) fn shift(&mut self, left: &Value, operator: &str, right: &Value) -> Option<Value> {
        let ty = left.ty().promoted();
        let (low, high, left_wraps) = left.converted(ty);
        let (least, most) = (right.bounds.low, right.bounds.high);
        if ty.is_float() || right.ty().is_float() || right.wraps || !left.commutes(right) {
            return None;
        }
        if least < 0 || most >= i128::from(ty.bits()) || low < 0 && operator == "<<" {
            return None;
        }
        let (mut low, mut high, mut wraps) = match operator {
            "<<" => (low, high << most, left_wraps),
            // Rounds toward minus infinity: large shifts for non-negative edges, small ones for negative.
            _ => {
                let by = |edge: i128, up: bool| if (edge >= 0) == up { least } else { most };
                (low >> by(low, false), high >> by(high, true), left_wraps)
            }
        };
        if !ty.holds(low, high) {
            if ty.is_signed() {
                return None;
            }
            (low, high) = ty.range();
            wraps = true;
        }
        if wraps && !self.wrapping {
            return None;
        }
        let node = self.infix(left, operator, right, level::SHIFT);
        let value = Value::new(node, level::SHIFT, Bounds { ty, low, high, grain: 0 });
        Some(value.wrapping(wraps).with(&[left, right]))
    }

    /// A comparison.
    pub(crate) fn comparison(
        &mut self,
        left: &Value,
        operator: &str,
        right: &Value,
    ) -> Option<Value> {
        let ty = left.ty().common(right.ty());
        if ty.is_float() && !(left.is_exact() && right.is_exact()) {
            return None;
        }
        let wraps = !ty.is_float() && (left.converted(ty).2 || right.converted(ty).2);
        // Overflow is reported when wrapped numbers are compared, so this is rare.
        if wraps && (!self.wrapping || !self.random.chance(3)) || !left.commutes(right) {
            return None;
        }
        let level = if matches!(operator, "==" | "!=") { level::EQUAL } else { level::COMPARE };
        let node = self.infix(left, operator, right, level);
        let bounds = Bounds { ty: Type::Bool, low: 0, high: 1, grain: 0 };
        Some(Value::new(node, level, bounds).with(&[left, right]))
    }

    /// `left && right` or `left || right`; the left side comes first.
    pub(crate) fn connective(
        &mut self,
        left: &Value,
        operator: &str,
        right: &Value,
    ) -> Option<Value> {
        if left.wraps || right.wraps {
            return None;
        }
        let level = if operator == "&&" { level::AND } else { level::OR };
        let spelled =
            match (operator, self.uses(Feature::AlternativeTokens) && self.random.chance(30)) {
                ("&&", true) => "and",
                ("||", true) => "or",
                _ => operator,
            };
        let node = self.infix(left, spelled, right, level);
        let bounds = Bounds { ty: Type::Bool, low: 0, high: 1, grain: 0 };
        Some(Value::new(node, level, bounds).with(&[left, right]))
    }

    /// `condition ? one : other`.
    pub(crate) fn conditional(
        &mut self,
        condition: &Value,
        one: &Value,
        other: &Value,
    ) -> Option<Value> {
        let same = one.ty() == other.ty();
        let ty = if same { one.ty() } else { one.ty().common(other.ty()) };
        let mut bounds =
            Bounds { ty, low: 0, high: 0, grain: one.bounds.grain.max(other.bounds.grain) };
        let mut wraps = false;
        if ty.is_float() {
            if !one.is_exact() || !other.is_exact() {
                return None;
            }
            let all = [one.bounds.low, one.bounds.high, other.bounds.low, other.bounds.high];
            bounds.high = all.into_iter().map(i128::abs).max().unwrap_or(0);
        } else {
            let (a, b, first) = one.converted(ty);
            let (c, d, second) = other.converted(ty);
            (bounds.low, bounds.high, wraps) = (a.min(c), b.max(d), first || second);
        }
        if condition.wraps || wraps && !self.wrapping {
            return None;
        }
        let node = Node::new(Role::Fixed).node(self.operand(condition, level::OR)).text(" ? ");
        let node = node.node(self.operand(one, level::ASSIGN)).text(" : ");
        let node = node.node(self.operand(other, level::ASSIGN));
        Some(Value::new(node, level::ASSIGN, bounds).wrapping(wraps).with(&[condition, one, other]))
    }

    /// A cast to an integer type, in one of its spellings.
    pub(crate) fn cast(&mut self, value: &Value, ty: Type) -> Option<Value> {
        let (low, high, wraps) = match value.ty().is_float() {
            // Toward zero; to a type that has all of them.
            true => {
                let high = value.reach();
                if !ty.holds(-high, high) || ty == Type::Bool {
                    return None;
                }
                (-high, high, false)
            }
            false if ty == Type::Bool && !value.wraps => (0, 1, false),
            false => value.converted(ty),
        };
        if wraps && (!self.wrapping || ty == Type::Bool) {
            return None;
        }
        Some(self.cast_to(value, Bounds { ty, low, high, grain: 0 }).wrapping(wraps))
    }

    /// The text of a cast with a known result.
    pub(crate) fn cast_to(&mut self, value: &Value, bounds: Bounds) -> Value {
        let ty = bounds.ty;
        let name = self.spelled(ty);
        let forms = if self.uses(Feature::Casts) { 3 } else { 1 };
        let (node, level) = match self.random.below(forms) + 3 - forms {
            0 if !ty.name().contains(' ') => {
                let inner = self.operand(value, level::ASSIGN);
                (
                    Node::new(Role::Fixed).text(format!("{}(", ty.name())).node(inner).text(")"),
                    level::POSTFIX,
                )
            }
            1 => {
                let inner = self.operand(value, level::COMMA);
                let node = Node::new(Role::Fixed).text(format!("static_cast<{name}>("));
                (node.node(inner).text(")"), level::POSTFIX)
            }
            _ => {
                let inner = self.operand(value, level::UNARY);
                (Node::new(Role::Fixed).text(format!("({name})")).node(inner), level::UNARY)
            }
        };
        Value::new(node, level, bounds).with(&[value])
    }

    /// An integer from `low` to `high`, made of `value` if possible.
    pub(crate) fn fitted(&mut self, value: &Value, low: i128, high: i128) -> Value {
        if value.fits(low, high) && !value.ty().is_float() {
            return value.clone();
        }
        let whole = match value.ty().is_float() {
            true => self.cast(value, Type::Int),
            false => Some(value.clone()),
        };
        let Some(value) = whole else { return self.literal(Type::Int, low) };
        if value.fits(low, high) {
            return value;
        }
        let span = high - low.max(0);
        let symmetric = low <= -high && high > 0 && value.ty().is_signed() && !value.wraps;
        let made = match symmetric && self.random.chance(50) {
            true => {
                let divisor = self.literal(Type::Int, (high + 1).min(1000));
                self.arithmetic(&value, "%", &divisor)
            }
            false => {
                let mut mask = 1;
                while mask * 2 < span {
                    mask = mask * 2 + 1;
                }
                let mask = self.literal(Type::Int, if span < 1 { 0 } else { mask });
                let masked = self.arithmetic(&value, "&", &mask);
                match (masked, low > 0) {
                    (Some(masked), true) => {
                        let base = self.literal(Type::Int, low);
                        self.arithmetic(&masked, "+", &base)
                    }
                    (masked, _) => masked,
                }
            }
        };
        match made {
            Some(made) if made.fits(low, high) => made,
            _ => self.literal(Type::Int, 0_i128.clamp(low, high)),
        }
    }

    /// A value that a variable of a float type may hold.
    pub(crate) fn fitted_float(&mut self, value: &Value) -> Value {
        let (_, high) = standard(Type::Float);
        if value.ty().is_float() {
            if value.bounds.grain <= 2 && value.reach() <= high {
                return value.clone();
            }
            let Some(whole) = self.cast(value, Type::Int) else {
                return self.literal(Type::Int, 1);
            };
            return self.fitted(&whole, -high, high);
        }
        self.fitted(value, -high, high)
    }
}
