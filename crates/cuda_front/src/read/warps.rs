//! Warp functions: all threads of the warp must reach them, exchanged values are unknown, and their ordering is not
//! used.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Value};
use super::types::{fold, truth};
use cuda::tree;
use kir::Stmt;

impl Lowerer<'_> {
    /// Functions that the threads of a warp call together. Their results are unknown; an obligation states that all
    /// threads reach them.
    pub(super) fn warp(
        &mut self,
        name: &str,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        let is_pointer = |argument: &tree::Expr| matches!(argument.ty, tree::Type::Pointer(_));
        let first_target = arguments.iter().position(is_pointer).unwrap_or(arguments.len());
        let (arguments, targets) = arguments.split_at(first_target);
        let values = self.values(arguments, out)?;
        let is_vote = ["__ballot_sync", "__any_sync", "__all_sync"].contains(&name);
        for (position, value) in values.iter().enumerate() {
            match value.first() {
                // The predicate of a vote is a condition like any other.
                Some(Item::Scalar(predicate)) if is_vote && position == 1 => {
                    out.push(Stmt::If(truth(predicate.clone()), Vec::new(), Vec::new()));
                }
                _ => self.keep_partial(value.clone(), out),
            }
        }
        let mask = values.first().and_then(|one| one.first());
        let is_partial = match mask {
            Some(Item::Scalar(mask)) if name != "__activemask" => {
                fold(mask).map(|mask| mask.rem_euclid(1 << 32)) != Some(0xffff_ffff)
            }
            _ => false,
        };
        if is_partial {
            let message = "a mask that does not name the whole warp is not supported";
            return Err(unsupported(arguments.first().map_or(span, |one| one.span), message));
        }
        if name != "__activemask" {
            out.push(Stmt::Warp(span));
        }
        // `__match_all_sync` writes through a pointer whether all values are equal.
        for target in targets {
            self.forget_pointee(target, span, out)?;
        }
        let Some(ty) = self.scalar(&expr.ty) else { return Ok(super::memory::nothing(span)) };
        Ok(vec![Item::Scalar(self.unknown("exchanged", ty, span, out))])
    }
}

pub(super) fn is_of_warp(name: &str) -> bool {
    let names = ["__syncwarp", "__ballot_sync", "__any_sync", "__all_sync", "__activemask"];
    let families = ["__shfl_", "__match_", "__reduce_"];
    name.ends_with("_sync") && families.iter().any(|family| name.starts_with(family))
        || names.contains(&name)
}
