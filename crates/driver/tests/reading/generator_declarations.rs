//! Draws declarations of variables.

use super::features::Feature;
use super::generator::{Kind, Variable, Writer, standard, standard_bounds};
use super::generator_values::{Value, level};
use super::tree::Node;
use super::types::Type;

impl Writer {
    /// A new variable of one of many kinds.
    pub(crate) fn declaration(&mut self) -> Node {
        let drawn = self.random.below(20);
        if !Feature::of_declaration(drawn).is_none_or(|feature| self.uses(feature)) {
            return self.integer_declaration();
        }
        match drawn {
            0..=8 => self.integer_declaration(),
            9..=11 => self.float_declaration(),
            12 | 13 => self.array_declaration(),
            14 => self.pointer_declaration(),
            15 => self.reference_declaration(),
            16 => self.enumeration_declaration(),
            17 => self.structure_declaration(),
            _ => self.several_declarations(),
        }
    }

    fn integer_declaration(&mut self) -> Node {
        let pad = self.pad();
        let depth = 1 + self.random.below(3);
        let drawn = self.integer(depth);
        if self.uses(Feature::Auto) && self.random.chance(30) {
            // `auto` has the type of the expression.
            let ty = drawn.ty();
            let (low, high) = standard(ty);
            if drawn.fits(low, high) {
                let name = self.name_beside(&drawn.node.render());
                self.declare(&name, Kind::Integer { ty, low, high, wraps: false, constant: false });
                let node = self.operand(&drawn, level::ASSIGN);
                return Node::line(format!("{pad}auto {name} = ")).node(node).text(";\n");
            }
        }
        let wraps = self.wrapping && self.random.chance(40);
        let ty = match self.random.chance(12) {
            true if !wraps && self.uses(Feature::Bool) => Type::Bool,
            _ if self.random.chance(30) => Type::Int,
            _ => self.integer_type(),
        };
        let (value, low, high) = self.initial(&drawn, ty, wraps);
        let name = self.name_beside(&value.node.render());
        let constant = self.random.chance(20);
        let node = self.operand(&value, level::ASSIGN);
        let spelled = self.spelled(ty);
        let spelled = if constant { format!("const {spelled}") } else { spelled.to_owned() };
        self.declare(&name, Kind::Integer { ty, low, high, wraps, constant });
        match self.random.below(6) {
            // Doubled: with one pair it could be a function's declaration.
            0 => Node::line(format!("{pad}{spelled} {name}((")).node(node).text("));\n"),
            1 if ty != Type::Bool && self.uses(Feature::Braces) => {
                let head = format!("{pad}{spelled} {name}{{({})(", ty.name());
                Node::line(head).node(node).text(")};\n")
            }
            _ => Node::line(format!("{pad}{spelled} {name} = ")).node(node).text(";\n"),
        }
    }

    /// An initial value for a variable of a type, and the variable's range.
    pub(crate) fn initial(&mut self, drawn: &Value, ty: Type, wraps: bool) -> (Value, i128, i128) {
        let (low, high) = if wraps { ty.range() } else { standard(ty) };
        let any = ty == Type::Bool && !drawn.wraps;
        match wraps || any {
            true => (drawn.clone(), low, high),
            false => (self.fitted(drawn, low, high), low, high),
        }
    }

    fn float_declaration(&mut self) -> Node {
        let (pad, depth) = (self.pad(), 1 + self.random.below(2));
        let drawn = self.floating(depth);
        let value = self.fitted_float(&drawn);
        let ty = self.real_type();
        let name = self.name_beside(&value.node.render());
        let constant = self.random.chance(20);
        let node = self.operand(&value, level::ASSIGN);
        self.declare(&name, Kind::Floating { ty, constant });
        let constant = if constant { "const " } else { "" };
        Node::line(format!("{pad}{constant}{} {name} = ", ty.name())).node(node).text(";\n")
    }

