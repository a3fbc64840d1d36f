//! Overload resolution (\[over.match\]).
//!
//! CUDA's functions are ordinary overloads of the global namespace with the signatures of its headers.

use super::analyser::Analyser;
use super::convert::{Rank, Sequence};
use super::declarations::Signature;
use super::deduce::Instance;
use super::operand::Operand;
use super::scope::{DeclId, Entity, ScopeKind};
use super::types::{QType, Reference};
use crate::intrinsics::Intrinsic;
use crate::syntax::ast::TemplateArgument;
use crate::tree::Type;
use crate::{Result, error, unsupported};
use base::Span;

/// The function that a candidate calls.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    User { decl: DeclId, instance: Option<Box<Instance>> },
    Builtin(&'static Intrinsic, Type),
}

/// A candidate function.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub target: Target,
    /// Parameters; the object comes first for members.
    pub parameters: Vec<QType>,
    /// The minimum number of arguments.
    pub required: usize,
    pub is_variadic: bool,
    /// A static member takes an object and ignores it.
    pub skips_object: bool,
}

impl<'a> Analyser<'a> {
    /// A declared function as a candidate; templates are deduced. For members the first operand is the object.
    pub(super) fn candidate(
        &mut self,
        decl: DeclId,
        explicit: &'a [TemplateArgument],
        operands: &[Operand],
    ) -> Result<Option<Candidate>> {
        let Some(one) = self.decls.get(decl) else { return Ok(None) };
        let member = one.member.filter(|one| !one.is_constructor);
        let (is_template, is_deleted) = (one.signature.is_none(), one.ast.is_deleted);
        let needed = one.defaults.iter().take_while(|default| default.is_none()).count();
        let arguments = operands.get(usize::from(member.is_some())..).unwrap_or_default();
        if !is_template && !explicit.is_empty() {
            return Ok(None);
        }
        let (signature, instance) = if is_template {
            match self.deduce_call(decl, explicit, arguments)? {
                Some(instance) => (instance.signature.clone(), Some(Box::new(instance))),
                None => return Ok(None),
            }
        } else {
            match self.decls.get(decl).and_then(|one| one.signature.clone()) {
                Some(Ok(signature)) => (signature, None),
                Some(Err(why)) => return Err(why),
                None => return Ok(None),
            }
        };
        if is_deleted {
            return Err(unsupported(
                operands.first().map_or(Span::default(), Operand::span),
                "deleted functions are not supported",
            ));
        }
        let mut parameters = Vec::new();
        if let Some(member) = member {
            parameters.push(QType {
                ty: Type::Record(member.record),
                is_const: member.is_const,
                is_volatile: false,
                reference: Reference::Lvalue,
            });
        }
        let object = parameters.len();
        parameters.extend(signature.parameters.iter().cloned());
        Ok(Some(Candidate {
            target: Target::User { decl, instance },
            parameters,
            required: needed + object,
            is_variadic: signature.is_variadic,
            skips_object: member.is_some_and(|one| one.is_static),
        }))
    }

    /// Conversion sequences of all arguments; `None` if the candidate is not viable.
    pub(super) fn sequences(
        &mut self,
        candidate: &Candidate,
        operands: &[Operand],
    ) -> Result<Option<Vec<Sequence>>> {
        self.sequences_within(candidate, operands, true)
    }

