//! Runs one symbolic thread through the kernel a second time, to collect the values of its stores.
//!
//! Integers, conditions and loops are those of the engine; in addition each floating-point variable has a [`Value`].
//! The result is the list of stores, each with its guard, its place in the kernel and its value. Loads stay symbolic
//! until `resolve.rs` looks them up.
//!
//! Long: one pass over the kinds of statements, read together.

use super::super::Engine;
use super::super::state::{Mode, State, SymbolicValue};
use super::extremes;
use super::finite::is_exponential;
use super::finiteness::Finiteness;
use super::kernel_summary::{ClaimCase, KernelSummary, LoopRecord, Read, StoreSite, Test};
use super::lookups::with_zeros;
use super::value::{Atom, Fold, Load, Piece, Point, Value, conversion_name};
use crate::clause::{self, Clause, Monoid};
use crate::engine::state::{OpaqueComparison, Operation};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::{Index, Span};
use kir::{
    Binary, Builtin, Compare, Element, Expr, ExprKind, Space, Stmt, Type, Unary, VarId, is_fetch,
};
use std::collections::BTreeMap;

/// A thread at a point, with its floating-point variables.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Integer variables and the path, as in the engine.
    pub(super) state: State,
    /// Values of floating-point variables, by variable.
    pub(super) reals: Vec<Value>,
}

/// An unsupported part of the kernel: place and message.
pub(super) type Refusal = (Span, String);

/// The pass over a kernel, and what it has collected.
pub(super) struct Runner<'e, 'k> {
    pub(super) engine: &'e mut Engine<'k>,
    /// The number of the kernel.
    pub(super) side: usize,
    /// Set if stores and claims are recorded. Not while recurrences are sought.
    pub(super) records: bool,
    /// The current point, as in [`Point`].
    pub(super) position: Vec<usize>,
    pub(super) loops: Vec<(usize, Sym)>,
    /// Per enclosing loop: is its condition monotone?
    pub(super) monotone: Vec<bool>,
    sites: Vec<StoreSite>,
    reads: Vec<Read>,
    /// Loads and fetches of integers by the symbol of their result.
    pub(super) data: BTreeMap<Sym, (Value, Type)>,
    /// The last number given to an unknown or carried value.
    pub(super) last_number: u32,
    /// Arrays with atomic operations.
    atomics: Vec<kir::ArrayId>,
    /// Tracks that continue at the end of the innermost loop's body.
    pub(super) continues: Vec<Track>,
    /// Clauses of loops, by the number of their loop, and the place of each loop.
    pub(super) clauses: &'e [(usize, Clause)],
    pub(super) places: Vec<Vec<usize>>,
    pub(super) recorded: Vec<LoopRecord>,
    /// Obligations of annotations in the kernel's body.
    pub(super) claims: Vec<ClaimCase>,
    /// Numbers of iterations that are quotients, as in [`KernelSummary`].
    pub(super) lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// Comparisons of real numbers.
    tests: Vec<Test>,
}

