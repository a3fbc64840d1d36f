//! Fits arguments to the parameters of a kernel.

use super::{build, check, check_declared, launch_spec, refused, simulate};
use driver::arguments::{
    ArgumentSpec, Arguments, ElementType, Invocation, LaunchSpec, MissingData, Request,
    ScalarValue, build_launch, select_kernel,
};
use exec::{Access, Argument, Contents};

/// An argument of a launch, as text.
fn summary(argument: &Argument) -> String {
    match argument {
        Argument::Pointer(buffer) => format!("&{buffer}"),
        Argument::PointerInto { buffer, offset } => format!("&{buffer}+{offset}"),
        Argument::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Argument::Opaque(_) => "opaque".to_owned(),
        Argument::TensorMap { buffer, offset, map } => {
            format!("map of &{buffer}+{offset}, {} bytes", map.box_bytes())
        }
        Argument::Struct(pieces) => {
            let pieces: Vec<String> =
                pieces.iter().map(|(at, piece)| format!("{at}:{}", summary(piece))).collect();
            format!("{{{}}}", pieces.join(","))
        }
    }
}

const SCALE: &str = "x:const~float* y:float* n:int s:float unused:void*";

#[test]
fn arguments_with_the_names_of_parameters_are_taken_by_name() {
    let built = check_declared("scale", "s=0.5 n=-2 y=f32[128]:out x=f32[4,32]", SCALE).unwrap();
    let arguments: Vec<String> = built.launch.arguments.iter().map(summary).collect();
    assert_eq!(arguments, ["&0", "&1", "feffffff", "0000003f", "opaque"]);
    let buffers: Vec<&str> = built.launch.buffers.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(buffers, ["x", "y"]);
    assert_eq!(
        built.notes,
        ["arguments are taken by name; the order of the parameters is x, y, n, s, unused"]
    );
    // In order, there is no note; with names of the user's own, the order counts.
    assert!(
        check_declared("scale", "x=f32[128] y=f32[128]:out n=1 s=1", SCALE)
            .unwrap()
            .notes
            .is_empty()
    );
    let built = check_declared("scale", "a=f32[128] b=f32[128]:out c=-2 d=0.5", SCALE).unwrap();
    let arguments: Vec<String> = built.launch.arguments.iter().map(summary).collect();
    assert_eq!(arguments, ["&0", "&1", "feffffff", "0000003f", "opaque"]);
}

#[test]
fn a_name_of_another_parameter_is_an_error() {
    let messages = refused(check_declared("scale", "y=f32[128] b=f32[128]:out n=1 s=1", SCALE));
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("argument 0 is called `y`, as parameter 1 is"), "{messages:?}");
    // A declared pointer without eight bytes: this list is another kernel's, and its names are ignored.
    let other = "x:float* y:float* n:int* s:float unused:void*";
    assert!(check_declared("scale", "y=f32[128] b=f32[128]:out n=1 s=1", other).is_ok());
}

#[test]
fn elements_that_the_kernel_contradicts_are_a_warning() {
    let notes = |text: &str, declared: &str| check_declared("scale", text, declared).unwrap().notes;
    let given = notes("x=f64[128] y=f32[128]:out n=1 s=1", SCALE);
    let words =
        "warning: `x` is given as f64, but the kernel declares parameter 0 `x` as `const float*`";
    assert_eq!(given, [words]);
    // Without a declaration, the warning comes from accesses narrower than an element.
    let given = notes("x=f64[128] y=f32[128]:out n=1 s=1", "");
    assert_eq!(
        given,
        ["warning: `x` is given as f64, but the kernel accesses it 32 bits at a time"]
    );
    assert!(notes("x=f32[128] y=f32[128]:out n=1 s=1", SCALE).is_empty());
    assert!(notes("x=f16[256] y=f32[128]:out n=1 s=1", "").is_empty(), "packed halves");
}

