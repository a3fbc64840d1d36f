//! Fetches from textures: functions of the texture, the type and the coordinates as real numbers.

use super::super::state::SymbolicValue;
use super::collect_stores::{Runner, Track, apply_function};
use super::value::Value;
use kir::{Expr, ExprKind, Type, is_fetch};

impl Runner<'_, '_> {
    /// Returns the value of a fetch; `None` if an argument may not be a number.
    pub(super) fn fetch(&mut self, name: &str, arguments: &[Expr], track: &Track) -> Option<Value> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(match argument.ty {
                Type::Float => self.value(argument, track),
                _ => self.converted(argument, track),
            });
        }
        apply_function(name, values)
    }

    /// Records that the symbol of an integer is the result of a fetch.
    pub(super) fn record_fetch(&mut self, expr: &Expr, value: &SymbolicValue, track: &Track) {
        if let (ExprKind::Call(name, arguments), SymbolicValue::Int(poly)) = (&expr.kind, value)
            && is_fetch(name)
            && let Some(sym) = poly.as_symbol()
            && let Some(value) = self.fetch(name, arguments, track)
        {
            self.data.insert(sym, (value, expr.ty));
        }
    }
}