/// Runs the kernel of a prepared engine, with clauses of its loops, each with the number of its loop.
pub(super) fn run(
    engine: &mut Engine<'_>,
    entry: State,
    side: usize,
    clauses: &[(usize, Clause)],
) -> Result<KernelSummary, Refusal> {
    engine.mode = Mode::Probe;
    let kernel = engine.kernel;
    // A different atom for each: two unassigned variables are not equal.
    let nothing = |number: u32| Value::atom(Atom::Unknown("an unassigned variable".into(), number));
    let last_number = u32::try_from(kernel.vars.len()).unwrap_or(u32::MAX);
    let mut reals: Vec<Value> = (0..last_number).map(nothing).collect();
    for var in kernel.scalars.iter().filter(|var| kernel.vars[**var].ty == Type::Float) {
        reals[var.position()] = Value::atom(Atom::Scalar(kernel.vars[*var].name.clone()));
    }
    let symbols = |engine: &Engine<'_>, builtin: Builtin| -> Vec<Sym> {
        (0..3).filter_map(|axis| engine.builtin(builtin, axis).as_symbol()).collect()
    };
    let (threads, blocks) = (symbols(engine, Builtin::Thread), symbols(engine, Builtin::Block));
    let mut runner = Runner {
        engine,
        side,
        records: true,
        position: Vec::new(),
        loops: Vec::new(),
        monotone: Vec::new(),
        sites: Vec::new(),
        reads: Vec::new(),
        data: BTreeMap::new(),
        last_number,
        atomics: Vec::new(),
        continues: Vec::new(),
        clauses,
        places: clause::loops(kernel).into_iter().map(|(place, _)| place).collect(),
        recorded: Vec::new(),
        claims: Vec::new(),
        lengths: BTreeMap::new(),
        tests: Vec::new(),
    };
    runner.run(&kernel.body, Track { state: entry, reals })?;
    let (sites, reads, atomics) = (runner.sites, runner.reads, runner.atomics);
    let (loops, claims) = (runner.recorded, runner.claims);
    let (lengths, tests) = (runner.lengths, runner.tests);
    let spaces = kernel.arrays.iter().map(|one| one.space).collect();
    let names = kernel.arrays.iter().map(|one| one.name.clone()).collect();
    Ok(KernelSummary {
        sites,
        reads,
        threads,
        blocks,
        spaces,
        names,
        atomics,
        loops,
        claims,
        lengths,
        tests,
    })
}

impl Runner<'_, '_> {
    pub(super) fn run(
        &mut self,
        statements: &[Stmt],
        track: Track,
    ) -> Result<Option<Track>, Refusal> {
        let mut track = track;
        for (position, statement) in statements.iter().enumerate() {
            if track.state.path.contains(&Formula::False) {
                return Ok(None);
            }
            self.position.push(position);
            let next = self.statement(statement, track);
            self.position.pop();
            match next? {
                Some(next) => track = next,
                None => return Ok(None),
            }
        }
        Ok(Some(track))
    }

    /// Runs a statement; `None` if no thread gets past it.
    fn statement(&mut self, statement: &Stmt, mut track: Track) -> Result<Option<Track>, Refusal> {
        match statement {
            Stmt::Assign(var, expr) if self.is_real(*var) => {
                track.reals[var.position()] = self.value(expr, &track);
            }
            Stmt::Assign(var, expr) => {
                // As in the first pass, which proved that what feeds an index does not overflow.
                let strict = self.engine.relevant[var.position()];
                let value = self.engine.eval(expr, &track.state, strict);
                self.record_fetch(expr, &value, &track);
                track.state.vars[var.position()] = value;
            }
            Stmt::Load(var, element) => self.load(*var, element, &mut track),
            Stmt::Store(element, expr) => {
                self.store(element, expr, &track);
                track.state.passed_barriers.forget(element.array);
            }
            Stmt::Atomic { result, element, .. } => {
                self.atomics.push(element.array);
                let index = self.index(element, &track);
                self.record_read(element, &index, &track);
                track.state.passed_barriers.forget(element.array);
                let unknown = self.unknown("the result of an atomic operation");
                track.reals[result.position()] = unknown;
                let ty = self.engine.kernel.arrays[element.array].element;
                let level = arith::symbols::Level::Thread;
                track.state.vars[result.position()] = match ty {
                    Type::Float | Type::Bool => self.engine.untracked(level),
                    _ => SymbolicValue::Int(self.engine.unknown("atomic", level, ty)),
                };
            }
            Stmt::Unknown(var) | Stmt::Bits(var, ..) => {
                track.reals[var.position()] = self.unknown("a value that is not followed");
                track.state.vars[var.position()] = self.engine.unknown_of(*var);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.condition(condition, &track);
                let mut ends = Vec::new();
                let conditions = [condition.clone(), condition.not()];
                for (number, part) in [then, otherwise].into_iter().enumerate() {
                    if conditions[number] == Formula::False {
                        continue;
                    }
                    let mut inner = track.clone();
                    inner.state.path.push(conditions[number].clone());
                    self.position.push(number);
                    let end = self.run(part, inner);
                    self.position.pop();
                    ends.extend(end?);
                }
                return Ok(self.join_tracks(ends));
            }
            Stmt::Loop(inner) => return self.run_loop(inner, track),
            Stmt::Claims(claims) => {
                self.claim_at_barrier(claims, &track);
                self.engine.pass_barrier(claims, &mut track.state);
            }
            Stmt::Given(given) => self.engine.pass_call(given, &mut track.state),
            Stmt::Barrier(_) | Stmt::Warp(_) | Stmt::Assert(_) => {}
            Stmt::Used(condition, lemma) => {
                self.engine.use_lemma((condition, *lemma), &track.state);
            }
            Stmt::Assume(condition) => {
                let fact = self.engine.condition(condition, &track.state);
                track.state.path.push(fact);
            }
            Stmt::Return => return Ok(None),
            Stmt::Continue => {
                self.continues.push(track);
                return Ok(None);
            }
            Stmt::Break => return Ok(None),
        }
        Ok(Some(track))
    }

