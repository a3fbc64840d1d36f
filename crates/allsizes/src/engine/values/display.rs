//! Prints values, conditions and polynomials, for messages.

use super::resolve::Resolver;
use super::value::{Atom, Piece, Ratio, Sum, Value};
use arith::formula::Formula;
use arith::poly::Poly;
use base::Index;
use kir::{FETCH_TYPE_ARGUMENTS, is_fetch};

/// Longer texts are cut off.
const MAX_LENGTH: usize = 240;

impl Resolver {
    pub(super) fn short_text(&self, value: &Value) -> String {
        let text = self.value_text(value);
        match text.char_indices().nth(MAX_LENGTH) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    fn value_text(&self, value: &Value) -> String {
        let mut parts = Vec::new();
        for (product, ratio) in &value.terms {
            let mut factors = Vec::new();
            let number = match ratio.bottom {
                1 => ratio.top.to_string(),
                bottom => format!("{}/{bottom}", ratio.top),
            };
            if product.is_empty() || (ratio.top, ratio.bottom) != (1, 1) {
                factors.push(number);
            }
            for (atom, power) in product {
                let text = self.atom_text(atom);
                factors.push(if *power == 1 { text } else { format!("{text}^{power}") });
            }
            parts.push(factors.join("*"));
        }
        if parts.is_empty() { "0".to_owned() } else { parts.join(" + ") }
    }

    fn atom_text(&self, atom: &Atom) -> String {
        match atom {
            Atom::Input(array, index) => {
                let names = self.sides.iter().filter_map(|side| side.names.get(array.position()));
                let name = names.into_iter().find(|name| !name.is_empty());
                let index: String =
                    index.iter().map(|one| format!("[{}]", self.poly_text(one))).collect();
                format!("{}{index}", name.map_or("?", |name| name))
            }
            Atom::Entry(entry) => {
                let name = &self.sides[entry.side].names[entry.array.position()];
                let index: String =
                    entry.index.iter().map(|one| format!("[{}]", self.poly_text(one))).collect();
                format!("\\at({name}{index}, LoopEntry)")
            }
            Atom::Load(_) | Atom::Carried(..) | Atom::Unknown(..) => "?".to_owned(),
            Atom::Scalar(name) => name.clone(),
            Atom::Number(bits) => f64::from_bits(*bits).to_string(),
            Atom::Int(sym) => self.poly_text(&Poly::symbol(*sym)),
            Atom::Truth(formula) => format!("[{}]", self.formula_text(formula)),
            Atom::Call(name, arguments) => {
                let types = if is_fetch(name) { FETCH_TYPE_ARGUMENTS } else { 0 };
                let arguments: Vec<String> =
                    arguments.iter().skip(types).map(|one| self.value_text(one)).collect();
                format!("{name}({})", arguments.join(", "))
            }
            Atom::Sum(sum) => format!("sum({})", self.run_text(sum)),
            Atom::Fold(fold) => {
                let pieces: Vec<String> =
                    fold.pieces.iter().map(|piece| self.piece_text(piece)).collect();
                format!("{}({})", fold.op.name, pieces.join(", "))
            }
        }
    }

    /// Prints a part of a fold: `in[a .. b)` if the function is an element, otherwise in full.
    fn piece_text(&self, piece: &Piece) -> String {
        match piece {
            Piece::One(value) => self.value_text(value),
            Piece::Run(sum) => self.run_text(sum),
        }
    }

    /// Prints the values of a function in order.
    fn run_text(&self, sum: &Sum) -> String {
        let mut terms = sum.body.terms.iter();
        if let (Some((product, &Ratio::ONE)), None) = (terms.next(), terms.next())
            && let [(Atom::Input(array, index), 1)] = &product[..]
            && let [at] = &index[..]
            && let Some(low) = at.minus(&Poly::symbol(sum.digit))
            && !low.mentions(sum.digit)
            && let Some(high) = low.plus(&sum.high)
        {
            let names = self.sides.iter().filter_map(|side| side.names.get(array.position()));
            let name = names.into_iter().find(|name| !name.is_empty());
            let name = name.map_or("?", |name| name);
            return format!("{name}[{} .. {})", self.poly_text(&low), self.poly_text(&high));
        }
        let digit = &self.prover.symbols.get(sum.digit).name;
        format!("{digit}, 0, {}, {}", self.poly_text(&sum.high), self.value_text(&sum.body))
    }

    pub(super) fn poly_text(&self, poly: &Poly) -> String {
        self.prover.symbols.text(poly)
    }

    pub(super) fn formula_text(&self, formula: &Formula) -> String {
        let joined = |parts: &[Formula], word: &str| {
            let parts: Vec<String> = parts.iter().map(|one| self.formula_text(one)).collect();
            parts.join(word)
        };
        match formula {
            Formula::True => "true".to_owned(),
            Formula::False => "false".to_owned(),
            Formula::Ge(poly) => format!("{} >= 0", self.poly_text(poly)),
            Formula::Eq(poly) => format!("{} == 0", self.poly_text(poly)),
            Formula::Pow2(poly) => format!("\\is_pow2({})", self.poly_text(poly)),
            Formula::Not(inner) => format!("!({})", self.formula_text(inner)),
            Formula::And(parts) => joined(parts, " && "),
            Formula::Or(parts) => format!("({})", joined(parts, " || ")),
        }
    }
}
