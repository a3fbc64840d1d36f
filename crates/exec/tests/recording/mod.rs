//! A domain that records the engine's queries: values are texts.

#![allow(dead_code, reason = "each test uses some of it")]

use exec::domain::{Binary, Connective, Domain, InputSource, Inputs, Truths, Unary, Value, Values};
use exec::{Access, Argument, Buffer, Contents, Element, Launch, Limits, Mask, Outcome, Results};
use ir::{Format, RealFunction, Relation, Rounding, Scalar};

/// Texts by handle; comparisons are never decided.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    texts: Vec<String>,
}

impl Recording {
    fn push(&mut self, text: String) -> Value {
        self.texts.push(text);
        self.texts.len() as u32
    }

    pub(crate) fn text(&self, value: Value) -> &str {
        &self.texts[value as usize - 1]
    }

    fn each(&mut self, lanes: Mask, out: &mut Values, text: impl Fn(&Self, usize) -> String) {
        for lane in lanes.iter() {
            let text = text(self, lane);
            out[lane] = self.push(text);
        }
    }
}

impl Domain for Recording {
    fn inputs(&mut self, inputs: &Inputs) -> Option<Value> {
        let first = self.texts.len() as u32 + 1;
        for at in 0..inputs.count {
            self.push(match inputs.source {
                InputSource::Buffer(number) => format!("{}{at}", ["x", "y", "z"][number]),
                InputSource::Argument(number, offset) => format!("p{number}.{offset}"),
            });
        }
        Some(first)
    }

    fn constant(&mut self, format: Format, bits: u64) -> Value {
        use exec::concrete::{Conversion, convert};
        let to = Conversion::nearest(Scalar::Float(format), Scalar::Float(Format::F64));
        self.push(format!("{:?}", f64::from_bits(convert(to, bits))))
    }

    fn integer(&mut self, number: i128) -> Value {
        self.push(format!("{number}"))
    }

    fn fma(&mut self, [a, b, c]: [&Values; 3], _: Rounding, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            let [a, b, c] = [a, b, c].map(|values| this.text(values[lane]));
            format!("({a}*{b}+{c})")
        });
    }

    fn binary(&mut self, op: Binary, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            format!("{op:?}({},{})", this.text(a[lane]), this.text(b[lane]))
        });
    }

    fn unary(&mut self, op: Unary, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| format!("{op:?}({})", this.text(a[lane])));
    }

    fn function(
        &mut self,
        (f, _): (RealFunction, Option<ir::ArgumentRange>),
        [a, b]: [&Values; 2],
        lanes: Mask,
        out: &mut Values,
    ) {
        self.each(lanes, out, |this, lane| match f.arguments() {
            1 => format!("{f:?}({})", this.text(a[lane])),
            _ => format!("{f:?}({},{})", this.text(a[lane]), this.text(b[lane])),
        });
    }

    fn compare(&mut self, relation: Relation, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let text = format!("{relation:?}({},{})", self.text(a[lane]), self.text(b[lane]));
            let value = self.push(text);
            out.defer(lane, value);
        }
    }

    fn connect(&mut self, op: Connective, [a, b]: [&Values; 2], lanes: Mask, out: &mut Truths) {
        for lane in lanes.iter() {
            let text = format!("{op:?}({},{})", self.text(a[lane]), self.text(b[lane]));
            let value = self.push(text);
            out.defer(lane, value);
        }
    }

    fn not(&mut self, a: &Values, lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| format!("Not({})", this.text(a[lane])));
    }

    fn select(&mut self, c: &Values, [a, b]: [&Values; 2], lanes: Mask, out: &mut Values) {
        self.each(lanes, out, |this, lane| {
            let [c, a, b] = [c, a, b].map(|values| this.text(values[lane]));
            format!("({c}?{a}:{b})")
        });
    }

    fn round(&mut self, _: Value, _: Rounding) -> Option<i128> {
        None
    }

    fn explain(&self, value: Value) -> String {
        self.text(value).to_owned()
    }
}

