//! `memcpy`, `memmove` and `memset`, if they access whole elements.
//!
//! A constant number of elements is copied one by one, all loads before all stores; any other number by a loop.
//! Elements have the destination's type; if the source has other scalars, it is only read, and the copy is unknown.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Value};
use super::types::{binary, compare, convert, fold, int};
use base::Span;
use cuda::tree::{self, ExprKind as Kind};
use kir::{Binary, Compare, Expr, Loop, Stmt, Type};

/// More elements than this are copied by a loop.
const MAX_UNROLLED: i128 = 32;

/// The number of elements.
enum Count {
    Known(i128),
    Computed(Expr),
}

impl Lowerer<'_> {
    /// Lowers `memcpy` and `memmove`: element by element if their number is known and small, else by a loop.
    pub(super) fn copy_bytes(
        &mut self,
        name: &str,
        [to, from]: [&tree::Expr; 2],
        size: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = to.span.to(size.span);
        let (to, from) = (before_void_cast(to), before_void_cast(from));
        let ty = super::intrinsics::pointee(Some(to), span)?;
        let target = self.pointer(to, out)?;
        let Ok(source) = self.pointer(&as_pointer_to(from, &ty), out) else {
            return self.copy_reinterpreted(target, to, from, size, out);
        };
        match self.count(&ty, size, span, out)? {
            Count::Known(count) if count <= MAX_UNROLLED => {
                let mut values = Vec::new();
                for number in 0..count {
                    let place = self.element(&source, number, &ty, span)?;
                    values.push(self.read(&place, span, out)?);
                }
                for (number, value) in (0..count).zip(values) {
                    let place = self.element(&target, number, &ty, span)?;
                    self.write(&place, value, span, out)?;
                }
            }
            count => {
                let (first, second) =
                    (self.deref(&source, &ty, span)?, self.deref(&target, &ty, span)?);
                if name == "memmove" || overlap(&first, &second) {
                    let message = format!("not supported here: `{name}` within one array");
                    return Err(unsupported(span, message));
                }
                self.loop_over_elements(count, span, out, |lowerer, at, out| {
                    let from = lowerer.advance(Binary::Add, source.clone(), at.clone(), span)?;
                    let to = lowerer.advance(Binary::Add, target.clone(), at, span)?;
                    let place = lowerer.deref(&from, &ty, span)?;
                    let value = lowerer.read(&place, span, out)?;
                    let place = lowerer.deref(&to, &ty, span)?;
                    lowerer.write(&place, value, span, out)
                })?;
            }
        }
        Ok(vec![Item::Pointer(target)])
    }

    /// `memcpy(&i, &f, 4)`: reinterprets the bits of one scalar as another; the result is unknown.
    fn copy_reinterpreted(
        &mut self,
        target: Pointer,
        to: &tree::Expr,
        from: &tree::Expr,
        size: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = to.span.to(size.span);
        let types = [to, from].map(|one| super::intrinsics::pointee(Some(one), span));
        let [Ok(ty), Ok(other)] = types else {
            return Err(unsupported(span, "not supported here: this copy of bytes"));
        };
        let bytes = fold(&self.number(size, out)?).and_then(|size| u64::try_from(size).ok());
        let is_whole = bytes.is_some() && self.size(&ty) == bytes && self.size(&other) == bytes;
        if !is_whole || self.scalar(&ty).is_none() || self.scalar(&other).is_none() {
            let message = "not supported here: a copy between elements of different types";
            return Err(unsupported(span, message));
        }
        let source = self.pointer(from, out)?;
        let place = self.deref(&source, &other, span)?;
        self.read(&place, span, out)?;
        let value = self.unknown_value(&ty, span, out)?;
        let place = self.deref(&target, &ty, span)?;
        self.write(&place, value, span, out)?;
        Ok(vec![Item::Pointer(target)])
    }

    /// Lowers `memset`: stores the value of an element made of equal bytes.
    pub(super) fn fill_bytes(
        &mut self,
        to: &tree::Expr,
        value: &tree::Expr,
        size: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = to.span.to(size.span);
        let to = before_void_cast(to);
        let ty = super::intrinsics::pointee(Some(to), span)?;
        let target = self.pointer(to, out)?;
        let byte = self.number(value, out)?;
        self.keep_partial(vec![Item::Scalar(byte.clone())], out);
        let byte = fold(&byte).map(|byte| byte.rem_euclid(256));
        let count = self.count(&ty, size, span, out)?;
        let mut stored = Vec::new();
        for leaf in self.leaves(&ty, span)? {
            let Some(scalar) = self.scalar(&leaf.ty).filter(|_| leaf.dimensions.is_empty()) else {
                return Err(unsupported(
                    span,
                    "not supported here: bytes of elements of this type",
                ));
            };
            stored.push(match (byte, scalar) {
                (Some(0), _) => convert(int(0, Type::INT, span), scalar),
                (Some(byte), Type::Int { bits, signed }) => {
                    int(repeat_byte(byte, bits, signed), scalar, span)
                }
                // The same value in all elements, but an unknown one.
                _ => self.unknown("bytes", scalar, span, out),
            });
        }
        let stored: Value = stored.into_iter().map(Item::Scalar).collect();
        match count {
            Count::Known(count) if count <= MAX_UNROLLED => {
                for number in 0..count {
                    let place = self.element(&target, number, &ty, span)?;
                    self.write(&place, stored.clone(), span, out)?;
                }
            }
            count => self.loop_over_elements(count, span, out, |lowerer, at, out| {
                let to = lowerer.advance(Binary::Add, target.clone(), at, span)?;
                let place = lowerer.deref(&to, &ty, span)?;
                lowerer.write(&place, stored.clone(), span, out)
            })?,
        }
        Ok(vec![Item::Pointer(target)])
    }

    fn element(
        &mut self,
        pointer: &Pointer,
        number: i128,
        ty: &tree::Type,
        span: Span,
    ) -> Result<Place> {
        let by = int(number, Type::LONG, span);
        let pointer = self.advance(Binary::Add, pointer.clone(), by, span)?;
        self.deref(&pointer, ty, span)
    }

    /// Converts a number of bytes to a number of elements.
    fn count(
        &mut self,
        ty: &tree::Type,
        size: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Count> {
        let Some(of_one) = self.size(ty).map(i128::from).filter(|size| *size > 0) else {
            return Err(unsupported(span, "not supported here: bytes of elements of this type"));
        };
        let bytes = self.number(size, out)?;
        if let Some(bytes) = fold(&bytes) {
            return match bytes % of_one {
                0 => Ok(Count::Known(bytes / of_one)),
                _ => {
                    Err(unsupported(span, "not supported here: bytes that are not whole elements"))
                }
            };
        }
        let kir::ExprKind::Binary(Binary::Mul, left, right) = &bytes.kind else {
            return Err(unsupported(span, "not supported here: bytes that are not whole elements"));
        };
        let (number, factor) = match (fold(left), fold(right)) {
            (_, Some(factor)) => (left, factor),
            (Some(factor), _) => (right, factor),
            _ => {
                return Err(unsupported(
                    span,
                    "not supported here: bytes that are not whole elements",
                ));
            }
        };
        if factor <= 0 || factor % of_one != 0 {
            return Err(unsupported(span, "not supported here: bytes that are not whole elements"));
        }
        let number = (**number).clone();
        let times = int(factor / of_one, number.ty, span);
        let count = binary(Binary::Mul, number, times, span);
        // The number of bytes must not wrap: this comparison of integers without bounds makes that an obligation. If it
        // wraps, the copy has another length, and the count no value.
        let elements = convert(count.clone(), Type::Whole);
        let expected = binary(Binary::Mul, elements, int(of_one, Type::Whole, span), span);
        let same = compare(Compare::Eq, convert(bytes, Type::Whole), expected);
        let known = self.new_var("count", count.ty);
        out.push(Stmt::If(same, vec![Stmt::Assign(known, count)], Vec::new()));
        Ok(Count::Computed(self.var(known, span)))
    }

    /// A loop over all elements.
    fn loop_over_elements(
        &mut self,
        count: Count,
        span: Span,
        out: &mut Vec<Stmt>,
        inner: impl FnOnce(&mut Self, Expr, &mut Vec<Stmt>) -> Result<()>,
    ) -> Result<()> {
        // A count of the unsigned `size_t` stays one: a negative number converted to it is large, not an empty loop.
        let count = match count {
            Count::Known(count) => int(count, Type::LONG, span),
            Count::Computed(count) => count,
        };
        let ty = count.ty;
        let end = self.keep("count", count, out);
        let at = self.keep("element", int(0, ty, span), out);
        let index = self.var(at, span);
        let mut body = Vec::new();
        inner(self, convert(index.clone(), Type::LONG), &mut body)?;
        let one = int(1, ty, span);
        let step = vec![Stmt::Assign(at, binary(Binary::Add, index.clone(), one, span))];
        let condition = Expr { span, ..compare(Compare::Lt, index, self.var(end, span)) };
        let (head, invariants, claims) = (Vec::new(), Vec::new(), Vec::new());
        let inner = Loop { head, condition, body, step, invariants, claims, span };
        out.push(Stmt::Loop(Box::new(inner)));
        Ok(())
    }
}

