//! Tests of templates: deduction, partial ordering, specialisations, kernels without instances, and limits.

use super::tests::{has, program, refusal};
use base::Severity;

#[test]
fn identity_is_better_than_a_qualification_conversion() {
    // `const T&` takes the pointer unchanged; `const T*` would add `const` below it.
    has(
        "template <class T> __device__ int f(const T& x) { return 1; }
         template <class T> __device__ int f(const T* x) { return 2; }
         __global__ void k(int* a) { a[0] = f(a); }",
        "f(const int*& x) -> int\n  return 1",
    );
}

#[test]
fn templates_are_instantiated_for_the_types_they_get() {
    let text = "template <typename T> __device__ T half_of(T x) { return x / 2; }
        __global__ void k(float* o) { int x = 7; o[0] = half_of(x); o[1] = half_of(3.0f); }";
    has(text, "(to float (call half_of<int> (read x)))");
    has(text, "half_of(float x) -> float\n  return (/:float (read x) 2.0:float)");
    let text = "template <typename T> __device__ T inc(T x) { return x + 1; }
        __global__ void k(float* o) { o[0] = inc<unsigned char>(255); }";
    has(text, "(call inc<unsigned char> 255:unsigned char)");
    has(text, "return (to unsigned char (+:int (to int (read x)) 1))");
}

/// Aliases of aliases: 2^29 types.
#[test]
fn too_many_instances_are_refused() {
    let aliases = (1..30).map(|n| format!("template <class T> using D{n} = D{0}<D{0}<T>>;", n - 1));
    let aliases: String = aliases.collect();
    let first = "template <class T> struct P {}; template <class T> using D0 = P<T>;";
    let (severity, message) =
        refusal(&format!("{first}{aliases} __global__ void k() {{ D29<int> t; }}"));
    assert_eq!(severity, Severity::Unsupported, "{message}");
}

#[test]
fn shared_memory_idiom() {
    let text = "template <class T> struct SharedMemory {
          __device__ operator T*() { extern __shared__ int raw[]; return (T*)raw; }
          __device__ operator const T*() const { extern __shared__ int raw[]; return (T*)raw; }
        };
        template <> struct SharedMemory<double> {
          __device__ operator double*() { extern __shared__ double wide[]; return wide; }
        };
        template <class T> __global__ void k(T* a) { T* s = SharedMemory<T>(); s[threadIdx.x] = a[0]; }
        template __global__ void k<double>(double*);
        template __global__ void k<int>(int*);";
    let found = program(text);
    let names: Vec<&str> = found.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["k<double>", "k<int>"]);
    has(text, "dynamic shared double[] wide");
    has(text, "return (decay raw)");
}

#[test]
fn kernel_templates_without_instances_are_read_for_every_integer() {
    let text = "template <typename T, int N, bool B> __global__ void k(T* a) {
          __shared__ T s[N * 2]; if (B) s[N] = a[0]; }";
    let found = program(text);
    let names: Vec<&str> = found.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["k<B = false>", "k<B = true>"]);
    assert_eq!(found.assumed.len(), 1);
    assert!(found.symbols.iter().any(|symbol| symbol.name == "N" && symbol.of_template));
    has(text, "shared float[(*:int $N 2)] s");
}

#[test]
fn symbols_of_two_kernels_are_not_mixed_up() {
    let text = "template <int N> __device__ int f() { return N; }
        template <int N> __global__ void one(int* a) { a[0] = f<N>(); }
        template <int N> __global__ void two(int* a) { a[0] = f<N>(); }";
    let found = program(text);
    let copies = found.functions.iter().filter(|function| function.name == "f").count();
    assert_eq!(copies, 2);
    // A specialisation that may or may not match a symbol.
    let (severity, _) = refusal(
        "template <int N> __device__ int f() { return N; }
         template <> __device__ int f<4>() { return 7; }
         template <int N> __global__ void k(int* a) { a[0] = f<N>(); }",
    );
    assert_eq!(severity, Severity::Unsupported);
}

#[test]
fn specialisations_are_chosen_by_their_patterns() {
    let text = "template <typename T> struct Size { static const int value = 1; };
        template <typename T> struct Size<T*> { static const int value = 2; };
        template <> struct Size<double> { static const int value = 3; };
        template <typename T> __device__ int f(T x) { return 1; }
        template <typename T> __device__ int f(T* x) { return 2; }
        template <> __device__ int f<double>(double x) { return 3; }
        __global__ void k(int* a) {
          a[0] = Size<int>::value; a[1] = Size<const int*>::value; a[2] = Size<double>::value;
          a[3] = f(1); a[4] = f(a); a[5] = f(1.0);
        }";
    has(text, "(= (* (p+ (read a) 0)) 1)");
    has(text, "(= (* (p+ (read a) 1)) 2)");
    has(text, "(= (* (p+ (read a) 2)) 3)");
    has(text, "f(int* x) -> int\n  return 2");
    has(text, "f(double x) -> int\n  return 3");
}

#[test]
fn substitution_failure_takes_templates_out() {
    let text = "template <class T> __device__ std::enable_if_t<std::is_integral_v<T>, int> kind(T x) { return 1; }
        template <class T> __device__ std::enable_if_t<!std::is_integral_v<T>, int> kind(T x) { return 2; }
        __global__ void k(int* a) { a[0] = kind(3); a[1] = kind(2.0f); }";
    has(text, "kind(int x) -> int\n  return 1");
    has(text, "kind(float x) -> int\n  return 2");
}

#[test]
fn templates_without_end_are_refused() {
    for text in [
        "template <int N> __device__ int f() { return f<N + 1>(); }
         __global__ void k(int* o) { o[0] = f<1>(); }",
        "template <int N> struct A { static __device__ int f() { return A<N + 1>::f(); } };
         __global__ void k(int* o) { o[0] = A<1>::f(); }",
        "template <int N> struct A { A<N + 1> a; }; __global__ void k(int* o) { A<1> x; o[0] = 1; }",
        "template <class T> __device__ auto f(T x) { return f(&x); } __global__ void k(int* o) { f(o); }",
    ] {
        assert_eq!(refusal(text).0, Severity::Unsupported, "{text}");
    }
}
