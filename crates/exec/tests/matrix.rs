//! Tests matrix instructions: moves, products, waits, and the absence of memory ordering. `hardware.rs`
//! compares fragment layouts and sums with a GPU.

mod launching;
mod recording;

use exec::{Fault, Limits, Outcome};
use ir::{Format, Scalar};
use launching::{Arg, kernel, launch};

const PARAMS: &str = ".param .u64 x, .param .u64 y";
const START: &str = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r8, %tid.x;
    mad.wide.u32 %rd3, %r8, 4, %rd1; mad.wide.u32 %rd4, %r8, 4, %rd2; mov.b32 %r7, tile;";
const TILE: &str = ".shared .align 16 .b8 tile[1024];";

fn run(body: &str, threads: u32, input: Arg, output: usize, check: bool) -> Outcome {
    let program = kernel(TILE, PARAMS, &format!("{START}\n{body}"));
    let block = [threads, 1, 1];
    let launch = launch(&program, "k", [1, 1, 1], block, 0, &[input, Arg::Out(output)]);
    match check {
        true => exec::check(&program, &launch, Limits::default()),
        false => exec::run(&program, &launch, Limits::default()),
    }
}

/// Returns the contents of `y` after a warp, one word for each lane.
fn words(body: &str, input: &[u16]) -> Vec<[u16; 2]> {
    let bytes = input.iter().flat_map(|half| half.to_le_bytes()).collect();
    let outcome = run(body, 32, Arg::In(bytes), 128, true);
    assert_eq!(outcome.gap, None);
    assert_eq!(outcome.findings, []);
    let halves = |bytes: &[u8]| [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    outcome.buffers[1].chunks_exact(4).map(halves).collect()
}

/// Lane `l` loads word `l` of `x` and stores it to the tile, so that the tile is 8 rows of 8 halves.
const FILL: &str = "ld.global.b32 %r1, [%rd3]; mad.lo.u32 %r2, %r8, 4, %r7;
    st.shared.b32 [%r2], %r1; bar.warp.sync -1; and.b32 %r3, %r8, 7;
    mad.lo.u32 %r4, %r3, 16, %r7;";

fn numbered() -> Vec<u16> {
    (0..64).collect()
}

#[test]
fn ldmatrix_gives_each_lane_two_elements_of_a_row() {
    let body = format!(
        "{FILL} ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r4];
        st.global.b32 [%rd4], %r5;"
    );
    let want: Vec<[u16; 2]> = (0..32).map(|lane| [2 * lane, 2 * lane + 1]).collect();
    assert_eq!(words(&body, &numbered()), want);
}

/// Lanes 8 and above need no address.
#[test]
fn transposed_ldmatrix_gives_columns_and_looks_at_eight_addresses() {
    let body = format!(
        "{FILL} setp.gt.u32 %p1, %r8, 7; @%p1 mov.b32 %r4, 0;
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r5}}, [%r4]; st.global.b32 [%rd4], %r5;"
    );
    let element = |row: u16, column: u16| 8 * row + column;
    let lane = |lane: u16| [0, 1].map(|part| element(2 * (lane % 4) + part, lane / 4));
    assert_eq!(words(&body, &numbered()), (0..32).map(lane).collect::<Vec<_>>());
}

#[test]
fn stmatrix_undoes_ldmatrix() {
    for trans in ["", ".trans"] {
        let body = format!(
            "{FILL}
            ldmatrix.sync.aligned.m8n8.x1{trans}.shared.b16 {{%r5}}, [%r4];
            bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x1{trans}.shared.b16 [%r4+512], {{%r5}};
            bar.warp.sync -1; ld.shared.b32 %r6, [%r2+512]; st.global.b32 [%rd4], %r6;"
        );
        let want: Vec<[u16; 2]> = (0..32).map(|lane| [2 * lane, 2 * lane + 1]).collect();
        assert_eq!(words(&body, &numbered()), want, "{trans}");
    }
}

#[test]
fn movmatrix_is_a_transposed_load() {
    let load = |rest: &str| format!("{FILL} {rest} st.global.b32 [%rd4], %r5;");
    let moved = load(
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r4];
        movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r6;",
    );
    let loaded = load("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, [%r4];");
    assert_eq!(words(&moved, &numbered()), words(&loaded, &numbered()));
}

