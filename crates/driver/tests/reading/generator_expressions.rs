//! Draws expressions.

use super::features::Feature;
use super::generator::{Kind, Variable, Writer, standard, standard_bounds};
use super::generator_values::{Value, level};
use super::tree::{Bounds, Node, Role};
use super::types::Type;

const ARITHMETIC: [&str; 9] = ["+", "-", "*", "+", "-", "&", "|", "^", "%"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

impl Writer {
    /// A constant of a type, in one of its spellings.
    pub(crate) fn literal(&mut self, ty: Type, value: i128) -> Value {
        let digits = match self.random.below(8) {
            0 if value >= 0 => format!("0x{value:x}"),
            1 if value >= 0 => format!("0{value:o}"),
            2 if value >= 0 && self.uses(Feature::BinaryLiterals) => format!("0b{value:b}"),
            3 if value >= 1000 && self.uses(Feature::Separators) => {
                format!("{}'{:03}", value / 1000, value % 1000)
            }
            _ => value.to_string(),
        };
        let suffix = match ty {
            Type::Unsigned => ["u", "U"][self.random.below(2)],
            Type::Long => ["l", "L"][self.random.below(2)],
            Type::UnsignedLong => ["ul", "UL"][self.random.below(2)],
            Type::LongLong => ["ll", "LL"][self.random.below(2)],
            Type::UnsignedLongLong => ["ull", "LLU"][self.random.below(2)],
            _ => "",
        };
        let own = matches!(ty, Type::Int) || !suffix.is_empty();
        let (text, level) = match (own, value < 0) {
            (true, false) => (format!("{digits}{suffix}"), level::PRIMARY),
            (true, true) => (format!("{digits}{suffix}"), level::UNARY),
            (false, _) if ty == Type::Bool => {
                (["false", "true"][usize::from(value != 0)].to_owned(), level::PRIMARY)
            }
            (false, _)
                if ty == Type::Char
                    && self.uses(Feature::Characters)
                    && (48..58).contains(&value) =>
            {
                (format!("'{}'", value - 48), level::PRIMARY)
            }
            (false, false) => (format!("({}){digits}", ty.name()), level::UNARY),
            (false, true) => (format!("({})({digits})", ty.name()), level::UNARY),
        };
        Value::integer(text, level, ty, value, value)
    }

    fn drawn_literal(&mut self) -> Value {
        let ty = match self.random.chance(60) {
            true => Type::Int,
            false => self.integer_type(),
        };
        let (low, high) = standard(ty);
        let value = match self.random.below(4) {
            0 => self.random.within(low, high),
            1 if self.wrapping && self.random.chance(30) => {
                let (least, most) = ty.range();
                let edge = self.random.pick(&[most, least + 1, most - 1, most / 2 + 1]);
                // A decimal literal that does not fit would have another type.
                if ty.promoted() == ty { edge.max(least + 1) } else { edge }
            }
            _ => self.random.within(low.max(-3), high.min(9)),
        };
        self.literal(ty, value)
    }

    /// Reads a variable or a part of one.
    fn variable(&mut self, floating: bool) -> Option<Value> {
        let wanted = move |kind: &Kind| match kind {
            Kind::Integer { .. } | Kind::Enumeration { .. } => !floating,
            Kind::Floating { .. } => floating,
            Kind::Array { ty, .. } | Kind::Pointer { ty, .. } => ty.is_float() == floating,
            Kind::Structure { .. } => true,
        };
        let variable = self.choose(wanted)?;
        self.read(&variable, floating)
    }

    fn read(&mut self, variable: &Variable, floating: bool) -> Option<Value> {
        let (name, reads) = (variable.name.clone(), 1_u128 << variable.id);
        let mut value = match &variable.kind {
            Kind::Integer { ty, low, high, wraps, .. } => {
                Value::integer(name, level::PRIMARY, *ty, *low, *high).wrapping(*wraps)
            }
            Kind::Floating { ty, .. } => {
                Value::new(Node::new(Role::Fixed).text(name), level::PRIMARY, standard_bounds(*ty))
            }
            Kind::Enumeration { which } => self.enumerated(*which, &name)?,
            Kind::Array { ty, sizes, .. } => self.element(&name, *ty, sizes)?,
            Kind::Pointer { ty, room, pointees, .. } => {
                let mut value = self.element(&name, *ty, &[*room])?;
                value.reads |= pointees;
                value
            }
            Kind::Structure { which } => self.field(&name, *which, floating)?,
        };
        value.reads |= reads;
        Some(value)
    }

    /// An element of an array, or of the target of a pointer.
    pub(crate) fn element(&mut self, name: &str, ty: Type, sizes: &[usize]) -> Option<Value> {
        let mut node = Node::new(Role::Fixed);
        let mut indices = Vec::new();
        let form =
            if sizes.len() == 1 && self.uses(Feature::Pointers) { self.random.below(6) } else { 9 };
        for size in sizes {
            // An index that contains an element uses a constant there.
            let depth = usize::from(!std::mem::replace(&mut self.in_index, true));
            let drawn = if depth == 1 { self.integer(1) } else { self.drawn_literal() };
            self.in_index = depth == 0;
            indices.push(self.fitted(&drawn, 0, *size as i128 - 1));
        }
        if indices.len() == 2 && !indices[0].commutes(&indices[1]) {
            return None;
        }
        match form {
            0 => {
                let index = self.operand(&indices[0], level::ADD + 1);
                node = node.text(format!("*({name} + ")).node(index).text(")");
            }
            1 => {
                let index = self.operand(&indices[0], level::COMMA);
                node = node.text(format!("*&{name}[")).node(index).text("]");
            }
            _ => {
                node = node.text(name);
                for index in &indices {
                    let index = self.operand(index, level::COMMA);
                    node = node.text("[").node(index).text("]");
                }
            }
        }
        let level = if form < 2 { level::UNARY } else { level::POSTFIX };
        let value = Value::new(node, level, standard_bounds(ty));
        Some(indices.iter().fold(value, |value, index| value.with(&[index])))
    }

    /// Reads a field of a structure.
    fn field(&mut self, name: &str, which: usize, floating: bool) -> Option<Value> {
        let fields = &self.structures[which].fields;
        let fields: Vec<(String, Type)> =
            fields.iter().filter(|(_, ty)| ty.is_float() == floating).cloned().collect();
        if fields.is_empty() {
            return None;
        }
        let (field, ty) = fields[self.random.below(fields.len())].clone();
        let text = match self.random.below(6) {
            0 if self.uses(Feature::Pointers) => format!("(&{name})->{field}"),
            _ => format!("{name}.{field}"),
        };
        Some(Value::new(Node::new(Role::Fixed).text(text), level::POSTFIX, standard_bounds(ty)))
    }

    /// An integer expression of any type.
    pub(crate) fn integer(&mut self, depth: usize) -> Value {
        for _ in 0..6 {
            let value = if depth == 0 || self.random.chance(18) {
                self.leaf()
            } else {
                self.compound(depth - 1)
            };
            if let Some(value) = value {
                return value;
            }
        }
        self.drawn_literal()
    }

    fn leaf(&mut self) -> Option<Value> {
        match self.random.below(12) {
            0 => Some(self.drawn_literal()),
            1 => Some(Value::integer("threadIdx.x", level::POSTFIX, Type::Unsigned, 0, 3)),
            2 => Some(Value::integer("blockDim.x", level::POSTFIX, Type::Unsigned, 4, 4)),
            3 if self.uses(Feature::SizeOf) => self.size_of(),
            4 | 5 => {
                let at = self.random.below(self.constants.len().max(1));
                let (name, ty, value) = self.constants.get(at)?.clone();
                Some(Value::integer(name, level::PRIMARY, ty, value, value))
            }
            6 => self.enumerator(),
            _ => self.variable(false),
        }
    }

    fn size_of(&mut self) -> Option<Value> {
        let ty = self.random.pick(&Type::INTEGERS);
        let text = match self.random.below(3) {
            0 => format!("sizeof({})", ty.name()),
            1 => "sizeof(tid)".to_owned(),
            _ => {
                let array = self
                    .choose(|kind| matches!(kind, Kind::Array { sizes, .. } if sizes.len() == 1))?;
                if array.name.starts_with("in") {
                    return None;
                }
                format!("sizeof({0}) / sizeof({0}[0])", array.name)
            }
        };
        let level = if text.contains('/') { level::MULTIPLY } else { level::UNARY };
        if text == "sizeof(tid)"
            && self.scopes.get(1).is_none_or(|scope| scope.iter().all(|one| one.name != "tid"))
        {
            return None;
        }
        let known = match text.as_str() {
            "sizeof(tid)" => 4,
            _ if text.contains('/') => 0,
            _ => i128::from(ty.bits() / 8),
        };
        let (low, high) = if known == 0 { (1, 64) } else { (known, known) };
        Some(Value::integer(text, level, Type::UnsignedLong, low, high))
    }

    fn compound(&mut self, depth: usize) -> Option<Value> {
        let drawn = self.random.below(34);
        if !Feature::of_expression(drawn).is_none_or(|feature| self.uses(feature)) {
            return self.binary("+", depth);
        }
        match drawn {
            0..=7 => {
                let operator = self.random.pick(&ARITHMETIC);
                self.binary(operator, depth)
            }
            8 | 9 => self.quotient(depth),
            10 | 11 => self.shifted(depth),
            12 | 13 => self.condition_of(depth),
            14..=16 => {
                let (condition, one, other) =
                    (self.condition(depth), self.integer(depth), self.integer(depth));
                self.conditional(&condition, &one, &other)
            }
            17 | 18 => {
                let ty = self.integer_type();
                let value = match self.random.chance(20) {
                    true => self.floating(depth),
                    false => self.integer(depth),
                };
                self.cast(&value, ty)
            }
            19 | 20 => self.unary(depth),
            21..=23 => self.call(depth, false),
            24 => self.overloaded(depth),
            25 => self.templated(depth),
            26 | 27 => self.intrinsic(depth),
            28 | 29 => self.macro_use(depth),
            30 => self.method(depth),
            31 => self.assignment(depth),
            32 => self.increment(),
            _ => {
                let (one, other) = (self.integer(depth), self.integer(depth));
                let node =
                    Node::new(Role::Fixed).node(self.operand(&one, level::ASSIGN)).text(", ");
                let node = node.node(self.operand(&other, level::ASSIGN));
                let value = Value::new(node, level::COMMA, other.bounds.clone());
                Some(value.wrapping(other.wraps).with(&[&one, &other]))
            }
        }
    }

    fn binary(&mut self, operator: &'static str, depth: usize) -> Option<Value> {
        let (left, right) = (self.integer(depth), self.integer(depth));
        if operator == "%" {
            let right = self.fitted(&right, 1, 50);
            return self.arithmetic(&left, operator, &right);
        }
        let found = self.arithmetic(&left, operator, &right);
        // Too large: retry with smaller operands.
        found.or_else(|| {
            let left = self.fitted(&left, -90, 90);
            let right = self.fitted(&right, 0, 90);
            self.arithmetic(&left, operator, &right)
        })
    }

    fn quotient(&mut self, depth: usize) -> Option<Value> {
        let (left, right) = (self.integer(depth), self.integer(depth));
        let right = match self.random.below(3) {
            0 if right.fits(-1000, 1000) && right.ty().is_signed() => {
                let one = self.literal(Type::Int, 1001);
                self.arithmetic(&right, "-", &one)?
            }
            1 => {
                let value = self.random.within(1, 9);
                self.literal(Type::Int, value)
            }
            _ => self.fitted(&right, 1, 40),
        };
        let operator = self.random.pick(&["/", "%"]);
        self.arithmetic(&left, operator, &right)
    }

    fn shifted(&mut self, depth: usize) -> Option<Value> {
        let (left, right) = (self.integer(depth), self.integer(depth));
        let operator = self.random.pick(&["<<", ">>"]);
        let most = i128::from(left.ty().promoted().bits().min(40)) - 1;
        let most = if operator == "<<" { self.random.within(1, most) } else { most };
        let right = self.fitted(&right, 0, most);
        self.shift(&left, operator, &right).or_else(|| {
            let left = self.fitted(&left, 0, 255);
            let right = self.fitted(&right, 0, 7);
            self.shift(&left, operator, &right)
        })
    }

    fn unary(&mut self, depth: usize) -> Option<Value> {
        let inner = self.integer(depth);
        let ty = inner.ty().promoted();
        let Bounds { low, high, .. } = inner.bounds;
        let operator = self.random.pick(&["-", "~", "!", "+"]);
        let (ty, low, high) = match operator {
            "-" => (ty, -high, -low),
            "~" => (ty, -1 - high, -1 - low),
            "!" => (Type::Bool, 0, 1),
            _ => (ty, low, high),
        };
        let mut wraps = inner.wraps;
        let (mut low, mut high) = (low, high);
        if !ty.holds(low, high) {
            if ty.is_signed() {
                return None;
            }
            wraps = true;
            (low, high) = ty.range();
        }
        if wraps && (!self.wrapping || operator == "!") {
            return None;
        }
        let operand = self.operand(&inner, level::UNARY);
        let joins = operand.render().starts_with(['-', '+', '&']);
        let spelled = if joins { format!("{operator} ") } else { operator.to_owned() };
        let node = Node::new(Role::Fixed).text(spelled).node(operand);
        let value = Value::new(node, level::UNARY, Bounds { ty, low, high, grain: 0 });
        Some(value.wrapping(wraps).with(&[&inner]))
    }

    /// A truth value.
    fn condition_of(&mut self, depth: usize) -> Option<Value> {
        match self.random.below(8) {
            0 | 1 => {
                let (left, right) = (self.condition(depth), self.condition(depth));
                let operator = self.random.pick(&["&&", "||"]);
                self.connective(&left, operator, &right)
            }
            2 => {
                let (left, right) = (self.floating(depth), self.floating(depth));
                let operator = self.random.pick(&COMPARISONS);
                self.comparison(&left, operator, &right)
            }
            _ => {
                let (left, right) = (self.integer(depth), self.integer(depth));
                let operator = self.random.pick(&COMPARISONS);
                self.comparison(&left, operator, &right)
            }
        }
    }

    /// An expression used as a condition.
    pub(crate) fn condition(&mut self, depth: usize) -> Value {
        for _ in 0..5 {
            let value = match self.random.chance(75) {
                true => self.condition_of(depth.saturating_sub(1)),
                false => Some(self.integer(depth.saturating_sub(1))),
            };
            if let Some(value) = value.filter(|value| !value.wraps) {
                return value;
            }
        }
        Value::integer("(tid & 1) == 0", level::EQUAL, Type::Bool, 0, 1).guarded(
            self.scopes.get(1).is_some_and(|scope| scope.iter().any(|one| one.name == "tid")),
        )
    }

    /// A float expression.
    pub(crate) fn floating(&mut self, depth: usize) -> Value {
        for _ in 0..6 {
            let value = match (depth, self.random.below(10)) {
                (0, 0..=2) | (_, 0) => Some(self.float_literal()),
                (0, _) | (_, 1 | 2) => self.variable(true),
                (_, 3..=5) => {
                    let left = self.floating(depth - 1);
                    let right = match self.random.chance(30) {
                        true => self.integer(depth - 1),
                        false => self.floating(depth - 1),
                    };
                    let operator = self.random.pick(&["+", "-", "*"]);
                    self.arithmetic(&left, operator, &right)
                }
                (_, 6) => {
                    let condition = self.condition(depth - 1);
                    let (one, other) = (self.floating(depth - 1), self.floating(depth - 1));
                    self.conditional(&condition, &one, &other)
                }
                (_, 7) => {
                    let whole = self.integer(depth - 1);
                    let whole = self.fitted(&whole, -64, 64);
                    let ty = self.real_type();
                    Some(self.cast_to(&whole, Bounds { ty, low: 0, high: 64, grain: 0 }))
                }
                (_, 8) => self.call(depth - 1, true),
                _ => self.float_function(depth - 1),
            };
            if let Some(value) = value.filter(|value| value.ty().is_float()) {
                return value;
            }
        }
        self.float_literal()
    }

    fn float_literal(&mut self) -> Value {
        let all =
            ["0.5f", "1.25f", "2.f", ".75f", "3e0f", "10.25f", "1e1f", "1.5", "4.0", "0x1p1f"];
        let common = if self.uses(Feature::Double) { 9 } else { 7 };
        let hexadecimal = self.uses(Feature::HexFloats) && self.random.chance(20);
        let text = if hexadecimal { all[9] } else { all[self.random.below(common)] };
        let ty = if text.ends_with('f') { Type::Float } else { Type::Double };
        Value::new(
            Node::new(Role::Fixed).text(text),
            level::PRIMARY,
            Bounds { ty, low: 0, high: 11, grain: 2 },
        )
    }

    /// A float function with an exact result.
    fn float_function(&mut self, depth: usize) -> Option<Value> {
        let one = self.floating(depth);
        let one = self.fitted_float(&one);
        let name = self.random.pick(&["fabsf", "floorf", "ceilf", "fminf", "fmaxf", "truncf"]);
        let mut node =
            Node::new(Role::Fixed).text(format!("{name}(")).node(self.operand(&one, level::ASSIGN));
        let mut value_of = one.clone();
        if name.starts_with("fm") {
            let other = self.floating(depth);
            let other = self.fitted_float(&other);
            if !one.commutes(&other) {
                return None;
            }
            node = node.text(", ").node(self.operand(&other, level::ASSIGN));
            value_of = value_of.with(&[&other]);
        }
        let bounds = Bounds { high: 65, ..standard_bounds(Type::Float) };
        Some(Value::new(node.text(")"), level::POSTFIX, bounds).with(&[&value_of]))
    }

    /// A value to store to an output of a type.
    pub(crate) fn data(&mut self, ty: Type) -> Value {
        let depth = 2 + self.random.below(3);
        let value = match ty.is_float() {
            true => {
                let value = self.floating(depth);
                return if value.is_exact() { value } else { self.float_literal() };
            }
            false => self.integer(depth),
        };
        let value = match value.level == level::COMMA {
            true => {
                let node = Node::new(Role::Fixed).text("(").node(value.node.clone()).text(")");
                Value { node, level: level::PRIMARY, ..value }
            }
            false => value,
        };
        let (.., wraps) = value.converted(ty);
        match wraps && !self.wrapping {
            true => {
                let (low, high) = standard(ty);
                self.fitted(&value, low, high)
            }
            false => value,
        }
    }
}

impl Value {
    /// The value if its variables are available, else a constant.
    fn guarded(self, there: bool) -> Self {
        if there { self } else { Self::integer("true", level::PRIMARY, Type::Bool, 1, 1) }
    }
}
