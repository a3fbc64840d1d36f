//! Terms at a point modulo a safe prime: fingerprints that suggest where a difference may be.
//!
//! Sums, products, quotients and exponentials are computed exactly ([`residue`](super::residue)). Floats decide
//! maxima and selects. Roots of non-squares, logarithms and named functions get a residue that depends only on their
//! argument. So equal exp-polynomials have equal fingerprints and different ones almost never do, however small the
//! difference. Beyond exp-polynomials equal terms may have different fingerprints. Fingerprints are never a verdict,
//! either way.
//!
//! One pass for any number of terms, a few nanoseconds a product. Before it, a pass over the parents finds which of
//! the three values (modulo p, modulo q, float) each node needs.

use super::float::float_operation;
use super::residue::{Exponents, LN_2, Modulus, Values, e};
use crate::deadline::{Countdown, Deadline};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use term::{Function, Input, Node, NodeId, NodeTable, Number, Sum, Term, Terms};

/// The value modulo p; `None` if it is undefined or unknown.
type Fingerprint = Option<u64>;

/// Stands for "none" in tables.
const NONE: u64 = u64::MAX;
/// Products that are added up before a reduction: 16 of them, each below 2^122, fit in 126 bits.
const PRODUCTS_PER_REDUCTION: usize = 16;

/// The values of a node, as bits of a set: modulo p, modulo q, as a float.
const VALUE: u8 = 1;
const EXPONENT: u8 = 2;
const FLOAT: u8 = 4;

/// Computes the fingerprints of some terms where each input has the value `point` gives it.
pub(crate) fn fingerprints(
    terms: &Terms,
    roots: &[Term],
    point: &dyn Fn(Input) -> Number,
    deadline: Deadline,
) -> Vec<Fingerprint> {
    Fingerprints::default().find(terms, roots, point, deadline)
}

/// Fingerprints for the terms of one store at one point. The store may grow between calls: earlier values are kept,
/// and a query pays only for new nodes.
///
/// Most inputs are below no root, and untouched parts of a table cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    /// Per node, the known values and the currently requested ones.
    known: NodeTable<u8>,
    requested: NodeTable<u8>,
    values: NodeTable<u64>,
    exponents: NodeTable<u64>,
    floats: NodeTable<f64>,
    /// Requested nodes, with repetitions.
    nodes: Vec<NodeId>,
    waiting: Vec<NodeId>,
}

impl Fingerprints {
    /// Returns the fingerprints of some terms; all `None` if the deadline passes. The point must be the same
    /// at every call.
    pub(crate) fn find(
        &mut self,
        terms: &Terms,
        roots: &[Term],
        point: &dyn Fn(Input) -> Number,
        deadline: Deadline,
    ) -> Vec<Fingerprint> {
        for root in roots {
            match terms.node_of(*root) {
                Some(node) => self.request(node, VALUE),
                None => self.request_operands(terms, terms.node(*root), VALUE),
            }
            while let Some(node) = self.waiting.pop() {
                let new = self.requested[node];
                self.request_operands(terms, terms.at(node), new);
            }
        }
        if !self.evaluate(terms, point, deadline) {
            return vec![None; roots.len()];
        }
        let scan = Scan { terms, e: e(), tables: self };
        let value = |root: &Term| match terms.node_of(*root) {
            Some(node) => scan.tables.values[node],
            None => scan.value(terms.node(*root)),
        };
        roots.iter().map(|root| Some(value(root)).filter(|value| *value != NONE)).collect()
    }

    /// Requests values of a node that are not known.
    #[inline]
    fn request(&mut self, node: NodeId, values: u8) {
        let new = values & !self.known[node] & !self.requested[node];
        if new != 0 {
            self.requested[node] |= new;
            self.nodes.push(node);
            self.waiting.push(node);
        }
    }

