//! Programs made of catalogue examples, with exchanged registers, guards and branches between them: they run within
//! their budget, without a panic.

use ptx::isa::{self, Lowering};
use std::sync::LazyLock;

/// All instructions that are lowered.
static EXAMPLES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let lowered = isa::catalogue().filter(|form| matches!(form.lowering, Lowering::By(_)));
    lowered.flat_map(|form| form.examples).copied().collect()
});

/// Gives registers values that are useful to instructions.
const PRELUDE: &str = "
    ld.param.u64 %rd1, [p0]; add.u64 %rd2, %rd1, 16; mov.u64 %rd3, gmem; mov.u64 %rd4, 1;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, smem; mov.u32 %r4, -1; mov.u32 %r5, 2;
    ld.global.u32 %r6, [%rd1]; cvta.shared.u64 %rd5, smem; cvta.local.u64 %rd6, stack;
    mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd7, %rd1; ld.global.f32 %f1, [%rd8];
    cvt.rn.f32.u32 %f2, %r1; cvt.f64.f32 %fd1, %f2; mov.b16 %h1, 3; mov.b16 %h2, 17;
    setp.lt.u32 %p1, %r2, 7; setp.ne.u32 %p2, %r6, 0; mov.b128 %q1, {%rd1, %rd4};
";

const MAX_INSTRUCTIONS: usize = 40;

struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn next(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(usize::from(*first))
    }
}

/// Runs the target.
pub fn fuzz(data: &[u8]) {
    if let Some(text) = generate(&mut Choices(data)) {
        crate::launch::run_all(&text);
    }
}

fn generate(choices: &mut Choices<'_>) -> Option<String> {
    let mut lines = Vec::new();
    while lines.len() < MAX_INSTRUCTIONS {
        let (Some(high), Some(low)) = (choices.next(), choices.next()) else { break };
        let example = EXAMPLES[(high << 8 | low) % EXAMPLES.len()];
        let mut line = exchange(example, choices);
        match choices.next().unwrap_or(0) {
            // A guard goes before a single instruction only.
            way @ 200.. if line.matches(';').count() == 1 && !line.starts_with(['@', '{']) => {
                line = format!("@{}%p{} {line}", if way % 2 == 0 { "" } else { "!" }, way % 9);
            }
            way @ 180..200 => {
                let target = choices.next().unwrap_or(0);
                line.push_str(&format!(" }} @%p{} bra L{target}; {{", way % 9));
            }
            _ => {}
        }
        lines.push(line);
    }
    let count = lines.len().max(1);
    let mut body = PRELUDE.to_owned();
    for (position, line) in lines.iter().enumerate() {
        let line = retarget(line, count);
        body.push_str(&format!("L{position}: {{ {line} }}\n"));
    }
    (!lines.is_empty()).then(|| isa::example_module(&body, "sm_90a"))
}

/// Makes branches target existing labels.
fn retarget(line: &str, count: usize) -> String {
    match line.split_once("bra L") {
        Some((before, rest)) => {
            let end = rest.find(';').unwrap_or(rest.len());
            let target: usize = rest[..end].parse().unwrap_or(0);
            format!("{before}bra L{}{}", target % count, &rest[end..])
        }
        None => line.to_owned(),
    }
}

/// Exchanges registers for others of their class.
fn exchange(example: &str, choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some(start) = rest.find('%') {
        let (before, register) = rest.split_at(start + 1);
        text.push_str(before);
        let letters = register.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(register.len());
        let (kind, tail) = register.split_at(letters);
        let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (number, tail) = tail.split_at(digits);
        text.push_str(kind);
        let named = ["p", "h", "r", "rd", "q", "f", "fd"].contains(&kind) && !number.is_empty();
        match choices.next() {
            Some(choice @ 100..) if named => text.push_str(&(choice % 5).to_string()),
            _ => text.push_str(number),
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}
