//! Tests of the typed tree: programs that a translation without types would misread (overloads, conversions, hidden
//! names, order of evaluation), and one program for each rule. Those of templates are in `template_tests`.

use crate::tree::{Program, Type, display};
use base::Severity;

pub(super) fn program(text: &str) -> Program {
    match crate::read(&crate::preprocess::Options::default(), text) {
        Ok((program, _)) => program,
        Err(why) => panic!("{}: {text}", why.message),
    }
}

/// Prints all functions of a program as trees. Panics if a kernel is refused.
pub(super) fn tree(text: &str) -> String {
    let program = program(text);
    for kernel in &program.kernels {
        if let Err(why) = &kernel.function {
            panic!("{}: {}: {text}", kernel.name, why.message);
        }
    }
    program.functions.indices().map(|id| display::function_text(&program, id)).collect()
}

/// The reason why the kernels of a text are refused.
pub(super) fn refusal(text: &str) -> (Severity, String) {
    match crate::read(&crate::preprocess::Options::default(), text) {
        Err(why) => (why.severity, why.message.to_string()),
        Ok((program, _)) => {
            let found = program.kernels.iter().find_map(|kernel| kernel.function.as_ref().err());
            match found {
                Some(why) => (why.severity, why.message.to_string()),
                None => panic!("this is read: {text}"),
            }
        }
    }
}

/// Asserts that the printed tree of a program contains `part`.
#[track_caller]
pub(super) fn has(text: &str, part: &str) {
    let tree = tree(text);
    assert!(tree.contains(part), "`{part}` is not in\n{tree}");
}

/// Asserts the value that a kernel stores, for an expression of parameters.
#[track_caller]
fn stores(ty: &str, parameters: &str, expr: &str, expected: &str) {
    let text = format!("__global__ void k({ty}* o, {parameters}) {{ *o = {expr}; }}");
    has(&text, &format!("(= (* (read o)) {expected})"));
}

#[test]
fn overloads_of_builtin_names_are_chosen_by_type() {
    // A user's overload of a CUDA name is called where its parameters fit better, and only there.
    has(
        "__device__ short abs(short x) { return x; }
         __global__ void k(int* o) { short x = -3; o[0] = abs(x); }",
        "(to int (call abs (read x)))",
    );
    has(
        "__device__ void atomicMax(float* a, float v) { if (*a < v) *a = v; }
         __global__ void k(float* a, const float* b) { atomicMax(&a[0], b[1]); }",
        "(call atomicMax (p+ (read a) 0) (read (* (p+ (read b) 1))))",
    );
    has(
        "__device__ short max(short x, short y) { return y; }
         __global__ void k(int* a) { short x = 7, y = 3; a[0] = max(x, y); }",
        "(call max (read x) (read y))",
    );
    has(
        "__device__ short max(short x, short y) { return y; }
         __global__ void k(int* a) { short x = 7; a[1] = max(a[0], a[2]); }",
        "(max:int ",
    );
    has(
        "__device__ int f(int x) { return 1; } __device__ int f(float x) { return 2; }
         __global__ void k(int* a) { a[0] = f(1.0f); }",
        "(call f 1.0:float)",
    );
    has("__global__ void k(int* a) { atomicMax(a, 3); }", "(atomicMax:int (read a) 3)");
}

#[test]
fn ambiguous_and_impossible_calls_are_errors() {
    let (severity, message) = refusal(
        "__device__ int f(long x) { return 1; } __device__ int f(float x) { return 2; }
         __global__ void k(int* a) { a[0] = f(1); }",
    );
    assert_eq!(severity, Severity::Error);
    assert!(message.contains("equally well"), "{message}");
    let (_, message) = refusal("__global__ void k(float* a) { atomicMax(a, 1.0f); }");
    assert!(message.contains("no `atomicMax` takes"), "{message}");
    // `int` is as far from `long` as from `unsigned`.
    let (_, message) = refusal("__global__ void k(long* a, int n) { a[0] = max(a[0], 1u); }");
    assert!(message.contains("equally well"), "{message}");
    // `short` to one side, `int` to the other.
    let (_, message) = refusal(
        "__device__ short max(short x, short y) { return y; }
         __global__ void k(int* a) { short x = 7; a[1] = max(x, 3); }",
    );
    assert!(message.contains("equally well"), "{message}");
    // `nullptr` is neither a pointer to any type nor a truth value.
    let text = "template <class T> __device__ int f(T* x) { return 1; } __device__ int f(bool x) { return 2; }
        __global__ void k(int* a) { a[0] = f(nullptr); }";
    assert_eq!(refusal(text).0, Severity::Error);
    // CUDA already defines this one.
    let (severity, _) = refusal(
        "__device__ int max(int a, int b) { return b; } __global__ void k(int* a) { *a = max(1, 2); }",
    );
    assert_eq!(severity, Severity::Unsupported);
}

