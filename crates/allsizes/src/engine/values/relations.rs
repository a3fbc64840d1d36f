//! Conditions on elements of integer arrays: inequalities, disjunctions, consequences of contents.
//!
//! Each element becomes a symbol of its type. The final value of the element is a polynomial over inputs. If that is
//! proved to be in the range of the type, it is the machine's number, and the symbol is equal to it. Inputs are
//! symbols, too, with the contract's requirements on contents as facts. The condition is then one of integers.

use super::super::Engine;
use super::super::eval::in_type;
use super::super::input_contents::contents;
use super::claims::{ReadResult, Reader, refuse};
use super::instance::Instance;
use super::kernel_summary::{CaseGoal, MachineNumber};
use super::not_followed::NotFollowed;
use super::resolve::{Resolver, Unresolved, too_large};
use super::value::{Atom, Ratio, Sum, Value};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::Index;
use kir::spec::{self, Goal};
use kir::{ArrayId, Expr, ExprKind, Type, When, visit};

impl Reader<'_, '_> {
    /// Translates a case of a claim into a condition on numbers.
    pub(super) fn relation(&mut self, goal: &Goal) -> ReadResult<CaseGoal> {
        if self.counts.is_some() {
            return refuse(NotFollowed::OnlyEquations);
        }
        let mut implication = goal.goal.clone();
        for one in goal.assumed.iter().filter(|one| !spec::is_scalar(one)) {
            let kind = ExprKind::Or(Box::new(spec::negated(one)), Box::new(implication));
            implication = Expr { kind, ty: Type::Bool, span: goal.goal.span };
        }
        let mut places: Vec<(ArrayId, When, Vec<Expr>, Type)> = Vec::new();
        let mut other = None;
        visit(&implication, &mut |inner| match &inner.kind {
            ExprKind::Element(array, when, index) => {
                places.push((*array, *when, index.clone(), inner.ty));
            }
            ExprKind::Quantified(..) | ExprKind::Fold(_) | ExprKind::Other(_) => {
                other = Some(NotFollowed::FoldCompared);
            }
            _ if inner.ty == Type::Float => other = Some(NotFollowed::RealsCompared),
            _ => {}
        });
        if let Some(other) = other {
            return refuse(other);
        }
        if spec::converts(&without_indices(&implication)) {
            return refuse(NotFollowed::Conversion);
        }
        let mut elements = Vec::new();
        let mut named: Vec<(ArrayId, When, Poly)> = Vec::new();
        for (array, when, index, ty) in places {
            let [at] = &index[..] else { return refuse(NotFollowed::ArrayOfArrays) };
            let place = self.integer(&spec::index(at))?;
            let value = self.element(array, when, &index, goal.goal.span)?;
            let written = self.engine.written[array.position()];
            let clash = |one: &&(ArrayId, When, Poly)| one.0 == array && one.2 == place;
            match named.iter().find(clash) {
                Some((_, known, _)) if *known == when || !written => continue,
                Some(_) => return refuse(NotFollowed::BeforeAndAfter),
                None => named.push((array, when, place.clone())),
            }
            let sym = symbol(self.engine, "element", ty);
            self.engine.named.push((array, place, Poly::symbol(sym)));
            elements.push(MachineNumber { sym, value, ty, of_other: false });
        }
        let formula = self.engine.condition(&implication, &self.state);
        self.engine.named.clear();
        Ok(CaseGoal::Relates(formula, elements))
    }
}

/// Creates the symbol of a number of a type.
fn symbol(engine: &mut Engine<'_>, name: &str, ty: Type) -> Sym {
    let range = ty.range().map(|(low, high)| (Poly::constant(low), Poly::constant(high)));
    let (low, high) = range.unzip();
    engine.prover.symbols.bounded(name, Level::Block, low, high)
}

/// Replaces every index by 0: conversions inside indices do not matter here.
fn without_indices(expr: &Expr) -> Expr {
    let mut copy = expr.clone();
    clear(&mut copy);
    copy
}

fn clear(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Element(_, _, index) => index.clear(),
        ExprKind::Unary(_, inner) | ExprKind::Convert(inner) => clear(inner),
        ExprKind::Binary(_, left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => {
            clear(left);
            clear(right);
        }
        ExprKind::Select(condition, then, otherwise) => {
            clear(condition);
            clear(then);
            clear(otherwise);
        }
        _ => {}
    }
}

