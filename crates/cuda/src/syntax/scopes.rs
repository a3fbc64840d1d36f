//! The names that are visible while a file is parsed (\[basic.scope\], \[basic.lookup\]).
//!
//! The grammar of C++ needs to know whether a name is a type, a template or a namespace. This serves parsing alone:
//! `sema` resolves names. Scopes of namespaces and classes outlive their braces, for qualified names.

use super::builtin;
use rustc_hash::{FxHashMap, FxHashSet};

/// The kind of entity that a name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable, function or enumerator.
    Value,
    Type,
    TypeTemplate,
    FunctionTemplate,
    Namespace,
    /// A name of a namespace that is not fully known, or of a type that depends on a template.
    Unknown,
    /// An undeclared name.
    Undeclared,
}

impl Meaning {
    pub(super) fn is_type(self) -> bool {
        matches!(self, Self::Type | Self::TypeTemplate)
    }

    pub(super) fn is_template(self) -> bool {
        matches!(self, Self::TypeTemplate | Self::FunctionTemplate)
    }
}

/// The number of a scope. [`HEADERS`] and [`FILE`] are the first two.
pub(super) type ScopeId = usize;

/// The outermost scope: declarations of CUDA and its headers.
const HEADERS: ScopeId = 0;
/// The global scope of the file.
const FILE: ScopeId = 1;

/// The entry of a name: its meaning and, for a class or namespace, the scope of its members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) meaning: Meaning,
    pub(super) scope: Option<ScopeId>,
}

#[derive(Default)]
struct Scope {
    names: FxHashMap<Box<str>, Entry>,
    /// Scopes whose names are visible in this one, too: by `using namespace`, inheritance or an inline namespace.
    uses: Vec<ScopeId>,
    /// Set for a scope of the headers: it may have more names than the listed ones.
    may_have_more: bool,
}

/// The scopes of a file.
pub(super) struct Scopes {
    /// All scopes, by their numbers.
    all: Vec<Scope>,
    /// The open scopes, outermost first.
    stack: Vec<ScopeId>,
    /// Changes, for [`Scopes::undo`].
    journal: Vec<Change>,
    /// Names of member templates, of any class.
    member_templates: FxHashSet<Box<str>>,
}

/// A change that can be undone.
enum Change {
    /// A name of a scope was set; its entry before.
    Name(ScopeId, Box<str>, Option<Entry>),
    /// An element was added to `uses` of this scope.
    Use(ScopeId),
}

/// A state to which [`Scopes::undo`] returns: the lengths of the journal and of the stack.
pub(super) struct Checkpoint {
    changes: usize,
    stack: usize,
}

impl Checkpoint {
    /// Returns `true` if more scopes were open here than at the other checkpoint.
    pub(super) fn is_deeper_than(&self, other: &Self) -> bool {
        self.stack > other.stack
    }
}

impl Scopes {
    pub(super) fn new() -> Self {
        let mut scopes = Self {
            all: vec![Scope::default(), Scope::default()],
            stack: vec![HEADERS, FILE],
            journal: Vec::new(),
            member_templates: FxHashSet::default(),
        };
        scopes.add_builtin();
        scopes
    }

    /// Declares the names of CUDA and its headers. Their scope is the outermost one, so that files may declare the same
    /// names.
    fn add_builtin(&mut self) {
        self.stack = vec![HEADERS];
        for name in builtin::TYPES {
            self.declare(name, Meaning::Type);
        }
        for name in builtin::TYPE_TEMPLATES {
            self.declare(name, Meaning::TypeTemplate);
        }
        for name in builtin::FUNCTION_TEMPLATES {
            self.declare(name, Meaning::FunctionTemplate);
        }
        for (path, types, templates, functions) in builtin::NAMESPACES {
            let mut scope = HEADERS;
            for part in path.split("::") {
                scope = match self.in_scope(scope, part, 0).and_then(|entry| entry.scope) {
                    Some(found) => found,
                    None => {
                        let made = self.make(true);
                        self.put(
                            scope,
                            part,
                            Entry { meaning: Meaning::Namespace, scope: Some(made) },
                        );
                        made
                    }
                };
            }
            let groups = [
                (types, Meaning::Type),
                (templates, Meaning::TypeTemplate),
                (functions, Meaning::FunctionTemplate),
            ];
            for (names, meaning) in groups {
                for name in *names {
                    let members = meaning.is_type().then(|| self.make(true));
                    self.put(scope, name, Entry { meaning, scope: members });
                }
            }
        }
        self.stack = vec![HEADERS, FILE];
        self.journal.clear();
    }

    /// Makes a scope without opening it.
    fn make(&mut self, may_have_more: bool) -> ScopeId {
        self.all.push(Scope { may_have_more, ..Scope::default() });
        self.all.len() - 1
    }

    /// Opens a new scope.
    pub(super) fn open(&mut self) -> ScopeId {
        let made = self.make(false);
        self.stack.push(made);
        made
    }

    /// Opens an existing scope again.
    pub(super) fn reopen(&mut self, scope: ScopeId) {
        self.stack.push(scope);
    }

