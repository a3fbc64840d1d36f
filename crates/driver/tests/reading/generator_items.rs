//! Draws declarations at file scope: constants, tables, enumerations, structures, functions, overloads and templates,
//! and calls of them.

use super::features::Feature;
use super::generator::{
    Enumeration, Function, Kind, Overloads, Passing, Structure, Writer, standard, standard_bounds,
};
use super::generator_values::{Value, level};
use super::tree::{Bounds, Node, Role};
use super::types::Type;

const QUALIFIERS: [&str; 6] = [
    "__device__",
    "static __device__",
    "__device__ inline",
    "__device__ __forceinline__",
    "__host__ __device__",
    "static __device__ __attribute__((unused))",
];
const TEMPLATES: usize = 8;

impl Writer {
    /// Everything before the kernel.
    pub(crate) fn file_scope(&mut self) {
        self.named_constants();
        if self.uses(Feature::Tables) {
            self.table();
        }
        if self.uses(Feature::Enumerations) {
            self.enumeration();
        }
        if self.uses(Feature::Structures) {
            self.structure();
        }
        if self.uses(Feature::Overloads) {
            self.overload_set();
        }
        for which in 0..TEMPLATES {
            if self.uses(Feature::Templates) && self.random.chance(25) {
                self.template(which);
            }
        }
        if self.uses(Feature::Macros) {
            self.macro_definitions();
        }
        for number in 0..self.random.below(4) {
            self.device_function(number);
        }
    }