    pub(super) fn sequences_within(
        &mut self,
        candidate: &Candidate,
        operands: &[Operand],
        allow_user: bool,
    ) -> Result<Option<Vec<Sequence>>> {
        let count = operands.len();
        let fits = count >= candidate.required
            && (count <= candidate.parameters.len() || candidate.is_variadic);
        if !fits {
            return Ok(None);
        }
        let mut found = Vec::new();
        for (position, operand) in operands.iter().enumerate() {
            let sequence = match candidate.parameters.get(position) {
                Some(_) if position == 0 && candidate.skips_object => {
                    Some(Sequence::of(Rank::Exact))
                }
                // The object of a member may be a temporary ([over.match.funcs]/5.1).
                Some(parameter) if position == 0 && self.has_object(candidate) => {
                    let object = Operand {
                        expr: crate::tree::Expr {
                            category: crate::tree::Category::Place,
                            ..operand.expr.clone()
                        },
                        is_xvalue: false,
                        ..operand.clone()
                    };
                    self.sequence(&object, parameter, false)?
                }
                Some(parameter) => self.sequence(operand, parameter, allow_user)?,
                None => Some(Sequence::of(Rank::Ellipsis)),
            };
            match sequence {
                Some(sequence) => found.push(sequence),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    fn has_object(&self, candidate: &Candidate) -> bool {
        match &candidate.target {
            Target::User { decl, .. } => self
                .decls
                .get(*decl)
                .and_then(|one| one.member)
                .is_some_and(|one| !one.is_constructor),
            Target::Builtin(..) => false,
        }
    }

    /// The best viable candidate (\[over.match.best\]).
    pub(super) fn choose(
        &mut self,
        candidates: &[Candidate],
        operands: &[Operand],
        name: &str,
        span: Span,
    ) -> Result<Candidate> {
        let mut viable: Vec<(usize, Vec<Sequence>)> = Vec::new();
        for (position, candidate) in candidates.iter().enumerate() {
            if let Some(sequences) = self.sequences(candidate, operands)? {
                viable.push((position, sequences));
            }
        }
        if viable.is_empty() {
            let types: Vec<String> =
                operands.iter().map(|operand| self.type_name(&operand.expr.ty)).collect();
            let message = format!("no `{name}` takes ({})", types.join(", "));
            return Err(error(span, message));
        }
        let best = viable.iter().position(|one| {
            viable.iter().all(|other| {
                one.0 == other.0
                    || candidates.get(one.0).zip(candidates.get(other.0)).is_some_and(
                        |(first, second)| self.is_better((first, &one.1), (second, &other.1)),
                    )
            })
        });
        let chosen = best.and_then(|best| viable.get(best)).and_then(|one| candidates.get(one.0));
        match chosen {
            Some(candidate) => Ok(candidate.clone()),
            None => Err(error(span, format!("several functions `{name}` fit equally well"))),
        }
    }

    fn is_better(
        &self,
        (one, sequences): (&Candidate, &[Sequence]),
        (other, others): (&Candidate, &[Sequence]),
    ) -> bool {
        let mut better = false;
        for (mine, theirs) in sequences.iter().zip(others) {
            if theirs.is_better(mine) {
                return false;
            }
            better |= mine.is_better(theirs);
        }
        if better {
            return true;
        }
        match (&one.target, &other.target) {
            (Target::User { instance: None, .. }, Target::User { instance: Some(_), .. })
            | (Target::Builtin(..), Target::User { instance: Some(_), .. }) => true,
            (
                Target::User { decl: first, instance: Some(_) },
                Target::User { decl: second, instance: Some(_) },
            ) => self.is_more_specialised(*first, *second, sequences.len()),
            _ => false,
        }
    }

    /// Functions in the namespaces of the arguments' types (\[basic.lookup.argdep\]).
    pub(super) fn argument_dependent(
        &mut self,
        name: &str,
        operands: &[Operand],
    ) -> Result<Vec<DeclId>> {
        // In a template, functions declared before its instantiation count ([temp.dep.candidate]). If the meaning of
        // a text depends on that place, it is ill-formed; so all functions are taken.
        let limit = if self.is_in_template() { u32::MAX } else { self.limit };
        let scope = self.scope;
        self.at_place(scope, limit, |one| one.functions_of_arguments(name, operands))
    }

    fn functions_of_arguments(&self, name: &str, operands: &[Operand]) -> Result<Vec<DeclId>> {
        let mut found = Vec::new();
        for operand in operands {
            let mut scopes = Vec::new();
            self.associated_scopes(&operand.expr.ty, 0, &mut scopes);
            for scope in scopes {
                let mut at = Some(scope);
                while let Some(here) = at {
                    let Some(one) = self.scopes.get(here) else { break };
                    // Names of an inline namespace are names of the one around it.
                    let outer = one.parent.and_then(|outer| self.scopes.get(outer));
                    let is_inline = outer.is_some_and(|outer| outer.transparent.contains(&here));
                    if one.kind == ScopeKind::Namespace && !is_inline {
                        for entity in self.names_in(here, name) {
                            match entity {
                                Entity::Function(decl) if !found.contains(&decl) => {
                                    found.push(decl);
                                }
                                Entity::Refused(why) => {
                                    return Err(unsupported(operand.span(), why));
                                }
                                _ => {}
                            }
                        }
                        break;
                    }
                    at = one.parent;
                }
            }
        }
        Ok(found)
    }

    /// Scopes associated with a type (\[basic.lookup.argdep\]/2): those of its class, of bases and of template
    /// arguments.
    fn associated_scopes(&self, ty: &Type, depth: u32, scopes: &mut Vec<super::scope::ScopeId>) {
        if depth > 16 {
            return;
        }
        match ty {
            Type::Pointer(to) => self.associated_scopes(&to.ty, depth + 1, scopes),
            Type::Array(element, _) => self.associated_scopes(element, depth + 1, scopes),
            Type::Record(record) => {
                scopes.extend(self.class_scope(*record));
                for (base, _) in self.bases(*record) {
                    self.associated_scopes(&Type::Record(base), depth + 1, scopes);
                }
                let instance = self.class(*record).and_then(|class| class.instance.as_ref());
                for arg in instance.into_iter().flat_map(|(_, args)| args) {
                    if let super::declarations::Arg::Type(ty) = arg {
                        self.associated_scopes(&ty.ty, depth + 1, scopes);
                    }
                }
            }
            Type::Enum(id) => {
                use base::Index as _;
                scopes.extend(self.enum_scopes.get(id.position()).copied());
            }
            _ => {}
        }
    }

    /// The signature of a candidate that is a declared function.
    pub(super) fn signature_of(
        &self,
        decl: DeclId,
        instance: Option<&Instance>,
    ) -> Option<Signature> {
        match instance {
            Some(instance) => Some(instance.signature.clone()),
            None => match &self.decls.get(decl)?.signature {
                Some(Ok(signature)) => Some(signature.clone()),
                _ => None,
            },
        }
    }
}
