//! Tables of functions at file scope: `__device__ const op_t table[] = {add, mul};`.
//!
//! A table is an array of numbers, which select the functions. A call through an element becomes a chain of tests
//! with a call of each function. Only `const` tables are supported, because the host may write others.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Target};
use super::types::{fold, int};
use base::{Index, Span};
use cuda::tree::{self, Extent, Init};
use kir::{Array, Element, Space, Stmt, Type};

/// Limit on the functions of a table.
const MAX_FUNCTIONS: u64 = 16;

impl Lowerer<'_> {
    /// The place of a table of functions; `None` if the variable is not one.
    pub(super) fn function_table(
        &mut self,
        global: &tree::Global,
        span: Span,
    ) -> Option<Result<Place>> {
        let tree::Type::Array(element, Extent::Known(size)) = &global.ty else { return None };
        let tree::Type::Pointer(pointee) = &**element else { return None };
        if !matches!(pointee.ty, tree::Type::Function(_)) {
            return None;
        }
        let refused = |why: &str| Some(Err(unsupported(span, why)));
        if !global.is_const {
            return refused(
                "not supported here: a table of functions that is not `const`: the host may change it",
            );
        }
        if *size > MAX_FUNCTIONS {
            return refused("not supported here: a table of this many functions");
        }
        let Some(Init::List(parts)) = &global.init else {
            return refused("not supported here: a table of functions without a list of them");
        };
        let mut targets: Vec<Target> = Vec::new();
        let mut numbers = Vec::new();
        for position in 0..*size as usize {
            let target = match parts.get(position) {
                None | Some(Init::Zero) => Target::Null,
                Some(Init::Expr(one)) => match self.pointer(one, &mut Vec::new()) {
                    Ok(Pointer { targets, .. }) if targets.len() == 1 => targets[0].clone(),
                    _ => {
                        return refused("not supported here: this element of a table of functions");
                    }
                },
                Some(Init::List(_)) => {
                    return refused("not supported here: this table of functions");
                }
            };
            if !matches!(target, Target::Function(_) | Target::Null) {
                return refused("not supported here: this element of a table of functions");
            }
            let known = targets.iter().position(|one| *one == target);
            let number = known.unwrap_or(targets.len());
            if known.is_none() {
                targets.push(target);
            }
            numbers.push(int(number as i128, Type::INT, span));
        }
        let array = Array {
            name: global.name.clone(),
            space: Space::Global,
            element: Type::INT,
            dimensions: vec![Some(int(i128::from(*size), Type::Whole, span))],
            constant: true,
            span: global.span,
        };
        let array = self.push_array(array, vec![(**element).clone()]);
        if let Some(info) = self.infos.get_mut(array.position()) {
            info.table = Some(numbers.clone());
        }
        self.initials.insert(array, Some(numbers));
        self.function_tables.insert(array, targets);
        Some(Ok(Place::new(&global.ty, vec![Spot::Cell(array, Vec::new())])))
    }

    /// An element of a table of functions; `None` if the array is not one.
    pub(super) fn tabulated_function(
        &mut self,
        element: Element,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Item>> {
        let Some(targets) = self.function_tables.get(&element.array).cloned() else {
            return Ok(None);
        };
        let span = element.span;
        let constant = element.index.first().and_then(fold).and_then(|at| usize::try_from(at).ok());
        let table = self.info(element.array).and_then(|info| info.table.as_ref());
        let known = constant.zip(table).and_then(|(at, table)| fold(table.get(at)?));
        let known = known.and_then(|number| targets.get(usize::try_from(number).ok()?).cloned());
        let number = self.load(element, out)?;
        if let Some(target) = known {
            return Ok(Some(Item::Pointer(Pointer::to(target, Vec::new()))));
        }
        let tag = self.keep("function", number, out);
        let tag = (targets.len() > 1).then(|| self.var(tag, span));
        Ok(Some(Item::Pointer(Pointer { targets, tag, base: None, index: Vec::new() })))
    }
}
