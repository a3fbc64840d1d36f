//! Buffers: stated contents, strides, aliases, and extraction of results.

use super::npy::Folder;
use super::{check, refused, simulate};
use driver::npy::{Array, Dtype, write};
use exec::{Access, Contents};

/// The first buffer of a simulation with this first argument.
fn first_bytes(argument: &str) -> Result<Vec<u8>, String> {
    let built = simulate("scale", &format!("{argument} y=f32[1]:out n=1 s=1"));
    let built = built.map_err(|error| error.input.join("; "))?;
    match &built.launch.buffers[0].contents {
        Contents::Known(bytes) => Ok(bytes.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn contents_become_bytes() {
    let table: [(&str, &[u8]); 9] = [
        ("x=u8[4]=iota", &[0, 1, 2, 3]),
        ("x=s8[2]=[-1,1]", &[255, 1]),
        ("x=u16[2]=258", &[2, 1, 2, 1]),
        ("x=bf16[2]=[1,-2]", &[0x80, 0x3f, 0, 0xc0]),
        ("x=u8[2,2]@[4,1]=iota", &[0, 1, 0, 0, 2, 3]),
        ("x=u8[2,3]@[1,2]=iota", &[0, 3, 1, 4, 2, 5]),
        ("x=u8[2,2]@[0,1]=[5,6,5,6]", &[5, 6]),
        ("x=u8[0]=iota", &[]),
        ("x=f32[]:inout=0", &[0, 0, 0, 0]),
    ];
    for (argument, expected) in table {
        assert_eq!(first_bytes(argument).as_deref(), Ok(expected), "{argument}");
    }
    let table = [
        ("x=u8[2,2]@[0,1]=iota", "elements that the strides put at one place differ"),
        ("x=f32[1099511627776]=0", "stated contents have at most 8 GiB"),
        ("x=f32[2]@[1099511627776]=0", "stated contents have at most 8 GiB"),
        ("x=f32[2]=@missing.npy", "`missing.npy` cannot be read"),
    ];
    for (argument, expected) in table {
        let error = first_bytes(argument).expect_err(argument);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn files_fill_tensors() {
    let folder = Folder::new("contents");
    let save = |name: &str, dtype, shape: &[u64], data: &[u8]| {
        let array = Array { dtype, shape: shape.to_vec(), data: data.to_vec() };
        write(&folder.0.join(name), &array).unwrap();
    };
    save("bytes.npy", Dtype::U1, &[2, 2], &[0, 1, 1, 0]);
    save("more.npy", Dtype::U1, &[2], &[0, 2]);
    save("raw.npy", Dtype::Raw(2), &[1], &[0x80, 0x3f]);
    save("words.npy", Dtype::U2, &[1], &[0x80, 0x3f]);
    let at = |argument: &str, name: &str| {
        first_bytes(&format!("{argument}=@{}", folder.0.join(name).display()))
    };
    assert_eq!(at("x=u8[2,2]", "bytes.npy"), Ok(vec![0, 1, 1, 0]));
    assert_eq!(at("x=u8[?]", "bytes.npy"), Ok(vec![0, 1, 1, 0]));
    assert_eq!(at("x=u8[4]", "bytes.npy"), Ok(vec![0, 1, 1, 0]), "as many elements");
    assert_eq!(at("x=b1[2,2]", "bytes.npy"), Ok(vec![0, 1, 1, 0]));
    assert_eq!(at("x=f8e4m3[2,2]@[1,2]", "bytes.npy"), Ok(vec![0, 1, 1, 0]));
    assert_eq!(at("x=bf16[1]", "raw.npy"), Ok(vec![0x80, 0x3f]));
    assert_eq!(at("x=bf16[1]", "words.npy"), Ok(vec![0x80, 0x3f]));
    let table = [
        ("x=u8[5]", "bytes.npy", "bytes.npy` has shape [2,2], the argument [5]"),
        ("x=s8[2,2]", "bytes.npy", "bytes.npy` holds |u1, s8 needs |i1"),
        ("x=f16[1]", "words.npy", "words.npy` holds <u2, f16 needs <f2"),
        ("x=b1[2]", "more.npy", "more.npy` holds truth values other than 0 and 1"),
    ];
    for (argument, name, expected) in table {
        let error = at(argument, name).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    // The shape of an output may come from its file too.
    let path = folder.0.join("bytes.npy");
    let text = format!("x=f32[1]=0 y=u8[?]:inout=@{} n=1 s=1", path.display());
    let built = simulate("scale", &text).unwrap();
    assert_eq!(built.outputs[0].shape, [2, 2]);
}

#[test]
fn outputs_with_stated_contents_may_be_read() {
    let built = check("scale", "x=f32[2] y=f32[2]:out=0 n=1 s=1").unwrap();
    let buffer = &built.launch.buffers[1];
    assert_eq!(buffer.access, Access::InOut);
    assert!(matches!(&buffer.contents, Contents::Known(bytes) if *bytes == [0; 8]));
    assert_eq!(built.outputs.len(), 1);
}

#[test]
fn results_are_taken_out_by_strides() {
    let built = check("scale", "x=f32[2] y=u8[2,2]@[3,1]:out n=1 s=1").unwrap();
    let output = &built.outputs[0];
    assert!(matches!(built.launch.buffers[1].contents, Contents::Undefined(5)));
    assert_eq!(output.offsets().collect::<Vec<_>>(), [0, 1, 3, 4]);
    let array = output.array(&[1, 2, 99, 3, 4]).unwrap();
    assert_eq!(array, Array { dtype: Dtype::U1, shape: vec![2, 2], data: vec![1, 2, 3, 4] });
    assert_eq!(output.array(&[1, 2, 99, 3]), None);
    let built = check("scale", "x=f32[2] y=bf16[2]:out n=1 s=1").unwrap();
    let array = built.outputs[0].array(&[1, 2, 3, 4]).unwrap();
    assert_eq!(array, Array { dtype: Dtype::U2, shape: vec![2], data: vec![1, 2, 3, 4] });
}

#[test]
fn contents_have_the_structure_that_is_said() {
    let table = [
        ("x=u8[2,2]:lower=[1,0,2,3]", None),
        ("x=u8[2,2]:upper=[1,0,2,3]", Some("element 2 is not zero, but `:upper` says that it is")),
        ("x=u8[2,2]:symmetric=[1,2,2,3]", None),
        ("x=u8[2,2]:symmetric=[1,2,3,3]", Some("elements 1 and 2 differ")),
        ("x=f32[2]:mask=[0,1]=[-0.0,5]", None),
        (
            "x=f32[2]:mask=[0,1]=[1e-9,5]",
            Some("element 0 is not zero, but `:mask` says that it is"),
        ),
        ("x=u8[2]:mask=[0,1]=[128,5]", Some("element 0 is not zero")),
    ];
    for (argument, wrong) in table {
        match (first_bytes(argument), wrong) {
            (Ok(_), None) => {}
            (Err(message), Some(wrong)) => assert!(message.contains(wrong), "{message}"),
            (found, _) => panic!("{argument}: {found:?}"),
        }
    }
}

/// The first and the last byte of the ranges of zeros of the first buffer.
fn zeros(argument: &str) -> Result<Vec<(usize, usize)>, String> {
    let built = check("scale", &format!("{argument} y=f32[1]:out n=1 s=1"));
    let built = built.map_err(|error| error.input.join("; "))?;
    match &built.launch.buffers[0].contents {
        Contents::Sparse { zeros, .. } => {
            Ok(zeros.iter().map(|range| (range.start, range.end - 1)).collect())
        }
        Contents::Opaque(_) => Ok(Vec::new()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn structures_become_zeros() {
    assert_eq!(zeros("x=f32[2,2]:lower"), Ok(vec![(4, 7)]));
    assert_eq!(zeros("x=f32[2,2]:upper"), Ok(vec![(8, 11)]));
    assert_eq!(zeros("x=f32[2,2]@[1,5]:lower:inout"), Ok(vec![(20, 23)]));
    assert_eq!(zeros("x=f16[2,2,2]:lower"), Ok(vec![(2, 3), (10, 11)]));
    assert_eq!(zeros("x=f32[2,2]:symmetric"), Ok(vec![]));
    assert_eq!(zeros("x=u8[4]:mask=[1,0,0,1]"), Ok(vec![(1, 2)]));
    let folder = Folder::new("masks");
    let path = folder.0.join("mask.npy");
    let argument = format!("x=u8[2,2]:mask=@{}", path.display());
    for (dtype, data, expected) in [
        (Dtype::Bool, vec![1, 0, 0, 1], Ok(vec![(1, 2)])),
        (Dtype::I2, vec![0, 1, 0, 0, 0, 0, 1, 0], Ok(vec![(1, 2)])),
        (Dtype::U1, vec![1, 1, 0], Err("has 3 elements, the tensor 4")),
        (Dtype::F2, vec![0; 8], Err("expected truth values or integers")),
    ] {
        let shape = vec![data.len() as u64 / dtype.bytes() as u64];
        write(&path, &Array { dtype, shape, data }).unwrap();
        match (zeros(&argument), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(message), Err(expected)) => assert!(message.contains(expected), "{message}"),
            (found, _) => panic!("{dtype}: {found:?}"),
        }
    }
    let missing = zeros("x=u8[2]:mask=@missing.npy").unwrap_err();
    assert!(missing.contains("`missing.npy` cannot be read"), "{missing}");
}

#[test]
fn aliases_share_a_buffer() {
    let built = check("scale", "x=f32[4] y=f32[4]:out n=1 s=1 alias:x,y").unwrap();
    let [buffer] = built.launch.buffers.as_slice() else { panic!("one buffer") };
    assert_eq!((buffer.name.as_str(), buffer.access), ("x/y", Access::InOut));
    assert!(matches!(buffer.contents, Contents::Opaque(16)));
    assert_eq!(built.outputs[0].buffer, 0);
    let built = check("scale", "x=? y=f32[4]:out n=1 s=1 alias:x,y").unwrap();
    assert!(matches!(built.launch.buffers[0].contents, Contents::Unbounded));
    let built = simulate("scale", "x=u8[4]=iota y=f32[1]:out n=1 s=1 alias:y,x").unwrap();
    assert!(matches!(&built.launch.buffers[0].contents, Contents::Known(b) if *b == [0, 1, 2, 3]));
    let table = [
        ("x=f32[4] y=f32[5]:out n=1 s=1 alias:x,y", "have 16 and 20 bytes"),
        ("x=f32[4] y=f32[4]:out=0 n=1 s=1 alias:x,y", "have different initial contents"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,z", "--alias x,z: no argument is called `z`"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,n", "--alias x,n: `n` is not a tensor"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,x", "--alias x,x: `x` is already aliased"),
    ];
    for (text, expected) in table {
        let messages = refused(check("scale", text));
        assert!(messages[0].contains(expected), "{messages:?}\nexpected: {expected}");
    }
}
