//! Runs both kernels on terms and compares their outputs.

use crate::symbolic::Symbolic;
use decide::{Budget, Decision, Point, Problem, decide};
use exec::domain::InputSource;
use exec::{Element, Launch, Limits, Lost, Outcome, Results};
use ir::{Program, Scalar};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use term::{Inputs, Term};

/// Outputs decided at once: they share what lies below them.
const BATCH: usize = 4096;

/// Characters of an expression that a report shows.
const SHOWN: usize = 240;

/// One of the two kernels.
#[derive(Clone, Debug)]
pub struct Side<'s> {
    /// Its program.
    pub program: &'s Program,
    /// Its launch.
    pub launch: &'s Launch,
    /// Inputs with a name: inputs of the two sides with one name are the same.
    pub inputs: Vec<Input>,
    /// Outputs with a name.
    pub outputs: Vec<Output>,
}

/// A tensor or scalar whose values are symbols.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Where the launch has it.
    pub source: InputSource,
    /// What its elements are.
    pub scalar: Scalar,
    /// What it is.
    pub kind: InputKind,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A single number.
    Scalar,
    /// This many elements.
    Tensor(u32),
}

/// A tensor that is written.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The buffer.
    pub buffer: usize,
    /// What its elements are.
    pub scalar: Scalar,
    /// The first byte of each element, in the order of the indices.
    pub starts: Vec<usize>,
}

/// An element of an output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The output.
    pub name: String,
    /// The element, in the order of the indices.
    pub index: usize,
}

/// Two elements that are not equal.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which.
    pub position: Position,
    /// The expressions of both sides, shortened.
    pub expressions: [String; 2],
    /// Inputs at which they differ, by name, and what each is.
    pub point: Point,
    /// The same by name and index, for those that matter to either side.
    pub inputs: Vec<(String, f64)>,
    /// Values of both sides there; `None` if undefined.
    pub values: [Option<f64>; 2],
}

/// Why an element is not settled.
#[derive(Clone, Debug)]
pub struct Unsettled {
    /// Which.
    pub position: Position,
    /// Why, as a clause.
    pub reason: String,
}

/// What is known of the outputs.
#[derive(Debug)]
pub enum Answer {
    /// All are equal.
    Equal,
    /// One is not.
    Different(Box<Difference>),
    /// Some are not settled; the first of them, and how many there are.
    Unknown(Box<Unsettled>, usize),
    /// The sides do not fit together.
    Mismatch(String),
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// What the runs found, reference first.
    pub outcomes: [Outcome; 2],
    /// What is known of the outputs; `None` if a run did not come to its end.
    pub answer: Option<Answer>,
    /// Output elements that were compared.
    pub elements: usize,
    /// How many each rung decided.
    pub rungs: BTreeMap<String, usize>,
    /// Conditions under which the optimised side is defined, which do not follow from the reference.
    pub conditions: BTreeSet<String>,
    /// Constants taken for transcendental numbers.
    pub snapped: BTreeSet<&'static str>,
}

/// A side after its run.
struct Ran {
    outcome: Outcome,
    results: Results,
    domain: Symbolic,
}

