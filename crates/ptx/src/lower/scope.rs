//! Which name means what, where (manual §4.4, §5.4.6): lexical scopes for registers, variables and
//! labels.
//!
//! Inline assembly repeats the same labels and register names in nested `{ }` blocks, so inner
//! names shadow outer ones. A register gets a number when it is first used: `%r<4000000000>` costs
//! nothing.

use crate::isa::Type;
use base::Span;
use ir::{BlockId, FuncId, Reg, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// What is known about a declared register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterDecl {
    pub(crate) ty: Type,
    /// 1, or the length of a vector register.
    pub(crate) lanes: u8,
}

/// The registers behind a name: one, or the components of a vector register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    pub(crate) first: Reg,
    pub(crate) decl: RegisterDecl,
}

/// A name that stands for a table or prototype.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// `.branchtargets`
    Branch(Vec<BlockId>),
    /// `.calltargets`
    Call,
    /// `.callprototype`
    Prototype,
}

/// One `{ }`.
#[derive(Default)]
struct Scope<'a> {
    /// Registers already numbered.
    registers: FxHashMap<&'a str, Registers>,
    /// Declared one by one, with the place.
    declared: FxHashMap<&'a str, (RegisterDecl, Span)>,
    /// Declared as `prefix<count>`.
    ranges: FxHashMap<&'a str, (RegisterDecl, u64, Span)>,
    variables: FxHashMap<&'a str, (VarId, Span)>,
    labels: FxHashMap<&'a str, (BlockId, Span)>,
    tables: FxHashMap<&'a str, Table>,
}

/// The scopes of a function, innermost last.
pub(crate) struct Scopes<'a> {
    stack: Vec<Scope<'a>>,
}

/// The module's names.
#[derive(Default)]
pub(crate) struct Globals<'a> {
    pub(crate) functions: FxHashMap<&'a str, FuncId>,
    /// Functions whose body was seen.
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

    pub(crate) fn declare_register(
        &mut self,
        name: &'a str,
        decl: RegisterDecl,
        at: Span,
    ) -> Result<(), Clash> {
        match self.innermost().declared.entry(name) {
            Entry::Occupied(earlier) => Err(Clash(earlier.get().1)),
            Entry::Vacant(free) => {
                free.insert((decl, at));
                Ok(())
            }
        }
    }

    pub(crate) fn declare_range(
        &mut self,
        prefix: &'a str,
        count: u64,
        decl: RegisterDecl,
        at: Span,
    ) -> Result<(), Clash> {
        match self.innermost().ranges.entry(prefix) {
            Entry::Occupied(earlier) => Err(Clash(earlier.get().2)),
            Entry::Vacant(free) => {
                free.insert((decl, count, at));
                Ok(())
            }
        }
    }

    pub(crate) fn declare_variable(
        &mut self,
        name: &'a str,
        variable: VarId,
        at: Span,
    ) -> Result<(), Clash> {
        match self.innermost().variables.entry(name) {
            Entry::Occupied(earlier) => Err(Clash(earlier.get().1)),
            Entry::Vacant(free) => {
                free.insert((variable, at));
                Ok(())
            }
        }
    }

    pub(crate) fn declare_label(
        &mut self,
        name: &'a str,
        block: BlockId,
        at: Span,
    ) -> Result<(), Clash> {
        match self.innermost().labels.entry(name) {
            Entry::Occupied(earlier) => Err(Clash(earlier.get().1)),
            Entry::Vacant(free) => {
                free.insert((block, at));
                Ok(())
            }
        }
    }

    pub(crate) fn declare_table(&mut self, name: &'a str, table: Table) {
        self.innermost().tables.insert(name, table);
    }

    pub(crate) fn variable(&self, name: &str) -> Option<VarId> {
        self.stack.iter().rev().find_map(|scope| scope.variables.get(name)).map(|found| found.0)
    }

    pub(crate) fn label(&self, name: &str) -> Option<BlockId> {
        self.stack.iter().rev().find_map(|scope| scope.labels.get(name)).map(|found| found.0)
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.stack.iter().rev().find_map(|scope| scope.tables.get(name))
    }

    /// The registers behind `name`; `number` gives a first use its registers.
    pub(crate) fn register(
        &mut self,
        name: &'a str,
        number: impl FnOnce(RegisterDecl) -> Reg,
    ) -> Option<Registers> {
        for scope in self.stack.iter_mut().rev() {
            if let Some(found) = scope.registers.get(name) {
                return Some(*found);
            }
            if let Some(decl) = scope.find_declaration(name) {
                let registers = Registers { first: number(decl), decl };
                scope.registers.insert(name, registers);
                return Some(registers);
            }
        }
        None
    }
}

impl Scope<'_> {
    fn find_declaration(&self, name: &str) -> Option<RegisterDecl> {
        if let Some((decl, _)) = self.declared.get(name) {
            return Some(*decl);
        }
        if self.ranges.is_empty() {
            return None;
        }
        // `%r12` is in `%r<20>`, or in `%r1<3>`: try every split into prefix and number.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (1..=digits.min(20)).find_map(|length| {
            let (prefix, number) = name.split_at(name.len() - length);
            let canonical = number == "0" || !number.starts_with('0');
            let &(decl, count, _) = self.ranges.get(prefix).filter(|_| canonical)?;
            number.parse::<u64>().is_ok_and(|number| number < count).then_some(decl)
        })
    }
}
