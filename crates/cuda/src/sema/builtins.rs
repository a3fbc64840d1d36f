//! CUDA's functions as candidates of overload resolution.

use super::analyser::Analyser;
use super::operand::{Operand, value};
use super::overload::{Candidate, Target};
use super::types::{QType, pointer};
use crate::Result;
use crate::intrinsics::{self, Class, Intrinsic};
use crate::tree::{Expr, ExprKind, FloatKind, IntKind, Type};
use base::Span;

impl<'a> Analyser<'a> {
    pub(super) fn is_builtin_name(&self, name: &str) -> bool {
        intrinsics::named(name).next().is_some()
    }

    /// All overloads of a name in CUDA.
    pub(super) fn builtin_candidates(&mut self, name: &str) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for intrinsic in intrinsics::named(name) {
            for signature in intrinsic.signatures {
                match signature.contains('T') {
                    false => candidates.extend(self.builtin_candidate(intrinsic, signature)),
                    true => {
                        for one in intrinsic.over.split_whitespace() {
                            let signature = signature.replace('T', one);
                            candidates.extend(self.builtin_candidate(intrinsic, &signature));
                        }
                    }
                }
            }
        }
        candidates
    }

    fn builtin_candidate(
        &mut self,
        intrinsic: &'static Intrinsic,
        signature: &str,
    ) -> Option<Candidate> {
        let is_variadic = signature.ends_with('z');
        let mut rest = signature.trim_end_matches('z');
        let returns = self.decode_type(&mut rest)?;
        let mut parameters = Vec::new();
        while !rest.is_empty() {
            parameters.push(QType::plain(self.decode_type(&mut rest)?.ty));
        }
        let required = parameters.len();
        Some(Candidate {
            target: Target::Builtin(intrinsic, returns.ty),
            parameters,
            required,
            is_variadic,
            skips_object: false,
        })
    }

    /// Decodes the type at the start of the letters, and removes it.
    fn decode_type(&mut self, rest: &mut &str) -> Option<QType> {
        let letter = rest.chars().next()?;
        *rest = rest.get(1..)?;
        let plain = |ty: Type| Some(QType::plain(ty));
        match letter {
            'P' => {
                let to = self.decode_type(rest)?;
                plain(pointer(to.ty, to.is_const, to.is_volatile))
            }
            'K' => self.decode_type(rest).map(|one| QType { is_const: true, ..one }),
            'V' => self.decode_type(rest).map(|one| QType { is_volatile: true, ..one }),
            '{' => {
                let end = rest.find('}')?;
                let name = rest.get(..end)?;
                *rest = rest.get(end + 1..)?;
                self.vector_record(name).map(|one| QType::plain(Type::Record(one)))
            }
            'v' => plain(Type::Void),
            'b' => plain(Type::Bool),
            'c' => plain(Type::Int(IntKind::Char)),
            'a' => plain(Type::Int(IntKind::SignedChar)),
            'h' => plain(Type::Int(IntKind::UnsignedChar)),
            's' => plain(Type::Int(IntKind::Short)),
            't' => plain(Type::Int(IntKind::UnsignedShort)),
            'i' => plain(Type::Int(IntKind::Int)),
            'j' => plain(Type::Int(IntKind::UnsignedInt)),
            'l' => plain(Type::Int(IntKind::Long)),
            'm' => plain(Type::Int(IntKind::UnsignedLong)),
            'x' => plain(Type::Int(IntKind::LongLong)),
            'y' => plain(Type::Int(IntKind::UnsignedLongLong)),
            'f' => plain(Type::Float(FloatKind::Float)),
            'd' => plain(Type::Float(FloatKind::Double)),
            'H' => plain(Type::Float(FloatKind::Half)),
            'B' => plain(Type::Float(FloatKind::Bfloat16)),
            _ => None,
        }
    }

    /// A call of a CUDA function with converted arguments.
    pub(super) fn intrinsic_call(
        &mut self,
        intrinsic: &'static Intrinsic,
        returns: Type,
        mut arguments: Vec<Expr>,
        span: Span,
    ) -> Result<Operand> {
        if intrinsic.class == Class::Construct {
            return Ok(Operand::new(value(ExprKind::Construct(arguments), returns, span)));
        }
        // The headers compute `min` and similar functions in the type of the result. A shuffle's last parameter is 32
        // if omitted.
        if matches!(intrinsic.canonical, "min" | "max" | "fmin" | "fmax" | "pow" | "fmod" | "atan2")
        {
            let mut converted = Vec::new();
            for argument in arguments {
                converted.push(self.converted(argument, &returns, span)?);
            }
            arguments = converted;
        }
        if intrinsic.canonical.starts_with("__shfl") && arguments.len() == 3 {
            arguments.push(super::operand::int(32, span));
        }
        let kind = ExprKind::Intrinsic(intrinsic.canonical, arguments);
        Ok(Operand::new(value(kind, returns, span)))
    }
}
