//! Conversions (\[conv\], \[over.best.ics\], \[over.ics.rank\], \[expr.static.cast\], \[expr.reinterpret.cast\],
//! \[expr.cast\]).
//!
//! `half` and `__nv_bfloat16` are classes with converting constructors and conversion functions in CUDA's headers:
//! their conversions rank as user-defined ones.

use super::analyser::Analyser;
use super::operand::{Operand, literal, place, value};
use super::types::{INT, QType, Reference, UNSIGNED, is_arithmetic, is_narrow_float};
use crate::tree::{Category, Expr, ExprKind, Extent, FloatKind, IntKind, Type};
use crate::{Result, error};
use base::Span;

/// Rank of a conversion sequence; smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Exact,
    Promotion,
    Conversion,
    User,
    Ellipsis,
}

/// An implicit conversion sequence, as far as ranking needs it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub rank: Rank,
    /// Qualifiers that a qualification conversion adds below a pointer.
    pub pointer_qualifiers: u8,
    /// Qualifiers that a reference adds to the object it binds directly.
    pub reference_qualifiers: Option<u8>,
    /// Set if a reference binds: `true` for an rvalue reference, which then binds to an rvalue.
    pub binds_rvalue: Option<bool>,
    /// A pointer became `bool`.
    pub to_bool: bool,
    /// The number of steps from the class to the base it is converted to; 0 without such a conversion.
    pub base_distance: usize,
}

impl Sequence {
    pub(crate) fn of(rank: Rank) -> Self {
        Self {
            rank,
            pointer_qualifiers: 0,
            reference_qualifiers: None,
            binds_rvalue: None,
            to_bool: false,
            base_distance: 0,
        }
    }

    /// Returns `true` if this one is better (\[over.ics.rank\]).
    pub(super) fn is_better(&self, other: &Self) -> bool {
        if self.rank != other.rank {
            return self.rank < other.rank;
        }
        if self.rank >= Rank::User {
            return false;
        }
        if self.to_bool != other.to_bool {
            return other.to_bool;
        }
        if self.rank == Rank::Conversion
            && self.base_distance != other.base_distance
            && self.base_distance > 0
            && other.base_distance > 0
        {
            return self.base_distance < other.base_distance;
        }
        // The identity is part of every other sequence.
        if self.pointer_qualifiers != other.pointer_qualifiers {
            return self.pointer_qualifiers < other.pointer_qualifiers;
        }
        if let (Some(one), Some(two)) = (self.binds_rvalue, other.binds_rvalue)
            && one != two
        {
            return one;
        }
        match (self.reference_qualifiers, other.reference_qualifiers) {
            (Some(one), Some(two)) => one < two,
            _ => false,
        }
    }
}

impl<'a> Analyser<'a> {
    /// The value in a place, an array as a pointer, or the value itself (\[conv.lval\], \[conv.array\]).
    pub(super) fn rvalue(&mut self, operand: Operand) -> Result<Expr> {
        if let Some(constant) = operand.constant {
            return Ok(*constant);
        }
        if operand.expr.category == Category::Value {
            return Ok(operand.expr);
        }
        let (span, ty) = (operand.span(), operand.expr.ty.clone());
        if let Type::Array(element, _) = &ty {
            let to = super::types::pointer(
                element.as_ref().clone(),
                operand.is_const,
                operand.is_volatile,
            );
            return Ok(value(ExprKind::Decay(Box::new(operand.expr)), to, span));
        }
        if let Type::Record(record) = ty {
            self.require_trivial_copy(record, span)?;
        }
        if let ExprKind::Temporary(inner) = operand.expr.kind {
            return Ok(*inner);
        }
        Ok(value(ExprKind::Read(Box::new(operand.expr)), ty, span))
    }

    /// Integral promotion (\[conv.prom\]) of a type.
    pub(super) fn promoted(&self, ty: &Type) -> Type {
        match ty {
            Type::Bool => INT,
            Type::Int(kind) if kind.bits() < 32 => INT,
            Type::Enum(_) if !self.is_scoped_enum(ty) => match self.underlying(ty) {
                Some(kind) if kind.bits() < 32 => INT,
                Some(kind) => Type::Int(kind),
                None => INT,
            },
            other => other.clone(),
        }
    }

    /// The common type of two operands after the usual arithmetic conversions (\[expr\]/11).
    pub(super) fn usual_type(&self, one: &Type, other: &Type) -> Type {
        for wide in [FloatKind::Double, FloatKind::Float] {
            let wide = Type::Float(wide);
            if *one == wide || *other == wide {
                return wide;
            }
        }
        let (Type::Int(one), Type::Int(other)) = (self.promoted(one), self.promoted(other)) else {
            return one.clone();
        };
        Type::Int(usual_integer(one, other))
    }