    /// Evaluates a condition, and records the real numbers that it compares.
    fn condition(&mut self, condition: &Expr, track: &Track) -> Formula {
        self.engine.opaque_comparisons = Some(Vec::new());
        let formula = self.engine.condition(condition, &track.state);
        for OpaqueComparison { sym, compare, left, right } in
            self.engine.opaque_comparisons.take().unwrap_or_default()
        {
            let (left, right) = (self.value(&left, track), self.value(&right, track));
            self.tests.push(Test { sym, compare, left, right });
        }
        formula
    }

    /// Returns a select of two values as their maximum or minimum, if its condition compares the two.
    fn select(&self, condition: &Formula, values: [&Value; 2]) -> Option<Value> {
        let extreme = self.tests.iter().rev().find_map(|test| {
            let holds = Formula::holds(test.sym);
            let [chosen, other] = match () {
                () if *condition == holds => values,
                () if *condition == holds.not() => [values[1], values[0]],
                () => return None,
            };
            let is_left = match () {
                () if (chosen, other) == (&test.left, &test.right) => true,
                () if (chosen, other) == (&test.right, &test.left) => false,
                () => return None,
            };
            let is_greater = match test.compare {
                Compare::Gt | Compare::Ge => is_left,
                Compare::Lt | Compare::Le => !is_left,
                Compare::Eq | Compare::Ne => return None,
            };
            let name = if is_greater { "max" } else { "min" };
            Some(extremes::of_two(name, chosen.clone(), other.clone()))
        });
        extreme.or_else(|| extremes::select(condition, values))
    }

    pub(super) fn is_real(&self, var: VarId) -> bool {
        self.engine.kernel.vars[var].ty == Type::Float
    }

    pub(super) fn unknown(&mut self, why: &str) -> Value {
        self.last_number += 1;
        Value::atom(Atom::Unknown(why.to_owned(), self.last_number))
    }

    pub(super) fn point(&self) -> Point {
        Point { position: self.position.clone(), loops: self.loops.clone() }
    }

    fn index(&mut self, element: &Element, track: &Track) -> Vec<Poly> {
        let level = arith::symbols::Level::Thread;
        let mut index = Vec::new();
        for expr in &element.index {
            index.push(match self.engine.eval(expr, &track.state, true) {
                SymbolicValue::Int(poly) => poly,
                _ => self.engine.unknown("index", level, expr.ty),
            });
        }
        index
    }