    /// Requests the operand values that these values of an operation depend on.
    fn request_operands(&mut self, terms: &Terms, operation: Node, requested: u8) {
        let float = requested & FLOAT;
        let if_any = |bit: u8| if requested & !FLOAT != 0 { bit } else { 0 };
        match operation {
            Node::Sum(sum) => {
                for factors in terms.products(sum).flatten() {
                    self.request(factors.left(), requested);
                    self.request(factors.right(), requested);
                }
            }
            Node::Exp(a) => self.request(a, float | if_any(EXPONENT)),
            Node::Apply(Function::Rounded, a) => self.request(a, requested),
            Node::Log(a) | Node::Apply(_, a) => self.request(a, float | if_any(VALUE)),
            Node::Maximum(..) | Node::Minimum(..) | Node::Absolute(_) => {
                operation.children().for_each(|child| self.request(child, requested | FLOAT));
            }
            Node::Select(condition, a, b) => {
                self.request(condition, FLOAT);
                self.request(a, requested);
                self.request(b, requested);
            }
            Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
                operation.children().for_each(|child| self.request(child, FLOAT));
            }
            other => other.children().for_each(|child| self.request(child, requested)),
        }
    }

    /// Computes all requested values; returns `false` if the deadline passed first.
    fn evaluate(
        &mut self,
        terms: &Terms,
        point: &dyn Fn(Input) -> Number,
        deadline: Deadline,
    ) -> bool {
        let mut nodes = std::mem::take(&mut self.nodes);
        // Ascending numbers are an evaluation order.
        nodes.sort_unstable();
        nodes.dedup();
        let mut scan = Scan { terms, e: e(), tables: self };
        let mut countdown = Countdown::new(deadline);
        for node in &nodes {
            let needed = std::mem::take(&mut scan.tables.requested[*node]);
            if !countdown.is_over() {
                scan.evaluate(*node, needed, point);
                scan.tables.known[*node] |= needed;
            }
        }
        nodes.clear();
        self.nodes = nodes;
        !countdown.is_over()
    }
}

/// An evaluation of nodes in their order.
struct Scan<'s> {
    terms: &'s Terms,
    e: u64,
    tables: &'s mut Fingerprints,
}