/// Runs one warp of a kernel with parameters `x` (opaque), `y` (to be written) and `s` (an opaque single).
/// `body` starts with their addresses in `%rd1` and `%rd2` and `s` in `%f1`; registers of every type are
/// declared.
pub(crate) fn run(
    body: &str,
    input: (Scalar, usize),
    outputs: usize,
) -> (Outcome, Results, Recording) {
    run_threads(body, input, outputs, 1)
}

fn run_threads(
    body: &str,
    (input, inputs): (Scalar, usize),
    outputs: usize,
    threads: u32,
) -> (Outcome, Results, Recording) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64
        .func (.param .b32 r) twice(.param .b32 a) {{ .reg .b32 %q<9>; ld.param.b32 %q1, [a];
            add.f32 %q2, %q1, %q1; st.param.b32 [r], %q2; ret; }}
        .func (.param .b16 r) same(.param .b16 a) {{ .reg .b16 %q<9>; ld.param.b16 %q1, [a];
            st.param.b16 [r], %q1; ret; }}
        .entry k(.param .u64 x, .param .u64 y, .param .f32 s) {{
        .reg .b64 %rd<30>; .reg .b32 %r<30>; .reg .b16 %h<30>; .reg .f32 %f<30>; .reg .f64 %d<30>;
        .reg .pred %p<30>; .reg .b128 %q<4>; .shared .align 16 .b8 sh[256]; .local .align 4 .b8 lo[64];
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [s];
        {body} ret; }}"
    );
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let program = ptx::lower(&parsed.module).program;
    let (kernel, _) = program.functions.enumerate().find(|(_, f)| f.name == "k").unwrap();
    let buffer = |name: &str, contents, access| Buffer {
        name: name.to_owned(),
        element_bytes: 1,
        element: Some(input),
        contents,
        access,
    };
    let bytes = inputs as u64 * u64::from(input.width().bytes());
    let launch = Launch {
        kernel,
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        selected: Vec::new(),
        symbols: Vec::new(),
        buffers: vec![
            buffer("x", Contents::Opaque(bytes), Access::In),
            buffer("y", Contents::Undefined(outputs as u64), Access::Out),
        ],
        arguments: vec![
            Argument::Pointer(0),
            Argument::Pointer(1),
            Argument::Opaque(Some(Scalar::Float(Format::F32))),
        ],
    };
    let mut domain = Recording::default();
    let (outcome, results) = exec::run_in(&program, &launch, Limits::default(), &mut domain);
    (outcome, results, domain)
}

/// Returns the contents of `y` after a kernel, element by element.
pub(crate) fn outputs(body: &str, input: (Scalar, usize), output: (Scalar, usize)) -> Vec<String> {
    outputs_of(body, input, output, 1)
}

/// Like [`outputs`], for 32 threads.
pub(crate) fn outputs_of_warp(
    body: &str,
    input: (Scalar, usize),
    output: (Scalar, usize),
) -> Vec<String> {
    outputs_of(body, input, output, 32)
}

fn outputs_of(
    body: &str,
    input: (Scalar, usize),
    output: (Scalar, usize),
    threads: u32,
) -> Vec<String> {
    let size = output.0.width().bytes() as usize;
    let (outcome, mut results, mut domain) = run_threads(body, input, size * output.1, threads);
    assert_eq!(outcome.gap, None, "{body}");
    assert_eq!(outcome.findings, [], "{body}");
    let element = |at: usize| match results.element(&mut domain, 1, at * size, output.0) {
        Element::Value(value) => domain.text(value).to_owned(),
        Element::Bits(bits) => format!("{bits:#x}"),
        Element::Unwritten => "unwritten".to_owned(),
        Element::Lost(lost) => format!("lost: {}", lost.reason),
    };
    (0..output.1).map(element).collect()
}
