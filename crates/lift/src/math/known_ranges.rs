//! Expansions as compilers write them when they know a range of the argument.
//!
//! After `x > 1`, or for `v·v + 0.5`, a compiler leaves out the cases of zero, subnormal and negative arguments. This
//! module folds those cases out of a table entry in the same way: selects with a known condition, and known signs.
//!
//! The omitted cases are not in the code, so the code does not show that the argument is in the range. The range is
//! part of the operation ([`ArgumentRange`]), and a proof that uses the function has to show it. These forms are only
//! searched for after the complete ones.

use super::template::{Part, Step, Template};
use ir::{ArgumentRange, Format, RealFunction};

/// Facts that a compiler may know about an argument.
const FACTS: [ArgumentRange; 3] =
    [ArgumentRange::NotZero, ArgumentRange::NotNegative, ArgumentRange::Normal];

const SIGN: u64 = 1 << 31;
const LEAST_NORMAL: u64 = 0x0080_0000;

/// Returns the expansions that remain when a fact about the argument is known.
pub(crate) fn variants(template: &Template) -> Vec<Template> {
    let one = template.function.arguments() == 1 && template.format == Format::F32;
    // `RoundAway` is another function over the reals outside the range; it is executed as it is.
    if !one || template.function == RealFunction::RoundAway || template.is_partial() {
        return Vec::new();
    }
    FACTS.into_iter().filter_map(|fact| Specialiser::new(template, fact).fold()).collect()
}

/// The result of folding a step.
#[derive(Clone, Copy, Debug)]
enum Folded {
    Value(Part),
    Truth(bool),
}

impl Folded {
    fn flipped(self, negated: bool) -> Self {
        match self {
            Self::Value(part) => Self::Value(flipped(part, negated)),
            Self::Truth(truth) => Self::Truth(truth != negated),
        }
    }
}

fn flipped(part: Part, negated: bool) -> Part {
    Part { negated: part.negated != negated, ..part }
}

/// Folds the cases out of a template that a fact excludes.
struct Specialiser<'t> {
    template: &'t Template,
    fact: ArgumentRange,
    steps: Vec<Step>,
    folded: Vec<Folded>,
    changed: bool,
}

impl<'t> Specialiser<'t> {
    fn new(template: &'t Template, fact: ArgumentRange) -> Self {
        Self { template, fact, steps: Vec::new(), folded: Vec::new(), changed: false }
    }

    /// Returns the template that remains; `None` if nothing can be left out.
    fn fold(mut self) -> Option<Template> {
        for step in &self.template.steps {
            let folded = match step {
                Step::Op(name, parts) => self.operation(name, parts)?,
                Step::Hole(_) | Step::Bits(_) => self.push(step.clone()),
                Step::Fast(..) => return None,
            };
            self.folded.push(folded);
        }
        let Folded::Value(root) = self.at(self.template.root) else { return None };
        if !self.changed || !matches!(self.steps[root.step], Step::Op(..)) {
            return None;
        }
        let (steps, root) = reachable(&self.steps, root);
        Some(Template { steps, root, range: Some(self.fact), ..self.template.clone() })
    }

    fn push(&mut self, step: Step) -> Folded {
        self.steps.push(step);
        Folded::Value(Part { step: self.steps.len() - 1, negated: false })
    }

    fn at(&self, part: Part) -> Folded {
        self.folded[part.step].flipped(part.negated)
    }

    /// Folds a step given its folded operands; `None` if a truth is left where a value belongs.
    fn operation(&mut self, name: &'static str, parts: &[Part]) -> Option<Folded> {
        let operands: Vec<Folded> = parts.iter().map(|part| self.at(*part)).collect();
        if let ("select", &[Folded::Truth(truth), a, b]) = (name, operands.as_slice()) {
            self.changed = true;
            return Some(if truth { a } else { b });
        }
        let value = |folded: &Folded| match folded {
            Folded::Value(part) => Some(*part),
            Folded::Truth(_) => None,
        };
        let values = operands.iter().map(value).collect::<Option<Vec<Part>>>()?;
        let known = match (name, values.as_slice()) {
            ("less", &[a, b]) if self.is_argument(a) => self.is_above(b).then_some(false),
            ("equal", &[a, b]) if self.bits(b) == Some(0) => self.never_zero(a).then_some(false),
            ("int.less.sb32", &[a, b]) if self.is_argument(a) && self.is_not_negative() => {
                self.bits(b).filter(|bits| bits & SIGN != 0).map(|_| false)
            }
            _ => None,
        };
        if let Some(truth) = known {
            self.changed = true;
            return Some(Folded::Truth(truth));
        }
        Some(match (name, values.as_slice()) {
            ("copysign", &[a, b]) if self.is_argument(a) && self.is_not_negative() => {
                self.changed = true;
                Folded::Value(self.absolute(b))
            }
            ("int.and.b32", &[a, b])
                if self.is_argument(a) && self.is_not_negative() && self.bits(b) == Some(SIGN) =>
            {
                self.changed = true;
                self.push(Step::Bits(0))
            }
            ("int.or.b32", &[a, b]) if self.bits(b) == Some(0) => Folded::Value(a),
            ("int.or.b32", &[a, b]) if self.bits(a) == Some(0) => Folded::Value(b),
            _ => self.push(Step::Op(name, values)),
        })
    }

