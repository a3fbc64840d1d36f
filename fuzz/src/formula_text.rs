//! Any text as a formula: it is refused at a place inside the text, or its printed form parses to the same tree. It
//! compiles to well-formed programs or is refused.

use formula::{Environment, KnownScalar, ScalarInput, Tensor, compile, parse};
use ir::{Format, Scalar, Width};

fn environment() -> Environment {
    let integer = Scalar::Integer { width: Width::B32, signed: true };
    let tensor = |name: &str, scalar, shape: &[u64], is_output: bool| Tensor {
        name: name.to_owned(),
        scalar,
        shape: shape.to_vec(),
        range: None,
        is_input: !is_output,
        is_output,
        is_required: false,
    };
    let float = Scalar::Float(Format::F32);
    let scalar = |name: &str, value| ScalarInput { name: name.to_owned(), value };
    Environment {
        tensors: vec![
            tensor("x", float, &[3, 4], false),
            tensor("v", float, &[4], false),
            tensor("t", integer, &[4], false),
            tensor("y", float, &[3, 4], true),
            tensor("z", integer, &[4], true),
        ],
        scalars: vec![
            scalar("n", KnownScalar::Integer(4)),
            scalar("a", KnownScalar::Parameter(float)),
        ],
        ..Environment::default()
    }
}

/// Runs the target.
pub fn fuzz(bytes: &[u8]) {
    let text = crate::text(bytes);
    let formula = match parse(text) {
        Ok(formula) => formula,
        Err(error) => {
            assert!(error.span.end as usize <= text.len(), "{error:?}");
            return;
        }
    };
    let printed = formula.to_string();
    assert_eq!(parse(&printed), Ok(formula.clone()), "{printed}");
    match compile(&formula, &environment(), text) {
        Ok(compiled) => compiled.launches.iter().for_each(|launch| {
            ir::assert_valid(&launch.reals);
            ir::assert_valid(&launch.bits);
        }),
        Err(error) => assert!(error.span.end as usize <= text.len(), "{error:?}"),
    }
}