/// Runs both sides and compares their outputs.
#[must_use]
pub fn compare(sides: [&Side<'_>; 2], limits: Limits, snap: bool) -> Compared {
    let table = match inputs(sides) {
        Ok(table) => table,
        Err(reason) => return mismatch(sides, limits, reason),
    };
    let [reference, optimised] = sides.map(|side| run(side, &table, limits, snap));
    let mut compared = Compared {
        outcomes: [reference.outcome.clone(), optimised.outcome.clone()],
        answer: None,
        elements: 0,
        rungs: BTreeMap::new(),
        conditions: BTreeSet::new(),
        snapped: reference.domain.snapped() | optimised.domain.snapped(),
    };
    if compared.outcomes.iter().all(|outcome| outcome.gap.is_none()) {
        let mut ran = [reference, optimised];
        let answer = Outputs { sides, ran: &mut ran, compared: &mut compared }.compare();
        compared.answer = Some(answer);
    }
    compared
}

fn mismatch(sides: [&Side<'_>; 2], limits: Limits, reason: String) -> Compared {
    let outcomes = sides.map(|side| exec::check(side.program, side.launch, limits));
    Compared {
        outcomes,
        answer: Some(Answer::Mismatch(reason)),
        elements: 0,
        rungs: BTreeMap::new(),
        conditions: BTreeSet::new(),
        snapped: BTreeSet::new(),
    }
}

/// All inputs of both sides, and the position of each by name.
struct Table {
    inputs: Arc<Inputs>,
    first: FxHashMap<String, usize>,
}

fn inputs(sides: [&Side<'_>; 2]) -> Result<Table, String> {
    let mut inputs = Inputs::new();
    let mut known: FxHashMap<String, (usize, &Input)> = FxHashMap::default();
    for input in sides.iter().flat_map(|side| &side.inputs) {
        let name = &input.name;
        match known.get(name) {
            Some((_, other)) if other.kind != input.kind => {
                return Err(format!("`{name}` is of another size on the other side"));
            }
            Some((_, other)) if !same_numbers(other.scalar, input.scalar) => {
                return Err(format!("`{name}` is of another type on the other side"));
            }
            Some(_) => continue,
            None => {}
        }
        let first = match input.kind {
            InputKind::Scalar => inputs.scalar(name),
            InputKind::Tensor(length) => inputs.tensor(name, length),
        };
        let first = first.map_err(|_| "there are too many inputs".to_owned())?;
        known.insert(name.clone(), (first.position(), input));
    }
    let first = known.into_iter().map(|(name, (first, _))| (name, first)).collect();
    Ok(Table { inputs: Arc::new(inputs), first })
}

/// Whether one symbol can stand for elements of both types: floats are reals whatever their format,
/// integers are what their type makes of the bits.
fn same_numbers(a: Scalar, b: Scalar) -> bool {
    matches!((a, b), (Scalar::Float(_), Scalar::Float(_))) || a == b
}

fn run(side: &Side<'_>, table: &Table, limits: Limits, snap: bool) -> Ran {
    let sources = side.inputs.iter();
    let sources = sources.map(|input| (input.source, table.first[&input.name])).collect();
    let mut domain = Symbolic::new(Arc::clone(&table.inputs), sources, snap);
    let (outcome, results) = exec::check_in(side.program, side.launch, limits, &mut domain);
    Ran { outcome, results, domain }
}

/// The outputs of both sides on their way to an answer.
struct Outputs<'o, 's> {
    sides: [&'o Side<'s>; 2],
    ran: &'o mut [Ran; 2],
    compared: &'o mut Compared,
}

/// What an element is.
enum Found {
    Term(Term),
    Bits(u64),
    Unwritten,
    Lost(Lost),
}

impl Outputs<'_, '_> {
    fn compare(&mut self) -> Answer {
        if self.ran.iter().any(|ran| ran.domain.is_exhausted()) {
            return Answer::Mismatch("the kernels compute more values than can be kept".to_owned());
        }
        let names = self.sides.map(|side| {
            side.outputs.iter().map(|output| output.name.clone()).collect::<BTreeSet<String>>()
        });
        if let Some(name) = names[0].symmetric_difference(&names[1]).next() {
            return Answer::Mismatch(format!("`{name}` is an output of one side alone"));
        }
        let mut open: Option<(Box<Unsettled>, usize)> = None;
        for name in &names[0] {
            let outputs = self
                .sides
                .map(|side| side.outputs.iter().find(|output| output.name == *name).cloned());
            let [Some(one), Some(other)] = outputs else { continue };
            if one.starts.len() != other.starts.len() {
                return Answer::Mismatch(format!("`{name}` is of another size on the other side"));
            }
            for first in (0..one.starts.len()).step_by(BATCH) {
                let last = one.starts.len().min(first + BATCH);
                match self.batch([&one, &other], first..last) {
                    Ok(None) => {}
                    Ok(Some((unsettled, count))) => match &mut open {
                        Some((_, total)) => *total += count,
                        None => open = Some((unsettled, count)),
                    },
                    Err(difference) => return Answer::Different(difference),
                }
            }
        }
        match open {
            Some((unsettled, count)) => Answer::Unknown(unsettled, count),
            // Nothing compared is nothing proved.
            None if self.compared.elements == 0 => {
                Answer::Mismatch("there is no output to compare".to_owned())
            }
            None => Answer::Equal,
        }
    }

    fn find(&mut self, side: usize, output: &Output, index: usize) -> Found {
        let Ran { results, domain, .. } = &mut self.ran[side];
        let (start, scalar) = (output.starts[index], output.scalar);
        if let Scalar::Float(format) = scalar {
            return match results.real(domain, output.buffer, start, format) {
                Ok(value) => Found::Term(domain.term(value)),
                Err(Element::Lost(lost)) => Found::Lost(lost),
                Err(_) => Found::Unwritten,
            };
        }
        match results.element(domain, output.buffer, start, scalar) {
            Element::Bits(bits) => Found::Bits(bits),
            Element::Value(value) => Found::Term(domain.term(value)),
            Element::Lost(lost) => Found::Lost(lost),
            Element::Unwritten => Found::Unwritten,
        }
    }

    /// Compares some elements: those that are not settled, or a difference.
    fn batch(
        &mut self,
        outputs: [&Output; 2],
        elements: std::ops::Range<usize>,
    ) -> Result<Option<(Box<Unsettled>, usize)>, Box<Difference>> {
        let name = &outputs[0].name;
        let mut open: Vec<Unsettled> = Vec::new();
        let mut pairs = Vec::new();
        let mut indices = Vec::new();
        for index in elements {
            self.compared.elements += 1;
            let position = Position { name: name.clone(), index };
            let found = [self.find(0, outputs[0], index), self.find(1, outputs[1], index)];
            let reason = match found {
                [Found::Term(a), _] if self.ran[0].domain.may_be_undefined(a) => {
                    "the reference computes or writes it only under a condition".to_owned()
                }
                [Found::Term(a), Found::Term(b)] => {
                    pairs.push((a, b));
                    indices.push(index);
                    continue;
                }
                [Found::Bits(a), Found::Bits(b)] if a == b => {
                    *self.compared.rungs.entry("equal bits".to_owned()).or_default() += 1;
                    continue;
                }
                [Found::Bits(_), Found::Bits(_)] => "they are different integers".to_owned(),
                [Found::Lost(lost), _] | [_, Found::Lost(lost)] => {
                    format!("it is a value {}", lost.reason)
                }
                [Found::Unwritten, _] => "the reference does not write it".to_owned(),
                [_, Found::Unwritten] => "the optimised kernel does not write it".to_owned(),
                _ => "one is an integer and the other is not known".to_owned(),
            };
            open.push(Unsettled { position, reason });
        }
        self.decide(name, &pairs, &indices, &mut open)?;
        let count = open.len();
        Ok(open.into_iter().next().map(|first| (Box::new(first), count)))
    }

    fn decide(
        &mut self,
        name: &str,
        pairs: &[(Term, Term)],
        indices: &[usize],
        open: &mut Vec<Unsettled>,
    ) -> Result<(), Box<Difference>> {
        let [reference, optimised] = &*self.ran;
        let (reference, optimised) = (&reference.domain.terms, &optimised.domain.terms);
        let problem = Problem { reference, optimised, assumptions: &[] };
        let budget = Budget { differences: 1, ..Budget::default() };
        let decisions = decide(&problem, pairs, &budget);
        for ((decision, pair), &index) in decisions.iter().zip(pairs).zip(indices) {
            let position = Position { name: name.to_owned(), index };
            match decision {
                Decision::Different { point, discrepancy } => {
                    return Err(Box::new(self.difference(position, *pair, point, discrepancy)));
                }
                Decision::Equal { rung, conditions } => {
                    *self.compared.rungs.entry(rung.to_string()).or_default() += 1;
                    for assumed in conditions {
                        if assumed.fails_at.is_some() {
                            let reason = "the optimised kernel may be undefined where the \
                                          reference is not";
                            let reason = reason.to_owned();
                            open.push(Unsettled { position: position.clone(), reason });
                            continue;
                        }
                        let text = assumed.condition.print(optimised);
                        self.compared.conditions.insert(text);
                    }
                }
                Decision::Unknown(reason) => {
                    open.push(Unsettled { position, reason: reason.to_string() });
                }
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        position: Position,
        (a, b): (Term, Term),
        point: &Point,
        discrepancy: &decide::Discrepancy,
    ) -> Difference {
        let [reference, optimised] = &*self.ran;
        let (one, other) = (&reference.domain.terms, &optimised.domain.terms);
        let middle = |interval: &decide::Interval| Some(interval.to_f64_lossy());
        let values = match discrepancy {
            decide::Discrepancy::Values(a, b) => [middle(a), middle(b)],
            decide::Discrepancy::OnlyReferenceDefined(a) => [middle(a), None],
        };
        let named =
            point.iter().map(|(input, number)| (one.inputs().name(*input), number.to_f64_lossy()));
        let inputs = named.collect();
        Difference {
            position,
            expressions: [one.print_limited(a, SHOWN), other.print_limited(b, SHOWN)],
            point: point.clone(),
            inputs,
            values,
        }
    }
}
