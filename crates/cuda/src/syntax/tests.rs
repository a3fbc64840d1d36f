//! Tests of the parser: precedence, ambiguities, declarations, statements and annotations.
//!
//! Long: one small test for each construct.

use super::ast::*;
use super::parse;
use crate::Result;
use crate::preprocess::{Options, preprocess};
use base::Severity;

mod dump;
mod files;
use dump::{declarations, expression};

fn read(text: &str) -> Result<Unit> {
    parse(&preprocess(&Options::default(), text)?)
}

fn dumped(text: &str) -> String {
    match read(text) {
        Ok(unit) => declarations(&unit.declarations),
        Err(found) => format!("{:?}: {}", found.severity, found.message),
    }
}

/// The expression of `return …;` in a device function, with some types and templates declared.
fn value(text: &str) -> String {
    let before = "struct S { int x; template<int N> __device__ int m(); }; template<class T, int N> struct V { enum { size = N }; };
        template<int N> __device__ int f(int); typedef float real; __device__ int g(int); using P = int*;\n";
    let text = format!(
        "{before}__device__ auto tested(int a, int b, int c, int n, float *p) {{ return {text}; }}"
    );
    let unit = match read(&text) {
        Ok(unit) => unit,
        Err(found) => return format!("{:?}: {}", found.severity, found.message),
    };
    let Some(DeclarationKind::Function(function)) = unit.declarations.last().map(|one| &one.kind)
    else {
        return "no function".to_owned();
    };
    if let Some((_, why)) = &function.unread {
        return format!("unread: {why}");
    }
    match function.body.as_deref() {
        Some([Stmt { kind: StmtKind::Return(Some(value)), .. }]) => expression(value),
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_in_c() {
    let cases = [
        ("a + b * c - n", "((a + (b * c)) - n)"),
        (
            "a << b + c < n == b & c ^ n | a && b || c",
            "(((((((a << (b + c)) < n) == b) & c) ^ n) | a) && b) || c)",
        ),
        ("a ? b : c ? n : a", "(a ? b : (c ? n : a))"),
        ("a = b += c", "(a = (b += c))"),
        ("a ? b : c = n", "(a ? b : (c = n))"),
        ("-a * !b + ~c", "((-(a) * !(b)) + ~(c))"),
        ("*p++ + --a", "(*((p ++)) + (-- a))"),
        ("&p[a + 1]", "&(p[(a + 1)])"),
        ("a, b, c", "((a , b) , c)"),
        ("p[a](b).x->y", "p[a](b).x->y"),
        ("a - b - c", "((a - b) - c)"),
        ("a < b > c", "((a < b) > c)"),
        ("a >> b >> c", "((a >> b) >> c)"),
        ("not a and b or c", "((!(a) && b) || c)"),
        ("sizeof a + b", "(sizeof(a) + b)"),
        ("sizeof(a) + b", "(sizeof(a) + b)"),
        ("sizeof(int) * 2", "(sizeof<int> * 2)"),
        ("- - a", "-(-(a))"),
        ("a - -b", "(a - -(b))"),
        ("'a' + 1.5f + 0x10u", "((97c + 1.5f) + 16u)"),
        ("true != nullptr", "(true != null)"),
    ];
    for (text, wanted) in cases {
        let wanted =
            if text.starts_with("a <<") { format!("({wanted}") } else { wanted.to_owned() };
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn types_and_values_are_told_apart() {
    let cases = [
        ("(int)a + b", "(cast<int>(a) + b)"),
        ("(a) + b", "(a + b)"),
        ("(real)-a", "cast<real>(-(a))"),
        ("(a)-b", "(a - b)"),
        ("(real*)p", "cast<ptr real>(p)"),
        ("(const float* const)p", "cast<const ptr const float>(p)"),
        ("float(a) / 2", "(float(a) / 2)"),
        ("unsigned(a)", "unsigned(a)"),
        ("real{1, 2}", "real{1, 2}"),
        ("(unsigned char)a", "cast<unsigned char>(a)"),
        ("static_cast<unsigned long long>(a)", "static<unsigned long long>(a)"),
        ("reinterpret_cast<const int4*>(p)[a]", "reinterpret<ptr const int4>(p)[a]"),
        ("(float (*)(int))p", "cast<ptr fn(int) float>(p)"),
        ("(S(*)[3])p", "cast<ptr array 3 S>(p)"),
        ("f<3>(a)", "f<3>(a)"),
        ("f<(a > b)>(c)", "f<(a > b)>(c)"),
        ("g < a > (b)", "((g < a) > b)"),
        ("V<int, 3>::size + 1", "(V<int, 3>::size + 1)"),
        ("V<V<int, 2>, 3>::size", "V<V<int, 2>, 3>::size"),
        ("V<int, 8 / 2>().size", "V<int, (8 / 2)>().size"),
        ("S().m<4>()", "S().m<4>()"),
        ("S().template m<4>()", "S().m<4>()"),
        ("a < b", "(a < b)"),
        ("::g(a)", "::g(a)"),
        ("std::max(a, b)", "std::max(a, b)"),
        ("std::max<int>(a, b)", "std::max<int>(a, b)"),
        ("std::numeric_limits<float>::max()", "std::numeric_limits<float>::max()"),
        ("std::is_same<int, float>::value && a", "(std::is_same<int, float>::value && a)"),
        ("sizeof(S*)", "sizeof<ptr S>"),
        ("alignof(float4)", "alignof<float4>"),
        ("make_float2(a, {b})", "make_float2(a, {b})"),
        ("P(p)[0]", "P(p)[0]"),
    ];
    for (text, wanted) in cases {
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn unsupported_syntax_is_reported() {
    for text in [
        "new int",
        "throw a",
        "(a + ... + b)",
        "dynamic_cast<S*>(p)",
        "({ int x = 1; x; })",
        "p->*a",
        "g<<<1, 2>>>(a)",
        "noexcept(a)",
        "g(int)",
    ] {
        assert!(value(text).starts_with("unread: "), "{text}: {}", value(text));
    }
    assert_eq!(value("[=](int x) -> int { return x; }"), "lambda");
    for text in ["a +", "a b", "(a", "p[", "g(a,)", "a ? b", "f<3(a)", "return"] {
        assert!(value(text).starts_with("Error"), "{text}: {}", value(text));
    }
}

/// The statements of a device function.
fn body(text: &str) -> String {
    let text = format!(
        "struct S {{ int x; }}; template<int N> struct V {{}};\n__device__ void tested(int a, float* p) {{ {text} }}"
    );
    let unit = match read(&text) {
        Ok(unit) => unit,
        Err(found) => return format!("{:?}: {}", found.severity, found.message),
    };
    let Some(DeclarationKind::Function(function)) = unit.declarations.last().map(|one| &one.kind)
    else {
        return "no function".to_owned();
    };
    match &function.unread {
        Some((_, why)) => format!("unread: {why}"),
        None => dump::statements(function.body.as_deref().unwrap_or_default()),
    }
}

#[test]
fn declarations_and_expressions_are_told_apart() {
    let cases = [
        ("int x = 1, *y, z[3];", "var x: int = 1, y: ptr int, z: array 3 int;"),
        ("S * s;", "var s: ptr S;"),
        ("a * a;", "(a * a);"),
        ("S s; s.x = 1;", "var s: S; (s.x = 1);"),
        ("int half = 3; half = half + 1;", "var half: int = 3; (half = (half + 1));"),
        ("half h; float(h);", "var h: half; var h: float;"),
        ("float(a) + 1;", "(float(a) + 1);"),
        ("V<3> v; V<(1>0)> w;", "var v: V<3>; var w: V<(1 > 0)>;"),
        ("float (*q)[4] = 0;", "var q: ptr array 4 float = 0;"),
        ("float *q[4];", "var q: array 4 ptr float;"),
        ("int (*fp)(int, float) = 0;", "var fp: ptr fn(int, float) int = 0;"),
        ("const int& r = a;", "var r: ref const int = a;"),
        ("int x(3), y{4}, z = {5};", "var x: int (3), y: int {4}, z: int {5};"),
        ("dim3 d(1, 2);", "var d: dim3 (1, 2);"),
        ("unsigned const long int x = 1;", "var x: const unsigned long int = 1;"),
        ("__shared__ float t[4][8];", "shared var t: array 4 array 8 float;"),
        ("extern __shared__ float s[];", "extern shared var s: array float;"),
        ("struct L { int q; } l;", "struct L { var q: int; } var l: L;"),
        (
            "typedef float T; T x; { int T = 1; T + 1; } T y;",
            "alias T = float; var x: T; { var T: int = 1; (T + 1); } var y: T;",
        ),
        ("using T = float[3]; T x;", "alias T = array 3 float; var x: T;"),
        ("auto x = a; decltype(a) y;", "var x: auto = a; var y: decltype(a);"),
        ("enum { A, B = 2 }; int x = A + B;", "enum  { A, B = 2 } var x: int = (A + B);"),
        ("static_assert(1 < 2, \"no\");", "assert (1 < 2);"),
        ("alignas(16) char buffer[32];", "align 16 var buffer: array 32 char;"),
        ("__attribute__((aligned(8))) int x;", "align 8 var x: int;"),
        (
            "std::size_t n = 1; const std::pair<int, int> q;",
            "var n: std::size_t = 1; var q: const std::pair<int, int>;",
        ),
        ("volatile float* q = p;", "var q: ptr volatile float = p;"),
        ("float* __restrict__ const q = p;", "var q: const ptr float = p;"),
        ("int(x);", "var x: int;"),
        ("S(s2);", "var s2: S;"),
        ("S{1};", "S{1};"),
        ("S().x;", "S().x;"),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), wanted, "{text}");
    }
}

#[test]
fn statements_are_read() {
    let cases = [
        (
            "if (a) p[0] = 1; else if (a > 1) { } else ;",
            "if a (p[0] = 1); else if (a > 1) { } else ;",
        ),
        ("if (int x = a; x > 1) x++;", "if var x: int = a; (x > 1) (x ++);"),
        ("if (int x = a) x++;", "if var x: int = a (x ++);"),
        ("if constexpr (sizeof(int) == 4) return;", "if constexpr (sizeof<int> == 4) return;"),
        (
            "for (int i = 0, j = 1; i < a; i++, --j) continue;",
            "for var i: int = 0, j: int = 1; (i < a) ((i ++) , (-- j)) continue;",
        ),
        ("for (;;) break;", "for break;"),
        ("for (float x : p) ;", "for x: float : p ;"),
        ("while (a--) { }", "while (a --) { }"),
        ("do a++; while (a < 3);", "do (a ++); while (a < 3);"),
        (
            "switch (a) { case 1: case 2 + 1: a = 2; break; default: a = 0; }",
            "switch a { case 1: case (2 + 1): (a = 2); break; default: (a = 0); }",
        ),
        ("goto out; out: return;", "unread `goto`; unread a label; return;"),
        ("asm volatile(\"bar.sync %0;\" :: \"r\"(a)); a = 1;", "unread `asm`; (a = 1);"),
        (
            "for (int i = 0; __invariant(i >= 0), i < a; ++i) ;",
            "for var i: int = 0; (__invariant((i >= 0)) , (i < a)) (++ i) ;",
        ),
        (
            "if (a) //@ assert a != 0;\n a = 1;\na = 2;",
            "if a { @assert (a != 0); (a = 1); } (a = 2);",
        ),
        ("[[maybe_unused]] int x;", "var x: int;"),
        ("try { } catch (int x) { }", "unread `try`;"),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), wanted, "{text}");
    }
    for text in ["auto [x, y] = a;", "Foo x;", "Foo<3> x;", "std::foo::bar x", "int f(int);"] {
        let found = body(text);
        assert!(found.starts_with("unread") || text.contains("bar"), "{text}: {found}");
    }
    for text in ["if a", "int;x y", "for (;;", "a = ;", "case", "int 3;", "do a; while"] {
        assert!(!body(text).contains("var"), "{text}: {}", body(text));
    }
}

/// Long: a table of declarations and their trees.
#[test]
fn declarations_are_read() {
    let cases = [
        ("__global__ void k(float* a, int n);", "global fn k(a: ptr float, n: int) void"),
        (
            "extern \"C\" __global__ void __launch_bounds__(128, 2) k() {}",
            "global bounds(128, 2) extern fn k() void { }",
        ),
        (
            "template <typename T, int N = 4> __global__ void k(T* a) { a[N] = T(0); }",
            "template<type T, N: int = 4> global fn k(a: ptr T) void { (a[N] = T(0)); }",
        ),
        (
            "template <int N> __device__ int f(int); template <> __device__ int f<3>(int x) { return x; }",
            "template<N: int> device fn f(: int) int template<> device fn f<3>(x: int) int { return x; }",
        ),
        (
            "template <class T> __global__ void k(T); template __global__ void k<int>(int);",
            "template<type T> global fn k(: T) void instance global fn k<int>(: int) void",
        ),
        (
            "struct S { int a; float b[2]; __device__ S(int x) : a(x) { b[0] = a; } __device__ int get() const { return later; } int later; };",
            "struct S { var a: int; var b: array 2 float; device fn S(x: int) void a(x) { (b[0] = a); } device fn get() int const { return later; } var later: int; }",
        ),
        (
            "struct S { __device__ T2 f(); using T2 = int; };",
            "struct S { skipped(T2, f) alias T2 = int; }",
        ),
        (
            "struct S { __device__ void f() { T2 x = 1; } using T2 = int; };",
            "struct S { device fn f() void { var x: T2 = 1; } alias T2 = int; }",
        ),
        (
            "struct S { int x; }; __device__ S operator+(S a, S b) { return S{a.x + b.x}; }",
            "struct S { var x: int; } device fn operator+(a: S, b: S) S { return S{(a.x + b.x)}; }",
        ),
        (
            "struct S { __device__ float operator()(int i) const; __device__ operator float() const; __device__ ~S(); }; __device__ float S::operator()(int i) const { return i; }",
            "struct S { device fn operator()(i: int) float const device fn operator () float const device fn ~S() void } device fn S::operator()(i: int) float const { return i; }",
        ),
        (
            "class C : public B<int> { public: int x; private: int y : 3; static const int z = 4; };",
            "skipped(C, B)",
        ),
        (
            "struct B {}; class C : public B { public: int x; private: unsigned y : 3; static const int z = 4; };",
            "struct B { } struct C : B { var x: int; var y: unsigned : 3; static var z: const int = 4; }",
        ),
        (
            "typedef struct { float x, y; } Point, *PointPtr; Point p;",
            "struct Point { var x: float, y: float; } alias PointPtr = ptr Point var p: Point;",
        ),
        ("typedef struct node { int v; } node;", "struct node { var v: int; }"),
        (
            "enum class E : unsigned char { A, B }; constexpr E e = E::A;",
            "enum class E : unsigned char { A, B } constexpr var e: E = E::A;",
        ),
        (
            "namespace a::b { struct T {}; __device__ int v; } a::b::T t; namespace c = a::b; c::T u;",
            "namespace a { namespace b { struct T { } device var v: int; } } var t: a::b::T; alias c = a::b var u: c::T;",
        ),
        (
            "namespace { const int N = 3; } using namespace std; using std::size_t; size_t n;",
            "namespace { var N: const int = 3; } using namespace std using std::size_t var n: size_t;",
        ),
        (
            "int main() { foo(<<<1,2>>>); return 0; } __device__ int x;",
            "skipped(main) device var x: int;",
        ),
        (
            "void host(std::vector<int>& v, Foo x) { auto f = [&](int y) { return y; }; }",
            "skipped(host)",
        ),
        (
            "template <typename T> struct Box { T v; __device__ T get() { return v; } }; __device__ Box<Box<int>> b;",
            "template<type T> struct Box { var v: T; device fn get() T { return v; } } device var b: Box<Box<int>>;",
        ),
        (
            "template <typename T> struct X {}; template <typename T> struct X<T*> { typedef T type; };",
            "template<type T> struct X { } template<type T> struct X<ptr T> { alias type = T; }",
        ),
        (
            "template <class T> using Ptr = T*; __device__ Ptr<int> p;",
            "template<type T> alias Ptr = ptr T device var p: Ptr<int>;",
        ),
        (
            "__device__ __forceinline__ int f(int x = 3, ...) noexcept { return x; }",
            "device fn f(x: int = 3, ...) int { return x; }",
        ),
        (
            "__device__ auto f(int x) -> float { return x; }",
            "device fn f(x: int) float { return x; }",
        ),
        (
            "struct __align__(16) A { int x[4]; }; struct P { char c; } __attribute__((packed));",
            "align 16 struct A { var x: array 4 int; } packed struct P { var c: char; }",
        ),
        (
            "constexpr int sq(int x) { return x * x; } static inline int host(int x) { return x; }",
            "constexpr fn sq(x: int) int { return (x * x); } skipped(host)",
        ),
        (
            "__constant__ float c[4] = {1, 2}; __device__ int *p = nullptr; static __shared__ int s;",
            "constant var c: array 4 float {1, 2}; device var p: ptr int = null; static shared var s: int;",
        ),
        (
            "template <int... N> __global__ void k() {}",
            "template<N: int...> global fn k() void { }",
        ),
        (
            "template <typename... T> __global__ void k(T... t) {}",
            "global fn k() void unread(packs of parameters are not supported)",
        ),
        (
            "#pragma pack(push, 1)\nstruct P { char c; int i; };\n#pragma pack(pop)\nstruct Q { int i; };",
            "skipped(P) struct Q { var i: int; }",
        ),
        (
            "struct H { std::string s; void f() { s.foo(?); } int x; };",
            "struct H { var s: std::string; fn f() void unread(expected an expression) var x: int; }",
        ),
    ];
    for (text, wanted) in cases {
        let found = dumped(text);
        assert!(found == wanted, "{text}\n  found  {found}\n  wanted {wanted}");
    }
}

#[test]
fn annotations_are_read() {
    let cases = [
        (
            "//@ requires 0 <= n < 10 && a != b;\n__global__ void k(int n, int a, int b);",
            "@requires (((0 <= n) && (n < 10)) && (a != b)); global fn k(n: int, a: int, b: int) void",
        ),
        (
            "//@ ensures \\forall int i, j; 0 <= i < n ==> a[i] == \\old(a[j]) ==> i == j;\n__global__ void k(int* a, int n);",
            "@ensures forall i, j: (((0 <= i) && (i < n)) ==> ((a[i] == \\old(a[j])) ==> (i == j))); global fn k(a: ptr int, n: int) void",
        ),
        (
            "//@ requires \\exists unsigned i; i < n;\n__global__ void k(int n);",
            "@requires exists i: ((0 <= i) && (i < n)); global fn k(n: int) void",
        ),
        (
            "struct S2 { int* b; };\n//@ extent a[n], s.b[2*n];\n//@ requires \\sum(k, 0, n, a[k]) == \\fold(max, j, 0, n, a[j]);\n__global__ void k(int* a, S2 s, int n);",
            "struct S2 { var b: ptr int; } @extent a[n]; @extent s.b[(2 * n)]; @requires (fold(+ k 0 n a[k]) == fold(max j 0 n a[j])); global fn k(a: ptr int, s: S2, n: int) void",
        ),
        (
            "//@ requires half > 0;\n__global__ void k(int half);",
            "@requires (half > 0); global fn k(half: int) void",
        ),
        (
            "//@ predicate even(int x) = x % 2 == 0;\n//@ lemma l(int x) by induction(x): x >= 0 ==> even(x*(x+1));\n//@ monoid f, unit 0, commutative;\n//@ symbolic T, U;",
            "@predicate even(x: int) ((x % 2) == 0); @lemma l(x: int) x ((x >= 0) ==> even((x * (x + 1)))); @monoid f 0 true; @symbolic T, U;",
        ),
        (
            "//@ writes a[0 .. n-1], b[3];\n//@ reads a[i];\n//@ alias a, b;\n__global__ void k(int* a, int n);",
            "@writes a[(0 .. (n - 1))]; @writes b[3]; @reads a[i]; @alias a, b; global fn k(a: ptr int, n: int) void",
        ),
        (
            "//@ requires P <==> Q;\n__device__ int f(int P, int Q) { //@ ghost int x = P; ghost x = x + 1; use l(x, 1);\n//@ loop invariant inv: x > 0; loop invariant inv; loop variant P;\nwhile (P) { //@ barrier invariant p[0] == \\other(p[0]); instantiate x y z;\n } }",
            "@requires (P <==> Q); device fn f(P: int, Q: int) int { @ghost x: int = P; @ghost x = (x + 1); @use l(x, 1); @loop invariant inv: (x > 0); @loop invariant inv; @loop variant P; while P { @barrier invariant (p[0] == \\other(p[0])); @instantiate; } }",
        ),
        (
            "//@ ensures \\num_of(i, 0, n, a[i] > 0) == 3;\n__global__ void k(int* a, int n);",
            "@ensures (fold(+ i 0 n ((a[i] > 0) ? 1 : 0)) == 3); global fn k(a: ptr int, n: int) void",
        ),
        (
            "//@ requires n > 0;\nint host(int n);",
            "Error: this annotation is not followed by a kernel or `__device__` function",
        ),
        (
            "//@ require n > 0;\n__global__ void k(int n);",
            "Error: `require` is not a word of annotations",
        ),
        (
            "//@ requires \\frall int i; i;\n__global__ void k(int n);",
            "Error: `\\frall` is not a word of annotations",
        ),
        (
            "//@ requires n > 0",
            "Error: this annotation is not followed by a kernel or `__device__` function",
        ),
        (
            "//@ requires n > 0\n//@ && n < 3;\n__global__ void k(int n);",
            "@requires ((n > 0) && (n < 3)); global fn k(n: int) void",
        ),
    ];
    for (text, wanted) in cases {
        let found = dumped(text);
        assert!(found == wanted, "{text}\n  found  {found}\n  wanted {wanted}");
    }
}

#[test]
fn a_function_that_is_not_read_does_not_concern_others() {
    let unit = read("__global__ void a() { int* p = new int; }\n__global__ void b() { }").unwrap();
    let unread = |declaration: &Declaration| match &declaration.kind {
        DeclarationKind::Function(function) => function.unread.clone().map(|(_, why)| why),
        _ => None,
    };
    let all: Vec<_> = unit.declarations.iter().map(unread).collect();
    assert_eq!(all, [Some("`new` is not supported".to_owned()), None]);
}

#[test]
fn deep_and_long_texts_end() {
    let chain = format!("__device__ int f(int a) {{ return {}a; }}", "a + ".repeat(8000));
    assert!(read(&chain).is_ok());
    let sums = format!("__device__ int f(int a) {{ return {}a; }}", "a + ".repeat(20_000));
    assert!(read(&sums).is_ok_and(|unit| dump::has_unread(&unit)));
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("f(", ")"),
        ("-", ""),
        ("*", ""),
        ("a ? a : ", ""),
        ("if (a) ", ""),
        ("(int)", ""),
        ("{ if (a) ", "}"),
        ("if (a) ; else ", ""),
        ("[=] { } (", ")"),
    ] {
        let deep =
            format!("__device__ int f(int a) {{ {}a{}; }}", open.repeat(8000), close.repeat(8000));
        match read(&deep) {
            Ok(unit) => assert!(dump::has_unread(&unit), "{open}"),
            Err(found) => assert_ne!(found.severity, Severity::Note, "{open}"),
        }
    }
    let branches =
        format!("__device__ int f(int a) {{ {} a = 1; }}", "if (a == 1) a = 2; else ".repeat(150));
    assert!(read(&branches).is_ok_and(|unit| !dump::has_unread(&unit)));
    let nested =
        format!("__device__ int f(int a) {{ a = {}a{}; }}", "(".repeat(60), ")".repeat(60));
    assert!(read(&nested).is_ok_and(|unit| !dump::has_unread(&unit)));
    // Two readings at every level must not multiply.
    let doubtful = format!("__device__ int f(int a) {{ a = {}3; }}", "V<".repeat(100));
    let _ = read(&format!("template<class T> struct V {{}}; {doubtful}"));
    let types = format!("__device__ {}int{} x;", "V<".repeat(8000), ">".repeat(8000));
    let _ = read(&format!("template<class T> struct V {{}}; {types}"));
    let _ = read(&format!("{}{}", "namespace a {".repeat(8000), "}".repeat(8000)));
    let _ = read(&format!("{}{}", "struct a {".repeat(8000), "};".repeat(8000)));
    let _ = read(&format!("__device__ int {}a{};", "(*".repeat(8000), ")".repeat(8000)));
}
