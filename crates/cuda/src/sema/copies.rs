//! Copies of objects (\[class.copy\]). The tree copies scalar by scalar, as implicit copy constructors and
//! assignments do. A class with a user-provided one, in itself or in a member, is refused where it is copied.

use super::analyser::Analyser;
use super::scope::{DeclId, Entity};
use crate::tree::{RecordId, Type};
use crate::{Result, unsupported};
use base::Span;

/// The deepest nesting of classes that is examined.
const DEPTH: u32 = 32;

impl Analyser<'_> {
    /// Refuses to copy an object other than scalar by scalar.
    pub(super) fn check_copied(&self, record: RecordId, span: Span) -> Result<()> {
        match self.has_own_copy(record, DEPTH) {
            true => Err(unsupported(
                span,
                "copying an object whose class has its own copy constructor or assignment is not supported here",
            )),
            false => Ok(()),
        }
    }

    fn has_own_copy(&self, record: RecordId, depth: u32) -> bool {
        if depth == 0 {
            return true;
        }
        let copies = |decl: &DeclId| self.is_own_copy(*decl, record);
        if self.class(record).is_some_and(|class| class.constructors.iter().any(copies)) {
            return true;
        }
        let scope = self.class_scope(record).and_then(|scope| self.scopes.get(scope));
        let assignments = scope.and_then(|scope| scope.names.get("operator="));
        let assigns = |(_, entity): &(u32, Entity)| match entity {
            Entity::Function(decl) => self.is_own_copy(*decl, record),
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
            matches!(ty, Type::Record(inner) if self.has_own_copy(*inner, depth - 1))
        })
    }

    /// Does a class have an assignment from itself that is no template?
    pub(super) fn has_own_assignment(&self, record: RecordId) -> bool {
        let scope = self.class_scope(record).and_then(|scope| self.scopes.get(scope));
        let all = scope.and_then(|scope| scope.names.get("operator=")).into_iter().flatten();
        let mut decls = all.filter_map(|(_, entity)| match entity {
            Entity::Function(decl) => self.decls.get(*decl),
            _ => None,
        });
        decls.any(|one| match &one.signature {
            Some(Ok(signature)) => {
                signature.parameters.first().is_some_and(|first| first.ty == Type::Record(record))
            }
            _ => false,
        })
    }

    /// Is a constructor or assignment a user-written copy of its class? A template may be one.
    fn is_own_copy(&self, decl: DeclId, record: RecordId) -> bool {
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
