//! Functions of CUDA and of the standard library.
//!
//! Fences are not used as ordering here; in a kernel with a fence no race is refuted. A value that depends on hardware
//! or the host (clocks, random numbers, bits of floats) is unknown, and a new one each time. So no value computed from
//! it is proved equal to any other. A function that is not listed is refused.

use super::diagnostics::{Result, unsupported};
use super::float_functions::{function, is_conversion};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Spot, Value};
use super::types::convert;
use base::Span;
use cuda::tree;
use kir::{Binary, Expr, ExprKind, Stmt, Type, Unary};

impl Lowerer<'_> {
    /// Lowers a call of a built-in function. Long: one arm for each kind of function.
    pub(super) fn intrinsic(
        &mut self,
        name: &'static str,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        let name = name.trim_start_matches("std::");
        if name.starts_with("atomic") {
            return self.atomic(name, arguments, expr, out);
        }
        if super::warps::is_of_warp(name) {
            return self.warp(name, arguments, expr, out);
        }
        match (name, arguments) {
            ("__syncthreads", []) => {
                self.barrier_here(span, out);
                Ok(super::memory::nothing(span))
            }
            ("__syncthreads_or" | "__syncthreads_and" | "__syncthreads_count", [inner]) => {
                let condition = self.condition(inner, out)?;
                out.push(Stmt::If(condition, Vec::new(), Vec::new()));
                self.barrier_here(span, out);
                Ok(vec![Item::Scalar(self.unknown("exchanged", Type::INT, span, out))])
            }
            ("__grid_barrier", []) => {
                Err(unsupported(span, "not supported here: a barrier of the whole grid"))
            }
            ("memcpy" | "memmove", [to, from, size]) => {
                self.copy_bytes(name, [to, from], size, out)
            }
            ("memset", [to, value, size]) => self.fill_bytes(to, value, size, out),
            ("__threadfence" | "__threadfence_block" | "__threadfence_system", []) => {
                self.fences = true;
                Ok(super::memory::nothing(span))
            }
            ("assert" | "__assert", [condition]) => {
                let condition = self.condition(condition, out)?;
                out.push(Stmt::Assert(condition));
                Ok(super::memory::nothing(span))
            }
            (_, [condition, ..]) if name.starts_with("__barrier_invariant") => {
                self.claim_at_next_barrier(condition, span)?;
                Ok(super::memory::nothing(span))
            }
            ("__assume" | "__builtin_assume", [condition]) => {
                let condition = self.condition(condition, out)?;
                out.push(Stmt::Assume(condition));
                Ok(super::memory::nothing(span))
            }
            ("printf", arguments) => self.print(arguments, span, out),
            ("__ldg" | "__ldca" | "__ldcg" | "__ldcs" | "__ldlu" | "__ldcv", [pointer]) => {
                self.cached_load(name, pointer, expr, out)
            }
            ("__stcg" | "__stcs" | "__stwb" | "__stwt", [pointer, value]) => {
                self.cached_store([pointer, value], span, out)
            }
            ("sincos" | "sincosf" | "__sincosf", [angle, sine, cosine]) => {
                self.sine_and_cosine(angle, [sine, cosine], span, out)
            }
            ("__int_as_float" | "__uint_as_float" | "__longlong_as_double", [bits])
                if let Some(bits) = super::tables::literal(bits) =>
            {
                let kind = ExprKind::Float(float_of_bits(name, bits));
                Ok(vec![Item::Scalar(Expr { kind, ty: Type::Float, span })])
            }
            (_, [argument]) if name.contains("_as_") => match self.as_bits(name, argument, out)? {
                Some(value) => Ok(vec![Item::Scalar(value)]),
                None => self.unknown_call(arguments, expr, out),
            },
            _ if name.starts_with(super::textures::OF_PRELUDE) || kir::is_fetch(name) => {
                self.fetch(name, arguments, span, out)
            }
            _ if is_unknown(name) => match self.pair_function(name, arguments, span, out)? {
                Some(value) => Ok(value),
                None => self.unknown_call(arguments, expr, out),
            },
            ("__builtin_expect", [_, _]) => {
                let mut values = self.values(arguments, out)?.into_iter();
                let value = values.next().unwrap_or_default();
                values.for_each(|expected| self.keep_partial(expected, out));
                Ok(value)
            }
            _ => self
                .numeric_function(name, arguments, expr, out)
                .map(|value| vec![Item::Scalar(value)]),
        }
    }

    /// Functions of numbers.
    fn numeric_function(
        &mut self,
        name: &'static str,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let span = expr.span;
        let mut values = Vec::new();
        for value in self.values(arguments, out)? {
            match value.into_iter().next() {
                Some(Item::Scalar(value)) => values.push(value),
                _ => {
                    let message = format!("the function `{name}` is not supported here");
                    return Err(unsupported(span, message));
                }
            }
        }
        if let Some(value) = self.extreme(name, &values, span)? {
            return Ok(value);
        }
        if let Some(value) = self.integer_function(name, &values, span, out)? {
            return Ok(value);
        }
        if let Some(value) = self.rounding_function(name, &values, expr)? {
            return Ok(value);
        }
        self.mathematical(name, values, expr)
    }

    /// `min`, `max` and `abs`.
    fn extreme(&mut self, name: &str, values: &[Expr], span: Span) -> Result<Option<Expr>> {
        match (name, values) {
            ("min" | "umin" | "llmin" | "ullmin" | "__hmin", [left, right]) => {
                self.operate(Binary::Min, left.clone(), right.clone(), span).map(Some)
            }
            ("max" | "umax" | "llmax" | "ullmax" | "__hmax", [left, right]) => {
                self.operate(Binary::Max, left.clone(), right.clone(), span).map(Some)
            }
            ("abs" | "labs" | "llabs", [inner]) => self.absolute(inner.clone(), span).map(Some),
            _ => Ok(None),
        }
    }

    /// `abs(x)`.
    pub(super) fn absolute(&self, inner: Expr, span: Span) -> Result<Expr> {
        let ty = match (self.in_annotation, inner.ty) {
            (true, Type::Int { .. } | Type::Bool) => Type::Whole,
            (_, ty) => ty,
        };
        let inner = convert(inner, ty);
        let kind = ExprKind::Unary(Unary::Neg, Box::new(inner.clone()));
        let negative = Expr { kind, ty, span };
        self.operate(Binary::Max, inner, negative, span)
    }

    /// `printf`: its arguments are computed, the output is ignored.
    fn print(
        &mut self,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        for argument in arguments {
            if !is_text(argument) {
                self.discard(argument, out)?;
            }
        }
        Ok(vec![Item::Scalar(self.unknown("printed", Type::INT, span, out))])
    }

    /// A store with a cache operator.
    fn cached_store(
        &mut self,
        [pointer, value]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let ty = pointee(Some(pointer), span)?;
        let (pointer, value) = self.in_order([pointer, value], out)?;
        let Some(Item::Pointer(pointer)) = pointer.into_iter().next() else {
            return Err(unsupported(span, "this pointer is not supported"));
        };
        let place = self.deref(&pointer, &ty, span)?;
        self.assign_value(&place, value, span, out)?;
        Ok(super::memory::nothing(span))
    }

    /// A load with a cache operator. A non-coherent one may or may not see what the kernel writes.
    fn cached_load(
        &mut self,
        name: &str,
        pointer: &tree::Expr,
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        let pointer = self.pointer(pointer, out)?;
        let place = self.deref(&pointer, &expr.ty, span)?;
        if name == "__ldg" {
            for spot in place.choices.iter().flatten() {
                if let Spot::Cell(array, _) = spot {
                    self.incoherent.push((*array, span));
                }
            }
        }
        self.read(&place, span, out)
    }

    fn sine_and_cosine(
        &mut self,
        angle: &tree::Expr,
        targets: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let angle = convert(self.number(angle, out)?, Type::Float);
        let angle = self.keep("angle", angle, out);
        for (name, target) in ["sin", "cos"].into_iter().zip(targets) {
            let pointer = self.pointer(target, out)?;
            let place = self.deref(&pointer, &pointee(Some(target), span)?, span)?;
            let kind = ExprKind::Call(name, vec![self.var(angle, span)]);
            let value = Expr { kind, ty: Type::Float, span };
            self.assign_value(&place, vec![Item::Scalar(value)], span, out)?;
        }
        Ok(super::memory::nothing(span))
    }

    /// A call with an unknown result; only its arguments are evaluated.
    fn unknown_call(
        &mut self,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        for argument in arguments {
            match argument.ty {
                tree::Type::Pointer(_) => self.forget_pointee(argument, span, out)?,
                _ => self.discard(argument, out)?,
            }
        }
        if matches!(expr.ty, tree::Type::Void) {
            return Ok(super::memory::nothing(span));
        }
        self.unknown_value(&expr.ty, span, out)
    }

    /// Makes unknown what a pointer argument points to: a function may read and write it.
    pub(super) fn forget_pointee(
        &mut self,
        argument: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let pointer = self.pointer(argument, out)?;
        let place = self.deref(&pointer, &pointee(Some(argument), span)?, span)?;
        self.make_unknown(&place, span, out)
    }

    /// The state of a generator is read and written, and unknown afterwards.
    fn make_unknown(&mut self, place: &Place, span: Span, out: &mut Vec<Stmt>) -> Result<()> {
        if self.leaves(&place.ty, span)?.is_empty() {
            return Err(unsupported(span, "a state of this type is not supported"));
        }
        self.read(place, span, out)?;
        let value = self.unknown_value(&place.ty, span, out)?;
        self.write(place, value, span, out)
    }

    /// An unknown value of a type.
    pub(super) fn unknown_value(
        &mut self,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let mut value = Vec::new();
        for leaf in self.leaves(ty, span)? {
            match self.scalar(&leaf.ty).filter(|_| leaf.dimensions.is_empty()) {
                Some(scalar) => {
                    value.push(Item::Scalar(self.unknown("unknown", scalar, span, out)))
                }
                None => {
                    return Err(unsupported(
                        span,
                        "an unknown value of this type is not supported",
                    ));
                }
            }
        }
        Ok(value)
    }
}