#[test]
fn inner_names_hide_outer_ones() {
    has(
        "__device__ int f(int x) { { int x = 3; if (x == 99) return 5; } return x; }
         __global__ void k(int* o) { o[0] = f(7); }",
        "return (read x#0)",
    );
    has(
        "typedef unsigned short half; __global__ void k(float* o) { half x = 70000; o[0] = x; }",
        "unsigned short x = 4464:unsigned short",
    );
    has(
        "__device__ int f() { return 1; }
         __global__ void k(int* o) { int f = 2; int threadIdx = 5; o[threadIdx] = f; }",
        "(= (* (p+ (read o) (read threadIdx))) (read f))",
    );
}

#[test]
fn pointer_casts_keep_their_types() {
    has(
        "__global__ void k(const float* a, float* o) { o[0] = ((const double*)a)[1]; }",
        "(to float (read (* (p+ (to const double* (read a)) 1))))",
    );
    has(
        "__global__ void k(const float* a, float* o) { o[0] = __half2float(((const __half*)a)[1]); }",
        "(__half2float:float (read (* (p+ (to const half* (read a)) 1))))",
    );
}

#[test]
fn constants_are_converted_to_their_type() {
    has(
        "constexpr unsigned char K = 300; __global__ void k(int* a) { a[0] = K; }",
        "(= (* (p+ (read a) 0)) 44)",
    );
    has(
        "constexpr bool K = 2; __global__ void k(int* a) { a[0] = K; }",
        "(= (* (p+ (read a) 0)) 1)",
    );
    has(
        "constexpr unsigned K = -1; __global__ void k(long long* a) { a[0] = K; }",
        "(= (* (p+ (read a) 0)) 4294967295:long long)",
    );
    has(
        "constexpr unsigned char K = 257; __global__ void k() { __shared__ int s[K]; s[0] = 1; }",
        "shared int[1] s",
    );
    has(
        "__global__ void k() { __shared__ int s[(unsigned char)300]; s[0] = 1; }",
        "shared int[44] s",
    );
    has(
        "__global__ void k(int* o) { const unsigned char c = 511; o[0] = c; }",
        "(= (* (p+ (read o) 0)) 255)",
    );
    let (severity, _) =
        refusal("constexpr int K = 2147483647 + 1; __global__ void k(int* a) { *a = K; }");
    assert_eq!(severity, Severity::Error);
}

#[test]
fn order_of_evaluation_is_kept_or_refused() {
    // C++ evaluates the right side of `=` first and the left side of `<<` first, so these are defined.
    has(
        "__global__ void k(int* a) { int i = 1; a[i++] = i; }",
        "(= (* (p+ (read a) (i ++))) (read i))",
    );
    has(
        "__global__ void k(int* a) { int i = 1; i = i++ + 1; a[0] = i; }",
        "(= i (+:int (i ++) 1))",
    );
    has("__global__ void k(int* a) { int i = 1; a[0] = i << i++; }", "(<<:int (read i) (i ++))");
    has("__global__ void k(int* a) { int i = 1; a[0] = i++ && i; }", "(&& ");
    for body in [
        "int i = 1; a[0] = i + i++;",
        "int i = 1; a[0] = max(i++, i);",
        "int i = 1; a[0] = a[i] + (a[1] = 3);",
        "a[0] = f(a) + f(a);",
        "int i = 0; int* p = &i; a[0] = i + (*p)++;",
        "int i = 0; int& r = i; a[0] = i + r++;",
        "int e = 0; a[0] = e + (int)frexpf(3.0f, &e);",
        "int e = 0; a[0] = e + (int)__match_all_sync(0xffffffffu, a[1], &e);",
    ] {
        let text = format!(
            "__device__ int f(int* p) {{ return *p += 1; }} __global__ void k(int* a) {{ {body} }}"
        );
        let (severity, message) = refusal(&text);
        assert_eq!(severity, Severity::Unsupported, "{body}");
        assert!(message.contains("order of evaluation"), "{body}: {message}");
    }
    let (severity, _) = refusal(
        "//@ alias a, b;\n__global__ void k(int* a, int* b) { a[0] = a[1] + atomicAdd(&b[0], 1); }",
    );
    assert_eq!(severity, Severity::Unsupported);
    // A function's effects through its parameters apply to the arguments.
    tree(
        "__device__ int get(const int* p) { return *p; } __device__ int inc(int& x) { return ++x; }
         __global__ void k(int* a, int* b) { int i = 0; a[0] = get(b) + inc(a[1]) + inc(i); }",
    );
    let (severity, _) = refusal(
        "__device__ int get(const int* p) { return *p; } __device__ int inc(int& x) { return ++x; }
         __device__ int both(int* a, int* b) { return get(b) + inc(a[1]); }
         __global__ void k(int* a, int* b) { a[0] = both(a, b); }",
    );
    assert_eq!(severity, Severity::Unsupported);
    // Accepted: two reads, and effects on separate arrays.
    tree(
        "__device__ int f(const int* p) { return *p; } __global__ void k(int* a) { a[0] = f(a) + f(a); }",
    );
    tree("__global__ void k(int* a, int* b) { a[0] = a[1] + atomicAdd(&b[0], 1); }");
}

