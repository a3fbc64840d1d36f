//! Sequences of launches in a project: the memory that one launch leaves for the next, and the reports about it.

use snapbox::cmd::{Command, cargo_bin};
use std::path::{Path, PathBuf};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 kept = 0;\n.const .align 4 .b8 c[4];\n";

/// Blocks that take tickets: all of them run `each`, with the ticket in `%r3`; the last one runs `last`, with its
/// number in `%r1`.
fn tickets(name: &str, [each, last]: [&str; 2]) -> String {
    format!(
        ".entry {name}(.param .u64 count, .param .u64 out) {{ .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<4>;
        ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1;
        membar.gl; atom.global.add.u32 %r3, [%rd1], 1; {each} setp.ne.u32 %p1, %r3, %r2; @%p1 bra E; membar.gl; mov.u32 %r4, 1;
        {last} st.global.u32 [%rd2], %r4; E: ret; }}\n"
    )
}

/// A kernel that writes numbers to the given addresses.
fn plain(name: &str, numbers: &[u32], more: &str) -> String {
    let of = |position: usize| format!("{name}_{position}");
    let parameters: Vec<String> =
        (0..numbers.len()).map(|at| format!(".param .u64 {}", of(at))).collect();
    let stores: Vec<String> = (numbers.iter().enumerate())
        .map(|(at, number)| {
            format!("ld.param.u64 %rd1, [{}]; st.global.u32 [%rd1], {number};", of(at))
        })
        .collect();
    format!(
        ".entry {name}({}) {{ .reg .b64 %rd1; {more} {} ret; }}\n",
        parameters.join(", "),
        stores.join(" ")
    )
}

/// Runs a project with one comparison of two sides, each a list of launches.
fn compare(name: &str, kernels: &[String], [reference, optimised]: [&str; 2]) -> (i32, String) {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("k.ptx"), format!("{HEAD}{}", kernels.concat())).unwrap();
    let project = format!(
        "[[equiv]]\nname = \"{name}\"\nreference = [{reference}]\noptimised = [{optimised}]\n"
    );
    std::fs::write(folder.join("warpproof.toml"), project).unwrap();
    let command = Command::new(cargo_bin!("warpproof")).current_dir(&folder);
    let output = command.arg("run").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// A launch of one thread for each block.
fn launch(kernel: &str, grid: u32, arguments: &str) -> String {
    format!("{{ kernel = \"k.ptx::{kernel}\", grid = {grid}, block = 1, args = [{arguments}] }}")
}

const FIRST: &str = "\"c1=u32[1]:inout=[0]\", \"o1=s32[1]:out\"";
const SECOND: &str = "\"c2=u32[1]:inout=[0]\", \"o2=s32[2]:inout=[0,0]\"";

#[test]
fn a_later_launch_may_have_more_tickets() {
    let kernels = [
        tickets("one", ["", ""]),
        // The block with ticket 1 is the last of two; of four, it is neither the first nor the last.
        tickets("two", ["setp.eq.u32 %p2, %r3, 1; @%p2 st.global.u32 [%rd2+4], 7;", ""]),
        plain("plain", &[2, 1, 4, 1], ""),
    ];
    let reference = launch("plain", 1, &format!("{FIRST}, {SECOND}"));
    let both = |second: &str| format!("{}, {}", launch("one", 2, FIRST), launch(second, 4, SECOND));
    let (code, text) = compare("more_tickets", &kernels, [&reference, &both("two")]);
    assert_ne!(code, 0, "{text}");
}

#[test]
fn reads_of_some_last_blocks_are_remembered() {
    let reading =
        "setp.ne.u32 %p2, %r1, 0; @%p2 bra A; ld.global.u32 %r5, [kept]; add.u32 %r4, %r4, %r5; A:";
    let kernels = [
        plain("leaves", &[1], "st.global.u32 [kept], 5;"),
        tickets("reads", ["", reading]),
        tickets("does_not", ["", ""]),
        plain("plain", &[1, 3, 1], ""),
    ];
    let out = "\"o1=s32[1]:out\"";
    let second = "\"c2=u32[1]:inout=[0]\", \"o2=s32[1]:out\"";
    let reference = launch("plain", 1, &format!("{out}, {second}"));
    for (kernel, is_proved) in [("reads", false), ("does_not", true)] {
        let optimised = format!("{}, {}", launch("leaves", 1, out), launch(kernel, 3, second));
        let (code, text) =
            compare(&format!("remembered_{kernel}"), &kernels, [&reference, &optimised]);
        assert_eq!(code == 0, is_proved, "{kernel}\n{text}");
    }
}

