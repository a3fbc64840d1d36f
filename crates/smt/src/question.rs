//! Writes queries as SMT-LIB text, canonically.
//!
//! The text has integers, sums and products. "Is a power of two" is an uninterpreted predicate with a few of its laws.
//! These are true, so `unsat` is right; `sat` may not be.

use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Limit on the powers of two that are compared with each other.
const MAX_COMPARED: usize = 4;

/// A query: if some conditions can hold together, and the values of some polynomials then.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// The commands up to `(check-sat)`.
    pub(crate) text: String,
    /// A command for each value.
    pub(crate) wanted: Vec<String>,
}

impl Question {
    /// Writes a query. Conditions are written in canonical order, each once, and symbols are numbered as they occur:
    /// the same query has the same text, independent of other symbols.
    pub(crate) fn new(conditions: &[Formula], wanted: &[Poly]) -> Self {
        let conditions: BTreeSet<&Formula> =
            conditions.iter().flat_map(Formula::conjuncts).collect();
        let mut numbers = Numbers::default();
        let conditions: Vec<Formula> =
            conditions.into_iter().map(|condition| numbers.rename(condition)).collect();
        let wanted = wanted.iter().map(|poly| numbers.poly(poly));
        let wanted = wanted.map(|poly| format!("(eval {})\n", term(&poly))).collect();
        Self { text: problem_text(&conditions, numbers.0.len()), wanted }
    }
}

/// Symbols and their numbers, in the order of first occurrence.
#[derive(Default)]
struct Numbers(BTreeMap<Sym, Sym>);

impl Numbers {
    fn poly(&mut self, poly: &Poly) -> Poly {
        poly.renamed(&mut |sym| {
            let next = Sym::from_position(self.0.len());
            *self.0.entry(sym).or_insert(next)
        })
    }

    /// Renames a condition part by part; rebuilding it could simplify it differently.
    fn rename(&mut self, formula: &Formula) -> Formula {
        let mut all = |parts: &[Formula]| parts.iter().map(|part| self.rename(part)).collect();
        match formula {
            Formula::True => Formula::True,
            Formula::False => Formula::False,
            Formula::And(parts) => Formula::And(all(parts)),
            Formula::Or(parts) => Formula::Or(all(parts)),
            Formula::Not(inner) => Formula::Not(Box::new(self.rename(inner))),
            Formula::Ge(poly) => Formula::Ge(self.poly(poly)),
            Formula::Eq(poly) => Formula::Eq(self.poly(poly)),
            Formula::Pow2(poly) => Formula::Pow2(self.poly(poly)),
        }
    }
}

/// The text of conditions on the first symbols.
fn problem_text(conditions: &[Formula], symbols: usize) -> String {
    let mut text = String::new();
    for number in 0..symbols {
        let _ = writeln!(text, "(declare-const s{number} Int)");
    }
    write_power_laws(&powers(conditions), &mut text);
    for condition in conditions {
        let mut inner = String::new();
        write_formula(condition, &mut inner);
        let _ = writeln!(text, "(assert {inner})");
    }
    text.push_str("(check-sat)\n");
    text
}

/// Writes laws of powers of two: to the solver `pow2` is an unknown predicate.
fn write_power_laws(powers: &BTreeSet<Poly>, text: &mut String) {
    if !powers.is_empty() {
        text.push_str("(declare-fun pow2 (Int) Bool)\n");
    }
    for power in powers {
        let _ = writeln!(text, "(assert (=> (pow2 {0}) (>= {0} 1)))", term(power));
        if power.terms().all(|(_, coefficient)| coefficient % 2 == 0) {
            let half = power.split(&[], 2).0;
            let _ = writeln!(text, "(assert (= (pow2 {}) (pow2 {})))", term(power), term(&half));
        }
        if let Some(value) = power.as_constant() {
            let holds = value > 0 && value & (value - 1) == 0;
            let _ = writeln!(text, "(assert (= (pow2 {}) {holds}))", term(power));
        }
    }
    // The greater of two powers of two is at least twice the lesser. There are many pairs, so only a few are written.
    for (number, one) in powers.iter().enumerate().take(MAX_COMPARED) {
        for other in powers.iter().skip(number + 1).take(MAX_COMPARED) {
            for (less, more) in [(one, other), (other, one)] {
                let (less, more) = (term(less), term(more));
                let both = format!("(and (pow2 {less}) (pow2 {more}) (< {less} {more}))");
                let _ = writeln!(text, "(assert (=> {both} (<= (* 2 {less}) {more})))");
            }
        }
    }
}

