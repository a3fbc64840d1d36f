//! Prints a tree as text.
//!
//! Parsing the result gives an equal tree, and `ptxas` accepts it if it accepted the original. Comments and white
//! space are lost; everything else, literals included, is unchanged.

use super::ast::*;
use std::fmt::{self, Display, Formatter};

/// Prints the text of a module.
#[must_use]
pub fn print(module: &Module<'_>) -> String {
    module.to_string()
}

impl Display for Module<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(number) => write!(f, ".version {number}"),
            Self::Target(names) => write!(f, ".target {}", Commas(names)),
            Self::AddressSize(number) => write!(f, ".address_size {number}"),
            Self::File(file) => {
                write!(f, ".file {} \"{}\"", file.index, file.path)?;
                file.stamp.iter().try_for_each(|number| write!(f, ", {number}"))
            }
            Self::Section(section) => write!(f, "{section}"),
            Self::Dwarf(line) => write!(f, "@@DWARF {line}"),
            Self::Pragma(strings) => write!(f, ".pragma {};", Quoted(strings)),
            Self::Loc(loc) => write!(f, "{loc}"),
            Self::Alias(alias, function) => write!(f, ".alias {alias}, {function};"),
            Self::Variable(variable) => write!(f, "{variable};"),
            Self::Function(function) => write!(f, "{function}"),
        }
    }
}

impl Display for Section<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".section {} {{", self.name)?;
        for line in &self.lines {
            match line {
                SectionLine::Label(label) => writeln!(f, "{label}:")?,
                SectionLine::Data(ty, values) => writeln!(f, ".{ty} {}", Commas(values))?,
            }
        }
        f.write_str("}")
    }
}

impl Display for Loc<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [file, line, column] = self.position;
        write!(f, ".loc {file} {line} {column}")?;
        let Some(inlined) = &self.inlined else { return Ok(()) };
        let [file, line, column] = inlined.position;
        let function = &inlined.function_name;
        write!(f, ", function_name {function}, inlined_at {file} {line} {column}")
    }
}

impl Display for Variable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_linkage(f, self.linkage)?;
        write!(f, ".{}", space_word(self.space))?;
        if let Some(bank) = self.bank {
            write!(f, "[{bank}]")?;
        }
        write_attributes(f, &self.attributes)?;
        if let Some(align) = &self.align {
            write!(f, " .align {align}")?;
        }
        if let Some(vector) = self.vector {
            write!(f, " .{vector}")?;
        }
        write!(f, " .{}", self.ty)?;
        if let Some(pointer) = &self.pointer {
            f.write_str(" .ptr")?;
            if let Some(space) = pointer.space {
                write!(f, " .{space}")?;
            }
            if let Some(align) = &pointer.align {
                write!(f, " .align {align}")?;
            }
        }
        write!(f, " {}", Commas(&self.declarators))
    }
}

impl Display for Declarator<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(range) = self.range {
            write!(f, "<{range}>")?;
        }
        for dimension in &self.dimensions {
            match dimension {
                Some(size) => write!(f, "[{size}]")?,
                None => f.write_str("[]")?,
            }
        }
        match &self.initializer {
            Some(initializer) => write!(f, " = {initializer}"),
            None => Ok(()),
        }
    }
}

impl Display for Initializer<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(value) => write!(f, "{value}"),
            Self::List(values) => write!(f, "{{{}}}", Commas(values)),
        }
    }
}

impl Display for Function<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_linkage(f, self.linkage)?;
        f.write_str(match self.kind {
            FunctionKind::Entry => ".entry",
            FunctionKind::Func => ".func",
        })?;
        write_attributes(f, &self.attributes)?;
        if !self.returns.is_empty() {
            write!(f, " ({})", Commas(&self.returns))?;
        }
        writeln!(f, " {}(", self.name)?;
        for (position, param) in self.params.iter().enumerate() {
            let comma = if position + 1 < self.params.len() { "," } else { "" };
            writeln!(f, "\t{param}{comma}")?;
        }
        f.write_str(")")?;
        self.directives.iter().try_for_each(|directive| write!(f, "\n{directive}"))?;
        match &self.body {
            None => f.write_str(";"),
            Some(body) => {
                f.write_str("\n")?;
                write_block(f, body)
            }
        }
    }
}

impl Display for FunctionDirective<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name)?;
        if !self.arguments.is_empty() {
            write!(f, " {}", Commas(&self.arguments))?;
        }
        if !self.strings.is_empty() {
            write!(f, " {};", Quoted(&self.strings))?;
        }
        Ok(())
    }
}

