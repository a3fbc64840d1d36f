//! Runs a kernel as compiled code runs it, so that what it leaves can be compared with what compiled code leaves.
//!
//! Other runs look for what `engine` claims cannot happen; this one follows C++ where C++ says what happens. Unsigned
//! integers and conversions wrap ([basic.fundamental], [conv.integral]); a signed sum that wraps is followed while it is
//! added, subtracted and multiplied, and has no value where anything else looks at it, because C++ leaves it open. A conversion of
//! a float that its integer type cannot hold has no value either ([conv.fpint]).
//!
//! Floats are doubles here, whatever their type. [`Arithmetic::exact`] says whether every operation so far had a
//! result that the narrowest type of the kernel holds exactly; then any correct compilation has the same numbers. If not, runs
//! with *perturbed* operations show how much rounding can matter: each inexact result is moved by a few units in the
//! last place, each approximate function by more, in a direction drawn from a seed.

use super::contents::of_name;
use super::draw::draw;
use super::machine::{Halt, Machine};
use super::shadow::Cell as Place;
use super::value::Trouble;
use super::{End, Launch, Run, Value};
use crate::kir::{ArrayId, Binary, Kernel, Space, Stmt, Type, VarId};
use crate::relevance;
use base::Index;
use std::cell::Cell;
use std::collections::BTreeMap;

/// How contents are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Small integers, also as floats: sums and products of a few are exact.
    Small,
    /// Integers from all of their type where they feed no index or condition; floats that are multiples of a quarter.
    Wide,
    /// Integers at the ends of types, around powers of two, small and any; floats that are multiples of a half.
    Mixed,
}

/// How a kernel is run.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Contents of arrays.
    pub draw: Draw,
    /// Significant bits of the narrowest float type there is.
    pub significand: u32,
    /// If inexact operations are perturbed, a number to draw from; it also decides which threads run first.
    pub perturbed: Option<u64>,
    /// Instructions that may be executed.
    pub budget: u64,
}

/// What every global array holds: all elements, the last index running fastest.
pub type Elements = BTreeMap<ArrayId, Vec<Value>>;

/// What a run left.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Before the launch.
    pub before: Elements,
    /// After it.
    pub after: Elements,
    /// Whether every operation on floats was exact.
    pub exact: bool,
    /// Whether a float left the range of the narrowest type.
    pub beyond: bool,
    /// Significant bits of that type.
    pub significand: u32,
    /// Instructions that were executed.
    pub steps: u64,
}

/// Elements of one array; larger ones are not compared.
const MAX_ELEMENTS: i128 = 1 << 16;

/// Runs a launch to its end.
///
/// # Errors
/// If the run does not come to its end, or something happens in it that should not.
pub fn compiled(kernel: &Kernel, launch: &Launch, manner: Manner) -> Result<Left, Run> {
    let mut machine = Machine::new(kernel, launch, manner.budget);
    machine.compiled = Some(Arithmetic::new(manner));
    let mut fresh = Machine::new(kernel, launch, manner.budget);
    fresh.compiled = Some(Arithmetic::new(manner));
    let result = machine.complete().and_then(|()| {
        fresh.prepared()?;
        let sizes = machine.all_sizes()?;
        let (mut before, mut after) = (Elements::new(), Elements::new());
        for (array, size) in sizes {
            let cells: Vec<Place> = cells(array, &size).collect();
            let mut values = Vec::new();
            for cell in &cells {
                values.push(fresh.present(cell)?);
            }
            let ends = cells.iter().zip(&values);
            let ends = ends.map(|(cell, value)| machine.now(cell).unwrap_or(*value));
            after.insert(array, ends.collect());
            before.insert(array, values);
        }
        Ok((before, after))
    });
    match (result, &machine.compiled) {
        (Ok((before, after)), Some(arithmetic)) if machine.events.is_empty() => {
            let (exact, beyond) = (arithmetic.exact(), arithmetic.beyond.get());
            let (significand, steps) = (manner.significand, machine.steps);
            Ok(Left { before, after, exact, beyond, significand, steps })
        }
        (Err(halt), _) => Err(machine.ended(Some(halt))),
        (Ok(_), _) => Err(machine.ended(None)),
    }
}

/// The sizes of an array on a launch, if all are given.
#[must_use]
pub fn sizes(kernel: &Kernel, launch: &Launch, array: ArrayId) -> Option<Vec<i128>> {
    let sizes = kernel.arrays[array].dimensions.iter();
    sizes.map(|one| super::contents::size(one.as_ref()?, launch)).collect()
}

/// Whether a kernel writes an array.
#[must_use]
pub fn is_written(kernel: &Kernel, array: ArrayId) -> bool {
    relevance::written(kernel).get(array.position()).copied().unwrap_or(true)
}

