//! The syntax tree as text, for comparison.

use super::super::ast::*;

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn part(part: &NamePart) -> String {
    let arguments = part.arguments.as_ref().map(|all| format!("<{}>", list(all, argument)));
    format!("{}{}", part.name.text, arguments.unwrap_or_default())
}

fn argument(one: &TemplateArgument) -> String {
    match one {
        TemplateArgument::Type(ty) => type_(ty),
        TemplateArgument::Expr(value) => expression(value),
    }
}

fn qualified(name: &QualifiedName) -> String {
    let parts: Vec<String> = name.parts.iter().map(part).collect();
    format!("{}{}", if name.is_global { "::" } else { "" }, parts.join("::"))
}

fn type_(ty: &TypeSyntax) -> String {
    let kind = match &ty.kind {
        TypeKind::Words(words) => words.join(" "),
        TypeKind::Named(name) => qualified(name),
        TypeKind::Auto => "auto".to_owned(),
        TypeKind::Decltype(value) => format!("decltype({})", expression(value)),
        TypeKind::Defined(one) => declaration(one),
        TypeKind::Pointer(inner) => format!("ptr {}", type_(inner)),
        TypeKind::Reference(inner) => format!("ref {}", type_(inner)),
        TypeKind::RvalueReference(inner) => format!("rref {}", type_(inner)),
        TypeKind::Array(inner, size) => {
            let size = size.as_ref().map(|size| format!("{} ", expression(size)));
            format!("array {}{}", size.unwrap_or_default(), type_(inner))
        }
        TypeKind::Function(returns, parameters) => {
            format!("fn({}) {}", list(parameters, |one| type_(&one.ty)), type_(returns))
        }
    };
    let before = match (ty.is_const, ty.is_volatile) {
        (true, true) => "const volatile ",
        (true, false) => "const ",
        (false, true) => "volatile ",
        (false, false) => "",
    };
    format!("{before}{kind}")
}

pub(super) fn expression(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Int { value, unsigned, .. } => {
            format!("{value}{}", if *unsigned { "u" } else { "" })
        }
        ExprKind::Float { value, single } => format!("{value:?}{}", if *single { "f" } else { "" }),
        ExprKind::Character(value) => format!("{value}c"),
        ExprKind::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Null => "null".to_owned(),
        ExprKind::This => "this".to_owned(),
        ExprKind::Name(name) => qualified(name),
        ExprKind::Unary(operator, inner) => format!("{operator}({})", expression(inner)),
        ExprKind::Binary(operator, left, right) | ExprKind::Assign(operator, left, right) => {
            format!("({} {operator} {})", expression(left), expression(right))
        }
        ExprKind::Step { add, is_prefix, operand } => {
            let (operator, operand) = (if *add { "++" } else { "--" }, expression(operand));
            if *is_prefix {
                format!("({operator} {operand})")
            } else {
                format!("({operand} {operator})")
            }
        }
        ExprKind::Ternary(one, two, three) => {
            format!("({} ? {} : {})", expression(one), expression(two), expression(three))
        }
        ExprKind::Index(array, index) => format!("{}[{}]", expression(array), expression(index)),
        ExprKind::Member { object, member, arrow } => {
            format!("{}{}{}", expression(object), if *arrow { "->" } else { "." }, part(member))
        }
        ExprKind::Call(callee, arguments) => {
            format!("{}({})", expression(callee), list(arguments, expression))
        }
        ExprKind::Cast(kind, ty, inner) => {
            let kind = match kind {
                CastKind::C => "cast",
                CastKind::Static => "static",
                CastKind::Reinterpret => "reinterpret",
                CastKind::Const => "const",
            };
            format!("{kind}<{}>({})", type_(ty), expression(inner))
        }
        ExprKind::Construct { ty, arguments, is_list } => {
            let inside = list(arguments, expression);
            if *is_list {
                format!("{}{{{inside}}}", type_(ty))
            } else {
                format!("{}({inside})", type_(ty))
            }
        }
        ExprKind::SizeOfType(word, ty) => format!("{word}<{}>", type_(ty)),
        ExprKind::SizeOf(inner) => format!("sizeof({})", expression(inner)),
        ExprKind::Braces(all) => format!("{{{}}}", list(all, expression)),
        ExprKind::Comma(left, right) => format!("({} , {})", expression(left), expression(right)),
        ExprKind::Lambda => "lambda".to_owned(),
        ExprKind::Pack(inner) => format!("{}...", expression(inner)),
        ExprKind::Quantified(word, names, body) => {
            let names = list(names, |name| name.text.to_string());
            format!("{} {names}: {}", word.trim_start_matches('\\'), expression(body))
        }
        ExprKind::Fold(fold) => {
            let [low, high, body] = [&fold.low, &fold.high, &fold.body].map(expression);
            format!("fold({} {} {low} {high} {body})", fold.op, fold.variable.text)
        }
        ExprKind::Range(low, high) => format!("({} .. {})", expression(low), expression(high)),
    }
}

