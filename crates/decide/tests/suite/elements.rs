//! Elements of tensors read by computed index: equal for equal indices, otherwise different at a point that includes
//! the elements.

use decide::{Budget, Decision, Problem, Value, decide, evaluate, lookups};
use std::sync::Arc;
use term::{Function, Input, Inputs, Number, Numbers, Term, Terms};

/// A table of 12 elements and two numbers of rows below 3.
fn store() -> (Terms, Input, [Term; 2]) {
    let mut inputs = Inputs::new();
    let table = inputs.tensor("table", 12).unwrap();
    let rows = inputs.tensor("row", 2).unwrap();
    inputs.describe(&[2], Numbers::Integers(0, 2));
    let second = inputs.at(rows.position() + 1).unwrap();
    let terms = Terms::new(Arc::new(inputs));
    let rows = [rows, second].map(|row| terms.input(row));
    (terms, table, rows)
}

/// `table[4·row + column]`
fn element(terms: &mut Terms, table: Input, row: Term, column: i64) -> Term {
    let (four, column) = (terms.integer(4), terms.integer(column));
    let place = terms.fused_multiply_add(four, row, column);
    terms.apply(Function::Element(table), place)
}

fn answer(terms: &Terms, pair: (Term, Term)) -> Decision {
    let problem = Problem { reference: terms, optimised: terms, assumptions: &[] };
    decide(&problem, &[pair], &Budget::default()).remove(0)
}

#[test]
fn equal_places_are_equal_elements() {
    let (mut terms, table, [row, other]) = store();
    let one = element(&mut terms, table, row, 3);
    // 2·(row + row) + 3, written otherwise.
    let (two, three) = (terms.integer(2), terms.integer(3));
    let twice = terms.add(row, row);
    let place = terms.fused_multiply_add(two, twice, three);
    let same = terms.apply(Function::Element(table), place);
    assert!(answer(&terms, (one, same)).is_equal());
    let next = element(&mut terms, table, row, 2);
    let elsewhere = element(&mut terms, table, other, 3);
    for different in [next, elsewhere] {
        let sum = terms.add(one, row);
        let changed = terms.add(different, row);
        let Decision::Different { point, .. } = answer(&terms, (sum, changed)) else {
            panic!("{:?}", answer(&terms, (sum, changed)));
        };
        let names: Vec<String> = point.iter().map(|(at, _)| terms.inputs().name(*at)).collect();
        let elements = names.iter().filter(|name| name.starts_with("table")).count();
        assert_eq!(elements, 2, "{names:?}");
    }
}

#[test]
fn elements_have_the_values_of_their_inputs() {
    let (mut terms, table, [row, _]) = store();
    let one = element(&mut terms, table, row, 1);
    assert_eq!(lookups(&terms, one).len(), 1);
    let at = |row: i64| {
        let point = move |input: Input| match input.position() {
            12.. => Number::from(row),
            position => Number::from(100 + position as i64),
        };
        evaluate(&terms, &[one], &point).remove(0)
    };
    for row in 0..3 {
        let Value::Real(value) = at(row) else { panic!("{row}") };
        assert_eq!(value.to_f64_lossy(), (101 + 4 * row) as f64);
    }
    // Past the last element nothing is claimed.
    assert_eq!(at(3), Value::Unsure);
    assert_eq!(at(-1), Value::Unsure);
}
