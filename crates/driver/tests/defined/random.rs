//! Random pairs of straight-line kernels, the second a rewrite of the first that may be wrong, judged by brute force
//! in floats. A pair must not be refuted on inputs that give both the same result. It must not be proved if the
//! reference is a defined, ordinary number for some input and the other result is far from it.

use super::{X_AND_Y, asked, kernel};
use driver::Exit;
use std::fmt::Write;
use testing::Random;

/// The number of pairs; `WARPPROOF_PAIRS` adds more.
const PAIRS: u64 = 80;

#[derive(Clone, Debug, PartialEq)]
enum Expr {
    X(usize),
    Constant(f32),
    One(Unary, Box<Expr>),
    Two(Binary, Box<Expr>, Box<Expr>),
    /// The third if the first is less than the second, otherwise the fourth.
    IfLess(Box<[Expr; 4]>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unary {
    Neg,
    Abs,
    Sqrt,
    Rsqrt,
    Rcp,
    Ex2,
    Lg2,
    /// Through half precision and back, clamped.
    Half,
    Sat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Min,
    Max,
    Add,
    Mul,
    Div,
    /// The magnitude of the other operand with the sign of the first.
    CopySign,
}

use Binary::{Add, CopySign, Div, Max, Min, Mul};
use Expr::{Constant, IfLess, One, Two, X};
use Unary::{Abs, Ex2, Half, Lg2, Neg, Rcp, Rsqrt, Sat, Sqrt};

fn expression(random: &mut Random, depth: usize) -> Expr {
    if depth == 0 {
        return match random.below(4) {
            0 => Constant(random.pick(&[0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f32::NAN])),
            _ => X(random.below(2)),
        };
    }
    let mut operand = || Box::new(expression(random, depth - 1));
    let (a, b) = (operand(), operand());
    match random.below(8) {
        0..=2 => One(random.pick(&[Neg, Abs, Abs, Sqrt, Rsqrt, Rcp, Ex2, Lg2, Half, Sat]), a),
        3..=6 => Two(random.pick(&[Min, Max, Max, Add, Mul, Div, CopySign]), a, b),
        _ => {
            let (c, d) = (expression(random, 0), expression(random, 0));
            IfLess(Box::new([c, d, *a, *b]))
        }
    }
}

/// Rewrites some part of the expression.
fn rewritten(random: &mut Random, expression: &Expr) -> Expr {
    let inside = random.below(3) > 0;
    match expression {
        One(op, a) if inside => One(*op, Box::new(rewritten(random, a))),
        Two(op, a, b) if inside && random.below(2) == 0 => {
            Two(*op, Box::new(rewritten(random, a)), b.clone())
        }
        Two(op, a, b) if inside => Two(*op, a.clone(), Box::new(rewritten(random, b))),
        other => rewritten_here(random, other),
    }
}

fn rewritten_here(random: &mut Random, e: &Expr) -> Expr {
    let boxed = || Box::new(e.clone());
    let one = |op, a: Expr| One(op, Box::new(a));
    let two = |op, a: Expr, b: Expr| Two(op, Box::new(a), Box::new(b));
    match (random.below(12), e) {
        (0..=5, Two(Max, a, b)) => {
            one(Neg, two(Min, one(Neg, (**a).clone()), one(Neg, (**b).clone())))
        }
        (0..=2, Two(Min, a, b)) => {
            IfLess(Box::new([(**a).clone(), (**b).clone(), (**a).clone(), (**b).clone()]))
        }
        (0..=3, Two(op @ (Add | Mul | Min), a, b)) => Two(*op, b.clone(), a.clone()),
        (0..=3, Two(Div, a, b)) => Two(Mul, a.clone(), Box::new(one(Rcp, (**b).clone()))),
        (0..=3, Two(CopySign, a, b)) => IfLess(Box::new([
            (**a).clone(),
            Constant(0.0),
            one(Neg, one(Abs, (**b).clone())),
            one(Abs, (**b).clone()),
        ])),
        (0..=3, One(Abs, a)) => two(Max, (**a).clone(), one(Neg, (**a).clone())),
        (4..=5, One(Abs, a)) => one(Sqrt, two(Mul, (**a).clone(), (**a).clone())),
        (0..=3, One(Sqrt, a)) => one(Rcp, one(Rsqrt, (**a).clone())),
        (4..=6, One(Sqrt, a)) => two(Mul, (**a).clone(), one(Rsqrt, (**a).clone())),
        (0..=4, One(Sat, a)) => two(Max, Constant(0.0), two(Min, (**a).clone(), Constant(1.0))),
        (6, e) => one(Rcp, one(Rcp, e.clone())),
        (7, e) => one(Ex2, one(Lg2, e.clone())),
        (8, e) => Two(
            Max,
            boxed(),
            Box::new(if random.below(2) == 0 { Constant(f32::NAN) } else { e.clone() }),
        ),
        (9, e) => two(Div, two(Mul, e.clone(), e.clone()), e.clone()),
        (10, e) => two(CopySign, e.clone(), e.clone()),
        // These are wrong more often than not.
        (11, e) => random.pick(&[
            one(Abs, e.clone()),
            one(Neg, e.clone()),
            one(Half, e.clone()),
            two(Add, e.clone(), Constant(1.0)),
        ]),
        (_, e) => one(Neg, one(Neg, e.clone())),
    }
}

impl Expr {
    /// The value in floats. Sets `tame` to false if real numbers have no such operation, if floats overflow, or if a
    /// sign is taken from a zero.
    fn value(&self, x: [f32; 2], tame: &mut bool) -> f32 {
        let result = match self {
            X(at) => x[*at],
            Constant(value) => *value,
            One(op, a) => {
                let a = a.value(x, tame);
                match op {
                    Neg => -a,
                    Abs => a.abs(),
                    Sqrt => a.sqrt(),
                    Rsqrt => 1.0 / a.sqrt(),
                    Rcp => 1.0 / a,
                    Ex2 => a.exp2(),
                    Lg2 => a.log2(),
                    Half => {
                        // The rounding of the tried numbers does not matter.
                        if a.is_nan() { a } else { a.clamp(-65504.0, 65504.0) }
                    }
                    Sat => {
                        if a.is_nan() {
                            0.0
                        } else {
                            a.clamp(0.0, 1.0)
                        }
                    }
                }
            }
            Two(op, a, b) => {
                let (a, b) = (a.value(x, tame), b.value(x, tame));
                match op {
                    Min => a.min(b),
                    Max => a.max(b),
                    Add => a + b,
                    Mul => a * b,
                    Div => a / b,
                    CopySign => {
                        *tame &= a != 0.0;
                        b.copysign(a)
                    }
                }
            }
            IfLess(parts) => {
                let [a, b] = [0, 1].map(|at: usize| parts[at].value(x, tame));
                parts[if a < b { 2 } else { 3 }].value(x, tame)
            }
        };
        *tame &= result.is_finite();
        result
    }

    /// Appends instructions; returns the register of the result.
    fn emit(&self, text: &mut String, next: &mut usize) -> String {
        let mut fresh = || {
            *next += 1;
            format!("%t{next}")
        };
        let instruction = match self {
            X(0) => return "%f1".to_owned(),
            X(_) => return "%f0".to_owned(),
            Constant(value) => {
                let register = fresh();
                let _ = writeln!(text, "mov.f32 {register}, 0f{:08X};", value.to_bits());
                return register;
            }
            One(op, a) => {
                let a = a.emit(text, next);
                match op {
                    Neg => format!("neg.f32 D, {a};"),
                    Abs => format!("abs.f32 D, {a};"),
                    Sqrt => format!("sqrt.rn.f32 D, {a};"),
                    Rsqrt => format!("rsqrt.approx.f32 D, {a};"),
                    Rcp => format!("rcp.rn.f32 D, {a};"),
                    Ex2 => format!("ex2.approx.f32 D, {a};"),
                    Lg2 => format!("lg2.approx.f32 D, {a};"),
                    Half => format!("cvt.rn.satfinite.f16.f32 %h1, {a}; cvt.f32.f16 D, %h1;"),
                    Sat => format!("cvt.sat.f32.f32 D, {a};"),
                }
            }
            Two(op, a, b) => {
                let (a, b) = (a.emit(text, next), b.emit(text, next));
                let op = match op {
                    Min => "min.f32",
                    Max => "max.f32",
                    Add => "add.rn.f32",
                    Mul => "mul.rn.f32",
                    Div => "div.rn.f32",
                    CopySign => "copysign.f32",
                };
                format!("{op} D, {a}, {b};")
            }
            IfLess(parts) => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at: usize| parts[at].emit(text, next));
                format!("setp.lt.f32 %p1, {a}, {b}; selp.f32 D, {c}, {d}, %p1;")
            }
        };
        *next += 1;
        let register = format!("%t{next}");
        let _ = writeln!(text, "{}", instruction.replace('D', &register));
        register
    }

