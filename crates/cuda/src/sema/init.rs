//! Variables and their initialisation (\[dcl.init\], \[dcl.init.aggr\], \[dcl.init.list\], \[dcl.stc\]).

use super::analyser::Analyser;
use super::declare::is_auto;
use super::operand::{Operand, value};
use super::types::QType;
use crate::syntax::ast::{self, ExprKind as Ast, Initialiser};
use crate::tree::{Expr, ExprKind, Extent, Init, RecordId, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// The type of a variable; the size of an array may come from its initialiser.
    pub(super) fn variable_type(&mut self, declarator: &'a ast::Declarator) -> Result<QType> {
        let syntax = &declarator.ty;
        if is_auto(syntax) {
            let from = match &declarator.init {
                Some(Initialiser::Copy(expr)) => self.operand(expr)?,
                Some(Initialiser::Direct(all) | Initialiser::List(all)) if all.len() == 1 => {
                    let Some(first) = all.first() else {
                        return Err(error(syntax.span, "`auto` needs an initialiser"));
                    };
                    self.operand(first)?
                }
                _ => return Err(error(syntax.span, "`auto` needs an initialiser")),
            };
            return self.deduce_auto(syntax, &from);
        }
        let mut ty = self.resolve_type(syntax)?;
        if let (Type::Array(element, Extent::Unknown), Some(Initialiser::List(parts))) =
            (&ty.ty, &declarator.init)
        {
            if matches!(element.as_ref(), Type::Array(..) | Type::Record(_))
                && parts.iter().any(|part| !matches!(part.kind, Ast::Braces(_)))
                && matches!(element.as_ref(), Type::Array(..))
            {
                return Err(unsupported(
                    syntax.span,
                    "the size of this array could not be computed",
                ));
            }
            ty.ty = Type::Array(element.clone(), Extent::Known(parts.len() as u64));
        }
        Ok(ty)
    }

    /// The initialiser of a variable; for a reference, its place.
    pub(super) fn variable_init(
        &mut self,
        ty: &QType,
        init: Option<&'a Initialiser>,
        span: Span,
    ) -> Result<Option<Init>> {
        if ty.is_reference() {
            let from = match init {
                Some(Initialiser::Copy(expr)) => self.operand(expr)?,
                Some(Initialiser::Direct(all) | Initialiser::List(all)) => match &all[..] {
                    [one] => self.operand(one)?,
                    _ => {
                        return Err(error(
                            span,
                            "a reference needs exactly one object to refer to",
                        ));
                    }
                },
                None => return Err(error(span, "a reference needs an object to refer to")),
            };
            return Ok(Some(Init::Expr(self.implicit(from, ty, span)?)));
        }
        match init {
            None => {
                let made = self.default_init(&ty.ty, span)?;
                if ty.is_const && made.is_none() && !matches!(ty.ty, Type::Record(_)) {
                    return Err(error(span, "a constant needs a value"));
                }
                Ok(made)
            }
            Some(Initialiser::List(parts)) => self.list_init(&ty.ty, parts, span).map(Some),
            Some(Initialiser::Copy(expr)) => {
                if let Type::Array(..) = ty.ty {
                    return Err(unsupported(span, "this initialiser of an array is not supported"));
                }
                let from = self.operand(expr)?;
                let target = QType::plain(ty.ty.clone());
                Ok(Some(Init::Expr(self.implicit(from, &target, expr.span)?)))
            }
            Some(Initialiser::Direct(arguments)) => match (&ty.ty, &arguments[..]) {
                (Type::Record(record), _) => {
                    let mut operands = Vec::new();
                    for argument in arguments {
                        operands.push(self.operand(argument)?);
                    }
                    Ok(Some(Init::Expr(self.construct_record(*record, operands, span)?)))
                }
                (_, [one]) => {
                    let from = self.operand(one)?;
                    let target = QType::plain(ty.ty.clone());
                    Ok(Some(Init::Expr(self.implicit(from, &target, one.span)?)))
                }
                _ => Err(error(span, "expected one value")),
            },
        }
    }

    /// A number's initialiser, converted to its type.
    pub(super) fn scalar_init(
        &mut self,
        ty: &Type,
        init: &'a Initialiser,
        span: Span,
    ) -> Result<Expr> {
        let target = QType::plain(ty.clone());
        match init {
            Initialiser::Copy(expr) => {
                let from = self.operand(expr)?;
                self.implicit(from, &target, expr.span)
            }
            Initialiser::Direct(all) | Initialiser::List(all) => match &all[..] {
                [] => self.zero_value(ty, span),
                [one] => {
                    let from = self.operand(one)?;
                    self.implicit(from, &target, one.span)
                }
                _ => Err(error(span, "expected one value")),
            },
        }
    }

    /// The initial value of a variable without an initialiser: none, unless its class defines one.
    pub(super) fn default_init(&mut self, ty: &Type, span: Span) -> Result<Option<Init>> {
        let mut inner = ty;
        while let Type::Array(element, _) = inner {
            inner = element;
        }
        let Type::Record(record) = inner else { return Ok(None) };
        if !self.needs_construction(*record) {
            return Ok(None);
        }
        if let Type::Array(..) = ty {
            return Err(unsupported(span, "arrays of objects with constructors are not supported"));
        }
        self.construct_record(*record, Vec::new(), span).map(|made| Some(Init::Expr(made)))
    }

    /// Returns `true` if code runs to construct an object of a class.
    fn needs_construction(&self, record: RecordId) -> bool {
        if self.is_named_record(&Type::Record(record), "dim3") {
            return true;
        }
        let Some(class) = self.class(record) else { return false };
        if !class.field_inits.is_empty() {
            return true;
        }
        let has_constructor = class.constructors.iter().any(|one| {
            self.decls.get(*one).is_some_and(|one| {
                // `S() = default;` and an empty body without initialisers leave fields as they are.
                !one.ast.is_defaulted
            })
        });
        if has_constructor {
            return true;
        }
        self.program.records.get(record).is_some_and(|one| {
            one.fields.iter().any(|field| {
                let mut inner = &field.ty;
                while let Type::Array(element, _) = inner {
                    inner = element;
                }
                matches!(inner, Type::Record(inner) if self.needs_construction(*inner))
            })
        })
    }

    /// `{a, b}` for a type.
    pub(super) fn list_init(
        &mut self,
        ty: &Type,
        parts: &'a [ast::Expr],
        span: Span,
    ) -> Result<Init> {
        match ty {
            Type::Array(..) => {
                let mut at = 0;
                let made = self.aggregate(ty, parts, &mut at, span)?;
                match at == parts.len() {
                    true => Ok(made),
                    false => Err(error(span, "there are more values than elements")),
                }
            }
            Type::Record(record) if self.is_aggregate(*record) => {
                if let ([one], false) =
                    (parts, parts.iter().any(|part| matches!(part.kind, Ast::Braces(_))))
                {
                    let operand = self.operand(one)?;
                    if operand.expr.ty == *ty {
                        return Ok(Init::Expr(self.rvalue(operand)?));
                    }
                }
                let mut at = 0;
                let made = self.aggregate(ty, parts, &mut at, span)?;
                match at == parts.len() {
                    true => Ok(made),
                    false => Err(error(span, "there are more values than fields")),
                }
            }
            Type::Record(record) => {
                let mut operands = Vec::new();
                for part in parts {
                    operands.push(self.operand(part)?);
                }
                Ok(Init::Expr(self.construct_record(*record, operands, span)?))
            }
            _ => match parts {
                [] => Ok(Init::Zero),
                [one] => {
                    let from = self.operand(one)?;
                    let target = QType::plain(ty.clone());
                    Ok(Init::Expr(self.implicit(from, &target, one.span)?))
                }
                _ => Err(error(span, "expected one value")),
            },
        }
    }

    /// An array or class without constructors from values; braces may be omitted (\[dcl.init.aggr\]/12).
    fn aggregate(
        &mut self,
        ty: &Type,
        parts: &'a [ast::Expr],
        at: &mut usize,
        span: Span,
    ) -> Result<Init> {
        let mut made = Vec::new();
        match ty {
            Type::Array(element, extent) => {
                let count = match extent {
                    Extent::Known(count) => *count,
                    Extent::Symbolic(_) if parts.is_empty() => 0,
                    _ => return Err(unsupported(span, "this array is not initialised by a list")),
                };
                while (made.len() as u64) < count && *at < parts.len() {
                    made.push(self.element_init(element, parts, at, span)?);
                }
                Ok(Init::List(made))
            }
            Type::Record(record) => {
                self.complete(*record, span)?;
                let Some(known) = self.program.records.get(*record).cloned() else {
                    return Err(error(span, "this class does not exist"));
                };
                if known.is_union {
                    return Err(unsupported(span, "unions are not initialised by lists here"));
                }
                for (position, field) in known.fields.iter().enumerate() {
                    if *at < parts.len() {
                        made.push(self.element_init(&field.ty, parts, at, span)?);
                        continue;
                    }
                    let has_init = self.class(*record).is_some_and(|one| {
                        one.field_inits.iter().any(|field_init| field_init.0 == position)
                    });
                    let needs =
                        matches!(field.ty, Type::Record(inner) if self.needs_construction(inner));
                    if has_init || needs {
                        let message = "leaving out fields that have initialisers is not supported";
                        return Err(unsupported(span, message));
                    }
                    made.push(Init::Zero);
                }
                Ok(Init::List(made))
            }
            _ => Err(error(span, "this is not a list of values")),
        }
    }

    fn element_init(
        &mut self,
        ty: &Type,
        parts: &'a [ast::Expr],
        at: &mut usize,
        span: Span,
    ) -> Result<Init> {
        let Some(part) = parts.get(*at) else { return Ok(Init::Zero) };
        if let Ast::Braces(inner) = &part.kind {
            *at += 1;
            return self.list_init(ty, inner, part.span);
        }
        if let Type::Array(..) = ty {
            return self.aggregate(ty, parts, at, span);
        }
        let operand = self.operand(part)?;
        let target = QType::plain(ty.clone());
        if let Type::Record(record) = ty
            && self.is_aggregate(*record)
            && self.sequence(&operand, &target, true)?.is_none()
        {
            return self.aggregate(ty, parts, at, span);
        }
        *at += 1;
        Ok(Init::Expr(self.implicit(operand, &target, part.span)?))
    }

    fn is_aggregate(&self, record: RecordId) -> bool {
        let has_constructor = self.class(record).is_some_and(|one| {
            one.constructors
                .iter()
                .any(|one| self.decls.get(*one).is_some_and(|one| !one.ast.is_defaulted))
        });
        !has_constructor && !self.is_named_record(&Type::Record(record), "dim3")
    }

    /// A list as a value, as in `x = {1, 2}` and `T{1, 2}`.
    pub(super) fn list_value(
        &mut self,
        ty: &Type,
        parts: &'a [ast::Expr],
        span: Span,
    ) -> Result<Expr> {
        let init = self.list_init(ty, parts, span)?;
        self.init_value(ty, init, span)
    }

    fn init_value(&mut self, ty: &Type, init: Init, span: Span) -> Result<Expr> {
        match (init, ty) {
            (Init::Expr(made), _) => Ok(made),
            (Init::Zero, _) => self.zero_value(ty, span),
            (Init::List(parts), Type::Record(record)) => {
                let fields = self.program.records.get(*record).map(|one| one.fields.clone());
                let mut made = Vec::new();
                for (field, part) in fields.unwrap_or_default().iter().zip(parts) {
                    made.push(self.init_value(&field.ty, part, span)?);
                }
                Ok(value(ExprKind::Construct(made), ty.clone(), span))
            }
            _ => Err(unsupported(span, "this list is not supported here")),
        }
    }

    /// `T(a, b)` and `T{a, b}`.
    pub(super) fn construct_syntax(
        &mut self,
        syntax: &'a ast::TypeSyntax,
        arguments: &'a [ast::Expr],
        is_list: bool,
        span: Span,
    ) -> Result<Operand> {
        let ty = self.resolve_type(syntax)?;
        if is_list && !ty.is_reference() {
            if let (Type::Record(record), []) = (&ty.ty, arguments)
                && !self.is_aggregate(*record)
            {
                return self.construct_record(*record, Vec::new(), span).map(Operand::new);
            }
            return self.list_value(&ty.ty, arguments, span).map(Operand::new);
        }
        let mut operands = Vec::new();
        for argument in arguments {
            operands.push(self.operand(argument)?);
        }
        self.functional_cast(&ty, operands, span)
    }

    pub(super) fn functional_cast(
        &mut self,
        ty: &QType,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let count = operands.len();
        if let (1, Some(only)) = (count, operands.first().cloned()) {
            return self.explicit_cast(ast::CastKind::C, only, ty, span);
        }
        match (&ty.ty, ty.is_reference(), count) {
            (Type::Record(record), false, _) => {
                self.construct_record(*record, operands, span).map(Operand::new)
            }
            (_, false, 0) => self.zero_value(&ty.ty, span).map(Operand::new),
            _ => Err(error(span, "expected one value")),
        }
    }

    /// An object of a class from arguments (\[class.expl.init\]).
    pub(super) fn construct_record(
        &mut self,
        record: RecordId,
        operands: Vec<Operand>,
        span: Span,
    ) -> Result<Expr> {
        self.check_usable(record, span)?;
        let ty = Type::Record(record);
        if let [one] = &operands[..]
            && self.path_to_same_or_base(&one.expr.ty, &ty).is_some()
        {
            let only = operands.into_iter().next();
            let Some(only) = only else { return Err(error(span, "expected a value")) };
            return self.implicit(only, &QType::plain(ty), span);
        }
        if self.is_named_record(&ty, "dim3") {
            return self.make_dim3(record, operands, span);
        }
        let constructors = self.class(record).map(|one| one.constructors.clone());
        let constructors: Vec<_> = constructors.unwrap_or_default();
        let has_constructor = constructors
            .iter()
            .any(|one| self.decls.get(*one).is_some_and(|one| !one.ast.is_defaulted));
        if !has_constructor {
            if operands.is_empty() {
                if self.needs_construction(record) {
                    let function = self.implicit_constructor(record, span)?;
                    return Ok(self.make_call(function, Vec::new(), span)?.expr);
                }
                return self.zero_value(&ty, span);
            }
            if let [one] = &operands[..]
                && self.user_sequence(one, &ty)?
                && let Some(only) = operands.into_iter().next()
            {
                return self.convert_from_class(only, &ty, span);
            }
            return Err(error(span, format!("`{}` has no such constructor", self.type_name(&ty))));
        }
        let mut candidates = Vec::new();
        for decl in constructors {
            candidates.extend(self.candidate(decl, &[], &operands)?);
        }
        let name = self.type_name(&ty);
        let chosen = self.choose(&candidates, &operands, &name, span)?;
        Ok(self.finish_call(chosen, operands, span)?.expr)
    }

    fn make_dim3(&mut self, record: RecordId, operands: Vec<Operand>, span: Span) -> Result<Expr> {
        if operands.len() > 3 {
            return Err(error(span, "`dim3` has three components"));
        }
        let unsigned = super::types::UNSIGNED;
        let mut parts = Vec::new();
        for operand in operands {
            parts.push(self.implicit(operand, &QType::plain(unsigned.clone()), span)?);
        }
        while parts.len() < 3 {
            parts.push(super::operand::literal(1, unsigned.clone(), span));
        }
        Ok(value(ExprKind::Construct(parts), Type::Record(record), span))
    }
}
