//! Lowering of names, constants, initialisers and calls.

use ir::{Op, Printed};

fn lower(text: &str) -> ptx::Lowered {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}");
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert_eq!(ir::validate(&lowered.program), [""; 0]);
    lowered
}

/// The core operations of the kernel `k` with this body, without the return.
fn operations(body: &str) -> String {
    let lowered = lower(&format!(".visible .entry k()\n{{\n{body}\nret;\n}}\n"));
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    let function = lowered.program.functions.iter().find(|f| f.name == "k").unwrap();
    let text = Printed { program: &lowered.program, function }.to_string();
    let lines = text.lines().filter(|line| line.starts_with("    ") && !line.contains("return"));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

fn messages(text: &str) -> Vec<String> {
    lower(text).diagnostics.into_iter().map(|diagnostic| diagnostic.message.into()).collect()
}

#[test]
fn an_inner_variable_hides_an_outer_register() {
    let text = operations(
        ".reg .b64 a, %rd<4>; mov.u64 a, 4; mov.u64 %rd1, 9;
         { .local .b64 a; st.local.b64 [a], %rd1; mov.u64 %rd3, a; } mov.u64 %rd2, a;",
    );
    assert!(text.contains("store.local.b64 [@a#0], %rd1"), "{text}");
    assert!(text.contains("address_of @a#0"), "{text}");
    assert!(text.ends_with("%rd2 = copy a"), "{text}");
}

#[test]
fn an_inner_register_hides_an_outer_parameter() {
    let lowered = lower(
        ".func f(.param .b64 x) { ret; }
         .func g(.param .b64 v) { { .reg .b64 v; mov.b64 v, 7; call f, (v); } ret; }",
    );
    let calls: Vec<_> = lowered.program.functions.iter().flat_map(|f| f.instructions()).collect();
    let passes_register = |op: &Op| match op {
        Op::Call { arguments, .. } => matches!(arguments[..], [ir::Argument::Operand(_)]),
        _ => false,
    };
    assert!(calls.iter().any(|instruction| passes_register(&instruction.op)));
}

#[test]
fn names_of_a_scope_are_unique_whatever_they_name() {
    for body in [
        ".reg .b32 a; .local .b32 a;",
        ".reg .b32 a1; .reg .b32 a<4>;",
        ".reg .b32 a<4>; .reg .b32 a1;",
        ".reg .b32 L; L: ",
    ] {
        let found = messages(&format!(".entry k() {{ {body} ret; }}"));
        assert!(
            found.iter().any(|message| message.contains("declared twice")),
            "{body}: {found:?}"
        );
    }
}

#[test]
fn variables_of_functions_have_initialisers_too() {
    let lowered = lower(".entry k() { .const .u32 c[2] = {5, 6}; ret; }");
    let variable = lowered.program.variables.iter().find(|v| v.name == "c").unwrap();
    assert_eq!(variable.initial, [5, 0, 0, 0, 6, 0, 0, 0]);
    for text in [
        ".entry k() { .local .u32 x = 5; ret; }",
        ".global .u32 x[2][2] = {1, 2, 3, 4};",
        ".global .u8 x[2] = {1, 2, 3};",
        ".global .u32 foo; .global .u8 x[] = {0xffff(foo)};",
    ] {
        assert_eq!(messages(text).len(), 1, "{text}");
    }
}

#[test]
fn constant_expressions_follow_the_assembler_where_the_manual_contradicts_itself() {
    let value = |expression: &str| {
        let lowered = lower(&format!(".global .s64 x = {expression};"));
        assert!(lowered.diagnostics.is_empty(), "{expression}: {:?}", lowered.diagnostics);
        let bytes = &lowered.program.variables.iter().next().unwrap().initial;
        i64::from_le_bytes(bytes.as_slice().try_into().unwrap())
    };
    assert_eq!(value("(1|0)-2 < 0"), 1);
    assert_eq!(value("(3 & -1) > -5"), 1);
    assert_eq!(value("(-1&0xff)/-2"), -127);
    assert_eq!(value("1<<65"), 2);
    assert_eq!(value("-8>>65"), -4);
}

#[test]
fn parentheses_and_warp_sizes_are_constants() {
    let text = operations(
        ".reg .b32 %r<9>; .shared .b32 x; mov.u32 %r1, (1<<4); st.shared.u32 [x], (7);
         mad.lo.s32 %r2, %r1, (4), (8); mov.u32 %r3, WARP_SZ*4; bar.sync (1), 64; mov.u32 %r4, %tid.w;",
    );
    let expected = "%r1 = copy 0x10\nstore.shared.b32 [@x#0], 7\n$t2 = Mul.b32 %r1, 4\n\
                    %r2 = Add.b32 $t2, 8\n%r3 = copy 0x80\nbarrier.sync.aligned.count 1, 0x40\n\
                    %r4 = copy 0";
    assert_eq!(text, expected);
}

#[test]
fn unclear_meanings_are_refused() {
    for body in [
        // 64 bits of a constant in a register of 128.
        ".reg .b128 %q<2>; mov.b128 %q1, -1;",
        // A variable in another space than the access.
        ".global .u32 g; .reg .b32 %r<2>; ld.shared.u32 %r1, [g];",
    ] {
        let found = messages(&format!(".entry k() {{ {body} ret; }}"));
        assert_eq!(found.len(), 1, "{body}: {found:?}");
    }
    let address = ".func f(.param .align 8 .b8 s[16]) { .reg .b64 %rd<2>; mov.b64 %rd1, s; ret; }";
    assert_eq!(messages(address), ["the address of a function parameter is not supported"]);
    let size = ".func f(.param .b32 x) { ret; }
                .entry k() { .param .b64 y; call f, (y); ret; }";
    assert_eq!(messages(size).len(), 1);
}

#[test]
fn a_version_is_two_numbers() {
    let of =
        |version: &str| messages(&format!(".version {version}\n.target sm_80\n.address_size 64\n"));
    for version in ["1.0", "8.7", "9.4", "12.0"] {
        assert_eq!(of(version), Vec::<String>::new(), "{version}");
    }
    for version in ["8", "99999999999.9", "8.70", "8.5e3", "0x8", "0f3F800000"] {
        assert_eq!(of(version), [format!("`{version}` is not a version of PTX")]);
    }
}

#[test]
fn only_calls_on_a_cycle_are_recursive() {
    let text = ".func C(); .func B(); .func A();
         .func C() { call C; ret; } .func B() { call C; ret; } .func A() { call A; call B; ret; }";
    assert_eq!(messages(text).len(), 2, "C calls C, A calls A");
    let text = ".func A(); .func B(); .func A() { call B; ret; } .func B() { call A; ret; }";
    assert_eq!(messages(text).len(), 2);
    let text = ".func A() { ret; } .func B() { call A; ret; } .entry k() { call A; call B; ret; }";
    assert_eq!(messages(text).len(), 0);
}

#[test]
fn attributes_and_directives_are_known_or_refused() {
    let known =
        ".global .attribute(.managed) .u32 x; .func .attribute(.unified(1, 2)) f() { ret; }";
    assert_eq!(messages(known).len(), 0);
    for text in [
        ".global .attribute(.frobnicated) .u32 x;",
        ".func .attribute(.frobnicated) f() { ret; }",
        ".entry k() .frobnicate 3 { ret; }",
    ] {
        let found = messages(text);
        assert!(found.len() == 1 && found[0].contains("frobnicate"), "{text}: {found:?}");
    }
}