/// The float with these bits; `name` is the function that converts them.
fn float_of_bits(name: &str, bits: i128) -> f64 {
    match name {
        "__longlong_as_double" => f64::from_bits((bits & i128::from(u64::MAX)) as u64),
        _ => f64::from(f32::from_bits((bits & i128::from(u32::MAX)) as u32)),
    }
}

/// The type that a pointer argument points to.
pub(super) fn pointee(argument: Option<&tree::Expr>, span: Span) -> Result<tree::Type> {
    match argument.map(|one| &one.ty) {
        Some(tree::Type::Pointer(pointee)) => Ok(pointee.ty.clone()),
        _ => Err(unsupported(span, "this pointer is not supported")),
    }
}

/// Functions whose value depends on hardware or the host, or is otherwise unknown.
pub(super) fn is_unknown(name: &str) -> bool {
    use cuda::intrinsics::{Class, all};
    let plain = name.trim_start_matches("__");
    let known = all().find(|one| one.canonical == name).map(|one| one.class);
    match known {
        Some(Class::Texture) => false,
        Some(Class::Prelude) => true,
        Some(Class::Math | Class::Integer | Class::Conversion) => !has_known_result(name),
        _ => plain.starts_with("curand") || matches!(plain, "clock" | "clock64" | "globaltimer"),
    }
}

/// Returns `true` if the result of a function of numbers is modelled.
fn has_known_result(name: &str) -> bool {
    let plain = name.trim_start_matches("__");
    let (stem, _) = plain.rsplit_once('_').unwrap_or((plain, ""));
    function(name).is_some()
        || super::integers::has_known_result(name)
        || is_conversion(stem)
        || matches!(plain, "min" | "max" | "abs" | "hmin" | "hmax" | "saturatef" | "hneg" | "hrcp")
        || matches!(stem, "fadd" | "fsub" | "fmul" | "fdiv" | "frcp" | "dadd" | "dsub" | "dmul")
        || matches!(stem, "ddiv" | "drcp" | "hadd" | "hsub" | "hmul" | "hdiv")
        || matches!(plain, "heq" | "hne" | "hlt" | "hle" | "hgt" | "hge")
}

/// Returns `true` for a string literal.
pub(super) fn is_text(expr: &tree::Expr) -> bool {
    matches!(&expr.kind, tree::ExprKind::Decay(inner) if matches!(inner.kind, tree::ExprKind::Text(_)))
}
