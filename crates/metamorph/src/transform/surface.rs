//! Group `surface`: other notations for the same kernel.

use crate::expr::{Access, Int, IntOp, Val, ValOp};
use crate::nest::{Form, Kernel, Space, Stmt, VarKind};
use crate::walk::{self, ReplaceLoads};
use testing::Random;

type Member = (&'static str, fn(&mut Kernel, &mut Random) -> bool);

const MEMBERS: [Member; 15] = [
    ("while", while_loop),
    ("do", do_loop),
    ("statement-order", statement_order),
    ("max-helper", max_helper),
    ("shifts", shifts),
    ("choices", choices),
    ("index-helper", index_helper),
    ("unsigned", unsigned),
    ("remainder-by-quotient", remainder_by_quotient),
    ("index-temporary", index_temporary),
    ("value-temporary", value_temporary),
    ("if-for-choice", if_for_choice),
    ("redundant-guard", redundant_guard),
    ("swapped-products", swapped_products),
    ("names", names),
];

/// Applies a member drawn at random; false if it does not apply.
pub fn draw(kernel: &mut Kernel, random: &mut Random) -> bool {
    let (name, apply) = random.pick(&MEMBERS);
    if kernel.applied.iter().any(|applied| applied.name == name) {
        return false;
    }
    let applies = apply(kernel, random);
    if applies {
        kernel.note("surface", name);
    }
    applies
}

/// Draws one of the statements that satisfy a test, by its number in the order of the text.
fn pick_stmt(kernel: &Kernel, random: &mut Random, test: impl Fn(&Stmt) -> bool) -> Option<usize> {
    let mut numbers = Vec::new();
    let mut number = 0;
    walk::visit(&kernel.body, &mut |stmt| {
        if test(stmt) {
            numbers.push(number);
        }
        number += 1;
    });
    (!numbers.is_empty()).then(|| random.pick(&numbers))
}

fn replace_stmt(kernel: &mut Kernel, number: usize, change: &mut dyn FnMut(Stmt) -> Vec<Stmt>) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = walk::replace(body, number, change);
}

fn while_loop(kernel: &mut Kernel, random: &mut Random) -> bool {
    reshape_loop(kernel, random, Form::While)
}

fn do_loop(kernel: &mut Kernel, random: &mut Random) -> bool {
    reshape_loop(kernel, random, Form::Do)
}

fn reshape_loop(kernel: &mut Kernel, random: &mut Random, form: Form) -> bool {
    let is_for = |stmt: &Stmt| matches!(stmt, Stmt::For(inner) if inner.form == Form::For);
    let Some(number) = pick_stmt(kernel, random, is_for) else { return false };
    replace_stmt(kernel, number, &mut |stmt| match stmt {
        Stmt::For(mut inner) => {
            inner.form = form;
            vec![Stmt::For(inner)]
        }
        other => vec![other],
    });
    true
}

/// Returns `true` if an integer expression of the body satisfies a test; the linear indices that the printer computes
/// are not included.
fn has_int(kernel: &Kernel, test: &dyn Fn(&Int) -> bool) -> bool {
    let mut found = false;
    walk::visit_ints(&kernel.body, &mut |int| found |= test(int));
    found
}

fn shifts(kernel: &mut Kernel, _: &mut Random) -> bool {
    let is_power_product = |int: &Int| {
        matches!(int, Int::Bin(IntOp::Mul, _, factor)
            if matches!(**factor, Int::Const(number) if number > 1 && number.count_ones() == 1))
    };
    kernel.spelling.shifts = has_int(kernel, &is_power_product);
    kernel.spelling.shifts
}

fn choices(kernel: &mut Kernel, _: &mut Random) -> bool {
    let extreme = |int: &Int| matches!(int, Int::Bin(IntOp::Min | IntOp::Max, ..));
    kernel.spelling.choices = has_int(kernel, &extreme);
    kernel.spelling.choices
}

