//! Checks that a single error in our reading is found: kernels of `corpus/param`, as NVRTC compiled them
//! (`corpus/param/ptx`), against our reading with one operator, constant, type or built-in value changed.

use super::compiled::Program;
use super::data::Discrepancy;
use super::error::Skip;
use super::instances;
use super::work::Work;
use kir::{AtomicOp, Binary, Builtin, Compare, Element, Expr, ExprKind, Kernel, Stmt, Type};
use std::path::Path;

const KERNELS: [&str; 8] = [
    "compact",
    "convolution",
    "gather",
    "grid_stride",
    "histogram",
    "reduce_halving",
    "reverse",
    "saxpy",
];

/// The result of a comparison.
#[derive(Debug, PartialEq)]
enum TestResult {
    Same,
    Different(Discrepancy),
    /// Our reading has findings, so nothing of it is proved; or nothing was compared.
    Unproved,
}

fn read(name: &str) -> (Kernel, String, Program) {
    let folder = testing::corpus::root().join("corpus/param");
    let text = std::fs::read_to_string(folder.join(format!("{name}.cu"))).unwrap();
    let ptx = std::fs::read_to_string(folder.join(format!("ptx/{name}.ptx"))).unwrap();
    let (_, kernel) = cuda_front::kernels(&text).unwrap().remove(0);
    (kernel.unwrap(), text, Program::read(&ptx).unwrap())
}

fn compare(kernel: &Kernel, text: &str, program: &Program) -> TestResult {
    let signature = kernel.signature.as_ref().unwrap();
    let mut work = Work::new(kernel, signature, text);
    let group = instances::groups(kernel, signature, text).unwrap().remove(0);
    let instance = &group.instances[0];
    match work.instance(&[program.first_kernel()], instance).unwrap() {
        Some(difference) => TestResult::Different(difference.what),
        None if work.skipped.contains(&Skip::Finding) || work.summary.runs == 0 => {
            TestResult::Unproved
        }
        None => TestResult::Same,
    }
}

#[test]
fn right_readings_agree() {
    for name in KERNELS {
        let (kernel, text, program) = read(name);
        assert_eq!(compare(&kernel, &text, &program), TestResult::Same, "{name}");
    }
}

#[test]
fn readings_with_a_mistake_are_found() {
    let (mut found, mut unproved, mut survivors) = (0, 0, Vec::new());
    for name in KERNELS {
        let (kernel, text, program) = read(name);
        for number in 0.. {
            let Some((mutant, what)) = mutate(&kernel, number) else { break };
            match compare(&mutant, &text, &program) {
                TestResult::Different(_) => found += 1,
                TestResult::Unproved => unproved += 1,
                TestResult::Same => survivors.push(format!("{name}: {what}")),
            }
        }
    }
    let all = found + survivors.len();
    assert!(found >= 60, "{found} mutants are found, {unproved} have findings of their own");
    assert!(survivors.len() * 4 <= all, "{} of {all} survive: {survivors:#?}", survivors.len());
}

/// Changes one place of a kernel.
struct Mutator {
    /// Number of places to skip.
    left: usize,
    done: Option<String>,
}

fn mutate(kernel: &Kernel, number: usize) -> Option<(Kernel, String)> {
    let mut mutant = kernel.clone();
    let mut mutator = Mutator { left: number, done: None };
    mutator.statements(&mut mutant.body);
    mutator.done.map(|what| (mutant, what))
}

impl Mutator {
    /// Returns `true` at the place to change, and counts the places before it.
    fn here(&mut self) -> bool {
        let here = self.left == 0 && self.done.is_none();
        self.left = self.left.saturating_sub(usize::from(!here));
        here
    }

