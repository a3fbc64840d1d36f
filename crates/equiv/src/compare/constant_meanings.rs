//! Recognises constants that are rounded numbers of the other side: a number that the other kernel computes
//! (`q·k * 0.17677669f` against `q·k / sqrtf(32)`), or a literal, if the other side is a formula (`0.1f` against
//! a tenth).
//!
//! Over the reals such kernels differ, by some 10⁻⁸. The suspects are constants of one side that the other
//! lacks, within one unit in the last place of a closed form ([`closed`]) that is itself no float. If the
//! sides are equal with the forms in place of the constants, the author meant the forms: the answer is about
//! the kernels with them, and each is listed as assumed. A form is kept only if the sides differ without it,
//! so the constant accounts for the difference. If equality remains undecided because time or steps run out,
//! the small difference refutes nothing: the answer is open.
//!
//! The numbers must also be determined. If `c·x` and `c'·x` are compared, any number in place of both will
//! do, and the intended one is unknown. So each number is changed a little by itself, and the resulting
//! changes of the outputs must be linearly independent (tested in floats, at a few points). Then the numbers
//! are the only ones nearby.

use super::{Outputs, SideElement, compare_runs};
use crate::answer::{Answer, Compared};
use crate::assumed::Assumed;
use crate::closed;
use crate::constants;
use crate::options::Options;
use crate::position::{OpenElement, OpenReason};
use crate::rounding::{Constant, ConstantMeaning};
use crate::sequence::Launches;
use crate::side::Side;
use crate::side_run::SideRun;
use decide::{Value, evaluate};
use std::cell::Cell;
use term::{Input, Number};

/// Relative differences above this do not come from rounding a constant of 32 bits or more.
const SMALL: f64 = 1e-4;

/// The largest number of constants replaced at the same time.
const MAX_SUSPECTS: usize = 6;

/// The largest number of combinations of forms tried.
const MAX_TRIES: usize = 8;

/// The number of elements of each output tensor for which the effect of a changed number is computed.
const OUTPUTS: usize = 8;

/// The number of points at which this effect is computed.
const POINTS: u64 = 4;

/// A constant of a side and the forms it may stand for.
struct Suspect {
    side: usize,
    constant: Constant,
    forms: Vec<String>,
    /// Set if the first form is a literal of the other side.
    is_literal: bool,
}

/// A comparison whose sides are equal once some constants are replaced.
pub(super) struct ConstantReading {
    pub(super) compared: Compared,
    pub(super) ran: [SideRun; 2],
}

/// Result of the search for the numbers that constants stand for.
pub(super) enum Search {
    /// The sides are equal with these replacements.
    Found(Box<ConstantReading>),
    /// No constants explain the difference.
    Nothing,
    /// Some constants may explain it, but this was not decided.
    Open,
}

/// Searches for constants whose replacement makes the sides equal.
pub(super) fn find(
    launches: &[Launches<'_, '_>; 2],
    options: &Options<'_>,
    assumed: &Assumed,
    ran: &[SideRun; 2],
) -> Search {
    let sides = launches.each_ref().map(|one| one.side);
    let suspects = if options.snap { suspects(sides, ran) } else { Vec::new() };
    if suspects.is_empty() {
        return Search::Nothing;
    }
    let question = Question { launches, options, assumed, is_open: Cell::new(false) };
    match (find_among(&question, &suspects), question.is_open.get()) {
        (Some(found), _) => Search::Found(Box::new(found)),
        (None, true) => Search::Open,
        (None, false) => Search::Nothing,
    }
}

/// Chooses meanings for the suspects that make the sides equal, and as few as possible.
fn find_among(question: &Question<'_, '_, '_>, suspects: &[Suspect]) -> Option<ConstantReading> {
    let mut chosen = question.choose(suspects)?;
    // Drop constants that are not needed for equality.
    let mut at = 0;
    while chosen.len() > 1 && at < chosen.len() {
        let mut fewer = chosen.clone();
        fewer.remove(at);
        match question.compare_with(&fewer) {
            Some(_) => chosen = fewer,
            None => at += 1,
        }
    }
    // A number written on the other side is the intended one, even if others would do.
    let is_written = |(side, meaning): &ConstantChoice| {
        suspects.iter().any(|suspect| {
            suspect.is_literal
                && (suspect.side, suspect.constant, &suspect.forms[0])
                    == (*side, meaning.constant, &meaning.form)
        })
    };
    if !chosen.iter().all(is_written) && !question.is_determined(&chosen) {
        return None;
    }
    let mut reading = question.compare_with(&chosen)?;
    reading.compared.meanings = chosen.iter().map(|(_, meaning)| meaning.clone()).collect();
    Some(reading)
}

/// Returns `true` if constants alone may be the reason for an answer.
pub(super) fn is_likely(answer: &Answer, ran: &[SideRun; 2]) -> bool {
    let unit = ran.iter().map(|one| one.domain.constants.coarsest_unit()).fold(0.0, f64::max);
    match answer {
        Answer::Different(difference) => is_within(difference.values, SMALL.max(2.0 * unit)),
        Answer::Unknown(open, _) => {
            matches!(open.reason, OpenReason::Contradicted | OpenReason::Alike)
        }
        _ => false,
    }
}

