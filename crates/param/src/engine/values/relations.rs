//! Conditions on numbers that elements of integer arrays hold: inequalities, disjunctions, what follows from contents.
//!
//! Each element becomes a symbol of its type. What the kernel leaves there is a polynomial over inputs; if that is shown to be
//! in the range of the type, it is the machine's number, and the symbol is equal to it. Inputs are symbols, too, of which the
//! contract's demands on contents are known. The condition is then one of integers.

use super::super::Engine;
use super::super::eval::in_type;
use super::claims::{Read, Reader, Wanted, refuse};
use super::instance::Instance;
use super::resolve::{Resolver, Stop};
use super::value::{Atom, Value};
use crate::kir::{ArrayId, Expr, ExprKind, Type, When};
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};
use crate::logic::symbols::Level;
use crate::relevance::visit;
use crate::spec::{self, Goal};
use base::Index;

impl Reader<'_, '_> {
    /// A case of a claim as a condition on numbers.
    pub(super) fn relation(&mut self, goal: &Goal) -> Read<Wanted> {
        if self.counts.is_some() {
            return refuse("only equations are followed here");
        }
        let mut whole = goal.goal.clone();
        for one in goal.assumed.iter().filter(|one| !spec::is_scalar(one)) {
            let kind = ExprKind::Or(Box::new(spec::negated(one)), Box::new(whole));
            whole = Expr { kind, ty: Type::Bool, span: goal.goal.span };
        }
        let mut places: Vec<(ArrayId, When, Vec<Expr>, Type)> = Vec::new();
        let mut other = None;
        visit(&whole, &mut |inner| match &inner.kind {
            ExprKind::Element(array, when, index) => {
                places.push((*array, *when, index.clone(), inner.ty));
            }
            ExprKind::Quantified(..) | ExprKind::Fold(_) | ExprKind::Other(_) => {
                other = Some("a fold or quantifier in a comparison");
            }
            _ if inner.ty == Type::Float => other = Some("a comparison of real numbers"),
            _ => {}
        });
        if let Some(other) = other {
            return refuse(other);
        }
        if spec::converts(&without_indices(&whole)) {
            return refuse("a conversion that may change a number");
        }
        let mut elements = Vec::new();
        let mut named: Vec<(ArrayId, When, Poly)> = Vec::new();
        for (array, when, index, ty) in places {
            let [at] = &index[..] else { return refuse("an element of an array of arrays") };
            let place = self.integer(&spec::index(at))?;
            let value = self.element(array, when, &index, goal.goal.span)?;
            let written = self.engine.written[array.position()];
            let clash = |one: &&(ArrayId, When, Poly)| one.0 == array && one.2 == place;
            match named.iter().find(clash) {
                Some((_, known, _)) if *known == when || !written => continue,
                Some(_) => return refuse("an element before and after in a comparison"),
                None => named.push((array, when, place.clone())),
            }
            let sym = symbol(self.engine, "element", ty);
            self.engine.named.push((array, place, Poly::symbol(sym)));
            elements.push((sym, value, ty));
        }
        let formula = self.engine.condition(&whole, &self.state);
        self.engine.named.clear();
        Ok(Wanted::Relates(formula, elements))
    }
}

/// A number of a type.
fn symbol(engine: &mut Engine<'_>, name: &str, ty: Type) -> Sym {
    let range = ty.range().map(|(low, high)| (Poly::constant(low), Poly::constant(high)));
    let (low, high) = range.unzip();
    engine.prover.symbols.bounded(name, Level::Block, low, high)
}

/// With 0 for every index: what converts an index is not looked at.
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
    /// Whether a condition on numbers that elements hold is shown.
    pub(super) fn relates(
        &mut self,
        engine: &mut Engine<'_>,
        (formula, elements): (&Formula, &[(Sym, Value, Type)]),
        known: &[Formula],
    ) -> Result<(), Stop> {
        let mut all = known.to_vec();
        for (sym, value, ty) in elements {
            let value = self.instantiated(value, &Instance::default(), 0, known, 0)?;
            let Some(number) = self.number(engine, &value, &mut all) else { continue };
            if self.shows(&all, &in_type(&number, *ty)) {
                all.extend(Poly::symbol(*sym).minus(&number).map(Formula::eq));
            }
        }
        if self.shows(&all, formula) {
            return Ok(());
        }
        Err(Stop::Open(None, format!("this claim: {}", self.formula_text(formula))))
    }

    /// A value as a polynomial over integers, if it is one; what is known of its inputs is added.
    fn number(
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
                    Atom::Input(array, index) => self.input(engine, *array, index, known)?,
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

    /// The symbol of an input, with what the contract demands of it.
    fn input(
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
        let own = Poly::symbol(sym);
        let facts = engine.demands(array, index, &own);
        std::mem::swap(&mut engine.prover, &mut self.prover);
        self.inputs.insert(key, sym);
        known.extend(facts);
        Some(own)
    }
}