    /// Converts a number, enumeration or pointer to another such type. The caller has checked that the conversion is
    /// valid.
    pub(super) fn converted(&mut self, from: Expr, to: &Type, span: Span) -> Result<Expr> {
        if from.ty == *to {
            return Ok(from);
        }
        let place_span = from.span;
        if let (ExprKind::Null, Type::Pointer(_)) = (&from.kind, to) {
            return Ok(value(ExprKind::Null, to.clone(), place_span));
        }
        if let ExprKind::Int(number) = from.kind {
            match to {
                Type::Int(kind) => return Ok(literal(kind.wrap(number), to.clone(), place_span)),
                Type::Bool => return Ok(literal(i128::from(number != 0), Type::Bool, place_span)),
                Type::Enum(_) => {
                    if let Some(kind) = self.underlying(to) {
                        return Ok(literal(kind.wrap(number), to.clone(), place_span));
                    }
                }
                Type::Float(FloatKind::Float | FloatKind::Double) if number.abs() < 1 << 24 => {
                    #[expect(clippy::cast_precision_loss, reason = "it is small enough")]
                    let number = number as f64;
                    return Ok(value(ExprKind::Float(number), to.clone(), place_span));
                }
                Type::Pointer(_) if number == 0 => {
                    return Ok(value(ExprKind::Null, to.clone(), place_span));
                }
                _ => {}
            }
        }
        if matches!(from.ty, Type::Record(_)) || matches!(to, Type::Record(_)) {
            return Err(error(span, "there is no such conversion"));
        }
        Ok(value(ExprKind::Convert(Box::new(from)), to.clone(), place_span))
    }

    /// Converts implicitly; fails if that is impossible.
    pub(super) fn implicit(&mut self, from: Operand, to: &QType, span: Span) -> Result<Expr> {
        let Some(sequence) = self.sequence(&from, to, true)? else {
            let message = format!(
                "`{}` cannot be converted to `{}`",
                self.type_name(&from.expr.ty),
                self.type_name(&to.ty)
            );
            return Err(error(span, message));
        };
        self.apply(from, to, &sequence, span)
    }

    /// Applies a conversion sequence.
    pub(super) fn apply(
        &mut self,
        from: Operand,
        to: &QType,
        sequence: &Sequence,
        span: Span,
    ) -> Result<Expr> {
        if sequence.rank == Rank::Ellipsis {
            return self.promoted_argument(from);
        }
        if !to.is_reference() {
            return self.value_as(from, &to.ty, span);
        }
        if from.is_place() && self.path_to_same_or_base(&from.expr.ty, &to.ty).is_some() {
            return self.base_of(from, &to.ty);
        }
        let made = self.value_as(from, &to.ty, span)?;
        let (ty, at) = (made.ty.clone(), made.span);
        Ok(place(ExprKind::Temporary(Box::new(made)), ty, at))
    }

    fn base_of(&mut self, from: Operand, to: &Type) -> Result<Expr> {
        let path = self.path_to_same_or_base(&from.expr.ty, to).unwrap_or_default();
        let span = from.span();
        Ok(self.walk_fields(from, &path, span).expr)
    }

    /// A value of this type.
    fn value_as(&mut self, from: Operand, to: &Type, span: Span) -> Result<Expr> {
        if from.expr.ty == *to || super::types::decayed(&from.qtype()) == *to {
            return self.rvalue(from);
        }
        if let Some(path) = self.path_to_same_or_base(&from.expr.ty, to) {
            let at = from.span();
            let base = self.walk_fields(from, &path, at);
            return self.rvalue(base);
        }
        match (&from.expr.ty, to) {
            (Type::Record(_), _) => self.convert_from_class(from, to, span),
            (_, Type::Record(record)) => self.convert_to_class(from, *record, span),
            _ => {
                let is_null = from.is_null;
                let plain = self.rvalue(from)?;
                if let (Type::Pointer(one), Type::Pointer(other)) = (&plain.ty, to)
                    && !is_null
                    && let Some(path) =
                        self.path_to_same_or_base(&one.ty, &other.ty).filter(|one| !one.is_empty())
                {
                    return self.upcast(plain, &path, to, span);
                }
                self.converted(plain, to, span)
            }
        }
    }

    fn upcast(&mut self, from: Expr, path: &[usize], to: &Type, span: Span) -> Result<Expr> {
        let object = self.dereferenced(from, span)?;
        let base = self.walk_fields(object, path, span);
        Ok(value(ExprKind::AddressOf(Box::new(base.expr)), to.clone(), span))
    }

