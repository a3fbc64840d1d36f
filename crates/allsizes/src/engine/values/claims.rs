//! Translates claims about elements and real numbers into values. An equation `b[i] == e` becomes two [`Value`]s.
//! Elements at the end of the launch are loads after everything else; elements before it are inputs.
//!
//! Variables of `\forall` become symbols, with the conditions of the claim as facts. Claims are over unbounded
//! integers, so a conversion that may change a number is refused here. The only exception converts both sides of an
//! equation to the type of an element: the equation then holds modulo 2^bits. Assumed conditions on data are dropped;
//! the proof is then of a stronger claim.

use super::super::Engine;
use super::super::state::{Mode, State, SymbolicValue};
use super::collect_stores::{Track, apply_function, binary};
use super::finiteness::Finiteness;
use super::kernel_summary::{CaseGoal, ClaimCase, Test};
use super::not_followed::NotFollowed;
use super::value::{self, Atom, Entry, Load, Piece, Point, Sum, Value, conversion_name};
use crate::clause::Monoid;
use crate::engine::state::OpaqueComparison;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::{Index, Span};
use kir::spec::{self, Goal};
use kir::{
    ArrayId, Binary, Builtin, Claim, Compare, Expr, ExprKind, Fold, FoldOp, Space, Type, Unary,
    VarId, When,
};

/// Reads annotations at a program point, in a state.
pub(super) struct Reader<'e, 'k> {
    pub(super) engine: &'e mut Engine<'k>,
    pub(super) state: State,
    /// Values of floating-point variables, if known.
    pub(super) reals: Vec<Value>,
    pub(super) point: Point,
    /// Entry of the loop that the claim mentions, with the block and iterations around it.
    entry: Option<(Point, Vec<Sym>)>,
    pub(super) side: usize,
    /// Set for a claim about an arbitrary thread: the counts of its loops.
    pub(super) counts: Option<Vec<Sym>>,
    /// Conditions that named elements exist, as in [`ClaimCase`].
    pub(super) inside: Vec<(Vec<Formula>, Formula, String)>,
    /// Comparisons of real numbers that are assumed.
    pub(super) tests: Vec<Test>,
    /// What contents before a loop may be where they are read now. It is checked when they are looked up.
    entry_finiteness: Finiteness,
}

pub(super) type ReadResult<T> = Result<T, NotFollowed>;

pub(super) fn refuse<T>(why: NotFollowed) -> ReadResult<T> {
    Err(why)
}

fn too_large() -> NotFollowed {
    NotFollowed::TooLarge
}

impl<'e, 'k> Reader<'e, 'k> {
    /// Creates a reader for claims about the end of the launch.
    pub(super) fn of_end(engine: &'e mut Engine<'k>, state: State) -> Self {
        engine.mode = Mode::Probe;
        let point = Point { position: vec![usize::MAX], loops: Vec::new() };
        let (reals, inside) = (Vec::new(), Vec::new());
        let (entry, tests) = (None, Vec::new());
        let entry_finiteness = Finiteness::Finite;
        Self {
            engine,
            state,
            reals,
            point,
            entry,
            side: 0,
            counts: None,
            inside,
            tests,
            entry_finiteness,
        }
    }

    /// Creates a reader for claims about a thread in mid-run.
    pub(super) fn of_thread(
        engine: &'e mut Engine<'k>,
        track: &Track,
        point: Point,
        side: usize,
    ) -> Self {
        let counts = Some(point.loops.iter().map(|(_, count)| *count).collect());
        let (state, reals) = (track.state.clone(), track.reals.clone());
        let (entry, inside, tests) = (None, Vec::new(), Vec::new());
        let entry_finiteness = Finiteness::Finite;
        Self { engine, state, reals, point, entry, side, counts, inside, tests, entry_finiteness }
    }

    /// Returns the obligation that an expression has this value. Other values depend on it.
    pub(super) fn value_case(&mut self, value: &Value, expr: &Expr, span: Span) -> ClaimCase {
        self.inside.clear();
        let wanted = match self.term(expr, Type::Float) {
            Ok(term) => CaseGoal::Equal(value.clone(), term, Type::Float),
            Err(why) => CaseGoal::Nothing(why),
        };
        ClaimCase { is_used: true, ..self.obligation(wanted, span) }
    }

    fn obligation(&mut self, wanted: CaseGoal, span: Span) -> ClaimCase {
        let known = self.state.path.clone();
        let (inside, counts) = (std::mem::take(&mut self.inside), self.counts.clone());
        let (second, tests) = (Vec::new(), std::mem::take(&mut self.tests));
        let side = self.side;
        ClaimCase { known, wanted, inside, span, side, counts, second, tests, is_used: false }
    }

