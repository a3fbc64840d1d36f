//! Evaluates constant expressions and `constexpr` functions on the typed tree (\[expr.const\]).
//!
//! Unsigned arithmetic wraps, signed overflow and division by zero have no value. Floats round to their type after
//! each operation; for `+ - * /`, rounding to `f64` and then to `f32` gives the same as rounding once.

use super::analyser::BodyState;
use super::evaluate_numbers::{
    both, compare_numbers, fit, fit_wrapped, integer_operation, round_to_kind,
};
use crate::tree::{
    Binary, Category, Expr, ExprKind, FloatKind, FunctionId, Init, LocalId, Loop, Program, Stmt,
    StmtKind, Switch, Type, Unary,
};
use base::{Index, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// A constant: an integer or a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

/// The reason why an expression has no constant value.
#[derive(Clone, Debug)]
pub(crate) enum NoValue {
    /// It depends on symbols.
    Symbolic,
    /// It is not a constant, or uses an unsupported construct.
    Unknown(Span, &'static str),
    /// Its value is undefined.
    Undefined(Span, &'static str),
    /// A body must be read first.
    Needs(FunctionId),
}

/// The way in which a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<Number>),
}

type Outcome<T> = Result<T, NoValue>;

/// An evaluator with a budget of steps.
pub(crate) struct Evaluator<'p> {
    program: &'p Program,
    bodies: &'p [BodyState],
    constexpr: &'p FxHashSet<FunctionId>,
    locals: FxHashMap<LocalId, Number>,
    steps: u32,
    depth: u32,
}

/// Limit on the steps of one evaluation.
const STEPS: u32 = 100_000;
/// Limit on nested calls.
const CALLS: u32 = 64;

impl<'p> Evaluator<'p> {
    pub(super) fn new(
        program: &'p Program,
        bodies: &'p [BodyState],
        constexpr: &'p FxHashSet<FunctionId>,
    ) -> Self {
        Self { program, bodies, constexpr, locals: FxHashMap::default(), steps: 0, depth: 0 }
    }

    fn tick(&mut self, span: Span) -> Outcome<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(NoValue::Unknown(span, "this constant takes too long to compute"));
        }
        Ok(())
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Outcome<Number> {
        self.tick(expr.span)?;
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(number) => Ok(Number::Int(*number)),
            ExprKind::Float(number) => Ok(Number::Float(*number)),
            ExprKind::Symbol(_) => Err(NoValue::Symbolic),
            ExprKind::Read(inner) => self.read(inner),
            ExprKind::Temporary(inner) => self.value(inner),
            ExprKind::Convert(inner) => {
                let from = self.value(inner)?;
                self.convert(from, &expr.ty, span)
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.value(inner)?;
                self.unary(*op, inner, &expr.ty, span)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.value(left);
                let right = self.value(right);
                let (left, right) = both(left, right)?;
                self.binary(*op, left, right, &expr.ty, span)
            }
            ExprKind::Compare(compare, left, right) => {
                let (left, right) = both(self.value(left), self.value(right))?;
                Ok(Number::Int(i128::from(compare_numbers(*compare, left, right))))
            }
            ExprKind::And(left, right) => match self.truth(left)? {
                false => Ok(Number::Int(0)),
                true => self.truth(right).map(|one| Number::Int(i128::from(one))),
            },
            ExprKind::Or(left, right) => match self.truth(left)? {
                true => Ok(Number::Int(1)),
                false => self.truth(right).map(|one| Number::Int(i128::from(one))),
            },
            ExprKind::Select(condition, one, other) => match self.truth(condition)? {
                true => self.value(one),
                false => self.value(other),
            },
            ExprKind::Comma(left, right) => {
                self.effect(left)?;
                self.value(right)
            }
            ExprKind::Assign(..) | ExprKind::AssignOp { .. } | ExprKind::Step { .. } => {
                self.effect(expr)
            }
            ExprKind::Call(function, arguments) => match self.call(*function, arguments, span)? {
                Some(number) => Ok(number),
                None => Err(NoValue::Unknown(span, "this is not a constant")),
            },
            ExprKind::Intrinsic(name, arguments) => self.intrinsic(name, arguments, expr),
            _ => Err(NoValue::Unknown(span, "this is not a constant")),
        }
    }

    fn truth(&mut self, expr: &Expr) -> Outcome<bool> {
        Ok(match self.value(expr)? {
            Number::Int(number) => number != 0,
            Number::Float(number) => number != 0.0,
        })
    }

    fn read(&mut self, place: &Expr) -> Outcome<Number> {
        match &place.kind {
            ExprKind::Local(id) => match self.locals.get(id) {
                Some(number) => Ok(*number),
                None => Err(NoValue::Unknown(
                    place.span,
                    "the value of this variable is not a constant",
                )),
            },
            ExprKind::Temporary(inner) => self.value(inner),
            ExprKind::Comma(..) | ExprKind::Assign(..) | ExprKind::AssignOp { .. } => {
                self.effect(place)
            }
            ExprKind::Step { is_prefix: true, .. } => self.effect(place),
            ExprKind::Call(..) => self.value(place),
            ExprKind::Select(condition, one, other) => match self.truth(condition)? {
                true => self.read(one),
                false => self.read(other),
            },
            _ => Err(NoValue::Unknown(place.span, "this is not a constant")),
        }
    }

    /// Evaluates an expression for its effect; returns its value, or that of the place it names.
    fn effect(&mut self, expr: &Expr) -> Outcome<Number> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Assign(place, from) => {
                let from = self.value(from)?;
                self.store(place, from)
            }
            ExprKind::AssignOp { op, ty, place, value } => {
                let right = self.value(value)?;
                let left = self.read(place)?;
                let left = self.convert(left, ty, span)?;
                let made = self.binary(*op, left, right, ty, span)?;
                let made = self.convert(made, &place.ty, span)?;
                self.store(place, made)
            }
            ExprKind::Step { add, is_prefix, place } => {
                let before = self.read(place)?;
                let one = match before {
                    Number::Int(_) => Number::Int(1),
                    Number::Float(_) => Number::Float(1.0),
                };
                let op = if *add { Binary::Add } else { Binary::Sub };
                let after = match (before, &place.ty) {
                    // A narrow integer is stepped in `int` and converted back.
                    (Number::Int(number), Type::Int(kind)) if kind.bits() < 32 => {
                        Number::Int(kind.wrap(if *add { number + 1 } else { number - 1 }))
                    }
                    _ => self.binary(op, before, one, &place.ty, span)?,
                };
                self.store(place, after)?;
                Ok(if *is_prefix { after } else { before })
            }
            ExprKind::Comma(left, right) => {
                self.effect(left)?;
                self.effect(right)
            }
            ExprKind::Convert(inner) if expr.ty == Type::Void => self.effect(inner),
            ExprKind::Local(_) => self.read(expr),
            ExprKind::Call(function, arguments) => {
                Ok(self.call(*function, arguments, span)?.unwrap_or(Number::Int(0)))
            }
            _ => self.value(expr),
        }
    }

    fn store(&mut self, place: &Expr, number: Number) -> Outcome<Number> {
        match &place.kind {
            ExprKind::Local(id) if self.depth > 0 && self.locals.contains_key(id) => {
                self.locals.insert(*id, number);
                Ok(number)
            }
            _ => Err(NoValue::Unknown(place.span, "this is not a constant")),
        }
    }

    fn convert(&self, from: Number, to: &Type, span: Span) -> Outcome<Number> {
        let underlying = match to {
            Type::Enum(id) => self.program.enums.get(*id).map(|one| one.underlying),
            Type::Int(kind) => Some(*kind),
            _ => None,
        };
        Ok(match (from, to) {
            (Number::Int(number), Type::Bool) => Number::Int(i128::from(number != 0)),
            (Number::Float(number), Type::Bool) => Number::Int(i128::from(number != 0.0)),
            (_, Type::Float(kind)) => {
                #[expect(clippy::cast_precision_loss, reason = "rounding is what is meant")]
                let wide = match from {
                    Number::Int(number) if *kind == FloatKind::Float => f64::from(number as f32),
                    Number::Int(number) => number as f64,
                    Number::Float(number) => number,
                };
                Number::Float(round_to_kind(wide, *kind, span)?)
            }
            (Number::Int(number), _) => match underlying {
                Some(kind) => Number::Int(kind.wrap(number)),
                None => return Err(NoValue::Unknown(span, "this is not a constant")),
            },
            (Number::Float(number), _) => match underlying {
                Some(kind) if number.is_finite() && number.abs() < 1e30 => {
                    #[expect(clippy::cast_possible_truncation, reason = "it is small enough")]
                    let integer = number.trunc() as i128;
                    if kind.wrap(integer) != integer {
                        return Err(NoValue::Undefined(span, "this number does not fit the type"));
                    }
                    Number::Int(integer)
                }
                _ => return Err(NoValue::Undefined(span, "this number does not fit the type")),
            },
        })
    }

    fn unary(&self, op: Unary, inner: Number, ty: &Type, span: Span) -> Outcome<Number> {
        match (op, inner) {
            (Unary::Not, Number::Int(number)) => Ok(Number::Int(i128::from(number == 0))),
            (Unary::Neg, Number::Float(number)) => Ok(Number::Float(-number)),
            (Unary::Neg, Number::Int(number)) => fit(-number, ty, span),
            (Unary::Complement, Number::Int(number)) => fit_wrapped(!number, ty, span),
            _ => Err(NoValue::Unknown(span, "this is not a constant")),
        }
    }

    fn binary(
        &self,
        op: Binary,
        left: Number,
        right: Number,
        ty: &Type,
        span: Span,
    ) -> Outcome<Number> {
        match (left, right) {
            (Number::Int(left), Number::Int(right)) => integer_operation(op, left, right, ty, span),
            (Number::Float(left), Number::Float(right)) => {
                let made = match op {
                    Binary::Add => left + right,
                    Binary::Sub => left - right,
                    Binary::Mul => left * right,
                    Binary::Div if right != 0.0 => left / right,
                    _ => return Err(NoValue::Unknown(span, "this is not a constant")),
                };
                match ty {
                    Type::Float(kind) => Ok(Number::Float(round_to_kind(made, *kind, span)?)),
                    _ => Err(NoValue::Unknown(span, "this is not a constant")),
                }
            }
            _ => Err(NoValue::Unknown(span, "this is not a constant")),
        }
    }

    fn intrinsic(&mut self, name: &str, arguments: &[Expr], expr: &Expr) -> Outcome<Number> {
        let mut numbers = Vec::new();
        for one in arguments {
            numbers.push(self.value(one)?);
        }
        match (name, &numbers[..]) {
            ("min", [Number::Int(one), Number::Int(other)]) => Ok(Number::Int(*one.min(other))),
            ("max", [Number::Int(one), Number::Int(other)]) => Ok(Number::Int(*one.max(other))),
            ("abs", [Number::Int(one)]) => fit(one.abs(), &expr.ty, expr.span),
            _ => Err(NoValue::Unknown(expr.span, "this is not a constant")),
        }
    }

    fn call(
        &mut self,
        function: FunctionId,
        arguments: &[Expr],
        span: Span,
    ) -> Outcome<Option<Number>> {
        if !self.constexpr.contains(&function) {
            return Err(NoValue::Unknown(
                span,
                "a call of a function that is not `constexpr` is not a constant",
            ));
        }
        match self.bodies.get(function.position()) {
            Some(BodyState::Read) => {}
            Some(BodyState::Waiting(_)) => return Err(NoValue::Needs(function)),
            _ => return Err(NoValue::Unknown(span, "this is not a constant")),
        }
        let Some(callee) = self.program.functions.get(function) else {
            return Err(NoValue::Unknown(span, "this is not a constant"));
        };
        if self.depth >= CALLS {
            return Err(NoValue::Unknown(span, "this constant is nested too deeply"));
        }
        let mut frame = FxHashMap::default();
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            let local = callee.locals.get(*parameter);
            let by_reference = local.is_some_and(|one| one.is_reference);
            // A write through it would have to reach the caller's variable.
            if by_reference && !local.is_some_and(|one| one.is_const) {
                return Err(NoValue::Unknown(span, "this is not a constant"));
            }
            let number = match by_reference {
                true => self.read(argument)?,
                false => self.value(argument)?,
            };
            frame.insert(*parameter, number);
        }
        let outer = std::mem::replace(&mut self.locals, frame);
        self.depth += 1;
        let flow = self.block(&callee.body);
        self.depth -= 1;
        self.locals = outer;
        match flow? {
            Flow::Return(number) => Ok(number),
            _ => Ok(None),
        }
    }

    fn block(&mut self, stmts: &[Stmt]) -> Outcome<Flow> {
        for stmt in stmts {
            match self.stmt(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Outcome<Flow> {
        self.tick(stmt.span)?;
        match &stmt.kind {
            StmtKind::Declare(local, init) => {
                let number = match init {
                    Some(Init::Expr(expr)) => self.value(expr)?,
                    Some(Init::Zero) => Number::Int(0),
                    _ => return Err(NoValue::Unknown(stmt.span, "this is not a constant")),
                };
                self.locals.insert(*local, number);
                Ok(Flow::Next)
            }
            StmtKind::Expr(expr) => self.effect(expr).map(|_| Flow::Next),
            StmtKind::If(condition, then, otherwise) => match self.truth(condition)? {
                true => self.block(then),
                false => self.block(otherwise),
            },
            StmtKind::Loop(inner) => self.run_loop(inner),
            StmtKind::Switch(inner) => self.switch(inner),
            StmtKind::Block(inner) => self.block(inner),
            StmtKind::Return(None) => Ok(Flow::Return(None)),
            StmtKind::Return(Some(expr)) => {
                let number = match expr.category {
                    Category::Place => self.read(expr)?,
                    Category::Value => self.value(expr)?,
                };
                Ok(Flow::Return(Some(number)))
            }
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Clauses(_) => Ok(Flow::Next),
        }
    }

    fn run_loop(&mut self, inner: &Loop) -> Outcome<Flow> {
        self.block(&inner.init)?;
        let mut first = inner.tests_after;
        loop {
            if let Some(condition) = &inner.condition
                && !std::mem::take(&mut first)
                && !self.truth(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.block(&inner.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                returned @ Flow::Return(_) => return Ok(returned),
            }
            if let Some(step) = &inner.step {
                self.effect(step)?;
            }
            self.tick(Span::default())?;
        }
    }

    fn switch(&mut self, inner: &Switch) -> Outcome<Flow> {
        let Number::Int(number) = self.value(&inner.value)? else {
            return Err(NoValue::Unknown(inner.value.span, "this is not a constant"));
        };
        let arms = &inner.arms;
        let chosen = arms.iter().position(|arm| arm.values.contains(&number));
        let chosen = chosen.or_else(|| arms.iter().position(|arm| arm.is_default));
        for arm in arms.iter().skip(chosen.unwrap_or(arms.len())) {
            match self.block(&arm.body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }
}
