//! Statements and calls with a fixed shape: common uses of pointers, structures and the order of evaluation.

use super::generator::{BLOCK, Kind, Passing, Variable, Writer, standard, standard_bounds};
use super::generator_values::{Value, level};
use super::tree::{Bounds, Node, Role};
use super::types::Type;

impl Writer {
    fn integer_variable(&mut self, ty: Type) -> Option<Variable> {
        self.choose(|kind| matches!(kind, Kind::Integer { ty: own, wraps: false, constant: false, .. } if *own == ty))
    }

    /// Assignments with an order fixed by C++17.
    pub(crate) fn sequenced(&mut self) -> Node {
        let (pad, name) = (self.pad(), self.new_name());
        let start = self.random.within(1, 3);
        let target = self.integer_variable(Type::Int).map(|one| one.name);
        let target = target.unwrap_or_else(|| name.clone());
        let array = self.choose(|kind| matches!(kind, Kind::Array { sizes, constant: false, ty } if sizes.len() == 1 && sizes[0] >= 5 && !ty.is_float()));
        let array = array.map(|one| one.name);
        let q = &name;
        let text = match (self.random.below(14), array) {
            (0, Some(array)) => format!("{array}[{q}] = {q}++;"),
            (1, Some(array)) => format!("{array}[{q}++] = {q};"),
            (2, Some(array)) => format!("{array}[{q}] += {q}++;"),
            (3, Some(array)) => format!("int* p_{q} = &{q}; {array}[*p_{q}] = ++*p_{q};"),
            (0..=3, None) | (4, _) => format!("{q} = {q}++ + 1;"),
            (5, _) => format!("{q} += {q}++;"),
            (6, _) => format!("({q} += 2) *= 3;"),
            (7, _) => format!("{q} = ({q} = 3, {q}++) * 2;"),
            (8, _) => format!("++(++{q});"),
            (9, _) => format!("{q}-- ? {q} : ({q} = 7);"),
            (10, _) => format!("{q}++ && {q}++ || {q}--;"),
            (11, _) => format!("{q} = {q} << ({q} = 1);"),
            (12, _) => {
                format!("int r_{q} = {q}; {q} = r_{q} = {q} + 1; {q} -= r_{q}--; {q} += r_{q};")
            }
            _ => format!("{q} = {q} * 2 + ({q} > 2 ? 1 : 0 * ({q} - 1));"),
        };
        let node = Node::line(format!("{pad}{{ int {q} = {start}; {text} "));
        match target == *q {
            true => node.text("}\n"),
            false => node.text(format!("{target} = {q}; }}\n")),
        }
    }

    /// Exchanges two variables, by a macro or by hand.
    pub(crate) fn swap(&mut self) -> Node {
        let pad = self.pad();
        let Some(one) = self.choose(|kind| matches!(kind, Kind::Integer { constant: false, .. }))
        else {
            return Node::line(format!("{pad};\n"));
        };
        let Kind::Integer { ty, wraps, .. } = one.kind else { return Node::line("") };
        let other = self.choose(|kind| matches!(kind, Kind::Integer { ty: own, wraps: w, constant: false, .. } if *own == ty && *w == wraps));
        let Some(other) = other else { return Node::line("") };
        let name = ty.name();
        Node::line(format!(
            "{pad}{{ {name} t_ = {0}; {0} = {1}; {1} = t_; }}\n",
            one.name, other.name
        ))
    }

