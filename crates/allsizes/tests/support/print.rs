//! Kernel IR as text, for comparison and inspection. Variables are numbered in order of their first occurrence.

use kir::{Expr, ExprKind, Kernel, Stmt, VarId};
use std::collections::BTreeMap;
use std::fmt::Write;

struct Printer<'k> {
    kernel: &'k Kernel,
    numbers: BTreeMap<VarId, usize>,
    out: String,
}

/// The text of a kernel, one statement per line.
pub(crate) fn printed(kernel: &Kernel) -> String {
    let mut printer = Printer { kernel, numbers: BTreeMap::new(), out: String::new() };
    for var in &kernel.scalars {
        let text = printer.var(*var);
        writeln!(printer.out, "scalar {text}: {}", kernel.vars[*var].ty.name()).unwrap();
    }
    for array in kernel.arrays.iter() {
        let sizes: Vec<String> = array
            .dimensions
            .iter()
            .map(|one| one.as_ref().map_or("?".to_owned(), |one| printer.expr(one)))
            .collect();
        let constant = if array.constant { "const " } else { "" };
        writeln!(
            printer.out,
            "array {constant}{:?} {} {} [{}]",
            array.space,
            array.element.name(),
            array.name,
            sizes.join("][")
        )
        .unwrap();
    }
    for one in &kernel.requires {
        let text = printer.expr(&one.condition);
        writeln!(printer.out, "requires {text}").unwrap();
    }
    for one in &kernel.ensures {
        let text = printer.expr(&one.condition);
        writeln!(printer.out, "ensures {text}").unwrap();
    }
    printer.statements(&kernel.body, 0);
    for one in &kernel.unfollowed {
        writeln!(printer.out, "unfollowed {}", one.why).unwrap();
    }
    printer.out
}

impl Printer<'_> {
    fn var(&mut self, var: VarId) -> String {
        let next = self.numbers.len();
        let number = *self.numbers.entry(var).or_insert(next);
        format!("{}#{number}", self.kernel.vars[var].name)
    }

    fn list(&mut self, list: &[Expr]) -> String {
        let texts: Vec<String> = list.iter().map(|one| self.expr(one)).collect();
        texts.join(", ")
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Int(value) => value.to_string(),
            ExprKind::Float(value) => format!("{value:?}"),
            ExprKind::Var(var) => self.var(*var),
            ExprKind::Builtin(builtin, axis) => builtin.name(*axis),
            ExprKind::Unary(operator, inner) => format!("{operator:?}({})", self.expr(inner)),
            ExprKind::Binary(operator, left, right) => {
                format!(
                    "{operator:?}.{}({}, {})",
                    expr.ty.name(),
                    self.expr(left),
                    self.expr(right)
                )
            }
            ExprKind::Compare(operator, left, right) => {
                format!("{operator:?}({}, {})", self.expr(left), self.expr(right))
            }
            ExprKind::And(left, right) => format!("({} && {})", self.expr(left), self.expr(right)),
            ExprKind::Or(left, right) => format!("({} || {})", self.expr(left), self.expr(right)),
            ExprKind::Select(condition, then, otherwise) => format!(
                "({} ? {} : {})",
                self.expr(condition),
                self.expr(then),
                self.expr(otherwise)
            ),
            ExprKind::Convert(inner) => format!("<{}>{}", expr.ty.name(), self.expr(inner)),
            ExprKind::Call(name, arguments) => format!("{name}({})", self.list(arguments)),
            ExprKind::Element(array, when, index) => {
                let name = self.kernel.arrays[*array].name.clone();
                format!("{name}@{when:?}[{}]", self.list(index))
            }
            ExprKind::Quantified(quantifier, vars, body) => {
                let vars: Vec<String> = vars.iter().map(|one| self.var(*one)).collect();
                format!("{quantifier:?} {}; {}", vars.join(", "), self.expr(body))
            }
            ExprKind::Fold(fold) => format!(
                "fold({:?}, {}, {}, {}, {})",
                fold.op,
                self.var(fold.var),
                self.expr(&fold.low),
                self.expr(&fold.high),
                self.expr(&fold.body)
            ),
            ExprKind::Combine(monoid, arguments) => {
                format!("{}!({})", monoid.name, self.list(arguments))
            }
            ExprKind::Other(inner) => format!("other({})", self.expr(inner)),
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.out, "{}{text}", "  ".repeat(depth)).unwrap();
    }

    fn statements(&mut self, statements: &[Stmt], depth: usize) {
        for statement in statements {
            self.statement(statement, depth);
        }
    }

    fn element(&mut self, element: &kir::Element) -> String {
        let name = self.kernel.arrays[element.array].name.clone();
        format!("{name}[{}]", self.list(&element.index))
    }

    fn statement(&mut self, statement: &Stmt, depth: usize) {
        let text = match statement {
            Stmt::Assign(var, value) => {
                let value = self.expr(value);
                format!("{} = {value}", self.var(*var))
            }
            Stmt::Load(var, element) => {
                let element = self.element(element);
                format!("{} = {element}", self.var(*var))
            }
            Stmt::Store(element, value) => {
                format!("{} = {}", self.element(element), self.expr(value))
            }
            Stmt::Unknown(var) => format!("{} = ?", self.var(*var)),
            Stmt::Bits(var, name, arguments) => {
                format!("{} = {name}({})", self.var(*var), self.list(arguments))
            }
            Stmt::Atomic { result, op, element, operands } => format!(
                "{} = {op:?}({}; {})",
                self.var(*result),
                self.element(element),
                self.list(operands)
            ),
            Stmt::If(condition, then, otherwise) => {
                let condition = self.expr(condition);
                self.line(depth, &format!("if {condition}"));
                self.statements(then, depth + 1);
                if !otherwise.is_empty() {
                    self.line(depth, "else");
                    self.statements(otherwise, depth + 1);
                }
                return;
            }
            Stmt::Loop(inner) => {
                self.line(depth, "loop");
                for one in &inner.invariants {
                    let text = self.expr(one);
                    self.line(depth + 1, &format!("invariant {text}"));
                }
                for one in &inner.claims {
                    let text = self.expr(&one.condition);
                    self.line(depth + 1, &format!("claim {text}"));
                }
                self.statements(&inner.head, depth + 1);
                let condition = self.expr(&inner.condition);
                self.line(depth, &format!("while {condition}"));
                self.statements(&inner.body, depth + 1);
                self.line(depth, "step");
                self.statements(&inner.step, depth + 1);
                return;
            }
            Stmt::Claims(claims) => {
                for one in claims {
                    let text = self.expr(&one.condition);
                    self.line(depth, &format!("claim {text}"));
                }
                return;
            }
            Stmt::Given(given) => format!("given {}", given.name),
            Stmt::Barrier(_) => "barrier".to_owned(),
            Stmt::Warp(_) => "warp".to_owned(),
            Stmt::Return => "return".to_owned(),
            Stmt::Break => "break".to_owned(),
            Stmt::Continue => "continue".to_owned(),
            Stmt::Assert(condition) => format!("assert {}", self.expr(condition)),
            Stmt::Used(condition, _) => format!("use {}", self.expr(condition)),
            Stmt::Assume(condition) => format!("assume {}", self.expr(condition)),
        };
        self.line(depth, &text);
    }
}
