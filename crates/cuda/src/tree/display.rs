//! The typed tree as text, for tests and for people: S-expressions with the relevant types.

use super::{
    Binary, Clause, ClauseKind, Compare, Expr, ExprKind, Extent, FloatKind, Function, FunctionId,
    Init, IntKind, Local, LocalId, Program, Quantifier, SpecExpr, Special, Stmt, StmtKind, Type,
    Unary,
};
use base::IndexVec;
use std::fmt::Write as _;

type Locals<'p> = Option<&'p IndexVec<LocalId, Local>>;

/// A type in the syntax of C++, as far as it can be written in one piece.
#[must_use]
pub fn type_text(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Void => "void".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int(kind) => int_text(*kind).to_owned(),
        Type::Float(kind) => float_text(*kind).to_owned(),
        Type::Enum(id) => match program.enums.get(*id) {
            Some(one) if !one.name.is_empty() => one.name.clone(),
            _ => "enum".to_owned(),
        },
        Type::Pointer(to) => {
            let volatile = if to.is_volatile { "volatile " } else { "" };
            let of_const = if to.is_const { "const " } else { "" };
            format!("{volatile}{of_const}{}*", type_text(program, &to.ty))
        }
        Type::Array(element, extent) => {
            let size = match extent {
                Extent::Known(count) => count.to_string(),
                Extent::Symbolic(size) => expr_text(program, None, size),
                Extent::Unknown => String::new(),
            };
            format!("{}[{size}]", type_text(program, element))
        }
        Type::Record(id) => match program.records.get(*id) {
            Some(one) if !one.name.is_empty() => one.name.clone(),
            _ => "struct".to_owned(),
        },
        Type::Function(signature) => {
            let (result, parameters) = (&signature.0, &signature.1);
            let parameters: Vec<String> =
                parameters.iter().map(|parameter| type_text(program, parameter)).collect();
            format!("{}({})", type_text(program, result), parameters.join(", "))
        }
        Type::Whole => "whole".to_owned(),
        Type::Real => "real".to_owned(),
    }
}

fn int_text(kind: IntKind) -> &'static str {
    match kind {
        IntKind::Char => "char",
        IntKind::SignedChar => "signed char",
        IntKind::UnsignedChar => "unsigned char",
        IntKind::Short => "short",
        IntKind::UnsignedShort => "unsigned short",
        IntKind::Int => "int",
        IntKind::UnsignedInt => "unsigned",
        IntKind::Long => "long",
        IntKind::UnsignedLong => "unsigned long",
        IntKind::LongLong => "long long",
        IntKind::UnsignedLongLong => "unsigned long long",
    }
}

fn float_text(kind: FloatKind) -> &'static str {
    match kind {
        FloatKind::Half => "half",
        FloatKind::Bfloat16 => "bfloat16",
        FloatKind::Float => "float",
        FloatKind::Double => "double",
    }
}

/// An expression.
#[must_use]
pub fn expr_text(program: &Program, locals: Locals<'_>, expr: &Expr) -> String {
    Display { program, locals }.expr(expr)
}

/// A function with its body.
#[must_use]
pub fn function_text(program: &Program, id: FunctionId) -> String {
    match program.functions.get(id) {
        Some(function) => Display { program, locals: Some(&function.locals) }.function(function),
        None => String::new(),
    }
}

struct Display<'p> {
    program: &'p Program,
    locals: Locals<'p>,
}

