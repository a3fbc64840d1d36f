//! Parameters of kernels: scalars and arrays of the launch. Arrays of different pointers do not overlap.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::{ExtentArray, Lowerer};
use super::memory_model::{ArrayInfo, Place, Pointer, Spot, Target, TargetLeaf};
use super::types::{Leaf, binary, compare, fold, int, whole};
use base::Span;
use cuda::tree::{self, ClauseKind, ExprKind as Kind, Extent, Function, Quantifier, SpecExpr};
use kir::{Array, ArrayId, Binary, Compare, Expr, Footprint, Requirement, Space, Stmt, Type};

/// Limit on the elements of an array in a parameter.
const MAX_OF_LAUNCH: usize = 3;

impl Lowerer<'_> {
    pub(super) fn parameters(&mut self, function: &Function, body: &mut Vec<Stmt>) -> Result<()> {
        for id in &function.parameters {
            let Some(parameter) = function.locals.get(*id) else { continue };
            let span = parameter.span;
            if parameter.is_reference {
                return Err(unsupported(span, "a kernel's parameter cannot be a reference"));
            }
            let mut spots = Vec::new();
            for leaf in self.leaves(&parameter.ty, span)? {
                spots.push(self.parameter_leaf(&leaf, &parameter.name, span, body)?);
            }
            self.bind(*id, Place::new(&parameter.ty, spots));
        }
        Ok(())
    }

    fn parameter_leaf(
        &mut self,
        leaf: &Leaf,
        name: &str,
        span: Span,
        body: &mut Vec<Stmt>,
    ) -> Result<Spot> {
        let leaf_name = leaf.named(name);
        if let tree::Type::Pointer(pointee) = &leaf.ty {
            if !leaf.dimensions.is_empty() {
                return Err(unsupported(span, "an array of pointers is not supported"));
            }
            return self.parameter_pointer(&leaf_name, pointee, span, body).map(Spot::Slot);
        }
        let Some(ty) = self.scalar(&leaf.ty) else {
            return Err(unsupported(span, "a parameter of this type is not supported"));
        };
        if leaf.dimensions.is_empty() {
            let var = self.new_var(&leaf_name, ty);
            self.scalars.push(var);
            return Ok(Spot::Var(var));
        }
        if leaf.dimensions.len() > MAX_OF_LAUNCH {
            return Err(unsupported(span, "more than three dimensions are not supported"));
        }
        // An array in a struct: each thread has the launch's contents, and may not change them here.
        let array = self.leaf_array(name, leaf, Space::Global, span)?;
        if let Some(array) = self.arrays.iter_mut().last() {
            array.constant = true;
        }
        Ok(Spot::Cell(array, Vec::new()))
    }

    /// A pointer of the launch: its target arrays, and a variable that holds it.
    fn parameter_pointer(
        &mut self,
        name: &str,
        pointee: &tree::Qualified,
        span: Span,
        body: &mut Vec<Stmt>,
    ) -> Result<usize> {
        if matches!(pointee.ty, tree::Type::Function(_)) {
            let message = "not supported here: a pointer to a function as a kernel argument";
            return Err(unsupported(span, message));
        }
        if matches!(pointee.ty, tree::Type::Pointer(_)) {
            return Err(unsupported(span, "pointers to pointers are not supported"));
        }
        let slot = self.new_slot(name);
        let mut leaves = Vec::new();
        for mut leaf in self.leaves(&pointee.ty, span)? {
            if self.scalar(&leaf.ty).is_none() {
                return Err(unsupported(span, "pointers in arrays of structs are not supported"));
            }
            leaf.dimensions.insert(0, Extent::Unknown);
            leaf.element_types.insert(0, pointee.ty.clone());
            let array = self.leaf_array(name, &leaf, Space::Global, span)?;
            if let Some(array) = self.arrays.iter_mut().last() {
                array.constant = pointee.is_const;
            }
            if let Some(info) = self.infos.last_mut() {
                info.of_launch = true;
            }
            leaves.push(TargetLeaf { array, stride: 1, at: 0 });
        }
        let (ty, rank) = (pointee.ty.clone(), 1);
        let (inner, is_view, is_pinned) = (Vec::new(), false, false);
        let target = Target::Elements { ty, leaves, rank, inner, is_view, is_pinned };
        let pointer = Pointer::to(target, vec![int(0, Type::LONG, span)]);
        self.write_slot(slot, &pointer, span, body)?;
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.of_launch = true;
        }
        Ok(slot)
    }

    /// An array for one scalar of a type.
    pub(super) fn leaf_array(
        &mut self,
        name: &str,
        leaf: &Leaf,
        space: Space,
        span: Span,
    ) -> Result<ArrayId> {
        let Some(element) = self.scalar(&leaf.ty) else {
            return Err(unsupported(span, "an array of pointers is not supported"));
        };
        if leaf.dimensions.len() > 3 {
            return Err(unsupported(span, "more than three dimensions are not supported"));
        }
        let mut dimensions = Vec::new();
        for extent in &leaf.dimensions {
            dimensions.push(match extent {
                Extent::Known(size) => Some(int(i128::from(*size), Type::Whole, span)),
                Extent::Symbolic(size) => Some(self.annotation_integer(size)?),
                Extent::Unknown => None,
            });
        }
        let name = leaf.named(name);
        let array = Array { name, space, element, dimensions, constant: false, span };
        Ok(self.push_array(array, leaf.element_types.clone()))
    }

    pub(super) fn push_array(&mut self, array: Array, element_types: Vec<tree::Type>) -> ArrayId {
        let (table, of_launch) = (None, false);
        self.infos.push(ArrayInfo { element_types, table, of_launch });
        self.arrays.push(array)
    }

    /// `__launch_bounds__(n)`: CUDA refuses launches with more threads in a block.
    pub(super) fn launch_bounds(&mut self, function: &Function) {
        let (Some(most), span) = (function.max_threads, function.span) else { return };
        let axis = |axis: usize| {
            let size = kir::ExprKind::Builtin(kir::Builtin::BlockDim, axis);
            whole(Expr { kind: size, ty: Type::UNSIGNED, span })
        };
        let product = binary(Binary::Mul, axis(0), axis(1), span);
        let product = binary(Binary::Mul, product, axis(2), span);
        let most = int(i128::from(most), Type::Whole, span);
        let condition = Expr { span, ..compare(Compare::Le, product, most) };
        self.requires.push(Requirement { forall: Vec::new(), condition });
    }

    /// The contract of the kernel.
    pub(super) fn contract(&mut self, function: &Function) -> Result<()> {
        for clause in &function.clauses {
            match &clause.kind {
                ClauseKind::Requires(condition) => self.require(condition)?,
                ClauseKind::Ensures(condition) => self.postcondition(condition, clause.span)?,
                ClauseKind::Footprint { writes, array, low, high } => {
                    let array = self.named_array(array, clause.span)?;
                    let (low, high) =
                        (self.annotation_integer(low)?, self.annotation_integer(high)?);
                    let (writes, span) = (*writes, clause.span);
                    self.footprints.push(Footprint { writes, array, low, high, span });
                }
                ClauseKind::Extent(array, size) => {
                    let size = self.annotation_integer(size)?;
                    self.extent(array, size)?;
                }
                ClauseKind::Alias(_) => {
                    let message = "arrays that may overlap are not supported";
                    return Err(unsupported(clause.span, message));
                }
                ClauseKind::Unfollowed { is_postcondition, why } => {
                    let about = super::claims::about(*is_postcondition);
                    self.leave_open(about, clause.span, why.clone());
                }
                _ => return Err(error(clause.span, "this clause belongs to no contract")),
            }
        }
        Ok(())
    }

    /// The array that a clause names.
    fn named_array(&mut self, array: &tree::Expr, span: Span) -> Result<ArrayId> {
        let arrays = self.named_arrays(array)?;
        match arrays[..] {
            [array] => Ok(array),
            _ => Err(unsupported(span, "this array is not supported here")),
        }
    }

    fn named_arrays(&mut self, array: &tree::Expr) -> Result<Vec<ArrayId>> {
        let array = named_variable(array);
        let place = self.place(array, &mut Vec::new())?;
        let mut arrays = Vec::new();
        for spot in place.choices.iter().flatten() {
            match spot {
                Spot::Slot(slot) => {
                    let target = self.slots.get(*slot).and_then(|slot| slot.targets.first());
                    if let Some(Target::Elements { leaves, .. }) = target {
                        arrays.extend(leaves.iter().map(|leaf| leaf.array));
                    }
                }
                Spot::Cell(array, _) => arrays.push(*array),
                _ => {}
            }
        }
        Ok(arrays)
    }

    /// `extent a[n]`: of a parameter, or of a shared array that is declared further down.
    fn extent(&mut self, array: &tree::Expr, size: Expr) -> Result<()> {
        let inner = named_variable(array);
        self.stated_sizes.push((inner.span, size.span));
        let waiting = match inner.kind {
            Kind::Local(id) => {
                let local = self.local(id, inner.span)?;
                (local.storage != tree::Storage::Automatic).then_some(ExtentArray::Local(id))
            }
            Kind::Global(id) => Some(ExtentArray::Global(id)),
            _ => None,
        };
        if let Some(waiting) = waiting {
            self.extents.push((waiting, size));
            return Ok(());
        }
        let arrays = self.named_arrays(array)?;
        if arrays.is_empty() {
            return Err(error(size.span, "there is no array without a size of this name"));
        }
        for array in arrays {
            let array = self.arrays.iter_mut().nth(base::Index::position(array));
            if let Some(first) = array.and_then(|array| array.dimensions.first_mut()) {
                *first = Some(size.clone());
            }
        }
        Ok(())
    }

    /// A requirement on launches, one for each conjunct.
    fn require(&mut self, condition: &tree::Expr) -> Result<()> {
        match &condition.kind {
            Kind::And(left, right) => {
                self.require(left)?;
                self.require(right)
            }
            Kind::Spec(spec) if matches!(**spec, SpecExpr::Quantified(Quantifier::Forall, ..)) => {
                let SpecExpr::Quantified(_, names, inner) = &**spec else { return Ok(()) };
                let forall = self.bind_quantified(names);
                let condition = self.annotation_condition(inner)?;
                self.requires.push(Requirement { forall, condition });
                Ok(())
            }
            _ => {
                let condition = self.annotation_condition(condition)?;
                self.requires.push(Requirement { forall: Vec::new(), condition });
                Ok(())
            }
        }
    }

    /// An integer expression of an annotation.
    pub(super) fn annotation_integer(&mut self, expr: &tree::Expr) -> Result<Expr> {
        let value = self.lower_annotation(|lowerer, out| lowerer.number(expr, out))?;
        // Sizes become numbers if possible.
        match fold(&value) {
            Some(number) if !matches!(value.ty, Type::Float) => {
                Ok(int(number, Type::Whole, value.span))
            }
            _ => Ok(whole(value)),
        }
    }

    /// A condition of an annotation.
    pub(super) fn annotation_condition(&mut self, expr: &tree::Expr) -> Result<Expr> {
        self.lower_annotation(|lowerer, out| lowerer.condition(expr, out))
    }

    pub(super) fn lower_annotation(
        &mut self,
        inner: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<Expr>,
    ) -> Result<Expr> {
        let before = std::mem::replace(&mut self.in_annotation, true);
        let mut effects = Vec::new();
        let value = inner(self, &mut effects);
        self.in_annotation = before;
        let value = value?;
        if !effects.is_empty() {
            return Err(error(value.span, "an annotation must not have side effects"));
        }
        Ok(value)
    }
}

/// The variable that a clause names, without conversions to a pointer.
pub(super) fn named_variable(expr: &tree::Expr) -> &tree::Expr {
    match &expr.kind {
        Kind::Read(inner) | Kind::Decay(inner) | Kind::Convert(inner) => named_variable(inner),
        _ => expr,
    }
}
