//! Input that no compiler writes: the parser always ends in a diagnostic, without filling the stack or the memory.

use base::Code;
use ptx::syntax::parse;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn codes(text: &str) -> Vec<Code> {
    parse(text).errors.iter().map(|error| error.code).collect()
}

#[test]
fn a_hundred_megabytes_of_nothing() {
    assert!(parse(&" ".repeat(100 << 20)).module.items.is_empty());
    assert!(parse(&"\n".repeat(100 << 20)).module.items.is_empty());
    assert_eq!(codes(&"\0".repeat(100 << 20)), [Code::Syntax]);
    assert!(parse(&"// nothing\n".repeat(9 << 20)).module.items.is_empty());
}

#[test]
fn deep_nesting_of_every_kind() {
    let deep = 10_000;
    let body = |text: String| format!("{HEAD}.entry k() {{ {text} }}");
    let inputs = [
        body("{".repeat(deep)),
        body(format!("{}{}", "{".repeat(deep), "}".repeat(deep))),
        body(format!("mov.u32 %r1, {}1{};", "(".repeat(deep), ")".repeat(deep))),
        body(format!("mov.u32 %r1, {}1;", "-".repeat(deep))),
        body(format!("mov.u32 %r1, {}1;", "(.s64)".repeat(deep))),
        body(format!("mov.u32 %r1, 1{};", " + 1".repeat(deep))),
        body(format!("mov.u32 %r1, 1{};", " ? 1 : 1".repeat(deep))),
        body(format!("mov.u32 %r1, {}x{};", "{".repeat(deep), "}".repeat(deep))),
        body(format!("mov.u32 %r1, {}x{};", "[".repeat(deep), "]".repeat(deep))),
        body(format!("mov.u32 %r1, {}0{};", "a[".repeat(deep), "]".repeat(deep))),
        body(format!("mov.u32 %r1, {}x{};", "generic(".repeat(deep), ")".repeat(deep))),
        format!("{HEAD}.global .u32 x = {}1{};", "{".repeat(deep), "}".repeat(deep)),
        format!("{HEAD}.global .u32 x = {}1{};", "0xff(".repeat(deep), ")".repeat(deep)),
    ];
    for input in inputs {
        let codes = codes(&input);
        assert!(codes.contains(&Code::Limit), "{codes:?}: {}", &input[..120]);
    }
}

#[test]
fn a_million_errors_are_a_few() {
    let text = format!("{HEAD}.entry k() {{ {} }}", "mov ]; ".repeat(1_000_000));
    let codes = codes(&text);
    assert!(codes.len() <= 60, "{}", codes.len());
    assert_eq!(codes.last(), Some(&Code::Limit));
    assert!(parse(&"@".repeat(1 << 20)).errors.len() <= 60);
}

#[test]
fn every_prefix_of_a_file_ends_in_a_diagnostic_or_a_module() {
    let text = include_str!("../../../examples/softmax.ptx");
    let step = 7; // Every byte would show the same and take longer.
    for end in (0..text.len().min(20_000)).step_by(step) {
        let parsed = parse(&text[..end]);
        let lowered = ptx::lower(&parsed.module);
        assert_eq!(ir::validate(&lowered.program), [""; 0]);
    }
}

#[test]
fn enormous_numbers_cost_nothing() {
    let declarations = "\
        .global .b8 a[18446744073709551615]; .global .b32 b[18446744073709551615];\n\
        .shared .align 4 .b8 c[4294967296][4294967296];\n\
        .entry k() { .reg .b32 %r<4000000000>; .local .b8 d[9223372036854775807];\n\
        mov.u32 %r3999999999, 1; ret; }\n";
    let text = format!("{HEAD}{declarations}");
    let parsed = parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    assert_eq!(lowered.program.functions.iter().map(|f| f.registers.len()).sum::<usize>(), 1);
}
