//! Structures of inputs: `:lower`, `:upper`, `:symmetric`, `:mask`.
//!
//! Compares random forms of degree two over a matrix of three by three. The right answer comes from all matrices of -1,
//! 0 and 1 with the structure: two polynomials of degree two in each variable are the same if they agree on those.

use crate::answer_with;
use crate::corpus::Flags;
use driver::arguments::AssumeSpec;
use driver::equiv::Options;
use driver::{Colour, Exit, Input, Outcome, check};
use proptest::prelude::*;
use std::fmt::Write;

/// `A[one] * A[other]`, with a count.
type Product = (i64, usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Structure {
    None,
    Lower,
    Upper,
    Symmetric,
    /// A bit for each element.
    Mask(u16),
}

impl Structure {
    fn text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Lower => ":lower".to_owned(),
            Self::Upper => ":upper".to_owned(),
            Self::Symmetric => ":symmetric".to_owned(),
            Self::Mask(bits) => {
                let digits: Vec<String> = (0..9).map(|at| (bits >> at & 1).to_string()).collect();
                format!(":mask=[{}]", digits.join(","))
            }
        }
    }

    /// Returns `true` if a matrix has the structure.
    fn holds(self, a: &[[i64; 3]; 3]) -> bool {
        let pairs = || (0..3).flat_map(|row| (0..3).map(move |column| (row, column)));
        match self {
            Self::None => true,
            Self::Lower => [a[0][1], a[0][2], a[1][2]] == [0; 3],
            Self::Upper => [a[1][0], a[2][0], a[2][1]] == [0; 3],
            Self::Symmetric => pairs().all(|(row, column)| a[row][column] == a[column][row]),
            Self::Mask(bits) => pairs().all(|(i, j)| bits >> (3 * i + j) & 1 == 1 || a[i][j] == 0),
        }
    }

    /// All matrices of -1, 0 and 1 with the structure.
    fn matrices(self) -> Vec<[i64; 9]> {
        let digit = |number: usize, at: u32| (number / 3_usize.pow(at) % 3) as i64 - 1;
        let all = (0..3_usize.pow(9)).map(|number| {
            let own = |row: u32| [0, 1, 2].map(|column| digit(number, 3 * row + column));
            [0, 1, 2].map(own)
        });
        all.filter(|matrix| self.holds(matrix))
            .map(|[[a, b, c], [d, e, f], [g, h, i]]| [a, b, c, d, e, f, g, h, i])
            .collect()
    }

    /// The element it is equal to, or `None` if it is zero.
    fn same(self, at: usize) -> Option<usize> {
        let (row, column) = (at / 3, at % 3);
        match self {
            Self::Lower if column > row => None,
            Self::Upper if column < row => None,
            Self::Mask(bits) if bits >> at & 1 == 0 => None,
            Self::Symmetric => Some(3 * column + row),
            _ => Some(at),
        }
    }
}

/// The representation of elements.
#[derive(Clone, Copy, Debug)]
struct Kind {
    element: &'static str,
    bytes: usize,
    load: &'static str,
    is_float: bool,
}

const KINDS: [Kind; 5] = [
    Kind { element: "f32", bytes: 4, load: "ld.global.f32 %f@, [%rd1+#];", is_float: true },
    Kind {
        element: "f16",
        bytes: 2,
        load: "ld.global.b16 %h1, [%rd1+#]; cvt.f32.f16 %f@, %h1;",
        is_float: true,
    },
    Kind { element: "s32", bytes: 4, load: "ld.global.s32 %r@, [%rd1+#];", is_float: false },
    Kind { element: "s8", bytes: 1, load: "ld.global.s8 %r@, [%rd1+#];", is_float: false },
    Kind {
        element: "s16",
        bytes: 2,
        load: "ld.global.s16 %h1, [%rd1+#]; cvt.s32.s16 %r@, %h1;",
        is_float: false,
    },
];

