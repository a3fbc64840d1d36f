//! Operators that are functions, and conversions of classes (\[over.oper\], \[over.match.oper\], \[class.conv\]).

use super::analyser::Analyser;
use super::operand::{Operand, place, value};
use super::overload::{Candidate, Target};
use super::scope::{DeclId, Entity};
use super::types::QType;
use crate::tree::{Expr, ExprKind, RecordId, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// An operator with a class or enumeration among its operands.
    pub(super) fn user_operator(
        &mut self,
        sign: &'static str,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let name = format!("operator{sign}");
        let candidates = self.operator_candidates(&name, &operands)?;
        let mut viable = Vec::new();
        for candidate in candidates {
            if self.sequences(&candidate, &operands)?.is_some() {
                viable.push(candidate);
            }
        }
        if !viable.is_empty() {
            let chosen = self.choose(&viable, &operands, &name, span)?;
            self.check_narrow(&chosen, &operands, span)?;
            // A built-in operator on converted operands could match equally well; this is not decided for classes
            // with conversions.
            if operands.iter().any(|operand| self.converts_to_number(&operand.expr.ty)) {
                let message =
                    "an operator of a class that also converts to numbers is not supported";
                return Err(unsupported(span, message));
            }
            return self.finish_call(chosen, operands, span);
        }
        self.built_in_of_class(sign, operands, span)
    }

    /// Operators of 16-bit floats are functions of CUDA's headers: a user's operator is chosen only if it matches
    /// exactly.
    fn check_narrow(&mut self, chosen: &Candidate, operands: &[Operand], span: Span) -> Result<()> {
        let narrow = operands.iter().any(|operand| super::types::is_narrow_float(&operand.expr.ty));
        let sequences = self.sequences(chosen, operands)?.unwrap_or_default();
        let exact = sequences.iter().all(|sequence| sequence.rank == super::convert::Rank::Exact);
        match narrow && !exact {
            true => Err(unsupported(span, "this operator of 16-bit floats is not supported")),
            false => Ok(()),
        }
    }

    /// No function matches: operands that convert to numbers or pointers do so (\[over.built\]).
    fn built_in_of_class(
        &mut self,
        sign: &'static str,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let mut plain = Vec::new();
        for operand in operands {
            let converted = match operand.expr.ty {
                Type::Record(_) => {
                    let Some(ty) = self.only_conversion(&operand.expr.ty) else {
                        let message = format!(
                            "there is no `{sign}` for `{}`",
                            self.type_name(&operand.expr.ty)
                        );
                        return Err(error(span, message));
                    };
                    let ty = super::types::decayed(&ty);
                    Operand::new(self.convert_from_class(operand, &ty, span)?)
                }
                _ => operand,
            };
            plain.push(converted);
        }
        let saved = std::mem::replace(&mut self.has_operators, false);
        let result = self.built_in_operator(sign, plain, span);
        self.has_operators = saved;
        result
    }

    fn built_in_operator(
        &mut self,
        sign: &'static str,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let mut operands = operands.into_iter();
        match (operands.next(), operands.next()) {
            (Some(left), Some(right)) if sign == "[]" => {
                let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
                let sum = self.pointer_sum(true, left, right, span)?;
                self.dereferenced(sum, span)
            }
            (Some(left), Some(right)) => self.binary_operands(sign, left, right, span),
            (Some(inner), None) if sign == "*" => {
                let at = self.rvalue(inner)?;
                self.dereferenced(at, span)
            }
            (Some(inner), None) if sign == "!" => {
                let truth = self.truth(inner)?;
                let kind = ExprKind::Unary(crate::tree::Unary::Not, Box::new(truth));
                Ok(Operand::new(value(kind, Type::Bool, span)))
            }
            _ => Err(unsupported(span, format!("`{sign}` of a class is not supported here"))),
        }
    }

    /// Member functions of the left operand, functions in scope, and those of the operands' namespaces.
    fn operator_candidates(&mut self, name: &str, operands: &[Operand]) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        if let Some(Type::Record(record)) = operands.first().map(|one| &one.expr.ty)
            && let Some(scope) = self.class_scope(*record)
        {
            for entity in self.names_in(scope, name) {
                match entity {
                    Entity::Function(decl) => {
                        candidates.extend(self.candidate(decl, &[], operands)?);
                    }
                    Entity::Refused(why) => {
                        let span = operands.first().map_or(Span::default(), Operand::span);
                        return Err(unsupported(span, why));
                    }
                    _ => {}
                }
            }
        }
        let mut found = self.free_functions(name, operands)?;
        for one in self.argument_dependent(name, operands)? {
            if !found.contains(&one) {
                found.push(one);
            }
        }
        for decl in found {
            if self.decls.get(decl).is_some_and(|one| one.member.is_none()) {
                candidates.extend(self.candidate(decl, &[], operands)?);
            }
        }
        candidates.extend(self.builtin_candidates(name));
        Ok(candidates)
    }

    /// Non-member functions found by a name.
    fn free_functions(&mut self, name: &str, operands: &[Operand]) -> Result<Vec<DeclId>> {
        let found = self.lookup_where(name, |one| match one {
            Entity::Function(id) => self.decls.get(*id).is_some_and(|one| one.member.is_none()),
            other => matches!(other, Entity::Refused(_)),
        });
        let mut functions = Vec::new();
        for entity in found.1 {
            match entity {
                Entity::Function(id) => functions.push(id),
                Entity::Refused(why) => {
                    let span = operands.first().map_or(Span::default(), Operand::span);
                    return Err(unsupported(span, why));
                }
                _ => {}
            }
        }
        Ok(functions)
    }

    pub(super) fn user_assignment(
        &mut self,
        sign: &'static str,
        target: Operand,
        from: Operand,
        span: Span,
    ) -> Result<Operand> {
        let name = format!("operator{sign}");
        let operands = vec![target, from];
        let candidates = self.operator_candidates(&name, &operands)?;
        let mut viable = Vec::new();
        for candidate in candidates {
            if self.sequences(&candidate, &operands)?.is_some() {
                viable.push(candidate);
            }
        }
        let mut parts = operands.into_iter();
        let (Some(target), Some(from)) = (parts.next(), parts.next()) else {
            return Err(error(span, "an operand is missing here"));
        };
        // Without an assignment of its own, a class has the implicit one.
        if let (Type::Record(record), "=") = (&target.expr.ty, sign)
            && target.expr.ty == from.expr.ty
            && !self.has_own_assignment(*record)
        {
            viable.clear();
        }
        if !viable.is_empty() {
            let operands = vec![target, from];
            let chosen = self.choose(&viable, &operands, &name, span)?;
            return self.finish_call(chosen, operands, span);
        }
        match &target.expr.ty {
            Type::Record(record) if sign == "=" => {
                self.check_usable(*record, span)?;
                self.check_fields_writable(*record, span)?;
                let is_prvalue = !target.is_place();
                if is_prvalue {
                    return Err(unsupported(span, "assigning to a temporary is not supported"));
                }
                self.check_writable(&target, span)?;
                let ty = target.expr.ty.clone();
                let from = self.implicit(from, &QType::plain(ty.clone()), span)?;
                let kind = ExprKind::Assign(Box::new(target.expr), Box::new(from));
                Ok(Operand::new(place(kind, ty, span)))
            }
            Type::Record(_) => Err(error(
                span,
                format!("there is no `{sign}` for `{}`", self.type_name(&target.expr.ty)),
            )),
            _ => {
                let from = match self.only_conversion(&from.expr.ty) {
                    Some(ty) => {
                        let ty = super::types::decayed(&ty);
                        Operand::new(self.convert_from_class(from, &ty, span)?)
                    }
                    None => from,
                };
                self.built_in_assignment(sign, target, from, span)
            }
        }
    }

    /// Checks that all fields of a class can be written, as copying field by field needs it.
    fn check_fields_writable(&self, record: RecordId, span: Span) -> Result<()> {
        let Some(known) = self.program.records.get(record) else { return Ok(()) };
        match known.fields.iter().any(|field| field.is_const) {
            true => Err(error(span, "this class has `const` members")),
            false => Ok(()),
        }
    }

    /// Checks that objects of a class can be used: no destructor or virtual function.
    pub(super) fn check_usable(&self, record: RecordId, span: Span) -> Result<()> {
        self.complete(record, span)?;
        match self.class(record).and_then(|one| one.refused) {
            Some((_, why)) => Err(unsupported(span, why)),
            None => Ok(()),
        }
    }

    /// Conversion functions of a class and of its bases.
    fn conversions(&self, ty: &Type) -> Vec<DeclId> {
        let Type::Record(record) = ty else { return Vec::new() };
        let mut found = Vec::new();
        let mut todo = vec![*record];
        while let Some(record) = todo.pop() {
            let Some(class) = self.class(record).filter(|_| found.len() < 64) else { continue };
            found.extend(class.conversions.iter().copied());
            todo.extend(class.bases.iter().map(|base| base.0));
        }
        found
    }

    fn converts_to_number(&self, ty: &Type) -> bool {
        !self.conversions(ty).is_empty()
    }

    /// The type that a class converts to, if there is exactly one conversion function.
    fn only_conversion(&self, ty: &Type) -> Option<QType> {
        match &self.conversions(ty)[..] {
            [one] => match &self.decls.get(*one)?.signature {
                Some(Ok(signature)) => signature.returns.as_ref().map(QType::referred),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns `true` if a user-defined conversion exists. [`Self::convert_from_class`] and
    /// [`Self::convert_to_class`] choose among several (\[over.best.ics\]/4).
    pub(super) fn user_sequence(&mut self, from: &Operand, to: &Type) -> Result<bool> {
        if !self.conversion_candidates(from, to)?.is_empty() {
            return Ok(true);
        }
        let Type::Record(record) = to else { return Ok(false) };
        if self.is_dim3_conversion(from, to) {
            return Ok(true);
        }
        let constructors = self.class(*record).map(|one| one.constructors.clone());
        for decl in constructors.unwrap_or_default() {
            if self.decls.get(decl).is_some_and(|one| one.ast.specifiers.is_explicit) {
                continue;
            }
            let operands = std::slice::from_ref(from);
            if let Some(candidate) = self.candidate(decl, &[], operands)?
                && self.sequences_within(&candidate, operands, false)?.is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` for a conversion of `dim3`: it converts to and from `uint3`, and a number converts to it.
    fn is_dim3_conversion(&self, from: &Operand, to: &Type) -> bool {
        let is = |ty: &Type, name: &str| self.is_named_record(ty, name);
        let from = &from.expr.ty;
        is(to, "dim3") && (is(from, "uint3") || self.is_integer_like(from))
            || is(to, "uint3") && is(from, "dim3")
    }

    /// Conversion functions that lead to a type, followed by at most a standard conversion.
    fn conversion_candidates(&mut self, from: &Operand, to: &Type) -> Result<Vec<(DeclId, QType)>> {
        let mut found = Vec::new();
        for decl in self.conversions(&from.expr.ty) {
            let Some(one) = self.decls.get(decl) else { continue };
            if one.signature.is_none() {
                return Err(unsupported(from.span(), "templates of conversions are not supported"));
            }
            let Some(Ok(signature)) = &one.signature else { continue };
            let Some(returns) = signature.returns.clone() else { continue };
            if from.is_const && !one.member.is_some_and(|one| one.is_const) {
                continue;
            }
            let made = Operand::of_type(&returns, from.span());
            let target = QType::plain(to.clone());
            if self.sequence(&made, &target, false)?.is_some() {
                found.push((decl, returns));
            }
        }
        Ok(found)
    }

    /// Converts a class by one of its conversion functions (\[over.match.conv\]).
    pub(super) fn convert_from_class(
        &mut self,
        from: Operand,
        to: &Type,
        span: Span,
    ) -> Result<Expr> {
        let candidates = self.conversion_candidates(&from, to)?;
        let target = QType::plain(to.clone());
        let mut best: Vec<(DeclId, QType)> = Vec::new();
        for (decl, returns) in candidates {
            let made = Operand::of_type(&returns, span);
            let one = self.sequence(&made, &target, false)?;
            let Some((_, known)) = best.first().cloned() else {
                best.push((decl, returns));
                continue;
            };
            let known_made = Operand::of_type(&known, span);
            let other = self.sequence(&known_made, &target, false)?;
            match (one, other) {
                (Some(one), Some(other)) if one.is_better(&other) => best = vec![(decl, returns)],
                (Some(one), Some(other)) if other.is_better(&one) => {}
                // The object decides: a function without `const` is preferred for an object that is not `const`.
                _ => {
                    let is_const = |decl: DeclId| {
                        self.decls
                            .get(decl)
                            .and_then(|one| one.member)
                            .is_some_and(|one| one.is_const)
                    };
                    match (is_const(decl), best.first().is_some_and(|one| is_const(one.0))) {
                        (false, true) => best = vec![(decl, returns)],
                        (true, false) => {}
                        _ => best.push((decl, returns)),
                    }
                }
            }
        }
        match &best[..] {
            [(decl, _)] => {
                let made = self.call_method(*decl, from, Vec::new(), span)?;
                self.implicit(made, &target, span)
            }
            [] => match to {
                Type::Record(record) => self.convert_to_class(from, *record, span),
                _ => {
                    let message = format!(
                        "`{}` cannot be converted to `{}`",
                        self.type_name(&from.expr.ty),
                        self.type_name(to)
                    );
                    Err(error(span, message))
                }
            },
            _ => Err(error(span, "several conversions of this class fit")),
        }
    }

    /// Converts a value to a class by a converting constructor.
    pub(super) fn convert_to_class(
        &mut self,
        from: Operand,
        record: RecordId,
        span: Span,
    ) -> Result<Expr> {
        let ty = Type::Record(record);
        if self.is_dim3_conversion(&from, &ty) {
            return self.convert_dim3(from, record, span);
        }
        let constructors = self.class(record).map(|one| one.constructors.clone());
        let mut candidates = Vec::new();
        let operands = vec![from];
        for decl in constructors.unwrap_or_default() {
            if !self.decls.get(decl).is_some_and(|one| one.ast.specifiers.is_explicit) {
                candidates.extend(self.candidate(decl, &[], &operands)?);
            }
        }
        let name = self.type_name(&ty);
        let chosen = self.choose(&candidates, &operands, &name, span)?;
        if !matches!(chosen.target, Target::User { .. }) {
            return Err(error(span, "this is not a constructor"));
        }
        self.check_usable(record, span)?;
        Ok(self.finish_call(chosen, operands, span)?.expr)
    }

    /// Executes a conversion that [`Self::is_dim3_conversion`] allows: missing components are 1.
    pub(super) fn convert_dim3(
        &mut self,
        from: Operand,
        record: RecordId,
        span: Span,
    ) -> Result<Expr> {
        let unsigned = super::types::UNSIGNED;
        let ty = Type::Record(record);
        let parts = match from.expr.ty {
            Type::Record(_) => {
                let fields =
                    |one: &Operand, position| self.walk_fields(one.clone(), &[position], span);
                let parts = [fields(&from, 0), fields(&from, 1), fields(&from, 2)];
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.rvalue(part)?);
                }
                values
            }
            _ => {
                let first = self.rvalue(from)?;
                let first = self.converted(first, &unsigned, span)?;
                let one = super::operand::literal(1, unsigned.clone(), span);
                vec![first, one.clone(), one]
            }
        };
        Ok(value(ExprKind::Construct(parts), ty, span))
    }
}