    fn qualifier(&mut self) -> &'static str {
        let known = if self.uses(Feature::Qualifiers) { QUALIFIERS.len() } else { 1 };
        QUALIFIERS[self.random.below(known)]
    }

    fn item(&mut self, text: String) {
        self.items.push(Node::line(text));
    }

    fn table(&mut self) {
        let ty = self.random.pick(&[Type::Int, Type::UnsignedChar, Type::Short, Type::Float]);
        let size = 3 + self.random.below(4);
        let (low, high) = standard(ty);
        let values = 1 + self.random.below(size);
        let mut values: Vec<String> = (0..values)
            .map(|_| self.random.within(low.max(-9), high.min(20)).to_string())
            .collect();
        // PTX does not distinguish a table initialised with zeros from one that the host fills.
        if values.iter().all(|value| value == "0") {
            values[0] = "7".to_owned();
        }
        let name = self.global("table");
        let head = self.random.pick(&["__constant__", "__device__ const", "static __constant__"]);
        let listed = values.join(", ");
        self.item(format!("{head} {} {name}[{size}] = {{{listed}}};\n", ty.name()));
        self.declare(&name, Kind::Array { ty, sizes: vec![size], constant: true });
    }

    fn enumeration(&mut self) {
        let scoped = self.uses(Feature::ScopedEnumerations);
        let name = self.global("Mode");
        let mut next = 0;
        let mut values = Vec::new();
        let mut texts = Vec::new();
        for letter in ["First", "Second", "Third"] {
            let own = self.global(letter);
            if self.random.chance(40) {
                next = self.random.within(next, next + 6);
                texts.push(format!("{own} = {next}"));
            } else {
                texts.push(own.clone());
            }
            values.push((own, next));
            next += 1;
        }
        let class = if scoped { "enum class" } else { "enum" };
        let base = if self.random.chance(30) { " : unsigned char" } else { "" };
        self.item(format!("{class} {name}{base} {{ {} }};\n", texts.join(", ")));
        self.enumerations.push(Enumeration { name, scoped, values });
    }

    /// A named constant of an enumeration, as an integer.
    pub(crate) fn enumerator(&mut self) -> Option<Value> {
        let at = self.random.below(self.enumerations.len().max(1));
        let one = self.enumerations.get(at)?;
        let (name, value) = one.values[value_index(one.values.len(), &mut self.random)].clone();
        let (text, level) = match (one.scoped, self.random.below(2)) {
            (true, 0) => (format!("(int){}::{name}", one.name), level::UNARY),
            (true, _) => (format!("static_cast<int>({}::{name})", one.name), level::POSTFIX),
            (false, 0) => (format!("+{name}"), level::UNARY),
            (false, _) => (format!("int({name})"), level::POSTFIX),
        };
        Some(Value::integer(text, level, Type::Int, value, value))
    }

    /// A variable of an enumeration, as an integer.
    pub(crate) fn enumerated(&mut self, which: usize, name: &str) -> Option<Value> {
        let one = self.enumerations.get(which)?;
        let high = one.values.iter().map(|(_, value)| *value).max()?;
        let text =
            if one.scoped { format!("static_cast<int>({name})") } else { format!("int({name})") };
        Some(Value::integer(text, level::POSTFIX, Type::Int, 0, high))
    }

    /// A variable of an enumeration, and a `switch` over it.
    pub(crate) fn enumeration_declaration(&mut self) -> Node {
        let (pad, which) = (self.pad(), 0);
        let Some(one) = self.enumerations.get(which).cloned() else {
            return Node::line(format!("{pad};\n"));
        };
        let name = self.new_name();
        let full = |(own, _): &(String, i128)| match one.scoped {
            true => format!("{}::{own}", one.name),
            false => own.clone(),
        };
        let condition = self.condition(1);
        let condition = self.operand(&condition, level::OR);
        let node = Node::line(format!("{pad}{} {name} = ", one.name)).node(condition);
        let mut text = format!(" ? {} : {};\n", full(&one.values[0]), full(&one.values[2]));
        let target = self.choose(|kind| {
            matches!(kind, Kind::Integer { ty: Type::Int, wraps: false, constant: false, .. })
        });
        if let Some(target) = target.map(|one| one.name) {
            let (first, last) = (full(&one.values[0]), full(&one.values[2]));
            let ends = self.random.pick(&["break; ", ""]);
            text += &format!(
                "{pad}switch ({name}) {{ case {first}: {target} = 1; {ends}case {last}: {target} = 2; break; default: {target} = 3; }}\n"
            );
        }
        self.declare(&name, Kind::Enumeration { which });
        node.text(text)
    }

    fn structure(&mut self) {
        let (name, constructor) = (self.global("Record"), self.uses(Feature::Constructors));
        let (methods, operators) = (self.uses(Feature::Methods), self.uses(Feature::Operators));
        let small =
            self.random.pick(&[Type::UnsignedChar, Type::Short, Type::Unsigned, Type::LongLong]);
        let real = self.random.pick(&[Type::Float, Type::Double]);
        let fields: Vec<(String, Type)> = [("a", Type::Int), ("b", small), ("f", real)]
            .map(|(name, ty)| (name.to_owned(), ty))
            .into();
        let (second, third) = (small.name(), real.name());
        let mut text = format!("struct {name} {{\n  int a; {second} b;\n  {third} f;\n");
        if constructor {
            text += &format!("  __device__ {name}() : a(3), b(1), f(0.5f) {{}}\n");
            text += &format!(
                "  __device__ {name}(int x, int y = 2) : a(x), b(y & 7), f(x * 0.25f) {{ if (x > 9) this->a -= 1; }}\n"
            );
        }
        if methods {
            text +=
                "  __device__ int mixed(int x) const { return (a % 100) + x + (int)(b & 31); }\n";
            text += "  __device__ void bump(int d) { a = (a + d) % 50; b = d & 3; f = -f; }\n";
        }
        text += "};\n";
        if operators {
            text += &format!(
                "__device__ {name} operator+(const {name}& l, const {name} &r) {{ {name} s = l; s.a = (l.a + r.a * 2) % 50; return s; }}\n"
            );
        }
        self.item(text);
        self.structures.push(Structure { name, fields, methods, constructor, operators });
    }

    fn overload_set(&mut self) {
        let name = self.global("pick");
        let all = [
            Type::Int,
            Type::Unsigned,
            Type::LongLong,
            Type::Float,
            Type::Double,
            Type::UnsignedChar,
            Type::Short,
            Type::UnsignedLongLong,
        ];
        let types: Vec<Type> = all.into_iter().filter(|_| self.random.chance(40)).take(4).collect();
        if types.len() < 2 {
            return;
        }
        for (at, ty) in types.iter().enumerate() {
            let own = ty.name();
            let body = match ty.is_float() {
                true => format!("return (int)(a * 2) + {};", at * 100),
                false => format!("return (int)(a & 7) + {};", at * 100),
            };
            let qualifier = self.qualifier();
            self.item(format!("{qualifier} int {name}({own} a) {{ {body} }}\n"));
        }
        self.overloads.push(Overloads { name, types });
    }

    /// A call with one best overload: exactly, or by promotion.
    pub(crate) fn overloaded(&mut self, depth: usize) -> Option<Value> {
        let Overloads { name, types } = self.overloads.first()?.clone();
        let narrow = [
            Type::Bool,
            Type::Char,
            Type::SignedChar,
            Type::Short,
            Type::UnsignedShort,
            Type::UnsignedChar,
        ];
        let narrow: Vec<Type> = narrow.into_iter().filter(|ty| !types.contains(ty)).collect();
        let ty = match types.contains(&Type::Int) && self.random.chance(40) {
            true => narrow[self.random.below(narrow.len())],
            false if types.contains(&Type::Double) && !types.contains(&Type::Float) => Type::Float,
            false => types[self.random.below(types.len())],
        };
        let argument = self.exactly(ty, depth);
        let inner = self.operand(&argument, level::ASSIGN);
        let node = Node::new(Role::Fixed).text(format!("{name}(")).node(inner).text(")");
        let bounds = Bounds { ty: Type::Int, low: -200, high: 500, grain: 0 };
        Some(Value::new(node, level::POSTFIX, bounds).with(&[&argument]))
    }

    /// An expression of exactly this type, within its range.
    fn exactly(&mut self, ty: Type, depth: usize) -> Value {
        let drawn = if ty.is_float() { self.floating(depth) } else { self.integer(depth) };
        self.stored(&drawn, ty)
    }

    fn template(&mut self, which: usize) {
        let n = self.number;
        let text = match which {
            0 => format!(
                "template <typename T> __device__ T twist_{n}(T a, T b) {{ return (T)((a & (T)15) * (T)3 + (b & (T)7)); }}\n"
            ),
            1 => format!(
                "template <int N> __device__ int power_{n}(int x) {{\n  int r = 1;\n  for (int i = 0; i < N; i++) r = r * x % 997;\n  return r;\n}}\n"
            ),
            2 => format!(
                "template <class T, int N> __device__ int total_{n}(T (&a)[N]) {{ int s = 0; for (int i = 0; i < N; ++i) s += (int)(a[i] & 7); return s; }}\n"
            ),
            3 => format!(
                "template <int N> struct Factorial_{n} {{ static const int value = N * Factorial_{n}<N - 1>::value; }};\ntemplate <> struct Factorial_{n}<0> {{ static const int value = 1; }};\n"
            ),
            4 => format!(
                "template <typename T> __device__ int which_{n}(T) {{ return 1; }}\ntemplate <> __device__ int which_{n}<float>(float) {{ return 2; }}\ntemplate <> __device__ int which_{n}<unsigned>(unsigned a) {{ return 3; }}\n"
            ),
            5 => format!(
                "template <typename R, typename T> __device__ R turned_{n}(T a) {{ R r = (R)a; return r; }}\n"
            ),
            6 => format!(
                "template <bool B, int K = 2> __device__ int flip_{n}(int x) {{ if constexpr (B) return -x; else return x / K; }}\n"
            ),
            _ => format!(
                "template <typename T> struct Pair_{n} {{ T a, b; __device__ int sum() const {{ return (int)(a + b); }} }};\n"
            ),
        };
        self.item(text);
        self.templates.push(which);
    }

    /// A call of a template.
    pub(crate) fn templated(&mut self, depth: usize) -> Option<Value> {
        let n = self.number;
        let at = self.random.below(self.templates.len().max(1));
        let which = *self.templates.get(at)?;
        let (ty, low, high) = match which {
            0 => (self.integer_type(), 0, 52),
            1 => (Type::Int, -996, 996),
            2 => (Type::Int, 0, 42),
            5 => {
                let ty = self.integer_type();
                (ty, standard(ty).0, standard(ty).1)
            }
            6 => (Type::Int, -5000, 5000),
            _ => (Type::Int, -200, 200),
        };
        let bounds = Bounds { ty, low, high, grain: 0 };
        let made = |node: Node, of: &[&Value]| Value::new(node, level::POSTFIX, bounds).with(of);
        let head = |text: String| Node::new(Role::Fixed).text(text);
        match which {
            0 => {
                let (one, other) = (self.exactly(ty, depth), self.exactly(ty, depth));
                let explicit =
                    if self.random.chance(40) { format!("<{}>", ty.name()) } else { String::new() };
                let node = head(format!("twist_{n}{explicit}("))
                    .node(self.operand(&one, level::ASSIGN))
                    .text(", ");
                let node = node.node(self.operand(&other, level::ASSIGN)).text(")");
                one.commutes(&other).then(|| made(node, &[&one, &other]))
            }
            1 | 6 => {
                let drawn = self.integer(depth);
                let value = self.fitted(&drawn, -60, 60);
                let forms = match which {
                    1 => ["power_N<3>(", "power_N<(1 << 1)>(", "power_N<sizeof(int)>("],
                    _ => ["flip_N<true>(", "flip_N<false, 3>(", "flip_N<(1 > 2)>("],
                };
                let form = self.random.pick(&forms).replace("_N", &format!("_{n}"));
                let node = head(form).node(self.operand(&value, level::ASSIGN)).text(")");
                Some(made(node, &[&value]))
            }
            2 => {
                let array = self.choose(|kind| matches!(kind, Kind::Array { ty, sizes, constant: false } if sizes.len() == 1 && !ty.is_float()))?;
                let mut value = made(head(format!("total_{n}({})", array.name)), &[]);
                value.reads |= 1 << array.id;
                Some(value)
            }
            3 => Some(made(head(format!("Factorial_{n}<{}>::value", self.random.below(5))), &[])),
            4 => {
                let ty = self.random.pick(&[
                    Type::Float,
                    Type::Unsigned,
                    Type::Int,
                    Type::Short,
                    Type::Double,
                ]);
                let value = self.exactly(ty, depth);
                let node =
                    head(format!("which_{n}(")).node(self.operand(&value, level::ASSIGN)).text(")");
                Some(made(node, &[&value]))
            }
            5 => {
                let drawn = self.integer(depth);
                let value = self.fitted(&drawn, low, high);
                let node = head(format!("turned_{n}<{}>(", ty.name()));
                let node = node.node(self.operand(&value, level::ASSIGN)).text(")");
                Some(made(node, &[&value]))
            }
            _ => {
                let drawn = [self.integer(depth), self.integer(depth)];
                let one = self.fitted(&drawn[0], -50, 50);
                let other = self.fitted(&drawn[1], -50, 50);
                let node = head(format!("Pair_{n}<int>{{(int)("));
                let node = node
                    .node(one.node.clone())
                    .text("), (int)(")
                    .node(other.node.clone())
                    .text(")}.sum()");
                Some(made(node, &[&one, &other]))
            }
        }
    }

    fn device_function(&mut self, number: usize) {
        let name = self.global(&format!("f{number}"));
        let all = [
            Type::Int,
            Type::Int,
            Type::Unsigned,
            Type::Float,
            Type::Short,
            Type::LongLong,
            Type::UnsignedChar,
            Type::Double,
        ];
        let result = self.random.pick(&all);
        let mut parameters = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let ty = self.random.pick(&all);
            let passing = match self.random.below(12) {
                0 if !ty.is_float() && self.uses(Feature::References) => Passing::Reference,
                1 if self.uses(Feature::References) => Passing::ConstReference,
                2 if !ty.is_float() && self.uses(Feature::Pointers) => Passing::Pointer(2),
                _ => Passing::Value,
            };
            parameters.push((ty, passing));
        }
        let by_value = |(_, passing): &&(Type, Passing)| *passing == Passing::Value;
        let trailing = parameters.iter().rev().take_while(by_value).count();
        let defaults = if self.uses(Feature::DefaultArguments) { trailing.min(1) } else { 0 };
        let bounds = standard_bounds(result);
        let node =
            self.function(|writer| writer.function_node(&name, &bounds, &parameters, defaults));
        self.items.push(node);
        self.functions.push(Function { name, result: bounds, parameters, defaults });
    }

    fn function_node(
        &mut self,
        name: &str,
        result: &Bounds,
        parameters: &[(Type, Passing)],
        defaults: usize,
    ) -> Node {
        let mut listed = Vec::new();
        let mut plain = Vec::new();
        for (at, (ty, passing)) in parameters.iter().enumerate() {
            let own = format!("p{at}");
            let (low, high) = standard(*ty);
            let spelled = ty.name();
            let constant = *passing == Passing::ConstReference;
            let declarator = match passing {
                Passing::Value => format!("{spelled} {own}"),
                Passing::Reference => format!("{spelled}& {own}"),
                Passing::ConstReference => format!("const {spelled}& {own}"),
                Passing::Pointer(_) => format!("{spelled}* {own}"),
            };
            plain.push(declarator.replace(&own, ""));
            let default = if at + defaults >= parameters.len() { " = 2" } else { "" };
            listed.push(format!("{declarator}{default}"));
            let kind = match passing {
                Passing::Pointer(room) => {
                    Kind::Pointer { ty: *ty, room: *room, constant: false, pointees: 0 }
                }
                _ if ty.is_float() => Kind::Floating { ty: *ty, constant },
                _ => Kind::Integer { ty: *ty, low, high, wraps: false, constant },
            };
            self.declare(&own, kind);
        }
        let qualifier = self.qualifier();
        let ty = result.ty.name();
        let mut head = String::new();
        if defaults == 0 && self.uses(Feature::Prototypes) && self.random.chance(40) {
            head = format!("{qualifier} {ty} {name}({});\n", plain.join(", "));
        }
        head += &format!("{qualifier} {ty} {name}({}) {{\n", listed.join(", "));
        self.returns = Some(result.clone());
        let count = self.random.below(5);
        let body = self.statements(count);
        self.returns = None;
        let drawn = if result.ty.is_float() { self.floating(2) } else { self.integer(2) };
        let value = match result.ty.is_float() {
            true => self.fitted_float(&drawn),
            false => self.fitted(&drawn, result.low, result.high),
        };
        Node::new(Role::Removable)
            .text(head)
            .nodes(body)
            .text("  return ")
            .node(value.node)
            .text(";\n}\n")
    }

    /// A built-in function of integers.
    pub(crate) fn intrinsic(&mut self, depth: usize) -> Option<Value> {
        let ty = self.random.pick(&[Type::Int, Type::Unsigned, Type::LongLong]);
        let one = self.exactly(ty, depth);
        let (name, low, high, of) = match (self.random.below(9), ty) {
            (0, _) => ("min", one.bounds.low, one.bounds.high, ty),
            (1, _) => ("max", one.bounds.low, one.bounds.high, ty),
            (2, Type::Int) => ("abs", 0, one.reach(), Type::Int),
            (3, Type::Unsigned) => ("__popc", 0, 32, Type::Int),
            (4, Type::Int) => ("__clz", 0, 32, Type::Int),
            (5, Type::Int) => ("__ffs", 0, 32, Type::Int),
            (6, Type::Int) => ("__mul24", -1_000_000, 1_000_000, Type::Int),
            (7, Type::Unsigned) => ("__umul24", 0, 2_000_000, Type::Unsigned),
            _ => return None,
        };
        let two = matches!(name, "min" | "max" | "__mul24" | "__umul24");
        let mut node =
            Node::new(Role::Fixed).text(format!("{name}(")).node(self.operand(&one, level::ASSIGN));
        let mut bounds = Bounds { ty: of, low, high, grain: 0 };
        let mut result = one.clone();
        if two {
            let other = match name.contains("24") {
                true => {
                    let value = self.random.within(0, 100);
                    self.literal(ty, value)
                }
                false => self.exactly(ty, depth),
            };
            if !one.commutes(&other) {
                return None;
            }
            if name.starts_with('m') {
                bounds.low = bounds.low.min(other.bounds.low);
                bounds.high = bounds.high.max(other.bounds.high);
            }
            node = node.text(", ").node(self.operand(&other, level::ASSIGN));
            result = result.with(&[&other]);
        }
        Some(Value::new(node.text(")"), level::POSTFIX, bounds).with(&[&result]))
    }
}

fn value_index(count: usize, random: &mut testing::Random) -> usize {
    random.below(count)
}