    /// Walks an array with a pointer.
    pub(crate) fn walk(&mut self) -> Node {
        let pad = self.pad();
        let array = self.choose(
            |kind| matches!(kind, Kind::Array { sizes, constant: false, .. } if sizes.len() == 1),
        );
        let Some(Variable { name: array, kind: Kind::Array { ty, sizes, .. }, .. }) = array else {
            return Node::line(format!("{pad};\n"));
        };
        let (size, q) = (sizes[0], self.new_name());
        let sum = self.integer_variable(Type::Int).map(|one| one.name);
        let (Some(sum), false) = (sum, ty.is_float()) else { return Node::line("") };
        let name = ty.name();
        let add = |element: &str| format!("{sum} = ({sum} + {element}) % 1000;");
        let text = match self.random.below(5) {
            0 => format!(
                "for (const {name}* {q} = {array}; {q} < {array} + {size}; {q}++) {}",
                add(&format!("(int)*{q}"))
            ),
            1 => format!(
                "{{ {name}* {q} = {array}; for (int i_ = 0; i_ < {size}; i_++) {} }}",
                add(&format!("(int)*{q}++"))
            ),
            2 => format!(
                "{{ {name} *{q} = {array} + {size}; while ({q} != {array}) {} }}",
                add(&format!("(int)*--{q}"))
            ),
            3 => format!(
                "{{ {name}* {q} = &{array}[{}]; {} {q} -= 1; {} }}",
                size - 1,
                add(&format!("(int){q}[0]")),
                add(&format!("(int)({q} - {array})"))
            ),
            _ => format!(
                "{{ {name}* {q} = {array}; *{q}++ = 1; *{q} = 2; {q}[1] = {q}[-1]; {} }}",
                add(&format!("(int)({q} - {array})"))
            ),
        };
        Node::line(format!("{pad}{text}\n"))
    }

    /// Writes all elements of an array.
    pub(crate) fn fill(&mut self) -> Node {
        let pad = self.pad();
        let array = self.choose(
            |kind| matches!(kind, Kind::Array { constant: false, sizes, .. } if sizes.len() == 1),
        );
        let Some(Variable { name: array, kind: Kind::Array { ty, sizes, .. }, .. }) = array else {
            return Node::line(format!("{pad};\n"));
        };
        let name = self.new_name();
        self.scopes.push(Vec::new());
        let high = sizes[0] as i128 - 1;
        self.declare(
            &name,
            Kind::Integer { ty: Type::Int, low: 0, high, wraps: false, constant: true },
        );
        let drawn = if ty.is_float() { self.floating(2) } else { self.integer(2) };
        let value = self.stored(&drawn, ty);
        self.scopes.pop();
        let head = format!(
            "{pad}for (int {name} = 0; {name} < {}; {name}++)\n{pad}  {array}[{name}] = ",
            sizes[0]
        );
        let value = self.operand(&value, level::ASSIGN);
        Node::line(head).node(value).text(";\n")
    }

    pub(crate) fn lambda(&mut self) -> Node {
        let pad = self.pad();
        let Some(target) = self.integer_variable(Type::Int).map(|one| one.name) else {
            return Node::line(format!("{pad};\n"));
        };
        let (name, factor) = (self.new_name(), self.random.within(2, 5));
        let capture = self.random.pick(&["&", "="]);
        let text = format!(
            "{{ auto {name} = [{capture}](int a_) {{ return (a_ * {factor} + {target}) % 100; }}; {target} = {name}(3); }}"
        );
        Node::line(format!("{pad}{text}\n"))
    }

    /// A pointer that is assigned later, chosen by a condition.
    pub(crate) fn pointer_choice(&mut self) -> Node {
        let pad = self.pad();
        let wanted = |kind: &Kind| matches!(kind, Kind::Array { ty: Type::Int, sizes, constant: false } if sizes.len() == 1);
        let (one, other) = (self.choose(wanted), self.choose(wanted));
        let (Some(one), Some(other)) = (one, other) else { return self.fill() };
        let condition = self.condition(1);
        let name = self.new_name();
        let pointees = 1 << one.id | 1 << other.id;
        let text = condition.node.clone();
        let condition = self.operand(&condition, level::OR);
        let node = match self.random.below(3) {
            0 => Node::line(format!("{pad}int* {name} = "))
                .node(condition)
                .text(format!(" ? {} : {} + 1;\n", one.name, other.name)),
            1 => Node::line(format!("{pad}int* {name}; if ("))
                .node(text)
                .text(format!(") {name} = {} + 1; else {name} = &{}[0];\n", one.name, other.name)),
            _ => Node::line(format!("{pad}int* {name} = {}; if (", one.name))
                .node(text)
                .text(format!(") {name} = {};\n", other.name)),
        };
        self.declare(&name, Kind::Pointer { ty: Type::Int, room: 2, constant: false, pointees });
        node
    }