    /// Closes the innermost scope; the first two stay open.
    pub(super) fn close(&mut self) {
        if self.stack.len() > 2 {
            self.stack.pop();
        }
    }

    pub(super) fn current(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(FILE)
    }

    pub(super) fn mark(&self) -> Checkpoint {
        Checkpoint { changes: self.journal.len(), stack: self.stack.len() }
    }

    /// Undoes all changes since `mark`, and closes the scopes opened since.
    pub(super) fn undo(&mut self, mark: &Checkpoint) {
        self.stack.truncate(mark.stack);
        while self.journal.len() > mark.changes {
            match self.journal.pop() {
                Some(Change::Name(scope, name, before)) => {
                    let Some(scope) = self.all.get_mut(scope) else { continue };
                    match before {
                        Some(entry) => scope.names.insert(name, entry),
                        None => scope.names.remove(&name),
                    };
                }
                Some(Change::Use(scope)) => {
                    if let Some(scope) = self.all.get_mut(scope) {
                        scope.uses.pop();
                    }
                }
                None => return,
            }
        }
    }

    /// Enters a name into a scope.
    fn put(&mut self, scope: ScopeId, name: &str, entry: Entry) {
        let Some(found) = self.all.get_mut(scope) else { return };
        let before = found.names.insert(name.into(), entry);
        self.journal.push(Change::Name(scope, name.into(), before));
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &str, meaning: Meaning) {
        self.declare_entry(name, Entry { meaning, scope: None });
    }

    pub(super) fn declare_entry(&mut self, name: &str, entry: Entry) {
        let scope = self.current();
        self.put(scope, name, entry);
    }

    /// Declares a name in a scope.
    pub(super) fn declare_in(&mut self, scope: ScopeId, name: &str, entry: Entry) {
        self.put(scope, name, entry);
    }

    /// Makes an empty scope without opening it.
    pub(super) fn new_scope(&mut self) -> ScopeId {
        self.make(false)
    }

    /// Records a member that is a template.
    pub(super) fn add_member_template(&mut self, name: &str) {
        self.member_templates.insert(name.into());
    }

    pub(super) fn is_member_template(&self, name: &str) -> bool {
        self.member_templates.contains(name)
    }

    /// Makes the names of `used` visible in the innermost scope.
    pub(super) fn use_scope(&mut self, used: ScopeId) {
        let current = self.current();
        self.use_in(current, used);
    }

    /// Makes the names of `used` visible in `scope`.
    pub(super) fn use_in(&mut self, scope: ScopeId, used: ScopeId) {
        if let Some(found) = self.all.get_mut(scope) {
            found.uses.push(used);
            self.journal.push(Change::Use(scope));
        }
    }

    /// Returns the scope of a namespace that is declared here or was declared before; an unnamed one is always new.
    pub(super) fn namespace(&mut self, name: &str) -> ScopeId {
        let current = self.current();
        let declared = self.all.get(current).and_then(|scope| scope.names.get(name));
        if let Some(Entry { meaning: Meaning::Namespace, scope: Some(known) }) = declared {
            return *known;
        }
        let made = self.make(false);
        // A global namespace that the headers declare, too, such as `std`, contains their names.
        let outer = self.in_scope(HEADERS, name, 0).and_then(|entry| entry.scope);
        if let (Some(outer), true) = (outer, self.stack.len() == 2) {
            self.use_in(made, outer);
        }
        if !name.is_empty() {
            self.put(current, name, Entry { meaning: Meaning::Namespace, scope: Some(made) });
        }
        made
    }

    /// Looks up an unqualified name: in the open scopes, innermost first.
    pub(super) fn lookup(&self, name: &str) -> Entry {
        let found = self.stack.iter().rev().find_map(|scope| self.in_scope(*scope, name, 0));
        found.unwrap_or(Entry { meaning: Meaning::Undeclared, scope: None })
    }

    /// Looks up a name after `::`; `scope` is `None` if its qualifier is unknown.
    pub(super) fn lookup_in(&self, scope: Option<ScopeId>, name: &str) -> Entry {
        let unknown = Entry { meaning: Meaning::Unknown, scope: None };
        let Some(scope) = scope else { return unknown };
        let may_have_more =
            self.all.get(scope).is_none_or(|scope| scope.may_have_more || !scope.uses.is_empty());
        let other = if may_have_more { Meaning::Unknown } else { Meaning::Undeclared };
        self.in_scope(scope, name, 0).unwrap_or(Entry { meaning: other, scope: None })
    }

    /// Looks up a name with a leading `::`.
    pub(super) fn lookup_global(&self, name: &str) -> Entry {
        let found = self.in_scope(FILE, name, 0).or_else(|| self.in_scope(HEADERS, name, 0));
        found.unwrap_or(Entry { meaning: Meaning::Undeclared, scope: None })
    }

    fn in_scope(&self, scope: ScopeId, name: &str, depth: usize) -> Option<Entry> {
        let found = self.all.get(scope)?;
        let declared = found.names.get(name).copied();
        let in_used = || found.uses.iter().find_map(|used| self.in_scope(*used, name, depth + 1));
        // The limit ends the search in scopes that use each other.
        declared.or_else(|| if depth < 16 { in_used() } else { None })
    }
}
