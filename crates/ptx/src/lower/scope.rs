//! Name lookup (manual §4.4, §5.4.6): lexical scopes for registers, variables and labels.
//!
//! Inline assembly repeats the same labels and register names in nested `{ }` blocks, so inner names shadow outer
//! ones. A register gets a number when it is first used: `%r<4000000000>` costs nothing.

use crate::isa::Type;
use base::Span;
use ir::{BlockId, FuncId, Reg, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// The declaration of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterDecl {
    pub(crate) ty: Type,
    /// 1, or the length of a vector register.
    pub(crate) components: u8,
}

/// The registers of a name: one, or the components of a vector register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    pub(crate) first: Reg,
    pub(crate) decl: RegisterDecl,
}

/// The table or prototype that a name denotes.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// `.branchtargets`
    Branch(Vec<BlockId>),
    /// `.calltargets`
    Call,
    /// `.callprototype`
    Prototype,
}

/// The entity that a name of a function denotes.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// A register that has not been used yet.
    Declared(RegisterDecl),
    /// A register with its number.
    Registers(Registers),
    Variable(VarId),
    Label(BlockId),
    Table(Table),
}

/// The names declared in one `{ }`. Registers, variables, labels and tables share a namespace.
#[derive(Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, (Entity, Span)>,
    /// Registers declared as `prefix<count>`.
    ranges: FxHashMap<&'a str, (RegisterDecl, u64, Span)>,
    /// For names that end in a number: the lowest number for each prefix, and its place. A range with that prefix and
    /// a higher count would declare the name again.
    numbered: FxHashMap<&'a str, (u64, Span)>,
}

/// The scopes of a function, innermost last.
pub(crate) struct Scopes<'a> {
    stack: Vec<Scope<'a>>,
}

/// The module's names.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    pub(crate) functions: FxHashMap<&'a str, FuncId>,
    /// Functions whose bodies have been seen.
    pub(crate) defined: FxHashSet<FuncId>,
    pub(crate) variables: FxHashMap<&'a str, VarId>,
}

/// The place of an earlier declaration of the same name in the same scope.
pub(crate) struct Clash(pub(crate) Span);

impl<'a> Scopes<'a> {
    pub(crate) fn new() -> Self {
        Self { stack: vec![Scope::default()] }
    }

    pub(crate) fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    pub(crate) fn leave(&mut self) {
        self.stack.pop();
    }

    fn innermost(&mut self) -> &mut Scope<'a> {
        if self.stack.is_empty() {
            self.stack.push(Scope::default());
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: &'a str, entity: Entity, at: Span) -> Result<(), Clash> {
        let scope = self.innermost();
        if let Some((.., earlier)) = scope.range_with(name) {
            return Err(Clash(earlier));
        }
        match scope.names.entry(name) {
            Entry::Occupied(earlier) => Err(Clash(earlier.get().1)),
            Entry::Vacant(free) => {
                free.insert((entity, at));
                for (prefix, number) in splits(name) {
                    let lowest = scope.numbered.entry(prefix).or_insert((number, at));
                    *lowest = (*lowest).min((number, at));
                }
                Ok(())
            }
        }
    }

    /// Declares the registers `prefix0`, `prefix1` …
    pub(crate) fn declare_range(
        &mut self,
        prefix: &'a str,
        count: u64,
        decl: RegisterDecl,
        at: Span,
    ) -> Result<(), Clash> {
        let scope = self.innermost();
        if let Some((.., earlier)) = scope.ranges.get(prefix) {
            return Err(Clash(*earlier));
        }
        scope.ranges.insert(prefix, (decl, count, at));
        match scope.numbered.get(prefix) {
            Some(&(lowest, earlier)) if lowest < count => Err(Clash(earlier)),
            _ => Ok(()),
        }
    }

    /// Looks up a name from here; `number` gives a register its number at its first use.
    pub(crate) fn resolve(
        &mut self,
        name: &'a str,
        number: impl FnOnce(RegisterDecl) -> Reg,
    ) -> Option<&Entity> {
        let depth = self.stack.iter().rposition(|scope| {
            scope.names.contains_key(name) || scope.range_with(name).is_some()
        })?;
        let scope = &mut self.stack[depth];
        let found = match scope.names.get(name) {
            Some((Entity::Declared(decl), at)) => Some((*decl, *at)),
            Some(_) => None,
            None => scope.range_with(name).map(|(decl, _, at)| (decl, at)),
        };
        if let Some((decl, at)) = found {
            let registers = Registers { first: number(decl), decl };
            scope.names.insert(name, (Entity::Registers(registers), at));
        }
        scope.names.get(name).map(|(entity, _)| entity)
    }

    /// Returns the block of a label.
    pub(crate) fn label(&self, name: &str) -> Option<BlockId> {
        match self.find(name)? {
            Entity::Label(block) => Some(*block),
            _ => None,
        }
    }

    /// Returns the table or prototype of a name.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        match self.find(name)? {
            Entity::Table(table) => Some(table),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<&Entity> {
        self.stack.iter().rev().find_map(|scope| scope.names.get(name)).map(|found| &found.0)
    }
}

impl Scope<'_> {
    /// Returns the range that declares a name: `%r12` is in `%r<20>`, or in `%r1<3>`.
    fn range_with(&self, name: &str) -> Option<(RegisterDecl, u64, Span)> {
        if self.ranges.is_empty() {
            return None;
        }
        splits(name).find_map(|(prefix, number)| {
            self.ranges.get(prefix).filter(|range| number < range.1).copied()
        })
    }
}

/// Returns every split of a name into a prefix and a number without leading zeros.
fn splits(name: &str) -> impl Iterator<Item = (&str, u64)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (1..=digits.min(20)).filter_map(|length| {
        let (prefix, number) = name.split_at(name.len() - length);
        let canonical = number == "0" || !number.starts_with('0');
        number.parse().ok().filter(|_| canonical).map(|number| (prefix, number))
    })
}