fn swapped_products(kernel: &mut Kernel, _: &mut Random) -> bool {
    kernel.spelling.swapped_products = true;
    true
}

fn index_helper(kernel: &mut Kernel, _: &mut Random) -> bool {
    let is_global = |space: Space| matches!(space, Space::Input | Space::Output);
    let applies = kernel.arrays.iter().any(|array| array.shape.len() > 1 && is_global(array.space));
    kernel.spelling.index_helper = applies;
    applies
}

/// Moves the maximum of values into a `__device__` function that compares.
fn max_helper(kernel: &mut Kernel, _: &mut Random) -> bool {
    let is_max = |op: ValOp| op == ValOp::Max;
    let mut found =
        walk::any(&kernel.body, |stmt| matches!(stmt, Stmt::Combine(_, op, _) if is_max(*op)));
    walk::visit_vals(&kernel.body, &mut |val| {
        found |= matches!(val, Val::Bin(op, ..) if is_max(*op));
    });
    kernel.spelling.max_helper = found;
    found
}

/// Swaps two independent declarations.
fn statement_order(kernel: &mut Kernel, random: &mut Random) -> bool {
    let mut changed = false;
    walk::visit_lists(&mut kernel.body, &mut |list| {
        for index in 1..list.len() {
            if let (Stmt::Int(first, left), Stmt::Int(second, right)) =
                (&list[index - 1], &list[index])
                && !left.mentions(*second)
                && !right.mentions(*first)
                && !changed
                && random.chance(60)
            {
                list.swap(index - 1, index);
                changed = true;
            }
        }
    });
    changed
}

/// Makes thread numbers and counters `unsigned`, if nothing is subtracted and no extreme mixes types.
fn unsigned(kernel: &mut Kernel, _: &mut Random) -> bool {
    kernel.spelling.is_unsigned = !is_signed(kernel);
    kernel.spelling.is_unsigned
}

fn is_signed(kernel: &Kernel) -> bool {
    has_int(kernel, &|int| match int {
        Int::Const(number) => *number < 0,
        Int::Bin(op, ..) => matches!(op, IntOp::Sub | IntOp::Min | IntOp::Max),
        Int::Select(..) | Int::Var(_) => false,
    })
}

/// Reverts `unsigned` if a later transformation subtracts something.
pub fn revert_unsigned(kernel: &mut Kernel) {
    if kernel.spelling.is_unsigned && is_signed(kernel) {
        kernel.spelling.is_unsigned = false;
        kernel.applied.retain(|applied| applied.name != "unsigned");
    }
}

/// `x % d` becomes `x - x/d*d` where a number is declared.
fn remainder_by_quotient(kernel: &mut Kernel, random: &mut Random) -> bool {
    let is_remainder = |stmt: &Stmt| matches!(stmt, Stmt::Int(_, Int::Bin(IntOp::Rem, ..)));
    if kernel.spelling.is_unsigned {
        return false;
    }
    let Some(number) = pick_stmt(kernel, random, is_remainder) else { return false };
    let quotient = random.chance(50).then(|| kernel.int("quot"));
    replace_stmt(kernel, number, &mut |stmt| match stmt {
        Stmt::Int(var, Int::Bin(IntOp::Rem, x, d)) => match quotient {
            Some(quotient) => {
                vec![Stmt::Int(quotient, (*x).clone() / &*d), Stmt::Int(var, *x - quotient * &*d)]
            }
            None => vec![Stmt::Int(var, (*x).clone() - *x / &*d * &*d)],
        },
        other => vec![other],
    });
    true
}

/// Finds the first element that a statement loads unconditionally.
fn loaded(stmt: &Stmt) -> Option<Access> {
    match stmt {
        Stmt::Float(_, val)
        | Stmt::Set(_, val)
        | Stmt::Combine(_, _, val)
        | Stmt::Store(_, val) => val.first_load(&|_| true).cloned(),
        _ => None,
    }
}