/// Polynomials that conditions state to be powers of two, and their halves.
fn powers(conditions: &[Formula]) -> BTreeSet<Poly> {
    fn collect(formula: &Formula, found: &mut BTreeSet<Poly>) {
        match formula {
            Formula::Pow2(poly) => {
                found.insert(poly.clone());
            }
            Formula::Not(inner) => collect(inner, found),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| collect(part, found));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    conditions.iter().for_each(|condition| collect(condition, &mut found));
    found
}

fn write_formula(formula: &Formula, out: &mut String) {
    let (name, parts) = match formula {
        Formula::True => return out.push_str("true"),
        Formula::False => return out.push_str("false"),
        Formula::Ge(poly) => {
            let _ = write!(out, "(>= {} 0)", term(poly));
            return;
        }
        Formula::Eq(poly) => {
            let _ = write!(out, "(= {} 0)", term(poly));
            return;
        }
        Formula::Pow2(poly) => {
            let _ = write!(out, "(pow2 {})", term(poly));
            return;
        }
        Formula::Not(inner) => ("not", std::slice::from_ref(&**inner)),
        Formula::And(parts) => ("and", &parts[..]),
        Formula::Or(parts) => ("or", &parts[..]),
    };
    let _ = write!(out, "({name}");
    for part in parts {
        out.push(' ');
        write_formula(part, out);
    }
    out.push(')');
}

fn number(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

fn term(poly: &Poly) -> String {
    let mut parts = Vec::new();
    for (monomial, coefficient) in poly.terms() {
        let mut factors = Vec::new();
        if coefficient != 1 || monomial.is_empty() {
            factors.push(number(coefficient));
        }
        for (sym, power) in monomial {
            for _ in 0..*power {
                factors.push(format!("s{}", sym.position()));
            }
        }
        parts.push(match &factors[..] {
            [one] => one.clone(),
            _ => format!("(* {})", factors.join(" ")),
        });
    }
    match &parts[..] {
        [] => "0".to_owned(),
        [one] => one.clone(),
        _ => format!("(+ {})", parts.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(position: usize) -> Poly {
        Poly::symbol(Sym::from_position(position))
    }

    /// The text does not depend on older symbols, on the order of conditions, or on repetitions.
    #[test]
    fn one_question_has_one_text() {
        let ask = |[a, b]: [usize; 2], swapped: bool| {
            let product = symbol(a).times(&symbol(b)).unwrap();
            let least = Formula::Ge(symbol(a).offset(-3).unwrap());
            let mut conditions = vec![
                Formula::True,
                least.clone(),
                Formula::And(vec![least, Formula::Eq(product.offset(-12).unwrap())]),
                Formula::Pow2(symbol(b)),
            ];
            if swapped {
                conditions.reverse();
            }
            Question::new(&conditions, &[symbol(b)])
        };
        let first = ask([0, 1], false);
        assert_eq!(first.text.matches("(assert (>= (+ (- 3) s0) 0))").count(), 1);
        assert_eq!(first.wanted, ["(eval s1)\n"]);
        for (symbols, swapped) in [([0, 1], true), ([7, 9], false), ([3, 40], true)] {
            assert_eq!(ask(symbols, swapped), first);
        }
    }
}
