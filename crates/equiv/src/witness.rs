//! Confirms a difference of terms on the kernels themselves: both run again at the point where the terms
//! differ, on intervals, or on numbers if the output is an integer.

use crate::assumed::Assumed;
use crate::position::Position;
use crate::scalar::{encode, integer_of, is_of_type};
use crate::side::{Input, InputKind, Output, Side};
use crate::table::Table;
use decide::{Point, Value, evaluate};
use exec::domain::InputSource;
use exec::{Argument, Contents, Launch, Limits, Outcome};
use interval::{CarriedBuffer, Enclosed, RunInputs, Stage, enclose_in_sequence};
use ir::{Format, Scalar};
use rustc_hash::FxHashMap;
use term::{Inputs, Number, Terms};

/// The value of inputs that neither side depends on.
const DEFAULT_VALUE: f64 = 1.0;

/// Largest relative width of a precise enclosure.
const MAX_NARROW_WIDTH: f64 = 1e-9;

/// The values of both kernels for the inputs of a difference.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The element in each run, reference first.
    pub elements: [Enclosed; 2],
}

impl Witness {
    /// Returns `true` if the runs show the difference: the elements are disjoint, or only the optimised one
    /// is undefined.
    #[must_use]
    pub fn shows_difference(&self) -> bool {
        let [reference, optimised] = &self.elements;
        let only_reference = matches!(reference, Enclosed::Between(..))
            && matches!(optimised, Enclosed::Undefined(_));
        reference.is_disjoint(optimised) || only_reference
    }

    /// Returns `true` if the runs contradict it: both enclosures are narrow and they intersect. Wide
    /// enclosures prove nothing.
    #[must_use]
    pub fn contradicts(&self) -> bool {
        let is_narrow = |enclosed: &Enclosed| match enclosed {
            Enclosed::Between(low, high) => {
                high - low <= MAX_NARROW_WIDTH * low.abs().max(high.abs())
            }
            _ => false,
        };
        self.elements.iter().all(is_narrow) && !self.shows_difference()
    }
}

/// The value of every input at a point.
pub(crate) struct Numbers {
    /// Values by position among all inputs; absent ones are [`DEFAULT_VALUE`].
    known: FxHashMap<usize, f64>,
    /// Bounds of related scalars, by side, launch and source.
    related: FxHashMap<(usize, usize, InputSource), (f64, f64)>,
}

