//! Registers of products of warp groups (manual §9.7.15.7): what may touch them, and when.
//!
//! From a product until the wait for its group its accumulator belongs to it, and a fragment of A must not change. Between an
//! access by another instruction and a later product that uses the register there must be a `wgmma.fence`, also before the first
//! product; accumulators that go from product to product of one shape need none. An assembler sees to both itself (ptxas
//! says so: "wait_group is injected", "warpgroup.arrive is injected"), so what is computed is that of the repaired program, and
//! each is a note, an error with `--strict`.
//!
//! The manual forbids any access to a fragment of A before the wait; reading it changes nothing and is let pass.

use super::Registers;
use crate::finding::{Place, RegisterWindow};
use base::Index;
use ir::{Access, Element, Op, Operand, Reg, Shape, Wgmma, WgmmaFactor};
use rustc_hash::FxHashMap;
use sync::CopyId;

/// A product that may be under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    product: CopyId,
    place: Place,
    /// The shape and the type of an accumulator; none for a fragment of A.
    accumulator: Option<(Shape, Element)>,
}

/// The registers of products in one function of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// Set after the first `wgmma.fence`.
    fenced: bool,
    /// Accesses by other instructions since the last fence.
    touched: FxHashMap<usize, Place>,
    flights: FxHashMap<usize, Flight>,
}

/// Tells whether a product is over for its warp.
pub(crate) type IsOver<'o> = &'o dyn Fn(CopyId) -> bool;

impl Registers {
    /// Forgets what is known of products.
    pub(super) fn forget_windows(&mut self) {
        self.windows = None;
    }

    fn windows(&mut self) -> &mut Windows {
        self.windows.get_or_insert_default()
    }

    /// `wgmma.fence`
    pub(crate) fn fence_products(&mut self) {
        let windows = self.windows();
        windows.fenced = true;
        windows.touched.clear();
    }

    /// `wgmma.wait_group`
    pub(crate) fn end_products(&mut self, is_over: IsOver<'_>) {
        self.windows().flights.retain(|_, flight| !is_over(flight.product));
    }

    /// Another instruction than a product touches registers of products; what is wrong with that.
    pub(crate) fn touch(&mut self, op: &Op, place: Place) -> Option<RegisterWindow> {
        let windows = self.windows();
        let mut found = None;
        op.visit(&mut |access| {
            let (register, writes) = match access {
                Access::Write(register) => (register, true),
                Access::Read(Operand::Register(register)) => (register, false),
                _ => return,
            };
            let position = register.position();
            if let Some(flight) = windows.flights.get(&position)
                && (writes || flight.accumulator.is_some())
            {
                found = found.or(Some(RegisterWindow::InFlight { product: flight.place }));
            }
            windows.touched.insert(position, place);
        });
        found
    }

    /// A product starts; what is wrong about its registers.
    pub(crate) fn start_product(
        &mut self,
        wgmma: &Wgmma,
        (product, place): (CopyId, Place),
    ) -> Option<RegisterWindow> {
        let chain = Some((wgmma.shape, wgmma.d_element));
        let windows = self.windows();
        let mut found = (!windows.fenced).then_some(RegisterWindow::First);
        let mut check = |register: Reg, accumulator| {
            let position = register.position();
            if let Some(&access) = windows.touched.get(&position) {
                found = found.or(Some(RegisterWindow::Unfenced { access }));
            }
            let before = windows.flights.get(&position);
            let alike = before.is_none_or(|flight| flight.accumulator == accumulator);
            if let (Some(flight), false) = (before, alike) {
                found = found.or(Some(RegisterWindow::InFlight { product: flight.place }));
            }
            windows.flights.insert(position, Flight { product, place, accumulator });
        };
        if let WgmmaFactor::Fragment(parts) = &wgmma.a {
            for part in parts {
                if let Operand::Register(register) = part {
                    check(*register, None);
                }
            }
        }
        wgmma.d.iter().for_each(|&register| check(register, chain));
        found
    }
}