#[test]
fn loads_through_the_read_only_cache_stay_loads() {
    // The tree keeps the call; the lowering checks that the memory is not written.
    has(
        "__global__ void k(int* a, int* b) { b[0] = __ldg(&a[1]); }",
        "(__ldg:int (to const int* (p+ (read a) 1)))",
    );
}

#[test]
fn usual_arithmetic_conversions() {
    let table = [
        ("char a, char b", "a + b", "(+:int (to int (read a)) (to int (read b)))"),
        ("bool a, short b", "a * b", "(*:int (to int (read a)) (to int (read b)))"),
        ("int a, unsigned b", "a + b", "(+:unsigned (to unsigned (read a)) (read b))"),
        ("unsigned a, long b", "a + b", "(+:long (to long (read a)) (read b))"),
        (
            "unsigned long a, long long b",
            "a + b",
            "(+:unsigned long long (to unsigned long long (read a)) (to unsigned long long (read b)))",
        ),
        ("long a, long long b", "a + b", "(+:long long (to long long (read a)) (read b))"),
        ("int a, float b", "a + b", "(+:float (to float (read a)) (read b))"),
        ("float a, double b", "a + b", "(+:double (to double (read a)) (read b))"),
        ("unsigned char a, long b", "a << b", "(<<:int (to int (read a)) (read b))"),
        ("int a, unsigned b", "a < b", "(<:unsigned (to unsigned (read a)) (read b))"),
        ("short a, int b", "~a", "(~ (to int (read a)))"),
        ("float a, int b", "a && b", "(&& (to bool (read a)) (to bool (read b)))"),
    ];
    for (parameters, expr, expected) in table {
        let text = format!("__global__ void k(float* o, {parameters}) {{ {expr}; }}");
        has(&text, expected);
    }
    stores("int", "short a, long b", "b ? a : 1", "(? (to bool (read b)) (to int (read a)) 1)");
    stores(
        "int",
        "int a, int b",
        "4294967295 > a",
        "(to int (>:long 4294967295:long (to long (read a))))",
    );
    stores("unsigned", "int a, int b", "0xffffffff", "4294967295:unsigned");
    stores(
        "int",
        "int a, int b",
        "-1 / 2u",
        "(to int (/:unsigned (to unsigned (neg 1)) 2:unsigned))",
    );
}

#[test]
fn compound_assignment_computes_in_the_common_type() {
    has(
        "__global__ void k(char* c, float f) { c[0] += f; }",
        "(+=:float (* (p+ (read c) 0)) (read f))",
    );
    has(
        "__global__ void k(short* c, int n) { c[0] <<= n; }",
        "(<<=:int (* (p+ (read c) 0)) (read n))",
    );
    has("__global__ void k(int* c, unsigned n) { c += n; *c = 0; }", "(+=:int* c (read n))");
}