impl Scan<'_> {
    /// Computes the needed values of a node.
    fn evaluate(&mut self, node: NodeId, needed: u8, point: &dyn Fn(Input) -> Number) {
        let operation = self.terms.at(node);
        let number = match operation {
            Node::Input(input) => Some(point(input)),
            Node::Constant(constant) => Some(self.terms.number(constant).clone()),
            _ => None,
        };
        if needed & VALUE != 0 {
            self.tables.values[node] = match &number {
                Some(number) => Values::of_number(number).unwrap_or(NONE),
                None => self.value(operation),
            };
        }
        if needed & EXPONENT != 0 {
            self.tables.exponents[node] = match &number {
                Some(number) => Exponents::of_number(number).unwrap_or(NONE),
                None => self.exponent(operation),
            };
        }
        if needed & FLOAT != 0 {
            self.tables.floats[node] = match &number {
                Some(number) => number.to_f64_lossy(),
                None => {
                    float_operation(self.terms, operation, point, |node| self.tables.floats[node])
                }
            };
        }
    }

    fn value(&self, operation: Node) -> u64 {
        let at = |node: NodeId| self.tables.values[node];
        match operation {
            Node::Exp(a) => match self.tables.exponents[a] {
                NONE => NONE,
                exponent => Values::power(self.e, exponent),
            },
            Node::Power(a, exponent) => root(at(a), self.terms.number(exponent)),
            Node::Apply(Function::Rounded, a) => at(a),
            Node::Log(a) | Node::Apply(_, a) => self.opaque::<61, 3153>(operation, at(a)),
            Node::Pi => self.opaque::<61, 3153>(operation, 0),
            other => self.ring::<61, 3153>(other, &self.tables.values),
        }
    }

    fn exponent(&self, operation: Node) -> u64 {
        let at = |node: NodeId| self.tables.exponents[node];
        match operation {
            Node::Exp(a) => self.opaque::<60, 1577>(operation, at(a)),
            Node::Power(a, exponent) => {
                let exponent = self.terms.number(exponent);
                integer_power::<60, 1577>(at(a), exponent)
                    .or_else(|| half_power::<60, 1577>(at(a), exponent))
                    .unwrap_or_else(|| self.opaque::<60, 1577>(operation, at(a)))
            }
            Node::Log(a) if self.terms.as_number(a.into()) == Some(&Number::from(2)) => LN_2,
            Node::Apply(Function::Rounded, a) => at(a),
            Node::Log(a) | Node::Apply(_, a) => {
                self.opaque::<60, 1577>(operation, self.tables.values[a])
            }
            Node::Pi => self.opaque::<60, 1577>(operation, 0),
            other => self.ring::<60, 1577>(other, &self.tables.exponents),
        }
    }

    /// Computes a residue that depends only on the operation and its argument's residue, not on the numbering
    /// of a store.
    fn opaque<const K: u32, const C: u64>(&self, operation: Node, argument: u64) -> u64 {
        let mut hasher = FxHasher::default();
        match operation {
            Node::Pi => hasher.write_u8(1),
            Node::Exp(_) => hasher.write_u8(2),
            Node::Log(_) => hasher.write_u8(3),
            Node::Power(_, exponent) => hasher.write_u64(self.terms.number(exponent).fingerprint()),
            Node::Apply(function, _) => hasher.write(self.terms.function_name(function).as_bytes()),
            _ => return NONE,
        }
        with_both(argument, hasher.finish(), |argument, kind| scramble::<K, C>(argument ^ kind))
    }

    /// Applies one of the operations that are the same modulo either prime.
    fn ring<const K: u32, const C: u64>(&self, operation: Node, table: &NodeTable<u64>) -> u64 {
        let at = |node: NodeId| table[node];
        let float = |node: NodeId| self.tables.floats[node];
        match operation {
            Node::Sum(sum) => sum_of::<K, C>(self.terms, sum, table),
            Node::Product(a, b) => with_both(at(a), at(b), Modulus::<K, C>::multiply),
            Node::Negation(a) => with_both(at(a), 0, |a, _| Modulus::<K, C>::negate(a)),
            Node::Quotient(a, b) => with_both(at(a), at(b), |a, b| {
                Modulus::<K, C>::inverse(b).map_or(NONE, |b| Modulus::<K, C>::multiply(a, b))
            }),
            Node::Maximum(a, b) if float(a) >= float(b) => at(a),
            Node::Maximum(a, b) if float(a) < float(b) => at(b),
            Node::Minimum(a, b) if float(a) <= float(b) => at(a),
            Node::Minimum(a, b) if float(a) > float(b) => at(b),
            Node::Absolute(a) if float(a) >= 0.0 => at(a),
            Node::Absolute(a) if float(a) < 0.0 => {
                with_both(at(a), 0, |a, _| Modulus::<K, C>::negate(a))
            }
            Node::Select(condition, a, b) => match float(condition) {
                1.0 => at(a),
                0.0 => at(b),
                _ => NONE,
            },
            _ => NONE,
        }
    }
}

/// Applies `f`, unless one of the values is none.
fn with_both(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    if a == NONE || b == NONE { NONE } else { f(a, b) }
}

/// Computes the residue of a sum, reducing once for several products.
fn sum_of<const K: u32, const C: u64>(terms: &Terms, sum: Sum, table: &NodeTable<u64>) -> u64 {
    let mut total = 0;
    let mut missing = false;
    for run in terms.products(sum) {
        for group in run.chunks(PRODUCTS_PER_REDUCTION) {
            let mut lazy: u128 = 0;
            for factors in group {
                let (a, b) = (table[factors.left()], table[factors.right()]);
                missing |= a == NONE || b == NONE;
                let a =
                    if factors.is_negative() { Modulus::<K, C>::PRIME.wrapping_sub(a) } else { a };
                lazy = lazy.wrapping_add(u128::from(a) * u128::from(b));
            }
            if missing {
                return NONE;
            }
            total = Modulus::<K, C>::add(total, Modulus::<K, C>::reduce(lazy));
        }
    }
    total
}

fn integer_power<const K: u32, const C: u64>(base: u64, exponent: &Number) -> Option<u64> {
    let integer = exponent.to_i64()?;
    if base == NONE {
        return Some(NONE);
    }
    let raised = Modulus::<K, C>::power(base, integer.unsigned_abs());
    Some(if integer < 0 { Modulus::<K, C>::inverse(raised).unwrap_or(NONE) } else { raised })
}

