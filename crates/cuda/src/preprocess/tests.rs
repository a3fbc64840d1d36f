//! Tests of the preprocessor: macros, conditions, headers, literals and annotations.

use super::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn spell(tokens: &[Token]) -> String {
    let show = |token: &Token| match &token.kind {
        TokenKind::Word(word) => word.to_string(),
        TokenKind::Int { value, unsigned, .. } => {
            format!("{value}{}", if *unsigned { "u" } else { "" })
        }
        TokenKind::Float { value, .. } => format!("{value:?}"),
        TokenKind::Character(value) => format!("'{value}'"),
        TokenKind::Text(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        TokenKind::Punct(punct) => (*punct).to_owned(),
        TokenKind::AnnotationStart => "<@".to_owned(),
        TokenKind::AnnotationEnd => "@>".to_owned(),
        TokenKind::Pragma(words) => format!("#pragma {}", spell(words)),
        TokenKind::End => String::new(),
    };
    tokens.iter().map(show).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

fn read(text: &str) -> Result<Preprocessed> {
    preprocess(&Options::default(), text)
}

fn expanded(text: &str) -> String {
    match read(text) {
        Ok(read) => spell(&read.tokens),
        Err(found) => format!("{:?}: {}", found.severity, found.message),
    }
}

fn refusal(text: &str) -> String {
    read(text).map_or_else(|found| found.message.to_string(), |read| spell(&read.tokens))
}

/// Reads with files beside the main one.
fn with_files(text: &str, files: &[(&str, &str)], includes: &[&str]) -> Result<Preprocessed> {
    let files: BTreeMap<PathBuf, String> =
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    let reader = |path: &Path| files.get(path).map(|text| Ok(text.clone()));
    let options = Options {
        path: PathBuf::from("src/main.cu"),
        includes: includes.iter().map(PathBuf::from).collect(),
        reader: &reader,
        ..Options::default()
    };
    preprocess(&options, text)
}

#[test]
fn macros_are_replaced_and_rescanned() {
    let cases = [
        ("#define N 16\nint a[N];", "int a [ 16 ] ;"),
        ("#define F(x, y) ((x)+(y))\nF(1,\n F(2, 3))", "( ( 1 ) + ( ( ( 2 ) + ( 3 ) ) ) )"),
        ("#define F(x) x\nF\nF (1) F", "F 1 F"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define f(x) x f\nf(1)(2)", "1 f ( 2 )"),
        ("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g"),
        ("#define EMPTY\n#define F(x) [x]\nF() F(EMPTY) F(a b)", "[ ] [ ] [ a b ]"),
        ("#define G() x\nG() G( )", "x x"),
        ("#define F(x) [x]\nF((1,2)) F({1)", "[ ( 1 , 2 ) ] [ { 1 ]"),
        ("#define CAT(a,b) a##b\nCAT(x,1) CAT(,y) CAT(z,) CAT(,)", "x1 y z"),
        ("#define CAT(a,b) a##b\n#define X 5\nCAT(X,1) CAT(CA,T)(a,b)", "X1 CAT ( a , b )"),
        ("#define S(x) #x\n#define T(x) S(x)\n#define N 4\nS(N) T(N) S( a  +b )", "\"N4a +b\""),
        ("#define S(x) #x\nS(\"a\\n\" 'b')", "\"\"a\\n\" 'b'\""),
        ("#define V(a, ...) f(a, __VA_ARGS__)\nV(1, 2, 3)", "f ( 1 , 2 , 3 )"),
        ("#define V(a, ...) f(a, ##__VA_ARGS__)\nV(1) V(1,) V(1,2)", "f ( 1 ) f ( 1 ) f ( 1 , 2 )"),
        ("#define V(a, r...) f(a, r)\nV(1, 2, 3)", "f ( 1 , 2 , 3 )"),
        ("#define V(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\nV(1) V(1,2)", "f ( 1 ) f ( 1 , 2 )"),
        ("#define F(a,...) [a,##__VA_ARGS__]\nF(1,F(2))", "[ 1 , F ( 2 ) ]"),
        ("#define hash_hash # ## #\n#define mk(a) #a\nmk(x)", "\"x\""),
        ("#define t(x,y,z) x ## y ## z\nt(1,2,3) t(,4,5) t(6,,7) t(,,)", "123 45 67"),
        (
            "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\nf(y+1)",
            "f ( 2 * ( y + 1 ) )",
        ),
        ("#define LONG 1 + \\\n  2\nLONG", "1 + 2"),
        ("#define A 1 /* c \n */ + 2\nA", "1 + 2"),
        ("%:define D 1\nD <: :> and", "1 [ ] &&"),
        ("\"a\" \"b\"\n#define C \"c\"\nC", "\"abc\""),
        ("__LINE__\n__LINE__\n#line 40\n__LINE__", "1 2 40"),
        ("#define L __LINE__\n\nL", "3"),
        ("__COUNTER__ __COUNTER__", "0 1"),
        ("int a; #pragma unroll\n", "Error: `#` cannot stand here"),
        ("_Pragma(\"unroll 4\") x", "x"),
        ("#pragma unroll\n#pragma pack(push, 1)\nx", "#pragma pack ( push , 1 ) x"),
        ("NULL INT_MAX", "0 2147483647"),
        ("#define INT_MAX 3\nINT_MAX", "3"),
    ];
    for (text, wanted) in cases {
        assert_eq!(expanded(text), wanted, "{text}");
    }
}

#[test]
fn conditionals_choose_text() {
    let cases = [
        ("#ifdef A\na\n#elif 1\nb\n#else\nc\n#endif", "b"),
        ("#if 0\n#error no\n#foo\n don't 'x\n#else\ny\n#endif", "y"),
        ("#define A\n#if defined A && !defined(B)\na\n#endif", "a"),
        ("#define H defined(A)\n#define A\n#if H\na\n#endif", "a"),
        ("#if 1\n#elif 1/0\n#endif\nz", "z"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#endif", "c"),
        ("#if __CUDA_ARCH__ >= 700 && defined(__CUDACC__)\nnew\n#endif", "new"),
        ("#if __has_include(<cstdint>) && !__has_include(\"no.h\")\nx\n#endif", "x"),
        ("#ifndef __device__\n#error\n#endif\nx", "x"),
        ("#if 1 // comment\nx\n#endif // end", "x"),
        (
            "#define F(x) x\n#if F(1) + F(\n1\n#endif",
            "Error: the arguments of the macro `F` are not closed",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(expanded(text), wanted, "{text}");
    }
}

#[test]
fn doubtful_directives_are_refused() {
    let cases = [
        ("#if FOO\n#endif", "`FOO` in `#if` is not defined; give it with -D FOO=…"),
        ("//@ symbolic T;\n#if T > 2\n#endif", "`T` is symbolic: its value cannot decide the text"),
        ("//@ symbolic T;\n#define T 16\nT\n#undef T", "`T` is symbolic in the whole file"),
        (
            "//@ symbolic T;\n#define T 16\n#define J(a, b) a##b\n#define I(a, b) J(a, b)\nI(x, T)",
            "a symbolic name beside `##` is not supported",
        ),
        ("#define A 1\n#define A 2", "`A` is defined again, and differently"),
        ("#define A(x) x\n#define A(y) y", "`A` is defined again, and differently"),
        ("#if 1\nx", "this conditional has no `#endif`"),
        ("#else", "`#else` without `#if`"),
        ("#if 1\n#else\n#else\n#endif", "`#else` after `#else`"),
        ("#foo", "`#foo` is not a directive"),
        ("#error so it is", "`#error` was reached: so it is"),
        ("#define P(a,b) a##b\nP(1,+)", "`##` creates `1+` here, which is not a single token"),
        (
            "#define F(x) x\nF(1\n#ifdef A\n#endif\n)",
            "a preprocessor line or the end of a file between `F` and its arguments is not supported",
        ),
        ("#define F(x) x\nF(1", "the arguments of the macro `F` are not closed"),
        ("#define F(x) x\nF(1,2)", "the macro `F` takes 1 arguments, not 2"),
        (
            "#define F(x) x\nF //@ assert 1;\n(2)",
            "an annotation directly after the name of a macro that takes arguments is not supported",
        ),
        (
            "#define F(x) x\nF(1 //@ assert 1;\n)",
            "an annotation among the arguments of a macro is not supported",
        ),
        ("#define N 1 //@ assert 1;", "an annotation cannot stand in a preprocessor line"),
        ("#define F(x) #y", "`#` must stand before a parameter of the macro"),
        ("#define A ## b", "`##` must stand between two tokens"),
        ("#define __device__", "`__device__` has a meaning of its own and cannot be defined here"),
        ("__DATE__", "`__DATE__` is not supported"),
        ("a @ b", "`@` is not part of CUDA C++"),
        ("'a", "this text is not closed"),
        ("1.5km", "`1.5km` is not a number"),
        ("#include <no/such.h>", "the header `no/such.h` is not found"),
        ("#define I(...) __VA_ARGS__\nI(__LINE__,\n2)", "__LINE__ , 2"),
    ];
    for (text, wanted) in cases {
        assert_eq!(refusal(text), wanted, "{text}");
    }
}

#[test]
fn a_symbolic_name_is_a_literal_of_type_int() {
    for body in ["16", "(16)", "0x10", "((1))"] {
        let text = format!("//@ symbolic T;\n#define T {body}\nT");
        assert_eq!(expanded(&text), "<@ symbolic T ; @> T", "{body}");
    }
    for body in ["16u", "16L", "0", "8 + 8", "q++", "q", "'a'", "2.5f", "-1", "", "3000000000"] {
        let text = format!("//@ symbolic T;\n#define T {body}\nT");
        let wanted = "`T` is symbolic, any `int` from 1 on, so it must be defined as a literal of type `int` before it is used";
        assert_eq!(refusal(&text), wanted, "{body}");
    }
    let before = "//@ symbolic T;\nT\n#define T 16";
    assert!(refusal(before).starts_with("`T` is symbolic, any"), "{}", refusal(before));
}

#[test]
fn symbolic_names_stand_for_themselves() {
    let text = "//@ symbolic T, U;\n#define T 16\n#ifndef U\n#define U 4\n#endif\nT U";
    assert_eq!(expanded(text), "<@ symbolic T , U ; @> T U");
}

#[test]
fn annotations_are_expanded() {
    let text = "#define N 4\n//@ requires n == N;\n//@ ensures 0 <= x < N;\nint x;";
    assert_eq!(expanded(text), "<@ requires n == 4 ; ensures 0 <= x < 4 ; @> int x ;");
    let text = "//@ a;\n#define N 4\n//@ b;";
    assert_eq!(expanded(text), "<@ a ; b ; @>");
}

#[test]
fn headers_bring_their_macros() {
    assert_eq!(expanded("#include <math_constants.h>\nCUDART_PI_F"), "3.1415927410125732");
    assert_eq!(expanded("#include <float.h>\n#include <cfloat>\nFLT_MAX"), "3.4028234663852886e38");
    assert_eq!(expanded("#ifndef M_PI\n#define M_PI 3\n#endif\nM_PI"), "3");
    assert_eq!(expanded("#define NDEBUG\n#include <assert.h>\nassert(x);"), "( ( void ) 0 ) ;");
    assert_eq!(expanded("assert(x);"), "assert ( x ) ;");
    let all = [headers::PREDEFINED, constants::CONSTANTS].concat();
    for (name, _) in all {
        let text = format!("#include <math_constants.h>\n{name}");
        assert!(read(&text).is_ok(), "{text}");
    }
}

#[test]
fn files_are_found_beside_and_in_folders() {
    let files = [
        ("src/a.h", "#pragma once\n#include \"sub/b.h\"\nint a;"),
        ("src/sub/b.h", "#ifndef B\n#define B 7\nint b;\n#endif"),
        ("inc/c.h", "int c = B;"),
    ];
    let text = "#include \"a.h\"\n#include \"a.h\"\n#define C <c.h>\n#include C\nint m;";
    let read = with_files(text, &files, &["inc"]).unwrap();
    assert_eq!(spell(&read.tokens), "int b ; int a ; int c = 7 ; int m ;");
    let b = &read.tokens[1];
    let (file, span) = read.sources.locate(b.span).unwrap();
    assert_eq!(file.path, Path::new("src/sub/b.h"));
    assert_eq!(&file.text[span.range()], "b");
    let main = read.tokens.iter().find(|token| token.kind == TokenKind::Word("m".into())).unwrap();
    assert_eq!(&text[main.span.range()], "m");
    assert!(with_files("#include <a.h>", &files, &["inc"]).is_err());
    let found = with_files("#include \"x.h\"", &files, &["inc"]).unwrap_err();
    let note = found.note.unwrap();
    assert!(note.contains("x.h`") && note.contains("inc"), "{note}");
}

#[test]
fn inclusion_ends() {
    let files = [("src/a.h", "#include \"a.h\""), ("src/f.h", "#define F(x) x\nF")];
    assert!(with_files("#include \"a.h\"", &files, &[]).is_err());
    assert!(with_files("#include \"f.h\"\n(1)", &files, &[]).is_err());
    let files = [("src/s.h", "//@ symbolic T;\n")];
    assert!(with_files("#define T 3\nint a[T];\n#include \"s.h\"", &files, &[]).is_err());
    assert!(with_files("#define T 3\n#include \"s.h\"\nT", &files, &[]).is_ok());
}

#[test]
fn environment_names_are_recorded() {
    let used = |text: &str| read(text).unwrap().environment_names;
    assert_eq!(used("int a;"), Vec::<&str>::new());
    assert_eq!(
        used("#if __CUDA_ARCH__ < 900 && defined(__NVCC__)\n#endif"),
        ["__CUDA_ARCH__", "__NVCC__"]
    );
    assert_eq!(used("#ifndef M_PI\n#define M_PI 3\n#endif\nM_PI"), ["M_PI"]);
    assert_eq!(used("#include <math.h>\n#ifndef M_PI\n#endif"), Vec::<&str>::new());
}

#[test]
fn defines_of_the_command_line_are_macros() {
    let options = Options {
        defines: vec![
            ("N".to_owned(), Some("3".to_owned())),
            ("F(x)".to_owned(), Some("x+1".to_owned())),
            ("ON".to_owned(), None),
        ],
        ..Options::default()
    };
    let read = preprocess(&options, "#ifndef N\n#define N 4\n#endif\nN F(2) ON").unwrap();
    assert_eq!(spell(&read.tokens), "3 2 + 1 1");
    assert!(preprocess(&options, "#define N 4\n").is_err());
}

#[test]
fn explosions_are_stopped() {
    let mut text = String::from("#define A0 x x x x\n");
    for level in 1..40 {
        let before = level - 1;
        text += &format!("#define A{level} A{before} A{before} A{before} A{before}\n");
    }
    assert!(read(&(text + "A39")).is_err());
    let nested = "F(".repeat(5000) + &")".repeat(5000);
    assert!(read(&format!("#define F(x) x\n{nested}")).is_err());
    let deep = "#if 1\n".repeat(5000);
    assert!(read(&deep).is_err());
}

#[test]
fn a_token_of_a_macro_has_the_place_of_its_use() {
    let text = "#define F(x) (x + one)\nF(two);";
    let read = read(text).unwrap();
    let place = |word: &str| {
        let wanted = TokenKind::Word(word.into());
        let token = read.tokens.iter().find(|token| token.kind == wanted).unwrap();
        text[token.span.range()].to_owned()
    };
    assert_eq!(place("one"), "F");
    assert_eq!(place("two"), "two");
}

/// Each macro doubles the length of a token.
#[test]
fn tokens_do_not_grow_without_bounds() {
    for (first, next) in
        [("#define D0(x) x##x", "x##x"), ("#define D0(x) #x", "x x"), ("#define D0(x) x", "#x")]
    {
        let macros = (1..40).map(|n| format!("#define D{n}(x) D{}({next})\n", n - 1));
        let text = format!("{first}\n{}int D39(a);\n", macros.collect::<String>());
        let why = refusal(&text);
        assert!(why.contains("too"), "{first}: {why}");
    }
}