    /// The path of fields from a class to itself or to one of its bases, empty for equal types; `None` for types not
    /// related like this.
    pub(super) fn path_to_same_or_base(&self, from: &Type, to: &Type) -> Option<Vec<usize>> {
        match (from, to) {
            (Type::Record(from), Type::Record(to)) => self.base_path(*from, *to),
            // A parameter `T (&)[]` takes arrays of any size.
            (Type::Array(one, _), Type::Array(other, Extent::Unknown)) => {
                (one == other).then(Vec::new)
            }
            _ => (from == to).then(Vec::new),
        }
    }

    /// The implicit conversion sequence to a parameter, if there is one (\[over.best.ics\]).
    pub(super) fn sequence(
        &mut self,
        from: &Operand,
        to: &QType,
        allow_user: bool,
    ) -> Result<Option<Sequence>> {
        if to.is_reference() {
            return self.reference_sequence(from, to, allow_user);
        }
        self.value_sequence(from, &to.ty, allow_user)
    }

    /// The conversion sequence to a reference (\[dcl.init.ref\], \[over.ics.ref\]).
    fn reference_sequence(
        &mut self,
        from: &Operand,
        to: &QType,
        allow_user: bool,
    ) -> Result<Option<Sequence>> {
        let is_lvalue = from.is_place() && !from.is_xvalue;
        let fits_qualifiers =
            (to.is_const || !from.is_const) && (to.is_volatile || !from.is_volatile);
        let takes_rvalues = to.reference == Reference::Rvalue || to.is_const && !to.is_volatile;
        if let Some(path) = self.path_to_same_or_base(&from.expr.ty, &to.ty) {
            let category_fits = match to.reference {
                Reference::Rvalue => !is_lvalue,
                _ => is_lvalue || takes_rvalues,
            };
            if !category_fits || !fits_qualifiers {
                return Ok(None);
            }
            let added = u8::from(to.is_const && !from.is_const)
                + u8::from(to.is_volatile && !from.is_volatile);
            let rank = if path.is_empty() { Rank::Exact } else { Rank::Conversion };
            return Ok(Some(Sequence {
                reference_qualifiers: Some(added),
                binds_rvalue: Some(to.reference == Reference::Rvalue),
                base_distance: path.len(),
                ..Sequence::of(rank)
            }));
        }
        if !takes_rvalues {
            return Ok(None);
        }
        let inner = self.value_sequence(from, &to.ty, allow_user)?;
        let binds_rvalue = Some(to.reference == Reference::Rvalue);
        Ok(inner.map(|one| Sequence { binds_rvalue, ..one }))
    }

    fn value_sequence(
        &mut self,
        from: &Operand,
        to: &Type,
        allow_user: bool,
    ) -> Result<Option<Sequence>> {
        let ty = super::types::decayed(&from.qtype());
        if ty == *to {
            return Ok(Some(Sequence::of(Rank::Exact)));
        }
        if let (Type::Record(_), Some(path)) = (&ty, self.path_to_same_or_base(&ty, to)) {
            return Ok(Some(Sequence {
                base_distance: path.len(),
                ..Sequence::of(Rank::Conversion)
            }));
        }
        if matches!(ty, Type::Record(_)) || matches!(to, Type::Record(_)) {
            if !allow_user {
                return Ok(None);
            }
            return Ok(self.user_sequence(from, to)?.then(|| Sequence::of(Rank::User)));
        }
        if let Some(found) = self.standard_sequence(&ty, from.is_null, to) {
            return Ok(Some(found));
        }
        let number = |ty: &Type| is_arithmetic(ty) || is_narrow_float(ty);
        let narrow = (is_narrow_float(&ty) || is_narrow_float(to))
            && (number(&ty) || self.is_unscoped_enum(&ty))
            && number(to);
        // There is no conversion between the two narrow types.
        let between = is_narrow_float(&ty) && is_narrow_float(to);
        Ok((narrow && !between && allow_user).then(|| Sequence::of(Rank::User)))
    }

