//! Candidate launches on which an open claim may fail, from the solver's models: small ones first.
//!
//! The solver takes loaded values as arbitrary, so its model need not be a real failure. The interpreter runs the
//! launch and decides.

use super::{Engine, Property};
use arith::formula::Formula;
use arith::poly::Poly;
use base::Index;
use interp::{Launch, Thread};
use kir::{Builtin, Type, VarId};

/// Bounds on sizes, tried one after the other.
const CAPS: [i128; 5] = [2, 4, 16, 100, 2048];
/// Steps of the solver for one model.
const LIMIT: u64 = 600_000;
/// Limits on the queries for one property, and on the models in total.
const MAX_QUESTIONS: usize = 3;
const MAX_MODELS: usize = 40;

impl Engine<'_> {
    pub(super) fn candidate_launches(&mut self) -> Vec<(Launch, Thread)> {
        let mut found = Vec::new();
        let mut queries = 0;
        let questions = std::mem::take(&mut self.questions);
        for property in [Property::Races, Property::Bounds, Property::Overflow, Property::Division]
        {
            let of_property =
                questions.iter().filter(|(one, _)| *one == property).take(MAX_QUESTIONS);
            for (_, question) in of_property {
                if queries < MAX_MODELS
                    && let Some(candidate) = self.candidate(question, &mut queries)
                    && !found.contains(&candidate)
                {
                    found.push(candidate);
                }
            }
        }
        found
    }

    /// Asks the solver for a model of the query, with small sizes first, and returns its launch.
    fn candidate(&mut self, question: &[Formula], queries: &mut usize) -> Option<(Launch, Thread)> {
        let builtins = [Builtin::BlockDim, Builtin::GridDim, Builtin::Thread, Builtin::Block];
        let mut wanted: Vec<Poly> = Vec::new();
        for builtin in builtins {
            wanted.extend((0..3).map(|axis| self.builtin(builtin, axis)));
        }
        let integers: Vec<VarId> = self.scalars();
        for var in &integers {
            let super::state::SymbolicValue::Int(poly) = &self.entry.vars[var.position()] else {
                continue;
            };
            wanted.push(poly.clone());
        }
        for cap in CAPS.into_iter().map(Some).chain([None]) {
            let mut conditions = question.to_vec();
            // The query need not mention all sizes, but their constraints hold all the same.
            conditions.extend(self.prover.requires.iter().cloned());
            let facts = wanted.iter().cloned().map(Formula::ge).collect::<Vec<_>>();
            conditions.extend(self.prover.symbols.facts(&facts));
            for poly in wanted.iter().filter(|_| cap.is_some()) {
                let below = poly.scaled(-1).and_then(|one| one.offset(cap.unwrap_or(0)));
                let above = poly.offset(cap.unwrap_or(0));
                conditions.extend(below.into_iter().chain(above).map(Formula::ge));
            }
            *queries += 1;
            let solver = self.prover.solver.as_mut()?;
            if let Some(values) = solver.values(&conditions, &wanted, LIMIT) {
                return Some(launch(&values, &integers));
            }
        }
        None
    }

    /// Scalars of the launch that are integers.
    fn scalars(&self) -> Vec<VarId> {
        let followed = |var: &&VarId| {
            let ty = self.kernel.vars[**var].ty;
            matches!(ty, Type::Int { .. })
                && matches!(self.entry.vars[var.position()], super::state::SymbolicValue::Int(_))
        };
        self.kernel.scalars.iter().filter(followed).copied().collect()
    }
}

/// Builds the launch from the values of the queried symbols, in order.
fn launch(values: &[i128], integers: &[VarId]) -> (Launch, Thread) {
    let three = |first: usize| [0, 1, 2].map(|axis| values.get(first + axis).copied().unwrap_or(1));
    let scalars =
        integers.iter().copied().zip(values.get(12..).unwrap_or_default().iter().copied());
    let launch = Launch { block: three(0), grid: three(3), scalars: scalars.collect(), seed: 1 };
    (launch, Thread { thread: three(6), block: three(9) })
}