/// A kernel of one thread that writes the sum of some products.
fn kernel(kind: Kind, (row, column): (usize, usize), products: &[Product]) -> Input {
    let mut body = String::from("mov.b32 %r9, 0; mov.b32 %f9, %r9;\n");
    for (count, one, other) in products {
        for (register, element) in [("1", one), ("2", other)] {
            let offset = (element / 3 * row + element % 3 * column) * kind.bytes;
            let load = kind.load.replace('@', register).replace('#', &offset.to_string());
            writeln!(body, "{load}").unwrap();
        }
        let add = match kind.is_float {
            true => format!(
                "mul.f32 %f3, %f1, 0f{:08X}; fma.rn.f32 %f9, %f3, %f2, %f9;",
                (*count as f32).to_bits()
            ),
            false => format!("mul.lo.s32 %r3, %r1, {count}; mad.lo.s32 %r9, %r3, %r2, %r9;"),
        };
        writeln!(body, "{add}").unwrap();
    }
    let store =
        if kind.is_float { "st.global.f32 [%rd2], %f9;" } else { "st.global.s32 [%rd2], %r9;" };
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 A, .param .u64 y) {{
        .reg .b16 %h<4>; .reg .f32 %f<10>; .reg .b32 %r<10>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [A]; ld.param.u64 %rd2, [y];\n{body}{store} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn sum(products: &[Product], a: &[i64; 9]) -> i64 {
    products.iter().map(|(count, one, other)| count * a[*one] * a[*other]).sum()
}

/// Rewrites the products with the structure, in another order; sometimes with an error.
fn rewritten(
    products: &[Product],
    structure: Structure,
    choices: &[u8],
    mistake: u8,
) -> Vec<Product> {
    let mut all = Vec::new();
    for ((count, one, other), choice) in products.iter().zip(choices) {
        let moved = |at: usize, bit: u8| match choice & bit {
            0 => Some(at),
            _ => structure.same(at),
        };
        let (Some(one), Some(other)) = (moved(*one, 1), moved(*other, 2)) else { continue };
        all.push(if choice & 4 == 0 { (*count, one, other) } else { (*count, other, one) });
    }
    all.reverse();
    let at = usize::from(mistake) % all.len().max(1);
    match (all.get_mut(at), mistake >> 4) {
        (Some(product), 0 | 1) => product.1 = (product.1 + 1) % 9,
        (Some(product), 2 | 3) => product.2 = 3 * (product.2 % 3) + product.2 / 3,
        (Some(product), 4) => product.0 += 1,
        (Some(_), 5) => {
            all.remove(at);
        }
        _ => {}
    }
    all
}

fn structure() -> impl Strategy<Value = Structure> {
    prop_oneof![
        Just(Structure::None),
        Just(Structure::Lower),
        Just(Structure::Upper),
        Just(Structure::Symmetric),
        (0_u16..512).prop_map(Structure::Mask),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forms_are_equal_if_no_matrix_of_the_structure_tells_them_apart(
        structure in structure(),
        kind in proptest::sample::select(KINDS.to_vec()),
        strides in proptest::sample::select(vec![None, Some((3, 1)), Some((1, 3)), Some((5, 1)), Some((2, 7))]),
        products in proptest::collection::vec((-2_i64..3, 0_usize..9, 0_usize..9), 1..7),
        choices in proptest::collection::vec(any::<u8>(), 7),
        mistake in any::<u8>(),
    ) {
        let other = rewritten(&products, structure, &choices, mistake);
        let differs = |a: &[i64; 9]| sum(&products, a) != sum(&other, a);
        let expected = match structure.matrices().iter().any(differs) {
            true => Exit::Refuted,
            false => Exit::Success,
        };
        let place = strides.unwrap_or((3, 1));
        let inputs = [&products, &other].map(|products| kernel(kind, place, products));
        let strides = strides.map_or(String::new(), |(row, column)| format!("@[{row},{column}]"));
        let range = if kind.is_float { "" } else { ":-1..2" };
        let out = if kind.is_float { "f32" } else { "s32" };
        let (element, said) = (kind.element, structure.text());
        let flags = format!(
            "--grid 1 --block 1 --arg A={element}[3,3]{strides}{range}{said} --arg y={out}[1]:out"
        );
        let options = Options { recheck: true, ..Options::default() };
        let both = [&flags, &flags].map(|flags| Flags::parse(flags));
        let (exit, text) = answer_with(inputs.each_ref(), [None; 2], &both, &options);
        prop_assert_eq!(exit, expected, "{}\n{:?}\n{:?}\n{}", flags, products, other, text);
    }
}

const FIRST: &str = "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1;";

/// A kernel of one thread over `A` and `y`.
fn plain(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 A, .param .u64 y) {{
        .reg .f32 %f<10>; .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [A]; ld.param.u64 %rd2, [y];\n{body} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn ask(bodies: [&str; 2], flags: [&str; 2], assume: &[&str]) -> (Exit, String) {
    let inputs = bodies.map(plain);
    let flags = flags.map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    let assumptions: Vec<AssumeSpec> = assume.iter().map(|text| text.parse().unwrap()).collect();
    let options = Options { assumptions: &assumptions, recheck: true, ..Options::default() };
    answer_with(inputs.each_ref(), [None; 2], &flags, &options)
}

fn check(flags: &Flags, input: &Input) -> Outcome {
    flags.run_only(input, |one| check::run(one, check::Options::default(), Colour::Plain))
}

#[test]
fn the_report_lists_what_is_said() {
    for (said, sentence) in [
        (":lower", "`A` is zero above the diagonal (:lower)"),
        (":upper", "`A` is zero below the diagonal (:upper)"),
        (":symmetric", "`A` is the same as its transpose (:symmetric)"),
        (":mask=[1,0,1,1]", "`A` is zero where its mask is 0 (:mask)"),
    ] {
        let flags = format!("--arg A=f32[2,2]{said} --arg y=f32[1]:out");
        let (exit, text) = ask([FIRST; 2], [&flags; 2], &[]);
        assert!(exit == Exit::Success && text.contains(sentence), "{text}");
        let flags = Flags::parse(&format!("--grid 1 --block 1 {flags}"));
        let input = plain(FIRST);
        let outcome = check(&flags, &input);
        assert!(outcome.output.contains(sentence), "{}", outcome.output);
    }
}

#[test]
fn both_sides_must_say_the_same() {
    let [plain, lower, flat] = ["f32[2,2]", "f32[2,2]:lower", "f32[4]:mask=[1,0,1,1]"]
        .map(|kind| format!("--arg A={kind} --arg y=f32[1]:out"));
    let (exit, text) = ask([FIRST; 2], [&plain, &lower], &[]);
    assert!(exit == Exit::Unknown && text.contains("a different structure"), "{text}");
    assert_eq!(ask([FIRST; 2], [&flat, &lower], &[]).0, Exit::Success);
}

/// Assumptions are about all elements, even those that are zero.
#[test]
fn assumptions_fit_the_structure() {
    let lower = "--arg A=f32[2,2]:lower --arg y=f32[1]:out";
    let (exit, text) = ask([FIRST; 2], [lower; 2], &["A > 0"]);
    assert_ne!(exit, Exit::Success, "{text}");
    assert!(text.contains("`A > 0` does not hold for all elements of `A`"), "{text}");
    assert_eq!(ask([FIRST; 2], [lower; 2], &["A >= 0"]).0, Exit::Success);
    let absolute = "ld.global.f32 %f1, [%rd1]; abs.f32 %f1, %f1; st.global.f32 [%rd2], %f1;";
    assert_eq!(ask([FIRST, absolute], [lower; 2], &["A >= 0"]).0, Exit::Success);
    assert_eq!(ask([FIRST, absolute], [lower; 2], &[]).0, Exit::Refuted);
    // A statement about one of two equal elements holds for both.
    let symmetric = "--arg A=f32[2,2]:symmetric --arg B=f32[2,2] --arg y=f32[1]:out";
    let kernel = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64
            .entry k(.param .u64 A, .param .u64 B, .param .u64 y) {{
            .reg .f32 %f<10>; .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [A]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [B];
            ld.global.f32 %f1, [%rd1+4]; ld.global.f32 %f2, [%rd1+8];
            ld.global.f32 %f3, [%rd3+4]; ld.global.f32 %f4, [%rd3+8];
            {body} st.global.f32 [%rd2], %f5; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    // The larger of A[0,1] and B[1,0]: `A[1,0] >= B[1,0]` also holds for A[0,1].
    let inputs = [kernel("max.f32 %f5, %f1, %f4;"), kernel("mov.f32 %f5, %f2;")];
    let assumptions: Vec<AssumeSpec> = vec!["A >= B".parse().unwrap()];
    let options = Options { assumptions: &assumptions, recheck: true, ..Options::default() };
    let flags = [symmetric; 2].map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    let (exit, text) = answer_with(inputs.each_ref(), [None; 2], &flags, &options);
    assert_eq!(exit, Exit::Success, "{text}");
    let any = symmetric.replace(":symmetric", "");
    let flags = [&any; 2].map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    let (exit, text) = answer_with(inputs.each_ref(), [None; 2], &flags, &options);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

#[test]
fn indices_that_are_zero_are_known_to_check() {
    // y[A[1]] = A[0]: in bounds if the index is zero.
    let body = "ld.global.u32 %r1, [%rd1+4]; ld.global.f32 %f1, [%rd1]; mul.wide.u32 %rd1, %r1, 4;
        add.u64 %rd2, %rd2, %rd1; st.global.f32 [%rd2], %f1;";
    let input = plain(body);
    let exit = |kind: &str| {
        let flags = format!("--grid 1 --block 1 --arg A=u32[2]{kind} --arg y=f32[1]:out");
        let flags = Flags::parse(&flags);
        check(&flags, &input).exit
    };
    assert_eq!(exit(":mask=[1,0]"), Exit::Success);
    assert_ne!(exit(":mask=[0,1]"), Exit::Success);
    assert_ne!(exit(""), Exit::Success);
}

#[test]
fn aliases_say_the_same() {
    let copy = "ld.global.f32 %f1, [%rd1+4]; st.global.f32 [%rd2], %f1;";
    let flags = |one: &str, other: &str| {
        format!("--arg A=f32[2,2]{one} --arg y=f32[2,2]:inout{other} --alias A,y")
    };
    for (one, other, wanted) in [
        (":lower", "", "different initial contents or structures"),
        (":lower", ":upper", "different initial contents or structures"),
        (":symmetric", "", "have different structures"),
    ] {
        let flags = flags(one, other);
        let (exit, text) = ask([copy; 2], [&flags; 2], &[]);
        assert!(exit != Exit::Success && text.contains(wanted), "{text}");
    }
    let both = flags(":lower", ":lower");
    assert_eq!(ask([copy; 2], [&both; 2], &[]).0, Exit::Success);
    let zero = "mov.f32 %f1, 0f00000000; st.global.f32 [%rd2], %f1;";
    assert_eq!(ask([copy, zero], [&both; 2], &[]).0, Exit::Success);
}

/// `y = A[0] + A[1]`, and the same via numbers that overflow: inputs in floats have the structure, too.
#[test]
fn inputs_in_floats_have_the_structure() {
    let load = "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];";
    let sum = format!("{load} add.f32 %f3, %f1, %f2; st.global.f32 [%rd2], %f3;");
    let large = format!(
        "{load} mul.f32 %f1, %f1, 0f7E800000; mul.f32 %f2, %f2, 0f7E800000; add.f32 %f3, %f1, %f2;
        mul.f32 %f3, %f3, 0f00800000; st.global.f32 [%rd2], %f3;"
    );
    let flags = "--arg A=f32[2]:mask=[1,0] --arg y=f32[1]:out";
    let (exit, text) = ask([&sum, &large], [flags; 2], &[]);
    assert!(exit == Exit::Success && text.contains(", 0]\n"), "{text}");
    let flags = "--arg A=f32[2] --arg y=f32[1]:out";
    let (exit, text) = ask([&sum, &large], [flags; 2], &[]);
    assert!(exit == Exit::Success && text.contains("everywhere\n"), "{text}");
}

/// A tensor that an earlier launch writes cannot have a structure.
#[test]
fn later_launches_find_what_earlier_ones_leave() {
    let first =
        plain("mov.f32 %f1, 0f3F800000; st.global.f32 [%rd1+4], %f1; st.global.f32 [%rd2], %f1;");
    let second = plain("ld.global.f32 %f1, [%rd1+4]; st.global.f32 [%rd2], %f1;");
    let zero = plain("mov.f32 %f1, 0f00000000; st.global.f32 [%rd2], %f1;");
    let one = plain("mov.f32 %f1, 0f3F800000; st.global.f32 [%rd2], %f1;");
    let flags = |said: &str| {
        Flags::parse(&format!("--grid 1 --block 1 --arg A=f32[2,2]:inout{said} --arg y=f32[1]:out"))
    };
    let (lower, any) = (flags(":lower"), flags(""));
    let answer = |last: &Flags, other: &Input| {
        let outcome = lower.hand(&first, None, |begin| {
            last.hand(&second, None, |end| {
                last.hand(other, None, |other| {
                    let sides = [&[*begin, *end][..], &[*begin, *other]];
                    driver::equiv::run_sequences(sides, &Options::default(), Colour::Plain)
                })
            })
        });
        (outcome.exit, outcome.output + &outcome.messages)
    };
    assert_eq!(answer(&any, &one).0, Exit::Success);
    assert_eq!(answer(&any, &zero).0, Exit::Refuted);
    for other in [&one, &zero] {
        let (exit, text) = answer(&lower, other);
        assert_eq!(exit, Exit::BadInput, "{text}");
        assert!(text.contains("it can have no structure"), "{text}");
    }
}