/// A pointer before its conversion to `void*`.
fn before_void_cast(pointer: &tree::Expr) -> &tree::Expr {
    let is_void = |ty: &tree::Type| matches!(ty, tree::Type::Pointer(to) if matches!(to.ty, tree::Type::Void));
    match &pointer.kind {
        Kind::Convert(inner) if is_void(&pointer.ty) => before_void_cast(inner),
        _ => pointer,
    }
}

/// A pointer as one to elements of a type.
fn as_pointer_to(pointer: &tree::Expr, ty: &tree::Type) -> tree::Expr {
    if matches!(&pointer.ty, tree::Type::Pointer(to) if to.ty == *ty) {
        return pointer.clone();
    }
    let to = tree::Qualified { ty: ty.clone(), is_const: true, is_volatile: false };
    tree::Expr {
        kind: Kind::Convert(Box::new(pointer.clone())),
        ty: tree::Type::Pointer(std::sync::Arc::new(to)),
        category: tree::Category::Value,
        span: pointer.span,
    }
}

/// Returns `true` if two objects share an array.
fn overlap(one: &Place, other: &Place) -> bool {
    let arrays = |place: &Place| {
        let spots = place.choices.iter().flatten();
        let arrays = spots.filter_map(|spot| match spot {
            Spot::Cell(array, _) => Some(*array),
            _ => None,
        });
        arrays.collect::<Vec<_>>()
    };
    let others = arrays(other);
    arrays(one).iter().any(|array| others.contains(array))
}

/// An integer whose bytes are all the same.
fn repeat_byte(byte: i128, bits: u8, signed: bool) -> i128 {
    let all = (0..u32::from(bits) / 8).fold(0, |sum, place| sum | byte << (8 * place));
    let half = 1_i128 << (bits - 1);
    if signed && all >= half { all - 2 * half } else { all }
}
