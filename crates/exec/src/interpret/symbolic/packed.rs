//! Common moves of halves, done for a warp at once: words of two halves are taken apart and put together.
//!
//! All others are left to [`super::bits`], which gives the same result.

use crate::context::Context;
use crate::lanes::{Mask, WARP};
use crate::tags::{Source::Data, Tags};
use ir::{Operand, Reg, Width};

/// Splits words of two halves in every lane. Returns `false` if it declines.
pub(super) fn split(context: &mut Context<'_, '_>, dsts: &[Option<Reg>], src: Operand) -> bool {
    let Context { registers, layout, lanes, valued: Some(valued), .. } = context else {
        return false;
    };
    let [first, second] = *dsts else { return false };
    let narrow = |dst: Option<Reg>| dst.is_none_or(|dst| layout.width(dst) == Width::B16);
    let Some(words) = registers.unknown_narrow(layout, src, Width::B32, *lanes) else {
        return false;
    };
    if !narrow(first) || !narrow(second) {
        return false;
    }
    let units = &mut valued.store.units;
    let mut parts = [[0; WARP]; 2];
    // Often one half is taken from a word at a time.
    let dsts = [first, second].map(|dst| dst.filter(|&dst| layout.is_read(dst)));
    for (half, part) in parts.iter_mut().enumerate() {
        if dsts[half].is_none() || *lanes == Mask::ALL && units.find_known_halves(words, half, part)
        {
            continue;
        }
        for lane in lanes.iter() {
            match units.half_alone(words[lane], half) {
                Some(word) => part[lane] = word,
                None => return false,
            }
        }
    }
    for (dst, part) in dsts.into_iter().zip(&parts) {
        if let Some(dst) = dst {
            registers.write_data(layout, dst, part, *lanes);
        }
    }
    true
}

/// Puts two halves together in every lane. Returns `false` if it declines.
pub(super) fn join(context: &mut Context<'_, '_>, dst: Reg, parts: [Operand; 2]) -> bool {
    let Context { registers, layout, lanes, valued: Some(valued), .. } = context else {
        return false;
    };
    let [low, high] = parts.map(|part| registers.unknown_narrow(layout, part, Width::B16, *lanes));
    let (Some(low), Some(high)) = (low, high) else { return false };
    if layout.width(dst) != Width::B32 {
        return false;
    }
    let mut words = [0; WARP];
    // Neighbouring lanes often have the same halves.
    let mut last = None;
    for lane in lanes.iter() {
        let halves = (low[lane], high[lane]);
        words[lane] = match last {
            Some((known, word)) if known == halves => word,
            _ => match valued.store.units.pair(halves.0, halves.1) {
                Some(word) => word,
                None => return false,
            },
        };
        last = Some((halves, words[lane]));
    }
    registers.write_narrow(layout, dst, &words, Tags::unknown(Mask::ALL, Data), *lanes);
    true
}
