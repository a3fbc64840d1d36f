//! Differences visible to a user: both kernels compute different floats at the witness.
//!
//! If the floats agree at the point that the algebra found, the other points of its search are tried. If they
//! agree at all of them nothing is refuted: values may differ over the reals without floats ever showing it.
//! An operation that is undefined over the reals at inputs where the floats agree is listed as an assumption.

use super::Outputs;
use crate::assumed_properties::Instruction;
use crate::difference::{Difference, Point};
use crate::position::{OpenElement, OpenReason, Position, Reliance};
use crate::replay::{Floats, first_difference, replay};
use crate::side::Side;
use crate::table::Table;
use crate::witness::Numbers;
use decide::{Budget, Discrepancy, differences};
use exec::Limits;
use std::collections::BTreeSet;
use term::{Term, Terms};

/// The largest number of other points that are tried: of coarse ones, and of precise ones.
const OTHER_POINTS: usize = 6;

/// Significant bits of the numbers at precise points.
const PRECISE_BITS: u32 = 24;
/// Number of precise points that are searched.
const PRECISE_POINTS: u64 = 24;

/// The number of runs that are made at any cost.
const FREE_RUNS: u32 = 16;

/// Instructions of all lanes after which no run beyond [`FREE_RUNS`] is started.
const MAX_INSTRUCTIONS: u64 = 50_000_000;

/// Inputs at which signs are tested.
const SIGN_POINTS: u32 = 3;

/// The floats for a difference over the reals.
pub(super) enum VisibleFloats {
    /// The floats differ.
    Apart(Box<Difference>),
    /// The floats agree.
    Alike,
}

/// The float runs of one comparison. Their number is limited because many outputs may be undefined at the same
/// inputs.
#[derive(Debug, Default)]
pub(super) struct Replays {
    runs: u32,
    instructions: u64,
}

impl Replays {
    /// Returns `true` if another run is affordable.
    fn has_budget(&self) -> bool {
        self.runs < FREE_RUNS || self.instructions < MAX_INSTRUCTIONS
    }

    /// Runs both kernels and returns their values, if both complete.
    pub(super) fn run(
        &mut self,
        sides: [&Side<'_>; 2],
        table: &Table,
        position: &Position,
        numbers: &Numbers,
        limits: Limits,
    ) -> Option<Floats> {
        let (floats, instructions) = replay(sides, table, position, numbers, limits)?;
        self.runs += 1;
        self.instructions += instructions;
        Some(floats)
    }
}

impl Outputs<'_, '_> {
    /// Returns a difference that floats show, at this point or at another one.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn find_visible_difference(
        &mut self,
        position: &Position,
        pair: (Term, Term),
        (point, discrepancy): (Point, Discrepancy),
    ) -> Result<Box<Difference>, OpenReason> {
        if let VisibleFloats::Apart(difference) =
            self.difference(position, pair, &point, &discrepancy)?
        {
            return Ok(difference);
        }
        for (other, discrepancy) in self.differences_at_other_points(pair) {
            if other == point || !self.replays.has_budget() {
                continue;
            }
            if let Ok(VisibleFloats::Apart(difference)) =
                self.difference(position, pair, &other, &discrepancy)
            {
                return Ok(difference);
            }
        }
        Err(OpenReason::Alike)
    }

    /// Looks for a difference at points where only the reference is defined. `None` if the kernels compute
    /// the same floats at all such points tried.
    ///
    /// # Errors
    /// The reason, if no run at such a point gave floats.
    pub(super) fn check_undefined_inputs(
        &mut self,
        position: &Position,
        pair: (Term, Term),
    ) -> Result<Option<Box<Difference>>, OpenReason> {
        let mut alike = false;
        let mut reason = None;
        for (other, discrepancy) in self.differences_at_other_points(pair) {
            if !self.replays.has_budget() {
                return Ok(None);
            }
            match self.difference(position, pair, &other, &discrepancy) {
                Ok(VisibleFloats::Apart(difference)) => return Ok(Some(difference)),
                Ok(VisibleFloats::Alike) => alike = true,
                Err(other) => reason = reason.or(Some(other)),
            }
        }
        match alike {
            true => Ok(None),
            false => Err(reason.unwrap_or(OpenReason::Undefined)),
        }
    }

    /// Collects the instructions where the sign of a zero may have reached an output.
    pub(super) fn signs_of_zero(&mut self) -> [BTreeSet<Instruction>; 2] {
        let mut roots = std::mem::take(&mut self.roots).into_iter();
        let stores = self.ran.each_ref().map(|ran| &ran.domain.terms);
        [0, 1].map(|side| {
            let roots = roots.next().unwrap_or_default();
            let properties = &self.ran[side].domain.assumed_properties;
            let about = |terms: &Terms, term| self.assumed.about_term(terms, term);
            properties.signs_of_zero(stores, side == 1, roots, about)
        })
    }

    /// Records where the answer relies on NaN tests that find none, and on finite data.
    pub(super) fn record_reliance(&mut self) {
        let properties =
            self.ran.each_ref().map(|ran| (&ran.domain.assumed_properties, &ran.domain.terms));
        self.compared.nan_tests =
            properties.map(|(properties, terms)| properties.tests_for_nan(terms));
        self.compared.infinity_tests =
            properties.map(|(properties, _)| properties.assumed_finite());
    }

    /// Checks an equality that relies on signs of zeros or on NaN tests, at inputs without zeros. Returns an
    /// element that the kernels compute differently there.
    pub(super) fn check_reliance(&self) -> Option<OpenElement> {
        let [signs, tests] = [&self.compared.signs, &self.compared.nan_tests]
            .map(|places| !places.iter().all(BTreeSet::is_empty));
        let on = match (signs, tests) {
            (true, _) => Reliance::SignOfZero,
            (_, true) => Reliance::NanTest,
            (false, false) => return None,
        };
        let terms = &self.ran[0].domain.terms;
        let mut state = 0;
        for _ in 0..SIGN_POINTS {
            let next = || {
                state += 1;
                base::mix64(state)
            };
            let numbers = Numbers::random(self.sides, self.table, (terms, self.assumed), 1.0, next);
            let Some(numbers) = numbers else { continue };
            let numbers = numbers.without_zeros(self.assumed);
            let apart = first_difference(self.sides, self.table, &numbers, self.clock.limits());
            if let Some((position, floats)) = apart {
                let reason = OpenReason::Reliance { on, values: floats.values() };
                return Some(OpenElement { position, reason, lost: None });
            }
        }
        None
    }

    /// Returns differences of a pair at further points: first numbers with few bits, then with all bits of a single.
    fn differences_at_other_points(&self, pair: (Term, Term)) -> Vec<(Point, Discrepancy)> {
        self.with_problem(&[pair], |problem, budget| {
            let mut found = differences(problem, pair, budget, OTHER_POINTS);
            // Numbers with few digits hide the rounding that others show.
            let precise =
                Budget { significand_bits: PRECISE_BITS, points: PRECISE_POINTS, ..*budget };
            found.extend(differences(problem, pair, &precise, OTHER_POINTS));
            found
        })
    }
}
