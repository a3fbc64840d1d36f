//! Declares names and looks them up (\[basic.lookup\]).

use super::analyser::Analyser;
use super::scope::{Entity, Scope, ScopeId, ScopeKind};
use crate::syntax::ast;
use crate::{Result, error, unsupported};
use base::{Index, Span};
use rustc_hash::FxHashMap;

impl<'a> Analyser<'a> {
    pub(super) fn new_scope(&mut self, parent: Option<ScopeId>, kind: ScopeKind) -> ScopeId {
        self.scopes.push(Scope {
            parent,
            kind,
            name: "".into(),
            names: FxHashMap::default(),
            directives: Vec::new(),
            transparent: Vec::new(),
        })
    }

    /// The named namespaces around a scope, each followed by `::`. Unnamed ones are omitted.
    pub(super) fn namespace(&self, scope: ScopeId) -> String {
        let mut names = Vec::new();
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|at| self.scopes.get(at)) {
            if scope.kind == ScopeKind::Namespace && !scope.name.is_empty() {
                names.push(&*scope.name);
            }
            at = scope.parent;
        }
        names.iter().rev().map(|name| format!("{name}::")).collect()
    }

    /// Declares a name in a scope.
    pub(super) fn enter(&mut self, scope: ScopeId, name: &str, entity: Entity) {
        let order = self.order;
        if name.is_empty() {
            return;
        }
        let names = &mut self.scopes[scope].names;
        match names.get_mut(name) {
            Some(known) => known.push((order, entity)),
            None => {
                names.insert(name.into(), vec![(order, entity)]);
            }
        }
    }

    /// Declares a name of a block; it must be new (\[basic.scope.block\]).
    pub(super) fn enter_local(&mut self, name: &ast::Name, entity: Entity) -> Result<()> {
        let scope = self.scope;
        if !name.text.is_empty() && self.scopes[scope].names.contains_key(&name.text) {
            return Err(error(name.span, format!("`{}` is declared twice here", name.text)));
        }
        self.enter(scope, &name.text, entity);
        Ok(())
    }

    /// Runs `inner` in a scope of its own.
    pub(super) fn in_scope<T>(
        &mut self,
        kind: ScopeKind,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.scope;
        self.scope = self.new_scope(Some(outer), kind);
        let result = inner(self);
        self.scope = outer;
        result
    }

    /// The entities of a name in this scope alone, including transparent namespaces. Class scopes include bases.
    pub(super) fn names_in(&self, scope: ScopeId, name: &str) -> Vec<Entity> {
        let mut found = self.names_within(scope, name, 0);
        // An unread one may be the intended one.
        if let Some(refused) = found.iter().find(|one| matches!(one, Entity::Refused(_))) {
            return vec![refused.clone()];
        }
        let is_host = |entity: &Entity| matches!(entity, Entity::Host(_));
        match found.first() {
            Some(Entity::Host(why)) if found.iter().all(is_host) => {
                vec![Entity::Refused(why.clone())]
            }
            _ => {
                found.retain(|one| !is_host(one));
                found
            }
        }
    }

    fn names_within(&self, scope: ScopeId, name: &str, depth: u32) -> Vec<Entity> {
        let mut found = Vec::new();
        let (Some(here), true) = (self.scopes.get(scope), depth < 32) else { return found };
        let ordered = here.kind == ScopeKind::Namespace;
        for (order, entity) in here.names.get(name).into_iter().flatten() {
            if !ordered || *order <= self.limit {
                found.push(entity.clone());
            }
        }
        for inner in &here.transparent {
            found.extend(self.names_within(*inner, name, depth + 1));
        }
        if let ScopeKind::Class(record) = here.kind
            && found.is_empty()
        {
            for (base, _) in self.bases(record) {
                if let Some(scope) = self.class_scope(base) {
                    found.extend(self.names_within(scope, name, depth + 1));
                }
            }
        }
        found
    }

    /// Unqualified lookup (\[basic.lookup.unqual\]): the innermost scope with the name, and its entities.
    pub(super) fn lookup(&self, name: &str) -> (Option<ScopeId>, Vec<Entity>) {
        self.lookup_where(name, |_| true)
    }

    /// Like [`Self::lookup`], skipping entities that do not fit.
    pub(super) fn lookup_where(
        &self,
        name: &str,
        fits: impl Fn(&Entity) -> bool,
    ) -> (Option<ScopeId>, Vec<Entity>) {
        let mut at = Some(self.scope);
        // Directives found so far: the namespace, and the scope in which its names appear ([namespace.udir]/2).
        let mut seen: Vec<(ScopeId, ScopeId)> = Vec::new();
        while let Some(scope) = at {
            let Some(here) = self.scopes.get(scope) else { break };
            for (order, nominated) in &here.directives {
                let ordered = here.kind == ScopeKind::Namespace;
                if !ordered || *order <= self.limit {
                    seen.push((*nominated, self.common_ancestor(scope, *nominated)));
                }
            }
            let mut found = self.names_in(scope, name);
            if let ScopeKind::Class(record) = here.kind
                && !here.names.contains_key(name)
                && !found.is_empty()
                && self.class(record).is_some_and(|one| one.has_dependent_base)
                && self.is_in_template()
            {
                let why = "names of a base that depends on template parameters need `this->`";
                found = vec![Entity::Refused(why.into())];
            }
            for (nominated, appears) in seen.clone() {
                if appears == scope {
                    found.extend(self.names_in(nominated, name));
                }
            }
            found.retain(&fits);
            if !found.is_empty() {
                return (Some(scope), found);
            }
            at = here.parent;
        }
        let mut found =
            self.headers.map(|headers| self.names_in(headers, name)).unwrap_or_default();
        found.retain(&fits);
        match found.is_empty() {
            true => (None, found),
            false => (Some(self.global), found),
        }
    }

    /// Returns `true` if the current place is inside of a template instance.
    pub(super) fn is_in_template(&self) -> bool {
        let mut at = Some(self.scope);
        while let Some(scope) = at.and_then(|one| self.scopes.get(one)) {
            if scope.kind == ScopeKind::Template {
                return true;
            }
            at = scope.parent;
        }
        false
    }

    fn common_ancestor(&self, one: ScopeId, other: ScopeId) -> ScopeId {
        let mut above = Vec::new();
        let mut at = Some(other);
        while let Some(scope) = at {
            above.push(scope);
            at = self.scopes.get(scope).and_then(|one| one.parent);
        }
        let mut at = Some(one);
        while let Some(scope) = at {
            let here = self.scopes.get(scope);
            let is_namespace = here.is_some_and(|one| one.kind == ScopeKind::Namespace);
            if is_namespace && above.contains(&scope) {
                return scope;
            }
            at = here.and_then(|one| one.parent);
        }
        self.global
    }

    /// The scope that all parts but the last of a qualified name denote.
    pub(super) fn qualifier(&mut self, name: &'a ast::QualifiedName) -> Result<Option<ScopeId>> {
        let (_, before) = match name.parts.split_last() {
            Some(parts) => parts,
            None => return Ok(None),
        };
        let mut at = name.is_global.then_some(self.global);
        for part in before {
            at = Some(self.scope_part(at, part)?);
        }
        Ok(at)
    }

    fn scope_part(&mut self, within: Option<ScopeId>, part: &'a ast::NamePart) -> Result<ScopeId> {
        let word: &str = &part.name.text;
        let names_scope = |entity: &Entity| {
            matches!(
                entity,
                Entity::Namespace(_) | Entity::Type(_) | Entity::Template(_) | Entity::Refused(_)
            )
        };
        let found = match within {
            Some(scope) => {
                self.names_in(scope, word).into_iter().filter(|one| names_scope(one)).collect()
            }
            None => self.lookup_where(word, names_scope).1,
        };
        match found.first() {
            Some(Entity::Namespace(scope)) => Ok(*scope),
            Some(Entity::Refused(why)) => Err(unsupported(part.name.span, why.as_ref())),
            Some(_) => {
                let ty = self.type_of_part(within, part)?;
                self.scope_of_type(&ty.ty, part.name.span)
            }
            None => {
                let message = format!("the namespace or class `{word}` is not declared");
                Err(unsupported(part.name.span, message))
            }
        }
    }

    fn scope_of_type(&self, ty: &crate::tree::Type, span: Span) -> Result<ScopeId> {
        let scope = match ty {
            crate::tree::Type::Record(id) => self.class_scope(*id),
            crate::tree::Type::Enum(id) => self.enum_scopes.get(id.position()).copied(),
            _ => None,
        };
        scope.ok_or_else(|| error(span, "this type has no members"))
    }

    /// The entities of a qualified or plain name, without builtins.
    pub(super) fn find(&mut self, name: &'a ast::QualifiedName) -> Result<Vec<Entity>> {
        let Some(last) = name.parts.last() else { return Ok(Vec::new()) };
        let within = self.qualifier(name)?;
        Ok(match within {
            Some(scope) => self.names_in(scope, &last.name.text),
            None => self.lookup(&last.name.text).1,
        })
    }
}
