//! Parsing of single flags and arguments.

use driver::arguments::{
    AliasSpec, ArgumentSpec, ArgumentValue, BlockPosition, ByteCount, Dimensions, Direction,
    KernelPath, Number,
};

/// Accepted texts, and their printed form.
#[test]
fn arguments_are_read() {
    let table = [
        ("x=f32[4,512]", "x=f32[4,512]"),
        ("x=f32[4, 512]:in", "x=f32[4,512]"),
        ("y=f32[4,512]:out", "y=f32[4,512]:out"),
        ("y=f32[4,512]:inout", "y=f32[4,512]:inout"),
        ("y=f32[4]:out=0", "y=f32[4]:out=0"),
        ("y=f32[]:out", "y=f32[]:out"),
        ("y=f32[0]", "y=f32[0]"),
        ("y=f32[18446744073709551615,4,0]", "y=f32[18446744073709551615,4,0]"),
        ("x=f32[4,512]@[1024,2]", "x=f32[4,512]@[1024,2]"),
        ("x=f32[4,512]@[0,1]", "x=f32[4,512]@[0,1]"),
        ("x=f16[2,3]@[3,1]:inout=iota", "x=f16[2,3]@[3,1]:inout=iota"),
        ("x=f32[?]", "x=f32[?]"),
        ("x=f32[?]:out", "x=f32[?]:out"),
        ("x=?", "x=?"),
        ("idx=s32[64]=@idx.npy", "idx=s32[64]=@idx.npy"),
        ("idx=s32[64]=@a dir/x=[:,].npy", "idx=s32[64]=@a dir/x=[:,].npy"),
        ("idx=i32[3]=[3,1,2]", "idx=s32[3]=[3,1,2]"),
        ("idx=u8[2,2]=[0xff, 0, 1, 2]", "idx=u8[2,2]=[255,0,1,2]"),
        ("idx=s32[?]=[3,1]", "idx=s32[?]=[3,1]"),
        ("mask=bool[2]=[true,false]", "mask=b1[2]=[1,0]"),
        ("n=512", "n=512"),
        ("n=+512", "n=512"),
        ("n=-1", "n=-1"),
        ("n=0x1F", "n=31"),
        ("n=18446744073709551615", "n=18446744073709551615"),
        ("n=-9223372036854775808", "n=-9223372036854775808"),
        ("n=s32=-5", "n=s32=-5"),
        ("p=0", "p=0"),
        ("scale=f32", "scale=f32"),
        ("scale=float32", "scale=f32"),
        ("scale=0.125", "scale=0.125"),
        ("scale=-1e-5", "scale=-1e-5"),
        ("scale=-inf", "scale=-inf"),
        ("scale=f32=1", "scale=f32=1"),
        ("scale=f16=0.5", "scale=f16=0.5"),
        ("s2=scale*log2e", "s2=scale*log2e"),
        ("s2=(scale + 1)/2", "s2=(scale + 1)/2"),
        ("p={0:x,8:y,16:512}", "p={0:x,8:y,16:512}"),
        ("p={}", "p={}"),
        // Names that begin like a type.
        ("p={0:i1$_,8:f32$x}", "p={0:i1$_,8:f32$x}"),
        ("s=half_x*2", "s=half_x*2"),
        ("p={0x10:f32, 20:s32=-1 , 24:0.5}", "p={16:f32,20:s32=-1,24:0.5}"),
        ("a.b$_1=1", "a.b$_1=1"),
        ("i=s32[8]:0..100", "i=s32[8]:0..100"),
        ("i=s64[8]:in:-5..0x10", "i=s64[8]:-5..16"),
        ("i=u8[2]:0..256=[255,0]", "i=u8[2]:0..256=[255,0]"),
        ("xs=[a, b,0]", "xs=[a,b,0]"),
        ("A=f32[8,8]:lower", "A=f32[8,8]:lower"),
        ("A=f32[2,3]:upper:inout", "A=f32[2,3]:inout:upper"),
        ("A=s32[2,2]@[4,1]:symmetric:1..5", "A=s32[2,2]@[4,1]:1..5:symmetric"),
        ("A=f32[3]:mask=[true, 0,7]", "A=f32[3]:mask=[1,0,1]"),
        ("A=f32[2]:mask=[1,0]=[5,0]", "A=f32[2]:mask=[1,0]=[5,0]"),
        ("p=@recorded.bin{}", "p=@recorded.bin"),
        ("p=@recorded.npy{}", "p=@recorded.npy{}"),
        ("A=f32[2]:mask=@a:b=c.npy:in=@d.npy", "A=f32[2]:mask=@a:b=c.npy=@d.npy"),
        (
            "m=tensormap(A=f16[8,8]:mask=@m.npy, box=[8,8])",
            "m=tensormap(A=f16[8,8]:mask=@m.npy, box=[8,8])",
        ),
    ];
    for (text, printed) in table {
        let spec: ArgumentSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spec.to_string(), printed);
        assert_eq!(printed.parse(), Ok(spec));
    }
}

