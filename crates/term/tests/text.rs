//! The text form: printed terms read back as the same term.

use std::sync::Arc;
use term::text::{Scope, parse_expression, parse_script, run};
use term::{Inputs, Terms};

fn round_trip(text: &str) -> String {
    let script = parse_script("input x[4], y").unwrap();
    let (mut scope, inputs): (Scope, Inputs) = Scope::declare(&script, &[]).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let term = scope.term(&mut terms, &parse_expression(text).unwrap()).unwrap();
    terms.print(term)
}

#[test]
fn printing_is_a_fixed_point_of_reading() {
    for text in [
        "x[0]*y + x[1] - (x[2] - y)*x[3]",
        "-(x[0] + y)^2 / (y/x[1])",
        "if(x[0] < y and not (x[1] <= y or x[2] == 3/4), exp(x[0]), log(y))",
        "max(x[0], min(y, -1/3)) - abs(-y)",
        "(x[0]^(-1/2))^2 * tanh(pi) + cbrt(y)",
        "1e-5 + 0.25*y",
        "softsign(y) * x[0]",
        "2^(1/2) * y - (-3)*x[0]*(x[1]*x[2])",
    ] {
        let once = round_trip(text);
        assert_eq!(round_trip(&once), once, "{text}");
    }
}

#[test]
fn scripts_run_loops_forwards_and_backwards() {
    let text = "size n in 3\ninput x[n]\nreference {\n s = 0\n for i in reverse 0..n { s = s + x[i]*i }\n out s\n}\n";
    let script = parse_script(text).unwrap();
    let (scope, inputs) = Scope::declare(&script, &[("n".to_owned(), 3)]).unwrap();
    let mut terms = Terms::new(Arc::new(inputs));
    let results = run(&scope, &mut terms, &script.sections[0].body).unwrap();
    assert_eq!(terms.print(results[0]), "2*x[2] + x[1]");
}

#[test]
fn bad_text_is_an_error_with_a_line() {
    assert!(parse_expression("x +").is_err());
    assert!(parse_expression(&"(".repeat(100_000)).is_err());
    let error = parse_script("input x\nreference {\n out x ) \n}\n").unwrap_err();
    assert_eq!(error.line, 3);
}
