//! Kernels by name.

use super::program;
use driver::arguments::{SelectError, select_kernel};

#[test]
fn kernels_are_found_by_any_of_their_names() {
    let program = program();
    let table = [
        ("scale", "scale"),
        ("_ZN4pack5sizesIfEEvt", "_ZN4pack5sizesIfEEvt"),
        ("void pack::sizes<float>(unsigned short)", "_ZN4pack5sizesIfEEvt"),
        ("pack::sizes", "_ZN4pack5sizesIfEEvt"),
        ("sizes", "_ZN4pack5sizesIfEEvt"),
        ("sizes<float>", "_ZN4pack5sizesIfEEvt"),
        ("struct", "structure"),
        // A part of another name too, but the whole of this one.
        ("softmax", "softmax"),
        ("online", "softmax_online"),
    ];
    for (name, expected) in table {
        let kernel = select_kernel(&program, Some(name)).unwrap();
        assert_eq!(program.functions[kernel].name, expected, "{name}");
    }
}

#[test]
fn other_names_are_explained() {
    let program = program();
    let all = "scale, void pack::sizes<float>(unsigned short), structure, softmax_online, softmax";
    let table = [
        (Some("s"), format!("`s` matches 5 kernels: {all}")),
        (Some("softmaks"), "there is no kernel `softmaks`; did you mean softmax?".to_owned()),
        (Some("gemm"), format!("there is no kernel `gemm`; the file has {all}")),
        (None, format!("the file has 5 kernels; name one, as in FILE::scale: {all}")),
    ];
    for (name, expected) in table {
        assert_eq!(select_kernel(&program, name).unwrap_err().to_string(), expected);
    }
    let empty = ir::Program::default();
    assert_eq!(select_kernel(&empty, None), Err(SelectError::NoKernel));
    let none = "there is no kernel `k`: the file has none";
    assert_eq!(select_kernel(&empty, Some("k")).unwrap_err().to_string(), none);
}
