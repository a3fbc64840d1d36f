//! Value numbering: terms with the same structure have the same number.
//!
//! A number stands for an operation on numbers, as in value numbering of compilers (Alpern, Wegman and Zadeck, 1988).
//! Sums, products, maxima and minima are kept as multisets (maxima and minima as sets), flattened across nested ones,
//! so that the order of their operands does not matter; nothing is multiplied out. Each such step keeps value and
//! domain: sums and products are defined where all of their operands are, in any order. So **equal numbers are equal
//! partial functions**, without assumptions; nothing follows from unequal numbers.
//!
//! Constants are the exception to "nothing": a product has at most one, equal summands of one sign are counted, and a
//! common integer factor of all counts stands before the sum ([`scale`]). Summands do not cancel: `x - x` is not 0
//! where `x` is undefined.
//!
//! Values are compared in full; a hash only finds candidates. A value that would become too large is not flattened,
//! or gets no number: this errs towards "not known to be equal".

mod product;
mod scale;

use product::Product;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use term::{Factors, Function, Node, NodeId, Number, Relation, Sum, Term, Terms, Walker};

/// The number of a value. Those of inputs are their positions.
pub type ValueNumber = u32;

/// Most factors of a flattened product; a larger one stays nested.
const MAX_FACTORS: usize = 64;

/// Most operands of a flattened sum or maximum; a larger one stays nested.
const MAX_NESTED: usize = 1 << 14;
/// Limit on the operands of all values together, 8 bytes each.
const MAX_KEPT: usize = 1 << 22;
/// Limit on the operands copied from nested values; after that they stay nested.
const MAX_COPIED: usize = 1 << 24;
/// Not numbered yet.
const OPEN: ValueNumber = u32::MAX;

/// Without a number, because it is too large.
const REFUSED: ValueNumber = u32::MAX - 1;

/// Numbers for the terms of some stores over the same inputs. A store may grow between calls.
#[derive(Debug, Default)]
pub struct Numbering {
    /// By number, without those of inputs.
    values: Vec<Arc<Value>>,
    known: FxHashMap<Arc<Value>, ValueNumber>,
    /// By number, without those of inputs: `true` for a constant other than 1, and for a product with a constant.
    scaled: Vec<bool>,
    names: FxHashMap<String, u16>,
    stores: Vec<Store>,
    inputs: ValueNumber,
    /// Number of operands of all values.
    kept: usize,
    /// Number of operands copied from nested values.
    copied: usize,
    /// Set if some value contains an infinity.
    pub(crate) met_infinity: bool,
    /// Operands of the value under construction.
    products: Vec<Product>,
}

/// The numbers of one store.
#[derive(Debug, Default)]
struct Store {
    walker: Walker,
    /// By node, without the inputs.
    nodes: Vec<ValueNumber>,
    /// Sums that have no node.
    sums: FxHashMap<Term, ValueNumber>,
}

