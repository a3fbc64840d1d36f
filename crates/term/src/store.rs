//! The store of terms, and the constructors that an interpreter calls once per lane and instruction.
//!
//! There is no hash-consing: each construction appends a node, and equal terms may have several nodes.
//! Constructors fold constants and infinities. They drop an operand only if it is *total* (no operation in it
//! can be undefined), so that no definedness condition is lost here.

use crate::sums::{LANES, Runs, Sums, all_below};
use crate::{ConstantId, Factors, Function, Input, Inputs, Node, NodeId, Number, Sum, Term};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The longest sum that is copied when two different products are appended to it; longer ones are shared.
const MAX_COPIED_SUM: u32 = 16;

/// Terms over a shared table of inputs.
#[derive(Debug)]
pub struct Terms {
    inputs: Arc<Inputs>,
    /// The first number that is not an input's.
    first_node: u32,
    /// Node number `inputs.len() + i`; the numbers below belong to the inputs, which need no node.
    nodes: Vec<Node>,
    /// For each entry of `nodes`, `true` if some operation at or below it can be undefined.
    partial: Vec<bool>,
    constants: Vec<Number>,
    constant_nodes: FxHashMap<Number, (ConstantId, NodeId)>,
    names: Vec<String>,
    sums: Sums,
    zero: NodeId,
    one: NodeId,
    /// +∞, −∞, undefined, false and true, created once: each running maximum starts from −∞.
    singletons: [NodeId; 5],
}

impl Terms {
    /// Creates an empty store over `inputs`.
    #[must_use]
    pub fn new(inputs: Arc<Inputs>) -> Self {
        let mut terms = Self {
            first_node: inputs.len() as u32,
            inputs,
            nodes: Vec::new(),
            partial: Vec::new(),
            constants: Vec::new(),
            constant_nodes: FxHashMap::default(),
            names: Vec::new(),
            sums: Sums::default(),
            zero: NodeId(0),
            one: NodeId(0),
            singletons: [NodeId(0); 5],
        };
        terms.zero = terms.constant_node(Number::ZERO);
        terms.one = terms.constant_node(Number::ONE);
        terms.singletons = [
            terms.push(Node::Infinity { negative: false }, false),
            terms.push(Node::Infinity { negative: true }, false),
            terms.push(Node::Undefined, true),
            terms.push(Node::Truth(false), false),
            terms.push(Node::Truth(true), false),
        ];
        terms
    }

    /// Returns the inputs the terms range over.
    #[must_use]
    pub fn inputs(&self) -> &Arc<Inputs> {
        &self.inputs
    }

