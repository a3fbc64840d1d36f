//! Rewrites `switch` as a chain of `if`s on its value. The branch of a label is a copy of the statements from there to
//! the next `break`, so a fall-through duplicates statements (up to [`MAX_REPEATED`]; beyond, the kernel is refused).

use super::diagnostics::{Result, unsupported};
use super::returns::{ExitKind, normalise_exits};
use base::{IndexVec, Span};
use cuda::tree::{
    Arm, Category, Compare, Expr, ExprKind as Kind, Function, Init, Local, LocalId, Loop, Stmt,
    StmtKind, Storage, Switch, Type,
};

/// The most statements in the branch of one label.
const MAX_REPEATED: usize = 4096;

/// Limit on the labels of one `switch`: each is nested in the one before.
const MAX_ARMS: usize = 512;

/// Rewrites each `switch` of a function as nested `if` statements.
pub(super) fn without_switch(function: &Function) -> Result<Function> {
    let mut function = function.clone();
    let mut locals = std::mem::take(&mut function.locals);
    let body = statements(&function.body, &mut locals);
    function.locals = locals;
    function.body = body?;
    Ok(function)
}

type Locals = IndexVec<LocalId, Local>;

fn statements(list: &[Stmt], locals: &mut Locals) -> Result<Vec<Stmt>> {
    list.iter().map(|one| statement(one, locals)).collect()
}

fn statement(one: &Stmt, locals: &mut Locals) -> Result<Stmt> {
    let kind = match &one.kind {
        StmtKind::If(condition, then, otherwise) => StmtKind::If(
            condition.clone(),
            statements(then, locals)?,
            statements(otherwise, locals)?,
        ),
        StmtKind::Block(inner) => StmtKind::Block(statements(inner, locals)?),
        StmtKind::Loop(inner) => {
            let (init, body) = (statements(&inner.init, locals)?, statements(&inner.body, locals)?);
            StmtKind::Loop(Box::new(Loop { init, body, ..(**inner).clone() }))
        }
        StmtKind::Switch(inner) => StmtKind::Block(switch(inner, one.span, locals)?),
        _ => return Ok(one.clone()),
    };
    Ok(Stmt { kind, span: one.span })
}

fn switch(switch: &Switch, span: Span, locals: &mut Locals) -> Result<Vec<Stmt>> {
    if switch.arms.len() > MAX_ARMS {
        return Err(unsupported(span, "a `switch` with this many labels is not supported"));
    }
    let local = locals.push(Local {
        name: "switch".to_owned(),
        ty: switch.value.ty.clone(),
        is_const: false,
        is_volatile: false,
        is_reference: false,
        storage: Storage::Automatic,
        is_ghost: false,
        span,
    });
    let declared = StmtKind::Declare(local, Some(Init::Expr(switch.value.clone())));
    let mut out = vec![Stmt { kind: declared, span }];
    // Declarations before the first label are never executed and belong to no branch.
    let mut rest = Vec::new();
    for (number, arm) in switch.arms.iter().enumerate() {
        if arm.is_default {
            rest = branch(switch, number, span, locals)?;
        }
    }
    for (number, arm) in switch.arms.iter().enumerate().rev() {
        if arm.is_default && arm.values.is_empty() {
            continue;
        }
        let Some(condition) = matches(arm, local, &switch.value.ty, span) else { continue };
        let then = branch(switch, number, span, locals)?;
        rest = vec![Stmt { kind: StmtKind::If(condition, then, rest), span }];
    }
    out.extend(rest);
    Ok(out)
}

/// The statements from a label on.
fn branch(switch: &Switch, number: usize, span: Span, locals: &mut Locals) -> Result<Vec<Stmt>> {
    let following = switch.arms.iter().skip(number).flat_map(|arm| arm.body.iter().cloned());
    let mut following: Vec<Stmt> = following.collect();
    // Statements after the first one that always exits are unreachable.
    let end = following.iter().position(|one| super::returns::always_exits(one, ExitKind::Switch));
    if let Some(end) = end {
        following.truncate(end + 1);
    }
    if following.len() > MAX_REPEATED {
        return Err(unsupported(span, "this `switch` is not supported"));
    }
    let inner = statements(&following, locals)?;
    let mut ended = normalise_exits(&inner, ExitKind::Switch)?;
    remove_breaks(&mut ended);
    Ok(ended)
}

/// Removes every `break`; [`normalise_exits`] has left them only at the ends of branches.
fn remove_breaks(list: &mut Vec<Stmt>) {
    list.retain(|one| !matches!(one.kind, StmtKind::Break));
    if let Some(last) = list.last_mut() {
        match &mut last.kind {
            StmtKind::If(_, then, otherwise) => {
                remove_breaks(then);
                remove_breaks(otherwise);
            }
            StmtKind::Block(inner) => remove_breaks(inner),
            _ => {}
        }
    }
}

/// Builds the condition that the value is one of an arm's labels; `None` if the arm has none.
fn matches(arm: &Arm, local: LocalId, ty: &Type, span: Span) -> Option<Expr> {
    let value = |kind, ty: &Type, category| Expr { kind, ty: ty.clone(), category, span };
    let one = |number: &i128| {
        let place = value(Kind::Local(local), ty, Category::Place);
        let read = value(Kind::Read(Box::new(place)), ty, Category::Value);
        let wanted = value(Kind::Int(*number), ty, Category::Value);
        let kind = Kind::Compare(Compare::Eq, Box::new(read), Box::new(wanted));
        value(kind, &Type::Bool, Category::Value)
    };
    let mut tests = arm.values.iter().map(one);
    let first = tests.next()?;
    Some(tests.fold(first, |before, next| {
        value(Kind::Or(Box::new(before), Box::new(next)), &Type::Bool, Category::Value)
    }))
}
