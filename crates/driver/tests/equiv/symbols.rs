//! Constants that the host fills: as inputs of a comparison they are tensors like those of arguments, for either side
//! and for any way of reaching them.

use crate::answer;
use crate::corpus::Flags;
use driver::{Exit, Input};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module with a constant `c`, its address in another constant, and kernels that copy two numbers to `out`: from
/// `c`, directly and by the address, from an argument called `c`, from nothing.
fn module() -> Input {
    let copy = |name: &str, parameters: &str, load: &str| {
        format!(
            ".entry {name}({parameters}.param .u64 out) {{ .reg .f32 %f<3>; .reg .b64 %rd<3>; ld.param.u64 %rd2, [out];
            {load} st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+4], %f2; ret; }}\n"
        )
    };
    let text = [
        HEAD.to_owned(),
        ".const .align 4 .b8 c[8];\n.const .align 8 .u64 address[1] = {generic(c)};\n".to_owned(),
        copy("direct", "", "ld.const.f32 %f1, [c]; ld.const.f32 %f2, [c+4];"),
        copy("other", "", "ld.const.f32 %f1, [c+4]; ld.const.f32 %f2, [c];"),
        copy("by_address", "", "ld.const.u64 %rd1, [address]; ld.f32 %f1, [%rd1]; ld.f32 %f2, [%rd1+4];"),
        copy(
            "given",
            ".param .u64 c, ",
            "ld.param.u64 %rd1, [given_param_0]; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];",
        )
        .replace(".param .u64 c,", ".param .u64 given_param_0,"),
        copy("zeros", "", "mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000;"),
    ];
    Input::from_bytes("c.ptx", text.concat().into_bytes()).unwrap()
}

const OUT: &str = "--grid 1 --block 1";

/// Compares two kernels, with flags beside the launch and `out`. An argument comes first.
fn ask(kernels: [&str; 2], flags: [&str; 2]) -> (Exit, String) {
    let input = module();
    let flags = flags.map(|flags| Flags::parse(&format!("{OUT} {flags} --arg out=f32[2]:out")));
    answer([&input, &input], kernels.map(Some), &flags)
}

#[test]
fn a_constant_is_the_tensor_of_its_name() {
    let symbol = "--symbol c=f32[2]";
    let table = [
        (["direct", "direct"], [symbol, symbol], Exit::Success),
        (["direct", "other"], [symbol, symbol], Exit::Refuted),
        (["direct", "by_address"], [symbol, symbol], Exit::Success),
        (["given", "direct"], ["--arg c=f32[2]", symbol], Exit::Success),
        (["given", "other"], ["--arg c=f32[2]", symbol], Exit::Refuted),
        // The reference does not mention the variable: its argument is the tensor.
        (["given", "direct"], ["--arg c=f32[2] --symbol c=f32[2]", symbol], Exit::Success),
        (["direct", "zeros"], [symbol, symbol], Exit::Refuted),
    ];
    for (kernels, flags, expected) in table {
        let (exit, text) = ask(kernels, flags);
        assert_eq!(exit, expected, "{kernels:?} {flags:?}\n{text}");
    }
}

#[test]
fn a_constant_of_which_nothing_is_said_holds_anything() {
    for kernel in ["direct", "by_address"] {
        let (exit, text) = ask([kernel, "zeros"], ["", ""]);
        assert_ne!(exit, Exit::Success, "{kernel}\n{text}");
    }
}

#[test]
fn contents_are_said_of_both_sides_or_of_none() {
    let given = "--symbol c=f32[2]=[1,2]";
    let table = [
        (["direct", "direct"], [given, given], Exit::Success, ""),
        (["given", "direct"], ["--arg c=f32[2]=[1,2]", given], Exit::Success, ""),
        (
            ["given", "direct"],
            ["--arg c=f32[2]", given],
            Exit::BadInput,
            "are given only on one side",
        ),
        (
            ["given", "direct"],
            ["--arg c=f32[2]=[1,3]", given],
            Exit::BadInput,
            "has different contents",
        ),
        (
            ["direct", "direct"],
            ["--symbol c=f32[2]", given],
            Exit::BadInput,
            "are given only on one side",
        ),
    ];
    for (kernels, flags, expected, message) in table {
        let (exit, text) = ask(kernels, flags);
        assert_eq!(exit, expected, "{kernels:?} {flags:?}\n{text}");
        assert!(text.contains(message), "{kernels:?} {flags:?}\n{text}");
    }
}

