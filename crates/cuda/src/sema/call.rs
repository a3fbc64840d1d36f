//! Calls (\[expr.call\], \[over.call\]).

use super::analyser::Analyser;
use super::convert::Sequence;
use super::operand::{Operand, place};
use super::overload::{Candidate, Target};
use super::scope::{DeclId, Entity, spelled};
use super::types::{QType, Reference};
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{Category, Expr, ExprKind, FunctionId, Type};
use crate::{Result, error, name_error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    pub(super) fn call(
        &mut self,
        callee: &'a ast::Expr,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Operand> {
        match &callee.kind {
            Ast::Name(name) => self.call_named(name, arguments, span),
            Ast::Member { object, member, arrow } => {
                let object = self.object(object, *arrow)?;
                let operands = self.operands(arguments)?;
                self.call_member(object, member, operands, span)
            }
            _ => {
                let callee = self.operand(callee)?;
                let operands = self.operands(arguments)?;
                self.call_object(callee, operands, span)
            }
        }
    }

    fn operands(&mut self, arguments: &'a [ast::Expr]) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        for argument in arguments {
            operands.push(self.operand(argument)?);
        }
        Ok(operands)
    }

    /// `x(…)` of an object.
    fn call_object(
        &mut self,
        callee: Operand,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        if matches!(&callee.expr.ty, Type::Pointer(to) if matches!(to.ty, Type::Function(_))) {
            return self.call_pointer(callee, arguments, span);
        }
        let Type::Record(record) = callee.expr.ty else {
            return Err(error(span, "this is not a function"));
        };
        let scope = self.class_scope(record);
        let found = scope.map(|one| self.names_in(one, "operator()")).unwrap_or_default();
        let operands: Vec<Operand> = std::iter::once(callee).chain(arguments).collect();
        self.call_among(found, &[], operands, "operator()", span)
    }

    /// Resolves a call by name: of an annotation's word, a type, a variable or functions.
    fn call_named(
        &mut self,
        name: &'a ast::QualifiedName,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Operand> {
        let Some(last) = name.parts.last() else {
            return Err(error(span, "a name is missing here"));
        };
        let word: &str = &last.name.text;
        let within = self.qualifier(name)?;
        let (scope, mut found) = match within {
            Some(scope) => (Some(scope), self.names_in(scope, word)),
            None => self.lookup(word),
        };
        if found.is_empty()
            && let Some(made) = self.annotation_call(word, arguments, span)?
        {
            return Ok(made);
        }
        let is_function = |entity: &Entity| matches!(entity, Entity::Function(_));
        if let Some(first) = found.iter().find(|one| !is_function(one)).cloned() {
            match first {
                Entity::Refused(why) => return Err(unsupported(span, why.as_ref())),
                // A function hides a type of the same name.
                Entity::Type(_) | Entity::Template(_) if found.iter().any(is_function) => {
                    found.retain(is_function);
                }
                Entity::Type(ty) => {
                    let operands = self.operands(arguments)?;
                    return self.functional_cast(&ty, operands, span);
                }
                _ => {
                    let callee = self.name_operand(name, span)?;
                    let operands = self.operands(arguments)?;
                    return self.call_object(callee, operands, span);
                }
            }
        }
        let operands = self.operands(arguments)?;
        self.check_empty_list(&found, last, span)?;
        let explicit = last.arguments.as_deref().unwrap_or_default();
        let at = (within.is_some(), scope);
        self.call_functions(at, found, (explicit, operands), name, span)
    }

    /// `f<>(x)` considers templates only.
    fn check_empty_list(&self, found: &[Entity], part: &ast::NamePart, span: Span) -> Result<()> {
        let is_empty = part.arguments.as_ref().is_some_and(Vec::is_empty);
        let plain = |one: &Entity| match one {
            Entity::Function(decl) => {
                self.decls.get(*decl).is_none_or(|one| one.signature.is_some())
            }
            _ => true,
        };
        match is_empty && found.iter().any(plain) {
            true => {
                Err(unsupported(span, "an empty list of template arguments is not supported here"))
            }
            false => Ok(()),
        }
    }

    /// Resolves a call of overloaded functions, with those found by argument-dependent lookup.
    fn call_functions(
        &mut self,
        (is_qualified, scope): (bool, Option<super::scope::ScopeId>),
        mut found: Vec<Entity>,
        (explicit, operands): (&'a [ast::TemplateArgument], Vec<Operand>),
        name: &'a ast::QualifiedName,
        span: Span,
    ) -> Result<Operand> {
        let word = name.parts.last().map_or("", |one| one.name.text.as_ref());
        let of_members = found.iter().any(|one| match one {
            Entity::Function(decl) => self.decls.get(*decl).is_some_and(|one| one.member.is_some()),
            _ => false,
        });
        // Functions of the global namespace and of `std` overload with CUDA's.
        let outermost = scope.is_none_or(|one| one == self.global || one == self.standard);
        let mut adds_builtins = outermost;
        if !is_qualified && !of_members {
            for decl in self.argument_dependent(word, &operands)? {
                let known =
                    found.iter().any(|one| matches!(one, Entity::Function(id) if *id == decl));
                if !known {
                    found.push(Entity::Function(decl));
                }
            }
            adds_builtins |= operands.iter().any(|operand| self.is_vector(&operand.expr.ty));
        }
        if of_members {
            return self.call_own_member(found, explicit, operands, word, span);
        }
        let mut candidates = Vec::new();
        for entity in &found {
            let Entity::Function(decl) = entity else { continue };
            candidates.extend(self.candidate(*decl, explicit, &operands)?);
        }
        if adds_builtins && explicit.is_empty() {
            self.refuse_replaced(&found, word, span)?;
            candidates.extend(self.builtin_candidates(word));
        }
        if candidates.is_empty() && found.is_empty() {
            let message = format!("the function `{}` is not supported", spelled(name));
            return Err(unsupported(span, message));
        }
        if candidates.is_empty() {
            let types: Vec<String> =
                operands.iter().map(|operand| self.type_name(&operand.expr.ty)).collect();
            let message = format!("no `{word}` takes ({})", types.join(", "));
            return Err(error(span, message));
        }
        let chosen = self.choose(&candidates, &operands, word, span)?;
        self.finish_call(chosen, operands, span)
    }

    /// Refuses a function with exactly the parameters of one of CUDA's: it would be a redefinition.
    fn refuse_replaced(&mut self, found: &[Entity], word: &str, span: Span) -> Result<()> {
        let builtins = self.builtin_candidates(word);
        for entity in found {
            let Entity::Function(decl) = entity else { continue };
            let Some(Some(Ok(signature))) = self.decls.get(*decl).map(|one| one.signature.clone())
            else {
                continue;
            };
            let same =
                |one: &Candidate| {
                    one.parameters.len() == signature.parameters.len()
                        && one.parameters.iter().zip(&signature.parameters).all(|(one, other)| {
                            one.ty == other.ty && one.reference == other.reference
                        })
                };
            if builtins.iter().any(same) {
                let message = format!(
                    "`{word}` with these parameters is a function of CUDA; defining it again is not supported"
                );
                return Err(unsupported(span, message));
            }
        }
        Ok(())
    }

    fn is_vector(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(id) => self.vectors.values().any(|vector| vector == id),
            Type::Float(_) => super::types::is_narrow_float(ty),
            Type::Pointer(to) => self.is_vector(&to.ty),
            _ => false,
        }
    }

    /// A member function called by its plain name from another member.
    fn call_own_member(
        &mut self,
        found: Vec<Entity>,
        explicit: &'a [ast::TemplateArgument],
        operands: Vec<Operand>,
        word: &str,
        span: Span,
    ) -> Result<Operand> {
        let object = match self.body.this {
            Some((this, _)) => self.local_operand(this, span)?,
            // Only static members can be called; they ignore the object.
            None => {
                let record = found.iter().find_map(|one| match one {
                    Entity::Function(decl) => self.decls.get(*decl)?.member.map(|one| one.record),
                    _ => None,
                });
                let ty = record.map_or(Type::Void, Type::Record);
                Operand::new(place(ExprKind::Null, ty, span))
            }
        };
        let operands: Vec<Operand> = std::iter::once(object).chain(operands).collect();
        self.call_among(found, explicit, operands, word, span)
    }

    fn call_member(
        &mut self,
        object: Operand,
        member: &'a ast::NamePart,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let word: &str = &member.name.text;
        let Type::Record(record) = object.expr.ty else {
            return Err(error(span, format!("there is no member `{word}`: this is not a class")));
        };
        self.complete(record, span)?;
        if let Some(path) = self.field_path(record, word) {
            let field = self.walk_fields(object, &path, span);
            return self.call_object(field, arguments, span);
        }
        let scope = self.class_scope(record);
        let found = scope.map(|one| self.names_in(one, word)).unwrap_or_default();
        if found.is_empty() {
            return Err(name_error(member.name.span, format!("there is no member `{word}`")));
        }
        self.check_empty_list(&found, member, span)?;
        let explicit = member.arguments.as_deref().unwrap_or_default();
        let operands: Vec<Operand> = std::iter::once(object).chain(arguments).collect();
        self.call_among(found, explicit, operands, word, span)
    }

    /// A call of one of several members; the first operand is the object.
    fn call_among(
        &mut self,
        found: Vec<Entity>,
        explicit: &'a [ast::TemplateArgument],
        operands: Vec<Operand>,
        word: &str,
        span: Span,
    ) -> Result<Operand> {
        let mut candidates = Vec::new();
        for entity in found {
            match entity {
                Entity::Function(decl) => {
                    candidates.extend(self.candidate(decl, explicit, &operands)?);
                }
                Entity::Refused(why) => return Err(unsupported(span, why.as_ref())),
                _ => {}
            }
        }
        let chosen = self.choose(&candidates, &operands, word, span)?;
        self.finish_call(chosen, operands, span)
    }

    /// Calls a known member function.
    pub(super) fn call_method(
        &mut self,
        decl: DeclId,
        object: Operand,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let operands: Vec<Operand> = std::iter::once(object).chain(arguments).collect();
        let Some(candidate) = self.candidate(decl, &[], &operands)? else {
            return Err(error(span, "this member does not fit here"));
        };
        self.finish_call(candidate, operands, span)
    }

    /// Converts arguments, adds defaults and makes the call.
    pub(super) fn finish_call(
        &mut self,
        chosen: Candidate,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let Some(sequences) = self.sequences(&chosen, &operands)? else {
            return Err(error(span, "these arguments do not fit"));
        };
        match &chosen.target {
            Target::Builtin(intrinsic, returns) => {
                let arguments = self.convert_all(&chosen, operands, &sequences, span)?;
                let returns = returns.clone();
                self.intrinsic_call(intrinsic, returns, arguments, span)
            }
            Target::User { decl, instance } => {
                let (decl, instance) = (*decl, instance.clone());
                let mut arguments = self.convert_all(&chosen, operands, &sequences, span)?;
                let member = self.decls.get(decl).and_then(|one| one.member);
                let has_object = member.is_some_and(|one| !one.is_constructor);
                if chosen.skips_object && !arguments.is_empty() {
                    arguments.remove(0);
                }
                let given = arguments.len();
                let first = given - usize::from(has_object && !chosen.skips_object).min(given);
                let defaults = self.default_arguments(decl, instance.as_deref(), first, span)?;
                arguments.extend(defaults);
                let function = self.function_of(decl, instance.as_deref(), span)?;
                self.make_call(function, arguments, span)
            }
        }
    }

    fn convert_all(
        &mut self,
        chosen: &Candidate,
        operands: Vec<Operand>,
        sequences: &[Sequence],
        span: Span,
    ) -> Result<Vec<Expr>> {
        let mut arguments = Vec::new();
        for (position, operand) in operands.into_iter().enumerate() {
            let at = operand.span();
            let at = if at == Span::default() { span } else { at };
            let argument = match (chosen.parameters.get(position), sequences.get(position)) {
                (Some(_), _) if position == 0 && chosen.skips_object => operand.expr,
                (Some(parameter), Some(sequence)) => {
                    if let Type::Record(record) = parameter.ty {
                        self.check_usable(record, at)?;
                    }
                    self.apply(operand, parameter, sequence, at)?
                }
                _ => {
                    let last = Sequence::of(super::convert::Rank::Ellipsis);
                    self.apply(operand, &QType::plain(Type::Void), &last, at)?
                }
            };
            arguments.push(argument);
        }
        Ok(arguments)
    }

    /// Default arguments for the parameters from `first` on, read in the scope of their declaration.
    fn default_arguments(
        &mut self,
        decl: DeclId,
        instance: Option<&super::deduce::Instance>,
        first: usize,
        span: Span,
    ) -> Result<Vec<Expr>> {
        let Some(one) = self.decls.get(decl) else { return Ok(Vec::new()) };
        let (scope, order, defaults) = (one.scope, one.order, one.defaults.clone());
        let Some(signature) = self.signature_of(decl, instance) else { return Ok(Vec::new()) };
        let scope = instance.map_or(scope, |one| one.scope);
        let mut made = Vec::new();
        for (position, parameter) in signature.parameters.iter().enumerate().skip(first) {
            let Some(Some(default)) = defaults.get(position).copied() else {
                return Err(error(span, "an argument is missing here"));
            };
            // Names of the caller are invisible in it.
            let saved = self.body.this.take();
            let result = self.at_place(scope, order, |one| {
                let operand = one.operand(default)?;
                one.implicit(operand, parameter, default.span)
            });
            self.body.this = saved;
            made.push(result?);
        }
        Ok(made)
    }

    /// A call of a function of the tree.
    pub(super) fn make_call(
        &mut self,
        function: FunctionId,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Result<Operand> {
        let returns = self.result_of(function, span)?;
        if let Type::Record(record) = returns.ty {
            self.check_usable(record, span)?;
        }
        self.remember_call(function);
        let category = match returns.is_reference() {
            true => Category::Place,
            false => Category::Value,
        };
        let kind = ExprKind::Call(function, arguments);
        let made = Expr { kind, ty: returns.ty.clone(), category, span };
        let refers = returns.is_reference();
        Ok(Operand {
            is_const: returns.is_const && refers,
            is_volatile: returns.is_volatile && refers,
            is_xvalue: returns.reference == Reference::Rvalue,
            ..Operand::new(made)
        })
    }

    pub(super) fn static_member(
        &mut self,
        entity: Entity,
        word: &str,
        span: Span,
    ) -> Result<Operand> {
        self.entity_operand(entity, word, span)
    }
}
