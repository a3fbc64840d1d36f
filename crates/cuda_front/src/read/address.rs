//! Conversions between pointers and places (`*p`, `&x`, arrays as pointers), and pointer operations: sums,
//! differences, comparisons.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory::is_tagged;
use super::memory_model::{Place, Pointer, Spot, Spots, Target, TargetLeaf};
use super::pointers::rank_of;
use super::types::{binary, boolean, compare, convert, fold, int, not, offset, select};
use base::Span;
use cuda::tree;
use kir::{Array, Binary, Compare, Expr, Space, Type};

impl Lowerer<'_> {
    /// The place that a pointer points to.
    pub(super) fn deref(
        &mut self,
        pointer: &Pointer,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Place> {
        let mut choices = Vec::new();
        for target in &pointer.targets {
            choices.push(self.target_spots(target, pointer, ty, span)?);
        }
        let origin = Some(Box::new(pointer.clone()));
        Ok(Place { ty: ty.clone(), tag: pointer.tag.clone(), choices, origin })
    }

    fn target_spots(
        &mut self,
        target: &Target,
        pointer: &Pointer,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Spots> {
        match target {
            Target::Null => self.null_spots(ty, span),
            Target::Function(_) => {
                Err(unsupported(span, "not supported here: a function that is not called"))
            }
            Target::Object { number, .. } => {
                let known = self.objects.get(*number).cloned();
                known.ok_or_else(|| unsupported(span, "this pointer is not supported"))
            }
            Target::Elements { leaves, rank, inner, is_view, .. } => {
                let index: Vec<Expr> = pointer.index.iter().take(*rank).cloned().collect();
                let base = pointer.base.as_ref().filter(|_| *is_view);
                let spot = |leaf: &TargetLeaf| {
                    let mut leaf_index = index.clone();
                    if let Some(last) = leaf_index.pop() {
                        let stride = int(leaf.stride, Type::LONG, span);
                        let scaled = offset(Binary::Mul, stride, last);
                        let within = offset(Binary::Add, scaled, int(leaf.at, Type::LONG, span));
                        leaf_index.push(match base {
                            Some(base) => offset(Binary::Add, base.clone(), within),
                            None => within,
                        });
                    }
                    Spot::Cell(leaf.array, unflattened(leaf_index, inner, span))
                };
                Ok(leaves.iter().map(spot).collect())
            }
        }
    }

    /// The place that a null pointer points to: elements of arrays without elements, so that every access is out of
    /// bounds.
    fn null_spots(&mut self, ty: &tree::Type, span: Span) -> Result<Spots> {
        let mut spots = Vec::new();
        for leaf in self.leaves(ty, span)? {
            let Some(element) = self.scalar(&leaf.ty).filter(|_| leaf.dimensions.is_empty()) else {
                return Err(unsupported(span, "this null pointer is not supported"));
            };
            let key = match element {
                Type::Bool => 1,
                Type::Float => 2,
                Type::Whole => 3,
                Type::Int { bits, signed } => bits + u8::from(signed),
            };
            let array = match self.null_targets.get(&key) {
                Some(known) => *known,
                None => {
                    let dimensions = vec![Some(int(0, Type::Whole, span))];
                    let (name, constant) = ("nullptr".to_owned(), false);
                    let space = Space::Local;
                    let array = Array { name, space, element, dimensions, constant, span };
                    let array = self.push_array(array, vec![leaf.ty.clone()]);
                    self.null_targets.insert(key, array);
                    array
                }
            };
            spots.push(Spot::Cell(array, vec![int(0, Type::LONG, span)]));
        }
        Ok(spots)
    }

    /// `&x`.
    pub(super) fn address(&mut self, place: &Place, span: Span) -> Result<Pointer> {
        if let Some(origin) = &place.origin {
            return Ok((**origin).clone());
        }
        match (&place.choices[..], &place.tag) {
            ([], _) => Ok(Pointer::nothing()),
            ([spots], _) => self.address_of_spots(spots, &place.ty, span),
            (choices, Some(tag)) => {
                let mut targets = Vec::new();
                let mut index: Option<Vec<Expr>> = None;
                for spots in choices {
                    let one = self.address_of_spots(spots, &place.ty, span)?;
                    let same =
                        |known: &Vec<Expr>| format!("{known:?}") == format!("{:?}", one.index);
                    if index.as_ref().is_some_and(|known| !same(known)) {
                        return Err(unsupported(
                            span,
                            "the address of this expression is not supported",
                        ));
                    }
                    index = Some(one.index);
                    targets.extend(one.targets);
                }
                let (tag, index) = (Some(tag.clone()), index.unwrap_or_default());
                Ok(Pointer { targets, tag, base: None, index })
            }
            _ => Err(unsupported(span, "the address of this expression is not supported")),
        }
    }

    fn address_of_spots(&mut self, spots: &Spots, ty: &tree::Type, span: Span) -> Result<Pointer> {
        let mut leaves = Vec::new();
        let mut common: Option<Vec<Expr>> = None;
        for spot in spots {
            let Spot::Cell(array, index) = spot else { continue };
            let same = |known: &Vec<Expr>| format!("{known:?}") == format!("{index:?}");
            if common.as_ref().is_some_and(|known| !same(known)) {
                return Err(unsupported(span, "the address of this expression is not supported"));
            }
            common = Some(index.clone());
            leaves.push(TargetLeaf { array: *array, stride: 1, at: 0 });
        }
        match common {
            Some(index) if leaves.len() == spots.len() => {
                let rank = index.len();
                // A pointer to whole elements of the last dimension can move along it.
                let can_step = |target_leaf: &TargetLeaf| {
                    let types = self.info(target_leaf.array).map(|info| &info.element_types);
                    let inner = rank.checked_sub(1).and_then(|last| types?.get(last));
                    inner == Some(ty)
                };
                let is_pinned = !leaves.iter().all(can_step);
                let (ty, is_view, inner) = (ty.clone(), false, Vec::new());
                let target = Target::Elements { ty, leaves, rank, inner, is_view, is_pinned };
                Ok(Pointer::to(target, index))
            }
            _ => {
                if spots.iter().any(|spot| matches!(spot, Spot::Value(_) | Spot::Pointer(_))) {
                    return Err(unsupported(
                        span,
                        "the address of this expression is not supported",
                    ));
                }
                let known = self.objects.iter().position(|object| same_spots(object, spots));
                let number = known.unwrap_or(self.objects.len());
                if known.is_none() {
                    self.objects.push(spots.clone());
                }
                Ok(Pointer::to(Target::Object { ty: ty.clone(), number }, Vec::new()))
            }
        }
    }

    /// An array as a pointer to its first element.
    pub(super) fn decay(&mut self, place: &Place, span: Span) -> Result<Pointer> {
        let tree::Type::Array(element, _) = &place.ty else {
            return Err(unsupported(span, "this pointer is not supported"));
        };
        let mut targets = Vec::new();
        let mut index: Option<Vec<Expr>> = None;
        for spots in &place.choices {
            let mut leaves = Vec::new();
            for spot in spots {
                let Spot::Cell(array, before) = spot else {
                    return Err(unsupported(span, "this pointer is not supported"));
                };
                leaves.push(TargetLeaf { array: *array, stride: 1, at: 0 });
                index.get_or_insert_with(|| before.clone());
            }
            let rank = index.as_ref().map_or(0, Vec::len) + 1;
            let (ty, is_view, is_pinned) = ((**element).clone(), false, false);
            let inner = Vec::new();
            targets.push(Target::Elements { ty, leaves, rank, inner, is_view, is_pinned });
        }
        let mut index = index.unwrap_or_default();
        index.push(int(0, Type::LONG, span));
        Ok(Pointer { targets, tag: place.tag.clone(), base: None, index })
    }

    /// `p + i` and `p - i`.
    pub(super) fn advance(
        &mut self,
        operator: Binary,
        pointer: Pointer,
        by: Expr,
        span: Span,
    ) -> Result<Pointer> {
        if by.ty == Type::Float {
            return Err(super::diagnostics::error(span, "an index must be an integer"));
        }
        if fold(&by) == Some(0) || pointer.targets.is_empty() {
            return Ok(pointer);
        }
        let moves = |target: &Target| {
            matches!(target, Target::Null | Target::Elements { is_pinned: false, .. })
        };
        if !pointer.targets.iter().all(moves) {
            let message = "pointer arithmetic on a pointer that does not point into an array is not supported here";
            return Err(unsupported(span, message));
        }
        let mut pointer = pointer;
        let by = convert(by, Type::LONG);
        if let Some(last) = pointer.index.pop() {
            let sum = offset(operator, last, by);
            pointer.index.push(Expr { span, ..sum });
        }
        Ok(pointer)
    }

    /// `p - q` in elements.
    pub(super) fn pointer_difference(
        &mut self,
        one: &Pointer,
        other: &Pointer,
        span: Span,
    ) -> Result<Expr> {
        let (left, right) = self.indices_in_one_array(one, other, span)?;
        Ok(Expr { span, ..offset(Binary::Sub, left, right) })
    }

    /// The last indices of two pointers, which must point into the same array.
    fn indices_in_one_array(
        &mut self,
        one: &Pointer,
        other: &Pointer,
        span: Span,
    ) -> Result<(Expr, Expr)> {
        let message = "comparing pointers into different arrays is not supported";
        let ([first], [second]) = (&one.targets[..], &other.targets[..]) else {
            return Err(unsupported(span, message));
        };
        let rows = |pointer: &Pointer| {
            let rows = pointer.index.iter().take(pointer.index.len().saturating_sub(1));
            format!("{:?} {:?}", rows.collect::<Vec<_>>(), pointer.base)
        };
        let same_row = rank_of(first) > 0 && rows(one) == rows(other);
        match (first == second && same_row, one.index.last(), other.index.last()) {
            (true, Some(left), Some(right)) => Ok((left.clone(), right.clone())),
            _ => Err(unsupported(span, message)),
        }
    }

    /// `p == q`, `p < q`.
    pub(super) fn compare_pointers(
        &mut self,
        operator: Compare,
        one: &Pointer,
        other: &Pointer,
        span: Span,
    ) -> Result<Expr> {
        let equation = matches!(operator, Compare::Eq | Compare::Ne);
        let is_null = |pointer: &Pointer| pointer.targets[..] == [Target::Null];
        if one.targets.is_empty() || other.targets.is_empty() {
            self.use_without_target.get_or_insert(span);
            return Ok(boolean(false, span));
        }
        if equation && (is_null(one) || is_null(other)) {
            let pointer = if is_null(one) { other } else { one };
            let is_null = self.is_null(pointer, span)?;
            return Ok(if operator == Compare::Eq { is_null } else { not(is_null) });
        }
        let (left, right) = self.indices_in_one_array(one, other, span)?;
        Ok(Expr { span, ..compare(operator, left, right) })
    }

    /// Returns the condition that a pointer is null. For a pointer parameter, the condition is a scalar of the launch.
    pub(super) fn is_null(&mut self, pointer: &Pointer, span: Span) -> Result<Expr> {
        let mut chosen: Option<Expr> = None;
        for (number, target) in pointer.targets.iter().enumerate().rev() {
            let one = self.is_null_target(target, span);
            chosen = Some(match (chosen, &pointer.tag) {
                (None, _) => one,
                (Some(others), Some(tag)) => select(is_tagged(tag, number), one, others),
                _ => return Err(unsupported(span, "this pointer is not supported")),
            });
        }
        if chosen.is_none() {
            self.use_without_target.get_or_insert(span);
        }
        Ok(chosen.unwrap_or_else(|| boolean(true, span)))
    }

    fn is_null_target(&mut self, target: &Target, span: Span) -> Expr {
        let Target::Elements { leaves, .. } = target else {
            return boolean(*target == Target::Null, span);
        };
        let array = leaves.first().map(|one| one.array);
        let Some(array) = array.filter(|one| self.info(*one).is_some_and(|info| info.of_launch))
        else {
            return boolean(false, span);
        };
        let var = match self.nulls.get(&array) {
            Some(known) => *known,
            None => {
                let name = self.arrays.get(array).map(|one| one.name.clone()).unwrap_or_default();
                let var = self.new_var(&format!("{name} == nullptr"), Type::Bool);
                self.nulls.insert(array, var);
                self.scalars.push(var);
                var
            }
        };
        self.var(var, span)
    }
}

/// Converts the flat index of an element of nested arrays to one index for each dimension.
fn unflattened(index: Vec<Expr>, inner: &[i128], span: Span) -> Vec<Expr> {
    let ([flat], false) = (&index[..], inner.is_empty()) else { return index };
    let mut rest = flat.clone();
    let mut places = Vec::new();
    for size in inner.iter().rev() {
        let size = int(*size, Type::LONG, span);
        places.push(binary(Binary::Rem, rest.clone(), size.clone(), span));
        rest = binary(Binary::Div, rest, size, span);
    }
    places.push(rest);
    places.reverse();
    places
}

/// Returns `true` if two objects are the same variables.
fn same_spots(one: &Spots, other: &Spots) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|pair| match pair {
            (Spot::Var(one), Spot::Var(other)) => one == other,
            (Spot::Slot(one), Spot::Slot(other)) => one == other,
            (Spot::Cell(one, index), Spot::Cell(other, second)) => {
                one == other && index.is_empty() && second.is_empty()
            }
            _ => false,
        })
}