impl Resolver {
    /// Proves a condition on the contents of elements.
    pub(super) fn relates(
        &mut self,
        engine: &mut Engine<'_>,
        (formula, elements): (&Formula, &[MachineNumber]),
        (who, other, side): (&Instance, &Instance, usize),
        known: &[Formula],
    ) -> Result<(), Unresolved> {
        let mut all = known.to_vec();
        for MachineNumber { sym, value, ty, of_other } in elements {
            let whose = if *of_other { other } else { who };
            let symbol_value = self.poly(&Poly::symbol(*sym), who).ok_or_else(too_large)?;
            let value = self.instantiate(value, whose, side, known, 0)?;
            let Some(number) = self.as_polynomial(engine, &value, &mut all) else { continue };
            if self.proves(&all, &in_type(&number, *ty)) {
                all.extend(symbol_value.minus(&number).map(Formula::eq));
            }
        }
        let mut query = all.clone();
        query.push(formula.clone());
        std::mem::swap(&mut engine.prover, &mut self.prover);
        all.extend(engine.instantiate_for_pairs(&query));
        std::mem::swap(&mut engine.prover, &mut self.prover);
        if self.proves(&all, formula) {
            return Ok(());
        }
        Err(Unresolved::Open(None, format!("this claim: {}", self.formula_text(formula))))
    }

    /// Converts a value to a polynomial over integers, if it is one; adds the facts about its inputs.
    fn as_polynomial(
        &mut self,
        engine: &mut Engine<'_>,
        value: &Value,
        known: &mut Vec<Formula>,
    ) -> Option<Poly> {
        let mut sum = Poly::default();
        for (product, ratio) in &value.terms {
            if ratio.bottom != 1 {
                return None;
            }
            let mut one = Poly::constant(ratio.top);
            for (atom, power) in product {
                let factor = match atom {
                    Atom::Int(sym) => Poly::symbol(*sym),
                    Atom::Input(array, index) => self.input_symbol(engine, *array, index, known)?,
                    Atom::Sum(sum) => self.as_prefix_sums(engine, sum, known)?,
                    _ => return None,
                };
                for _ in 0..*power {
                    one = one.times(&factor)?;
                }
            }
            sum = sum.plus(&one)?;
        }
        Some(sum)
    }

    /// Returns the symbol of an input, with the contract's requirements on it.
    fn input_symbol(
        &mut self,
        engine: &mut Engine<'_>,
        array: ArrayId,
        index: &[Poly],
        known: &mut Vec<Formula>,
    ) -> Option<Poly> {
        let ty = engine.kernel.arrays[array].element;
        if !matches!(ty, Type::Int { .. }) {
            return None;
        }
        let key = (array, index.to_vec());
        std::mem::swap(&mut engine.prover, &mut self.prover);
        let sym = match self.inputs.get(&key) {
            Some(sym) => *sym,
            None => symbol(engine, "input", ty),
        };
        let element = Poly::symbol(sym);
        let facts = engine.required_of_element(array, index, &element);
        if !engine.written[array.position()] {
            engine.prover.symbols.get_mut(sym).element = Some((contents(array), index.to_vec()));
        }
        std::mem::swap(&mut engine.prover, &mut self.prover);
        self.inputs.insert(key, sym);
        known.extend(facts);
        Some(element)
    }

    /// Returns a sum of consecutive elements of an input as the difference of two prefix sums.
    fn as_prefix_sums(
        &mut self,
        engine: &mut Engine<'_>,
        sum: &Sum,
        known: &[Formula],
    ) -> Option<Poly> {
        let (product, ratio) = sum.body.terms.first_key_value()?;
        let ([(Atom::Input(array, index), 1)], 1) = (&product[..], sum.body.terms.len()) else {
            return None;
        };
        let [at] = &index[..] else { return None };
        let low = at.minus(&Poly::symbol(sum.digit))?;
        if *ratio != Ratio::ONE || low.mentions(sum.digit) || !engine.is_input(*array) {
            return None;
        }
        let first = self.proves(known, &Formula::eq(low.clone()));
        let follow = Formula::and([Formula::ge(low.clone()), Formula::ge(sum.high.clone())]);
        if !first && !self.proves(known, &follow) {
            return None;
        }
        let high = if first { sum.high.clone() } else { sum.high.plus(&low)? };
        std::mem::swap(&mut engine.prover, &mut self.prover);
        let all = engine.prefix_of(*array, &high);
        let before = if first { Some(Poly::default()) } else { engine.prefix_of(*array, &low) };
        std::mem::swap(&mut engine.prover, &mut self.prover);
        all?.minus(&before?)
    }
}