fn declarator(one: &Declarator) -> String {
    let width = one.bit_width.as_ref().map(|width| format!(" : {}", expression(width)));
    let init = one.init.as_ref().map(|init| match init {
        Initialiser::Copy(value) => format!(" = {}", expression(value)),
        Initialiser::Direct(all) => format!(" ({})", list(all, expression)),
        Initialiser::List(all) => format!(" {{{}}}", list(all, expression)),
    });
    let (width, init) = (width.unwrap_or_default(), init.unwrap_or_default());
    format!("{}: {}{width}{init}", qualified(&one.name), type_(&one.ty))
}

fn specifiers(one: &Specifiers) -> String {
    let flags = [
        (one.is_global, "global "),
        (one.is_device, "device "),
        (one.is_constant, "constant "),
        (one.is_managed, "managed "),
        (one.is_packed, "packed "),
    ];
    let mut text: String = flags.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    if let Some(align) = &one.align {
        text += &format!("align {} ", expression(align));
    }
    if !one.launch_bounds.is_empty() {
        text += &format!("bounds({}) ", list(&one.launch_bounds, expression));
    }
    let flags = [
        (one.is_extern, "extern "),
        (one.is_static, "static "),
        (one.is_shared, "shared "),
        (one.is_constexpr, "constexpr "),
        (one.is_friend, "friend "),
        (one.is_virtual, "virtual "),
    ];
    text + &flags.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect::<String>()
}

fn template(one: Option<&TemplateParameters>) -> String {
    let parameter = |template_parameter: &TemplateParameter| {
        let pack = if template_parameter.is_pack { "..." } else { "" };
        match &template_parameter.kind {
            TemplateParameterKind::Type(default) => {
                let default = default.as_ref().map(|ty| format!(" = {}", type_(ty)));
                format!(
                    "type {}{pack}{}",
                    template_parameter.name.text,
                    default.unwrap_or_default()
                )
            }
            TemplateParameterKind::Constant(ty, default) => {
                let default = default.as_ref().map(|value| format!(" = {}", expression(value)));
                format!(
                    "{}: {}{pack}{}",
                    template_parameter.name.text,
                    type_(ty),
                    default.unwrap_or_default()
                )
            }
        }
    };
    one.map(|all| format!("template<{}> ", list(&all.parameters, parameter))).unwrap_or_default()
}

fn parameter(one: &Parameter) -> String {
    let default = one.default.as_ref().map(|value| format!(" = {}", expression(value)));
    format!("{}: {}{}", one.name.text, type_(&one.ty), default.unwrap_or_default())
}

fn function(one: &Function) -> String {
    let clauses: String = one.clauses.iter().map(clause).collect();
    let mut text = format!(
        "{clauses}{}{}fn {}({}{}) {}",
        template(one.template.as_ref()),
        specifiers(&one.specifiers),
        qualified(&one.name),
        list(&one.parameters, parameter),
        if one.is_variadic { ", ..." } else { "" },
        type_(&one.returns)
    );
    if one.is_const_member {
        text += " const";
    }
    for (name, values) in &one.member_inits {
        text += &format!(" {}({})", name.text, list(values, expression));
    }
    match (&one.unread, &one.body) {
        (Some((_, why)), _) => text + &format!(" unread({why})"),
        (None, Some(body)) => text + &format!(" {}", block(body)),
        (None, None) => text,
    }
}

