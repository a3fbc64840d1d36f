//! Copies of objects (\[class.copy\]).
//!
//! The tree copies scalar by scalar, as implicit copy constructors and assignments do. If a class, or the class of a
//! member, has a user-provided copy constructor or assignment, copying it is refused. Errs towards refusal: nesting
//! deeper than [`DEPTH`] and declarations without a known signature count as user-provided.

use super::analyser::Analyser;
use super::scope::{DeclId, Entity};
use crate::tree::{RecordId, Type};
use crate::{Result, unsupported};
use base::Span;

/// The deepest nesting of classes that is examined.
const DEPTH: u32 = 32;

impl Analyser<'_> {
    /// Refuses to copy an object other than scalar by scalar.
    pub(super) fn require_trivial_copy(&self, record: RecordId, span: Span) -> Result<()> {
        match self.has_user_copy(record, DEPTH) {
            true => Err(unsupported(
                span,
                "copying an object whose class has its own copy constructor or assignment is not supported here",
            )),
            false => Ok(()),
        }
    }

    /// Returns `true` if a class, or a class within `depth` levels of members, has a user-provided copy. Errs on the
    /// side of `true`.
    fn has_user_copy(&self, record: RecordId, depth: u32) -> bool {
        if depth == 0 {
            return true;
        }
        let copies = |decl: &DeclId| self.is_user_copy(*decl, record);
        if self.class(record).is_some_and(|class| class.constructors.iter().any(copies)) {
            return true;
        }
        let scope = self.class_scope(record).and_then(|scope| self.scopes.get(scope));
        let assignments = scope.and_then(|scope| scope.names.get("operator="));
        let assigns = |(_, entity): &(u32, Entity)| match entity {
            Entity::Function(decl) => self.is_user_copy(*decl, record),
            _ => true,
        };
        if assignments.is_some_and(|all| all.iter().any(assigns)) {
            return true;
        }
        let fields = self.program.records.get(record).map(|one| one.fields.iter());
        fields.into_iter().flatten().any(|field| {
            let mut ty = &field.ty;
            while let Type::Array(inner, _) = ty {
                ty = inner;
            }
            matches!(ty, Type::Record(inner) if self.has_user_copy(*inner, depth - 1))
        })
    }

    /// Returns `true` if a class has a non-template assignment from its own type.
    pub(super) fn has_own_assignment(&self, record: RecordId) -> bool {
        let scope = self.class_scope(record).and_then(|scope| self.scopes.get(scope));
        let all = scope.and_then(|scope| scope.names.get("operator=")).into_iter().flatten();
        let mut decls = all.filter_map(|(_, entity)| match entity {
            Entity::Function(decl) => self.decls.get(*decl),
            _ => None,
        });
        decls.any(|declaration| match &declaration.signature {
            Some(Ok(signature)) => {
                signature.parameters.first().is_some_and(|first| first.ty == Type::Record(record))
            }
            _ => false,
        })
    }

    /// Returns `true` if a constructor or assignment is a user-provided copy of its class. Errs on the side of `true`:
    /// a template may be instantiated as one.
    fn is_user_copy(&self, decl: DeclId, record: RecordId) -> bool {
        let Some(one) = self.decls.get(decl) else { return true };
        if one.ast.is_defaulted {
            return false;
        }
        match &one.signature {
            Some(Ok(signature)) => {
                let first = signature.parameters.first();
                first.is_some_and(|first| first.ty == Type::Record(record))
            }
            _ => true,
        }
    }
}
