//! Constants of two kernels that are the same but for rounding: 0.35355338 in the one, 0.35355335 in
//! the other, because somebody computed 1/√8 in another way.
//!
//! Over the reals they are different numbers and so are the outputs. If the kernels are equal once
//! the optimised one has the reference's constants, that is all there is to tell. No proof rests on
//! it.

use exec::concrete;
use ir::Format;
use std::collections::BTreeSet;
use std::fmt;

/// Units in the last place between constants that may be meant to be the same.
const NEAR: u64 = 2;

/// Formats of constants that may stand for another number.
const FORMATS: [Format; 4] = [Format::Bf16, Format::F16, Format::F32, Format::F64];

/// A constant in one of four formats.
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

    /// Whether its format has too few bits to tell that two constants are meant to be the same.
    pub(crate) fn is_coarse(self) -> bool {
        self.format().width().bits() == 16
    }

    /// Its value.
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
pub struct Stands {
    /// The constant.
    pub constant: Constant,
    /// The expression.
    pub form: String,
}

/// The constants a run meets.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    met: BTreeSet<Constant>,
    /// What is taken for something else, in the order of the first.
    taken: Vec<(Constant, u64)>,
    /// What is taken for a number that is no float.
    replaced: Vec<Stands>,
}

impl Constants {
    /// Meets a constant; the bits it is taken for.
    pub(crate) fn meet(&mut self, format: Format, bits: u64) -> u64 {
        let Some(constant) = constant(format, bits) else { return bits };
        self.met.insert(constant);
        match self.taken.binary_search_by_key(&constant, |(from, _)| *from) {
            Ok(position) => self.taken[position].1,
            Err(_) => bits,
        }
    }

    /// Magnitudes of constants that others have not.
    pub(crate) fn without(&self, others: &Self) -> BTreeSet<Constant> {
        let magnitudes = |constants: &Self| -> BTreeSet<Constant> {
            constants.met.iter().map(|one| one.magnitude()).collect()
        };
        &magnitudes(self) - &magnitudes(others)
    }

    /// The unit in the last place of the coarsest constant that was met, for numbers of size 1; of singles if there is none.
    pub(crate) fn coarsest_unit(&self) -> f64 {
        let coarsest = self.met.iter().map(|one| one.format()).next();
        unit(coarsest.unwrap_or(Format::F32)).max(unit(Format::F32))
    }

    /// Takes constants for the numbers they stand for.
    pub(crate) fn replace(&mut self, stands: impl Iterator<Item = Stands>) {
        self.replaced = stands.collect();
    }

    /// What constants were taken for.
    pub(crate) fn stand_for(&self) -> &[Stands] {
        &self.replaced
    }

    /// The expression that a constant stands for, and whether it is negated.
    pub(crate) fn stands_for(&self, format: Format, bits: u64) -> Option<(&str, bool)> {
        let constant = constant(format, bits)?;
        let known = self.replaced.iter().find(|one| one.constant == constant.magnitude())?;
        Some((&known.form, constant.is_negative()))
    }

    /// Constants of `optimised` that are near one of these without being one.
    pub(crate) fn near(&self, optimised: &Self) -> Self {
        let near = |constant: &Constant| {
            let at = |bits: u64| Constant { bits, ..*constant };
            let bits = constant.bits;
            let around = at(bits.saturating_sub(NEAR))..=at(bits.saturating_add(NEAR));
            let own = self.met.contains(constant);
            self.met.range(around).next().filter(|_| !own).map(|other| (*constant, other.bits))
        };
        let fine = optimised.met.iter().filter(|constant| !constant.is_coarse());
        let taken = fine.filter_map(near).collect();
        Self { taken, ..Self::default() }
    }

    /// The numbers of both sides, reference first.
    pub(crate) fn pairs(&self) -> Vec<[f64; 2]> {
        let pair = |(constant, other): &(Constant, u64)| {
            [*other, constant.bits].map(|bits| Constant { bits, ..*constant }.value())
        };
        self.taken.iter().map(pair).collect()
    }
}

/// Constants of 16 bits and more that are neither zero nor infinite.
fn constant(format: Format, bits: u64) -> Option<Constant> {
    let position = FORMATS.iter().position(|one| *one == format)?;
    let format = u8::try_from(position).ok()?;
    let number = concrete::to_double(FORMATS[position], bits);
    number.is_normal().then_some(Constant { format, bits })
}

/// The unit in the last place of 1.
pub(crate) fn unit(format: Format) -> f64 {
    match format {
        Format::Bf16 => 2f64.powi(-7),
        Format::F16 => 2f64.powi(-10),
        Format::F64 => f64::EPSILON,
        _ => f32::EPSILON.into(),
    }
}
