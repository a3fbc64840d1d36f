//! Fetches from textures: symbols that are the same for the same texture, type and coordinates.
//!
//! Only integers can be compared that way. A fetch with a float coordinate is a new value each time, but the level at
//! which it is shared is known.

use super::Engine;
use super::state::{Operation, State, SymbolicValue};
use arith::poly::Poly;
use arith::symbols::Level;
use kir::{Expr, FETCH_OF_INDEX, Type};

impl Engine<'_> {
    /// The value of a fetch; its index must fit its type, like that of an array.
    pub(super) fn fetch(
        &mut self,
        name: &'static str,
        arguments: &[Expr],
        ty: Type,
        state: &State,
        strict: bool,
    ) -> SymbolicValue {
        let strict = strict || name == FETCH_OF_INDEX;
        let mut level = Level::Launch;
        let mut known: Option<Vec<Poly>> = Some(Vec::new());
        for argument in arguments {
            let value = self.eval(argument, state, strict);
            level = level.max(self.level(&value));
            known = match (known, value) {
                (Some(mut known), SymbolicValue::Int(poly)) => {
                    known.push(poly);
                    Some(known)
                }
                _ => None,
            };
        }
        match (ty, known.as_deref()) {
            (Type::Float, _) => self.untracked(level),
            (Type::Bool, _) => SymbolicValue::Bool(self.unknown_truth(level)),
            (_, Some([first, between @ .., last])) => {
                let mut combined = first.clone();
                for one in between {
                    let step = Operation::Opaque(name, combined, one.clone());
                    combined = self.operation(step, Type::Whole);
                }
                SymbolicValue::Int(
                    self.operation(Operation::Opaque(name, combined, last.clone()), ty),
                )
            }
            _ => SymbolicValue::Int(self.unknown(name, level, ty)),
        }
    }
}