const MMA: &str = "mov.b32 %r1, 0; mov.f32 %f1, 0f00000000;
    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1}, {%r1},
        {%f1, %f1, %f1, %f1};";

/// Lanes that meet at a product are not ordered by it.
#[test]
fn mma_is_no_fence() {
    let exchange = |between: &str| {
        format!(
            "mad.lo.u32 %r2, %r8, 4, %r7; st.shared.b32 [%r2], %r8; {MMA} {between}
            xor.b32 %r3, %r8, 1; mad.lo.u32 %r3, %r3, 4, %r7; ld.shared.b32 %r4, [%r3];
            st.global.b32 [%rd4], %r4;"
        )
    };
    let race = run(&exchange(""), 32, Arg::In(vec![0; 4]), 128, true);
    assert!(matches!(race.findings[..], [ref one] if matches!(one.fault, Fault::Race(_))));
    assert_eq!(
        run(&exchange("bar.warp.sync -1;"), 32, Arg::In(vec![0; 4]), 128, true).findings,
        []
    );
}

/// Each of four lanes reads a row; the lane that gives the address is not among them.
#[test]
fn ldmatrix_reads_for_the_lanes_that_hold_the_row() {
    // Lane r writes row r by itself; lanes 4r to 4r+3 read it.
    let body = |barrier: &str| {
        format!(
            "and.b32 %r3, %r8, 7; mad.lo.u32 %r4, %r3, 16, %r7; setp.lt.u32 %p1, %r8, 8;
            @%p1 st.shared.v4.b32 [%r4], {{%r8, %r8, %r8, %r8}}; {barrier}
            ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r4]; st.global.b32 [%rd4], %r5;"
        )
    };
    let race = run(&body(""), 32, Arg::In(vec![0; 4]), 128, true);
    let [finding] = &race.findings[..] else { panic!("{:?}", race.findings) };
    let Fault::Race(found) = &finding.fault else { panic!("{finding:?}") };
    // Row 0 is written by lane 0 and read by lanes 0 to 3: the first conflict is with lane 1.
    assert_eq!(found.sides.each_ref().map(|side| side.thread.thread[0]), [0, 1]);
    assert_eq!(run(&body("bar.warp.sync -1;"), 32, Arg::In(vec![0; 4]), 128, true).findings, []);
}

#[test]
fn addresses_are_checked_in_the_lane_that_gives_them() {
    let body = |address: &str| {
        format!(
            "{FILL} setp.eq.u32 %p1, %r8, 5; @%p1 {address}
            ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r4];"
        )
    };
    let input = || Arg::In(vec![0; 128]);
    let faults = |address: &str| run(&body(address), 32, input(), 128, false).findings;
    let misaligned = faults("add.u32 %r4, %r4, 8;");
    assert!(matches!(misaligned[..], [ref one] if matches!(one.fault, Fault::Misaligned { .. })));
    assert_eq!(misaligned[0].thread.thread, [5, 0, 0]);
    let outside = faults("add.u32 %r4, %r7, 1024;");
    assert!(matches!(outside[..], [ref one] if matches!(one.fault, Fault::OutOfBounds { .. })));
    assert_eq!(outside[0].thread.thread, [5, 0, 0]);
}

#[test]
fn all_lanes_must_be_there() {
    let missing = |threads: u32, before: &str| {
        let outcome = run(&format!("{before} {MMA}"), threads, Arg::In(vec![0; 4]), 128, false);
        assert_eq!(outcome.gap, None);
        match outcome.findings[..] {
            [ref one] => match one.fault {
                Fault::LanesMissing { missing } => missing,
                ref other => panic!("{other:?}"),
            },
            ref other => panic!("{other:?}"),
        }
    };
    assert_eq!(missing(16, ""), 0xffff_0000);
    assert_eq!(missing(32, "setp.eq.u32 %p1, %r8, 3; @%p1 exit;"), 8);
}

/// Lanes on a longer path are awaited.
#[test]
fn lanes_are_waited_for() {
    let body = format!(
        "setp.lt.u32 %p1, %r8, 7; @%p1 bra LATER; mov.b32 %r3, 1; bra MEET;
        LATER: mov.b32 %r3, 2; add.u32 %r3, %r3, %r3; MEET: {MMA} st.global.b32 [%rd4], %r3;"
    );
    assert_eq!(run(&body, 32, Arg::In(vec![0; 4]), 128, true).findings, []);
}

