//! Executes pre-decoded instructions in a group of one lane: one value instead of 32.
//!
//! An integer operation runs here if its operands are numbers in that lane, or add a number to a pointer that stays
//! near its allocation; a copy, if its operand is a number or a pointer. A fused multiply-add runs here if all operands
//! are single values of a domain. All other cases are left to the code for all warps, which gives the same result where
//! both apply.

use super::decode_single::{Single, SingleLoad};
use crate::address::{Area, Pointer, keeps_region};
use crate::concrete;
use crate::context::Context;
use crate::finding::Place;
use crate::handle::Handle;
use crate::lanes::Mask;
use crate::layout::{SingleSource, SingleTarget, Word};
use crate::memory::state;
use ir::{FloatMode, Format, Instr, IntBinary, Width};

/// Returns the lane of a group if it is alone and this module may execute instructions for it: nothing but the
/// instruction itself has to be done then.
#[inline]
pub(crate) fn lane_alone(context: &Context<'_, '_>, lanes: Mask) -> Option<usize> {
    let Context { machine, tracker, .. } = context;
    if !lanes.is_one() || machine.general || machine.blocks != 1 || tracker.follows_grids() {
        return None;
    }
    let steps = tracker.is_lock_step() || !machine.polls.is_empty();
    let poisons = machine.racing_reads.poisoned().is_some();
    lanes.lowest().filter(|_| !steps && !poisons)
}

impl Single {
    /// Executes the instruction in the only lane of a group. Returns `false` if this is not possible here.
    #[inline]
    pub(crate) fn execute(
        &self,
        context: &mut Context<'_, '_>,
        instruction: &Instr,
        (lane, lanes): (usize, Mask),
    ) -> bool {
        match self {
            Self::Other => false,
            Self::Integer { op, width, dst, sources } => {
                integer(context, (*op, *width), *dst, sources, (lane, lanes)).is_some()
            }
            Self::Compare { relation, signed, width, dst, sources: [a, b] } => {
                let registers = &mut context.registers;
                let (Some(a), Some(b)) = (registers.number(*a, lane), registers.number(*b, lane))
                else {
                    return false;
                };
                let truth = concrete::int_compare(*relation, *signed, *width, a, b);
                registers.write_single_truth(*dst, truth, lanes);
                true
            }
            Self::Copy { dst, source } => {
                let registers = &mut context.registers;
                match registers.number_or_pointer(*source, lane) {
                    (value, Some(is_pointer)) => {
                        registers.write_single(*dst, value, is_pointer, (lane, lanes));
                        true
                    }
                    (_, None) => false,
                }
            }
            Self::Address { variable, offset, dst, width } => {
                let Some(&area) = context.machine.areas.get(variable) else { return false };
                let address = Pointer { area, offset: *offset }.address() & width.mask();
                context.registers.write_single(*dst, address, true, (lane, lanes));
                true
            }
            Self::Load(load) => load.execute(context, (lane, lanes)).is_some(),
            Self::Fma { mode, dst, sources } => {
                let place = Place { span: instruction.span, location: instruction.location };
                multiply_add(context, *mode, *dst, sources, place, (lane, lanes)).is_some()
            }
        }
    }
}

/// Computes integer operations, and sums of pointers and numbers.
#[inline(always)]
fn integer(
    context: &mut Context<'_, '_>,
    (op, width): (IntBinary, Width),
    dst: SingleTarget,
    sources: &[SingleSource; 2],
    (lane, lanes): (usize, Mask),
) -> Option<()> {
    let registers = &mut context.registers;
    let (a, of_a) = registers.number_or_pointer(sources[0], lane);
    let (b, of_b) = registers.number_or_pointer(sources[1], lane);
    let (of_a, of_b) = (of_a?, of_b?);
    let result = match op {
        IntBinary::Add => a.wrapping_add(b) & width.mask(),
        op => concrete::int_binary(op, width, a, b),
    };
    let is_pointer = of_a || of_b;
    if is_pointer {
        let moves = match op {
            IntBinary::Add => !(of_a && of_b),
            IntBinary::Sub => !of_b,
            _ => false,
        };
        let pointer = if of_a { a } else { b };
        if !moves
            || !matches!(width, Width::B32 | Width::B64)
            || !super::direct::is_pointer(pointer, width)
            || !keeps_region(pointer, result)
        {
            return None;
        }
    }
    registers.write_single(dst, result, is_pointer, (lane, lanes));
    Some(())
}

impl SingleLoad {
    /// Loads the word if it is inside an allocation, aligned, and in one state.
    #[inline(always)]
    fn execute(&self, context: &mut Context<'_, '_>, (lane, lanes): (usize, Mask)) -> Option<()> {
        let Context { registers, global, shared, tracker, valued, .. } = context;
        let (base, Some(true)) = registers.number_or_pointer(self.base, lane) else { return None };
        let address = base.wrapping_add_signed(self.offset) & self.mask;
        let near = keeps_region(base, address);
        let Pointer { area, offset } = Pointer::decode(address, self.space).filter(|_| near)?;
        let memory = match area {
            Area::Global(number) => global.get_mut(number)?,
            Area::Shared(number) => shared.get_mut(number)?,
            Area::Local(_) | Area::Param(_) => return None,
        };
        let bytes = self.width.bytes();
        let start = memory.inside(offset, bytes)?;
        let aligned = start & (bytes as usize - 1) == 0 && memory.align >= u64::from(bytes);
        if !aligned || !memory.bounded || tracker.watches(area) {
            return None;
        }
        let state = match memory.states.of_all() {
            Some(state) => state,
            None => memory.states.common(start, bytes as usize)?,
        };
        let same_width = self.dst_width == self.width;
        match (state, valued) {
            (state::DEFINED, _) => {
                let value = memory.bits(start, bytes as usize);
                let value = match same_width {
                    true => value,
                    false => concrete::resize(self.width, self.signed, self.dst_width, value),
                };
                registers.write_single(self.dst, value, false, (lane, lanes));
            }
            (state::OPAQUE, Some(valued)) if same_width => {
                let words = match bytes {
                    2 => {
                        let unit = memory.unit(start & !3);
                        valued.store.units.half_alone(unit, start / 2 % 2)?.into()
                    }
                    4.. => memory.bits(start, bytes as usize),
                    _ => return None,
                };
                registers.write_single_data(self.dst, words, (lane, lanes));
            }
            _ => return None,
        }
        memory.read = true;
        Some(())
    }
}

/// Computes a fused multiply-add of values of the domain.
#[inline(always)]
fn multiply_add(
    context: &mut Context<'_, '_>,
    mode: FloatMode,
    dst: SingleTarget,
    sources: &[Word; 3],
    place: Place,
    (lane, lanes): (usize, Mask),
) -> Option<()> {
    let valued = context.valued.as_mut()?;
    let registers = &mut context.registers;
    let mut values = [0; 3];
    for (value, source) in values.iter_mut().zip(sources) {
        *value = registers.data_word(*source, lane)?;
        if !Handle(*value).is_value() || Handle(*value).is_alias() {
            return None;
        }
    }
    valued.domain.instruction(crate::domain::Instruction { format: Format::F32, mode, place });
    let result = valued.domain.fma_of_one(values, mode.rounding);
    registers.write_single_data(dst, result.into(), (lane, lanes));
    Some(())
}
