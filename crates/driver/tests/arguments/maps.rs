//! Tensor maps as arguments: text, layout, limits, and matching with parameters.

use driver::arguments::{
    ArgumentSpec, Arguments, BuildError, BuiltLaunch, Invocation, LaunchSpec, MissingData, Request,
    build_launch, select_kernel,
};
use exec::Argument;
use ir::{BoxShape, Swizzle, TensorElement, TensorMap};

/// A kernel with a map, a pointer and a structure that has a map in it.
const KERNELS: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry mapped(.param .align 64 .b8 t[128], .param .u64 p, .param .align 64 .b8 s[192], .param .u32 n)
{
	.reg .b64 %rd<8>; .reg .b32 %r<4>;
	.shared .align 128 .b8 buffer[1024];
	.shared .align 8 .b8 bar[8];
	mov.b64 %rd1, t;
	cvta.param.u64 %rd2, %rd1;
	ld.param.u64 %rd3, [p];
	ld.param.u32 %r1, [n];
	ld.param.u64 %rd4, [s+128];
	ld.global.u32 %r2, [%rd3];
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buffer], [%rd2, {%r1, 0}], [bar];
	ret;
}
";

fn build(specs: &[&str]) -> Result<BuiltLaunch, BuildError> {
    let program = ptx::lower(&ptx::syntax::parse(KERNELS).module).program;
    let arguments = Arguments {
        specs: specs.iter().map(|text| text.parse().unwrap()).collect(),
        ..Arguments::default()
    };
    let launch = LaunchSpec {
        grid: Some("1".parse().unwrap()),
        block: Some("32".parse().unwrap()),
        ..LaunchSpec::default()
    };
    build_launch(&Request {
        program: &program,
        kernel: select_kernel(&program, None).unwrap(),
        launch: &launch,
        arguments: &arguments,
        declared: &[],
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "check", file: "k.ptx" },
    })
}