/// The launch with other values of integer scalars that feed no index and no condition, if the contract allows it.
#[must_use]
pub fn vary_scalars(kernel: &Kernel, launch: &Launch, way: Draw) -> Launch {
    if way == Draw::Small {
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
        // Macros and numbers of a template are part of what is compiled.
        let own = kernel.scalars.iter().take(kernel.macros).any(|one| one == var);
        if let (Type::Int { .. }, false, false) = (declared.ty, fixed, own) {
            *value = integer(declared.ty, draw(launch.seed ^ of_name(&declared.name)), way);
        }
    }
    match super::is_allowed(kernel, &varied) {
        Some(true) => varied,
        _ => launch.clone(),
    }
}

/// An integer of a type.
fn integer(ty: Type, drawn: u64, way: Draw) -> i128 {
    let (least, most) = ty.range().unwrap_or((0, 1));
    let span = most - least + 1;
    let any = least + i128::from(draw(drawn)).rem_euclid(span);
    let power = 1_i128 << (drawn >> 8).rem_euclid(63);
    let near = power - 1 + i128::from(drawn >> 16 & 3);
    let value = match (way, drawn % 8) {
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

/// All places of an array, the last index running fastest.
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
    /// The sizes of every global array; of one that has none, as many elements as were touched.
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

    fn present(&mut self, cell: &Place) -> Result<Value, Halt> {
        match self.global.get(cell) {
            Some(value) => Ok(*value),
            None => self.initial(cell),
        }
    }

    fn now(&self, cell: &Place) -> Option<Value> {
        self.global.get(cell).copied()
    }

    /// A run that ends so, or with what happened in it.
    fn ended(self, halt: Option<Halt>) -> Run {
        let mut events = self.events;
        let end = match halt {
            None => End::Event,
            Some(Halt::Stopped(why)) => End::Stopped(why),
            Some(Halt::Event(event)) => {
                events.push(*event);
                End::Event
            }
        };
        Run { events, end, steps: self.steps, demanded: self.found_demanded }
    }

    /// A value for an element of which nothing is demanded.
    pub(super) fn free_value(&self, array: ArrayId, ty: Type, drawn: u64) -> Option<Value> {
        let way = self.compiled.as_ref()?.manner.draw;
        let feeds = self.feeds.get(array.position()).copied().unwrap_or(true);
        let way = if feeds && way == Draw::Wide { Draw::Small } else { way };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let float =
            |most: u64, parts: f64| (drawn % (2 * most + 1)) as f64 / parts - most as f64 / parts;
        let named = self.named_number(ty, drawn).filter(|_| way == Draw::Mixed);
        Some(match (ty, way) {
            (Type::Int { .. }, Draw::Mixed) if named.is_some() => Value::int(named?),
            (Type::Float, Draw::Small) => Value::Float(float(8, 1.0)),
            (Type::Float, Draw::Wide) => Value::Float(float(8, 4.0)),
            (Type::Float, Draw::Mixed) => Value::Float(float(40, 2.0)),
            (Type::Int { .. }, Draw::Wide | Draw::Mixed) => Value::int(integer(ty, drawn, way)),
            _ => return None,
        })
    }
}

/// For each array, whether what is loaded from it feeds an index or a condition.
pub(super) fn feeding(kernel: &Kernel, relevant: &[bool]) -> Vec<bool> {
    fn each(list: &[Stmt], see: &mut impl FnMut(VarId, ArrayId)) {
        for statement in list {
            match statement {
                Stmt::Load(var, element) => see(*var, element.array),
                Stmt::Atomic { result, element, .. } => see(*result, element.array),
                Stmt::If(_, then, otherwise) => {
                    each(then, see);
                    each(otherwise, see);
                }
                Stmt::Loop(inner) => {
                    for part in [&inner.head, &inner.body, &inner.step] {
                        each(part, see);
                    }
                }
                _ => {}
            }
        }
    }
    let mut marks = vec![false; kernel.arrays.len()];
    each(&kernel.body, &mut |var, array| {
        if relevant.get(var.position()).copied().unwrap_or(true)
            && let Some(mark) = marks.get_mut(array.position())
        {
            *mark = true;
        }
    });
    marks
}

/// The arithmetic of compiled code.
#[derive(Debug)]
pub(crate) struct Arithmetic {
    manner: Manner,
    draws: Cell<u64>,
    inexact: Cell<bool>,
    beyond: Cell<bool>,
}

/// How a result of an approximate function is off: relative, and absolute. CUDA's own bounds for its fast functions
/// (programming guide, "Intrinsic Functions") are below this for arguments of ordinary size.
const FUNCTION_ERRORS: [f64; 2] = [1.0 / (1 << 18) as f64, 1.0 / (1 << 20) as f64];

impl Arithmetic {
    fn new(manner: Manner) -> Self {
        let draws = Cell::new(manner.perturbed.unwrap_or(0));
        Self { manner, draws, inexact: Cell::new(false), beyond: Cell::new(false) }
    }

    pub(super) fn order(&self) -> u64 {
        self.manner.perturbed.map_or(0, draw)
    }

    pub(super) fn exact(&self) -> bool {
        !self.inexact.get()
    }

    /// A number in -1 … 1, not close to 0.
    fn jitter(&self) -> f64 {
        let drawn = draw(self.draws.get());
        self.draws.set(drawn);
        #[expect(clippy::cast_precision_loss, reason = "twenty bits")]
        let size = 0.5 + (drawn >> 8 & 0xf_ffff) as f64 / f64::from(1 << 21);
        if drawn & 1 == 0 { size } else { -size }
    }

    /// Whether the narrowest float type holds a number.
    fn holds(&self, value: f64, bits: u32) -> bool {
        if value == 0.0 || !value.is_finite() {
            return true;
        }
        let (least, most) = match self.manner.significand {
            24 => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
            11 => (1.0 / f64::from(1 << 14), 65504.0),
            _ => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        };
        if value.abs() > most {
            self.beyond.set(true);
        }
        let zeros = value.to_bits() & ((1 << 52) - 1);
        let used = 53 - zeros.trailing_zeros().min(52);
        value.abs() >= least && used <= bits
    }

    /// A result of an operation, which was exact or not.
    fn settle(&self, value: f64, exact: bool) -> f64 {
        if exact && self.holds(value, self.manner.significand) {
            return value;
        }
        self.perturb(value, [8.0 * unit(self.manner.significand), f64::from(f32::MIN_POSITIVE)])
    }

    fn perturb(&self, value: f64, [relative, absolute]: [f64; 2]) -> f64 {
        self.inexact.set(true);
        match self.manner.perturbed {
            Some(_) => value + (value.abs() * relative + absolute) * self.jitter(),
            None => value,
        }
    }

    pub(super) fn constant(&self, value: f64) -> f64 {
        self.settle(value, true)
    }

    pub(super) fn binary(&self, operator: Binary, x: f64, y: f64, result: f64) -> f64 {
        let exact = match operator {
            Binary::Add => is_exact_sum(x, y, result),
            Binary::Sub => is_exact_sum(x, -y, result),
            Binary::Mul => x.mul_add(y, -result) == 0.0 || !result.is_finite(),
            Binary::Div => result.mul_add(y, -x) == 0.0 || !result.is_finite(),
            _ => true,
        };
        self.settle(result, exact)
    }

    /// A sum that other threads add to in any order: exact in all orders if there are bits to spare.
    pub(super) fn atomic_sum(&self, x: f64, y: f64, result: f64) -> f64 {
        let spare = self.holds(result, self.manner.significand.saturating_sub(6));
        self.settle(result, spare && is_exact_sum(x, y, result))
    }

    /// The result of a function; none if it is known too roughly.
    pub(super) fn function(&self, name: &str, [x, y, z]: [f64; 3], result: f64) -> Option<f64> {
        match name {
            "fabs" | "floor" | "ceil" | "round" | "rint" | "fmin" | "fmax" => Some(result),
            "sqrt" => Some(self.settle(result, result.mul_add(result, -x) == 0.0)),
            "fdivide" => Some(self.binary(Binary::Div, x, y, result)),
            "fma" => {
                let product = x * y;
                let exact = x.mul_add(y, -product) == 0.0;
                Some(self.settle(result, exact && is_exact_sum(product, z, result)))
            }
            "rsqrt" | "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tanh" | "pow" => {
                let unit = 8.0 * unit(self.manner.significand);
                Some(self.perturb(result, [FUNCTION_ERRORS[0].max(unit), FUNCTION_ERRORS[1]]))
            }
            _ => None,
        }
    }

    /// An integer made of a float; none if its type cannot hold it.
    pub(super) fn truncated(value: f64, ty: Type) -> Result<Value, Trouble> {
        let (least, most) = ty.range().ok_or(Trouble::Undefined)?;
        let whole = value.trunc();
        // Beyond 2^63 the limits are not doubles.
        #[expect(clippy::cast_precision_loss, reason = "only compared with what is well inside")]
        let inside = whole >= least as f64 && whole <= most as f64 && whole.abs() < 9.2e18;
        #[expect(clippy::cast_possible_truncation, reason = "inside")]
        let number = i128::from(whole as i64);
        match inside && (least..=most).contains(&number) {
            true => Ok(Value::int(number)),
            false => Err(Trouble::Undefined),
        }
    }
}

fn unit(significand: u32) -> f64 {
    1.0 / (1_u64 << significand.min(60)) as f64
}

/// Whether a sum of doubles is exact (Knuth's error term).
fn is_exact_sum(x: f64, y: f64, sum: f64) -> bool {
    if !sum.is_finite() {
        return true;
    }
    let part = sum - x;
    (x - (sum - part)) + (y - part) == 0.0
}
