//! Fetches from textures depend on the texture, the type and the coordinates, and on nothing else. The proofs here
//! follow from that; the open cases would need more.

mod support;

use allsizes::engine::Property;
use allsizes::{Options, Verdict};
use support::{kernel, solver};

const OPTIONS: Options = Options { infers: true, suggests: false };

/// A kernel whose threads below `n` execute `body`.
fn each(element: &str, body: &str) -> String {
    format!(
        "texture<float> ref; texture<unsigned char, 1, cudaReadModeNormalizedFloat> normal; texture<float> other;
         //@ extent out[n], at[n];
         //@ requires n >= 0 && gridDim.x*blockDim.x >= n && gridDim.x*blockDim.x <= 2147483647;
         __global__ void k({element}* out, const int* at, cudaTextureObject_t t, cudaTextureObject_t s, int n) {{
           int i = blockIdx.x*blockDim.x + threadIdx.x;
           if (i < n) {{ {body} }}
         }}"
    )
}

fn equality(element: &str, one: &str, two: &str) -> Verdict {
    let kernels = [kernel(&each(element, one)), kernel(&each(element, two))];
    let compared =
        allsizes::compare([&kernels[0], &kernels[1]], solver(), OPTIONS).expect("a pair").0;
    assert!(!compared.contradiction, "{one}\n{two}");
    compared.verdict
}

fn verdict(text: &str, property: Property) -> Verdict {
    let (answer, _) = allsizes::prove(&kernel(text), solver(), OPTIONS);
    assert!(answer.contradiction.is_none(), "{:?}", answer.contradiction);
    let found = answer.properties.iter().find(|one| one.property == property);
    found.map_or(Verdict::Proved, |one| one.verdict)
}

#[test]
fn the_same_texture_at_the_same_place_has_the_same() {
    let equal = [
        (
            "float",
            "out[i] = tex1Dfetch<float>(t, i);",
            "int j = i + 1; out[i] = tex1Dfetch<float>(t, j - 1);",
        ),
        (
            "float",
            "out[i] = tex1Dfetch<float>(t, i);",
            "float v; tex1Dfetch(&v, t, i); out[i] = v;",
        ),
        (
            "float",
            "out[i] = tex2D<float>(t, i + 0.5f, 1);",
            "float y = 1; out[i] = tex2D<float>(t, 0.5f + i, y);",
        ),
        ("float", "out[i] = tex2D<float>(t, i, 2);", "float v; tex2D(&v, t, i, 2); out[i] = v;"),
        (
            "float",
            "out[i] = tex3D<float>(t, i, 1, 2);",
            "cudaTextureObject_t u = t; out[i] = tex3D<float>(u, i, 1, 2);",
        ),
        (
            "float",
            "float4 v = tex2D<float4>(t, i, 2); out[i] = v.x + v.y;",
            "float4 v = tex2D<float4>(t, i, 2); out[i] = v.y + v.x;",
        ),
        ("float", "out[i] = tex1Dfetch(ref, i);", "float v = tex1Dfetch(ref, i); out[i] = v;"),
        (
            "float",
            "out[i] = tex1Dfetch<float>(t, at[i]);",
            "int j = at[i]; out[i] = tex1Dfetch<float>(t, j);",
        ),
        (
            "int",
            "out[i] = tex1Dfetch<int>(t, i) + 1;",
            "int v = 1; v += tex1Dfetch<int>(t, i); out[i] = v;",
        ),
        ("int", "out[i] = tex2D<int>(t, i, 0);", "float x = i; out[i] = tex2D<int>(t, x, 0);"),
        (
            "float",
            "float sum = 0; for (int j = 0; j < n; j++) sum += tex1Dfetch<float>(t, j); out[i] = sum;",
            "float sum = 0; int j = 0; while (j < n) { j++; sum = tex1Dfetch<float>(t, j - 1) + sum; } out[i] = sum;",
        ),
    ];
    for (element, one, two) in equal {
        assert_eq!(equality(element, one, two), Verdict::Proved, "{one}\n{two}");
    }
}