#[test]
fn types_have_many_spellings() {
    let table: [(&str, &[&str]); 16] = [
        ("f64", &["f64", "float64", "double", "torch.float64", "np.float64"]),
        ("f32", &["f32", "float32", "float", "F32", "torch.float32"]),
        ("tf32", &["tf32"]),
        ("f16", &["f16", "float16", "half", "torch.half"]),
        ("bf16", &["bf16", "bfloat16", "torch.bfloat16"]),
        ("f8e4m3", &["f8e4m3", "float8_e4m3fn", "torch.float8_e4m3fn"]),
        ("f8e5m2", &["f8e5m2", "float8_e5m2"]),
        ("s64", &["s64", "i64", "int64", "long"]),
        ("s32", &["s32", "i32", "int32", "int"]),
        ("s16", &["s16", "i16", "int16"]),
        ("s8", &["s8", "i8", "int8"]),
        ("u64", &["u64", "uint64", "np.uint64"]),
        ("u32", &["u32", "uint32"]),
        ("u16", &["u16", "uint16"]),
        ("u8", &["u8", "uint8"]),
        ("b1", &["b1", "bool", "torch.bool"]),
    ];
    for (name, spellings) in table {
        for spelling in spellings {
            let spec: ArgumentSpec = format!("x={spelling}[2]").parse().unwrap();
            assert_eq!(spec.to_string(), format!("x={name}[2]"), "{spelling}");
        }
    }
}