    fn load(&mut self, var: VarId, element: &Element, track: &mut Track) {
        let index = self.index(element, track);
        self.record_read(element, &index, track);
        let array = &self.engine.kernel.arrays[element.array];
        let ty = array.element;
        let unwritten = !self.engine.written[element.array.position()];
        let value = if unwritten && array.space == Space::Global {
            Value::atom(Atom::Input(element.array, index.clone()))
        } else {
            let (side, array, span) = (self.side, element.array, element.span);
            let load = Load { side, array, index: index.clone(), point: self.point(), span };
            Value::atom(Atom::Load(Box::new(load)))
        };
        match ty {
            Type::Float => track.reals[var.position()] = value,
            _ => {
                let loaded = self.engine.load(element, index, ty, &track.state.passed_barriers);
                if let SymbolicValue::Int(poly) = &loaded
                    && let Some(sym) = poly.as_symbol()
                {
                    self.data.insert(sym, (value, ty));
                }
                track.state.vars[var.position()] = loaded;
            }
        }
    }

    /// Records a read of shared or local memory, for the proof that it is initialised.
    fn record_read(&mut self, element: &Element, index: &[Poly], track: &Track) {
        let is_global = self.engine.kernel.arrays[element.array].space == Space::Global;
        if self.records && !is_global {
            let (path, point) = (track.state.path.clone(), self.point());
            let (array, index, span) = (element.array, index.to_vec(), element.span);
            self.reads.push(Read { array, index, path, point, span });
        }
    }

    fn store(&mut self, element: &Element, expr: &Expr, track: &Track) {
        let index = self.index(element, track);
        let ty = self.engine.kernel.arrays[element.array].element;
        let value = match ty {
            Type::Float => self.value(expr, track),
            _ => match self.engine.eval(expr, &track.state, false) {
                SymbolicValue::Int(poly) => self.integer(&poly, ty),
                SymbolicValue::Bool(formula) => Value::atom(Atom::Truth(formula)),
                SymbolicValue::Untracked(..) => self.unknown("an integer made of a real number"),
            },
        };
        if self.records {
            let (path, point) = (track.state.path.clone(), self.point());
            let (array, span, monotone) = (element.array, element.span, self.monotone.clone());
            self.sites.push(StoreSite { array, index, path, point, value, span, monotone });
        }
    }

    /// An integer stored as type `to`: right modulo 2^bits.
    fn integer(&mut self, poly: &Poly, to: Type) -> Value {
        let value = Value::of_poly(poly, &mut |sym| self.datum(sym, to));
        value.unwrap_or_else(|| self.unknown("a value that is too large"))
    }

    /// Returns the data behind a symbol: a load, or a select of two loads.
    pub(super) fn data_of(&self, sym: Sym) -> Option<(Value, Type)> {
        self.data.get(&sym).cloned()
    }

    /// Returns the value of a symbol that was computed from loads.
    fn datum(&self, sym: Sym, to: Type) -> Option<Value> {
        let width = |ty: Type| if let Type::Int { bits, .. } = ty { bits } else { 128 };
        let Some((value, from)) = self.data.get(&sym) else { return self.combined(sym, to) };
        // A load has the machine's number; the stored value equals that number only modulo 2^bits.
        match width(*from) >= width(to) {
            true => Some(value.clone()),
            false => {
                Some(Value::atom(Atom::Call(conversion_name("wrap", *from), vec![value.clone()])))
            }
        }
    }

    /// Returns the value of an associative operation on two machine integers of a type.
    fn combined(&self, sym: Sym, ty: Type) -> Option<Value> {
        let result_symbol = Poly::symbol(sym);
        let (operation, _) =
            self.engine.operations.iter().find(|(_, result)| **result == result_symbol)?;
        let (name, operands) = match operation {
            // A function operates on whole numbers of its own type.
            Operation::Combine(name, a, b) if self.combines(name, ty) => (name.as_str(), [a, b]),
            Operation::Max(a, b) => ("max", [a, b]),
            Operation::Min(a, b) => ("min", [a, b]),
            Operation::Opaque("or", a, b) => ("|", [a, b]),
            Operation::Opaque("and", a, b) => ("&", [a, b]),
            Operation::Opaque("xor", a, b) => ("^", [a, b]),
            _ => return None,
        };
        // Unlike sums, these depend on all bits of their operands, so each must be a machine integer of the type.
        let mut pieces = Vec::new();
        for operand in operands {
            let loaded = operand.as_symbol().and_then(|one| self.data.get(&one));
            let value = match (loaded, operand.as_symbol(), operand.as_constant()) {
                (Some((value, from)), _, _) if *from == ty => value.clone(),
                (None, Some(one), _) => self.combined(one, ty)?,
                (None, None, Some(number)) if ty.holds(number) => Value::constant(number),
                _ => return None,
            };
            pieces.push(Piece::One(value));
        }
        let op = Monoid::called(name, self.engine.kernel).for_type(ty);
        let unit = op.unit(ty, self.engine.kernel);
        Some(Value::atom(Atom::Fold(Box::new(Fold { op, unit, pieces }))))
    }