    /// Returns an expression's value if it is the same at every point.
    pub(super) fn steady(&mut self, expr: &Expr) -> Option<Value> {
        let value = self.term(expr, Type::Float).ok()?;
        let mut steady = true;
        value.visit(&mut |atom| steady &= !matches!(atom, Atom::Load(_)));
        steady.then_some(value)
    }

    /// Creates a reader for claims about a loop, at this point and with these values of variables.
    pub(super) fn of_loop(
        engine: &'e mut Engine<'k>,
        state: State,
        (point, side): (Point, usize),
    ) -> Self {
        let blocks = (0..3).filter_map(|axis| engine.builtin(Builtin::Block, axis).as_symbol());
        let mut around: Vec<Sym> =
            blocks.chain(point.loops.iter().map(|(_, count)| *count)).collect();
        around.sort();
        Self { entry: Some((point, around)), side, ..Self::of_end(engine, state) }
    }

    /// Returns the obligations of all cases of a claim.
    pub(super) fn claim_cases(&mut self, claim: &Claim) -> Vec<ClaimCase> {
        spec::goals(claim).into_iter().map(|goal| self.case(claim, &goal)).collect()
    }

    fn case(&mut self, claim: &Claim, goal: &Goal) -> ClaimCase {
        let before = self.state.clone();
        self.inside.clear();
        let wanted = self.bind(&claim.forall, &goal.assumed).and_then(|()| self.goal(goal));
        let wanted = wanted.unwrap_or_else(CaseGoal::Nothing);
        let case = self.obligation(wanted, claim.span);
        self.state = before;
        case
    }

    /// Creates symbols for variables, with their assumptions.
    pub(super) fn bind(&mut self, vars: &[VarId], assumed: &[Expr]) -> ReadResult<()> {
        for var in vars {
            let range = spec::range(*var, assumed);
            // Bounds by other variables of the claim are known as conditions.
            let bound = |reader: &mut Self, expr: &Expr, by: i128| {
                let poly = reader.integer(expr).ok()?.offset(by)?;
                let level = reader.engine.prover.symbols.level(&poly);
                (level == Level::Launch).then_some(poly)
            };
            let low = range.low.iter().find_map(|one| bound(self, one, 0));
            let high = range
                .high
                .iter()
                .find_map(|(one, is_value)| bound(self, one, if *is_value { 0 } else { -1 }));
            let name = self.engine.kernel.vars[*var].name.clone();
            let sym = self.engine.prover.symbols.bounded(name, Level::Block, low, high);
            self.state.vars[var.position()] = SymbolicValue::Int(Poly::symbol(sym));
        }
        let bound = vars.iter().filter_map(|var| match &self.state.vars[var.position()] {
            SymbolicValue::Int(poly) => Some(poly.clone()),
            _ => None,
        });
        let bound: Vec<Poly> = bound.collect();
        let facts = self.engine.instantiate_lemmas(&bound);
        self.state.path.extend(facts);
        for condition in assumed {
            // An unsupported expression becomes an unknown value, so that nothing wrong is assumed.
            self.engine.elements = !spec::is_exact(condition);
            self.engine.opaque_comparisons = Some(Vec::new());
            let formula = self.engine.condition(condition, &self.state);
            self.engine.elements = false;
            for OpaqueComparison { sym, compare, left, right } in
                self.engine.opaque_comparisons.take().unwrap_or_default()
            {
                let sides = self
                    .term(&left, Type::Float)
                    .and_then(|one| Ok((one, self.term(&right, Type::Float)?)));
                // An unsupported comparison is not used.
                if let Ok((left, right)) = sides {
                    self.tests.push(Test { sym, compare, left, right });
                }
            }
            self.state.path.extend(formula.conjuncts().iter().cloned());
        }
        Ok(())
    }

    fn goal(&mut self, whole: &Goal) -> ReadResult<CaseGoal> {
        let goal = &whole.goal;
        if spec::is_exact(goal) {
            return Ok(CaseGoal::Holds(self.engine.condition(goal, &self.state)));
        }
        // Assumptions about contents are used only for relations between numbers (`relation`).
        let data = whole.assumed.iter().any(|one| !spec::is_scalar(one));
        // But an element whose index contains sums is looked up; there, the assumptions show which thread stored it.
        let placed = spec::find(goal, |inner| match &inner.kind {
            ExprKind::Element(_, _, index) => index.iter().any(|one| !spec::is_scalar(one)),
            _ => false,
        });
        let data = data && placed.is_none();
        match &goal.kind {
            ExprKind::Compare(Compare::Eq, left, right) if !data => {
                let ty = left.ty;
                Ok(CaseGoal::Equal(self.term(left, ty)?, self.term(right, ty)?, ty))
            }
            ExprKind::Compare(Compare::Eq, left, right) => {
                let ty = left.ty;
                let equal = self.relation(whole);
                equal.or_else(|_| {
                    Ok(CaseGoal::Equal(self.term(left, ty)?, self.term(right, ty)?, ty))
                })
            }
            _ => self.relation(whole),
        }
    }

