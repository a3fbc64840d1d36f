//! Draws statements. The counter of every loop is constant in its body, so that loops end even if parts are removed.

use super::features::Feature;
use super::generator::{Kind, Writer, standard, standard_bounds};
use super::generator_values::{Value, level};
use super::tree::{Node, Role};
use super::types::Type;

/// Deeper statements are simple ones.
const MAX_NESTING: usize = 4;

impl Writer {
    pub(crate) fn statements(&mut self, count: usize) -> Vec<Node> {
        (0..count).map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Node {
        let flat = self.nesting >= MAX_NESTING;
        let drawn = self.random.below(if flat { 22 } else { 46 });
        if !Feature::of_statement(drawn).is_none_or(|feature| self.uses(feature)) {
            return self.assignment_statement();
        }
        match drawn {
            0..=9 if self.has_room() => self.declaration(),
            0..=15 => self.assignment_statement(),
            16 | 17 => self.compound_assignment(),
            18 => self.jump(),
            19 => self.sequenced(),
            20 => self.trivia(),
            21 => self.swap(),
            22..=29 => self.branch(),
            30..=37 => self.repeat(),
            38 | 39 => self.switch(),
            40 => self.walk(),
            41 => self.fill(),
            42 => self.lambda(),
            43 => self.pointer_choice(),
            44 => self.structure_use(),
            _ => self.block(),
        }
    }

    fn assignment_statement(&mut self) -> Node {
        let pad = self.pad();
        let (target, value) = match self.target() {
            Some(found) => found,
            None => return self.trivia(),
        };
        let node = self.operand(&value, level::ASSIGN);
        Node::line(pad).node(target.node).text(" = ").node(node).text(";\n")
    }

    /// An assignable expression, and a value for it.
    fn target(&mut self) -> Option<(Value, Value)> {
        let variable = self.choose(|kind| match kind {
            Kind::Integer { constant, .. } | Kind::Floating { constant, .. } => !constant,
            Kind::Array { constant, .. } | Kind::Pointer { constant, .. } => !constant,
            Kind::Structure { .. } | Kind::Enumeration { .. } => false,
        })?;
        let depth = 1 + self.random.below(3);
        let name = Node::new(Role::Fixed).text(variable.name.clone());
        let (target, ty, wraps) = match &variable.kind {
            Kind::Integer { ty, wraps, .. } => {
                (Value::new(name, level::PRIMARY, standard_bounds(*ty)), *ty, *wraps)
            }
            Kind::Floating { ty, .. } => {
                (Value::new(name, level::PRIMARY, standard_bounds(*ty)), *ty, false)
            }
            Kind::Array { ty, sizes, .. } => {
                (self.element(&variable.name, *ty, sizes)?, *ty, false)
            }
            Kind::Pointer { ty, room, .. } => {
                (self.element(&variable.name, *ty, &[*room])?, *ty, false)
            }
            _ => return None,
        };
        let value = if ty.is_float() {
            let drawn = self.floating(depth);
            self.fitted_float(&drawn)
        } else {
            let drawn = self.integer(depth);
            self.initial(&drawn, ty, wraps).0
        };
        Some((target, value))
    }

    /// `x += e` and similar, if the result keeps its range.
    fn compound_assignment(&mut self) -> Node {
        let pad = self.pad();
        let Some(variable) =
            self.choose(|kind| matches!(kind, Kind::Integer { constant: false, .. }))
        else {
            return self.trivia();
        };
        let Kind::Integer { ty, low, high, wraps, .. } = variable.kind else {
            return self.trivia();
        };
        let name = variable.name;
        if wraps {
            let own = Value::integer(name.clone(), level::PRIMARY, ty, low, high).wrapping(true);
            let operand = self.integer(2);
            let operator = self.random.pick(&["+", "-", "*", "^", "|", "&"]);
            if self.arithmetic(&own, operator, &operand).is_some() {
                let operand = self.operand(&operand, level::ASSIGN);
                return Node::line(format!("{pad}{name} {operator}= ")).node(operand).text(";\n");
            }
        }
        let constant = self.random.within(1, 9);
        let text = match self.random.below(4) {
            0 => format!("{name} %= {constant}"),
            1 => format!("{name} /= {constant}"),
            2 if low >= 0 => format!("{name} >>= {}", constant.min(6)),
            _ => format!("{name} &= {constant}"),
        };
        Node::line(format!("{pad}{text};\n"))
    }

    /// Leaves a loop, an iteration or a function.
    fn jump(&mut self) -> Node {
        let pad = self.pad();
        let condition = self.condition(2);
        let head = Node::line(format!("{pad}if (")).node(condition.node).text(") ");
        let keyword = match (self.loops > 0, self.switches > 0, &self.returns) {
            (_, _, Some(_)) if self.random.chance(40) => "return",
            (true, ..) => self.random.pick(&["continue", "break"]),
            (false, true, _) => "break",
            (false, false, Some(_)) => "return",
            (false, false, None) => return self.trivia(),
        };
        match (keyword, self.returns.clone()) {
            ("return", Some(bounds)) => {
                let drawn = if bounds.ty.is_float() { self.floating(1) } else { self.integer(1) };
                let value = match bounds.ty.is_float() {
                    true => self.fitted_float(&drawn),
                    false => self.fitted(&drawn, bounds.low, bounds.high),
                };
                head.text("return ").node(value.node).text(";\n")
            }
            _ => head.text(format!("{keyword};\n")),
        }
    }

    fn trivia(&mut self) -> Node {
        let pad = self.pad();
        if !self.uses(Feature::Trivia) {
            return Node::line(format!("{pad};\n"));
        }
        let lines = [
            ";",
            "/* nothing */;",
            "{ }",
            "(void)0;",
            "if (0) { } else ;",
            "// a line \\\n that goes on",
        ];
        Node::line(format!("{pad}{}\n", self.random.pick(&lines)))
    }

    fn body(&mut self, most: usize) -> Vec<Node> {
        self.scoped(|writer| {
            let count = 1 + writer.random.below(most);
            writer.statements(count)
        })
    }

    fn branch(&mut self) -> Node {
        let pad = self.pad();
        let condition = self.condition(2);
        let form = if self.uses(Feature::IfDeclaration) { self.random.below(3) } else { 1 };
        self.scopes.push(Vec::new());
        let mut node = Node::new(Role::Block).text(format!("{pad}if ("));
        if form == 0 {
            // A variable of the statement itself.
            let drawn = self.integer(1);
            let (low, high) = standard(Type::Int);
            let value = self.fitted(&drawn, low, high);
            let name = self.new_name();
            node = node.text(format!("int {name} = ")).node(self.operand(&value, level::ASSIGN));
            self.declare(
                &name,
                Kind::Integer { ty: Type::Int, low, high, wraps: false, constant: false },
            );
            if self.random.chance(50) {
                node = node.text("; ").node(condition.node.clone());
            }
        } else {
            node = node.node(condition.node.clone());
        }
        node = node.text(") {\n").nodes(self.body(3));
        if self.random.chance(30) {
            let other = self.condition(1);
            node = node.text(format!("{pad}}} else if (")).node(other.node).text(") {\n");
            node = node.nodes(self.body(2));
        }
        if self.random.chance(40) {
            node = node.text(format!("{pad}}} else {{\n")).nodes(self.body(2));
        }
        self.scopes.pop();
        node.text(format!("{pad}}}\n"))
    }

    fn repeat(&mut self) -> Node {
        let (pad, name) = (self.pad(), self.new_name());
        let times = 1 + self.random.below(4);
        let ty = self.random.pick(&[
            Type::Int,
            Type::Unsigned,
            Type::Int,
            Type::UnsignedChar,
            Type::Short,
        ]);
        let spelled = ty.name();
        let high = times as i128;
        let counter = Kind::Integer { ty, low: 0, high, wraps: false, constant: true };
        let forms = if self.uses(Feature::Loops) { 7 } else { 1 };
        let (before, head, tail) = match self.random.below(forms) + 7 - forms {
            0 => (
                String::new(),
                format!("for ({spelled} {name} = {times}; {name} > 0; {name}--)"),
                String::new(),
            ),
            1 => (
                format!("{pad}{{ {spelled} {name} = {times};\n"),
                format!("while ({name}-- > 0)"),
                "}".to_owned(),
            ),
            2 => (
                format!("{pad}{{ {spelled} {name} = 0;\n"),
                "do".to_owned(),
                format!(" while (++{name} < {times}); }}"),
            ),
            3 => (
                format!("{pad}{{ {spelled} {name} = 1;\n"),
                format!("for (; {name} <= {times}; {name} += 2)"),
                "}".to_owned(),
            ),
            4 => (
                String::new(),
                format!(
                    "for ({spelled} {name} = 1, stop_{name} = {times}; {name} < stop_{name}; {name} *= 2)"
                ),
                String::new(),
            ),
            _ => (
                String::new(),
                format!(
                    "for ({spelled} {name} = 0; {name} < {times}; {})",
                    ["++X", "X++", "X += 1"][self.random.below(3)].replace('X', &name)
                ),
                String::new(),
            ),
        };
        let counter = match (head.starts_with("while"), ty.is_signed()) {
            // After the last test an unsigned counter has wrapped; the body never sees that.
            (true, false) => Kind::Integer { ty, low: 0, high, wraps: false, constant: true },
            _ => counter,
        };
        let widest = match &counter {
            Kind::Integer { ty, low, constant, .. } if head.contains("+= 2") => Kind::Integer {
                ty: *ty,
                low: *low,
                high: high + 2,
                wraps: false,
                constant: *constant,
            },
            _ => counter,
        };
        let pragma = if head.starts_with("for") && before.is_empty() && self.random.chance(20) {
            format!("{pad}#pragma unroll\n")
        } else {
            String::new()
        };
        self.scopes.push(Vec::new());
        self.declare(&name, widest);
        let switches = std::mem::take(&mut self.switches);
        self.loops += 1;
        let body = self.body(3);
        self.loops -= 1;
        self.switches = switches;
        self.scopes.pop();
        let node = Node::new(Role::Block).text(format!("{pragma}{before}{pad}{head} {{\n"));
        node.nodes(body).text(format!("{pad}}}{tail}\n"))
    }

    fn switch(&mut self) -> Node {
        let pad = self.pad();
        let drawn = self.integer(2);
        let chosen = self.fitted(&drawn, 0, 7);
        self.switches += 1;
        let mut node =
            Node::new(Role::Block).text(format!("{pad}switch (")).node(chosen.node).text(") {\n");
        let cases = 2 + self.random.below(3);
        let last = self.random.below(cases + 1);
        for case in 0..cases {
            let label = match self.random.below(3) {
                0 => format!("case {case}: case {}:", case + 10),
                1 => format!("case {case} + 0:"),
                _ => format!("case {case}:"),
            };
            let label = if case == last { format!("{label} default:") } else { label };
            node = node.text(format!("{pad}{label} {{\n")).nodes(self.body(2));
            let ends = if self.random.chance(60) { " break;" } else { "" };
            node = node.text(format!("{pad}}}{ends}\n"));
        }
        self.switches -= 1;
        node.text(format!("{pad}}}\n"))
    }

    fn block(&mut self) -> Node {
        let pad = self.pad();
        let body = self.body(3);
        Node::new(Role::Block).text(format!("{pad}{{\n")).nodes(body).text(format!("{pad}}}\n"))
    }
}
