//! Buffers: stated contents, strides, aliases, and results taken out of them.

use super::npy::Folder;
use super::{check, refused, simulate};
use driver::npy::{Array, Dtype, write};
use exec::{Access, Contents};

/// The first buffer of a simulation whose first argument is this.
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
        ("x=u8[300]=iota", "`x=u8[300]=iota`: element 256: 256 does not fit u8 (0 to 255)"),
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
        ("x=f32[4] y=f32[4]:out=0 n=1 s=1 alias:x,y", "start with different contents"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,z", "--alias x,z: no argument is called `z`"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,n", "--alias x,n: `n` is no tensor"),
        ("x=f32[4] y=f32[4]:out n=1 s=1 alias:x,x", "--alias x,x: `x` is aliased already"),
    ];
    for (text, expected) in table {
        let messages = refused(check("scale", text));
        assert!(messages[0].contains(expected), "{messages:?}\nexpected: {expected}");
    }
}
