//! Runs a kernel, as read by the front end, with the arithmetic of compiled code. The final contents of its arrays
//! can then be compared with those of NVRTC's code for the same kernel.
//!
//! Other runs of the interpreter look for events that proofs show to be impossible; this one follows C++ as far as C++
//! defines behaviour. Unsigned integers and conversions wrap ([basic.fundamental], [conv.integral]). A signed result
//! that wraps may still be added, subtracted and multiplied; any other use of it has no value, because C++ leaves it
//! undefined. A conversion of a float that its integer type cannot hold has no value either ([conv.fpint]).
//! `arithmetic.rs` models floats.

use crate::arithmetic::{Arithmetic, CompiledRunOptions, Draw};
use crate::draw::of_name;
use crate::launch::Launch;
use crate::machine::{Halt, Machine};
use crate::outcome::{End, Run};
use crate::runs::ROUNDED;
use crate::shadow::Cell as Place;
use crate::value::Value;
use base::Index;
use base::mix64;
use kir::relevance;
use kir::{ArrayId, Kernel, Space, Type};
use std::collections::BTreeMap;

/// Contents of every global array: all elements, the last index running fastest.
pub type Elements = BTreeMap<ArrayId, Vec<Value>>;

/// The contents of the arrays before and after a run, and how exact they are.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledResults {
    /// Before the launch.
    pub before: Elements,
    /// After it.
    pub after: Elements,
    /// Set if every operation on floats was exact.
    pub exact: bool,
    /// Set if a float left the range of the kernel's narrowest float type.
    pub out_of_range: bool,
    /// Significant bits of that type.
    pub significand: u32,
    /// Executed instructions.
    pub steps: u64,
}

/// Limit on the elements of an array; larger ones are not compared.
const MAX_ELEMENTS: i128 = 1 << 16;

/// Runs a launch to its end.
///
/// # Errors
/// If the run does not finish, or an event ends it.
pub fn run_compiled(
    kernel: &Kernel,
    launch: &Launch,
    options: CompiledRunOptions,
) -> Result<CompiledResults, Run> {
    let mut machine = Machine::new(kernel, launch, options.budget);
    machine.compiled = Some(Arithmetic::new(options));
    let mut initial = Machine::new(kernel, launch, options.budget);
    initial.compiled = Some(Arithmetic::new(options));
    let result = machine.run_to_end().and_then(|()| {
        initial.draw_related_contents()?;
        let sizes = machine.all_sizes()?;
        let (mut before, mut after) = (Elements::new(), Elements::new());
        for (array, size) in sizes {
            let cells: Vec<Place> = cells(array, &size).collect();
            let mut values = Vec::new();
            for cell in &cells {
                values.push(initial.value_or_draw(cell)?);
            }
            let ends = cells.iter().zip(&values);
            let ends = ends.map(|(cell, value)| machine.touched_value(cell).unwrap_or(*value));
            after.insert(array, ends.collect());
            before.insert(array, values);
        }
        Ok((before, after))
    });
    let decides = machine.rounding.decides();
    match (result, &machine.compiled) {
        // Compiled code may take another way.
        (_, Some(arithmetic)) if decides && !arithmetic.exact() => {
            machine.events.clear();
            Err(machine.into_run(Some(Halt::Stopped(ROUNDED))))
        }
        (Ok((before, after)), Some(arithmetic)) if machine.events.is_empty() => {
            let (exact, out_of_range) = (arithmetic.exact(), arithmetic.out_of_range.get());
            let (significand, steps) = (options.significand, machine.steps);
            Ok(CompiledResults { before, after, exact, out_of_range, significand, steps })
        }
        (Err(halt), _) => Err(machine.into_run(Some(halt))),
        (Ok(_), _) => Err(machine.into_run(None)),
    }
}

/// The sizes of an array on a launch, if all are stated.
#[must_use]
pub fn sizes(kernel: &Kernel, launch: &Launch, array: ArrayId) -> Option<Vec<i128>> {
    let sizes = kernel.arrays[array].dimensions.iter();
    sizes.map(|one| crate::contract::size(one.as_ref()?, launch)).collect()
}

/// Returns `true` if a kernel writes an array.
#[must_use]
pub fn is_written(kernel: &Kernel, array: ArrayId) -> bool {
    relevance::written(kernel).get(array.position()).copied().unwrap_or(true)
}

/// Returns the launch with other, drawn values for the integer scalars that affect no index, no condition and no size.
/// If the contract does not allow those, returns the launch unchanged.
#[must_use]
pub fn vary_scalars(kernel: &Kernel, launch: &Launch, draw: Draw) -> Launch {
    if draw == Draw::Small {
        return launch.clone();
    }
    let relevant = relevance::relevant(kernel);
    let mut sizes = vec![false; kernel.vars.len()];
    relevance::mark_sizes(kernel, &mut sizes);
    let mut varied = launch.clone();
    for (var, value) in &mut varied.scalars {
        let at = var.position();
        let declared = &kernel.vars[*var];
        let fixed = [&relevant, &sizes].iter().any(|marks| marks.get(at) != Some(&false));
        // Macros and numbers of a template are part of the compiled code.
        let is_macro = kernel.scalars.iter().take(kernel.macros).any(|one| one == var);
        if let (Type::Int { .. }, false, false) = (declared.ty, fixed, is_macro) {
            *value = integer(declared.ty, mix64(launch.seed ^ of_name(&declared.name)), draw);
        }
    }
    match crate::contract::is_allowed(kernel, &varied) {
        Some(true) => varied,
        _ => launch.clone(),
    }
}