impl Display<'_> {
    fn function(&self, function: &Function) -> String {
        let parameters: Vec<String> =
            function.parameters.iter().map(|parameter| self.declared(*parameter)).collect();
        let mut out = format!(
            "{}({}) -> {}{}\n",
            function.name,
            parameters.join(", "),
            type_text(self.program, &function.returns),
            if function.returns_reference { "&" } else { "" }
        );
        for clause in &function.clauses {
            _ = writeln!(out, "  {}", self.clause(clause));
        }
        self.block(&function.body, 1, &mut out);
        out
    }

    fn name(&self, id: LocalId) -> String {
        let name = self.locals.and_then(|local| local.get(id)).map(|one| one.name.as_str());
        let shadows = self.locals.is_some_and(|all| {
            all.iter().filter(|one| Some(one.name.as_str()) == name).count() > 1
        });
        match name {
            Some(name) if !name.is_empty() && !shadows => name.to_owned(),
            Some(name) => format!("{name}#{}", base::Index::position(id)),
            None => format!("#{}", base::Index::position(id)),
        }
    }

    fn declared(&self, id: LocalId) -> String {
        let Some(local) = self.locals.and_then(|local| local.get(id)) else { return String::new() };
        let storage = match local.storage {
            super::Storage::Automatic => "",
            super::Storage::Shared => "shared ",
            super::Storage::DynamicShared => "dynamic shared ",
        };
        format!(
            "{storage}{}{}{}{} {}",
            if local.is_volatile { "volatile " } else { "" },
            if local.is_const { "const " } else { "" },
            type_text(self.program, &local.ty),
            if local.is_reference { "&" } else { "" },
            self.name(id)
        )
    }

    fn block(&self, stmts: &[Stmt], depth: usize, out: &mut String) {
        for stmt in stmts {
            self.stmt(stmt, depth, out);
        }
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth);
        match &stmt.kind {
            StmtKind::Declare(local, init) => {
                let init =
                    init.as_ref().map_or(String::new(), |one| format!(" = {}", self.init(one)));
                _ = writeln!(out, "{pad}{}{init}", self.declared(*local));
            }
            StmtKind::Expr(expr) => _ = writeln!(out, "{pad}{}", self.expr(expr)),
            StmtKind::If(condition, then, otherwise) => {
                _ = writeln!(out, "{pad}if {}", self.expr(condition));
                self.block(then, depth + 1, out);
                if !otherwise.is_empty() {
                    _ = writeln!(out, "{pad}else");
                    self.block(otherwise, depth + 1, out);
                }
            }
            StmtKind::Loop(inner) => {
                self.block(&inner.init, depth, out);
                let condition =
                    inner.condition.as_ref().map_or("ever".to_owned(), |one| self.expr(one));
                let word = if inner.tests_after { "do-while" } else { "while" };
                _ = writeln!(out, "{pad}{word} {condition}");
                for clause in &inner.clauses {
                    _ = writeln!(out, "{pad}  {}", self.clause(clause));
                }
                self.block(&inner.body, depth + 1, out);
                if let Some(step) = &inner.step {
                    _ = writeln!(out, "{pad}  step {}", self.expr(step));
                }
            }
            StmtKind::Switch(inner) => {
                _ = writeln!(out, "{pad}switch {}", self.expr(&inner.value));
                for arm in &inner.arms {
                    let mut labels: Vec<String> = arm.values.iter().map(i128::to_string).collect();
                    if arm.is_default {
                        labels.push("default".to_owned());
                    }
                    _ = writeln!(out, "{pad}  case {}", labels.join(" "));
                    self.block(&arm.body, depth + 2, out);
                }
            }
            StmtKind::Block(inner) => {
                _ = writeln!(out, "{pad}block");
                self.block(inner, depth + 1, out);
            }
            StmtKind::Return(None) => _ = writeln!(out, "{pad}return"),
            StmtKind::Return(Some(expr)) => _ = writeln!(out, "{pad}return {}", self.expr(expr)),
            StmtKind::Break => _ = writeln!(out, "{pad}break"),
            StmtKind::Continue => _ = writeln!(out, "{pad}continue"),
            StmtKind::Clauses(clauses) => {
                for clause in clauses {
                    _ = writeln!(out, "{pad}{}", self.clause(clause));
                }
            }
        }
    }

    fn init(&self, init: &Init) -> String {
        match init {
            Init::Expr(expr) => self.expr(expr),
            Init::Zero => "zero".to_owned(),
            Init::List(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.init(part)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    /// Prints expressions, each after a blank.
    fn all(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| format!(" {}", self.expr(expr))).collect()
    }

    /// Prints an expression as an S-expression. Long: one arm for each kind of expression.
    fn expr(&self, expr: &Expr) -> String {
        let ty = || type_text(self.program, &expr.ty);
        match &expr.kind {
            ExprKind::Int(number) => match expr.ty {
                Type::Int(IntKind::Int) | Type::Whole => number.to_string(),
                Type::Bool => (*number != 0).to_string(),
                _ => format!("{number}:{}", ty()),
            },
            ExprKind::Float(number) => format!("{number:?}:{}", ty()),
            ExprKind::Null => "null".to_owned(),
            ExprKind::Text(_) => "text".to_owned(),
            ExprKind::Local(id) => self.name(*id),
            ExprKind::Global(id) => {
                format!("@{}", self.program.globals.get(*id).map_or("", |one| one.name.as_str()))
            }
            ExprKind::Symbol(id) => {
                format!("${}", self.program.symbols.get(*id).map_or("", |one| one.name.as_str()))
            }
            ExprKind::Special(special, axis) => {
                let name = match special {
                    Special::ThreadIdx => "threadIdx",
                    Special::BlockIdx => "blockIdx",
                    Special::BlockDim => "blockDim",
                    Special::GridDim => "gridDim",
                };
                format!("{name}.{}", ["x", "y", "z"].get(*axis).copied().unwrap_or("?"))
            }
            ExprKind::Read(inner) => format!("(read {})", self.expr(inner)),
            ExprKind::Deref(inner) => format!("(* {})", self.expr(inner)),
            ExprKind::AddressOf(inner) => format!("(& {})", self.expr(inner)),
            ExprKind::Decay(inner) => format!("(decay {})", self.expr(inner)),
            ExprKind::Field(object, position) => {
                let field = match &object.ty {
                    Type::Record(id) => {
                        self.program.records.get(*id).and_then(|one| one.fields.get(*position))
                    }
                    _ => None,
                };
                let field = field.map_or(position.to_string(), |one| one.name.clone());
                format!("(. {} {field})", self.expr(object))
            }
            ExprKind::PointerAdd(base, offset) => {
                format!("(p+ {} {})", self.expr(base), self.expr(offset))
            }
            ExprKind::PointerSub(base, offset) => {
                format!("(p- {} {})", self.expr(base), self.expr(offset))
            }
            ExprKind::PointerDiff(one, other) => {
                format!("(pdiff {} {})", self.expr(one), self.expr(other))
            }
            ExprKind::Convert(inner) => format!("(to {} {})", ty(), self.expr(inner)),
            ExprKind::Unary(op, inner) => {
                let sign = match op {
                    Unary::Neg => "neg",
                    Unary::Complement => "~",
                    Unary::Not => "!",
                };
                format!("({sign} {})", self.expr(inner))
            }
            ExprKind::Binary(op, one, other) => {
                format!("({}:{} {} {})", sign(*op), ty(), self.expr(one), self.expr(other))
            }
            ExprKind::Compare(op, one, other) => {
                let operand_type = type_text(self.program, &one.ty);
                format!("({}:{operand_type} {} {})", compare(*op), self.expr(one), self.expr(other))
            }
            ExprKind::And(one, other) => format!("(&& {} {})", self.expr(one), self.expr(other)),
            ExprKind::Or(one, other) => format!("(|| {} {})", self.expr(one), self.expr(other)),
            ExprKind::Select(condition, one, other) => {
                let parts = [condition, one, other].map(|one| self.expr(one));
                format!("(? {})", parts.join(" "))
            }
            ExprKind::Comma(one, other) => format!("(, {} {})", self.expr(one), self.expr(other)),
            ExprKind::Assign(place, from) => {
                format!("(= {} {})", self.expr(place), self.expr(from))
            }
            ExprKind::AssignOp { op, ty, place, value } => {
                let operand_type = type_text(self.program, ty);
                format!("({}=:{operand_type} {} {})", sign(*op), self.expr(place), self.expr(value))
            }
            ExprKind::Step { add, is_prefix, place } => {
                let sign = if *add { "++" } else { "--" };
                let place = self.expr(place);
                if *is_prefix { format!("({sign} {place})") } else { format!("({place} {sign})") }
            }
            ExprKind::Call(id, arguments) => {
                let callee = self.program.functions.get(*id);
                let name = callee.map_or("", |one| one.name.as_str());
                let template_arguments =
                    callee.map_or(String::new(), |one| match one.arguments.is_empty() {
                        true => String::new(),
                        false => format!("<{}>", arguments_text(&one.arguments)),
                    });
                format!("(call {name}{template_arguments}{})", self.all(arguments))
            }
            ExprKind::Function(id) => {
                let name = self.program.functions.get(*id).map_or("", |one| one.name.as_str());
                format!("(function {name})")
            }
            ExprKind::CallPointer(callee, arguments) => {
                format!("(call {}{})", self.expr(callee), self.all(arguments))
            }
            ExprKind::Intrinsic(name, arguments) => {
                format!("({name}:{}{})", ty(), self.all(arguments))
            }
            ExprKind::Construct(parts) => format!("(make {}{})", ty(), self.all(parts)),
            ExprKind::Temporary(inner) => format!("(temporary {})", self.expr(inner)),
            ExprKind::Spec(inner) => self.spec(inner),
        }
    }

    fn spec(&self, spec: &SpecExpr) -> String {
        match spec {
            SpecExpr::Quantified(quantifier, variables, body) => {
                let word = match quantifier {
                    Quantifier::Forall => "forall",
                    Quantifier::Exists => "exists",
                };
                let names: Vec<String> =
                    variables.iter().map(|variable| self.name(*variable)).collect();
                format!("({word} ({}) {})", names.join(" "), self.expr(body))
            }
            SpecExpr::Fold(fold) => format!(
                "(fold {} {} {} {} {})",
                fold.op,
                self.name(fold.variable),
                self.expr(&fold.low),
                self.expr(&fold.high),
                self.expr(&fold.body)
            ),
            SpecExpr::Result => "result".to_owned(),
            SpecExpr::At(inner, label) => format!("(at {label:?} {})", self.expr(inner)),
            SpecExpr::Other(inner) => format!("(other {})", self.expr(inner)),
            SpecExpr::Implies(one, other) => {
                format!("(==> {} {})", self.expr(one), self.expr(other))
            }
            SpecExpr::Iff(one, other) => format!("(<==> {} {})", self.expr(one), self.expr(other)),
            SpecExpr::Function(name, arguments) => format!("(\\{name}{})", self.all(arguments)),
            SpecExpr::Predicate(position, arguments) => {
                let name =
                    self.program.predicates.get(*position).map_or("", |one| one.name.as_str());
                format!("({name}{})", self.all(arguments))
            }
            SpecExpr::Access(name, inner) => format!("({name} {})", self.expr(inner)),
        }
    }

    fn clause(&self, clause: &Clause) -> String {
        let named = |word: &str, name: &Option<String>, inner: &Expr| {
            let name = name.as_ref().map_or(String::new(), |one| format!(" {one}:"));
            format!("{word}{name} {}", self.expr(inner))
        };
        match &clause.kind {
            ClauseKind::Requires(inner) => format!("requires {}", self.expr(inner)),
            ClauseKind::Ensures(inner) => format!("ensures {}", self.expr(inner)),
            ClauseKind::Extent(array, size) => {
                format!("extent {} {}", self.expr(array), self.expr(size))
            }
            ClauseKind::Assert(inner) => format!("assert {}", self.expr(inner)),
            ClauseKind::Assume(inner) => format!("assume {}", self.expr(inner)),
            ClauseKind::LoopInvariant(name, inner) => named("loop invariant", name, inner),
            ClauseKind::LoopVariant(inner) => format!("loop variant {}", self.expr(inner)),
            ClauseKind::BarrierInvariant(name, inner) => named("barrier invariant", name, inner),
            ClauseKind::Instantiate => "instantiate".to_owned(),
            ClauseKind::Footprint { writes, array, low, high } => format!(
                "{} {} {} {}",
                if *writes { "writes" } else { "reads" },
                self.expr(array),
                self.expr(low),
                self.expr(high)
            ),
            ClauseKind::GhostDeclare(local, init) => {
                let init =
                    init.as_ref().map_or(String::new(), |one| format!(" = {}", self.expr(one)));
                format!("ghost {}{init}", self.declared(*local))
            }
            ClauseKind::GhostAssign(local, inner) => {
                format!("ghost {} = {}", self.name(*local), self.expr(inner))
            }
            ClauseKind::Use(position, arguments) => {
                let name = self.program.lemmas.get(*position).map_or("", |one| one.name.as_str());
                format!("use {name}{}", self.all(arguments))
            }
            ClauseKind::Alias(arrays) => format!("alias{}", self.all(arrays)),
            ClauseKind::Unfollowed { why, .. } => format!("unfollowed {why}"),
        }
    }
}

fn sign(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
    }
}

fn compare(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

fn arguments_text(arguments: &[super::TemplateArgument]) -> String {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    texts.join(", ")
}
