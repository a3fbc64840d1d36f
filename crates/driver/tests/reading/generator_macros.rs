//! Draws preprocessor input: constants, `#if`, macros of all kinds, and uses of them with a known expansion.

use super::features::Feature;
use super::generator::Writer;
use super::generator_values::{Value, level};
use super::tree::{Node, Role};
use super::types::Type;

const MACROS: usize = 11;

impl Writer {
    /// Named constants: `#define`, `constexpr`, `const`, and `#if` alternatives.
    pub(crate) fn named_constants(&mut self) {
        let n = self.number;
        let size = self.random.within(2, 9);
        let mut text = format!("#define SIZE_{n} {size}\n");
        self.constants.push((format!("SIZE_{n}"), Type::Int, size));
        if self.random.chance(40) {
            text += &format!("#define TWICE_{n} (SIZE_{n} * 2 \\\n  + 1)\n");
            self.constants.push((format!("TWICE_{n}"), Type::Int, size * 2 + 1));
        }
        if self.uses(Feature::Constants) {
            let value = self.random.within(0, 40);
            text += &format!("static const unsigned LIMIT_{n} = {value}u;\n");
            self.constants.push((format!("LIMIT_{n}"), Type::Unsigned, value));
        }
        if self.uses(Feature::Constexpr) {
            text += &format!(
                "constexpr __host__ __device__ int cube_{n}(int x) {{ return x * x * x; }}\n"
            );
            text += &format!("constexpr long long CUBED_{n} = cube_{n}(SIZE_{n}) - 1;\n");
            self.constants.push((format!("CUBED_{n}"), Type::LongLong, size * size * size - 1));
        }
        if self.random.chance(20) {
            text += &format!("enum {{ NAMELESS_{n} = SIZE_{n} + 2, NEXT_{n} }};\n");
        }
        self.items.push(Node::line(text));
        if self.uses(Feature::Conditionals) {
            self.chosen_constant(size);
        }
    }

    /// A macro that `#if` defines in one of several ways.
    fn chosen_constant(&mut self, size: i128) {
        let n = self.number;
        let conditions = [
            (format!("SIZE_{n} > 4"), size > 4),
            (format!("defined(SIZE_{n}) && !defined ABSENT_{n}"), true),
            (format!("SIZE_{n} * 2 - 1 == 9"), size == 5),
            ("-1 > 0u".to_owned(), true),
            (format!("SIZE_{n} % 2 ? 0 : 1"), size % 2 == 0),
            ("__CUDA_ARCH__ >= 700".to_owned(), true),
            (format!("ABSENT_{n}"), false),
            ("'A' == 65 && 0x10 == 16 && 010 == 8".to_owned(), true),
            ("(1 << 3) > 8 || ~0 > 0".to_owned(), false),
            (format!("(2 - SIZE_{n}) / 2 == 0"), size <= 3),
            ("defined(__CUDACC__) && defined(__cplusplus)".to_owned(), true),
            ("1 ? 0 : 1 / 0".to_owned(), false),
        ];
        let name = format!("CHOSEN_{n}");
        let first = conditions[self.random.below(conditions.len())].clone();
        let second = conditions[self.random.below(conditions.len())].clone();
        let value = if first.1 {
            1
        } else if second.1 {
            2
        } else {
            30
        };
        let mut text = format!("#if {}\n# define {name} 1\n", first.0);
        text += &format!(
            "#elif {}\n#define {name} 2\n#else\n  #define {name} 30 // else\n#endif\n",
            second.0
        );
        if self.uses(Feature::SkippedText) {
            text += &format!(
                "#ifndef ABSENT_{n}\n#if 0\nnot C++ at all '\n#endif\n#else\n#error absent\n#endif\n"
            );
        }
        self.items.push(Node::line(text));
        self.constants.push((name, Type::Int, value));
    }

    pub(crate) fn macro_definitions(&mut self) {
        let n = self.number;
        for which in 0..MACROS {
            if !self.random.chance(25) {
                continue;
            }
            let text = match which {
                0 => format!("#define ADD_{n}(a, b) a + b\n"),
                1 => format!("#define SQUARE_{n}(x) x * x\n"),
                2 => format!("#define LARGER_{n}(a, b) ((a) > (b) ? (a) : (b))\n"),
                3 => {
                    format!("#define JOIN_{n}(a, b) a##b\n#define JOIN2_{n}(a, b) JOIN_{n}(a, b)\n")
                }
                4 => format!("#define LAST_{n}(a, ...) (__VA_ARGS__)\n"),
                5 => format!("#define twice_{n}(x) ((x) * 2)\nconstexpr int twice_{n} = 7;\n"),
                6 => format!("constexpr int self_{n} = 4;\n#define self_{n} (self_{n} + 1)\n"),
                7 => format!("#define OUTER_{n}(x) INNER_{n}(x)\n#define INNER_{n}(x) ((x) - 1)\n"),
                8 => format!(
                    "#define FIRST_{n}(a, ...) (a)\n#define NONE_{n}\n#define SAME_{n}(x) x NONE_{n}\n"
                ),
                9 => format!(
                    "#define STEP_{n} 3\nconstexpr int before_{n} = STEP_{n};\n#undef STEP_{n}\n#define STEP_{n} 4\n"
                ),
                _ => format!(
                    "#define CALL_{n}(f, ...) f(__VA_ARGS__)\n#define MINUS_{n}(a, b) ((a) - (b))\n"
                ),
            };
            self.items.push(Node::line(text));
            self.macros.push(which);
        }
    }