impl Numbers {
    /// Creates the numbers of a point; `None` if some do not belong to their input's type.
    pub(crate) fn new(
        sides: [&Side<'_>; 2],
        table: &Table,
        terms: &Terms,
        point: &Point,
        assumed: &Assumed,
    ) -> Option<Self> {
        let mut known = FxHashMap::default();
        for (input, number) in assumed.point.iter().chain(point) {
            let double = number.to_f64_lossy();
            if Number::from_f64(double).as_ref() != Some(number) {
                return None;
            }
            known.insert(input.position(), double);
        }
        let mut numbers = Self { known, related: FxHashMap::default() };
        let mut inputs = sides.iter().flat_map(|side| side.own_inputs());
        if !inputs.all(|input| numbers.are_of_type(table, input)) {
            return None;
        }
        numbers.relate(sides, table, terms)?;
        Some(numbers)
    }

    /// Draws small random numbers of the inputs' types; floats are multiplied by `scale`, a power of two. Inputs that
    /// would violate assumptions get values that satisfy them. `None` if a related scalar has no value there.
    pub(crate) fn random(
        sides: [&Side<'_>; 2],
        table: &Table,
        (terms, assumed): (&Terms, &Assumed),
        scale: f64,
        mut next: impl FnMut() -> u64,
    ) -> Option<Self> {
        let mut known = FxHashMap::default();
        for input in sides.iter().flat_map(|side| side.own_inputs()) {
            let first = table.first(&input.name);
            let length = match &input.kind {
                InputKind::Related(_) => continue,
                InputKind::Scalar => 1,
                InputKind::Tensor { shape, .. } => shape.iter().product::<u64>() as usize,
            };
            for position in first..first + length {
                // Three bits fit into the smallest float format.
                let eighth = next() % 8;
                let number = match input.scalar {
                    Scalar::Float(_) if next().is_multiple_of(4) => -(eighth as f64) / 4.0 * scale,
                    Scalar::Float(_) => eighth as f64 / 4.0 * scale,
                    Scalar::Integer { .. } => eighth as f64,
                };
                known.entry(position).or_insert(number);
            }
        }
        for (input, number) in assumed.unsatisfied(terms, &known) {
            known.insert(input.position(), number.to_f64_lossy());
        }
        let mut numbers = Self { known, related: FxHashMap::default() };
        numbers.relate(sides, table, terms)?;
        Some(numbers)
    }

    /// Changes every float by a relative step, up or down. The results need not be of the inputs' types or
    /// meet the assumptions. `None` if a related scalar has no value there.
    pub(crate) fn changed(
        self,
        sides: [&Side<'_>; 2],
        table: &Table,
        terms: &Terms,
        step: f64,
    ) -> Option<Self> {
        self.with_floats(sides, table, terms, |position, number| {
            let up = base::mix64(position as u64).is_multiple_of(2);
            number * if up { 1.0 + step } else { 1.0 - step }
        })
    }

    /// Replaces floats, given their position and value. `None` if a related scalar has no value there.
    pub(crate) fn with_floats(
        mut self,
        sides: [&Side<'_>; 2],
        table: &Table,
        terms: &Terms,
        new: impl Fn(usize, f64) -> f64,
    ) -> Option<Self> {
        for input in sides.iter().flat_map(|side| side.own_inputs()) {
            let (Scalar::Float(_), first) = (input.scalar, table.first(&input.name)) else {
                continue;
            };
            let length = match &input.kind {
                InputKind::Related(_) => continue,
                InputKind::Scalar => 1,
                InputKind::Tensor { shape, .. } => shape.iter().product::<u64>() as usize,
            };
            for position in first..first + length {
                if let Some(number) = self.known.get_mut(&position) {
                    *number = new(position, *number);
                }
            }
        }
        self.related.clear();
        self.relate(sides, table, terms)?;
        Some(self)
    }

    /// Replaces zeros by other numbers, except where assumptions chose them.
    pub(crate) fn without_zeros(mut self, assumed: &Assumed) -> Self {
        for (position, number) in self.known.iter_mut().filter(|(_, number)| **number == 0.0) {
            if !assumed.point.iter().any(|(input, _)| input.position() == *position) {
                *number = if number.is_sign_negative() { -DEFAULT_VALUE } else { DEFAULT_VALUE };
            }
        }
        self
    }

    /// Creates the numbers of a point from values by position. `None` if a related scalar has no value there.
    pub(crate) fn of_all(
        sides: [&Side<'_>; 2],
        table: &Table,
        terms: &Terms,
        known: impl IntoIterator<Item = (usize, f64)>,
    ) -> Option<Self> {
        let known = known.into_iter().collect();
        let mut numbers = Self { known, related: FxHashMap::default() };
        numbers.relate(sides, table, terms)?;
        Some(numbers)
    }

    /// Computes bounds of related scalars. `None` if one has no value.
    fn relate(&mut self, sides: [&Side<'_>; 2], table: &Table, terms: &Terms) -> Option<()> {
        for (number, side) in sides.iter().enumerate() {
            for (launch, one) in side.launches().enumerate() {
                for input in &one.inputs {
                    if let InputKind::Related(formula) = &input.kind {
                        let bounds = self.related_bounds(table, terms, formula)?;
                        self.related.insert((number, launch, input.source), bounds);
                    }
                }
            }
        }
        Some(())
    }

    pub(crate) fn at(&self, position: usize) -> f64 {
        self.known.get(&position).copied().unwrap_or(DEFAULT_VALUE)
    }

    fn are_of_type(&self, table: &Table, input: &Input) -> bool {
        let first = table.first(&input.name);
        let length = match &input.kind {
            InputKind::Related(_) => return true,
            InputKind::Scalar => 1,
            InputKind::Tensor { shape, .. } => shape.iter().product::<u64>() as usize,
        };
        let mut numbers = self.known.iter().filter(|(at, _)| (first..first + length).contains(at));
        numbers.all(|(_, number)| is_of_type(input.scalar, *number))
    }

    /// Returns bounds of the value of a related scalar; `None` if it has no value.
    fn related_bounds(
        &self,
        table: &Table,
        terms: &Terms,
        formula: &crate::Formula,
    ) -> Option<(f64, f64)> {
        let mut store = Terms::new(std::sync::Arc::clone(terms.inputs()));
        let term = table.scalar_term(formula, &mut store).ok()?;
        let at = |input: term::Input| {
            Number::from_f64(self.at(input.position())).unwrap_or(Number::ZERO)
        };
        match evaluate(&store, &[term], &at).pop() {
            Some(Value::Real(value)) => Some(value.to_f64_bounds()),
            _ => None,
        }
    }

    /// Returns the inputs of a point by name, in order.
    pub(crate) fn named(&self, inputs: &Inputs, point: &Point) -> Vec<(String, f64)> {
        let one =
            |(input, _): &(term::Input, Number)| (inputs.name(*input), self.at(input.position()));
        point.iter().map(one).collect()
    }

    /// Returns the numbers in the memory of an input, in memory order.
    fn in_memory_order(&self, table: &Table, side: usize, input: &Input) -> Vec<f64> {
        let first = table.first(&input.name);
        match &input.kind {
            InputKind::Scalar | InputKind::Related(_) => vec![self.at(first)],
            InputKind::Tensor { shape, order: None, .. } => {
                let length = shape.iter().product::<u64>() as usize;
                (first..first + length).map(|at| self.at(at)).collect()
            }
            InputKind::Tensor { order: Some(order), .. } => {
                let positions = table.positions(side, &input.name, order);
                positions.map(|at| at.map_or(0.0, |at| self.at(at))).collect()
            }
        }
    }
}

/// Runs both kernels at a point. `None` if the runs say nothing about the element.
pub(crate) fn confirm(
    sides: [&Side<'_>; 2],
    table: &Table,
    position: &Position,
    numbers: &Numbers,
    limits: Limits,
) -> Option<Witness> {
    let mut elements = Vec::new();
    for (number, side) in sides.into_iter().enumerate() {
        let output = side.writer(side.count(), &position.name)?;
        let run = Run { side, number, table, numbers, limits };
        elements.push(match output.1.scalar {
            Scalar::Float(format) => run.real(output, format, position.index)?,
            Scalar::Integer { .. } => run.integer(output, position.index)?,
        });
    }
    <[Enclosed; 2]>::try_from(elements).ok().map(|elements| Witness { elements })
}

/// A side to run again, on the numbers of a point.
pub(crate) struct Run<'r> {
    pub(crate) side: &'r Side<'r>,
    pub(crate) number: usize,
    pub(crate) table: &'r Table,
    pub(crate) numbers: &'r Numbers,
    pub(crate) limits: Limits,
}

impl Run<'_> {
    /// Evaluates a float element by a run on intervals.
    fn real(
        &self,
        (launch, output): (usize, &Output),
        format: Format,
        index: usize,
    ) -> Option<Enclosed> {
        let start = output.starts[index];
        enclose_in_sequence(&self.stages()?, self.limits, &mut |results| {
            Some(results.element(launch, output.buffer, start, format))
        })
    }

    /// Returns the launches of a run on intervals, with their inputs.
    pub(crate) fn stages(&self) -> Option<Vec<Stage<'_>>> {
        let stage = |(launch, one): (usize, &'_ Side<'_>)| {
            let given = self.given(launch, one)?;
            let carried = self.carried(launch, one).collect();
            Some((given, carried))
        };
        let mut stages = Vec::new();
        for (launch, one) in self.side.launches().enumerate() {
            let (given, carried) = stage((launch, one))?;
            stages.push(Stage { program: one.program, launch: one.launch, given, carried });
        }
        Some(stages)
    }

    /// Returns the inputs of a launch that earlier launches do not write.
    fn given(&self, launch: usize, one: &Side<'_>) -> Option<RunInputs> {
        let mut given = RunInputs::default();
        let inputs =
            one.inputs.iter().filter(|input| self.side.writer(launch, &input.name).is_none());
        for input in inputs {
            if let InputSource::Argument(position, offset) = input.source
                && let Some(bounds) = self.numbers.related.get(&(self.number, launch, input.source))
            {
                given.argument_between(position, offset, *bounds);
                continue;
            }
            let values = self.numbers.in_memory_order(self.table, self.number, input);
            match input.source {
                InputSource::Buffer(buffer) if matches!(input.scalar, Scalar::Integer { .. }) => {
                    let mut bytes = Vec::new();
                    values.iter().try_for_each(|value| encode(input.scalar, *value, &mut bytes))?;
                    given.bits(buffer, bytes);
                }
                InputSource::Buffer(buffer) => given.buffer(buffer, values),
                InputSource::Argument(position, offset) => {
                    given.argument(position, offset, values.first().copied()?);
                }
            }
        }
        Some(given)
    }

    /// Returns the inputs of a launch that earlier launches write.
    fn carried(&self, launch: usize, one: &Side<'_>) -> impl Iterator<Item = CarriedBuffer> {
        one.inputs.iter().filter_map(move |input| {
            let (from, output) = self.side.writer(launch, &input.name)?;
            let InputSource::Buffer(into) = input.source else { return None };
            Some(CarriedBuffer { into, from: (from, output.buffer), scalar: output.scalar })
        })
    }

    /// Evaluates an integer element by a run on numbers.
    fn integer(&self, output: (usize, &Output), index: usize) -> Option<Enclosed> {
        integer(&self.on_numbers()?, output, index)
    }

    /// Like [`on_bits`](Self::on_bits); `None` if a related scalar would have to be rounded.
    pub(crate) fn on_numbers(&self) -> Option<Vec<Outcome>> {
        let mut inputs = self.side.launches().flat_map(|launch| &launch.inputs);
        let related = inputs.any(|input| matches!(input.kind, InputKind::Related(_)));
        if related { None } else { self.on_bits() }
    }

    /// Runs the kernel as written in the floats of hardware, and returns the final memory of each launch;
    /// `None` if a run does not complete. Related scalars are rounded to their types.
    pub(crate) fn on_bits(&self) -> Option<Vec<Outcome>> {
        self.on_bits_by(exec::run)
    }

    /// Like [`on_bits`](Self::on_bits), and also checks for dependence on the schedule.
    pub(crate) fn checked_on_bits(&self) -> Option<Vec<Outcome>> {
        self.on_bits_by(exec::check)
    }

    /// Like [`on_bits`](Self::on_bits), with the given run function.
    pub(crate) fn on_bits_by(
        &self,
        run: fn(&ir::Program, &Launch, Limits) -> Outcome,
    ) -> Option<Vec<Outcome>> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (number, one) in self.side.launches().enumerate() {
            let launch = self.launch_on_numbers(number, one, &outcomes)?;
            let outcome = run(one.unlifted, &launch, self.limits);
            outcomes.push(outcome.gap.is_none().then_some(outcome)?);
        }
        Some(outcomes)
    }

    /// Builds a launch with numbers for its inputs.
    fn launch_on_numbers(
        &self,
        number: usize,
        one: &Side<'_>,
        outcomes: &[Outcome],
    ) -> Option<Launch> {
        let mut launch = one.launch.clone();
        for input in &one.inputs {
            let bytes = match self.side.writer(number, &input.name) {
                Some((from, output)) => outcomes.get(from)?.buffers.get(output.buffer)?.clone(),
                None => {
                    let related = self.numbers.related.get(&(self.number, number, input.source));
                    let values = match related {
                        Some((low, high)) => vec![low / 2.0 + high / 2.0],
                        None => self.numbers.in_memory_order(self.table, self.number, input),
                    };
                    let mut bytes = Vec::new();
                    values.iter().try_for_each(|value| encode(input.scalar, *value, &mut bytes))?;
                    bytes
                }
            };
            match input.source {
                InputSource::Buffer(buffer) => {
                    launch.buffers.get_mut(buffer)?.contents = Contents::Known(bytes);
                }
                InputSource::Argument(position, offset) => {
                    let argument = launch.arguments.get_mut(position)?;
                    let place = match argument {
                        Argument::Struct(pieces) => pieces
                            .iter_mut()
                            .find(|(at, _)| *at == offset)
                            .map(|piece| &mut piece.1),
                        whole => Some(whole),
                    };
                    *place? = Argument::Bytes(bytes);
                }
            }
        }
        Some(launch)
    }
}

/// Reads an integer element after runs on numbers.
pub(crate) fn integer(
    outcomes: &[Outcome],
    (launch, output): (usize, &Output),
    index: usize,
) -> Option<Enclosed> {
    let size = output.scalar.width().bytes() as usize;
    let start = output.starts[index];
    let memory = outcomes.get(launch)?.buffers.get(output.buffer)?;
    let bytes = memory.get(start..start.checked_add(size)?)?;
    let bits = bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let exact = integer_of(output.scalar, bits);
    let number = exact as f64;
    // A 64-bit integer that a double cannot hold would make the comparison unreliable.
    (number as i128 == exact).then_some(Enclosed::Between(number, number))
}