/// Computes a power of a square with a half-integer exponent, by the root that is a square itself. There is
/// one such root modulo a prime that is 3 modulo 4, as both are.
fn half_power<const K: u32, const C: u64>(base: u64, exponent: &Number) -> Option<u64> {
    let twice = exponent + exponent;
    let prime = Modulus::<K, C>::PRIME;
    let is_square = base != NONE && Modulus::<K, C>::power(base, prime / 2) == 1;
    twice.to_i64().filter(|_| is_square)?;
    integer_power::<K, C>(Modulus::<K, C>::power(base, prime / 4 + 1), &twice)
}

/// Computes a power; a root of a square is the one that is a square itself.
fn root(base: u64, exponent: &Number) -> u64 {
    if let Some(power) = integer_power::<61, 3153>(base, exponent) {
        return power;
    }
    let is_square = base != NONE && Values::power(base, Exponents::PRIME) == 1;
    match Exponents::of_number(exponent) {
        Some(exponent) if is_square => Values::power(base, exponent),
        Some(exponent) if base != NONE && base != 0 => scramble::<61, 3153>(base ^ exponent << 1),
        _ => NONE,
    }
}

/// Maps a value to a residue that looks random.
fn scramble<const K: u32, const C: u64>(value: u64) -> u64 {
    Modulus::<K, C>::reduce(base::mix64(value).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::text::{Scope, parse_expression, parse_script};

    /// Returns the fingerprints of two expressions over x, y and z.
    fn pair(a: &str, b: &str) -> [Fingerprint; 2] {
        let script = parse_script("input x, y, z").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let roots = [a, b].map(|text| {
            let expression = parse_expression(text).unwrap();
            scope.term(&mut terms, &expression).unwrap()
        });
        let point = |input: Input| Number::dyadic(2 * input.position() as i64 - 3, -2);
        let found = fingerprints(&terms, &roots, &point, Deadline::default());
        [found[0], found[1]]
    }

    #[test]
    fn equal_terms_have_equal_fingerprints() {
        for (a, b) in [
            ("(x + y)^2 - z", "x*x + 2*x*y + (y*y - z)"),
            ("exp(x) * exp(y - x*z)", "exp(x + y - z*x)"),
            ("exp2(x + 3) / y", "8 * exp(x * log(2)) * (1 / y)"),
            ("max(x, y) + min(x, y)", "y + x"),
            ("if(x < y, exp(x), abs(z))", "if(y > x, exp(x), max(z, -z))"),
            ("sqrt(y^2) * sqrt(y^2)", "y*y"),
            ("exp(x / sqrt(49/9))", "exp(3 * x / 7)"),
            ("exp(x * sqrt(z^2))", "exp(x * abs(z))"),
        ] {
            let [a_value, b_value] = pair(a, b);
            assert!(a_value.is_some() && a_value == b_value, "{a} and {b}");
        }
    }

    #[test]
    fn small_differences_are_seen() {
        for (a, b) in [
            ("x", "x + 1/1152921504606846976"),
            ("exp(x)", "exp(x + 1/1152921504606846976)"),
            ("x * log(2)", "x * f32(0.6931471805599453)"),
            ("x / y", "y / x"),
        ] {
            let [a_value, b_value] = pair(a, b);
            assert!(a_value.is_some() && b_value.is_some() && a_value != b_value, "{a} and {b}");
        }
    }

    /// Values kept while the store grows equal newly computed ones.
    #[test]
    fn kept_values_equal_new_ones() {
        let script = parse_script("input x, y, z").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let point = |input: Input| Number::dyadic(2 * input.position() as i64 - 3, -2);
        let mut kept = Fingerprints::default();
        for text in [
            "x + y",
            "exp(x + y) * z",
            "max(x + y, z) - exp(x + y)",
            "exp(max(x, y) + exp(z))",
            "if(x < exp(y), x*y, exp(x*y))",
            "log(x*x + 1) + exp(log(x*x + 1))",
        ] {
            let term = scope.term(&mut terms, &parse_expression(text).unwrap()).unwrap();
            let anew = fingerprints(&terms, &[term], &point, Deadline::default());
            assert_eq!(kept.find(&terms, &[term], &point, Deadline::default()), anew, "{text}");
            assert!(anew[0].is_some(), "{text}");
        }
    }

    #[test]
    fn undefined_terms_have_no_fingerprint() {
        assert_eq!(pair("1 / (x - x)", "z + 1 / (y - y)"), [None, None]);
    }
}