    fn statements(&mut self, list: &mut [Stmt]) {
        for statement in list {
            match statement {
                Stmt::Assign(_, value) => self.expr(value),
                Stmt::Load(_, element) => self.element(element),
                Stmt::Store(element, value) => {
                    self.element(element);
                    self.expr(value);
                }
                Stmt::Atomic { op, element, operands, .. } => {
                    if self.here() {
                        let other =
                            if *op == AtomicOp::Add { AtomicOp::Sub } else { AtomicOp::Add };
                        self.done = Some(format!("{op:?} is {other:?}"));
                        *op = other;
                    }
                    self.element(element);
                    operands.iter_mut().for_each(|operand| self.expr(operand));
                }
                Stmt::If(condition, then, otherwise) => {
                    self.expr(condition);
                    self.statements(then);
                    self.statements(otherwise);
                }
                Stmt::Loop(inner) => {
                    self.statements(&mut inner.head);
                    self.expr(&mut inner.condition);
                    self.statements(&mut inner.body);
                    self.statements(&mut inner.step);
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, element: &mut Element) {
        element.index.iter_mut().for_each(|one| self.expr(one));
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.own(expr);
        match &mut expr.kind {
            ExprKind::Unary(_, inner) | ExprKind::Convert(inner) => self.expr(inner),
            ExprKind::Binary(_, left, right)
            | ExprKind::Compare(_, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Select(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Call(_, arguments) => {
                arguments.iter_mut().for_each(|argument| self.expr(argument))
            }
            _ => {}
        }
    }

    fn own(&mut self, expr: &mut Expr) {
        let before = format!("{:?}", expr.kind);
        let changed = match (&mut expr.kind, expr.ty) {
            (ExprKind::Binary(operator, ..), _) if self.here() => {
                *operator = other_operator(*operator);
                true
            }
            (ExprKind::Compare(operator, ..), _) if self.here() => {
                *operator = other_comparison(*operator);
                true
            }
            (ExprKind::Int(value), Type::Int { .. }) if self.here() => {
                *value += 1;
                true
            }
            (ExprKind::Float(value), _) if self.here() => {
                *value += 1.0;
                true
            }
            (ExprKind::Builtin(builtin, _), _) if self.here() => {
                *builtin = match builtin {
                    Builtin::Thread => Builtin::Block,
                    Builtin::Block => Builtin::Thread,
                    Builtin::BlockDim => Builtin::GridDim,
                    Builtin::GridDim => Builtin::BlockDim,
                };
                true
            }
            _ => false,
        };
        if changed {
            let short: String = before.chars().take(60).collect();
            self.done = Some(format!("{short} at {:?}", expr.span));
        }
    }
}

fn other_operator(operator: Binary) -> Binary {
    match operator {
        Binary::Add => Binary::Sub,
        Binary::Sub => Binary::Add,
        Binary::Mul => Binary::Add,
        Binary::Div => Binary::Mul,
        Binary::Rem => Binary::Div,
        Binary::Shl => Binary::Shr,
        Binary::Shr => Binary::Shl,
        Binary::BitAnd => Binary::BitOr,
        Binary::BitOr => Binary::BitXor,
        Binary::BitXor => Binary::BitAnd,
        Binary::Min => Binary::Max,
        Binary::Max => Binary::Min,
    }
}

fn other_comparison(operator: Compare) -> Compare {
    match operator {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Le,
        Compare::Le => Compare::Lt,
        Compare::Gt => Compare::Ge,
        Compare::Ge => Compare::Gt,
    }
}

/// Changed types of conversions: a narrower or an unsigned one is found where contents are wide.
#[test]
fn readings_with_a_wrong_type_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prove/compare");
    let text = std::fs::read_to_string(folder.join("types.cu")).unwrap();
    let ptx = std::fs::read_to_string(folder.join("types.ptx")).unwrap();
    let program = Program::read(&ptx).unwrap();
    let (_, kernel) = cuda_front::kernels(&text).unwrap().remove(0);
    let kernel = kernel.unwrap();
    assert_eq!(compare(&kernel, &text, &program), TestResult::Same);
    let (mut found, mut survivors) = (0, Vec::new());
    for number in 0.. {
        let Some((mutant, what)) = retype(&kernel, number) else { break };
        match compare(&mutant, &text, &program) {
            TestResult::Different(_) | TestResult::Unproved => found += 1,
            TestResult::Same => survivors.push(what),
        }
    }
    // Many conversions are of numbers that both types hold, or store the same bits: only the number found counts.
    assert!(found >= 12, "{found} found, survivors: {survivors:#?}");
}

/// Changes the type of one conversion.
fn retype(kernel: &Kernel, number: usize) -> Option<(Kernel, String)> {
    fn each(expr: &mut Expr, left: &mut usize, done: &mut Option<String>) {
        let own = matches!(expr.kind, ExprKind::Convert(_));
        if let (true, Type::Int { bits, signed }) = (own, expr.ty) {
            let others = [(bits, !signed), (bits / 2, signed)];
            for (bits, signed) in others.into_iter().filter(|(bits, _)| *bits >= 8) {
                if *left == 0 && done.is_none() {
                    *done = Some(format!("{:?} is {bits} bits, signed {signed}", expr.ty));
                    expr.ty = Type::Int { bits, signed };
                }
                *left = left.saturating_sub(1);
            }
        }
        match &mut expr.kind {
            ExprKind::Unary(_, inner) | ExprKind::Convert(inner) => each(inner, left, done),
            ExprKind::Binary(_, one, two) | ExprKind::Compare(_, one, two) => {
                each(one, left, done);
                each(two, left, done);
            }
            _ => {}
        }
    }
    let mut mutant = kernel.clone();
    let (mut left, mut done) = (number, None);
    for statement in &mut mutant.body {
        if let Stmt::Assign(_, value) | Stmt::Store(_, value) = statement {
            each(value, &mut left, &mut done);
        }
    }
    done.map(|what| (mutant, what))
}