    /// Number of node numbers in use, inputs included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.inputs.len() + self.nodes.len()
    }

    /// The bytes of nodes and products, without the spare capacity of vectors.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<bool>()) + self.sums.bytes()
    }

    /// Returns all nodes but the inputs, in the order they were made.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the outermost operation of a term.
    #[must_use]
    #[inline]
    pub fn node(&self, term: Term) -> Node {
        if term.sum_length != 0 {
            return Node::Sum(sum_of(term));
        }
        self.at(NodeId(term.id))
    }

    /// Returns the operation of a node number.
    #[must_use]
    #[inline]
    pub fn at(&self, node: NodeId) -> Node {
        match node.0.checked_sub(self.first_node) {
            None => Node::Input(Input(node.0)),
            Some(index) => self.nodes[index as usize],
        }
    }

    /// Returns the node of a term; `None` for a sum that was not sealed.
    #[must_use]
    #[inline]
    pub fn node_of(&self, term: Term) -> Option<NodeId> {
        (term.sum_length == 0).then_some(NodeId(term.id))
    }

    /// Returns the products of a sum, as slices in order.
    pub fn products(&self, sum: Sum) -> impl Iterator<Item = &[Factors]> {
        let runs: Runs<'_> = self.sums.runs(sum);
        runs
    }

    /// Returns the value of an interned constant.
    #[must_use]
    #[inline]
    pub fn number(&self, constant: ConstantId) -> &Number {
        &self.constants[constant.0 as usize]
    }

    /// Returns the exact value of a term that is a rational constant.
    #[must_use]
    pub fn as_number(&self, term: Term) -> Option<&Number> {
        match self.node(term) {
            Node::Constant(constant) => Some(self.number(constant)),
            _ => None,
        }
    }

    /// Returns `true` if some operation at or below the term can be undefined.
    #[must_use]
    #[inline]
    pub fn is_partial(&self, term: Term) -> bool {
        if term.sum_length != 0 {
            return self.sums.is_partial(sum_of(term));
        }
        self.partial_at(NodeId(term.id))
    }

    /// Returns the notation of a function.
    #[must_use]
    pub fn function_name(&self, function: Function) -> &str {
        match function {
            Function::Named(index) => &self.names[usize::from(index)],
            Function::Element(first) => self.inputs.place(first).map_or("?", |(name, _)| name),
            Function::Rounded => "",
            known => Function::KNOWN.iter().find(|one| one.0 == known).map_or("?", |one| one.1),
        }
    }

    /// Returns the names behind [`Function::Named`], in order. The numbers belong to this store.
    #[must_use]
    pub fn named_functions(&self) -> &[String] {
        &self.names
    }

    /// Returns the function of this name, a new one if the name is unknown; `None` after 65536 names.
    pub fn function(&mut self, name: &str) -> Option<Function> {
        if let Some((function, _)) = Function::KNOWN.iter().find(|(_, known)| *known == name) {
            return Some(*function);
        }
        let index = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u16::try_from(index).ok().map(Function::Named)
    }

    /// Builds a free variable.
    #[must_use]
    #[inline]
    pub fn input(&self, input: Input) -> Term {
        NodeId(input.0).into()
    }

    /// Builds an exact constant.
    pub fn constant(&mut self, value: Number) -> Term {
        self.constant_node(value).into()
    }

    /// Builds the value of a float: exact where it is finite, an infinity, or undefined for a NaN.
    ///
    /// Floats of 32 and fewer bits convert to this one without loss.
    pub fn float(&mut self, value: f64) -> Term {
        match Number::from_f64(value) {
            Some(number) => self.constant(number),
            None if value.is_nan() => self.undefined(),
            None => self.infinity(value < 0.0),
        }
    }

    /// +∞ or −∞.
    #[must_use]
    pub fn infinity(&self, negative: bool) -> Term {
        self.singletons[usize::from(negative)].into()
    }

    /// Builds the result of an operation defined nowhere.
    #[must_use]
    pub fn undefined(&self) -> Term {
        self.singletons[2].into()
    }

    /// Builds a constant condition.
    #[must_use]
    pub fn truth(&self, value: bool) -> Term {
        self.singletons[3 + usize::from(value)].into()
    }

    /// Builds a small integer constant.
    pub fn integer(&mut self, value: i64) -> Term {
        self.constant(value.into())
    }

    /// `a · b + c`, the main operation of kernels. Appends to `c` if `c` is a sum that nothing was appended to yet;
    /// starts a sum otherwise.
    #[inline]
    pub fn fused_multiply_add(&mut self, a: Term, b: Term, c: Term) -> Term {
        // Inputs are total and need no folding: one comparison each, and eight bytes are stored.
        if a.sum_length | b.sum_length == 0 && a.id.max(b.id) < self.first_node && c.sum_length != 0
        {
            let factors = Factors::new(false, NodeId(a.id), NodeId(b.id));
            if let Some(longer) = self.sums.append(sum_of(c), factors, false) {
                return term_of(longer);
            }
        }
        self.general_multiply_add(a, b, c)
    }

    /// `c = a · b + c` in every lane whose bit is set in `active`: one instruction of a warp.
    ///
    /// # Panics
    /// If the slices differ in length, or are longer than 64.
    pub fn fused_multiply_add_lanes(
        &mut self,
        a: &[Term],
        b: &[Term],
        c: &mut [Term],
        active: u64,
    ) {
        assert!(a.len() == b.len() && b.len() == c.len() && c.len() <= 64, "one value a lane");
        for (lane, ((a, b), c)) in a.iter().zip(b).zip(c).enumerate() {
            if active >> lane & 1 == 1 {
                *c = self.fused_multiply_add(*a, *b, *c);
            }
        }
    }

    /// `c = a · b + c` in all lanes of a warp, where `a` and `b` are the inputs numbered `factors[0][lane] - base` and
    /// `factors[1][lane] - base`. Returns `false` and does nothing if one is not an input, or if the sums have not
    /// grown together.
    ///
    /// `first` is the sum of the first lane. The sum of lane `l` has its length, and its list is `l` places later.
    #[inline]
    pub fn multiply_add_inputs(
        &mut self,
        factors: [&[u32; LANES]; 2],
        base: u32,
        first: Term,
    ) -> bool {
        let limit = self.first_node;
        first.sum_length != 0 && self.sums.append_to_all(sum_of(first), factors, (base, limit))
    }

    /// `c + Σ aᵢ · bᵢ` for inputs at these positions and a sum that nothing was appended to yet; otherwise `None`.
    #[inline]
    pub fn multiply_add_all(
        &mut self,
        products: impl ExactSizeIterator<Item = (u32, u32)> + Clone,
        c: Term,
    ) -> Option<Term> {
        let positions = products.clone().flat_map(|(a, b)| [a, b]);
        if c.sum_length == 0 || !all_below(positions, self.first_node) {
            return None;
        }
        let factors = products.map(|(a, b)| Factors::new(false, NodeId(a), NodeId(b)));
        self.sums.extend(sum_of(c), factors).map(term_of)
    }

    fn general_multiply_add(&mut self, a: Term, b: Term, c: Term) -> Term {
        let (left, right) = (self.seal(a), self.seal(b));
        if !self.is_plain(left) || !self.is_plain(right) || !self.is_plain_addend(c) {
            let product = self.multiply(a, b);
            return self.add(c, product);
        }
        let partial = self.partial_at(left) || self.partial_at(right);
        self.append(c, Factors::new(false, left, right), partial)
    }

    /// `a + b`
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.add_signed(a, false, b)
    }

    /// `a − b`
    pub fn subtract(&mut self, a: Term, b: Term) -> Term {
        self.add_signed(a, true, b)
    }

    /// *Seals* a term: returns its node, which is created on first use for a sum.
    #[inline]
    pub fn seal(&mut self, term: Term) -> NodeId {
        if term.sum_length == 0 {
            return NodeId(term.id);
        }
        let sum = sum_of(term);
        if let Some(node) = self.sums.sealed(sum) {
            return NodeId(node);
        }
        let node = self.push(Node::Sum(sum), self.sums.is_partial(sum));
        self.sums.seal(sum, node.0);
        node
    }

    /// Builds the constant 0.
    #[must_use]
    pub fn zero(&self) -> Term {
        self.zero.into()
    }

    /// Builds the constant 1.
    #[must_use]
    pub fn one(&self) -> Term {
        self.one.into()
    }

    #[inline]
    pub(crate) fn partial_at(&self, node: NodeId) -> bool {
        node.0.checked_sub(self.first_node).is_some_and(|index| self.partial[index as usize])
    }

    #[inline]
    pub(crate) fn push(&mut self, node: Node, partial: bool) -> NodeId {
        let number = self.node_count();
        assert!(number < 1 << 31, "a term store holds fewer than 2^31 nodes");
        self.nodes.push(node);
        self.partial.push(partial);
        NodeId(number as u32)
    }

    pub(crate) fn constant_id(&mut self, value: Number) -> ConstantId {
        let node = self.constant_node(value);
        match self.at(node) {
            Node::Constant(id) => id,
            // `constant_node` builds nothing else.
            other => unreachable!("constant node is {other:?}"),
        }
    }

    fn constant_node(&mut self, value: Number) -> NodeId {
        if let Some((_, node)) = self.constant_nodes.get(&value) {
            return *node;
        }
        let id = ConstantId(self.constants.len() as u32);
        self.constants.push(value.clone());
        let node = self.push(Node::Constant(id), false);
        self.constant_nodes.insert(value, (id, node));
        node
    }

    /// Returns `true` if a product with this factor cannot be folded: it is not a constant, π, infinite, undefined or
    /// a negation.
    fn is_plain(&self, node: NodeId) -> bool {
        node.position() < self.inputs.len()
            || !matches!(
                self.at(node),
                Node::Constant(_)
                    | Node::Infinity { .. }
                    | Node::Undefined
                    | Node::Negation(_)
                    | Node::Pi
            )
    }

    /// Returns `true` if a product may be appended to a term: it is neither infinite nor undefined.
    fn is_plain_addend(&self, term: Term) -> bool {
        term.sum_length != 0 || !matches!(self.node(term), Node::Infinity { .. } | Node::Undefined)
    }

    fn add_signed(&mut self, a: Term, negate_b: bool, b: Term) -> Term {
        if let Some(folded) = self.fold_addition(a, negate_b, b) {
            return folded;
        }
        // `b` is a sum and `a` is not: append to `b` instead of starting a list that refers to it.
        if a.sum_length == 0 && b.sum_length != 0 && !negate_b {
            let (factors, partial) = self.as_factors(false, a);
            return self.append(b, factors, partial);
        }
        let (factors, partial) = self.as_factors(negate_b, b);
        self.append(a, factors, partial)
    }

    /// Folds a sum with a constant zero, two constants, an infinity or an undefined operand; `None` for other sums.
    fn fold_addition(&mut self, a: Term, negate_b: bool, b: Term) -> Option<Term> {
        let (left, right) = (self.node(a), self.node(b));
        match (left, right) {
            (Node::Undefined, _) | (_, Node::Undefined) => Some(self.undefined()),
            (Node::Infinity { negative: x }, Node::Infinity { negative: y }) => {
                Some(if x == (y != negate_b) { a } else { self.undefined() })
            }
            (Node::Infinity { .. }, _) if !self.is_partial(b) => Some(a),
            (_, Node::Infinity { negative }) if !self.is_partial(a) => {
                Some(self.infinity(negative != negate_b))
            }
            (Node::Constant(x), Node::Constant(y)) => {
                let (x, y) = (self.number(x), self.number(y));
                let value = if negate_b { x - y } else { x + y };
                Some(self.constant(value))
            }
            (Node::Constant(x), _) if self.number(x).is_zero() => {
                Some(if negate_b { self.negate(b) } else { b })
            }
            (_, Node::Constant(y)) if self.number(y).is_zero() => Some(a),
            _ => None,
        }
    }

    /// Returns a summand as a signed product of two factors: `x·y`, `−x·1` or `x·1`.
    fn as_factors(&mut self, negative: bool, term: Term) -> (Factors, bool) {
        let node = self.seal(term);
        let partial = self.partial_at(node);
        let factors = match self.at(node) {
            Node::Product(left, right) => Factors::new(negative, left, right),
            Node::Negation(inner) => Factors::new(!negative, inner, self.one),
            _ => Factors::new(negative, node, self.one),
        };
        (factors, partial)
    }

    /// Starts a list with the products of a short sum whose own list has grown past it. It could
    /// refer to that sum instead, but would no longer be a plain list of products.
    fn copy_and_append(&mut self, sum: Term, factors: Factors, partial: bool) -> Term {
        let below = self.is_partial(sum);
        let products: Vec<Factors> = self.products(sum_of(sum)).flatten().copied().collect();
        let mut copy = self.sums.start(products[0], below);
        for product in products[1..].iter().copied().chain([factors]) {
            match self.sums.append(copy, product, below || partial) {
                Some(longer) => copy = longer,
                None => unreachable!("a list that was just started refused a product"),
            }
        }
        term_of(copy)
    }

    /// Appends a product to a sum, or starts a sum with both.
    fn append(&mut self, sum: Term, factors: Factors, partial: bool) -> Term {
        if sum.sum_length != 0
            && let Some(longer) = self.sums.append(sum_of(sum), factors, partial)
        {
            return term_of(longer);
        }
        if sum == self.zero() {
            return term_of(self.sums.start(factors, partial));
        }
        if (1..=MAX_COPIED_SUM).contains(&sum.sum_length) {
            return self.copy_and_append(sum, factors, partial);
        }
        let (first, first_partial) = self.as_factors(false, sum);
        let start = self.sums.start(first, first_partial);
        match self.sums.append(start, factors, partial) {
            Some(sum) => term_of(sum),
            // A list that was just started has not grown past its first product.
            None => unreachable!("fresh list refused its second product"),
        }
    }
}

fn sum_of(term: Term) -> Sum {
    Sum { list: crate::ListId(term.id), length: term.sum_length }
}

fn term_of(sum: Sum) -> Term {
    Term { id: sum.list.0, sum_length: sum.length }
}