fn write_block(f: &mut Formatter<'_>, block: &Block<'_>) -> fmt::Result {
    f.write_str("{\n")?;
    block.statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))?;
    f.write_str("}")
}

impl Display for Statement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => write!(f, "{label}:"),
            Self::Instruction(instruction) => write!(f, "\t{instruction}"),
            Self::Variable(variable) => write!(f, "\t{variable};"),
            Self::Block(block) => write_block(f, block),
            Self::Loc(loc) => write!(f, "\t{loc}"),
            Self::Pragma(strings) => write!(f, "\t.pragma {};", Quoted(strings)),
            Self::BranchTargets(label, targets) => {
                write!(f, "{label}: .branchtargets {};", Commas(targets))
            }
            Self::CallTargets(label, functions) => {
                write!(f, "{label}: .calltargets {};", Commas(functions))
            }
            Self::CallPrototype(prototype) => {
                write!(f, "{}: .callprototype", prototype.label)?;
                if !prototype.returns.is_empty() {
                    write!(f, " ({})", Commas(&prototype.returns))?;
                }
                write!(f, " _ ({})", Commas(&prototype.params))?;
                prototype.directives.iter().try_for_each(|directive| write!(f, " {directive}"))?;
                f.write_str(";")
            }
        }
    }
}

impl Display for Target<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.range {
            Some(range) => write!(f, "{}<{range}>", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "@{}{} ", if guard.negated { "!" } else { "" }, guard.predicate)?;
        }
        write!(f, "{}", self.opcode)?;
        self.modifiers.iter().try_for_each(|modifier| write!(f, ".{modifier}"))?;
        if !self.operands.is_empty() {
            write!(f, " {}", Commas(&self.operands))?;
        }
        f.write_str(";")
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expr(expr) => write!(f, "{expr}"),
            Self::Component(name, component) => write!(f, "{name}.{component}"),
            Self::Vector(parts) => write!(f, "{{{}}}", Commas(parts)),
            Self::List(parts) => write!(f, "({})", Commas(parts)),
            Self::Pair(sides) => write!(f, "{}|{}", sides.0, sides.1),
            Self::Address(parts) => write!(f, "[{}]", Commas(parts)),
            Self::Qualified(operand, qualifier) => write!(f, "{operand}.{qualifier}"),
            Self::Element(array, index) => write!(f, "{array}[{index}]"),
            Self::Sink(_) => f.write_str("_"),
        }
    }
}

impl Display for Expr<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "{name}"),
            Self::Unary(op, inner) => write!(f, "{}{inner}", unary_sign(*op)),
            // `%` needs the space: without it the operator would start a name.
            Self::Binary(op, sides) => write!(f, "{} {} {}", sides.0, binary_sign(*op), sides.1),
            Self::Conditional(parts) => write!(f, "{} ? {} : {}", parts.0, parts.1, parts.2),
            Self::Cast(ty, inner) => write!(f, "(.{ty}) {inner}"),
            Self::Parenthesized(inner) => write!(f, "({inner})"),
            Self::Generic(inner) => write!(f, "generic({inner})"),
            Self::Mask(mask, inner) => write!(f, "{mask}({inner})"),
        }
    }
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl Display for Number<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl Display for Attribute<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name)?;
        if !self.arguments.is_empty() {
            write!(f, "({})", Commas(&self.arguments))?;
        }
        Ok(())
    }
}

/// Items separated by commas.
struct Commas<'s, T>(&'s [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, item) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

/// Strings in quotes, separated by commas.
struct Quoted<'s>(&'s [&'s str]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, text) in self.0.iter().enumerate() {
            write!(f, "{}\"{text}\"", if position > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

fn write_linkage(f: &mut Formatter<'_>, linkage: Option<Linkage>) -> fmt::Result {
    f.write_str(match linkage {
        None => "",
        Some(Linkage::Extern) => ".extern ",
        Some(Linkage::Visible) => ".visible ",
        Some(Linkage::Weak) => ".weak ",
        Some(Linkage::Common) => ".common ",
    })
}

fn write_attributes(f: &mut Formatter<'_>, attributes: &[Attribute<'_>]) -> fmt::Result {
    if attributes.is_empty() { Ok(()) } else { write!(f, " .attribute({})", Commas(attributes)) }
}

fn space_word(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Reg => "reg",
        StateSpace::Sreg => "sreg",
        StateSpace::Const => "const",
        StateSpace::Global => "global",
        StateSpace::Local => "local",
        StateSpace::Param => "param",
        StateSpace::Shared => "shared",
        StateSpace::Tex => "tex",
    }
}

fn unary_sign(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
    }
}

fn binary_sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Gt => ">",
        BinaryOp::Le => "<=",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