    /// Reads an integer expression over variables, sizes of the launch and prefix sums.
    pub(super) fn integer(&mut self, expr: &Expr) -> ReadResult<Poly> {
        if !spec::is_exact(expr) && !self.is_summed(expr) {
            return refuse(NotFollowed::IntegerOfElements);
        }
        match self.engine.eval(expr, &self.state, false) {
            SymbolicValue::Int(poly) => Ok(poly),
            _ => refuse(NotFollowed::Number),
        }
    }

    /// Returns `true` if an expression consists of integers and prefix sums.
    fn is_summed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Fold(fold) => {
                self.engine.summed_array(fold, &self.state).is_some() && spec::is_exact(&fold.high)
            }
            ExprKind::Binary(Binary::Add | Binary::Sub | Binary::Mul, left, right) => {
                self.is_summed(left) && self.is_summed(right)
            }
            ExprKind::Convert(inner) if spec::widens(inner.ty, expr.ty) => self.is_summed(inner),
            _ => spec::is_exact(expr),
        }
    }

    /// Reads the value of an expression; an integer is right modulo 2^bits of `to`.
    pub(super) fn term(&mut self, expr: &Expr, to: Type) -> ReadResult<Value> {
        if expr.ty != Type::Float && spec::is_exact(expr) {
            let poly = self.integer(expr)?;
            return Value::of_poly(&poly, &mut |_| None).ok_or_else(too_large);
        }
        match &expr.kind {
            ExprKind::Float(value) => Ok(Value::number(*value)),
            #[expect(clippy::cast_precision_loss, reason = "a literal of the source")]
            ExprKind::Int(value) => Ok(Value::number(*value as f64)),
            ExprKind::Var(var) => self.real_variable(*var),
            ExprKind::Unary(Unary::Neg, inner) => {
                self.term(inner, to)?.times(&Value::constant(-1)).ok_or_else(too_large)
            }
            ExprKind::Binary(operator, left, right) => {
                let ring = matches!(operator, Binary::Add | Binary::Sub | Binary::Mul);
                if expr.ty != Type::Float && !ring {
                    return refuse(NotFollowed::ElementIntegers);
                }
                let (left, right) = (self.term(left, to)?, self.term(right, to)?);
                binary(*operator, left, right).ok_or_else(too_large)
            }
            ExprKind::Select(condition, then, otherwise) => {
                if !spec::is_exact(condition) {
                    return refuse(NotFollowed::ChoiceByElements);
                }
                let condition = self.engine.condition(condition, &self.state);
                let then = self.under(condition.clone(), |reader| reader.term(then, to))?;
                let not = condition.clone().not();
                let otherwise = self.under(not, |reader| reader.term(otherwise, to))?;
                Value::select(&condition, &then, &otherwise).ok_or_else(too_large)
            }
            ExprKind::Convert(inner) => match (inner.ty, expr.ty) {
                (Type::Float, Type::Float) => self.term(inner, to),
                (Type::Float, _) => refuse(NotFollowed::IntegerOfReal),
                // A real number converted from an integer uses the whole machine integer.
                (_, Type::Float) => self.term(inner, Type::Whole),
                // Only the conversion of an equation to its type may wrap.
                (_, ty) if ty == to || spec::widens(inner.ty, ty) => self.term(inner, to),
                _ => refuse(NotFollowed::Conversion),
            },
            ExprKind::Call(name, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.term(argument, Type::Float)?);
                }
                apply_function(name, values).ok_or_else(too_large)
            }
            ExprKind::Element(array, when, index) => {
                let value = self.element(*array, *when, index, expr.span)?;
                let from = expr.ty;
                Ok(match width(from) >= width(to) || from == Type::Float {
                    true => value,
                    false => Value::atom(Atom::Call(conversion_name("wrap", from), vec![value])),
                })
            }
            ExprKind::Fold(fold) => self.fold(fold, to),
            _ => refuse(NotFollowed::Value),
        }
    }

    /// Reads under a condition.
    fn under<T>(&mut self, condition: Formula, read: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.state.path.len();
        self.state.path.push(condition);
        let result = read(self);
        self.state.path.truncate(depth);
        result
    }

    fn real_variable(&mut self, var: VarId) -> ReadResult<Value> {
        let kernel = self.engine.kernel;
        match self.reals.get(var.position()) {
            Some(value) => Ok(value.clone()),
            None if kernel.scalars.contains(&var) => {
                Ok(Value::atom(Atom::Scalar(kernel.vars[var].name.clone())))
            }
            None => refuse(NotFollowed::NoValue),
        }
    }

    pub(super) fn element(
        &mut self,
        array: ArrayId,
        when: When,
        index: &[Expr],
        span: Span,
    ) -> ReadResult<Value> {
        let mut at = Vec::new();
        for one in index {
            at.push(self.integer(&spec::index(one))?);
        }
        let path = self.state.path.clone();
        self.element_at((array, when), at, path, span)
    }

    /// Like `element`, with indices as polynomials and under the conditions in `path`.
    pub(super) fn element_at(
        &mut self,
        (array, when): (ArrayId, When),
        at: Vec<Poly>,
        path: Vec<Formula>,
        span: Span,
    ) -> ReadResult<Value> {
        let declared = &self.engine.kernel.arrays[array];
        let (name, space) = (declared.name.clone(), declared.space);
        let sizes = self.engine.sizes[array.position()].clone();
        for (place, size) in at.iter().zip(sizes) {
            let below = size.and_then(|size| size.minus(place)?.offset(-1));
            let Some(below) = below else { return refuse(NotFollowed::NoSize) };
            let goal = Formula::and([Formula::ge(place.clone()), Formula::ge(below)]);
            self.inside.push((path.clone(), goal, name.clone()));
        }
        if let (When::LoopEntry, Some((point, around))) = (when, &self.entry) {
            let around = around.iter().map(|digit| (*digit, Poly::symbol(*digit))).collect();
            let (side, point, index) = (self.side, point.clone(), at);
            let finiteness = self.entry_finiteness;
            let entry = Entry { side, point, array, index, around, finiteness };
            return Ok(Value::atom(Atom::Entry(Box::new(entry))));
        }
        if when == When::LoopEntry {
            return refuse(NotFollowed::BeforeLoop);
        }
        let unwritten = !self.engine.written[array.position()] && space == Space::Global;
        if when == When::Before || unwritten {
            return match space {
                Space::Global => Ok(Value::atom(Atom::Input(array, at))),
                _ => refuse(NotFollowed::SharedBefore),
            };
        }
        let (point, side) = (self.point.clone(), self.side);
        Ok(Value::atom(Atom::Load(Box::new(Load { side, array, index: at, point, span }))))
    }

    /// Reads a fold, with its bound variable shifted to begin at 0.
    fn fold(&mut self, fold: &Fold, to: Type) -> ReadResult<Value> {
        if fold.op != FoldOp::Add && !is_of(&fold.body, to) {
            return refuse(NotFollowed::Fold);
        }
        let (low, high) = (self.integer(&fold.low)?, self.integer(&fold.high)?);
        let digit = self.engine.prover.symbols.fresh("k", Level::Thread);
        let digit_value = Poly::symbol(digit);
        let place = digit_value.plus(&low).ok_or_else(too_large)?;
        let length = high.minus(&low).ok_or_else(too_large)?;
        let below =
            length.minus(&digit_value).and_then(|one| one.offset(-1)).ok_or_else(too_large)?;
        let range = Formula::and([Formula::ge(digit_value), Formula::ge(below)]);
        let before =
            std::mem::replace(&mut self.state.vars[fold.var.position()], SymbolicValue::Int(place));
        let of_elements = match fold.op {
            FoldOp::Max if to == Type::Float => Finiteness::OrMinusInfinity,
            FoldOp::Min if to == Type::Float => Finiteness::OrPlusInfinity,
            _ => Finiteness::Finite,
        };
        let around = std::mem::replace(&mut self.entry_finiteness, of_elements);
        let body = self.under(range, |reader| reader.term(&fold.body, to));
        self.entry_finiteness = around;
        self.state.vars[fold.var.position()] = before;
        let sum = Sum { digit, high: length, body: body? };
        if fold.op == FoldOp::Add {
            return Ok(Value::atom(Atom::Sum(Box::new(sum))));
        }
        let op = Monoid::of(&fold.op, self.engine.kernel).for_type(to);
        let unit = op.unit(to, self.engine.kernel);
        let pieces = vec![Piece::Run(sum)];
        Ok(Value::atom(Atom::Fold(Box::new(value::Fold { op, unit, pieces }))))
    }
}

/// Returns `true` if an expression has this type before it is widened.
fn is_of(expr: &Expr, ty: Type) -> bool {
    match &expr.kind {
        ExprKind::Convert(inner) if spec::widens(inner.ty, expr.ty) => is_of(inner, ty),
        _ => expr.ty == ty,
    }
}

fn width(ty: Type) -> u8 {
    if let Type::Int { bits, .. } = ty { bits } else { 128 }
}
