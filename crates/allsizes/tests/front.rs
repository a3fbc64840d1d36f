//! Constructs that the CUDA C++ reader or its lowering does not support are refused at their line, and never misread.

use base::{Diagnostic, Severity, SourceFile};

/// The kernels of a text, read by the CUDA C++ reader.
fn kernels(text: &str) -> Result<Vec<cuda_front::Parsed>, Box<Diagnostic>> {
    let read = cuda::preprocess::preprocess(&cuda::preprocess::Options::default(), text)?;
    let unit = cuda::syntax::parse(&read)?;
    let program = cuda::sema::analyse(&unit, &cuda::sema::Options::default())?;
    Ok(cuda_front::lower(&program))
}

/// The severity, line and message of a refusal.
fn refusal(text: &str) -> Option<(Severity, u32, String)> {
    let diagnostic = match kernels(text) {
        Err(diagnostic) => diagnostic,
        Ok(kernels) => kernels.into_iter().find_map(|(_, kernel)| kernel.err())?,
    };
    let file = SourceFile::new("t.cu", text).unwrap();
    let line = file.line(diagnostic.primary.span.start);
    Some((diagnostic.severity, line, diagnostic.message.to_string()))
}

/// A statement of a kernel, on line 2.
fn in_kernel(statement: &str) -> Option<(Severity, u32, String)> {
    refusal(&format!("__global__ void k(float* a, const int* b, int n) {{\n  {statement}\n}}\n"))
}

#[test]
fn unsupported_constructs_are_named_with_their_line() {
    let statements = [
        "goto end;",
        "asm(\"bar.sync 0;\");",
        "__syncwarp(0xffu);",
        "__nanosleep(3);",
        "float v = __shfl_down_sync(0xffu, a[0], 1);",
        "float4 v = ((float4*)b)[0];",
        "int* p[2];",
        "float* p = a; p = (float*)(double*)b;",
        "extern __shared__ float s[]; extern __shared__ int t[];",
    ];
    for statement in statements {
        let (severity, line, message) = in_kernel(statement).expect(statement);
        assert_eq!((severity, line), (Severity::Unsupported, 2), "{statement}: {message}");
    }
}

#[test]
fn mistakes_are_errors_with_their_line() {
    let statements = [
        "a[0] = ;",
        "a[0] = 1",
        "b[0] = 1;",
        "x = 1;",
        "if (n {",
        "a[1.5] = 0;",
        "for (int i = 0; i < n) a[i] = 0;",
        "int y = 0b2;",
        "a[0] = n & 1.0;",
        "//@ requires n > 0;",
        "//@ loop invariant n > 0;\n  a[0] = 1;",
        "//@ asert n > 0;",
        "return 1;",
        "break;",
        "if (n > 0) continue;",
        "a[0] = $;",
        "float2 v = make_float2(1, 2); v += v;",
    ];
    for statement in statements {
        let (severity, line, message) = in_kernel(statement).expect(statement);
        assert_eq!(severity, Severity::Error, "{statement}: {message}");
        assert!((2..=3).contains(&line), "{statement}: line {line}: {message}");
    }
}

#[test]
fn files_as_a_whole() {
    let unsupported = [
        "#include \"mine.h\"\n__global__ void k() {}",
        "template <template <int> class T>\n__global__ void k(float* a) {}",
    ];
    for text in unsupported {
        assert_eq!(refusal(text).expect(text).0, Severity::Unsupported, "{text}");
    }
    let wrong =
        ["#if 1\n__global__ void k() {}", "/* open", "//@ requires 1;\nint main() {}", "#endif"];
    for text in wrong {
        assert_eq!(refusal(text).expect(text).0, Severity::Error, "{text}");
    }
}