    fn body(&self) -> String {
        let mut text = String::from(".reg .f32 %t<200>;\n");
        let last = self.emit(&mut text, &mut 0);
        text + &format!("mov.f32 %f2, {last};")
    }
}

/// The inputs that a report names; 1 for all others.
fn witness(report: &str) -> [f32; 2] {
    let at = |name: &str| {
        let rest = report.split(&format!("{name} = ")).nth(1)?;
        let number = rest.split([',', ':', '\n']).next()?;
        number.trim().parse::<f32>().ok()
    };
    [at("x[0]").unwrap_or(1.0), at("x[1]").unwrap_or(1.0)]
}

const TAME: [f32; 9] = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 7.0, -0.125];

fn check(reference: &Expr, optimised: &Expr) -> Exit {
    let bodies = [reference, optimised].map(Expr::body);
    let (exit, report) = asked([&kernel(&bodies[0]), &kernel(&bodies[1])], X_AND_Y, &[], false);
    let told = format!("{reference:?}\n{optimised:?}\n{}\n{}\n{report}", bodies[0], bodies[1]);
    match exit {
        Exit::Refuted => {
            let x = witness(&report);
            let [a, b] = [reference, optimised].map(|one| one.value(x, &mut true));
            assert!(a != b && !(a.is_nan() && b.is_nan()), "{a} and {b} at {x:?}\n{told}");
        }
        Exit::Success => {
            for x in TAME.iter().flat_map(|x| TAME.map(|y| [*x, y])) {
                let (mut tame, mut other) = (true, true);
                let a = reference.value(x, &mut tame);
                let b = optimised.value(x, &mut other);
                // Operations undefined on the right side alone are listed.
                let listed =
                    report.contains("assumed: defined(") || report.contains("zero is positive");
                let near = (a - b).abs() <= 1e-3 * a.abs().max(b.abs()).max(1.0);
                assert!(near || !tame || !other && listed, "{a} and {b} at {x:?}\n{told}");
            }
        }
        Exit::Unknown => {}
        other => panic!("{other:?}\n{told}"),
    }
    exit
}

#[test]
fn random_rewrites_are_judged_as_floats_do() {
    let more = std::env::var("WARPPROOF_PAIRS").ok().and_then(|text| text.parse::<u64>().ok());
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..PAIRS + more.unwrap_or(0) {
        let mut random = Random::new(seed);
        let depth = 1 + random.below(2);
        let reference = expression(&mut random, depth);
        let mut optimised = rewritten(&mut random, &reference);
        if random.below(2) == 0 {
            optimised = rewritten(&mut random, &optimised);
        }
        match check(&reference, &optimised) {
            Exit::Success => proved += 1,
            Exit::Refuted => refuted += 1,
            _ => {}
        }
    }
    assert!(proved > 10 && refuted > 5, "{proved} proved, {refuted} refuted");
}