    fn array_declaration(&mut self) -> Node {
        let pad = self.pad();
        let ty = match self.random.chance(20) {
            true => Type::Float,
            false => self.random.pick(&[
                Type::Int,
                Type::UnsignedChar,
                Type::Short,
                Type::Unsigned,
                Type::LongLong,
            ]),
        };
        let sizes = match self.uses(Feature::TwoDimensions) && self.random.chance(40) {
            true => vec![2, 2 + self.random.below(2)],
            false => vec![3 + self.random.below(3)],
        };
        let name = self.new_name();
        let mut node = Node::line(format!("{pad}{} {name}", ty.name()));
        let inner = *sizes.last().unwrap_or(&1);
        let unsized_ = sizes.len() == 1 && self.uses(Feature::Unsized) && self.random.chance(40);
        for size in &sizes {
            node = node.text(if unsized_ { "[]".to_owned() } else { format!("[{size}]") });
        }
        node = node.text(" = {");
        let given = if unsized_ { inner } else { 1 + self.random.below(inner) };
        if sizes.len() == 2 {
            node = node.text("{");
        }
        for at in 0..given {
            let drawn = if ty.is_float() { self.floating(1) } else { self.integer(1) };
            let value = self.stored(&drawn, ty);
            let value = self.operand(&value, level::ASSIGN);
            node = node.text(if at > 0 { ", " } else { "" }).node(value);
        }
        node = node.text(if sizes.len() == 2 { "}, {2}};\n" } else { "};\n" });
        self.declare(&name, Kind::Array { ty, sizes, constant: false });
        node
    }

    /// A value that an element of a type may hold. Braces do not narrow, so a cast makes it fit.
    pub(crate) fn stored(&mut self, drawn: &Value, ty: Type) -> Value {
        let fitting = match ty.is_float() {
            true => self.fitted_float(drawn),
            false => {
                let (low, high) = standard(ty);
                self.fitted(drawn, low, high)
            }
        };
        if fitting.ty() == ty {
            return fitting;
        }
        self.cast_to(&fitting, standard_bounds(ty))
    }

    fn pointer_declaration(&mut self) -> Node {
        let array = self.choose(
            |kind| matches!(kind, Kind::Array { sizes, constant: false, .. } if sizes.len() == 1),
        );
        let Some(Variable { name: array, id, kind: Kind::Array { ty, sizes, .. } }) = array else {
            return self.array_declaration();
        };
        let skipped = self.random.below(2);
        let room = sizes[0] - skipped;
        let text = match self.random.below(3) {
            0 => format!("&{array}[{skipped}]"),
            1 if skipped == 0 => array,
            _ => format!("{array} + {skipped}"),
        };
        let (pad, name) = (self.pad(), self.name_beside(&text));
        let kind = Kind::Pointer { ty, room, constant: false, pointees: 1 << id };
        self.declare(&name, kind);
        let spelled = self.random.pick(&["*", " *", "* const "]);
        Node::line(format!("{pad}{}{spelled} {name} = {text};\n", ty.name()))
    }

    fn reference_declaration(&mut self) -> Node {
        let target = self.choose(|kind| {
            matches!(
                kind,
                Kind::Integer { constant: false, .. } | Kind::Floating { constant: false, .. }
            )
        });
        let Some(target) = target else { return self.integer_declaration() };
        let (pad, name) = (self.pad(), self.name_beside(&target.name));
        let ty = match target.kind {
            Kind::Integer { ty, .. } | Kind::Floating { ty, .. } => ty,
            _ => Type::Int,
        };
        let head = match self.random.below(3) {
            0 => format!("{pad}auto& {name} = {};\n", target.name),
            _ => format!("{pad}{}& {name} = {};\n", ty.name(), target.name),
        };
        // Both names refer to one variable.
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Variable { name, ..target });
        }
        Node::line(head)
    }

    fn several_declarations(&mut self) -> Node {
        let pad = self.pad();
        let (low, high) = standard(Type::Int);
        let drawn = [self.integer(1), self.integer(1)];
        let first = self.fitted(&drawn[0], low, high);
        let second = self.fitted(&drawn[1], low, high);
        let (one, pointer, other) = (self.new_name(), self.new_name(), self.new_name());
        let node =
            Node::line(format!("{pad}int {one} = ")).node(self.operand(&first, level::ASSIGN));
        let node = node.text(format!(", *{pointer} = &{one}, {other} = "));
        let kind = Kind::Integer { ty: Type::Int, low, high, wraps: false, constant: false };
        let id = self.declare(&one, kind.clone());
        let pointees = 1 << id;
        self.declare(&pointer, Kind::Pointer { ty: Type::Int, room: 1, constant: false, pointees });
        self.declare(&other, kind);
        node.node(self.operand(&second, level::ASSIGN)).text(";\n")
    }
}