#[test]
fn headers_and_macros_are_read() {
    let text = "
        #include <cuda_runtime.h>
        #define N 4
        #define AT(i, j) ((i)*N + (j))
        struct Point { float x, y; int tag; };
        typedef struct { Point at; const int* map; int n; } Grid;
        template <int M> __device__ float power(float x) { float r = 1; for (int i = 0; i < M; i++) r *= x; return r; }
        __device__ Point moved(const Point& p, float2 by) { Point q = {p.x + by.x, p.y, 0}; q.tag = p.tag; return q; }
        __device__ void exchange(float& a, float& b) { float t = a; a = b; b = t; }
        __device__ int total;
        #if defined(__CUDACC__) && N > 3
        typedef unsigned int word;
        #else
        #error no
        #endif
        constexpr int twice = 2*N;
        __device__ __forceinline__ int clamp(int x, int most) {
            if (x < 0) return 0;
            if (x > most) { return most; }
            return x;
        }
        template <int R, typename T = float>
        __global__ void __launch_bounds__(256) k(float* __restrict__ a, const word *b, size_t n, bool on, Point* ps,
                                                 Grid grid, T scale, float4* quads) {
            float half = 0.5f; auto uint = 3u; half *= uint * (half) * half;
            __shared__ float2 pairs[N][N];
            float& cell = a[n];
            cell += power<R>(half) + power<N>(1.0f);
            Point p = moved(ps[0], make_float2(1, 2)), q;
            q = on ? p : grid.at; ps[grid.map[grid.n]] = q; ps[1].tag = q.tag; (ps + 2)->x = 1;
            pairs[0][1] = make_float2(pairs[1][0].y, scale); exchange(pairs[0][0].x, a[1]); exchange(half, a[0]);
            float4 v = reinterpret_cast<const float4*>(a)[2]; *(float4*)&a[4] = v; quads += 1; quads[0] = v;
            float sums[3] = {1, half}; sums[2]++;
            half += __shfl_xor_sync(0xffffffff, half, 1) + __any_sync(~0u, on); __syncwarp(); __threadfence();
            atomicAdd(&total, 1);
            __shared__ float s[N][twice + 1];
            __shared__ int count;
            const float* e = a + n;
            int i = threadIdx.x, j = 0;
            do { j += R; if (on && b[i] > 3u) continue; } while (j < 10);
            while (j-- > 0) if (j == 3) break;
            #pragma unroll
            for (;;) { if (i >= 1) break; ++i; }
            s[i % N][0] = e[AT(0, 1)] > 0.5f ? -1.0f : float(i);
            atomicAdd(&count, 1);
            a[clamp(i, N - 1)] = fmaxf(s[0][0], 1e-3f) + static_cast<float>(count << 1) + __ldg(&b[0]);
        }
        int main() { k<3><<<1, 1>>>(0, 0, 0, true); return 0; }
    ";
    assert_eq!(refusal(text), None);
}

/// An invariant that GPUVerify's kernels state before a loop's condition is an invariant of the loop.
#[test]
fn invariants_may_stand_before_a_condition() {
    let invariants = |condition: &str| {
        let text = format!(
            "__global__ void k(float* a, int n) {{\nfor (int i = 0; {condition}; i++) a[i] = 0;\n}}\n"
        );
        let (_, kernel) = kernels(&text).unwrap().remove(0);
        let kernel = kernel.map_err(|refused| refused.message.to_string())?;
        let loops = kernel.body.iter().filter_map(|statement| match statement {
            kir::Stmt::Loop(one) => Some(one.invariants.len()),
            _ => None,
        });
        Ok::<usize, String>(loops.sum())
    };
    assert_eq!(invariants("i < n"), Ok(0));
    assert_eq!(invariants("__invariant(i >= 0), i < n"), Ok(1));
    assert_eq!(invariants("__invariant(i >= 0), __global_invariant(i <= n), i < n"), Ok(2));
    assert!(invariants("i < n, __invariant(i >= 0)").is_err());
    assert!(invariants("__invariant(i >= 0) && i < n").is_err());
}

/// Dynamic shared memory has the type that all casts of it name.
#[test]
fn dynamic_memory_is_of_the_type_it_is_used_as() {
    let of = |body: &str| {
        refusal(&format!("__global__ void k(float* a) {{ extern __shared__ char raw[]; {body} }}"))
    };
    assert_eq!(of("float* s = (float*)raw; s[threadIdx.x] = a[0];"), None);
    assert_eq!(of("auto s = reinterpret_cast<float4*>(raw); s[0].x = a[0];"), None);
    assert_eq!(of("raw[0] = 1; char* s = raw; s[1] = 2;"), None);
    for body in [
        "float* s = (float*)raw; raw[3] = 1; s[0] = 2;",
        "float* s = (float*)raw; int* t = (int*)raw; s[0] = 1; t[1] = 2;",
        "float* s = (float*)(raw + 4); s[0] = 1;",
        "float* s = (float*)raw; char* t = raw; s[0] = 1; t[1] = 2;",
        "float* s = (float*)&raw[8]; s[0] = 1;",
    ] {
        let (severity, _, message) = of(body).expect(body);
        assert_eq!(severity, Severity::Unsupported, "{body}: {message}");
    }
}