/// Computes an index before the statement that uses it.
fn index_temporary(kernel: &mut Kernel, random: &mut Random) -> bool {
    let is_global = |access: &Access, kernel: &Kernel| !kernel.arrays[access.array.0].is_shared();
    let usable = |stmt: &Stmt| loaded(stmt).is_some_and(|access| is_global(&access, kernel));
    let Some(number) = pick_stmt(kernel, random, usable) else { return false };
    let at = kernel.int("at");
    let arrays = kernel.arrays.clone();
    replace_stmt(kernel, number, &mut |stmt| {
        let Some(access) = loaded(&stmt) else { return vec![stmt] };
        let index = arrays[access.array.0].linear(&access.coords);
        let by = Val::load(access.array, vec![at.into()]);
        let mut changed = vec![Stmt::Int(at, index)];
        changed.extend(walk::rewrite(&[stmt], &mut ReplaceLoads { access: &access, by }));
        changed
    });
    true
}

/// Loads a value before the statement that uses it.
fn value_temporary(kernel: &mut Kernel, random: &mut Random) -> bool {
    let usable = |stmt: &Stmt| loaded(stmt).is_some();
    let Some(number) = pick_stmt(kernel, random, usable) else { return false };
    let value = kernel.local("val");
    replace_stmt(kernel, number, &mut |stmt| {
        let Some(access) = loaded(&stmt) else { return vec![stmt] };
        let by = Val::Local(value);
        let mut changed = vec![Stmt::Float(value, Val::Load(access.clone()))];
        changed.extend(walk::rewrite(&[stmt], &mut ReplaceLoads { access: &access, by }));
        changed
    });
    true
}

/// Turns a stored select into two stores.
fn if_for_choice(kernel: &mut Kernel, random: &mut Random) -> bool {
    let chooses = |stmt: &Stmt| matches!(stmt, Stmt::Store(_, Val::Select(..)));
    let Some(number) = pick_stmt(kernel, random, chooses) else { return false };
    replace_stmt(kernel, number, &mut |stmt| match stmt {
        Stmt::Store(access, Val::Select(cond, yes, no)) => vec![Stmt::If(
            cond,
            vec![Stmt::Store(access.clone(), *yes)],
            vec![Stmt::Store(access, *no)],
        )],
        other => vec![other],
    });
    true
}

/// Puts a store or loop under a condition that the contract gives.
fn redundant_guard(kernel: &mut Kernel, random: &mut Random) -> bool {
    let usable = |stmt: &Stmt| matches!(stmt, Stmt::Store(..) | Stmt::For(_));
    let facts: Vec<_> =
        kernel.requires.iter().filter(|cond| is_plain(kernel, cond)).cloned().collect();
    if facts.is_empty() {
        return false;
    }
    let fact = random.pick(&facts);
    let Some(number) = pick_stmt(kernel, random, usable) else { return false };
    replace_stmt(kernel, number, &mut |stmt| vec![Stmt::If(fact.clone(), vec![stmt], Vec::new())]);
    true
}

/// Returns `true` for a bound of one size.
fn is_plain(kernel: &Kernel, cond: &crate::expr::Cond) -> bool {
    matches!(cond, crate::expr::Cond::Cmp(_, Int::Var(var), Int::Const(_))
        if kernel.vars.kind(*var) == VarKind::Size)
}

/// Gives other names to the kernel and its integers.
fn names(kernel: &mut Kernel, random: &mut Random) -> bool {
    let pool = ["idx", "row", "col", "pos", "u", "e", "g", "lane", "slot", "step"];
    let locals: Vec<_> = kernel.vars.of_kind(VarKind::Local).collect();
    for var in locals {
        kernel.vars.rename(var, random.pick(&pool));
    }
    kernel.name = random.pick(&["apply", "compute", "kern", "opt", "fused"]).to_string();
    true
}