/// A module with constants without and with an initialiser, mangled and not, and kernels that store one of them times
/// a number; `head` comes before.
fn tables(head: &str) -> Input {
    let kernel = |name: &str, variable: &str, factor: &str| {
        format!(
            ".entry {name}(.param .u64 out) {{ .reg .f32 %f<3>; .reg .b64 %rd<3>; ld.param.u64 %rd2, [out];
            ld.const.f32 %f1, [{variable}]; mul.f32 %f1, %f1, {factor}; st.global.f32 [%rd2], %f1; ret; }}\n"
        )
    };
    let text = [
        HEAD,
        head,
        ".const .align 4 .f32 w;\n.const .align 4 .b8 _ZL1m[4];\n.const .align 4 .b8 h[4] = {0, 0, 128, 63};\n",
        &kernel("twice", "w", "0f40000000"),
        &kernel("thrice", "w", "0f40400000"),
        &kernel("mangled", "_ZL1m", "0f3F800000"),
        &kernel("table", "h", "0f3F800000"),
    ];
    Input::from_bytes("t.ptx", text.concat().into_bytes()).unwrap()
}

/// Compares kernels of `tables` that store one number, in modules that differ in `heads`.
fn compare_tables(heads: [&str; 2], kernels: [&str; 2], symbols: [&str; 2]) -> (Exit, String) {
    let inputs = heads.map(tables);
    let symbols = symbols.map(|symbols| {
        let flags: Vec<String> =
            symbols.split_whitespace().map(|one| format!("--symbol {one}")).collect();
        Flags::parse(&format!("{OUT} {} --arg out=f32[1]:out", flags.join(" ")))
    });
    answer(inputs.each_ref(), kernels.map(Some), &symbols)
}

#[test]
fn scalars_are_compared_as_tensors_are() {
    let table = [
        (["thrice", "twice"], ["w=2.0", "w=3.0"], "has different contents on the other side"),
        (
            ["thrice", "twice"],
            ["w=2.0", "w=f32[1]=[3]"],
            "has different contents on the other side",
        ),
        (
            ["thrice", "twice"],
            ["w=f32[1]=[2]", "w=f32=3"],
            "has different contents on the other side",
        ),
        (["thrice", "thrice"], ["w=2.0", "w=f32"], "are given only on one side"),
        (["thrice", "thrice"], ["w=2.0", ""], "it holds anything"),
        (["thrice", "thrice"], ["w=f32", ""], "it holds anything"),
        (["thrice", "thrice"], ["w=f32", "w=?"], "has different contents on the other side"),
    ];
    for (kernels, symbols, message) in table {
        let (exit, text) = compare_tables([""; 2], kernels, symbols);
        assert_eq!(exit, Exit::BadInput, "{kernels:?} {symbols:?}\n{text}");
        assert!(text.contains(message), "{kernels:?} {symbols:?}\n{text}");
    }
    let same = [
        (["thrice", "thrice"], ["w=2.0", "w=2"], Exit::Success),
        (["thrice", "twice"], ["w=2.0", "w=2.0"], Exit::Refuted),
        (["thrice", "thrice"], ["w=2.0", "w=f32[1]=[2]"], Exit::Success),
        (["thrice", "thrice"], ["w=f32", "w=f32[1]"], Exit::Success),
        // The other kernel does not mention it.
        (["table", "table"], ["w=2.0", ""], Exit::Success),
    ];
    for (kernels, symbols, expected) in same {
        let (exit, text) = compare_tables([""; 2], kernels, symbols);
        assert_eq!(exit, expected, "{kernels:?} {symbols:?}\n{text}");
    }
}

#[test]
fn an_initialiser_is_contents() {
    let table = [
        (["", "h=f32[1]"], Exit::BadInput, "it holds its initialiser"),
        (["h=f32[1]=[2]", ""], Exit::BadInput, "it holds its initialiser"),
        (["", "h=?"], Exit::BadInput, "it holds its initialiser"),
        (["", ""], Exit::Success, ""),
        (["h=f32[1]=[1]", ""], Exit::Success, ""),
        (["h=f32[1]=[2]", "h=f32[1]=[2]"], Exit::Success, ""),
        (["h=f32[1]", "h=f32[1]"], Exit::Success, ""),
    ];
    for (symbols, expected, message) in table {
        let (exit, text) = compare_tables([""; 2], ["table", "table"], symbols);
        assert_eq!(exit, expected, "{symbols:?}\n{text}");
        assert!(text.contains(message), "{symbols:?}\n{text}");
    }
}