#[test]
fn bad_arguments_are_explained() {
    let table = [
        ("x", "expected NAME=TYPE or NAME=VALUE"),
        ("", "expected NAME=TYPE or NAME=VALUE"),
        ("p=@{}", "expected the name of a file after `@`, such as @params.bin{A=0x7f3c00000000}"),
        ("=f32", "`` is not a name"),
        ("4x=f32", "`4x` is not a name"),
        ("x=", "expected a type before ``"),
        ("x=@x.npy", "expected a type before `@x.npy`, such as x=f32[?]=@x.npy"),
        ("x=[1,2]", "expected a type before `[1,2]`, such as x=f32[?]=[1,2]"),
        ("x=f23[4]", "`f23` is not a type; did you mean f32?"),
        ("x=flaot32[4]", "`flaot32` is not a type; did you mean float32?"),
        ("x=bfloat[4]", "`bfloat` is not a type; did you mean float?"),
        ("x=tensor[4]", "`tensor` is neither a type nor a number; expected x=f32[4,512]"),
        ("x=<f4>", "`<f4>` is neither a type nor a number"),
        ("x=f32[4", "`[4` has no closing `]`"),
        ("x=f32[4,]", "size `` is not a number from 0 up"),
        ("x=f32[N]", "size `N` is not a number from 0 up"),
        ("x=f32[-4]", "size `-4` is not a number from 0 up"),
        ("x=f32[4,?]", "only a whole shape can be unknown: size `?`"),
        ("x=f32[4]x", "expected `@[`, `:`, `=` or nothing, found `x`"),
        ("x=f32[4]:output", "`:output` is not a direction; expected :in, :out, :inout or :scratch"),
        ("i=s32[4]:0..", "`:0..` is not a range of integers"),
        ("i=s32[4]:5..5", "`:5..5` is not a range of integers"),
        ("i=s32[4]:0..1.5", "`:0..1.5` is not a range of integers"),
        ("i=u8[4]:0..257", "256 "),
        ("i=u8[4]:-1..4", "-1 "),
        ("x=f32[4]:0..10", "ranges are for integers, but these are f32"),
        ("i=s32[4]:out:0..10", "`:0..10` is given for an output"),
        ("i=s32[4]:0..10:1..2", "may be given once each"),
        ("i=s32[4]:in:in", "may be given once each"),
        ("A=f32[2,2]:lower:upper", "may be given once each"),
        ("A=f32[2,2]:lower:lower", "may be given once each"),
        (
            "A=f32[4]:lower",
            "`:lower` is for matrices, of two dimensions or more, but this tensor has 1",
        ),
        (
            "A=f32[]:symmetric",
            "`:symmetric` is for matrices, of two dimensions or more, but this tensor has 0",
        ),
        ("A=f32[2,3,4]:symmetric", "is for square matrices, but these have 3 rows and 4 columns"),
        ("A=f32[2,2]:out:lower", "`:lower` is given for an output"),
        ("A=f32[2]:mask=[1,0]:scratch", "`:mask` is given for an output"),
        ("A=f32[?]:lower", "`:lower`: a tensor of unknown size [?] has no structure"),
        ("A=f32[2]:mask=[1,0,1]", "the shape has 2 elements, the mask has 3"),
        ("A=f32[2]:mask=[1,x]", "`x` is not an element of a mask; expected 0 or 1"),
        ("A=f32[2]:mask=[1,0.5]", "`0.5` is not an element of a mask; expected 0 or 1"),
        ("A=f32[2]:mask", "expected a mask such as :mask=[1,0,1] or :mask=@mask.npy"),
        ("A=f32[2]:mask=1", "expected a mask such as :mask=[1,0,1] or :mask=@mask.npy"),
        ("A=f32[2]:mask=@", "expected the name of a .npy file after `:mask=@`"),
        ("A=f32[2]:mask=@m.bin", "expected the name of a .npy file after `:mask=@`"),
        ("A=s32[2,2]:1..5:lower", "`:lower` makes elements zero, which is not in 1..5"),
        ("A=s32[2,2]:-5..0:mask=[1,1,1,0]", "`:mask` makes elements zero, which is not in -5..0"),
        ("x=u8[300]:distinct", "300 elements, but only 256 integers are possible"),
        ("x=s32[5]:0..4:distinct", "5 elements, but only 4 integers are possible"),
        ("A=s32[2,2]:0..9:distinct:symmetric", "`:symmetric` and `:distinct`"),
        ("A=f32[2,2]@[0,1]:lower", "`:lower`: strides make elements share their memory"),
        ("A=f32[9000,9000]:lower", "`:lower` is for at most 67108864 elements"),
        ("A=f32[4294967296,4294967296]:lower", "larger than any memory"),
        ("A=f32[2,2]:lowr", "`:lowr` is not known here; did you mean :lower?"),
        ("A=f32[2,2]:symetric", "did you mean :symmetric?"),
        ("A=f32[2,2]:triangular", "or a structure: :lower, :upper, :symmetric, :mask=[1,0,1]"),
        ("x=[a,1]", "expected a type before `[a,1]`"),
        ("x=f32[4]@2", "expected strides such as @[512,1] after `@`"),
        ("x=f32[4,4]@[4]", "2 sizes need as many strides, 1 are given"),
        ("x=f32[4]@[0]:out", "a stride of 0 makes elements overlap, which an output cannot"),
        ("x=f32[?]@[1]", "a tensor of unknown size [?] has no strides"),
        ("x=f32[?]=0", "can only start with the contents of a list or file"),
        ("x=f32[281474976710656]", "larger than any memory"),
        ("x=f32[4294967296,4294967296]", "larger than any memory"),
        ("x=f32[4]@[18446744073709551615]", "larger than any memory"),
        ("x=f32[4]=", "`` is not initial contents"),
        (
            "x=f32[4]=zeros",
            "`zeros` is not initial contents; expected a number, iota, random, [3,1,2]",
        ),
        ("x=f32[4]=@", "expected the name of a .npy file after `=@`"),
        ("x=f32[3]=[1,2]", "the shape has 3 elements, the list has 2"),
        ("x=f32[4]=[[1,2],[3,4]]", "found `,[3,4]]`"),
        ("x=u8[2]=[1,256]", "256 does not fit u8 (0 to 255)"),
        ("x=b1[1]=2", "2 does not fit b1 (0 to 1)"),
        ("x=s32[1]=[1.5]", "1.5 is not an integer, as s32 needs"),
        ("x=f16[1]=1e6", "1e6 is too large for f16"),
        ("x=f32:out", "a scalar has no direction; a tensor of one is f32[1]:out"),
        ("n=s32", "a launch fixes every integer: expected a value (s32=512)"),
        ("n=s32=x", "`x` is not a number of at most 64 bits"),
        ("n=s32=iota", "only a tensor can start as iota, such as s32[64]=iota"),
        ("n=s8=128", "128 does not fit s8 (-128 to 127)"),
        ("n=18446744073709551616", "`18446744073709551616` is not a 64-bit integer"),
        ("n=-9223372036854775809", "`-9223372036854775809` is not a 64-bit integer"),
        ("n=0xg", "`0xg` is not a 64-bit integer"),
        ("n=1.0f", "`1.0f` is not a number; expected one such as 512"),
        (
            "s=1/sqrt(-8)",
            "`1/sqrt(-8)` has no value: it is too large, divides by zero, or takes a root or \
             logarithm of a number that has none",
        ),
        ("p={", "expected `}` at the end of the structure"),
        ("p={x}", "field `x`: expected OFFSET:VALUE, such as 8:x"),
        ("p={-8:x}", "field `-8:x`: offset `-8` is not a number from 0 up"),
        ("p={0:f32[4]}", "a tensor is an argument of its own: --arg NAME=f32[4]"),
        ("p={0:s32}", "a launch fixes every integer"),
        (
            "p={0:?}",
            "expected a number, a type with a value, an expression, or the name of an argument",
        ),
    ];
    for (text, expected) in table {
        let error = text.parse::<ArgumentSpec>().expect_err(text).to_string();
        assert!(error.starts_with(&format!("`{text}`: ")), "{error}");
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn directions_and_numbers_are_data() {
    let spec: ArgumentSpec = "x=f32[4]:out=0.5".parse().unwrap();
    let ArgumentValue::Tensor(tensor) = spec.value else { panic!("no tensor") };
    assert_eq!(tensor.direction, Direction::Out);
    assert_eq!(tensor.shape, Some(vec![4]));
    let spec: ArgumentSpec = "n=0x10".parse().unwrap();
    assert_eq!(spec.value, ArgumentValue::Number(Number::Integer(16)));
}

#[test]
fn launch_flags_are_read() {
    let table =
        [("4", [4, 1, 1]), ("4,2", [4, 2, 1]), ("1,1,3", [1, 1, 3]), (" 4 , 2 ", [4, 2, 1])];
    for (text, sizes) in table {
        let dimensions: Dimensions = text.parse().unwrap();
        assert_eq!(dimensions.0, sizes);
        assert_eq!(dimensions.to_string().parse(), Ok(dimensions));
    }
    assert_eq!("3,1".parse(), Ok(BlockPosition([3, 1, 0])));
    assert_eq!(BlockPosition([0, 0, 0]).to_string(), "0");
    let sizes = [
        ("0", 0),
        ("49152", 49152),
        ("48KiB", 49152),
        ("48 kib", 49152),
        ("48KB", 49152),
        ("1MiB", 1 << 20),
        ("0x100", 256),
        ("16B", 16),
    ];
    for (text, bytes) in sizes {
        let count: ByteCount = text.parse().unwrap();
        assert_eq!(count.0, bytes, "{text}");
        assert_eq!(count.to_string().parse(), Ok(count));
    }
}

#[test]
fn bad_launch_flags_are_explained() {
    for (text, expected) in [
        ("", "`` is not a 32-bit number; expected sizes such as 4 or 4,2 or 4,2,1"),
        ("4x2", "`4x2` is not a 32-bit number"),
        ("-1", "`-1` is not a 32-bit number"),
        ("1,2,3,4", "has 4 items"),
        ("4294967296", "is not a 32-bit number"),
    ] {
        let error = text.parse::<Dimensions>().unwrap_err();
        assert!(error.reason().to_string().contains(expected), "{error}");
    }
    for (text, expected) in [
        ("", "expected bytes such as 49152, 48KiB or 1MiB"),
        ("-1", "expected bytes such as"),
        ("48GB", "unknown unit `GB`"),
        ("99999999999999MiB", "is too large"),
    ] {
        let error = text.parse::<ByteCount>().unwrap_err();
        assert!(error.reason().to_string().contains(expected), "{error}");
    }
    for text in ["x", "x,", "", "x,4"] {
        assert!(text.parse::<AliasSpec>().is_err(), "{text}");
    }
}

#[test]
fn kernel_paths_split_at_the_first_colons() {
    let path = |text: &str| text.parse::<KernelPath>().map(|path| (path.file, path.kernel));
    assert_eq!(path("k.ptx"), Ok(("k.ptx".to_owned(), None)));
    assert_eq!(path("k.ptx::ns::f"), Ok(("k.ptx".to_owned(), Some("ns::f".to_owned()))));
    assert_eq!(path("k.ptx::"), Ok(("k.ptx".to_owned(), None)));
    assert_eq!(path("-"), Ok(("-".to_owned(), None)));
}
