//! Finds constants of two kernels that are equal up to rounding: 0.35355338 in one and 0.35355335 in the
//! other, because 1/√8 was computed differently.
//!
//! Over the reals they are different numbers, and so are the outputs. If the kernels become equal with the
//! reference's constants in the optimised one, the report of the difference says so. No proof relies on it.

use exec::concrete;
use ir::Format;
use std::collections::BTreeSet;
use std::fmt;

/// Constants at most this many units in the last place apart may be meant to be equal.
const MAX_UNITS: u64 = 2;

/// Formats of constants that may stand for another number, the coarsest first.
const FORMATS: [Format; 4] = [Format::Bf16, Format::F16, Format::F32, Format::F64];

/// A constant in one of the four formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Constant {
    /// Its position in [`FORMATS`].
    format: u8,
    pub(crate) bits: u64,
}

impl Constant {
    pub(crate) fn format(self) -> Format {
        FORMATS[usize::from(self.format)]
    }

    /// Returns `true` if its format has so few bits that different intended constants may round to the same value.
    pub(crate) fn is_coarse(self) -> bool {
        self.format().width().bits() == 16
    }

    /// Returns the constant's value.
    #[must_use]
    pub fn value(self) -> f64 {
        concrete::to_double(self.format(), self.bits)
    }

    fn is_negative(self) -> bool {
        self.bits >> (self.format().width().bits() - 1) & 1 == 1
    }

    fn magnitude(self) -> Self {
        Self { bits: self.bits & (self.format().width().mask() >> 1), ..self }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.format() {
            Format::F32 | Format::F16 | Format::Bf16 => write!(f, "{}", self.value() as f32),
            _ => write!(f, "{}", self.value()),
        }
    }
}

/// A positive constant and the number it stands for, as an expression without names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantMeaning {
    /// The constant.
    pub constant: Constant,
    /// The expression.
    pub form: String,
}

/// The constants in a run.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    seen: BTreeSet<Constant>,
    /// Replaced constants and their new bits, sorted by constant.
    replacements: Vec<(Constant, u64)>,
    /// Constants replaced by numbers that are not floats.
    replaced: Vec<ConstantMeaning>,
}

impl Constants {
    /// Records a constant, and returns the bits to use for it.
    pub(crate) fn record(&mut self, format: Format, bits: u64) -> u64 {
        let Some(constant) = constant(format, bits) else { return bits };
        self.seen.insert(constant);
        match self.replacements.binary_search_by_key(&constant, |(from, _)| *from) {
            Ok(position) => self.replacements[position].1,
            Err(_) => bits,
        }
    }

    /// Returns the magnitudes of constants that `others` lacks.
    pub(crate) fn without(&self, others: &Self) -> BTreeSet<Constant> {
        let magnitudes = |constants: &Self| -> BTreeSet<Constant> {
            constants.seen.iter().map(|one| one.magnitude()).collect()
        };
        &magnitudes(self) - &magnitudes(others)
    }

    /// Returns the unit in the last place, for numbers of size 1, of the coarsest constant in the run; at least that
    /// of singles.
    pub(crate) fn coarsest_unit(&self) -> f64 {
        // Constants are ordered by format, and formats from coarse to fine.
        let coarsest = self.seen.iter().map(|one| one.format()).next();
        unit(coarsest.unwrap_or(Format::F32)).max(unit(Format::F32))
    }

    /// Replaces constants by the numbers they stand for.
    pub(crate) fn replace(&mut self, meanings: impl Iterator<Item = ConstantMeaning>) {
        self.replaced = meanings.collect();
    }

    /// Returns the constants that are replaced by numbers other than floats.
    pub(crate) fn meanings(&self) -> &[ConstantMeaning] {
        &self.replaced
    }

    /// Returns the expression that a constant stands for, and `true` if it is negated.
    pub(crate) fn meaning_of(&self, format: Format, bits: u64) -> Option<(&str, bool)> {
        let constant = constant(format, bits)?;
        let known = self.replaced.iter().find(|one| one.constant == constant.magnitude())?;
        Some((&known.form, constant.is_negative()))
    }

    /// Selects constants of `optimised` that are near a constant of `self` and equal to none, to be replaced by the
    /// near one.
    pub(crate) fn near(&self, optimised: &Self) -> Self {
        let near = |constant: &Constant| {
            let at = |bits: u64| Constant { bits, ..*constant };
            let bits = constant.bits;
            let around = at(bits.saturating_sub(MAX_UNITS))..=at(bits.saturating_add(MAX_UNITS));
            let is_shared = self.seen.contains(constant);
            self.seen
                .range(around)
                .next()
                .filter(|_| !is_shared)
                .map(|other| (*constant, other.bits))
        };
        let fine = optimised.seen.iter().filter(|constant| !constant.is_coarse());
        let replacements = fine.filter_map(near).collect();
        Self { replacements, ..Self::default() }
    }

    /// Returns the replaced constants: the values of both sides, reference first.
    pub(crate) fn pairs(&self) -> Vec<[f64; 2]> {
        let pair = |(constant, other): &(Constant, u64)| {
            [*other, constant.bits].map(|bits| Constant { bits, ..*constant }.value())
        };
        self.replacements.iter().map(pair).collect()
    }
}

/// Builds a constant of 16 or more bits, unless it is zero, subnormal or infinite.
fn constant(format: Format, bits: u64) -> Option<Constant> {
    let position = FORMATS.iter().position(|one| *one == format)?;
    let format = u8::try_from(position).ok()?;
    let number = concrete::to_double(FORMATS[position], bits);
    number.is_normal().then_some(Constant { format, bits })
}

/// Returns the unit in the last place of 1.
pub(crate) fn unit(format: Format) -> f64 {
    match format {
        Format::Bf16 => 2f64.powi(-7),
        Format::F16 => 2f64.powi(-10),
        Format::F64 => f64::EPSILON,
        _ => f32::EPSILON.into(),
    }
}