/// Undefined elements in a row of A make that row of D undefined, and no other.
#[test]
fn undefined_elements_spoil_their_rows() {
    let body = |lane: u32| {
        format!("mov.b32 %r2, 0; mov.b32 %r1, 0; mov.f32 %f1, 0f00000000;
        setp.ne.u32 %p1, %r8, 0; @%p1 mov.b32 %r3, 0;
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {{%r3, %r2}}, {{%r1}},
            {{%f1, %f1, %f1, %f1}};
        setp.ne.u32 %p2, %r8, {lane}; @%p2 bra OUT; st.global.f32 [%rd4], %f1; OUT:")
    };
    let outcome = |lane| run(&body(lane), 32, Arg::In(vec![0; 4]), 128, false).findings.len();
    assert_eq!((outcome(3), outcome(4)), (1, 0));
}

/// An element of D that depends on data is data, even if every lane holds another, undefined accumulator.
#[test]
fn undefined_accumulators_do_not_hide_data() {
    let body = |stored: &str| {
        format!("ld.global.b32 %r1, [%rd1]; mov.f32 %f1, 0f00000000;
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f4, %f5, %f6, %f7}}, {{%r1, %r1}}, {{%r1}},
            {{%f1, %f2, %f1, %f1}};
        setp.gt.f32 %p1, {stored}, 0f00000000; @%p1 bra OUT; st.global.f32 [%rd4], %f1; OUT:")
    };
    let data = run(&body("%f7"), 32, Arg::Opaque(4), 128, false);
    assert!(data.gap.is_some_and(|gap| gap.reason.contains("control flow")), "a number");
    assert_eq!(data.findings.len(), 0);
    assert_eq!(run(&body("%f5"), 32, Arg::Opaque(4), 128, false).findings.len(), 1);
}

/// A tile written by `wmma.store` is not ordered before ordinary loads, nor before a load as A; a load as C
/// may follow.
#[test]
fn wmma_stores_are_seen_after_a_barrier() {
    let fragment = "{%r1, %r1, %r1, %r1}";
    let store = format!(
        "mov.b32 %r1, 0;
        wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r7], {fragment};"
    );
    let reads = [
        ("mad.lo.u32 %r2, %r8, 4, %r7; ld.shared.b32 %r3, [%r2];", true),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r1, %r2}, [%r7];",
            true,
        ),
        ("wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4}, [%r7];", false),
    ];
    for (read, races) in reads {
        let findings = |barrier: &str| {
            let body = format!("{store} {barrier} {read}");
            let outcome = run(&body, 32, Arg::In(vec![0; 4]), 128, true);
            assert_eq!(outcome.gap, None);
            outcome.findings.len() + outcome.undecided.len()
        };
        assert_eq!(findings("") > 0, races, "{read}");
        assert_eq!(findings("bar.warp.sync -1;"), 0, "{read}");
    }
}

/// In a run with a domain, products are chains of multiply-adds in ascending order.
#[test]
fn products_ask_the_domain() {
    let half = Scalar::Float(Format::F16);
    let body = "mov.u32 %r9, %tid.x; mad.wide.u32 %rd3, %r9, 4, %rd1;
        ld.global.b32 %r1, [%rd3]; ld.global.b32 %r2, [%rd3+128]; ld.global.b32 %r3, [%rd3];
        mov.f32 %f2, 0f00000000;
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r1, %r2}, {%r3},
            {%f2, %f2, %f2, %f2};
        mad.wide.u32 %rd4, %r9, 8, %rd2; st.global.v2.f32 [%rd4], {%f3, %f4};";
    let outputs = recording::outputs_of_warp(body, (half, 128), (Scalar::Float(Format::F32), 64));
    // Rows of A and columns of B are the same 8×8 matrix, so D is its product with its transpose.
    let want = |row: usize, column: usize| {
        (0..8).fold("0.0".to_owned(), |sum, k| {
            format!("(x{}*x{}+{sum})", 8 * row + k, 8 * column + k)
        })
    };
    for row in 0..8 {
        for column in 0..8 {
            assert_eq!(outputs[8 * row + column], want(row, column));
        }
    }
}