    /// The standard conversion sequence between two types, if there is one (\[over.ics.scs\], table 13).
    fn standard_sequence(&self, from: &Type, is_null: bool, to: &Type) -> Option<Sequence> {
        let number = is_arithmetic(from) || self.is_unscoped_enum(from);
        if number && is_arithmetic(to) {
            let narrow = match from {
                Type::Enum(id) => self.program.enums.get(*id).map(|one| one.underlying),
                _ => None,
            };
            let promotes = match (from, to) {
                // An enumeration with a fixed type prefers that type to its promotion ([over.ics.rank]/4.2).
                _ if narrow.is_some_and(|kind| kind.bits() < 32) => {
                    narrow.is_some_and(|kind| *to == Type::Int(kind))
                }
                (Type::Float(FloatKind::Float), Type::Float(FloatKind::Double)) => true,
                _ => *to == self.promoted(from) && !matches!(from, Type::Float(_)),
            };
            let rank = if promotes { Rank::Promotion } else { Rank::Conversion };
            return (!is_null_pointer(from, is_null)).then(|| Sequence::of(rank));
        }
        if let (Type::Pointer(_), true) = (to, is_null) {
            return Some(Sequence::of(Rank::Conversion));
        }
        match (from, to) {
            (Type::Pointer(_), Type::Bool) if !is_null => {
                Some(Sequence { to_bool: true, ..Sequence::of(Rank::Conversion) })
            }
            (Type::Pointer(one), Type::Pointer(other)) => {
                let fits =
                    (other.is_const || !one.is_const) && (other.is_volatile || !one.is_volatile);
                if !fits {
                    return None;
                }
                let pointer_qualifiers = u8::from(other.is_const && !one.is_const)
                    + u8::from(other.is_volatile && !one.is_volatile);
                if one.ty == other.ty {
                    return Some(Sequence { pointer_qualifiers, ..Sequence::of(Rank::Exact) });
                }
                if other.ty == Type::Void {
                    return Some(Sequence {
                        pointer_qualifiers,
                        // Every conversion to a base is better ([over.ics.rank]/4.4).
                        base_distance: 1000,
                        ..Sequence::of(Rank::Conversion)
                    });
                }
                let path = match (&one.ty, &other.ty) {
                    (Type::Record(_), Type::Record(_)) => {
                        self.path_to_same_or_base(&one.ty, &other.ty)?
                    }
                    _ => return None,
                };
                Some(Sequence {
                    pointer_qualifiers,
                    base_distance: path.len(),
                    ..Sequence::of(Rank::Conversion)
                })
            }
            _ => None,
        }
    }

    /// The default argument promotions of `...` (\[expr.call\]/12).
    fn promoted_argument(&mut self, from: Operand) -> Result<Expr> {
        let plain = self.rvalue(from)?;
        let span = plain.span;
        let to = match &plain.ty {
            Type::Float(FloatKind::Float) => super::types::DOUBLE,
            other => self.promoted(other),
        };
        self.converted(plain, &to, span)
    }

    /// A condition (\[conv\]/4): contextually converted to `bool`.
    pub(super) fn truth(&mut self, from: Operand) -> Result<Expr> {
        let span = from.span();
        if let Type::Record(_) = from.expr.ty {
            return self.convert_from_class(from, &Type::Bool, span);
        }
        let plain = self.rvalue(from)?;
        self.truth_of(plain)
    }

    pub(super) fn truth_of(&mut self, plain: Expr) -> Result<Expr> {
        let span = plain.span;
        let fits = is_arithmetic(&plain.ty)
            || self.is_unscoped_enum(&plain.ty)
            || is_narrow_float(&plain.ty)
            || matches!(plain.ty, Type::Pointer(_));
        if !fits {
            return Err(error(span, "this is not a condition"));
        }
        self.converted(plain, &Type::Bool, span)
    }

    pub(super) fn type_name(&self, ty: &Type) -> String {
        crate::tree::display::type_text(&self.program, ty)
    }
}

/// Returns `true` for `nullptr`, which has no conversion to a number.
fn is_null_pointer(from: &Type, is_null: bool) -> bool {
    is_null && matches!(from, Type::Pointer(_))
}

/// The common type of two promoted integers (\[expr\]/11.5).
pub(crate) fn usual_integer(one: IntKind, other: IntKind) -> IntKind {
    let rank = |kind: IntKind| match kind {
        IntKind::LongLong | IntKind::UnsignedLongLong => 2,
        IntKind::Long | IntKind::UnsignedLong => 1,
        _ => 0,
    };
    if one == other {
        return one;
    }
    if one.is_signed() == other.is_signed() {
        return if rank(one) >= rank(other) { one } else { other };
    }
    let (signed, unsigned) = if one.is_signed() { (one, other) } else { (other, one) };
    if rank(unsigned) >= rank(signed) {
        unsigned
    } else if signed.bits() > unsigned.bits() {
        signed
    } else {
        match signed {
            IntKind::Long => IntKind::UnsignedLong,
            IntKind::LongLong => IntKind::UnsignedLongLong,
            _ => match UNSIGNED {
                Type::Int(kind) => kind,
                _ => IntKind::UnsignedInt,
            },
        }
    }
}
