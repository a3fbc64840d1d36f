//! Enumerations (\[dcl.enum\]).

use super::analyser::Analyser;
use super::scope::{Entity, ScopeKind};
use super::types::QType;
use crate::syntax::ast;
use crate::tree::{Enumeration, IntKind, Type};
use crate::{Result, error, unsupported};

impl<'a> Analyser<'a> {
    /// Declares an enumeration. Enumerators have its type. Without a fixed underlying type it is the first of `int`,
    /// `unsigned`, `long`, `unsigned long` that holds all values: the type it is promoted to (\[conv.prom\]/3), and
    /// so the type in arithmetic. The compiler's own choice differs only in signedness (\[dcl.enum\]/7 leaves it
    /// open).
    pub(super) fn declare_enum(&mut self, one: &'a ast::Enumeration) -> Result<Type> {
        let fixed = match &one.underlying {
            Some(syntax) => match self.resolve_type(syntax)?.ty {
                Type::Int(kind) => Some(kind),
                _ => return Err(unsupported(syntax.span, "this underlying type is not supported")),
            },
            None if one.is_scoped => Some(IntKind::Int),
            None => None,
        };
        let id = self.program.enums.push(Enumeration {
            name: one.name.text.to_string(),
            underlying: fixed.unwrap_or(IntKind::Int),
            is_scoped: one.is_scoped,
        });
        let scope = self.new_scope(Some(self.scope), ScopeKind::Enum);
        self.enum_scopes.push(scope);
        self.enter(self.scope, &one.name.text, Entity::Type(QType::plain(Type::Enum(id))));
        let outer = self.scope;
        let (mut next, mut least, mut greatest) = (0_i128, 0_i128, 0_i128);
        for (name, value) in &one.values {
            if let Some(value) = value {
                // Earlier enumerators are visible; inside of the braces they have the type of their values.
                self.scope = scope;
                let constant = self.required_constant(value);
                self.scope = outer;
                next = constant?;
            }
            if let Some(kind) = fixed
                && kind.wrap(next) != next
            {
                return Err(error(name.span, "this value does not fit the underlying type"));
            }
            (least, greatest) = (least.min(next), greatest.max(next));
            self.enter(scope, &name.text, Entity::Enumerator(id, next));
            if !one.is_scoped {
                self.enter(outer, &name.text, Entity::Enumerator(id, next));
            }
            next += 1;
        }
        if fixed.is_none() {
            let kinds = [IntKind::Int, IntKind::UnsignedInt, IntKind::Long, IntKind::UnsignedLong];
            let fits = |kind: &IntKind| kind.range().0 <= least && greatest <= kind.range().1;
            let Some(kind) = kinds.into_iter().find(fits) else {
                return Err(error(one.name.span, "no integer type holds these values"));
            };
            self.program.enums[id].underlying = kind;
        }
        Ok(Type::Enum(id))
    }
}