#[test]
fn different_fetches_are_not_equal() {
    let float = "out[i] = tex1Dfetch<float>(t, i);";
    let plane = "out[i] = tex2D<float>(t, i, 2);";
    let open = [
        ("float", float, "out[i] = tex1Dfetch<float>(t, i + 1);"),
        ("float", float, "out[i] = tex1Dfetch<float>(t, -i);"),
        ("float", float, "out[i] = tex1Dfetch<float>(t, (unsigned char)i);"),
        ("float", float, "out[i] = tex1Dfetch<float>(t, at[i]);"),
        ("float", float, "out[i] = tex1Dfetch<float>(s, i);"),
        ("float", float, "out[i] = tex1D<float>(t, i);"),
        ("float", float, "out[i] = tex1Dfetch<int>(t, i);"),
        ("float", float, "out[i] = tex1Dfetch<float4>(t, i).x;"),
        ("float", float, "out[i] = tex1Dfetch<float4>(t, i).w;"),
        ("float", float, "out[i] = tex1Dfetch<float2>(t, i).x;"),
        ("float", float, "out[i] = tex1Dfetch(ref, i);"),
        ("float", "out[i] = tex1Dfetch(ref, i);", "out[i] = tex1Dfetch(other, i);"),
        ("float", "out[i] = tex1Dfetch(ref, i);", "out[i] = tex1Dfetch(normal, i);"),
        ("float", plane, "out[i] = tex2D<float>(t, 2, i);"),
        ("float", plane, "out[i] = tex2D<float>(t, i, 2.5f);"),
        ("float", plane, "out[i] = tex3D<float>(t, i, 2, 0);"),
        ("float", plane, "out[i] = tex2DLod<float>(t, i, 2, 0);"),
        ("float", plane, "out[i] = tex2DLayered<float>(t, i, 2, 0);"),
        (
            "float",
            "out[i] = tex2DLayered<float>(t, i, 2, 0);",
            "out[i] = tex2DLayered<float>(t, i, 2, 1);",
        ),
        ("float", plane, "out[i] = tex2D<float>(i % 2 ? t : s, i, 2);"),
        ("float", plane, "float v = tex2D<float>(t, i, 2); v = tex2D<float>(t, i, 3); out[i] = v;"),
        ("float", "out[i] = tex2D<float>(t, i / 2, 2);", "out[i] = tex2D<float>(t, i / 2.0f, 2);"),
        ("int", "out[i] = tex1Dfetch<int>(t, i);", "out[i] = tex1Dfetch<unsigned>(t, i);"),
        ("int", "out[i] = tex1Dfetch<int>(t, i);", "out[i] = tex1Dfetch<short>(t, i);"),
        (
            "int",
            "out[i] = tex1Dfetch<signed char>(t, i);",
            "out[i] = tex1Dfetch<unsigned char>(t, i);",
        ),
        ("int", "out[i] = tex1Dfetch<int>(t, i);", "out[i] = (short)tex1Dfetch<int>(t, i);"),
        ("int", "out[i] = tex1Dfetch<int>(t, i);", "out[i] = (int)tex1Dfetch<float>(t, i);"),
    ];
    for (element, one, two) in open {
        assert_ne!(equality(element, one, two), Verdict::Proved, "{one}\n{two}");
    }
}

/// Two files may give the same name to textures of different types.
#[test]
fn references_of_other_types_are_others() {
    let text = |ty: &str| {
        format!(
            "texture<{ty}> r;
             //@ extent out[n];
             //@ requires gridDim.x == 1 && n >= 0 && blockDim.x >= n;
             __global__ void k(float* out, int n) {{ int i = threadIdx.x; if (i < n) out[i] = tex1Dfetch(r, i); }}"
        )
    };
    let types = [
        "float",
        "unsigned char, 1, cudaReadModeNormalizedFloat",
        "short, 1, cudaReadModeNormalizedFloat",
    ];
    for one in types {
        for two in types {
            let kernels = [kernel(&text(one)), kernel(&text(two))];
            let pair =
                allsizes::compare([&kernels[0], &kernels[1]], solver(), OPTIONS).expect("a pair").0;
            assert_eq!(pair.verdict == Verdict::Proved, one == two, "{one}, {two}");
        }
    }
}