/// Returns `true` if a side has a constant that is a rounded literal of the other side. Then the difference
/// can be arbitrarily large where sums cancel.
pub(super) fn has_literals(sides: [&Side<'_>; 2], answer: &Answer, ran: &[SideRun; 2]) -> bool {
    let is_open = matches!(answer, Answer::Different(_) | Answer::Unknown(..));
    is_open && suspects(sides, ran).iter().any(|suspect| suspect.is_literal)
}

/// Returns the literal of a side that rounds to a constant.
fn literal(side: &Side<'_>, constant: Constant) -> Option<String> {
    let mut literals = side.launches().flat_map(|launch| &launch.literals);
    let found = literals
        .find(|literal| closed::is_rounded(constant.format(), constant.bits, &literal.number));
    found.map(|one| one.text.clone())
}

/// Turns a difference into an open answer: rounded constants may explain it, but this was not decided.
pub(super) fn open(answer: Answer) -> Answer {
    let Answer::Different(difference) = answer else { return answer };
    let position = difference.position.clone();
    let open = OpenElement { position, reason: OpenReason::MaybeRounded, lost: None };
    Answer::Unknown(Box::new(open), 1)
}

/// Returns `true` if two values are close in relation to their size.
fn is_within(values: [Option<f64>; 2], bound: f64) -> bool {
    let [Some(one), Some(other)] = values else { return false };
    (one - other).abs() <= bound * one.abs().max(other.abs())
}

/// Finds constants of one side alone within a few units of a form, if the values are as close as rounding a
/// constant leaves them.
pub(super) fn near(ran: &[SideRun; 2], values: [Option<f64>; 2]) -> Vec<ConstantMeaning> {
    const UNITS: u64 = 4;
    const SHOWN: usize = 2;
    if !is_within(values, SMALL) {
        return Vec::new();
    }
    let sides = [[0, 1], [1, 0]].map(|at| at.map(|at| &ran[at].domain.constants));
    let constants = sides.into_iter().flat_map(|[constants, other]| constants.without(other));
    let near = constants.filter_map(|constant| {
        let form =
            closed::forms_within(constant.format(), constant.bits, UNITS).into_iter().next()?;
        Some(ConstantMeaning { constant, form })
    });
    near.take(SHOWN).collect()
}

/// Collects constants of one side alone that are near a form, or a literal of the other side rounded.
fn suspects(sides: [&Side<'_>; 2], ran: &[SideRun; 2]) -> Vec<Suspect> {
    let mut found = Vec::new();
    for side in [0, 1] {
        let [constants, other] = [&ran[side].domain.constants, &ran[1 - side].domain.constants];
        for constant in constants.without(other) {
            // Already snapped: its term is the exact number.
            if constants::recognise(constant.format(), constant.bits).is_some() {
                continue;
            }
            let literal = literal(sides[1 - side], constant);
            let is_literal = literal.is_some();
            let near = closed::forms(constant.format(), constant.bits);
            let forms: Vec<String> = literal.into_iter().chain(near).collect();
            if !forms.is_empty() {
                found.push(Suspect { side, constant, forms, is_literal });
            }
        }
    }
    // Literals of the other side take precedence.
    if found.len() > MAX_SUSPECTS && found.iter().any(|suspect| suspect.is_literal) {
        found.retain(|suspect| suspect.is_literal);
    }
    // Most 16-bit numbers are near a form.
    if found.len() > MAX_SUSPECTS {
        found.retain(|suspect| !suspect.constant.is_coarse());
    }
    // Still too many: give up, because any selection would be arbitrary.
    if found.len() > MAX_SUSPECTS { Vec::new() } else { found }
}

/// A side and the meaning of one of its constants.
type ConstantChoice = (usize, ConstantMeaning);

/// Everything needed to compare the sides with some constants replaced.
struct Question<'q, 'l, 's> {
    launches: &'q [Launches<'l, 's>; 2],
    options: &'q Options<'q>,
    assumed: &'q Assumed,
    /// Set once a comparison was undecided.
    is_open: Cell<bool>,
}

impl Question<'_, '_, '_> {
    /// Chooses forms that make the sides equal: first the simplest of each, then others, one constant at a
    /// time.
    fn choose(&self, suspects: &[Suspect]) -> Option<Vec<ConstantChoice>> {
        let choose_forms = |choice: &[usize]| -> Vec<ConstantChoice> {
            let all = suspects.iter().zip(choice).map(|(suspect, at)| {
                let form = suspect.forms[*at].clone();
                (suspect.side, ConstantMeaning { constant: suspect.constant, form })
            });
            all.collect()
        };
        let literals: Vec<ConstantChoice> = suspects
            .iter()
            .filter(|suspect| suspect.is_literal)
            .map(|suspect| {
                (
                    suspect.side,
                    ConstantMeaning { constant: suspect.constant, form: suspect.forms[0].clone() },
                )
            })
            .collect();
        if !literals.is_empty() && self.compare_with(&literals).is_some() {
            return Some(literals);
        }
        let mut tries = vec![vec![0; suspects.len()]];
        for (at, suspect) in suspects.iter().enumerate() {
            for other in 1..suspect.forms.len() {
                let mut choice = vec![0; suspects.len()];
                choice[at] = other;
                tries.push(choice);
            }
        }
        let mut tries = tries.into_iter().take(MAX_TRIES).map(|choice| choose_forms(&choice));
        tries.find(|chosen| self.compare_with(chosen).is_some())
    }

    /// Returns `true` if the outputs change independently with each of the numbers.
    fn is_determined(&self, chosen: &[ConstantChoice]) -> bool {
        let column = |at: usize| {
            let mut changed = chosen.to_vec();
            let form = &mut changed[at].1.form;
            *form = format!("({form})*(1+1/65536)");
            Some(self.differences(&mut self.runs(&changed)?))
        };
        let columns: Option<Vec<Vec<f64>>> = (0..chosen.len()).map(column).collect();
        columns.is_some_and(|columns| are_independent(&columns))
    }

    /// Evaluates the differences of some outputs at some points.
    fn differences(&self, ran: &mut [SideRun; 2]) -> Vec<f64> {
        let sides = self.launches.each_ref().map(|one| one.side);
        let written = sides[1].written();
        let mut pairs = Vec::new();
        for (name, (_, one)) in sides[0].written() {
            let Some((_, other)) = written.get(name) else { continue };
            let count = one.starts.len().min(other.starts.len());
            for index in (0..count).step_by(count.div_ceil(OUTPUTS).max(1)) {
                let found = [
                    super::find(sides[0], &mut ran[0], one, index),
                    super::find(sides[1], &mut ran[1], other, index),
                ];
                if let [SideElement::Term(a), SideElement::Term(b)] = found {
                    pairs.push([a, b]);
                }
            }
        }
        let roots = [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
        let mut all = Vec::new();
        for point in 1..=POINTS {
            let values = [0, 1].map(|side| {
                evaluate(&ran[side].domain.terms, &roots[side], &|input| number(point, input))
            });
            all.extend(values[0].iter().zip(&values[1]).map(|pair| match pair {
                (Value::Real(a), Value::Real(b)) => {
                    a.minus(b).map_or(0.0, |difference| difference.to_f64_lossy())
                }
                _ => 0.0,
            }));
        }
        all
    }

    /// Runs both sides with constants replaced.
    fn runs(&self, chosen: &[ConstantChoice]) -> Option<[SideRun; 2]> {
        let mut ran = Vec::new();
        for (number, one) in self.launches.iter().enumerate() {
            let mut domain = one.table.domain(one.side, number, self.options.snap).ok()?;
            let choices = chosen.iter().filter(|(side, _)| *side == number);
            domain.constants.replace(choices.map(|(_, meaning)| meaning.clone()));
            let again = one.run(domain, None);
            if !again.ended() {
                return None;
            }
            ran.push(again);
        }
        <[SideRun; 2]>::try_from(ran).ok()
    }

    /// Compares the sides with constants replaced; returns the comparison if they are equal.
    fn compare_with(&self, chosen: &[ConstantChoice]) -> Option<ConstantReading> {
        let Some(mut ran) = self.runs(chosen) else {
            self.is_open.set(true);
            return None;
        };
        let mut compared = compare_runs(&ran);
        let sides = self.launches.each_ref().map(|one| one.side);
        let (table, clock) = (self.launches[0].table, self.launches[0].clock);
        let answer = {
            let (ran, compared, assumed) = (&mut ran, &mut compared, self.assumed);
            Outputs::new(sides, table, assumed, clock, ran, compared).compare()
        };
        let is_equal = matches!(answer, Answer::Equal);
        if matches!(answer, Answer::Unknown(..)) {
            self.is_open.set(true);
        }
        compared.answer = Some(answer);
        is_equal.then_some(ConstantReading { compared, ran })
    }
}

/// Returns a number for an input at a point: between 1/16 and 2, with both signs at every other point.
fn number(point: u64, input: Input) -> Number {
    let random = base::mix64(point << 40 | input.position() as u64);
    let sixteenths = (random >> 8) as i64 % 32 + 1;
    let is_negative = point.is_multiple_of(2) && random.is_multiple_of(2);
    Number::dyadic(if is_negative { -sixteenths } else { sixteenths }, -4)
}

/// Returns `true` if no column is nearly a combination of the earlier ones.
fn are_independent(columns: &[Vec<f64>]) -> bool {
    const LEAST: f64 = 1e-3;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let size = product(column, column).sqrt();
        let mut rest: Vec<f64> = column.iter().map(|one| one / size).collect();
        for other in &basis {
            let along = product(&rest, other);
            rest.iter_mut().zip(other).for_each(|(rest, other)| *rest -= along * other);
        }
        let left = product(&rest, &rest).sqrt();
        // NaN counts as dependent.
        if left.is_nan() || left <= LEAST {
            return false;
        }
        basis.push(rest.into_iter().map(|one| one / left).collect());
    }
    true
}