#[test]
fn layouts_are_those_of_nvcc() {
    tree(
        "struct A { char c; double d; short s; };
         struct B { A a; char c; };
         struct __align__(16) C { int x; };
         union U { int i; double d; char c[11]; };
         struct E {};
         struct F : E { int x; };
         __global__ void k() {
           static_assert(sizeof(A) == 24 && alignof(A) == 8, \"\");
           static_assert(sizeof(B) == 32, \"\");
           static_assert(sizeof(C) == 16 && alignof(C) == 16, \"\");
           static_assert(sizeof(U) == 16, \"\");
           static_assert(sizeof(E) == 1 && sizeof(F) == 4, \"\");
           static_assert(sizeof(float3) == 12 && alignof(float3) == 4, \"\");
           static_assert(sizeof(float4) == 16 && alignof(float4) == 16, \"\");
           static_assert(sizeof(double4) == 32 && alignof(double4) == 16, \"\");
           static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4, \"\");
           static_assert(alignof(short3) == 2 && alignof(longlong2) == 16, \"\");
           static_assert(sizeof(dim3) == 12 && sizeof(long) == 8 && sizeof(int*) == 8, \"\");
           static_assert(sizeof(\"abc\") == 4 && sizeof('a') == 1 && sizeof(1ull) == 8, \"\");
         }",
    );
    let (severity, _) =
        refusal("struct __align__(4) A { double d; }; __global__ void k(A* a) { a[0].d = 1; }");
    assert_eq!(severity, Severity::Unsupported);
    let (severity, _) = refusal("__global__ void k() { static_assert(sizeof(int) == 8, \"\"); }");
    assert_eq!(severity, Severity::Error);
}

/// Types whose parts are too many or too deep to walk: their number doubles in each line, or each line adds a level.
#[test]
fn huge_types_are_refused() {
    let chain = |first: &str, next: &dyn Fn(usize) -> String, count: usize| {
        let lines: String = (1..count).map(next).collect();
        format!("{first}{lines} __global__ void k() {{ S{0} s; S{0} t = s; }}", count - 1)
    };
    for text in [
        chain("struct S0 { int a; };", &|n| format!("struct S{n} {{ S{0} a, b; }};", n - 1), 40),
        chain("struct S0 {};", &|n| format!("struct S{n} {{ S{0} a[2], b; }};", n - 1), 40),
        chain("struct S0 {};", &|n| format!("struct S{n} {{ S{0} a; }};", n - 1), 5000),
        chain("struct S0 {};", &|n| format!("struct S{n} : S{0} {{}};", n - 1), 5000),
        chain("typedef int S0;", &|n| format!("typedef S{0}* S{n};", n - 1), 20000),
        chain("typedef int S0;", &|n| format!("typedef S{0} S{n}[1];", n - 1), 20000),
        chain("typedef int S0;", &|n| format!("typedef void (*S{n})(S{0}, S{0});", n - 1), 40),
        format!("__global__ void k(float {} x) {{}}", "*".repeat(20000)),
        format!("__global__ void k() {{ int x{}; }}", "[1]".repeat(20000)),
        format!("__global__ void k(int {}x{}) {{}}", "(********".repeat(300), ")".repeat(300)),
    ] {
        let (severity, message) = refusal(&text);
        let start: String = text.chars().take(60).collect();
        assert_eq!(severity, Severity::Unsupported, "{start}: {message}");
    }
    // A member that is not used is not refused, but reading it ends.
    let unused = format!("struct S {{ operator int{}(); }};", "*".repeat(20000));
    assert!(crate::read(&crate::preprocess::Options::default(), &unused).is_ok());
}

#[test]
fn classes_with_operators_and_constructors() {
    let text = "struct V { float x, y; __device__ V(float a, float b) : x(a), y(b) {}
          __device__ V operator+(const V& o) const { return V(x + o.x, y + o.y); } };
        __device__ V operator*(float s, V v) { return V(s * v.x, s * v.y); }
        __global__ void k(float* o) { V a(1, 2); V b = a + 2.0f * a; o[0] = b.x; }";
    has(text, "V b = (call operator+ a (temporary (call operator* 2.0:float (read a))))");
    has(text, "V a = (call V 1.0:float 2.0:float)");
}

#[test]
fn clauses_have_numbers_without_bounds() {
    let text = "//@ requires n > 0 && blockDim.x == 32;
        //@ extent a[n], s[n + 1];
        //@ ensures \\forall int i; 0 <= i < n ==> a[i] == \\old(a[i]) + 1;
        __global__ void k(int* a, int n) {
          extern __shared__ int s[];
          //@ loop invariant 0 <= i && i <= n;
          for (int i = 0; i < n; i++) s[i] = a[i];
        }";
    has(text, "extent s (+:whole (to whole (read n)) 1)");
    has(text, "(+:whole (at Old (to whole (read (* (p+ (read a) (read i#");
    has(text, "loop invariant (&& (<=:whole 0 (to whole (read i#");
    let (severity, _) = refusal("//@ ensures a[threadIdx.x] == 0;\n__global__ void k(int* a) {}");
    assert_eq!(severity, Severity::Error);
}

#[test]
fn switches_have_arms_that_fall_through() {
    let text = "__global__ void k(int* a, int n) {
          switch (n) { case 1: case 2: a[0] = 1; case 3: a[1] = 2; break; default: a[2] = 3; } }";
    has(text, "case 1 2");
    has(text, "case 3");
    let (severity, _) = refusal(
        "__global__ void k(int* a, int n) { switch (n) { case 1: if (n) { case 2: a[0] = 1; } } }",
    );
    assert_eq!(severity, Severity::Unsupported);
}

#[test]
fn an_error_concerns_the_kernels_that_reach_it() {
    let found = program(
        "__device__ int bad() { return undeclared; }
         __global__ void one(int* a) { a[0] = bad(); }
         __global__ void two(int* a) { a[0] = 1; }",
    );
    let read: Vec<bool> = found.kernels.iter().map(|kernel| kernel.function.is_ok()).collect();
    assert_eq!(read, [false, true]);
}

#[test]
fn names_are_seen_from_their_declaration_on() {
    // Only the `double` version is declared at the first call.
    let text = "__device__ int f(double x) { return 1; }
        __global__ void one(int* a) { a[0] = f(2); }
        __device__ int f(int x) { return 2; }
        __global__ void two(int* a) { a[0] = f(2); }";
    has(text, "(call f 2.0:double)");
    has(text, "(call f 2)");
}

#[test]
fn every_signature_of_the_table_has_a_meaning() {
    let mut analyser = super::analyser::Analyser::new(super::Options::default().longest_chain);
    for intrinsic in crate::intrinsics::all() {
        let count: usize = intrinsic
            .signatures
            .iter()
            .map(|signature| match signature.contains('T') {
                true => intrinsic.over.split_whitespace().count(),
                false => 1,
            })
            .sum();
        let same: usize = crate::intrinsics::named(intrinsic.name)
            .map(|one| {
                one.signatures
                    .iter()
                    .map(|text| match text.contains('T') {
                        true => one.over.split_whitespace().count(),
                        false => 1,
                    })
                    .sum::<usize>()
            })
            .sum();
        assert!(count <= same);
        let made = analyser.builtin_candidates(intrinsic.name);
        assert_eq!(made.len(), same, "{}", intrinsic.name);
        assert!(
            made.iter()
                .all(|one| one.parameters.iter().all(|parameter| parameter.ty != Type::Void))
        );
    }
}

#[test]
fn constexpr_functions_are_evaluated() {
    let text = "constexpr int fact(int n) { int r = 1; for (int i = 2; i <= n; ++i) r *= i; return r; }
        constexpr int pick(int n) { switch (n) { case 1: return 10; default: return n > 3 ? fact(n) : 0; } }
        __global__ void k() { __shared__ int s[pick(4)]; s[0] = 1; static_assert(pick(1) == 10 && pick(2) == 0, \"\"); }";
    has(text, "shared int[24] s");
    // Writes through a reference are not supported.
    let (severity, _) = refusal(
        "constexpr void inc(int& x) { x++; } constexpr int f() { int a = 1; inc(a); return a; }
         __global__ void k() { __shared__ int s[f()]; s[0] = 1; }",
    );
    assert_eq!(severity, Severity::Unsupported);
}

#[test]
fn long_sums_are_read_and_longer_ones_refused() {
    let sum = |count: usize| {
        let terms = vec!["a[0]"; count].join(" + ");
        format!("__global__ void k(int* a) {{ a[1] = {terms}; }}")
    };
    tree(&sum(200));
    let (severity, _) = refusal(&sum(9000));
    assert_eq!(severity, Severity::Unsupported);
}

#[test]
fn gpuverify_words_become_clauses() {
    let text = "__global__ void k(int* a, int n) {
          __requires(n > 0);
          for (int i = 0; __invariant(i >= 0), __invariant(i <= n), i < n; ++i) a[i] = i;
          __assert(__implies(n > 3, n > 2));
        }";
    has(text, "requires (>:whole (to whole (read n)) 0)");
    has(text, "loop invariant (<=:whole (to whole (read i)) (to whole (read n)))");
    has(text, "assert (==> ");
    let (severity, _) =
        refusal("__global__ void k(int* a) { int i = 3; __requires(i > 0); a[i] = 1; }");
    assert_eq!(severity, Severity::Unsupported);
}