    /// Threads of a block exchange data through shared memory.
    pub(crate) fn shared_exchange(&mut self) -> Node {
        let (name, result) = (self.new_name(), self.new_name());
        let drawn = self.integer(2);
        let (low, high) = standard(Type::Int);
        let value = self.fitted(&drawn, low, high);
        let value = self.operand(&value, level::ASSIGN);
        let node =
            Node::line(format!("  __shared__ int {name}[{BLOCK}];\n  {name}[threadIdx.x] = "))
                .node(value);
        let kind = Kind::Integer { ty: Type::Int, low, high, wraps: false, constant: false };
        self.declare(&result, kind);
        node.text(format!(
            ";\n  __syncthreads();\n  int {result} = {name}[(threadIdx.x + 1) % {BLOCK}];\n"
        ))
    }

    pub(crate) fn structure_declaration(&mut self) -> Node {
        let pad = self.pad();
        if self.structures.is_empty() {
            return Node::line(format!("{pad};\n"));
        }
        let which = self.random.below(self.structures.len());
        let one = self.structures[which].clone();
        let (name, ty) = (self.new_name(), &one.name);
        let mut node = Node::line(format!("{pad}{ty} {name}"));
        if one.constructor {
            let drawn = self.integer(2);
            let value = self.fitted(&drawn, -50, 50);
            let value = self.operand(&value, level::ASSIGN);
            node = match self.random.below(3) {
                0 => node.text(";\n"),
                1 => node.text("(").node(value).text(");\n"),
                _ => node.text(format!(" = {ty}(")).node(value).text(");\n"),
            };
        } else {
            node = node.text(self.random.pick(&[" = {", "{"]));
            for (at, (_, ty)) in one.fields.iter().enumerate() {
                let drawn = if ty.is_float() { self.floating(1) } else { self.integer(1) };
                let value = self.stored(&drawn, *ty);
                let value = self.operand(&value, level::ASSIGN);
                node = node.text(if at > 0 { ", " } else { "" }).node(value);
            }
            node = node.text("};\n");
        }
        self.declare(&name, Kind::Structure { which });
        node
    }

    /// Changes a structure.
    pub(crate) fn structure_use(&mut self) -> Node {
        let pad = self.pad();
        let Some(Variable { name, kind: Kind::Structure { which }, .. }) =
            self.choose(|kind| matches!(kind, Kind::Structure { .. }))
        else {
            return self.structure_declaration();
        };
        let one = self.structures[which].clone();
        let (field, ty) = one.fields[self.random.below(one.fields.len())].clone();
        match self.random.below(5) {
            0 if one.methods => Node::line(format!("{pad}{name}.bump(3);\n")),
            1 if one.operators => Node::line(format!("{pad}{name} = {name} + {name};\n")),
            2 => Node::line(format!(
                "{pad}{{ {0} copy_ = {name}; {0}* p_ = &{name}; p_->{field} = copy_.{field}; }}\n",
                one.name
            )),
            _ => {
                let drawn = if ty.is_float() { self.floating(2) } else { self.integer(2) };
                let value = self.stored(&drawn, ty);
                let value = self.operand(&value, level::ASSIGN);
                Node::line(format!("{pad}{name}.{field} = ")).node(value).text(";\n")
            }
        }
    }

    pub(crate) fn method(&mut self, depth: usize) -> Option<Value> {
        let variable = self.choose(|kind| matches!(kind, Kind::Structure { .. }))?;
        let Kind::Structure { which } = variable.kind else { return None };
        if !self.structures[which].methods {
            return None;
        }
        let drawn = self.integer(depth);
        let argument = self.fitted(&drawn, -50, 50);
        let inner = self.operand(&argument, level::ASSIGN);
        let node =
            Node::new(Role::Fixed).text(format!("{}.mixed(", variable.name)).node(inner).text(")");
        let bounds = Bounds { ty: Type::Int, low: -300, high: 300, grain: 0 };
        let mut value = Value::new(node, level::POSTFIX, bounds).with(&[&argument]);
        value.reads |= 1 << variable.id;
        Some(value)
    }

    /// An assignment as an expression.
    pub(crate) fn assignment(&mut self, depth: usize) -> Option<Value> {
        let variable = self.choose(|kind| matches!(kind, Kind::Integer { constant: false, .. }))?;
        let Kind::Integer { ty, low, high, wraps, .. } = variable.kind else { return None };
        let drawn = self.integer(depth);
        let value = match wraps {
            true => drawn,
            false => self.fitted(&drawn, low, high),
        };
        if ty == Type::Bool && value.wraps {
            return None;
        }
        let right = self.operand(&value, level::ASSIGN);
        let node = Node::new(Role::Fixed).text(format!("{} = ", variable.name)).node(right);
        let mut result = Value::new(node, level::ASSIGN, Bounds { ty, low, high, grain: 0 });
        result = result.wrapping(wraps).with(&[&value]);
        result.writes |= 1 << variable.id;
        result.reads |= 1 << variable.id;
        Some(result)
    }