#[test]
fn a_name_is_one_variable_however_it_is_spelt() {
    let table = [
        (["m=f32[1]", "_ZL1m=f32[1]"], Exit::Success, ""),
        (["m=f32[1]=[2]", "_ZL1m=f32[1]=[2]"], Exit::Success, ""),
        (["m=f32[1]=[2]", "_ZL1m=f32[1]=[3]"], Exit::BadInput, "`m` has different contents"),
        (["m=f32[1]", "_ZL1m=f32[1]=[3]"], Exit::BadInput, "given only on one side"),
    ];
    for (symbols, expected, message) in table {
        let (exit, text) = compare_tables([""; 2], ["mangled", "mangled"], symbols);
        assert_eq!(exit, expected, "{symbols:?}\n{text}");
        assert!(text.contains(message), "{symbols:?}\n{text}");
    }
    // Another variable has that name.
    let heads = [".const .align 4 .f32 m;\n"; 2];
    let (exit, text) = compare_tables(heads, ["mangled"; 2], ["m=f32[1]", "_ZL1m=f32[1]"]);
    assert_ne!(exit, Exit::Success, "{text}");
    let (exit, text) = compare_tables(heads, ["mangled"; 2], ["_ZL1m=f32[1]"; 2]);
    assert_eq!(exit, Exit::Success, "{text}");
}

#[test]
fn files_have_tables_of_their_own() {
    let module = |numbers: &str| {
        let text = format!(
            "{HEAD}.const .align 4 .b8 h[4] = {{{numbers}}};\n.entry k(.param .u64 out) {{ .reg .f32 %f1; .reg .b64 %rd1;
            ld.param.u64 %rd1, [out]; ld.const.f32 %f1, [h]; st.global.f32 [%rd1], %f1; ret; }}\n"
        );
        Input::from_bytes("t.ptx", text.into_bytes()).unwrap()
    };
    let inputs = [module("0, 0, 128, 63"), module("0, 0, 0, 64")];
    let ask = |symbols: [&str; 2]| {
        let flags = symbols.map(|one| Flags::parse(&format!("{OUT} {one} --arg out=f32[1]:out")));
        answer(inputs.each_ref(), [None; 2], &flags)
    };
    let table = [
        (["", ""], Exit::Refuted),
        (["--symbol h=f32[1]", "--symbol h=f32[1]"], Exit::Success),
        (["--symbol h=f32[1]", ""], Exit::BadInput),
        (["--symbol h=f32[1]=[2]", ""], Exit::Success),
        (["--symbol h=f32[1]=[1]", ""], Exit::BadInput),
    ];
    for (symbols, expected) in table {
        let (exit, text) = ask(symbols);
        assert_eq!(exit, expected, "{symbols:?}\n{text}");
    }
}

#[test]
fn a_scalar_argument_is_the_constant_of_its_name() {
    let text = format!(
        "{HEAD}.const .align 4 .f32 w;
        .entry argument(.param .f32 w, .param .u64 out) {{ .reg .f32 %f1; .reg .b64 %rd1; ld.param.f32 %f1, [argument_w]; ld.param.u64 %rd1, [out];
        mul.f32 %f1, %f1, 0f40400000; st.global.f32 [%rd1], %f1; ret; }}
        .entry constant(.param .u64 out) {{ .reg .f32 %f1; .reg .b64 %rd1; ld.const.f32 %f1, [w]; ld.param.u64 %rd1, [out];
        mul.f32 %f1, %f1, 0f40000000; st.global.f32 [%rd1], %f1; ret; }}"
    );
    let text = text.replace(".param .f32 w", ".param .f32 argument_w");
    let input = Input::from_bytes("k.ptx", text.into_bytes()).unwrap();
    for (value, expected) in [("3.0", Exit::BadInput), ("2.0", Exit::Refuted)] {
        let flags = [
            format!("{OUT} --arg w=2.0 --arg out=f32[1]:out"),
            format!("{OUT} --symbol w={value} --arg out=f32[1]:out"),
        ];
        let flags = flags.map(|flag| Flags::parse(&flag));
        let (exit, text) = answer([&input, &input], [Some("argument"), Some("constant")], &flags);
        assert_eq!(exit, expected, "{value}\n{text}");
    }
}
