//! Registers of warp-group products (manual §9.7.15.7): rules for accesses to them.
//!
//! From a product until the wait for its group, its accumulator belongs to it, and a fragment of A must not change.
//! A `wgmma.fence` must separate an access by another instruction from a later product that uses the register, even
//! before the first product. Accumulators passed from product to product of one shape need none. An assembler
//! repairs violations of both rules (ptxas says so: "wait_group is injected", "warpgroup.arrive is injected"). So the
//! run computes the results of the repaired program, and each violation is a note (an error with `--strict`).
//!
//! The manual forbids any access to a fragment of A before the wait. Reading it changes nothing, so reads are
//! accepted.

use super::Registers;
use crate::finding::{Place, RegisterWindow};
use base::Index;
use ir::{Access, Element, Op, Operand, Reg, Shape, Wgmma, WgmmaFactor};
use rustc_hash::FxHashMap;
use sync::AgentId;

/// A product that may be in flight, with the registers that it uses in one role.
#[derive(Clone, Debug)]
struct ProductInFlight {
    /// Its number in [`Windows::owners`].
    number: u32,
    product: AgentId,
    place: Place,
    /// The shape and the type of an accumulator; `None` for a fragment of A.
    accumulator: Option<(Shape, Element)>,
    registers: Vec<Reg>,
    /// The number of its registers that no later product uses.
    owned: usize,
    /// Set if these are data in all lanes after the product, and no other instruction accessed them since.
    data: bool,
    /// Likewise, after the product before it in a chain.
    was_data: bool,
}

/// The registers of products in one function of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// Set after the first `wgmma.fence`.
    fenced: bool,
    /// Accesses by other instructions since the last fence.
    touched: FxHashMap<usize, Place>,
    /// For each register, the number of the last product that uses it.
    owners: FxHashMap<usize, u32>,
    in_flight: Vec<ProductInFlight>,
    /// The number of the next product.
    next: u32,
}

impl Windows {
    /// The last product that uses a register, if it may be in flight.
    fn product_in_flight(&mut self, position: usize) -> Option<&mut ProductInFlight> {
        let number = self.owners.get(&position)?;
        self.in_flight.iter_mut().find(|earlier| earlier.number == *number)
    }

    /// Assigns these registers to a product. Returns the first violation, if any.
    fn claim(
        &mut self,
        registers: &[Reg],
        accumulator: Option<(Shape, Element)>,
        (product, place): (AgentId, Place),
    ) -> Option<RegisterWindow> {
        let same = |one: &&mut ProductInFlight| {
            one.accumulator == accumulator
                && one.owned == registers.len()
                && one.registers == registers
        };
        // A chain of products: only the last one changes.
        if self.touched.is_empty()
            && let Some(earlier) = self.in_flight.iter_mut().find(same)
        {
            (earlier.product, earlier.place) = (product, place);
            earlier.was_data = std::mem::take(&mut earlier.data);
            return None;
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let (mut found, mut owned) = (None, 0);
        for register in registers {
            let position = register.position();
            if let Some(&access) = self.touched.get(&position) {
                found = found.or(Some(RegisterWindow::Unfenced { access }));
            }
            if let Some(earlier) = self.product_in_flight(position) {
                if earlier.accumulator != accumulator {
                    found = found.or(Some(RegisterWindow::InFlight { product: earlier.place }));
                }
                earlier.owned -= 1;
            }
            // A register that is named twice counts once.
            if self.owners.insert(position, number) != Some(number) {
                owned += 1;
            }
        }
        self.in_flight.retain(|earlier| earlier.owned > 0);
        let registers = registers.to_vec();
        self.in_flight.push(ProductInFlight {
            number,
            product,
            place,
            accumulator,
            registers,
            owned,
            data: false,
            was_data: false,
        });
        found
    }

    /// The last product whose accumulator these registers are.
    fn of_accumulator(&mut self, registers: &[Reg]) -> Option<&mut ProductInFlight> {
        let number = self.owners.get(&registers.first()?.position())?;
        let is_it = |one: &&mut ProductInFlight| {
            one.number == *number && one.accumulator.is_some() && one.registers == registers
        };
        self.in_flight.iter_mut().find(is_it).filter(|one| one.owned == registers.len())
    }
}

/// Returns `true` if a product is over for its warp.
pub(crate) type IsOver<'o> = &'o dyn Fn(AgentId) -> bool;

impl Registers {
    /// Forgets all products.
    pub(super) fn forget_windows(&mut self) {
        self.product_registers = None;
    }

    fn product_registers(&mut self) -> &mut Windows {
        self.product_registers.get_or_insert_default()
    }

    /// Executes `wgmma.fence`.
    pub(crate) fn fence_products(&mut self) {
        let windows = self.product_registers();
        windows.fenced = true;
        windows.touched.clear();
    }

    /// Executes `wgmma.wait_group`.
    pub(crate) fn end_products(&mut self, is_over: IsOver<'_>) {
        let Windows { in_flight, owners, .. } = self.product_registers();
        let before = in_flight.len();
        in_flight.retain(|earlier| !is_over(earlier.product));
        if in_flight.len() < before {
            owners.retain(|_, number| in_flight.iter().any(|earlier| earlier.number == *number));
        }
    }

    /// Records an access to registers of products by another instruction. Returns the first violation, if any.
    pub(crate) fn record_access(&mut self, op: &Op, place: Place) -> Option<RegisterWindow> {
        let windows = self.product_registers();
        let mut found = None;
        op.visit(&mut |access| {
            let (register, writes) = match access {
                Access::Write(register) => (register, true),
                Access::Read(Operand::Register(register)) => (register, false),
                _ => return,
            };
            let position = register.position();
            if let Some(earlier) = windows.product_in_flight(position) {
                earlier.data = false;
                if writes || earlier.accumulator.is_some() {
                    found = found.or(Some(RegisterWindow::InFlight { product: earlier.place }));
                }
            }
            windows.touched.insert(position, place);
        });
        found
    }

    /// Returns `true` if the accumulator of the product that was just started was data in all lanes before.
    pub(crate) fn accumulator_is_data(&mut self, accumulator: &[Reg]) -> bool {
        let windows = self.product_registers.as_mut();
        let known = windows.and_then(|windows| windows.of_accumulator(accumulator));
        known.is_some_and(|product| product.was_data) || self.are_data(accumulator)
    }

    /// Records that the accumulator of the product that was just started is data in all lanes now.
    pub(crate) fn set_accumulator_data(&mut self, accumulator: &[Reg]) {
        debug_assert!(self.are_data(accumulator), "the accumulator is data");
        let windows = self.product_registers.as_mut();
        if let Some(product) = windows.and_then(|windows| windows.of_accumulator(accumulator)) {
            product.data = true;
        }
    }

    /// Starts a product. Returns the first violation by its registers, if any.
    pub(crate) fn start_product(
        &mut self,
        wgmma: &Wgmma,
        (product, place): (AgentId, Place),
    ) -> Option<RegisterWindow> {
        let chain = Some((wgmma.shape, wgmma.d_element));
        let windows = self.product_registers();
        let mut found = (!windows.fenced).then_some(RegisterWindow::First);
        if let WgmmaFactor::Fragment(parts) = &wgmma.a {
            let register = |part: &Operand| match part {
                Operand::Register(register) => Some(*register),
                Operand::Constant(_) => None,
            };
            let parts: Vec<Reg> = parts.iter().filter_map(register).collect();
            found = found.or(windows.claim(&parts, None, (product, place)));
        }
        found = found.or(windows.claim(&wgmma.d, chain, (product, place)));
        found
    }
}