/// The map described by a text.
fn map(text: &str) -> TensorMap {
    let built = build(&[&format!("t={text}"), "p=f32[4]", "s=?", "n=0"]).unwrap();
    match &built.launch.arguments[0] {
        Argument::TensorMap { map, .. } => (**map).clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the message about a map that does not fit.
fn refused(text: &str) -> String {
    build(&[&format!("t={text}"), "p=f32[4]", "s=?", "n=0"]).unwrap_err().input.join("; ")
}

#[test]
fn maps_are_printed_as_they_are_read() {
    for text in [
        "t=tensormap(A, box=[128,64], swizzle=128B)",
        "t=tensormap(A=f16[512,256]:out, box=[128,64])",
        "t=tensormap(A=f16[512,256]@[512,1]=@a.npy, box=[1,64], elem=u8, fill=nan)",
        "t=tensormap(A, box=[2,2], dim=[4,4], stride=[64], step=[1,2], offset=32)",
        "t=tensormap(X=bf16[8,14,14,64], im2col(lower=[-1,-1], upper=[-1,1], channels=64, pixels=128), swizzle=128B)",
        "t=tensormap(@t.bin, A=f16[512,256])",
        "p={0:tensormap(A, box=[1,64]),128:7}",
        "ts=[tensormap(A, box=[128,64]),tensormap(B=f16[4,8]:out, box=[1,8], swizzle=32B)]",
        "t=[tensormap(A, box=[128,64])]",
    ] {
        let spec: ArgumentSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
    }
}

#[test]
fn bad_maps_are_explained() {
    for (text, part) in [
        ("tensormap(A, box=[1]", "expected tensormap("),
        ("[tensormap(A, box=[1]),B]", "`B` is in a list of tensor maps, but is not a tensor map"),
        ("[tensormap(A, box=[1])", "is in a list of tensor maps, but is not a tensor map"),
        ("tensormap(A)", "expected a box"),
        ("tensormap(4A, box=[1])", "is not the name of a tensor"),
        ("tensormap(A=f23[4], box=[1])", "did you mean f32"),
        ("tensormap(A, box=[1], box=[2])", "given twice"),
        ("tensormap(A, box=1)", "expected a list"),
        ("tensormap(A, box=[1,x])", "not a number from 0 up"),
        ("tensormap(A, box=[1], swizzle=256B)", "expected one of none, 32B, 64B, 128B"),
        ("tensormap(A, box=[1], elem=f8)", "is not a type of elements"),
        ("tensormap(A, box=[1], interleave=16B)", "interleaved maps are not supported"),
        ("tensormap(A, box=[1], colour=red)", "unknown key `colour`"),
        ("tensormap(A, box=[1], im2col(lower=[0], upper=[0], channels=1, pixels=1))", "not both"),
        ("tensormap(A, im2col(lower=[0]))", "needs lower, upper, channels and pixels"),
        ("tensormap(@, A)", "name of a file"),
        ("tensormap(@t.bin)", "expected a tensor"),
        ("tensormap(@t.bin, A, box=[1])", "everything except `offset`"),
        ("tensormap(A, box=[(1])", "bracket"),
    ] {
        let error = format!("t={text}").parse::<ArgumentSpec>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn sizes_and_strides_come_from_the_tensor() {
    let plain = map("tensormap(A=f16[512,256], box=[128,64], swizzle=128B)");
    assert_eq!(plain.element, TensorElement::F16);
    assert_eq!((plain.dims.as_slice(), plain.strides.as_slice()), (&[256, 512][..], &[512][..]));
    assert_eq!(plain.shape, BoxShape::Tile(vec![64, 128]));
    assert_eq!(plain.swizzle, Swizzle::B128);
    let padded = map("tensormap(A=f16[512,200]@[256,1], box=[128,64])");
    assert_eq!((padded.dims, padded.strides), (vec![200, 512], vec![512]));
    let bytes = map("tensormap(A=f32[8,16], elem=u8, box=[8,64])");
    assert_eq!((bytes.dims, bytes.strides), (vec![64, 8], vec![64]));
    let flat = map("tensormap(A=f32[8,16], dim=[128], box=[128])");
    assert_eq!((flat.dims, flat.strides), (vec![128], vec![]));
    let part = map("tensormap(A=f32[8,16], dim=[4,8], offset=32, box=[4,8])");
    assert_eq!((part.dims, part.strides), (vec![8, 4], vec![64]));
    let fp8 = map("tensormap(A=f8e4m3[8,16], box=[8,16])");
    assert_eq!(fp8.element, TensorElement::U8);
}

#[test]
fn maps_that_no_driver_encodes_are_refused() {
    for (text, part) in [
        ("tensormap(A=f16[512,250], box=[128,64])", "a stride is a multiple of 16 bytes"),
        ("tensormap(A=f16[512,256], box=[128,60])", "a row of the box is a multiple of 16 bytes"),
        ("tensormap(A=f16[512,256], box=[128,128], swizzle=128B)", "at most 128 bytes"),
        ("tensormap(A=f16[512,256], box=[257,64])", "1 to 256"),
        (
            "tensormap(A=f16[512,256], box=[64])",
            "2 dimensions need 2 sizes of the box, 1 are given",
        ),
        ("tensormap(A=f16[512,256], box=[128,64], step=[9,1])", "a step is 1 to 8"),
        ("tensormap(A=f16[512,256], box=[128,64], offset=8)", "not a multiple of 16"),
        ("tensormap(A=f16[512,256], box=[128,64], offset=16)", "which has 262144"),
        ("tensormap(A=f16[4,256], box=[4,64], dim=[5,256])", "it reaches 2560 bytes"),
        ("tensormap(A=f16[4,256]@[1,4], box=[4,64])", "must lie next to each other"),
        ("tensormap(A=s32[4,256], box=[4,64], fill=nan)", "only floats are filled with NaN"),
        ("tensormap(A=f16[2,2,2,2,2,8], box=[1,1,1,1,1,8])", "1 to 5 dimensions"),
        ("tensormap(A=f16[?], box=[8])", "needs a shape"),
        ("tensormap(B, box=[8])", "no argument is called `B`"),
        ("tensormap(n, box=[8])", "is not a tensor"),
        ("tensormap(p=f16[64], box=[64])", "`p` is given twice"),
        ("tensormap(@no/such/file, A=f16[64])", "cannot read no/such/file"),
        (
            "tensormap(X=f16[8,14,14,64], im2col(lower=[0], upper=[0], channels=64, pixels=8))",
            "2 numbers each",
        ),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_file_of_the_driver_is_read() {
    let described = map("tensormap(A=f16[512,256], box=[128,64], swizzle=128B)");
    let path = std::env::temp_dir().join(format!("warpproof-map-{}.bin", std::process::id()));
    std::fs::write(&path, described.encode(0x7f00_0000_0000)).unwrap();
    let text = format!("tensormap(@{}, A=f16[512,256])", path.display());
    let read = map(&text);
    let small = refused(&text.replace("512,256", "511,256"));
    std::fs::write(&path, [0; 64]).unwrap();
    let short = refused(&text);
    std::fs::write(&path, [255; 128]).unwrap();
    let unknown = refused(&text);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read, described);
    assert!(small.contains("which has 261632"), "{small}");
    assert!(short.contains("64 bytes; a tensor map has 128"), "{short}");
    assert!(unknown.contains("whose meaning is not known"), "{unknown}");
}

#[test]
fn tensors_behind_maps_stand_for_no_parameter_of_their_own() {
    let one = ["A=f16[64,64]", "t=tensormap(A, box=[8,64])", "p=f32[4]", "s=?", "n=0"];
    let two = ["t=tensormap(A, box=[8,64])", "A=f16[64,64]", "s=?", "n=0"];
    assert_eq!(build(&one).unwrap().names, ["t", "p", "s", "n"]);
    assert_eq!(build(&two).unwrap().names, ["t", "A", "s", "n"]);
    let inside = [
        "t=tensormap(A=f16[64,64], box=[8,64])",
        "p=f32[4]",
        "s={0:tensormap(A=f16[64,64], box=[1,8]),128:1}",
        "n=0",
    ];
    let built = build(&inside).unwrap();
    assert_eq!(built.launch.buffers.len(), 2);
    assert!(matches!(&built.launch.arguments[2], Argument::Struct(pieces)
        if matches!(pieces[0], (0, Argument::TensorMap { buffer: 0, .. }))));
    let moved = ["t=?", "p=f32[4]", "s={8:tensormap(A=f16[64,64], box=[1,8])}", "n=0"];
    let message = build(&moved).unwrap_err().input.join("; ");
    assert!(message.contains("at a multiple of 64 bytes"), "{message}");
    let other = [
        "t=tensormap(A=f16[64,64], box=[8,64])",
        "p=f32[4]",
        "s={0:tensormap(A=f16[8,64], box=[1,8])}",
        "n=0",
    ];
    let message = build(&other).unwrap_err().input.join("; ");
    assert!(message.contains("`A` is given twice"), "{message}");
}

#[test]
fn a_missing_map_is_named_with_its_rank() {
    let error = build(&["t=?", "p=f32[4]", "s=?", "n=0"]).unwrap_err();
    let message = error.input.join("; ");
    assert!(
        message.contains("t=tensormap(t_tensor=f16[?,?], box=[?,?], swizzle=none)"),
        "{message}"
    );
    let wrong = build(&[
        "t=tensormap(A=f16[64], box=[64])",
        "p=tensormap(A=f16[64], box=[64])",
        "s=?",
        "n=0",
    ]);
    let message = wrong.unwrap_err().input.join("; ");
    assert!(message.contains("a tensor map has 128 bytes"), "{message}");
}