/// Draws an integer of a type, often at the ends of its range or near a power of two.
fn integer(ty: Type, drawn: u64, draw: Draw) -> i128 {
    let (least, most) = ty.range().unwrap_or((0, 1));
    let span = most - least + 1;
    let any = least + i128::from(mix64(drawn)).rem_euclid(span);
    let power = 1_i128 << (drawn >> 8).rem_euclid(63);
    let near = power - 1 + i128::from(drawn >> 16 & 3);
    let value = match (draw, drawn % 8) {
        (Draw::Wide, _) => any,
        (_, 0) => least,
        (_, 1) => most,
        (_, 2) => -1,
        (_, 3) => near,
        (_, 4) => -near,
        (_, 5) => any,
        _ => i128::from(drawn >> 20 & 15) - 4,
    };
    (value - least).rem_euclid(span) + least
}

/// All positions of an array, the last index running fastest.
fn cells(array: ArrayId, sizes: &[i128]) -> impl Iterator<Item = Place> + use<> {
    let sizes = sizes.to_vec();
    let count = sizes.iter().product::<i128>();
    (0..count).map(move |number| {
        let (mut place, mut rest) = ([0; 3], number);
        for (axis, size) in sizes.iter().enumerate().rev() {
            if let Some(slot) = place.get_mut(axis) {
                *slot = rest % size;
            }
            rest /= size;
        }
        (array, place)
    })
}

impl Machine<'_> {
    /// The sizes of every global array; without a stated size, the number of touched elements.
    fn all_sizes(&self) -> Result<Vec<(ArrayId, Vec<i128>)>, Halt> {
        let mut all = Vec::new();
        for (array, declared) in self.kernel.arrays.enumerate() {
            if declared.space != Space::Global {
                continue;
            }
            let touched = self.global.keys().filter(|(one, _)| *one == array);
            let (mut least, mut most) = (0, -1);
            for (_, [first, ..]) in touched {
                (least, most) = (least.min(*first), most.max(*first));
            }
            let sizes = &self.sizes[array.position()];
            let sizes: Vec<i128> = match &sizes[..] {
                [None] if least < 0 => {
                    return Err(Halt::Stopped("an array without a size is read before its start"));
                }
                [None] => vec![most + 1],
                _ => sizes.iter().copied().collect::<Option<_>>().unwrap_or_default(),
            };
            if sizes.is_empty() && !declared.dimensions.is_empty() {
                return Err(Halt::Stopped("the size of an array is not known"));
            }
            let count = sizes.iter().try_fold(1_i128, |all, size| all.checked_mul(*size));
            if !count.is_some_and(|count| (0..=MAX_ELEMENTS).contains(&count)) {
                return Err(Halt::Stopped("an array is too large"));
            }
            all.push((array, sizes));
        }
        Ok(all)
    }

    /// The value of an element in this run, drawn if nothing has accessed it yet.
    fn value_or_draw(&mut self, cell: &Place) -> Result<Value, Halt> {
        match self.global.get(cell) {
            Some(value) => Ok(*value),
            None => self.initial_value(cell),
        }
    }

    /// The value of an element in this run, if anything has accessed it.
    fn touched_value(&self, cell: &Place) -> Option<Value> {
        self.global.get(cell).copied()
    }

    /// Builds the result of a run that ended with `halt`, or with one of its events.
    fn into_run(mut self, halt: Option<Halt>) -> Run {
        let mut events = std::mem::take(&mut self.events);
        let end = match halt {
            None => End::Event,
            Some(Halt::Stopped(why)) => End::Stopped(why),
            Some(Halt::Event(event)) => {
                events.push(*event);
                End::Event
            }
        };
        let (steps, drew_constrained) = (self.steps, self.drew_constrained);
        let events = self.allowed_events(events);
        Run { events, end, steps, drew_constrained }
    }

    /// Draws a value for an element that no clause of the contract constrains.
    pub(crate) fn free_value(&self, array: ArrayId, ty: Type, drawn: u64) -> Option<Value> {
        let draw = self.compiled.as_ref()?.options.draw;
        let feeds = self.feeds.get(array.position()).copied().unwrap_or(true);
        let draw = if feeds && draw == Draw::Wide { Draw::Small } else { draw };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let float =
            |most: u64, parts: f64| (drawn % (2 * most + 1)) as f64 / parts - most as f64 / parts;
        let named = self.named_number(ty, drawn).filter(|_| draw == Draw::Mixed);
        Some(match (ty, draw) {
            (Type::Int { .. }, Draw::Mixed) if named.is_some() => Value::int(named?),
            (Type::Float, Draw::Small) => Value::float(float(8, 1.0)),
            (Type::Float, Draw::Wide) => Value::float(float(8, 4.0)),
            (Type::Float, Draw::Mixed) => Value::float(float(40, 2.0)),
            (Type::Int { .. }, Draw::Wide | Draw::Mixed) => Value::int(integer(ty, drawn, draw)),
            _ => return None,
        })
    }
}
