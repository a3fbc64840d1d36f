//! Traversals of statements: visiting, rewriting, and renaming the declarations of a copy.

use crate::expr::{Access, Cond, Int, Local, Val, Var};
use crate::nest::{For, Kernel, Stmt};

/// Visits all statements, outer ones first.
pub fn visit(stmts: &[Stmt], visitor: &mut dyn FnMut(&Stmt)) {
    for stmt in stmts {
        visitor(stmt);
        match stmt {
            Stmt::If(_, yes, no) => {
                visit(yes, visitor);
                visit(no, visitor);
            }
            Stmt::For(inner) => visit(&inner.body, visitor),
            _ => {}
        }
    }
}

/// Visits all lists of statements, outer ones first, so that they may be changed.
pub fn visit_lists(stmts: &mut Vec<Stmt>, change: &mut dyn FnMut(&mut Vec<Stmt>)) {
    change(stmts);
    for stmt in stmts {
        match stmt {
            Stmt::If(_, yes, no) => {
                visit_lists(yes, change);
                visit_lists(no, change);
            }
            Stmt::For(inner) => visit_lists(&mut inner.body, change),
            _ => {}
        }
    }
}

/// Replaces one statement, counted in the order of [`visit`].
pub fn replace(
    stmts: Vec<Stmt>,
    number: usize,
    change: &mut dyn FnMut(Stmt) -> Vec<Stmt>,
) -> Vec<Stmt> {
    replace_from(stmts, &mut Some(number), change)
}

/// Like [`replace`]; `left` counts the statements before the one to replace, and is `None` once it is replaced.
fn replace_from(
    stmts: Vec<Stmt>,
    left: &mut Option<usize>,
    change: &mut dyn FnMut(Stmt) -> Vec<Stmt>,
) -> Vec<Stmt> {
    let mut changed = Vec::new();
    for mut stmt in stmts {
        if *left == Some(0) {
            *left = None;
            changed.extend(change(stmt));
            continue;
        }
        *left = left.map(|left| left - 1);
        match &mut stmt {
            Stmt::If(_, yes, no) => {
                *yes = replace_from(std::mem::take(yes), left, change);
                *no = replace_from(std::mem::take(no), left, change);
            }
            Stmt::For(inner) => {
                inner.body = replace_from(std::mem::take(&mut inner.body), left, change);
            }
            _ => {}
        }
        changed.push(stmt);
    }
    changed
}

/// Returns `true` if some statement satisfies the test.
pub fn any(stmts: &[Stmt], test: impl Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    visit(stmts, &mut |stmt| found |= test(stmt));
    found
}

/// Returns `true` if there is a barrier.
#[must_use]
pub fn has_barrier(stmts: &[Stmt]) -> bool {
    any(stmts, |stmt| *stmt == Stmt::Barrier)
}

/// Rewrites the parts of statements; each method has a default that keeps the part.
pub trait Rewrite {
    /// Rewrites an integer expression.
    fn int(&mut self, int: &Int) -> Int {
        int.clone()
    }

    /// Rewrites a condition.
    fn cond(&mut self, cond: &Cond) -> Cond {
        cond.clone()
    }

    /// Rewrites a value.
    fn val(&mut self, val: &Val) -> Val {
        val.clone()
    }

    /// Rewrites an element that is stored to.
    fn target(&mut self, access: &Access) -> Access {
        access.clone()
    }
}

/// Rebuilds statements with rewritten parts.
pub fn rewrite(stmts: &[Stmt], by: &mut dyn Rewrite) -> Vec<Stmt> {
    stmts.iter().map(|stmt| rewrite_one(stmt, by)).collect()
}

fn rewrite_one(stmt: &Stmt, by: &mut dyn Rewrite) -> Stmt {
    match stmt {
        Stmt::Int(var, int) => Stmt::Int(*var, by.int(int)),
        Stmt::Assign(var, int) => Stmt::Assign(*var, by.int(int)),
        Stmt::Float(local, val) => Stmt::Float(*local, by.val(val)),
        Stmt::Set(local, val) => Stmt::Set(*local, by.val(val)),
        Stmt::Combine(local, op, val) => Stmt::Combine(*local, *op, by.val(val)),
        Stmt::Store(access, val) => {
            let access = by.target(access);
            Stmt::Store(access, by.val(val))
        }
        Stmt::If(cond, yes, no) => {
            let cond = by.cond(cond);
            Stmt::If(cond, rewrite(yes, by), rewrite(no, by))
        }
        Stmt::For(inner) => {
            let from = inner.from.as_ref().map(|from| by.int(from));
            let (test, next) = (by.cond(&inner.test), by.int(&inner.next));
            let body = rewrite(&inner.body, by);
            For { from, test, next, body, ..(**inner).clone() }.into()
        }
        Stmt::Barrier => Stmt::Barrier,
        Stmt::Return => Stmt::Return,
    }
}

