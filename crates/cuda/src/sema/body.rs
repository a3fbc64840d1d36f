//! Bodies of functions, and constructors as functions that return the object (\[dcl.fct.def\], \[class.base.init\]).

use super::analyser::{Analyser, Body, BodyState, Task};
use super::declarations::{Definition, Member};
use super::operand::{Operand, place, value};
use super::scope::{Entity, ScopeKind};
use super::types::{QType, Reference};
use crate::syntax::ast::{self, Initialiser};
use crate::tree::{
    ExprKind, Function, FunctionId, Init, Local, LocalId, RecordId, Stmt, StmtKind, Storage, Type,
};
use crate::{Result, error, unsupported};
use base::{IndexVec, Span};

impl<'a> Analyser<'a> {
    /// Reads the body of a function and puts it into the program.
    pub(super) fn read_body(&mut self, id: FunctionId, task: Task) -> Result<()> {
        let definition = self.definition(&task)?;
        if let Some((span, why)) = &definition.ast.unread {
            return Err(unsupported(*span, why.as_str()));
        }
        let outer = std::mem::replace(&mut self.body, Body::new());
        let scope = self.new_scope(Some(definition.scope), ScopeKind::Block);
        let result = self
            .at_place(scope, definition.order, |one| one.read_function(id, &task, definition.ast));
        self.body = outer;
        result
    }