    /// `++x` and similar, on a variable that may wrap.
    pub(crate) fn increment(&mut self) -> Option<Value> {
        let variable =
            self.choose(|kind| matches!(kind, Kind::Integer { constant: false, wraps: true, .. }))?;
        let Kind::Integer { ty, low, high, .. } = variable.kind else { return None };
        if ty.is_signed() && ty.promoted() == ty {
            return None;
        }
        let forms = ["++X", "--X", "X++", "X--"];
        let text = self.random.pick(&forms).replace('X', &variable.name);
        let level = if text.starts_with(['+', '-']) { level::UNARY } else { level::POSTFIX };
        let mut value = Value::integer(text, level, ty, low, high).wrapping(true);
        value.writes |= 1 << variable.id;
        value.reads |= 1 << variable.id;
        Some(value)
    }

    /// A call of a function of the program.
    pub(crate) fn call(&mut self, depth: usize, floating: bool) -> Option<Value> {
        let at = self.random.below(self.functions.len().max(1));
        let function =
            self.functions.get(at).filter(|one| one.result.ty.is_float() == floating)?.clone();
        let left_out = self.random.below(function.defaults + 1);
        let given = function.parameters.len() - left_out;
        let mut node = Node::new(Role::Fixed).text(format!("{}(", function.name));
        let mut result =
            Value::new(Node::new(Role::Fixed), level::POSTFIX, function.result.clone());
        let mut arguments: Vec<Value> = Vec::new();
        let mut bound = 0_u128;
        for (ty, passing) in function.parameters.iter().take(given) {
            let argument = self.argument(*ty, *passing, depth, &mut bound)?;
            if arguments.iter().any(|other| !other.commutes(&argument)) {
                return None;
            }
            node = node.text(if arguments.is_empty() { "" } else { ", " });
            node = node.node(self.operand(&argument, level::ASSIGN));
            arguments.push(argument);
        }
        result = result.with(&arguments.iter().collect::<Vec<_>>());
        (result.reads, result.writes) = (result.reads | bound, result.writes | bound);
        // A reference argument must not be changed by another argument.
        if arguments.iter().any(|argument| argument.writes & bound != 0) {
            return None;
        }
        let value = Value::new(node.text(")"), level::POSTFIX, function.result);
        Some(value.with(&[&result]))
    }

    fn argument(
        &mut self,
        ty: Type,
        passing: Passing,
        depth: usize,
        bound: &mut u128,
    ) -> Option<Value> {
        match passing {
            Passing::Value | Passing::ConstReference => {
                let drawn = if ty.is_float() { self.floating(depth) } else { self.integer(depth) };
                Some(match ty.is_float() {
                    true => self.fitted_float(&drawn),
                    false => {
                        let (low, high) = standard(ty);
                        self.fitted(&drawn, low, high)
                    }
                })
            }
            Passing::Reference => {
                let variable = self.integer_variable(ty)?;
                if *bound & 1 << variable.id != 0 {
                    return None;
                }
                *bound |= 1 << variable.id;
                let node = Node::new(Role::Fixed).text(variable.name);
                Some(Value {
                    node,
                    ..Value::new(Node::new(Role::Fixed), level::PRIMARY, standard_bounds(ty))
                })
            }
            Passing::Pointer(room) => {
                let array = self.choose(|kind| match kind {
                    Kind::Array { ty: own, sizes, constant } => {
                        *own == ty && !constant && sizes.len() == 1 && sizes[0] >= room
                    }
                    _ => false,
                })?;
                if *bound & 1 << array.id != 0 {
                    return None;
                }
                *bound |= 1 << array.id;
                let text = match self.random.below(3) {
                    0 => format!("&{}[0]", array.name),
                    _ => array.name,
                };
                let node = Node::new(Role::Fixed).text(text);
                Some(Value {
                    node,
                    ..Value::new(Node::new(Role::Fixed), level::UNARY, standard_bounds(ty))
                })
            }
        }
    }
}
