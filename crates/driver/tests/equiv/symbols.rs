//! Constants that the host fills: as inputs of a comparison they are tensors like those of arguments, whoever has them and however they are reached.

use crate::answer;
use crate::corpus::Flags;
use driver::{Exit, Input};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module with a constant `c`, its address in another constant, and kernels that copy two numbers to `out`: of `c`, directly and by the address, of
/// an argument called `c`, of nothing.
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

/// Asks about two kernels, with flags beside the launch and `out`. An argument comes first.
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
            "are given on one side alone",
        ),
        (
            ["given", "direct"],
            ["--arg c=f32[2]=[1,3]", given],
            Exit::BadInput,
            "has other contents",
        ),
        (
            ["direct", "direct"],
            ["--symbol c=f32[2]", given],
            Exit::BadInput,
            "are given on one side alone",
        ),
    ];
    for (kernels, flags, expected, message) in table {
        let (exit, text) = ask(kernels, flags);
        assert_eq!(exit, expected, "{kernels:?} {flags:?}\n{text}");
        assert!(text.contains(message), "{kernels:?} {flags:?}\n{text}");
    }
}
