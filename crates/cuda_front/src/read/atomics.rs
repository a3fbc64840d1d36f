//! Lowers calls of atomic functions (`atomicAdd` and others; CUDA C++ Programming Guide, "Atomic Functions") to
//! [`Stmt::Atomic`].
//!
//! An atomic operation on an element of another type computes on its bits if the two have the same size. Refused:
//! operations on variables of a thread, and `_block` operations on global memory, because threads of other blocks do
//! not see those in order.

use super::diagnostics::{Result, error, unsupported};
use super::intrinsics::pointee;
use super::lowerer::Lowerer;
use super::memory::chain;
use super::memory_model::{Item, Place, Spot, Value};
use super::reinterpret::reinterpretation;
use super::types::convert;
use base::Span;
use cuda::tree;
use kir::{AtomicOp, Element, Expr, Space, Stmt, Type, VarId};

impl Lowerer<'_> {
    pub(super) fn atomic(
        &mut self,
        name: &str,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        let of_block = name.ends_with("_block");
        let plain = name.trim_end_matches("_block").trim_end_matches("_system");
        let Some(op) = operation(plain) else {
            return Err(unsupported(span, format!("`{name}` is not supported")));
        };
        let wanted = if op == AtomicOp::CompareAndSwap { 3 } else { 2 };
        if arguments.len() != wanted {
            return Err(error(span, format!("`{name}` takes {wanted} arguments")));
        }
        let mut values = self.values(arguments, out)?.into_iter();
        let Some(Item::Pointer(pointer)) = values.next().and_then(|one| one.into_iter().next())
        else {
            return Err(unsupported(span, "this pointer is not supported"));
        };
        let ty = pointee(arguments.first(), span)?;
        let place = self.deref(&pointer, &ty, span)?;
        let mut operands = Vec::new();
        for value in values {
            match value.into_iter().next() {
                Some(Item::Scalar(value)) => operands.push(value),
                _ => return Err(unsupported(span, format!("`{name}` is not supported here"))),
            }
        }
        let Some(scalar) = self.scalar(&ty) else {
            return Err(unsupported(span, format!("`{name}` of this type is not supported")));
        };
        let update = Update { op, operands, scalar, of_block, span };
        self.update_place(&place, &update, out).map(|value| vec![Item::Scalar(value)])
    }

    fn update_place(
        &mut self,
        place: &Place,
        update: &Update,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let span = update.span;
        match (&place.choices[..], &place.tag) {
            ([], _) => {
                self.use_without_target.get_or_insert(span);
                Ok(self.unknown("before", update.scalar, span, out))
            }
            ([spots], _) => {
                let (result, statements) = self.update(spots.first(), update)?;
                out.extend(statements);
                Ok(self.var(result, span))
            }
            (choices, Some(tag)) => {
                let old = self.new_var("before", update.scalar);
                let mut parts = Vec::new();
                for spots in choices {
                    let (result, mut part) = self.update(spots.first(), update)?;
                    part.push(Stmt::Assign(old, self.var(result, span)));
                    parts.push(part);
                }
                out.extend(chain(tag, parts));
                Ok(self.var(old, span))
            }
            _ => Err(unsupported(span, "this access is not supported")),
        }
    }

    fn update(&mut self, spot: Option<&Spot>, update: &Update) -> Result<(VarId, Vec<Stmt>)> {
        let span = update.span;
        let Some(Spot::Cell(array, index)) = spot else {
            return Err(unsupported(span, "an atomic operation on a variable is not supported"));
        };
        let Some(found) = self.arrays.get(*array) else {
            return Err(unsupported(span, "this access is not supported"));
        };
        if found.constant {
            return Err(error(span, format!("`{}` is constant", found.name)));
        }
        // These are atomic only among the threads of one block.
        if update.of_block && found.space == Space::Global {
            let message = "atomic operations of a block on global memory are not supported";
            return Err(unsupported(span, message));
        }
        let ty = found.element;
        let compares = matches!(
            update.op,
            AtomicOp::Min | AtomicOp::Max | AtomicOp::Increment | AtomicOp::Decrement
        );
        if compares && ty != update.scalar && reinterpretation(ty, update.scalar).is_none() {
            let message = "an atomic operation on elements of another type is not supported";
            return Err(unsupported(span, message));
        }
        let element = Element { array: *array, index: index.clone(), span };
        let (mut statements, mut operands) = (Vec::new(), Vec::new());
        let is_other = reinterpretation(ty, update.scalar).is_some();
        for operand in &update.operands {
            operands.push(match is_other {
                true => self.operand_of_bits(operand, update, ty, &mut statements)?,
                false => convert(operand.clone(), ty),
            });
        }
        let result = self.new_var("before", ty);
        statements.push(Stmt::Atomic { result, op: update.op, element, operands });
        let old = self.var(result, span);
        let old = self.with_bits_of(old, update.scalar, span, &mut statements)?;
        let result = self.keep("before", old, &mut statements);
        Ok((result, statements))
    }

    /// An operand of an operation on the bits of an element of type `ty`. Arithmetic on reinterpreted bits gives an
    /// unknown result.
    fn operand_of_bits(
        &mut self,
        operand: &Expr,
        update: &Update,
        ty: Type,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        match update.op {
            AtomicOp::Exchange | AtomicOp::CompareAndSwap => {
                let operand = convert(operand.clone(), update.scalar);
                self.with_bits_of(operand, ty, update.span, out)
            }
            _ => Ok(self.unknown("operand", ty, update.span, out)),
        }
    }
}

/// The update of an element.
struct Update {
    op: AtomicOp,
    operands: Vec<Expr>,
    scalar: Type,
    /// Set if it is atomic only among the threads of a block.
    of_block: bool,
    span: Span,
}

fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "atomicAdd" => AtomicOp::Add,
        "atomicSub" => AtomicOp::Sub,
        "atomicMin" => AtomicOp::Min,
        "atomicMax" => AtomicOp::Max,
        "atomicAnd" => AtomicOp::And,
        "atomicOr" => AtomicOp::Or,
        "atomicXor" => AtomicOp::Xor,
        "atomicExch" => AtomicOp::Exchange,
        "atomicCAS" => AtomicOp::CompareAndSwap,
        "atomicInc" => AtomicOp::Increment,
        "atomicDec" => AtomicOp::Decrement,
        _ => return None,
    })
}