    fn is_argument(&self, part: Part) -> bool {
        !part.negated && matches!(self.steps[part.step], Step::Hole(0))
    }

    fn is_not_negative(&self) -> bool {
        matches!(self.fact, ArgumentRange::NotNegative | ArgumentRange::Normal)
    }

    /// Returns the bits of a constant, with its sign.
    fn bits(&self, part: Part) -> Option<u64> {
        match self.steps[part.step] {
            Step::Bits(bits) => Some(if part.negated { bits ^ SIGN } else { bits }),
            _ => None,
        }
    }

    /// Returns `true` if the argument is known to be at least a constant.
    fn is_above(&self, constant: Part) -> bool {
        let Some(bits) = self.bits(constant) else { return false };
        let not_positive = bits & SIGN != 0 || bits == 0;
        match self.fact {
            ArgumentRange::NotNegative => not_positive,
            ArgumentRange::Normal => not_positive || bits <= LEAST_NORMAL,
            _ => false,
        }
    }

    /// Returns `true` if the value is the argument, scaled or not, and known to be nonzero.
    fn never_zero(&self, part: Part) -> bool {
        if self.fact == ArgumentRange::NotNegative {
            return false;
        }
        let is_scaled = |part: Part| match &self.steps[part.step] {
            Step::Op("mul", parts) => {
                parts.iter().any(|part| self.bits(*part).is_some_and(|bits| bits != 0))
                    && parts.iter().any(|part| self.is_argument(*part))
            }
            _ => self.is_argument(part),
        };
        match &self.steps[part.step] {
            Step::Op("select", parts) => parts.iter().skip(1).all(|part| is_scaled(*part)),
            _ => is_scaled(part),
        }
    }

    /// Builds `|a|` as a compiler writes it: pushed into selects, folded for constants.
    fn absolute(&mut self, part: Part) -> Part {
        let folded = match self.steps[part.step].clone() {
            Step::Bits(bits) => self.push(Step::Bits(bits & !SIGN)),
            Step::Op("select", parts) => match parts.as_slice() {
                &[condition, a, b] => {
                    let (a, b) = (self.absolute(a), self.absolute(b));
                    self.push(Step::Op("select", vec![condition, a, b]))
                }
                _ => self.push(Step::Op("abs", vec![part])),
            },
            _ => self.push(Step::Op("abs", vec![Part { negated: false, ..part }])),
        };
        match folded {
            Folded::Value(part) => part,
            Folded::Truth(_) => part,
        }
    }
}

/// Keeps the steps that a root needs; the arguments stay in front.
fn reachable(steps: &[Step], root: Part) -> (Vec<Step>, Part) {
    const ARGUMENTS: usize = 2;
    let mut needed = vec![false; steps.len()];
    needed[..ARGUMENTS].fill(true);
    needed[root.step] = true;
    for at in (0..steps.len()).rev().filter(|at| *at >= ARGUMENTS) {
        if let (true, Step::Op(_, parts)) = (needed[at], &steps[at]) {
            parts.iter().for_each(|part| needed[part.step] = true);
        }
    }
    let mut places = vec![0; steps.len()];
    let mut kept = Vec::new();
    for (at, step) in steps.iter().enumerate().filter(|(at, _)| needed[*at]) {
        places[at] = kept.len();
        kept.push(match step {
            Step::Op(name, parts) => {
                let renumbered = |part: &Part| Part { step: places[part.step], ..*part };
                Step::Op(name, parts.iter().map(renumbered).collect())
            }
            other => other.clone(),
        });
    }
    (kept, Part { step: places[root.step], ..root })
}
