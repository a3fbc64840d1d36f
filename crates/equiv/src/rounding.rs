//! Constants of two kernels that are the same but for rounding: 0.35355338 in the one, 0.35355335 in
//! the other, because somebody computed 1/√8 in another way.
//!
//! Over the reals they are different numbers and so are the outputs. If the kernels are equal once
//! the optimised one has the reference's constants, that is all there is to tell. No proof rests on
//! it.

use exec::concrete;
use ir::Format;
use std::collections::BTreeSet;

/// Units in the last place between constants that may be meant to be the same.
const NEAR: u64 = 2;

/// A constant: the width of its format tells the format apart from others of these.
type Constant = (u32, u64);

/// The constants a run meets.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    met: BTreeSet<Constant>,
    /// What is taken for something else, in the order of the first.
    taken: Vec<(Constant, u64)>,
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

    /// Constants of `optimised` that are near one of these without being one.
    pub(crate) fn near(&self, optimised: &Self) -> Self {
        let near = |&(width, bits): &Constant| {
            let around = (width, bits.saturating_sub(NEAR))..=(width, bits.saturating_add(NEAR));
            let own = self.met.contains(&(width, bits));
            self.met.range(around).next().filter(|_| !own).map(|other| ((width, bits), other.1))
        };
        Self { met: BTreeSet::new(), taken: optimised.met.iter().filter_map(near).collect() }
    }

    /// The numbers of both sides, reference first.
    pub(crate) fn pairs(&self) -> Vec<[f64; 2]> {
        let pair = |&((width, bits), other): &(Constant, u64)| {
            let format = if width == 64 { Format::F64 } else { Format::F32 };
            [other, bits].map(|bits| concrete::to_double(format, bits))
        };
        self.taken.iter().map(pair).collect()
    }
}

/// Singles and doubles that are neither zero nor infinite: the others have too few bits to tell.
fn constant(format: Format, bits: u64) -> Option<Constant> {
    let width = match format {
        Format::F32 => 32,
        Format::F64 => 64,
        _ => return None,
    };
    concrete::to_double(format, bits).is_normal().then_some((width, bits))
}