#[test]
fn suggested_arguments_have_the_names_and_types_of_the_source() {
    let declared = "x:const~__nv_bfloat16* y:unsigned~int* n:int s:float unused:void*";
    let suggested = |text: &str| {
        let error = check_declared("scale", text, declared).unwrap_err();
        error.suggestion.unwrap()
    };
    let line = suggested("");
    for part in ["'x=bf16[?]'", "'y=u32[?]:out'", "'n=?'", "s=f32"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    // An argument given by name is not suggested again, wherever it stands.
    let line = suggested("y=u32[128]:out");
    assert!(line.contains("'x=bf16[?]'") && line.matches("y=").count() == 1, "{line}");
}

#[test]
fn arguments_fill_parameters_in_order() {
    let built = check("scale", "x=f32[4,32] y=f32[128]:out n=-2 s=0.5").unwrap();
    let launch = built.launch;
    assert_eq!((launch.grid, launch.block), ([4, 1, 1], [128, 1, 1]));
    let arguments: Vec<String> = launch.arguments.iter().map(summary).collect();
    // The last parameter is never read, so it needs no argument.
    assert_eq!(arguments, ["&0", "&1", "feffffff", "0000003f", "opaque"]);
    assert!(matches!(launch.buffers[0].contents, Contents::Opaque(512)));
    assert!(matches!(launch.buffers[1].contents, Contents::Undefined(512)));
    let access: Vec<Access> = launch.buffers.iter().map(|buffer| buffer.access).collect();
    assert_eq!(access, [Access::In, Access::Out]);
    assert_eq!(launch.buffers[1].element_bytes, 4);
    assert_eq!(built.outputs.len(), 1);
    assert_eq!((built.outputs[0].name.as_str(), built.outputs[0].buffer), ("y", 1));
    assert_eq!(built.outputs[0].shape, [128]);
    assert_eq!(built.notes, Vec::<String>::new());
}

#[test]
fn scalars_take_the_type_of_their_parameter() {
    let table = [
        (
            "p=0 n=1 h=f16=1 b=255 d=1",
            ["0000000000000000", "01000000", "003c", "ff", "000000000000f03f"],
        ),
        (
            "p=-1 n=1.0 h=-1 b=-1 d=0.5",
            ["ffffffffffffffff", "0000803f", "ffff", "ff", "000000000000e03f"],
        ),
        (
            "p=1.5 n=f32=1 h=65535 b=true d=f64=2",
            ["000000000000f83f", "0000803f", "ffff", "01", "0000000000000040"],
        ),
        (
            "p=s64=-2 n=u32=7 h=bf16=1 b=s8=-1 d=-inf",
            ["feffffffffffffff", "07000000", "803f", "ff", "000000000000f0ff"],
        ),
        ("p=f64 n=f32 h=f16 b=f8e4m3 d=f64", ["opaque"; 5]),
    ];
    for (text, expected) in table {
        let built = check("sizes", text).unwrap();
        let arguments: Vec<String> = built.launch.arguments.iter().map(summary).collect();
        assert_eq!(arguments, expected, "{text}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let table = [
        ("p=0 n=5000000000", "parameter 1 `n` has 4 bytes, the value 5000000000 does not fit"),
        ("p=0 n=-2147483649", "parameter 1 `n` has 4 bytes, the value -2147483649 does not fit"),
        ("p=0 n=0 h=0 b=256", "parameter 3 `b` has 1 byte, the value 256 does not fit"),
        (
            "p=0 n=0 h=0.5",
            "parameter 2 `h` is b16, so the type of 0.5 is not clear; give it, as in h=f16=0.5",
        ),
        ("p=0 n=0 h=0 b=0.5", "parameter 3 `b` is u8, 0.5 is not an integer"),
        ("p=0 n=f64=1", "parameter 1 `n` is b32 of 4 bytes, f64 has 8"),
        ("p=0 n=0 h=0 b=0 d=s64=1", "parameter 4 `d` is f64, not s64"),
        ("p=0 n=0 h=0 b=0 d=1e999", "parameter 4 `d`: 1e999 is too large for f64"),
        ("p=0 n=1e39", "parameter 1 `n`: 1e39 is too large for f32"),
        ("p=0 n=f32[4]", "parameter 1 `n` is b32, not a pointer; `n=f32[4]` is a tensor"),
        (
            "p=0 n=0 h=0 b=0 d=f32[4]",
            "parameter 4 `d` is f64, not a pointer; `d=f32[4]` is a tensor",
        ),
        ("p=0 n={0:1}", ""),
        (
            "p=0 n=0 h=0 b=0 d=0 e=1 f=2",
            "`e=1`: the kernel has 5 parameters, but 7 arguments are given",
        ),
        ("p=0 p=1", "`p=1`: `p` is given twice"),
        ("p=0 n=0 h=0 b=n/2+0.5", "`b=n/2+0.5`: its value is 1/2, not an integer"),
        ("p=0 n=0 h=0 b=n+256", "parameter 3 `b` has 1 byte, the value 256 does not fit"),
        ("p=0 n=0 h=0 b=d*2 d=f64", "`b=d*2`: an integer must be computed from given integers"),
        ("p=0 n=q*2", "`n=q*2`: no argument is called `q`"),
        ("p=[a,b] a=f32[4]", "parameter 0 `p`: no argument is called `b`"),
        ("p=[a] a=1", "parameter 0 `p`: `a=1` is not a tensor"),
        (
            "p=0 n=[a] a=f32[4]",
            "parameter 1 `n` is b32, not a pointer; `n=[a]` is a tensor of pointers",
        ),
        (
            "p=s32[2]:0..10=[3,10]",
            "`p=s32[2]:0..10=[3,10]`: element 1 is 10, which is not in 0..10",
        ),
    ];
    for (text, expected) in table {
        if expected.is_empty() {
            let complete = format!("{text} h=0 b=0 d=0");
            assert!(check("sizes", &complete).is_ok(), "{text}");
            continue;
        }
        let messages = refused(check("sizes", text));
        assert_eq!(messages[0], expected, "{messages:?}");
    }
}

#[test]
fn declared_pointers_take_tensors_or_null() {
    let arguments = |text: &str| -> Vec<String> {
        check("online", text).unwrap().launch.arguments.iter().map(summary).collect()
    };
    assert_eq!(arguments("x=f32[4] y=0"), ["&0", "0000000000000000", "opaque"]);
    let messages = refused(check("online", "x=512 y=f32"));
    assert_eq!(
        messages,
        [
            "parameter 0 `x` is a pointer, 512 is a number; expected a tensor such as x=f32[?], or 0",
            "parameter 1 `y` is u64 of 8 bytes, f32 has 4",
        ]
    );
    let messages = refused(check("online", "x=f64"));
    assert_eq!(messages, ["parameter 0 `x` is a pointer, not a scalar; did you mean x=f64[?]?"]);
    // An inferred pointer could be an offset: only a note.
    let built = check("scale", "x=512 y=f32[4]:out n=1 s=f32").unwrap();
    assert_eq!(built.notes, ["parameter 0 `x` looks like a pointer and is given the number 512"]);
    let built = check("online", "y=f32[4] x=f32[4]").unwrap();
    let order = "arguments are taken by name; the order of the parameters is x, y, scratch";
    assert_eq!(built.notes, [order]);
    assert_eq!(built.names[..2], ["x", "y"]);
}

#[test]
fn missing_arguments_are_named_or_assumed() {
    let error = check("scale", "").unwrap_err();
    assert_eq!(error.input, ["parameter 2 `param_2` (u32) needs a value: --arg param_2=VALUE"]);
    assert_eq!(
        error.suggestion.as_deref(),
        Some(
            "warpproof check kernels.ptx::scale --grid 4 --block 128 --arg 'param_0=f32[?]' \
             --arg 'param_1=f32[?]:out' --arg 'param_2=?' --arg param_3=f32 --arg 'param_4=?'"
        )
    );
    let built = check("scale", "x=? y=f32[?]:out n=4").unwrap();
    assert_eq!(
        built.notes,
        [
            "parameter 3 `param_3` has no argument: any finite f32",
            "`x` is a buffer of unknown size: its bounds are not checked",
            "`y` is a buffer of unknown size: its bounds are not checked",
        ]
    );
    let [x, y] = built.launch.buffers.as_slice() else { panic!("two buffers") };
    assert!(matches!((&x.contents, &y.contents), (Contents::Unbounded, Contents::Unbounded)));
    assert_eq!((x.access, y.access), (Access::InOut, Access::Out));
    assert_eq!(x.element_bytes, 4);
    assert!(built.outputs.is_empty());
}

#[test]
fn simulations_need_numbers() {
    assert_eq!(
        refused(simulate("scale", "x=f32[4] y=f32[?]:out n=4 s=f32")),
        [
            "`x` needs data: --arg x=f32[4]=@x.npy",
            "`y` needs a size: --arg y=f32[4]:out",
            "parameter 3 `s` needs a value: --arg s=f32=0.5",
        ]
    );
    assert_eq!(
        refused(simulate("scale", "x=? y=f32[4]:inout n=4")),
        [
            "parameter 0 `x` needs a size and data: --arg x=f32[4]=@x.npy",
            "`y` needs data: --arg y=f32[4]:inout=@y.npy",
            "parameter 3 `param_3` (f32) needs a value: --arg param_3=VALUE",
        ]
    );
    assert_eq!(
        refused(simulate("scale", "x=f32[1]=0 y=f32[4]:out n=4 s=2*n")),
        ["`s=2*n`: related scalars are not supported here; write the value"]
    );
    let built = simulate("scale", "x=f32[4]=iota y=f32[4]:out n=4 s=2").unwrap();
    let Contents::Known(bytes) = &built.launch.buffers[0].contents else { panic!("known") };
    assert_eq!(bytes[4..8], 1_f32.to_le_bytes());
    assert!(check("scale", "x=f32[1] y=f32[4]:out n=4 s=k*2").is_err());
    let built = check("scale", "x=f32[1] y=f32[4]:out n=4 s=n*log2e").unwrap();
    let related = ScalarValue::Related(ElementType::F32, "n*log2e".to_owned());
    assert!(built.scalars.iter().any(|scalar| scalar.name == "s" && scalar.value == related));
    let tensor = refused(check("scale", "x=f32[1] y=f32[4]:out n=4 s=x*log2e"));
    assert_eq!(tensor, ["`s=x*log2e`: `x` is not a scalar"]);
}

#[test]
fn structures_are_filled_by_field() {
    let launch = LaunchSpec { block: None, ..launch_spec() };
    let launch = LaunchSpec { shared: Some("1KiB".parse().unwrap()), ..launch };
    let build = |text| build("structure", &launch, text, MissingData::Opaque);
    let structure = |text| build(text).map(|built| summary(&built.launch.arguments[0]));
    let table = [
        ("p={0:x,8:y,16:512} x=f32[4] y=f32[4]:out", "{0:&0,8:&1,16:00020000}"),
        ("x=f32[4] p={16:-1,8:x,0:x}", "{0:&0,8:&0,16:ffffffff}"),
        ("p={16:0.5}", "{16:0000003f}"),
        ("p={16:f32,20:f16=1,22:7}", "{16:opaque,20:003c,22:0700}"),
        ("p={24:-1}", "{24:ffffffffffffffff}"),
        ("p={0:0,16:n} n=s32=3", "{0:0000000000000000,16:03000000}"),
        ("p={0:x} x=?", "{0:&0}"),
        ("p={0:xs,8:xs} xs=[x,0,y] x=f32[4] y=f32[4]", "{0:&2,8:&2}"),
        ("p=?", "opaque"),
    ];
    for (text, expected) in table {
        assert_eq!(structure(text), Ok(expected.to_owned()), "{text}");
    }
    let table = [
        ("p={0:x}", "field `0:x`: no argument is called `x`; expected --arg x=… beside it"),
        ("p={0:x,4:1} x=f32[4]", "field `4:1`: overlaps the field before it"),
        ("p={28:f64=1}", "field `28:f64=1`: 8 bytes there exceed the 32 of the parameter"),
        ("p={32:1}", "field `32:1`: 1 bytes there exceed the 32 of the parameter"),
        ("p={18446744073709551615:1}", "exceed the 32 of the parameter"),
        ("p={16:5000000000}", "field `16:5000000000`: 5000000000 does not fit 4 bytes"),
        ("p={22:0.5,24:0}", "the type of 0.5 is not clear; give it, as in f16=0.5"),
        ("p=5", "parameter 0 `p` is a structure of 32 bytes, 5 is a number; expected fields"),
        ("", "parameter 0 `param_0` is a structure of 32 bytes and needs fields"),
    ];
    for (text, expected) in table {
        let messages = refused(build(text));
        assert!(messages[0].contains(expected), "{messages:?}\nexpected: {expected}");
    }
}

/// A structure of 32 bytes as a program passed it: an address 16 bytes into a tensor, one of another, a number, and
/// an address in no tensor.
fn recorded_structure() -> String {
    let words: [u64; 4] = [0x7f3c_0000_0010, 0x7f3c_1000_0000, 28, 0x7f3c_2000_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let path = std::env::temp_dir().join(format!("warpproof-params-{}.bin", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn recorded_structures_have_pointers_where_tensors_were() {
    let path = recorded_structure();
    let launch = LaunchSpec { block: None, ..launch_spec() };
    let launch = LaunchSpec { shared: Some("1KiB".parse().unwrap()), ..launch };
    let build = |text: &str| build("structure", &launch, text, MissingData::Opaque);
    let whole = "100000003c7f0000000000103c7f00001c00000000000000000000203c7f0000";
    let tensors = "A=f32[8] C=f32[8]:out";
    let built = build(&format!("p=@{path}{{A=0x7f3c00000000,C=0x7f3c10000000,16:24}} {tensors}"));
    let built = built.unwrap();
    let expected = format!("{{0:{whole},0:&0+16,8:&1+0,16:18000000}}");
    assert_eq!(summary(&built.launch.arguments[0]), expected);
    // The first word lies 16 bytes into a tensor of pointers.
    let text = format!("p=@{path}{{ps=0x7f3c00000000,C=0x7f3c10000000}} ps=[C,0,A] {tensors}");
    let pointers = build(&text).unwrap().launch;
    assert_eq!(summary(&pointers.arguments[0]), format!("{{0:{whole},0:&2+16,8:&0+0}}"));
    assert!(matches!(
        &pointers.buffers[2].contents,
        Contents::Pointers(targets) if *targets == [Some(0), None, Some(1)]
    ));
    let last = built.notes.last().unwrap();
    assert!(last.ends_with("0x7f3c20000000, looks like an address, but is in no tensor"), "{last}");
    let table = [
        (
            "{A=0x7f3c00000000,B=0x7f3c00000100} A=f32[80] B=?",
            "`A` and `B` lie at the same addresses",
        ),
        ("{A=0x7f3c00000008} A=f32[8]", "`A` cannot begin at 0x7f3c00000008"),
        ("{A=0xffffffffffffff00} A=f32[80]", "`A` cannot begin at 0xffffffffffffff00"),
        ("{B=0x7f3c00000000}", "`B` is not a tensor; expected --arg B=f16[…] beside it"),
        ("{99:s32=1}", "field `99:s32=1`: 4 bytes there exceed the 32 of the parameter"),
        // Without a load there, the size of the replacement is unknown.
        ("{1:1}", "the kernel does not show how many recorded bytes `1:1` replaces"),
        ("x", "No such file"),
    ];
    for (rest, expected) in table {
        let messages = refused(build(&format!("p=@{path}{rest}")));
        assert!(messages[0].contains(expected), "{messages:?}\nexpected: {expected}");
    }
    let pointer = refused(check("scale", &format!("x=@{path} y=f32[4]:out n=4 s=0.5")));
    assert!(pointer[0].contains("not a structure"), "{pointer:?}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn sizes_that_are_missing_come_back_as_a_command() {
    let error = build("sizes", &LaunchSpec::default(), "p=0 n=1", MissingData::Opaque).unwrap_err();
    assert_eq!(
        error.input[..2],
        [
            "the number of blocks is not given: --grid X[,Y[,Z]]",
            "the size of a block is not given: --block X[,Y[,Z]]",
        ]
    );
    assert_eq!(
        error.suggestion.as_deref(),
        Some(
            "warpproof check kernels.ptx::sizes --grid ? --block 128 --arg p=0 --arg n=1 \
             --arg 'param_2=?' --arg 'param_3=?' --arg param_4=f64"
        )
    );
    // The block is in the PTX; the size of dynamic shared memory is not.
    let error = build("structure", &LaunchSpec::default(), "", MissingData::Opaque).unwrap_err();
    assert_eq!(
        error.suggestion.as_deref(),
        Some(
            "warpproof check kernels.ptx::structure --grid ? --smem ? \
             --arg 'param_0={0:?,8:?,16:?}'"
        )
    );
}

#[test]
fn launches_that_no_gpu_accepts_are_faults() {
    let spec = |grid: &str, block: &str, shared: &str| LaunchSpec {
        grid: Some(grid.parse().unwrap()),
        block: Some(block.parse().unwrap()),
        cluster: None,
        shared: Some(shared.parse().unwrap()),
        blocks: Vec::new(),
    };
    let table = [
        ("softmax", spec("0", "1", "0"), "grid.x is 0; the minimum is 1"),
        ("softmax", spec("1,65536", "1", "0"), "grid.y is 65536; the maximum is 65535"),
        (
            "softmax",
            spec("2147483648", "1", "0"),
            "grid.x is 2147483648; the maximum is 2147483647",
        ),
        ("softmax", spec("1", "1,1,65", "0"), "block.z is 65; the maximum is 64"),
        ("softmax", spec("1", "32,33", "0"), "a block has at most 1024 threads, 32,33 is 1056"),
        ("softmax", spec("1", "4294967295,4294967295,4294967295", "0"), "the maximum is 1024"),
        ("softmax", spec("1", "1", "228KiB"), "227 KiB), the launch needs 233472: 0 static and"),
        ("structure", spec("1", "64", "227KiB"), "needs 233472: 1024 static and 232448 dynamic"),
        ("structure", spec("1", "32", "0"), "requires blocks of 64 (.reqntid), not 32"),
        ("sizes", spec("1", "256", "0"), "at most 128 threads in a block (.maxntid), 256 is 256"),
    ];
    for (kernel, launch, expected) in table {
        let arguments = match kernel {
            "structure" => "p=?",
            "sizes" => "p=0 n=0 h=0 b=0 d=0",
            _ => "",
        };
        let error = build(kernel, &launch, arguments, MissingData::Opaque).unwrap_err();
        assert_eq!(error.input, Vec::<String>::new());
        assert!(error.launch.iter().any(|fault| fault.contains(expected)), "{:?}", error.launch);
    }
    let fits = spec("2147483647,65535,65535", "1024", "227KiB");
    let built = build("softmax", &fits, "", MissingData::Refused).unwrap();
    assert!(built.notes[0].starts_with("more than 48 KiB of shared memory (232448 bytes)"));
    let built = build("structure", &spec("1", "64", "0"), "p=?", MissingData::Opaque).unwrap();
    assert_eq!(
        built.notes[0],
        "the kernel uses dynamic shared memory, but the launch provides none (--smem)"
    );
}

#[test]
fn blocks_must_be_in_the_grid() {
    let mut launch = launch_spec();
    launch.blocks = vec!["3".parse().unwrap()];
    let built = build("softmax", &launch, "", MissingData::Opaque).unwrap();
    assert_eq!(built.launch.selected.as_slice(), std::slice::from_ref(&(3..4)));
    launch.blocks.push("4".parse().unwrap());
    assert_eq!(
        refused(build("softmax", &launch, "", MissingData::Opaque)),
        ["--blocks 4: the grid is 4; positions count from 0"]
    );
}

/// For every kernel of the corpus, a request without arguments comes back as a command; its arguments can be read
/// once numbers replace the question marks.
#[test]
fn kernels_of_the_corpus_get_a_command() {
    let mut kernels = 0;
    for compiler in ["cuda", "triton", "tilelang"] {
        for path in testing::corpus::files_in(format!("corpus/ptx/{compiler}"), "ptx") {
            let text = std::fs::read_to_string(&path).unwrap();
            let program = ptx::lower(&ptx::syntax::parse(&text).module).program;
            for (kernel, function) in program.functions.enumerate() {
                if function.is_kernel && function.is_defined() {
                    kernels += 1;
                    assert_command(&program, kernel);
                }
            }
        }
    }
    assert!(kernels > 50, "{kernels}");
}

fn assert_command(program: &ir::Program, kernel: ir::FuncId) {
    let request = Request {
        program,
        kernel,
        launch: &LaunchSpec::default(),
        arguments: &Arguments::default(),
        declared: &[],
        others: &[],
        missing_data: MissingData::Opaque,
        invocation: Invocation { command: "check", file: "k.ptx" },
    };
    let command = build_launch(&request).unwrap_err().suggestion.unwrap();
    let command = command.replace('\'', "");
    let selected = command.split_once("::").unwrap().1.split(' ').next();
    assert_eq!(select_kernel(program, selected), Ok(kernel), "{command}");
    let blanks = [(":?", ":0"), ("?,", "1,"), (",?", ",1"), ("=[?]", "=[1]"), ("=?)", "=1)")];
    let filled = |text: &str| {
        blanks.iter().fold(text.to_owned(), |text, (blank, number)| text.replace(blank, number))
    };
    let written = command.split(" --arg ").skip(1).map(filled);
    let specs: Result<Vec<ArgumentSpec>, _> = written.map(|text| text.parse()).collect();
    let specs = specs.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert_eq!(specs.len(), program.functions[kernel].params.len());
}