    /// Finds the definition of a body, and the scope for reading it.
    fn definition(&mut self, task: &Task) -> Result<Definition<'a>> {
        let Some(decl) = self.decls.get(task.decl) else {
            return Err(error(Span::default(), "this function does not exist"));
        };
        let span = decl.ast.name.parts.last().map_or(Span::default(), |one| one.name.span);
        let name = decl.name.clone();
        if let Some(definition) = decl.definition {
            // A member of a plain class defined outside already has its class as scope. A template's definition may
            // use other names for the parameters.
            let own = decl.ast.template.as_ref();
            let other = definition.ast.template.as_ref();
            if let (Some(own), Some(other)) = (own, other)
                && !std::ptr::eq(own, other)
            {
                let args = own
                    .parameters
                    .iter()
                    .filter_map(|parameter| {
                        self.scopes.get(task.scope)?.names.get(&parameter.name.text)?.first()
                    })
                    .map(|one| one.1.clone())
                    .collect();
                let parent = self.decls.get(task.decl).map_or(self.global, |one| one.scope);
                let scope = self.bind_parameters_of_definition(other, args, parent, span)?;
                return Ok(Definition { scope, ..definition });
            }
            return Ok(Definition { scope: task.scope, ..definition });
        }
        if let Some(found) = self.template_member(task, span)? {
            return Ok(found);
        }
        Err(unsupported(span, format!("`{name}` is declared here and not defined")))
    }

    /// Makes a scope in which a definition's own names of the template parameters denote the arguments.
    fn bind_parameters_of_definition(
        &mut self,
        parameters: &'a ast::TemplateParameters,
        args: Vec<Entity>,
        parent: super::scope::ScopeId,
        span: Span,
    ) -> Result<super::scope::ScopeId> {
        if args.len() != parameters.parameters.len() {
            return Err(unsupported(span, "unnamed template parameters are not supported here"));
        }
        let scope = self.new_scope(Some(parent), ScopeKind::Template);
        for (parameter, entity) in parameters.parameters.iter().zip(args) {
            self.enter(scope, &parameter.name.text, entity);
        }
        Ok(scope)
    }

    /// A member of a class template defined outside of it.
    fn template_member(&mut self, task: &Task, span: Span) -> Result<Option<Definition<'a>>> {
        let Some(decl) = self.decls.get(task.decl) else { return Ok(None) };
        let Some(member) = decl.member else { return Ok(None) };
        let (name, is_const) = (decl.name.clone(), member.is_const);
        let Some(class) = self.class(member.record) else { return Ok(None) };
        let (class_scope, instance) = (class.scope, class.instance.clone());
        let Some((template, args)) = instance else { return Ok(None) };
        let definitions = self.templates.get(template).map(|one| one.member_definitions.clone());
        let count = task.signature.parameters.len();
        let fitting: Vec<(&'a ast::Function, u32)> = definitions
            .unwrap_or_default()
            .into_iter()
            .filter(|(ast, _)| {
                ast.name.parts.last().is_some_and(|one| *one.name.text == *name)
                    && ast.parameters.len() == count
                    && ast.is_const_member == is_const
            })
            .collect();
        let [(ast, order)] = &fitting[..] else {
            return match fitting.is_empty() {
                true => Ok(None),
                false => Err(unsupported(
                    span,
                    "overloaded members that are defined outside of their class template are not supported",
                )),
            };
        };
        if decl_has_template(self.decls.get(task.decl).map(|one| one.ast)) {
            return Err(unsupported(
                span,
                "member templates that are defined outside of their class are not supported",
            ));
        }
        let Some(parameters) = &ast.template else { return Ok(None) };
        let entities = args
            .into_iter()
            .map(|arg| match arg {
                super::declarations::Arg::Type(ty) => Entity::Type(ty),
                super::declarations::Arg::Value(value) => Entity::Constant(Box::new(value)),
            })
            .collect();
        let scope = self.bind_parameters_of_definition(parameters, entities, class_scope, span)?;
        Ok(Some(Definition { ast, order: *order, scope }))
    }

    /// Types the body of a function: binds its parameters, then reads its statements.
    fn read_function(&mut self, id: FunctionId, task: &Task, ast: &'a ast::Function) -> Result<()> {
        let member = self.decls.get(task.decl).and_then(|one| one.member);
        self.body.function = Some(id);
        self.body.generation = task.generation;
        self.body.returns = task.signature.returns.clone();
        self.body.returns_auto = task.signature.returns.is_none();
        self.body.is_kernel = ast.specifiers.is_global;
        let mut parameters = Vec::new();
        let mut stmts = Vec::new();
        if let Some(member) = member {
            self.bind_object(member, ast, &mut parameters);
        }
        for (parameter, ty) in ast.parameters.iter().zip(&task.signature.parameters) {
            let local = self.new_local(&parameter.name.text, ty, parameter.name.span);
            self.enter_local(&parameter.name, Entity::Local(local))?;
            if let (Type::Record(record), false) = (&ty.ty, ty.is_reference()) {
                self.check_usable(*record, parameter.ty.span)?;
            }
            if ty.is_reference() && ast.specifiers.is_global {
                return Err(error(parameter.ty.span, "a kernel cannot have reference parameters"));
            }
            parameters.push(local);
        }
        self.body.parameters = parameters.clone();
        let mut clauses = self.function_clauses(&ast.clauses)?;
        let declared = self.decls.get(task.decl).map(|one| one.ast);
        if let Some(declared) = declared.filter(|one| !std::ptr::eq(*one, ast))
            && let Some(first) = declared.clauses.first()
        {
            let message = "a contract belongs before the definition of the function";
            return Err(unsupported(first.span, message));
        }
        if let Some(member) = member.filter(|one| one.is_constructor) {
            self.construct_members(member.record, ast, &mut stmts)?;
        }
        if self.body.is_kernel {
            self.assume_axioms(&mut stmts)?;
        }
        stmts.extend(self.stmts(ast.body.as_deref().unwrap_or_default())?);
        if self.body.is_constructor
            && let Some((this, _)) = self.body.this
        {
            let span = ast.name.parts.last().map_or(Span::default(), |one| one.name.span);
            stmts.push(self.return_object(this, span)?);
        }
        let returns = self.body.returns.clone().unwrap_or(QType::plain(Type::Void));
        clauses.append(&mut self.body.clauses);
        clauses.extend(self.extents(&ast.clauses)?);
        for local in std::mem::take(&mut self.body.declared) {
            let span = self.body.locals.get(local).map_or(Span::default(), |one| one.span);
            stmts.insert(0, Stmt { kind: StmtKind::Declare(local, None), span });
        }
        let max_threads = self.launch_bounds(ast);
        let record = member.filter(|one| one.is_constructor).map(|one| one.record);
        let function = &mut self.program.functions[id];
        function.parameters = parameters;
        function.locals = std::mem::take(&mut self.body.locals);
        function.body = stmts;
        function.clauses = clauses;
        function.max_threads = max_threads;
        if record.is_none() {
            function.returns = returns.ty.clone();
            function.returns_reference = returns.is_reference();
            use base::Index as _;
            if let Some(known) = self.result_types.get_mut(id.position()) {
                known.get_or_insert(returns);
            }
        }
        Ok(())
    }

    /// Binds the object of a member: a reference parameter, or the object that a constructor makes.
    fn bind_object(
        &mut self,
        member: Member,
        ast: &'a ast::Function,
        parameters: &mut Vec<LocalId>,
    ) {
        self.body.record = Some(member.record);
        if member.is_static {
            return;
        }
        let span = ast.name.parts.last().map_or(Span::default(), |one| one.name.span);
        let ty = QType {
            ty: Type::Record(member.record),
            is_const: member.is_const,
            is_volatile: false,
            reference: if member.is_constructor { Reference::None } else { Reference::Lvalue },
        };
        let this = self.new_local("this", &ty, span);
        self.body.this = Some((this, member.is_const));
        self.body.is_constructor = member.is_constructor;
        if !member.is_constructor {
            parameters.push(this);
        }
    }

    pub(super) fn new_local(&mut self, name: &str, ty: &QType, span: Span) -> LocalId {
        self.body.locals.push(Local {
            name: name.to_owned(),
            ty: ty.ty.clone(),
            is_const: ty.is_const,
            is_volatile: ty.is_volatile,
            is_reference: ty.is_reference(),
            storage: Storage::Automatic,
            is_ghost: false,
            span,
        })
    }

    fn launch_bounds(&mut self, ast: &'a ast::Function) -> Option<u64> {
        let first = ast.specifiers.launch_bounds.first()?;
        let number = self.required_constant(first).ok()?;
        u64::try_from(number).ok()
    }

    fn return_object(&mut self, this: LocalId, span: Span) -> Result<Stmt> {
        let object = self.local_operand(this, span)?;
        let object = self.rvalue(object)?;
        Ok(Stmt { kind: StmtKind::Return(Some(object)), span })
    }

    /// The actions of a constructor before its body: bases and fields in order (\[class.base.init\]/13).
    fn construct_members(
        &mut self,
        record: RecordId,
        ast: &'a ast::Function,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some((this, _)) = self.body.this else { return Ok(()) };
        let span = ast.name.parts.last().map_or(Span::default(), |one| one.name.span);
        let class = self.program.records.get(record).map(|one| one.name.clone());
        if let [(name, arguments)] = &ast.member_inits[..]
            && class.as_deref() == Some(name.text.as_ref())
        {
            let mut operands = Vec::new();
            for argument in arguments {
                operands.push(self.operand(argument)?);
            }
            let made = self.construct_record(record, operands, name.span)?;
            let kind = StmtKind::Declare(this, Some(Init::Expr(made)));
            out.push(Stmt { kind, span });
            return Ok(());
        }
        out.push(Stmt { kind: StmtKind::Declare(this, None), span });
        let fields = self.program.records.get(record).map(|one| one.fields.clone());
        let fields = fields.unwrap_or_default();
        for (name, _) in &ast.member_inits {
            if !fields.iter().any(|field| *field.name == *name.text) {
                return Err(unsupported(name.span, "this initialiser names no field or base"));
            }
        }
        for (position, field) in fields.iter().enumerate() {
            let given =
                ast.member_inits.iter().find(|member_init| *member_init.0.text == *field.name);
            let init = match given {
                Some((name, arguments)) => self.field_init(&field.ty, arguments, name.span)?,
                None => self.default_field(record, position, &field.ty, span)?,
            };
            if let Some(init) = init {
                let object = self.local_operand(this, span)?;
                let target = self.walk_fields(object, &[position], span);
                self.assign_init(target, init, span, out)?;
            }
        }
        Ok(())
    }

    /// `field(a, b)` in a constructor.
    fn field_init(
        &mut self,
        ty: &Type,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Option<Init>> {
        match (ty, arguments) {
            (_, []) => Ok(Some(Init::Zero)),
            (Type::Array(..), _) => {
                Err(unsupported(span, "initialising array members is not supported"))
            }
            (_, [one]) if matches!(one.kind, ast::ExprKind::Braces(_)) => {
                let ast::ExprKind::Braces(parts) = &one.kind else { return Ok(None) };
                self.list_init(ty, parts, span).map(Some)
            }
            (Type::Record(record), _) => {
                let mut operands = Vec::new();
                for argument in arguments {
                    operands.push(self.operand(argument)?);
                }
                Ok(Some(Init::Expr(self.construct_record(*record, operands, span)?)))
            }
            (_, [one]) => {
                let operand = self.operand(one)?;
                Ok(Some(Init::Expr(self.implicit(operand, &QType::plain(ty.clone()), span)?)))
            }
            _ => Err(error(span, "expected one value")),
        }
    }

    /// Initialises a field that a constructor does not mention.
    fn default_field(
        &mut self,
        record: RecordId,
        position: usize,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Init>> {
        let init = self.class(record).and_then(|one| {
            one.field_inits.iter().find(|field_init| field_init.0 == position).map(|one| one.1)
        });
        match init {
            Some(init) => self.member_init(ty, init, span).map(Some),
            None => self.default_init(ty, span),
        }
    }

    /// Stores an initialiser into a place, element by element.
    pub(super) fn assign_init(
        &mut self,
        target: Operand,
        init: Init,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let ty = target.expr.ty.clone();
        let made = match (init, &ty) {
            (Init::Expr(made), _) => made,
            (Init::List(parts), Type::Record(_)) => {
                for (position, part) in parts.into_iter().enumerate() {
                    let field = self.walk_fields(target.clone(), &[position], span);
                    self.assign_init(field, part, span, out)?;
                }
                return Ok(());
            }
            (Init::List(_), _) | (Init::Zero, Type::Array(..)) => {
                return Err(unsupported(span, "initialising array members is not supported"));
            }
            (Init::Zero, _) => self.zero_value(&ty, span)?,
        };
        let kind = ExprKind::Assign(Box::new(target.expr), Box::new(made));
        out.push(Stmt { kind: StmtKind::Expr(place(kind, ty, span)), span });
        Ok(())
    }

    /// The implicit default constructor of a class with initialised fields.
    pub(super) fn implicit_constructor(
        &mut self,
        record: RecordId,
        span: Span,
    ) -> Result<FunctionId> {
        if let Some(known) = self.implicit_constructors.get(&record) {
            return Ok(*known);
        }
        let name = self.program.records.get(record).map_or(String::new(), |one| one.name.clone());
        let ty = Type::Record(record);
        let id = self.program.functions.push(Function {
            name,
            span,
            is_kernel: false,
            returns: ty.clone(),
            returns_reference: false,
            parameters: Vec::new(),
            locals: IndexVec::new(),
            clauses: Vec::new(),
            body: Vec::new(),
            namespace: String::new(),
            arguments: Vec::new(),
            max_threads: None,
        });
        self.result_types.push(Some(QType::plain(ty.clone())));
        self.bodies.push(BodyState::Reading);
        self.callees.push(Vec::new());
        self.implicit_constructors.insert(record, id);
        let scope = self.class_scope(record).unwrap_or(self.global);
        let outer = std::mem::replace(&mut self.body, Body::new());
        self.body.function = Some(id);
        let this = self.new_local("this", &QType::plain(ty), span);
        self.body.this = Some((this, false));
        self.body.record = Some(record);
        self.body.is_constructor = true;
        let limit = self.limit;
        let result = self.at_place(scope, limit, |one| one.implicit_body(record, this, span));
        let locals = std::mem::take(&mut self.body.locals);
        self.body = outer;
        let body = result?;
        let function = &mut self.program.functions[id];
        (function.locals, function.body) = (locals, body);
        use base::Index as _;
        if let Some(state) = self.bodies.get_mut(id.position()) {
            *state = BodyState::Read;
        }
        Ok(id)
    }

    fn implicit_body(&mut self, record: RecordId, this: LocalId, span: Span) -> Result<Vec<Stmt>> {
        let mut out = vec![Stmt { kind: StmtKind::Declare(this, None), span }];
        let fields = self.program.records.get(record).map(|one| one.fields.clone());
        for (position, field) in fields.unwrap_or_default().iter().enumerate() {
            if let Some(init) = self.default_field(record, position, &field.ty, span)? {
                let object = self.local_operand(this, span)?;
                let target = self.walk_fields(object, &[position], span);
                self.assign_init(target, init, span, &mut out)?;
            }
        }
        out.push(self.return_object(this, span)?);
        Ok(out)
    }

    /// A value of zeros (\[dcl.init\]/6).
    pub(super) fn zero_value(&mut self, ty: &Type, span: Span) -> Result<crate::tree::Expr> {
        let kind = match ty {
            Type::Bool | Type::Int(_) | Type::Enum(_) => ExprKind::Int(0),
            Type::Float(_) => ExprKind::Float(0.0),
            Type::Pointer(_) => ExprKind::Null,
            Type::Record(record) => {
                self.complete(*record, span)?;
                let Some(known) = self.program.records.get(*record).cloned() else {
                    return Err(error(span, "this class does not exist"));
                };
                if known.is_union {
                    return Err(unsupported(span, "unions are not supported here"));
                }
                let mut parts = Vec::new();
                for field in &known.fields {
                    parts.push(self.zero_value(&field.ty, span)?);
                }
                ExprKind::Construct(parts)
            }
            _ => return Err(unsupported(span, "this zero-initialised value is not supported")),
        };
        Ok(value(kind, ty.clone(), span))
    }

    /// Converts a member's initialiser as a declaration would.
    fn member_init(&mut self, ty: &Type, init: &'a Initialiser, span: Span) -> Result<Init> {
        match init {
            Initialiser::List(parts) => self.list_init(ty, parts, span),
            Initialiser::Copy(expr) => {
                let operand = self.operand(expr)?;
                let made = self.implicit(operand, &QType::plain(ty.clone()), expr.span)?;
                Ok(Init::Expr(made))
            }
            Initialiser::Direct(arguments) => {
                Ok(self.field_init(ty, arguments, span)?.unwrap_or(Init::Zero))
            }
        }
    }
}

fn decl_has_template(ast: Option<&ast::Function>) -> bool {
    ast.is_some_and(|one| one.template.is_some())
}