    /// Returns `true` if a monoid of the file has this name and this type.
    fn combines(&self, name: &str, ty: Type) -> bool {
        self.engine.kernel.monoids.iter().any(|one| one.name == name && one.result.ty == ty)
    }

    /// Records the operands of integers that are a select of two values.
    fn record_joined_data(&mut self, condition: &Formula, sides: [&State; 2], joined: &State) {
        for (position, now) in joined.vars.iter().enumerate() {
            let ([SymbolicValue::Int(one), SymbolicValue::Int(two)], SymbolicValue::Int(now)) =
                (sides.map(|side| &side.vars[position]), now)
            else {
                continue;
            };
            let Some(sym) = now.as_symbol().filter(|_| one != two) else { continue };
            let made = |poly: &Poly| poly.symbols().iter().any(|one| self.data.contains_key(one));
            if self.data.contains_key(&sym) || !made(one) && !made(two) {
                continue;
            }
            let ty = self.engine.kernel.vars[Index::from_position(position)].ty;
            let (one, two) = (self.integer(one, ty), self.integer(two, ty));
            if let Some(value) = Value::select(condition, &one, &two) {
                self.data.insert(sym, (value, ty));
            }
        }
    }

    /// Evaluates a floating-point expression.
    pub(super) fn value(&mut self, expr: &Expr, track: &Track) -> Value {
        let value = match &expr.kind {
            ExprKind::Float(value) => Some(Value::number(*value)),
            #[expect(clippy::cast_precision_loss, reason = "a literal of the source")]
            ExprKind::Int(value) => Some(Value::number(*value as f64)),
            ExprKind::Var(var) => Some(track.reals[var.position()].clone()),
            ExprKind::Unary(Unary::Neg, inner) => {
                self.value(inner, track).times(&Value::constant(-1))
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, track), self.value(right, track));
                binary(*operator, left, right)
            }
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.condition(condition, track);
                let (then, otherwise) = (self.value(then, track), self.value(otherwise, track));
                self.select(&condition, [&then, &otherwise])
            }
            ExprKind::Convert(inner) if inner.ty == Type::Float => Some(self.value(inner, track)),
            ExprKind::Convert(inner) => Some(self.converted(inner, track)),
            ExprKind::Combine(monoid, arguments) => {
                let pieces = arguments.iter().map(|one| Piece::One(self.value(one, track)));
                let pieces = pieces.collect();
                let op = Monoid::called(&monoid.name, self.engine.kernel);
                let unit = op.unit(expr.ty, self.engine.kernel);
                Some(Value::atom(Atom::Fold(Box::new(Fold { op, unit, pieces }))))
            }
            ExprKind::Call(name, arguments) if is_fetch(name) => self.fetch(name, arguments, track),
            ExprKind::Call(name, arguments) => {
                let values: Vec<Value> =
                    arguments.iter().map(|one| self.value(one, track)).collect();
                apply_function(name, values)
            }
            _ => None,
        };
        value.unwrap_or_else(|| self.unknown("a value that is not followed"))
    }

    /// Converts an integer to a real number.
    pub(super) fn converted(&mut self, inner: &Expr, track: &Track) -> Value {
        match self.engine.eval(inner, &track.state, false) {
            SymbolicValue::Int(poly) => {
                let value = self.integer(&poly, Type::Whole);
                let range = inner.ty.range().map(|(low, high)| {
                    let above = poly.offset(-low).map_or(Formula::False, Formula::ge);
                    let below = poly.scaled(-1).and_then(|one| one.offset(high));
                    Formula::and([above, below.map_or(Formula::False, Formula::ge)])
                });
                let fits =
                    range.is_none_or(|range| self.engine.prover.proves(&track.state.path, &range));
                match fits {
                    true => value,
                    false => {
                        Value::atom(Atom::Call(conversion_name("real", inner.ty), vec![value]))
                    }
                }
            }
            SymbolicValue::Bool(formula) => Value::atom(Atom::Truth(formula)),
            SymbolicValue::Untracked(..) => self.unknown("a value that is not followed"),
        }
    }

    /// Merges several tracks, as the engine joins states.
    pub(super) fn join_tracks(&mut self, tracks: Vec<Track>) -> Option<Track> {
        let mut tracks = tracks.into_iter();
        let mut all = tracks.next()?;
        for next in tracks {
            let pairs = all.state.path.iter().zip(&next.state.path);
            let base = pairs.take_while(|(one, other)| one == other).count();
            let rest = all.state.path.get(base..).unwrap_or_default().iter().cloned();
            let condition = Formula::and(rest);
            let mut reals = Vec::with_capacity(all.reals.len());
            for (one, other) in all.reals.iter().zip(&next.reals) {
                let joined = match one == other {
                    true => Some(one.clone()),
                    false => self.select(&condition, [one, other]),
                };
                reals.push(joined.unwrap_or_else(|| self.unknown("a value that is too large")));
            }
            let sides = [all.state, next.state];
            let state = self.engine.join_states(sides.to_vec())?;
            self.record_joined_data(&condition, sides.each_ref(), &state);
            all = Track { state, reals };
        }
        Some(all)
    }
}