#[test]
fn writes_of_some_last_blocks_are_remembered() {
    let writing = |block: u32| {
        format!("setp.ne.u32 %p2, %r1, {block}; @%p2 bra A; st.global.u32 [kept], 5; A:")
    };
    let kernels = [
        tickets("first", ["", &writing(0)]),
        tickets("last", ["", &writing(2)]),
        tickets("none", ["", &writing(3)]),
        plain("plain", &[3, 1], ""),
    ];
    let arguments = "\"c2=u32[1]:inout=[0]\", \"o2=s32[1]:out\"";
    let reference = launch("plain", 1, arguments);
    for (kernel, is_proved) in [("first", false), ("last", false), ("none", true)] {
        let optimised = launch(kernel, 3, arguments);
        let (code, text) =
            compare(&format!("written_{kernel}"), &kernels, [&reference, &optimised]);
        assert_eq!(code == 0, is_proved, "{kernel}\n{text}");
    }
}

#[test]
fn no_launch_writes_a_constant() {
    let read = ".entry reads(.param .u64 out) { .reg .b32 %r1; .reg .b64 %rd1; ld.param.u64 %rd1, [out]; ld.const.u32 %r1, [c]; st.global.u32 [%rd1], %r1; ret; }\n";
    let kernels = [plain("writes", &[7], ""), read.to_owned(), plain("plain", &[7, 7], "")];
    let last = "{ kernel = \"k.ptx::reads\", grid = 1, block = 1, args = [\"o=s32[1]:out\"], symbols = [\"c=s32[1]\"] }";
    let optimised = format!("{}, {last}", launch("writes", 1, "\"c=s32[1]:out\""));
    let reference = launch("plain", 1, "\"c=s32[1]:out\", \"o=s32[1]:out\"");
    let (code, text) = compare("written_constant", &kernels, [&reference, &optimised]);
    assert!(
        code == 2 && text.contains("the module variable `c` has the name of"),
        "{code}\n{text}"
    );
}

/// Kernels with constants: `first` copies one to `z`, `second` multiplies `z` by it to `y`, `square` does both and
/// `number` writes 6.
fn constants(variable: &str) -> Vec<String> {
    let kernel = |name: &str, parameters: &str, body: &str| {
        format!(
            ".entry {name}({parameters}) {{ .reg .f32 %f<4>; .reg .b64 %rd<4>; ld.const.f32 %f1, [{variable}]; {body} ret; }}\n"
        )
    };
    let to_y = "ld.param.u64 %rd2, [y]; st.global.f32 [%rd2], %f2;";
    vec![
        ".const .align 4 .f32 _ZL1w;\n.const .align 4 .b8 h[4] = {0, 0, 128, 63};\n.global .align 4 .f32 g;\n".to_owned(),
        kernel("first", ".param .u64 z", "ld.param.u64 %rd1, [z]; st.global.f32 [%rd1], %f1;"),
        kernel(
            "second",
            ".param .u64 z, .param .u64 y",
            &format!("ld.param.u64 %rd1, [z]; ld.global.f32 %f2, [%rd1]; mul.f32 %f2, %f2, %f1; {to_y}"),
        ),
        kernel("square", ".param .u64 y", &format!("mul.f32 %f2, %f1, %f1; {to_y}")),
        kernel("number", ".param .u64 y", &format!("mov.f32 %f2, 0f40C00000; {to_y}"))
            .replace(&format!("ld.const.f32 %f1, [{variable}];"), ""),
    ]
}

/// A launch with its symbols.
fn with_symbols(kernel: &str, arguments: &str, symbols: &str) -> String {
    let symbols = if symbols.is_empty() { String::new() } else { format!("\"{symbols}\"") };
    format!(
        "{{ kernel = \"k.ptx::{kernel}\", grid = 1, block = 1, args = [{arguments}], symbols = [{symbols}] }}"
    )
}

