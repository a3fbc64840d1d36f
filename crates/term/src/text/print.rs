//! Terms to text, with parentheses where needed and a limit on size.

use crate::{Function, Node, NodeId, Relation, Sum, Term, Terms};

/// More operations than this are cut off with `…`: shared terms can be exponentially long.
const DEFAULT_LIMIT: usize = 2_000;
/// Nesting beyond which the printer writes `…` rather than recurse.
const MAX_DEPTH: u32 = 400;

/// Binding strengths of operators, as in the parser.
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const POWER: u8 = 8;

impl Terms {
    /// Prints the term in the text form; long terms are cut off with `…`.
    #[must_use]
    pub fn print(&self, term: Term) -> String {
        self.print_limited(term, DEFAULT_LIMIT)
    }

    /// Prints the term in the text form, cut off with `…` after `limit` operations.
    #[must_use]
    pub fn print_limited(&self, term: Term, limit: usize) -> String {
        let mut printer = Printer { terms: self, left: limit, depth: 0, text: String::new() };
        printer.node(self.node(term), 0);
        printer.text
    }
}

/// The state of a printer.
struct Printer<'a> {
    terms: &'a Terms,
    /// Number of operations that may still be printed.
    left: usize,
    depth: u32,
    text: String,
}

impl Printer<'_> {
    fn at(&mut self, node: NodeId, strength: u8) {
        self.node(self.terms.at(node), strength);
    }

    fn node(&mut self, node: Node, strength: u8) {
        if self.left == 0 || self.depth >= MAX_DEPTH {
            self.text.push('…');
            return;
        }
        self.left -= 1;
        self.depth += 1;
        self.operation(node, strength);
        self.depth -= 1;
    }

    fn operation(&mut self, node: Node, strength: u8) {
        match node {
            Node::Input(input) => self.text.push_str(&self.terms.inputs().name(input)),
            Node::Constant(constant) => {
                self.constant(&self.terms.number(constant).to_string(), strength)
            }
            Node::Pi => self.text.push_str("pi"),
            Node::Infinity { negative } => {
                self.constant(if negative { "-inf" } else { "inf" }, strength)
            }
            Node::Undefined => self.text.push_str("(1/0)"),
            Node::Sum(sum) => self.bracket(SUM < strength, |this| this.sum(sum)),
            Node::Product(a, b) => self.infix(a, "*", b, PRODUCT, strength),
            Node::Negation(a) => self.bracket(PRODUCT < strength, |this| {
                this.text.push('-');
                this.at(a, POWER);
            }),
            Node::Quotient(a, b) => self.infix(a, "/", b, PRODUCT, strength),
            Node::Power(a, exponent) => self.bracket(POWER <= strength, |this| {
                this.at(a, POWER + 1);
                let exponent = this.terms.number(exponent).to_string();
                this.text.push_str(&format!("^({exponent})"));
            }),
            Node::Exp(a) => self.call("exp", &[a]),
            Node::Log(a) => self.call("log", &[a]),
            Node::Maximum(..) => self.call("max", &self.extremes(node)),
            Node::Minimum(..) => self.call("min", &self.extremes(node)),
            Node::Absolute(a) => self.call("abs", &[a]),
            Node::Select(c, a, b) => self.call("if", &[c, a, b]),
            Node::Apply(function @ Function::Element(_), a) => {
                let name = self.terms.function_name(function).to_owned();
                self.text.push_str(&format!("{name}[["));
                self.at(a, 0);
                self.text.push_str("]]");
            }
            Node::Apply(Function::Rounded, a) => self.at(a, strength),
            Node::Apply(function, a) => {
                let name = self.terms.function_name(function).to_owned();
                self.call(&name, &[a]);
            }
            Node::Truth(value) => self.text.push_str(if value { "0 == 0" } else { "0 == 1" }),
            Node::Compare(Relation::Less, a, b) => self.infix(a, " < ", b, 4, strength),
            Node::Compare(Relation::LessEqual, a, b) => self.infix(a, " <= ", b, 4, strength),
            Node::Compare(Relation::Equal, a, b) => self.infix(a, " == ", b, 4, strength),
            Node::Not(a) => self.bracket(3 < strength, |this| {
                this.text.push_str("not ");
                this.at(a, 3);
            }),
            Node::And(a, b) => self.infix(a, " and ", b, 2, strength),
            Node::Or(a, b) => self.infix(a, " or ", b, 1, strength),
        }
    }

    /// Returns the operands of nested maxima or minima, if they are nested to the left.
    fn extremes(&self, node: Node) -> Vec<NodeId> {
        let (mut node, mut arguments) = (node, Vec::new());
        // No more than can be printed.
        while arguments.len() <= self.left {
            let next = match node {
                Node::Maximum(a, b) | Node::Minimum(a, b) => {
                    arguments.push(b);
                    a
                }
                _ => break,
            };
            let inner = self.terms.at(next);
            if std::mem::discriminant(&inner) != std::mem::discriminant(&node) {
                arguments.push(next);
                break;
            }
            node = inner;
        }
        arguments.reverse();
        arguments
    }

    fn sum(&mut self, sum: Sum) {
        let terms = self.terms;
        for (position, factors) in terms.products(sum).flatten().enumerate() {
            if self.left == 0 {
                self.text.push_str(" + …");
                return;
            }
            self.text.push_str(match (position, factors.is_negative()) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            });
            let one = |node| terms.as_number(Term::from(node)).is_some_and(crate::Number::is_one);
            if one(factors.right()) {
                self.at(factors.left(), PRODUCT);
            } else {
                self.infix(factors.left(), "*", factors.right(), PRODUCT, PRODUCT);
            }
        }
    }

    /// Prints both operands, the right one at one more than the operator's own strength, so that the text groups as
    /// the term does.
    fn infix(&mut self, a: NodeId, operator: &str, b: NodeId, operator_strength: u8, strength: u8) {
        self.bracket(operator_strength < strength, |this| {
            this.at(a, operator_strength);
            this.text.push_str(operator);
            this.at(b, operator_strength + 1);
        });
    }

    fn call(&mut self, name: &str, arguments: &[NodeId]) {
        self.text.push_str(name);
        self.text.push('(');
        for (position, argument) in arguments.iter().enumerate() {
            if position > 0 {
                self.text.push_str(", ");
            }
            self.at(*argument, 0);
        }
        self.text.push(')');
    }

    fn constant(&mut self, text: &str, strength: u8) {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.bracket(!plain && strength > 0, |this| this.text.push_str(text));
    }

    fn bracket(&mut self, needed: bool, inner: impl FnOnce(&mut Self)) {
        if needed {
            self.text.push('(');
        }
        inner(self);
        if needed {
            self.text.push(')');
        }
    }
}