/// The value of a number.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Value {
    Constant(Number),
    Single(Single),
    Unary(Unary, ValueNumber),
    Power(ValueNumber, Number),
    Binary(Binary, [ValueNumber; 2]),
    Select([ValueNumber; 3]),
    /// Sorted, at least two, and none of them a product itself; usually at most one of them a constant, above 0.
    Product(Box<[ValueNumber]>),
    /// Sorted; a single summand only if it is negated.
    Sum(Box<[Product]>),
    /// Sorted, without repetition.
    Extreme(Extreme, Box<[ValueNumber]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Single {
    Pi,
    Infinity { negative: bool },
    Undefined,
    Truth(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unary {
    Exp,
    Log,
    Absolute,
    Not,
    Apply(Function),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Binary {
    Quotient,
    Compare(Relation),
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extreme {
    Maximum,
    Minimum,
}

impl Numbering {
    /// Returns the number of a term of a store; `None` if there is no room for it.
    ///
    /// # Panics
    /// If the store is over other inputs than the first one.
    pub fn number(&mut self, store: usize, terms: &Terms, term: Term) -> Option<ValueNumber> {
        let inputs = terms.inputs().len() as u32;
        if self.values.is_empty() {
            self.inputs = inputs;
            self.intern(Value::Constant(Number::ONE))?;
        }
        assert_eq!(self.inputs, inputs, "all stores range over the same inputs");
        while self.stores.len() <= store {
            self.stores.push(Store::default());
        }
        if let Some(number) = self.known_number(store, terms, term) {
            return (number != REFUSED).then_some(number);
        }
        let mut numbers = std::mem::take(&mut self.stores[store]);
        numbers.nodes.resize(terms.node_count() - inputs as usize, OPEN);
        let Store { walker, nodes, .. } = &mut numbers;
        let order = walker.operations(terms, [term], |node| nodes[position(node, inputs)] == OPEN);
        let inner = inner_extremes(terms, &order);
        for (node, inner) in order.nodes.iter().zip(&inner) {
            if !inner {
                let number = self.number_node(terms, terms.at(*node), &numbers.nodes);
                numbers.nodes[position(*node, inputs)] = number.unwrap_or(REFUSED);
            }
        }
        let number = match terms.node_of(term) {
            Some(node) => numbers.nodes.get(position(node, inputs)).copied(),
            None => {
                let number = self.number_node(terms, terms.node(term), &numbers.nodes);
                numbers.sums.insert(term, number.unwrap_or(REFUSED));
                number
            }
        };
        self.stores[store] = numbers;
        number.filter(|number| *number < REFUSED)
    }

    /// Returns the number of a term that has one already.
    fn known_number(&self, store: usize, terms: &Terms, term: Term) -> Option<ValueNumber> {
        let numbers = &self.stores[store];
        let Some(node) = terms.node_of(term) else { return numbers.sums.get(&term).copied() };
        if (node.position() as u32) < self.inputs {
            return Some(node.position() as u32);
        }
        numbers.nodes.get(position(node, self.inputs)).copied().filter(|number| *number != OPEN)
    }

    /// Numbers a node by its operation and the numbers of its operands.
    fn number_node(
        &mut self,
        terms: &Terms,
        node: Node,
        nodes: &[ValueNumber],
    ) -> Option<ValueNumber> {
        let inputs = self.inputs;
        let at = |node: NodeId| number_of(node, inputs, nodes);
        let value = match node {
            Node::Input(input) => return Some(input.position() as u32),
            Node::Constant(constant) => return self.constant(terms.number(constant)),
            Node::Pi => Value::Single(Single::Pi),
            Node::Infinity { negative } => {
                self.met_infinity = true;
                Value::Single(Single::Infinity { negative })
            }
            Node::Undefined => Value::Single(Single::Undefined),
            Node::Truth(holds) => Value::Single(Single::Truth(holds)),
            Node::Sum(sum) => return self.sum(terms, sum, nodes),
            Node::Product(a, b) => {
                let product = self.product(false, [at(a)?, at(b)?])?;
                return self.number_of_product(product);
            }
            Node::Negation(a) => return self.negated(at(a)?),
            Node::Quotient(a, b) => match self.reciprocal(at(b)?)? {
                Some(factor) => {
                    let product = self.product(false, [at(a)?, factor])?;
                    return self.number_of_product(product);
                }
                None => Value::Binary(Binary::Quotient, [at(a)?, at(b)?]),
            },
            Node::Power(a, power) => Value::Power(at(a)?, terms.number(power).clone()),
            Node::Exp(a) => Value::Unary(Unary::Exp, at(a)?),
            Node::Log(a) => Value::Unary(Unary::Log, at(a)?),
            Node::Absolute(a) => Value::Unary(Unary::Absolute, at(a)?),
            Node::Apply(Function::Rounded, a) => return at(a),
            Node::Apply(function, a) => {
                Value::Unary(Unary::Apply(self.function(terms, function)?), at(a)?)
            }
            Node::Not(a) => Value::Unary(Unary::Not, at(a)?),
            Node::Maximum(a, b) => return self.extreme(terms, Extreme::Maximum, [a, b], nodes),
            Node::Minimum(a, b) => return self.extreme(terms, Extreme::Minimum, [a, b], nodes),
            Node::Select(a, b, c) => Value::Select([at(a)?, at(b)?, at(c)?]),
            Node::Compare(relation, a, b) => {
                let pair = [at(a)?, at(b)?];
                let commutes = relation == Relation::Equal;
                Value::Binary(Binary::Compare(relation), if commutes { sorted(pair) } else { pair })
            }
            Node::And(a, b) => Value::Binary(Binary::And, sorted([at(a)?, at(b)?])),
            Node::Or(a, b) => Value::Binary(Binary::Or, sorted([at(a)?, at(b)?])),
        };
        self.intern(value)
    }

    /// Returns a function numbered across stores: named ones are numbered by each store on its own.
    fn function(&mut self, terms: &Terms, function: Function) -> Option<Function> {
        let Function::Named(_) = function else { return Some(function) };
        let name = terms.function_name(function);
        if let Some(known) = self.names.get(name) {
            return Some(Function::Named(*known));
        }
        let next = u16::try_from(self.names.len()).ok()?;
        self.names.insert(name.to_owned(), next);
        Some(Function::Named(next))
    }

    /// Numbers a sum.
    fn sum(&mut self, terms: &Terms, sum: Sum, nodes: &[ValueNumber]) -> Option<ValueNumber> {
        self.products.clear();
        for run in terms.products(sum) {
            for factors in run {
                self.add_product(*factors, nodes)?;
            }
        }
        self.finish_sum()
    }

    /// Adds a product of two nodes to the sum under construction.
    #[inline]
    fn add_product(&mut self, factors: Factors, nodes: &[ValueNumber]) -> Option<()> {
        let pair = [factors.left(), factors.right()].map(|one| one.position() as u32);
        if pair[0].max(pair[1]) < self.inputs {
            self.products.push(Product::new(factors.is_negative(), pair));
            return Some(());
        }
        let at = |node: NodeId| number_of(node, self.inputs, nodes);
        let pair = [at(factors.left())?, at(factors.right())?];
        match pair.iter().position(|one| *one == self.number_of_one()) {
            Some(position) => self.add(factors.is_negative(), pair[1 - position])?,
            None => {
                let product = self.product(factors.is_negative(), pair)?;
                if !self.add_multiple(product)? {
                    self.products.push(product);
                }
            }
        }
        Some(())
    }

    /// Returns the number of 1, the first value created.
    fn number_of_one(&self) -> ValueNumber {
        self.inputs
    }

    /// Numbers the negation of a value.
    fn negated(&mut self, number: ValueNumber) -> Option<ValueNumber> {
        self.products.clear();
        self.add(true, number)?;
        self.finish_sum()
    }

    /// Adds a value to the sum under construction; a sum is added summand by summand, a multiple of one, too.
    fn add(&mut self, negative: bool, number: ValueNumber) -> Option<()> {
        match self.value(number).cloned().as_deref() {
            Some(Value::Sum(summands))
                if summands.len() == 1 || self.may_copy(self.products.len(), summands.len()) =>
            {
                self.products.extend(summands.iter().map(|summand| summand.negated(negative)));
            }
            Some(Value::Product(factors)) if factors.len() == 2 => {
                let product = Product::new(negative, [factors[0], factors[1]]);
                if !self.add_multiple(product)? {
                    self.products.push(product);
                }
            }
            _ => self.products.push(Product::new(negative, [number, self.number_of_one()])),
        }
        Some(())
    }

    /// Finishes the sum under construction.
    fn finish_sum(&mut self) -> Option<ValueNumber> {
        let mut products = std::mem::take(&mut self.products);
        if !products.is_sorted() {
            products.sort_unstable();
        }
        let factor = self.collect(&mut products)?;
        let number = match products[..] {
            [one] if !one.is_negative() => self.number_of_product(one),
            _ => self.intern(Value::Sum(products.as_slice().into())),
        };
        let number = match factor {
            Some(factor) => self.multiple(factor, number?),
            None => number,
        };
        products.clear();
        self.products = products;
        number
    }

    /// Returns a product as a summand: two factors directly, more by the number of their product.
    fn product(&mut self, negative: bool, pair: [ValueNumber; 2]) -> Option<Product> {
        if pair.iter().all(|number| self.is_single_factor(*number)) {
            return Some(Product::new(negative, pair));
        }
        let mut factors = Vec::new();
        let odd =
            pair.into_iter().fold(false, |odd, number| odd ^ self.factors(number, &mut factors));
        self.fold_constants(&mut factors)?;
        if factors.len() > MAX_FACTORS {
            // Squares of squares grow without bound: these two stay as they are.
            return Some(Product::new(negative, pair));
        }
        factors.sort_unstable();
        let pair = match factors[..] {
            [] => [self.number_of_one(); 2],
            [one] => [one, self.number_of_one()],
            [a, b] => [a, b],
            _ => [self.intern(Value::Product(factors.into()))?, self.number_of_one()],
        };
        Some(Product::new(negative ^ odd, pair))
    }

    /// Collects the factors of a value other than 1; returns `true` if their product is to be negated.
    fn factors(&self, number: ValueNumber, factors: &mut Vec<ValueNumber>) -> bool {
        match self.value(number).map(|value| &**value) {
            Some(Value::Product(own)) => factors.extend_from_slice(own),
            Some(Value::Sum(summands)) if summands.len() == 1 => {
                // A negated value. Its factors may be such sums again, in unbounded chains, so they are kept as they
                // are, with their signs.
                for number in summands[0].operands() {
                    match self.value(number).map(|value| &**value) {
                        Some(Value::Product(own)) => factors.extend_from_slice(own),
                        _ if number == self.number_of_one() => {}
                        _ => factors.push(number),
                    }
                }
                return summands[0].is_negative();
            }
            _ if number == self.number_of_one() => {}
            _ => factors.push(number),
        }
        false
    }

    /// Returns the number of a single summand.
    fn number_of_product(&mut self, product: Product) -> Option<ValueNumber> {
        let [a, b] = product.operands();
        match (product.is_negative(), [a, b].iter().position(|one| *one == self.number_of_one())) {
            (true, _) => self.intern(Value::Sum([product].into())),
            (false, Some(position)) => Some([b, a][position]),
            (false, None) => self.intern(Value::Product([b, a].into())),
        }
    }

    /// Returns a maximum or minimum, flattened across nested ones.
    fn extreme(
        &mut self,
        terms: &Terms,
        kind: Extreme,
        pair: [NodeId; 2],
        nodes: &[ValueNumber],
    ) -> Option<ValueNumber> {
        let mut all = Vec::new();
        let mut waiting = pair.to_vec();
        while let Some(node) = waiting.pop() {
            if is_open(node, self.inputs, nodes) {
                // An inner one has no number of its own.
                waiting.extend(terms.at(node).children());
                continue;
            }
            let number = number_of(node, self.inputs, nodes)?;
            match self.value(number).cloned().as_deref() {
                Some(Value::Extreme(of, own))
                    if *of == kind && self.may_copy(all.len(), own.len()) =>
                {
                    all.extend_from_slice(own);
                }
                _ => all.push(number),
            }
        }
        all.sort_unstable();
        all.dedup();
        match all[..] {
            [one] => Some(one),
            _ => self.intern(Value::Extreme(kind, all.into())),
        }
    }

    /// Reserves room for copying `count` operands from a nested value to `others` operands; `false` if there is none.
    fn may_copy(&mut self, others: usize, count: usize) -> bool {
        if others + count > MAX_NESTED {
            return false;
        }
        self.copied += count;
        self.copied <= MAX_COPIED
    }

    fn value(&self, number: ValueNumber) -> Option<&Arc<Value>> {
        self.values.get(number.checked_sub(self.inputs)? as usize)
    }

    /// Returns the number of a value, a new one if it is unknown; `None` if there is no room.
    fn intern(&mut self, value: Value) -> Option<ValueNumber> {
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        self.kept += match &value {
            Value::Sum(summands) => summands.len(),
            Value::Product(operands) | Value::Extreme(_, operands) => operands.len(),
            _ => 1,
        };
        let number = self.inputs.checked_add(u32::try_from(self.values.len()).ok()?)?;
        if self.kept > MAX_KEPT || number >= 1 << 31 {
            return None;
        }
        self.scaled.push(match &value {
            Value::Constant(constant) => !constant.is_one(),
            Value::Product(factors) => factors.iter().any(|factor| self.is_constant(*factor)),
            _ => false,
        });
        let value = Arc::new(value);
        self.values.push(Arc::clone(&value));
        self.known.insert(value, number);
        Some(number)
    }
}

fn position(node: NodeId, inputs: u32) -> usize {
    node.position() - inputs as usize
}

fn number_of(node: NodeId, inputs: u32, nodes: &[ValueNumber]) -> Option<ValueNumber> {
    match (node.position() as u32) < inputs {
        true => Some(node.position() as u32),
        false => Some(nodes[position(node, inputs)]).filter(|number| *number < REFUSED),
    }
}

fn is_open(node: NodeId, inputs: u32, nodes: &[ValueNumber]) -> bool {
    node.position() >= inputs as usize && nodes[position(node, inputs)] == OPEN
}

fn sorted([a, b]: [ValueNumber; 2]) -> [ValueNumber; 2] {
    [a.min(b), a.max(b)]
}

/// Marks the nodes that are a maximum within a maximum, or a minimum within a minimum, and have no other use. A
/// running maximum is flattened once, not once an element.
fn inner_extremes(terms: &Terms, order: &term::Order) -> Vec<bool> {
    let mut inner = vec![false; order.nodes.len()];
    for node in &order.nodes {
        let (pair, kind): (_, fn(Node) -> bool) = match terms.at(*node) {
            Node::Maximum(a, b) => ([a, b], |node| matches!(node, Node::Maximum(..))),
            Node::Minimum(a, b) => ([a, b], |node| matches!(node, Node::Minimum(..))),
            _ => continue,
        };
        for operand in pair.into_iter().filter(|operand| kind(terms.at(*operand))) {
            if let Ok(at) = order.nodes.binary_search(&operand) {
                inner[at] = order.uses[at] == 1;
            }
        }
    }
    inner
}

#[cfg(test)]
#[path = "numbering_tests.rs"]
mod tests;
