//! Value numbering for several runs of a launch: the values of inputs and of sums inside matrix instructions.

use exec::domain::{Domain, InputSource, Inputs};
use exec::{Enclosed, Place};
use ir::{Format, Scalar};

fn place(start: u32) -> Place {
    Place { span: base::Span::new(start, start + 1), location: None }
}

fn inputs(number: usize, count: u64) -> Inputs {
    Inputs { source: InputSource::Buffer(number), scalar: Scalar::Float(Format::F16), count }
}

#[test]
fn inputs_of_all_runs_are_the_same() {
    let mut domain = Enclosed::for_several_runs();
    let [a, b] = [0, 1].map(|number| domain.inputs(&inputs(number, 8)).unwrap());
    assert_ne!(a, b);
    assert_eq!(domain.inputs(&inputs(0, 8)), Some(a));
    assert_eq!(domain.inputs(&inputs(1, 8)), Some(b));
    let mut single = Enclosed::numbering();
    assert_ne!(single.inputs(&inputs(0, 8)), single.inputs(&inputs(0, 8)));
}

#[test]
fn a_matrix_instruction_is_a_function_of_its_operands_at_one_place() {
    let mut domain = Enclosed::for_several_runs();
    let x = domain.inputs(&inputs(0, 8)).unwrap();
    let (row, column) = ([x, x + 1], [x + 2, x + 3]);
    // Nothing is known of a sum whose instruction was not announced.
    assert_ne!(domain.dot(&row, &column, x), domain.dot(&row, &column, x));
    assert!(!domain.relies_on_repeatable_products());
    domain.matrix_instruction(place(1));
    let sum = domain.dot(&row, &column, x);
    assert!(!domain.relies_on_repeatable_products());
    assert_eq!(domain.dot(&row, &column, x), sum);
    assert!(domain.relies_on_repeatable_products());
    for other in [
        domain.dot(&column, &row, x),
        domain.dot(&[x + 1, x], &column, x),
        domain.dot(&row, &column, x + 1),
        domain.dot(&row[..1], &column[..1], x),
    ] {
        assert_ne!(other, sum);
    }
    domain.matrix_instruction(place(2));
    assert_ne!(domain.dot(&row, &column, x), sum);
}

#[test]
fn untracked_operands_make_fresh_sums() {
    let mut domain = Enclosed::for_several_runs();
    let x = domain.inputs(&inputs(0, 8)).unwrap();
    domain.matrix_instruction(place(1));
    for (row, start) in [([x, 0], x), ([x, x], 0)] {
        let sums = [0, 1].map(|_| domain.dot(&row, &[x, x], start));
        assert_ne!(sums[0], sums[1]);
    }
}