/// Applies a mathematical function of real numbers.
pub(super) fn apply_function(name: &str, values: Vec<Value>) -> Option<Value> {
    match (name, &values[..]) {
        ("fma", [a, b, c]) => {
            let product = binary(Binary::Mul, a.clone(), b.clone())?;
            binary(Binary::Add, product, c.clone())
        }
        ("fdivide", [a, b]) => binary(Binary::Div, a.clone(), b.clone()),
        ("fmin", [a, b]) => binary(Binary::Min, a.clone(), b.clone()),
        ("fmax", [a, b]) => binary(Binary::Max, a.clone(), b.clone()),
        (name, [exponent])
            if is_exponential(name) && exponent.finiteness() == Finiteness::OrMinusInfinity =>
        {
            Some(Value::atom(Atom::Call(name.to_owned(), values)))
        }
        _ if !values.iter().all(Value::is_plain) => None,
        _ => Some(Value::atom(Atom::Call(name.to_owned(), values))),
    }
}

/// Applies an operator; `None` if the operation is unsupported.
pub(super) fn binary(operator: Binary, left: Value, right: Value) -> Option<Value> {
    let result = computed(operator, left.clone(), right.clone())?;
    with_zeros(result, [&left, &right])
}

/// Like [`binary`], for loads that are real numbers.
fn computed(operator: Binary, left: Value, right: Value) -> Option<Value> {
    let numbers = left.is_finite() && right.is_finite();
    let finiteness = (left.finiteness(), right.finiteness());
    match operator {
        Binary::Add if finiteness.0.or(finiteness.1) == Finiteness::Unknown => None,
        Binary::Sub if finiteness.0.or(finiteness.1.negated()) == Finiteness::Unknown => None,
        Binary::Mul if !numbers && !left.is_constant() && !right.is_constant() => None,
        Binary::Div if !left.is_finite() || !right.is_plain() => None,
        Binary::Add => left.plus(&right),
        Binary::Sub => left.minus(&right),
        Binary::Mul => left.times(&right),
        Binary::Div => left.times(&right.inverse()?),
        Binary::Min | Binary::Max => {
            let name = if operator == Binary::Min { "min" } else { "max" };
            Some(extremes::of_two(name, left, right))
        }
        _ => None,
    }
}