    /// A use of a macro, with its expansion.
    pub(crate) fn macro_use(&mut self, depth: usize) -> Option<Value> {
        let n = self.number;
        let at = self.random.below(self.macros.len().max(1));
        let which = *self.macros.get(at)?;
        let drawn = [self.integer(depth.min(1)), self.integer(depth.min(1))];
        let one = self.fitted(&drawn[0], -40, 40);
        let other = self.fitted(&drawn[1], -40, 40);
        // Arguments may be repeated.
        if one.writes | other.writes != 0 {
            return None;
        }
        let primary = |writer: &mut Self, value: &Value| writer.operand(value, level::PRIMARY);
        let (x, y) = (primary(self, &one), primary(self, &other));
        let known = |text: String, value: i128| {
            Some(Value::integer(text, level::PRIMARY, Type::Int, value, value))
        };
        let node = Node::new(Role::Fixed);
        match which {
            // The second operand is multiplied, not the sum.
            0 => {
                let factor = self.literal(Type::Int, 3);
                let product = self.arithmetic(&other, "*", &factor)?;
                let sum = self.arithmetic(&one, "+", &product)?;
                let node = node.text(format!("ADD_{n}(")).node(x).text(", ").node(y).text(") * 3");
                Some(self.stands_for(node, &sum, level::ADD))
            }
            1 => {
                let product = self.arithmetic(&other, "*", &one)?;
                let sum = self.arithmetic(&one, "+", &product)?;
                let sum = self.arithmetic(&sum, "+", &other)?;
                let node = node.text(format!("SQUARE_{n}(")).node(x).text(" + ").node(y).text(")");
                Some(self.stands_for(node, &sum, level::ADD))
            }
            2 => {
                let test = self.comparison(&one, ">", &other)?;
                let chosen = self.conditional(&test, &one, &other)?;
                let node = node.text(format!("LARGER_{n}(")).node(x).text(",").node(y).text(")");
                Some(self.stands_for(node, &chosen, level::PRIMARY))
            }
            3 => match self.random.below(4) {
                0 => known(format!("JOIN_{n}(1, 2)"), 12),
                1 => known(format!("JOIN_{n}(0x, 1f)"), 31),
                2 => {
                    let (_, _, size) = self.constants.first()?.clone();
                    known(format!("JOIN_{n}(SIZE, _{n})"), size)
                }
                _ => {
                    let (_, _, size) = self.constants.first()?.clone();
                    known(format!("JOIN2_{n}(1, SIZE_{n})"), 10 + size)
                }
            },
            4 => {
                let node = node.text(format!("LAST_{n}(1, ")).node(x).text(", ").node(y).text(")");
                Some(self.stands_for(node, &other, level::PRIMARY).with(&[&one]))
            }
            5 => known(format!("(twice_{n} + twice_{n}(3))"), 13),
            6 => known(format!("self_{n}"), 5),
            7 => {
                let unit = self.literal(Type::Int, 2);
                let less = self.arithmetic(&one, "-", &unit)?;
                let node = node.text(format!("OUTER_{n}(INNER_{n}(")).node(x).text("))");
                // Twice one less has the type and range of two less.
                Some(self.stands_for(node, &less, level::PRIMARY))
            }
            8 => {
                let node =
                    node.text(format!("FIRST_{n}(SAME_{n}(")).node(x).text("), nothing, (1, 2))");
                Some(self.stands_for(node, &one, level::PRIMARY))
            }
            9 => known(format!("(before_{n} * 10 + STEP_{n})"), 34),
            _ => {
                let less = self.arithmetic(&one, "-", &other)?;
                let node = node
                    .text(format!("CALL_{n}(MINUS_{n},\n    "))
                    .node(x)
                    .text(", ")
                    .node(y)
                    .text(")");
                Some(self.stands_for(node, &less, level::PRIMARY))
            }
        }
    }

    /// Replaces the text of a value.
    fn stands_for(&mut self, node: Node, value: &Value, level: u8) -> Value {
        let own = Value::new(node, level, value.bounds.clone());
        own.wrapping(value.wraps).with(&[value])
    }
}
