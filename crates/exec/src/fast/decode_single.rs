//! Pre-decoded instructions for a group of one lane: operands as positions in the register file, one value instead of
//! 32.
//!
//! An integer operation runs here if its operands are numbers in that lane, or add a number to a pointer that stays
//! near its allocation. A fused multiply-add runs here if all operands are single values of a domain. All other cases
//! are left to the code for all warps, which gives the same result where both apply.

use crate::address::{Area, Pointer, keeps_region};
use crate::concrete;
use crate::context::Context;
use crate::finding::Place;
use crate::handle::Handle;
use crate::lanes::Mask;
use crate::layout::{Layout, SingleSource, SingleTarget, Word};
use crate::memory::state;
use crate::racing_reads::RacingReadMode;
use ir::{
    AddressBase, FloatMode, Format, Instr, IntBinary, Load, Op, Operand, Ordering, Relation, Space,
    Symbol, VarId, Width,
};

/// An instruction in the form used for a group of one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Single {
    /// Not a common instruction, or one with a guard.
    Other,
    /// An operation on integers, or a sum of a pointer and a number.
    Integer { op: IntBinary, width: Width, dst: SingleTarget, sources: [SingleSource; 2] },
    /// A comparison of integers; the destination is the position of a predicate.
    Compare { relation: Relation, signed: bool, width: Width, dst: u32, sources: [SingleSource; 2] },
    /// A copy between registers of one width, or of a constant.
    Copy { dst: SingleTarget, source: SingleSource },
    /// The address of a variable.
    Address { variable: VarId, offset: i64, dst: SingleTarget, width: Width },
    /// A load of one word.
    Load(SingleLoad),
    /// A fused multiply-add of singles.
    Fma { mode: FloatMode, dst: SingleTarget, sources: [Word; 3] },
}

/// Decodes an instruction.
pub(crate) fn decode(instruction: &Instr, layout: &Layout) -> Single {
    match instruction.guard {
        None => decode_op(&instruction.op, layout).unwrap_or(Single::Other),
        Some(_) => Single::Other,
    }
}

fn decode_op(op: &Op, layout: &Layout) -> Option<Single> {
    match op {
        Op::IntBinary { op: IntBinary::Div { .. } | IntBinary::Rem { .. }, .. }
        | Op::IntBinary { width: Width::B1, .. }
        | Op::IntCompare { width: Width::B1, .. } => None,
        Op::IntBinary { op, width, dst, a, b } => {
            let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
            let b_width = if shifts { Width::B32 } else { *width };
            let sources = [layout.single_source(*a, *width)?, layout.single_source(*b, b_width)?];
            Some(Single::Integer {
                op: *op,
                width: *width,
                dst: layout.single_target(*dst)?,
                sources,
            })
        }
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            let sources = [layout.single_source(*a, *width)?, layout.single_source(*b, *width)?];
            let (relation, signed, width) = (*relation, *signed, *width);
            let dst = layout.predicate(*dst)?;
            Some(Single::Compare { relation, signed, width, dst, sources })
        }
        Op::Copy { dst, src } => {
            let same = match src {
                Operand::Register(src) => layout.width(*src) == layout.width(*dst),
                Operand::Constant(_) => true,
            };
            let dst_width = layout.width(*dst);
            let source = layout.single_source(*src, dst_width).filter(|_| same)?;
            Some(Single::Copy { dst: layout.single_target(*dst)?, source })
        }
        Op::AddressOf { dst, symbol: Symbol::Variable(variable), offset } => {
            Some(Single::Address {
                variable: *variable,
                offset: *offset,
                dst: layout.single_target(*dst)?,
                width: layout.width(*dst),
            })
        }
        Op::Load(load) => Some(Single::Load(SingleLoad::new(load, layout)?)),
        Op::Fma { format: Format::F32, lanes: 1, mode, dst, a, b, c }
            if !mode.saturate && !mode.relu =>
        {
            Some(Single::Fma {
                mode: *mode,
                dst: layout.target(*dst).and_then(|_| layout.single_target(*dst))?,
                sources: [
                    layout.single_word(*a)?,
                    layout.single_word(*b)?,
                    layout.single_word(*c)?,
                ],
            })
        }
        _ => None,
    }
}

/// Returns the lane of a group if it is alone and this module may execute instructions for it: nothing but the
/// instruction itself has to be done then.
#[inline]
pub(crate) fn lane_alone(context: &Context<'_, '_>, lanes: Mask) -> Option<usize> {
    let Context { machine, tracker, .. } = context;
    if !lanes.is_one() || machine.general || machine.blocks != 1 || tracker.follows_grids() {
        return None;
    }
    let steps = tracker.is_lock_step() || !machine.polls.is_empty();
    let poisons = matches!(machine.racing_reads, RacingReadMode::Poison(_));
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
            Self::Copy { dst, source } => match context.registers.number(*source, lane) {
                Some(value) => {
                    context.registers.write_single(*dst, value, false, (lane, lanes));
                    true
                }
                None => false,
            },
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

/// A load of one word from untracked memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleLoad {
    base: SingleSource,
    /// The mask of the base register's bits.
    mask: u64,
    offset: i64,
    space: Space,
    width: Width,
    signed: bool,
    dst: SingleTarget,
    dst_width: Width,
}

impl SingleLoad {
    fn new(load: &Load, layout: &Layout) -> Option<Self> {
        let AddressBase::Register(base) = load.address.base else { return None };
        let ([Some(dst)], Ordering::Weak) = (&load.dsts[..], load.ordering) else { return None };
        if load.width > Width::B64 {
            return None;
        }
        Some(Self {
            base: layout.single_source(base.into(), layout.width(base))?,
            mask: layout.width(base).mask(),
            offset: load.address.offset,
            space: load.space,
            width: load.width,
            signed: load.signed,
            dst: layout.single_target(*dst)?,
            dst_width: layout.width(*dst),
        })
    }

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