fn barrier(condition: &str) -> Verdict {
    let text = format!(
        "__global__ void k(cudaTextureObject_t t, cudaTextureObject_t s, int n) {{
           if ({condition}) __syncthreads();
         }}"
    );
    verdict(&text, Property::Barriers)
}

#[test]
fn threads_that_fetch_the_same_go_the_same_way() {
    for condition in [
        "tex1Dfetch<int>(t, blockIdx.x)",
        "tex1Dfetch<int>(t, blockIdx.x) > tex1Dfetch<int>(s, n)",
        "tex2D<float>(t, blockIdx.x + 0.5f, n) > 0.5f",
        "tex2D<int>(t, blockIdx.x, n) > 3",
    ] {
        assert_eq!(barrier(condition), Verdict::Proved, "{condition}");
    }
    for condition in [
        "tex1Dfetch<int>(t, threadIdx.x)",
        "tex1Dfetch<int>(threadIdx.x % 2 ? t : s, 0)",
        "tex1Dfetch<int>(t, blockIdx.x) > threadIdx.x",
        "tex2D<float>(t, threadIdx.x, n) > 0.5f",
        "tex2D<int>(t, threadIdx.x, n) > 3",
        "tex1Dfetch<float4>(t, threadIdx.x).y > 0.0f",
    ] {
        assert_ne!(barrier(condition), Verdict::Proved, "{condition}");
    }
}

fn races(store: &str) -> Verdict {
    let text = format!(
        "//@ requires gridDim.x >= 2 && blockDim.x >= 2;
         __global__ void k(int* out, cudaTextureObject_t t, int n) {{ int i = threadIdx.x; {store} }}"
    );
    verdict(&text, Property::Races)
}

#[test]
fn fetched_values_do_not_separate_threads() {
    assert_eq!(races("out[0] = tex1Dfetch<int>(t, 0);"), Verdict::Proved);
    assert_eq!(races("out[0] = tex1Dfetch<int>(t, n);"), Verdict::Proved);
    for store in [
        "out[0] = tex1Dfetch<int>(t, i);",
        "out[0] = tex1Dfetch<int>(t, blockIdx.x);",
        "out[0] = tex2D<int>(t, blockIdx.x, 0);",
        "out[tex1Dfetch<int>(t, i)] = i;",
        "out[tex1Dfetch<int>(t, 0)] = i;",
        "out[tex1Dfetch<int>(t, i) + i] = i;",
        "if (tex1Dfetch<int>(t, i) == 7) out[0] = i;",
        "if (tex1Dfetch<int>(t, 0) != tex1Dfetch<int>(t, 1)) out[0] = i;",
        "if (tex2D<float>(t, i, 0) < tex2D<float>(t, i, 0)) out[0] = i;",
    ] {
        assert_ne!(races(store), Verdict::Proved, "{store}");
    }
    assert_eq!(races("out[0] = i; int v = tex1Dfetch<int>(t, i);"), Verdict::Refuted);
}

#[test]
fn an_index_fits_its_type() {
    let text = |index: &str| {
        format!(
            "//@ requires gridDim.x == 1 && w >= 0;
             __global__ void k(float* out, cudaTextureObject_t t, int w) {{
               int i = threadIdx.x; int j = {index}; out[i] = tex1Dfetch<float>(t, j);
             }}"
        )
    };
    assert_eq!(verdict(&text("i + 1000"), Property::Overflow), Verdict::Proved);
    assert_eq!(verdict(&text("i - 1000"), Property::Overflow), Verdict::Proved);
    assert_eq!(verdict(&text("w * 1000 + i"), Property::Overflow), Verdict::Refuted);
}