fn block(all: &[Stmt]) -> String {
    let inside = statements(all);
    if inside.is_empty() { "{ }".to_owned() } else { format!("{{ {inside} }}") }
}

pub(super) fn declarations(all: &[Declaration]) -> String {
    all.iter().map(declaration).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

fn declaration(one: &Declaration) -> String {
    match &one.kind {
        DeclarationKind::Function(one) => function(one),
        DeclarationKind::ExplicitInstantiation(one) => format!("instance {}", function(one)),
        DeclarationKind::Variables(all) => format!(
            "{}{}var {};",
            template(all.template.as_ref()),
            specifiers(&all.specifiers),
            list(&all.declarators, declarator)
        ),
        DeclarationKind::Record(record) => {
            let bases = list(&record.bases, qualified);
            let bases = if bases.is_empty() { bases } else { format!(": {bases} ") };
            let members = record.members.as_ref().map(|members| {
                let inside = members.iter().map(member).collect::<Vec<_>>().join(" ");
                if inside.is_empty() { "{ }".to_owned() } else { format!("{{ {inside} }}") }
            });
            let (head, flags) =
                (template(record.template.as_ref()), specifiers(&record.specifiers));
            format!(
                "{head}{flags}struct {} {bases}{}",
                part(&record.name),
                members.unwrap_or_default()
            )
        }
        DeclarationKind::Enum(one) => {
            let class = if one.is_scoped { "class " } else { "" };
            let under = one.underlying.as_ref().map(|ty| format!(" : {}", type_(ty)));
            let value = |(name, value): &(Name, Option<Expr>)| {
                let value = value.as_ref().map(|value| format!(" = {}", expression(value)));
                format!("{}{}", name.text, value.unwrap_or_default())
            };
            let under = under.unwrap_or_default();
            format!("enum {class}{}{under} {{ {} }}", one.name.text, list(&one.values, value))
        }
        DeclarationKind::Alias { name, template: parameters, ty } => {
            format!("{}alias {} = {}", template(parameters.as_ref()), name.text, type_(ty))
        }
        DeclarationKind::UsingNamespace(name) => format!("using namespace {}", qualified(name)),
        DeclarationKind::Using(name) => format!("using {}", qualified(name)),
        DeclarationKind::Namespace { name, declarations: inside, .. } => {
            let space = if name.text.is_empty() { "" } else { " " };
            format!("namespace{space}{} {{ {} }}", name.text, declarations(inside))
        }
        DeclarationKind::StaticAssert(value) => format!("assert {};", expression(value)),
        DeclarationKind::Clauses(all) => {
            all.iter().map(clause).collect::<String>().trim_end().to_owned()
        }
        DeclarationKind::Skipped { names, .. } => {
            format!("skipped({})", list(names, |name| name.text.to_string()))
        }
    }
}

fn member(one: &Declaration) -> String {
    let text = declaration(one);
    if matches!(one.kind, DeclarationKind::Alias { .. }) { text + ";" } else { text }
}

pub(super) fn statements(all: &[Stmt]) -> String {
    all.iter().map(statement).collect::<Vec<_>>().join(" ")
}

fn condition(one: &Condition) -> String {
    match one {
        Condition::Expr(value) => expression(value),
        Condition::Declaration(one) => format!("var {}", declarator(one)),
    }
}

fn statement(one: &Stmt) -> String {
    match &one.kind {
        StmtKind::Declaration(one) => member(one),
        StmtKind::Expr(value) => value.as_ref().map(expression).unwrap_or_default() + ";",
        StmtKind::If { init, is_constexpr, condition: on, then, otherwise } => {
            let init =
                init.as_ref().map(|init| format!("{} ", statement(init))).unwrap_or_default();
            let word = if *is_constexpr { "if constexpr " } else { "if " };
            let otherwise = otherwise.as_ref().map(|one| format!(" else {}", statement(one)));
            format!(
                "{word}{init}{} {}{}",
                condition(on),
                statement(then),
                otherwise.unwrap_or_default()
            )
        }
        StmtKind::For { init, condition: on, step, body } => {
            let init =
                init.as_ref().map(|init| format!("{} ", statement(init))).unwrap_or_default();
            let on = on.as_ref().map(|on| format!("{} ", condition(on))).unwrap_or_default();
            let step =
                step.as_ref().map(|step| format!("{} ", expression(step))).unwrap_or_default();
            format!("for {init}{on}{step}{}", statement(body))
        }
        StmtKind::RangeFor { variable, range, body } => {
            format!("for {} : {} {}", declarator(variable), expression(range), statement(body))
        }
        StmtKind::While(on, body) => format!("while {} {}", condition(on), statement(body)),
        StmtKind::DoWhile(body, on) => format!("do {} while {};", statement(body), expression(on)),
        StmtKind::Switch(_, on, body) => format!("switch {} {}", condition(on), statement(body)),
        StmtKind::Case(value, inner) => format!("case {}: {}", expression(value), statement(inner)),
        StmtKind::Default(inner) => format!("default: {}", statement(inner)),
        StmtKind::Block(all) => block(all),
        StmtKind::Return(value) => {
            let value = value.as_ref().map(|value| format!(" {}", expression(value)));
            format!("return{};", value.unwrap_or_default())
        }
        StmtKind::Break => "break;".to_owned(),
        StmtKind::Continue => "continue;".to_owned(),
        StmtKind::Unread(what) => format!("unread {what};"),
        StmtKind::Clauses(all) => all.iter().map(clause).collect::<String>().trim_end().to_owned(),
    }
}

fn clause(one: &Clause) -> String {
    let named = |name: &Option<Name>| {
        name.as_ref().map(|name| format!("{}: ", name.text)).unwrap_or_default()
    };
    let text = match &one.kind {
        ClauseKind::Requires(value) => format!("requires {}", expression(value)),
        ClauseKind::Ensures(value) => format!("ensures {}", expression(value)),
        ClauseKind::Extent(array, size) => {
            format!("extent {}[{}]", expression(array), expression(size))
        }
        ClauseKind::Assert(value) => format!("assert {}", expression(value)),
        ClauseKind::Assume(value) => format!("assume {}", expression(value)),
        ClauseKind::LoopInvariant(name, value) => {
            format!("loop invariant {}{}", named(name), expression(value))
        }
        ClauseKind::LoopVariant(value) => format!("loop variant {}", expression(value)),
        ClauseKind::BarrierInvariant(name, value) => {
            format!("barrier invariant {}{}", named(name), expression(value))
        }
        ClauseKind::Instantiate => "instantiate".to_owned(),
        ClauseKind::Footprint(writes, place) => {
            format!("{} {}", if *writes { "writes" } else { "reads" }, expression(place))
        }
        ClauseKind::GhostDeclare(one) => format!("ghost {}", declarator(one)),
        ClauseKind::GhostAssign(name, value) => {
            format!("ghost {} = {}", name.text, expression(value))
        }
        ClauseKind::Use(name, all) => format!("use {}({})", name.text, list(all, expression)),
        ClauseKind::Predicate(name, all, body) => {
            format!("predicate {}({}) {}", name.text, list(all, parameter), expression(body))
        }
        ClauseKind::Lemma { name, parameters, induction, body } => {
            let on = induction.as_ref().map(|on| format!("{} ", on.text)).unwrap_or_default();
            format!("lemma {}({}) {on}{}", name.text, list(parameters, parameter), expression(body))
        }
        ClauseKind::Monoid { function, unit, is_commutative } => {
            format!("monoid {} {} {is_commutative}", function.text, expression(unit))
        }
        ClauseKind::Symbolic(names) => {
            format!("symbolic {}", list(names, |name| name.text.to_string()))
        }
        ClauseKind::Alias(all) => format!("alias {}", list(all, expression)),
    };
    format!("@{text}; ")
}

/// Returns `true` if the file has unsupported functions.
pub(super) fn has_unread(unit: &Unit) -> bool {
    unit.declarations.iter().any(|declaration| match &declaration.kind {
        DeclarationKind::Function(function) => function.unread.is_some(),
        DeclarationKind::Skipped { .. } => true,
        _ => false,
    })
}