#[test]
fn launches_find_the_same_in_a_constant() {
    // The variable, the reference with its symbols, the symbols of the two launches of the optimised side, and the
    // answer.
    let table = [
        ("_ZL1w", ["number", ""], ["w=2.0", "w=3.0"], "has different contents"),
        ("_ZL1w", ["number", ""], ["w=f32=2", "w=f32=3"], "has different contents"),
        ("_ZL1w", ["number", ""], ["w=f32[1]=[2]", "_ZL1w=f32[1]=[3]"], "has different contents"),
        ("_ZL1w", ["square", "w=f32[1]"], ["w=f32[1]", "_ZL1w=f32[1]"], ""),
        ("_ZL1w", ["square", "w=f32=3"], ["w=f32[1]=[3]", "_ZL1w=f32[1]=[3]"], ""),
        ("h", ["square", "h=f32[1]"], ["", "h=f32[1]"], "holds its initialiser"),
        ("h", ["square", "h=f32[1]=[9]"], ["", "h=f32[1]=[9]"], "holds its initialiser"),
        ("h", ["square", "h=f32[1]=[9]"], ["h=f32[1]=[9]", ""], "holds its initialiser"),
        ("h", ["square", "h=f32[1]=[1]"], ["h=f32[1]=[1]", ""], ""),
        ("h", ["square", ""], ["", ""], ""),
        ("h", ["square", "h=f32[1]"], ["h=f32[1]", "h=f32[1]"], ""),
    ];
    for (number, (variable, [kernel, own], [one, other], message)) in table.into_iter().enumerate()
    {
        let reference = with_symbols(kernel, "\"y=f32[1]:out\"", own);
        let first = with_symbols("first", "\"z=f32[1]:out\"", one);
        let second = with_symbols("second", "\"z=f32[1]\", \"y=f32[1]:out\"", other);
        let name = format!("constant_{number}");
        let optimised = format!("{first}, {second}");
        let (code, text) = compare(&name, &constants(variable), [&reference, &optimised]);
        assert_eq!(code, if message.is_empty() { 0 } else { 2 }, "{number}\n{text}");
        assert!(text.contains(message), "{number}\n{text}");
    }
}

#[test]
fn variables_written_by_an_earlier_launch_need_no_contents() {
    let read = ".entry reads(.param .u64 out) { .reg .b32 %r1; .reg .b64 %rd1; ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [kept]; st.global.u32 [%rd1], %r1; ret; }\n";
    let kernels = [
        plain("leaves", &[1], "st.global.u32 [kept], 5;"),
        plain("does_not", &[1], ""),
        read.to_owned(),
        plain("plain", &[1, 0], ""),
    ];
    let reference = launch("plain", 1, "\"o=s32[1]:out\", \"p=s32[1]:out\"");
    for (first, symbol, expected) in
        [("leaves", "kept=0", 2), ("leaves", "", 2), ("does_not", "", 0), ("does_not", "kept=0", 0)]
    {
        let first_launch = with_symbols(first, "\"o=s32[1]:out\"", symbol);
        let second = with_symbols("reads", "\"p=s32[1]:out\"", "kept=0");
        let optimised = format!("{first_launch}, {second}");
        let name = format!("kept_{first}_{}", symbol.len());
        let (code, text) = compare(&name, &kernels, [&reference, &optimised]);
        assert_eq!(code, expected, "{first} {symbol}\n{text}");
    }
}

/// A name with several values has no value that an expression could mean, also where the last two launches agree.
#[test]
fn a_size_that_differs_between_launches_is_not_named() {
    let kernel = |name: &str, parameters: &str, factor: &str| {
        format!(
            ".entry {name}(.param .u64 x, .param .u64 y, .param .u32 n{parameters}) {{
            .reg .f32 %f<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {factor}
            ld.global.f32 %f2, [%rd1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%rd2], %f2; ret; }}\n"
        )
    };
    let constant = |number: &str| format!("mov.f32 %f1, {number};");
    let kernels = [
        kernel("scale", ", .param .f32 s", "ld.param.f32 %f1, [s];"),
        kernel("halve", "", &constant("0f3F000000")),
        kernel("copy", "", &constant("0f3F800000")),
    ];
    let arguments = |out: &str, rest: &str| format!("\"x=f32[1]\", \"{out}=f32[1]:out\", {rest}");
    let copies = |size: &str| {
        ["z", "w"]
            .map(|out| launch("copy", 1, &arguments(out, &format!("\"{size}=2\""))))
            .join(", ")
    };
    let answer = |copied: &str| {
        let first = launch("scale", 1, &arguments("y", "\"n=1\", \"s=1/n\""));
        let reference = format!("{first}, {}", copies(copied));
        let optimised =
            format!("{}, {}", launch("halve", 1, &arguments("y", "\"m=2\"")), copies("m"));
        compare("sizes_differ", &kernels, [&reference, &optimised])
    };
    let (code, text) = answer("n");
    assert_ne!(code, 0, "{text}");
    let (code, text) = answer("m");
    assert_eq!(code, 1, "{text}");
}