/// Rewrites integer expressions with a function; `None` keeps an expression.
pub struct MapInts<'a>(pub &'a mut dyn FnMut(&Int) -> Option<Int>);

impl Rewrite for MapInts<'_> {
    fn int(&mut self, int: &Int) -> Int {
        int.map(self.0)
    }

    fn cond(&mut self, cond: &Cond) -> Cond {
        cond.map(self.0)
    }

    fn val(&mut self, val: &Val) -> Val {
        val.map_ints(self.0)
    }

    fn target(&mut self, access: &Access) -> Access {
        access.map(self.0)
    }
}

/// Replaces loads of one element.
pub struct ReplaceLoads<'a> {
    /// The element.
    pub access: &'a Access,
    /// Its replacement.
    pub by: Val,
}

impl Rewrite for ReplaceLoads<'_> {
    fn val(&mut self, val: &Val) -> Val {
        val.map(&mut |part| match part {
            Val::Load(access) if access == self.access => Some(self.by.clone()),
            _ => None,
        })
    }
}

/// Replaces an integer variable where it is read.
#[must_use]
pub fn substitute_var(stmts: &[Stmt], var: Var, by: &Int) -> Vec<Stmt> {
    rewrite(stmts, &mut MapInts(&mut |int| (*int == Int::Var(var)).then(|| by.clone())))
}

/// Replaces the first local value by the second where it is read.
struct ReplaceLocal(Local, Local);

impl Rewrite for ReplaceLocal {
    fn val(&mut self, val: &Val) -> Val {
        val.substitute_local(self.0, self.1)
    }
}

/// Replaces a local value where it is read and where it is assigned.
#[must_use]
pub fn substitute_local(stmts: &[Stmt], local: Local, by: Local) -> Vec<Stmt> {
    let mut changed = rewrite(stmts, &mut ReplaceLocal(local, by));
    visit_lists(&mut changed, &mut |list| {
        for stmt in list {
            if let Stmt::Float(found, _) | Stmt::Set(found, _) | Stmt::Combine(found, _, _) = stmt
                && *found == local
            {
                *found = by;
            }
        }
    });
    changed
}

/// Copies statements and gives new names to their declarations.
#[must_use]
pub fn copy(stmts: &[Stmt], kernel: &mut Kernel) -> Vec<Stmt> {
    let (mut vars, mut locals) = (Vec::new(), Vec::new());
    visit(stmts, &mut |stmt| match stmt {
        Stmt::Int(var, _) => vars.push(*var),
        // Without a start value, the variable is declared before the loop.
        Stmt::For(inner) if inner.from.is_some() => vars.push(inner.var),
        Stmt::Float(local, _) => locals.push(*local),
        _ => {}
    });
    let mut copied = stmts.to_vec();
    for var in vars {
        let name = stem(kernel.vars.name(var)).to_string();
        let new = kernel.int(&name);
        copied = substitute_var(&copied, var, &Int::Var(new));
        visit_lists(&mut copied, &mut |list| rename(list, var, new));
    }
    for local in locals {
        let name = stem(&kernel.locals[local.0]).to_string();
        let new = kernel.local(&name);
        copied = substitute_local(&copied, local, new);
    }
    copied
}

fn rename(list: &mut [Stmt], var: Var, new: Var) {
    for stmt in list {
        match stmt {
            Stmt::Int(found, _) | Stmt::Assign(found, _) if *found == var => *found = new,
            Stmt::For(inner) if inner.var == var => inner.var = new,
            _ => {}
        }
    }
}

/// Returns the name without the number at its end.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

/// Visits all integer expressions of statements.
pub fn visit_ints(stmts: &[Stmt], visitor: &mut dyn FnMut(&Int)) {
    visit(stmts, &mut |stmt| match stmt {
        Stmt::Int(_, int) | Stmt::Assign(_, int) => int.visit(visitor),
        Stmt::Float(_, val) | Stmt::Set(_, val) | Stmt::Combine(_, _, val) => {
            val.visit_ints(visitor)
        }
        Stmt::Store(access, val) => {
            access.coords.iter().for_each(|coord| coord.visit(visitor));
            val.visit_ints(visitor);
        }
        Stmt::If(cond, _, _) => cond.visit(visitor),
        Stmt::For(inner) => {
            inner.from.iter().for_each(|from| from.visit(visitor));
            inner.test.visit(visitor);
            inner.next.visit(visitor);
        }
        Stmt::Barrier | Stmt::Return => {}
    });
}

/// Visits all values of statements.
pub fn visit_vals(stmts: &[Stmt], visitor: &mut dyn FnMut(&Val)) {
    visit(stmts, &mut |stmt| {
        if let Stmt::Float(_, val)
        | Stmt::Set(_, val)
        | Stmt::Combine(_, _, val)
        | Stmt::Store(_, val) = stmt
        {
            val.visit(visitor);
        }
    });
}
