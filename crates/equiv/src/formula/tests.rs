//! Tests of formulas about inputs.

use super::*;

fn printed(text: &str) -> Result<String, FormulaError> {
    let formula = Formula::condition(text).or_else(|_| Formula::expression(text))?;
    let mut inputs = Inputs::new();
    for name in formula.names() {
        inputs.scalar(&name).unwrap();
    }
    let mut terms = Terms::new(inputs.into());
    let known = terms.inputs().clone();
    let resolve = |name: &str| known.find(name, None);
    let inputs: BTreeMap<String, Term> = formula
        .names()
        .into_iter()
        .filter_map(|name| Some((name.clone(), terms.input(resolve(&name)?))))
        .collect();
    let term = formula.term(&mut terms, &|name| inputs.get(name).copied())?;
    Ok(terms.print(term))
}

#[test]
fn conditions_and_expressions_are_told_apart() {
    assert!(Formula::expression("eps > 0").is_err());
    assert!(Formula::condition("eps").is_err());
    let wrong = |text: &str| Formula::condition(text).unwrap_err().to_string();
    assert_eq!(wrong("eps = 0"), "`=` compares nothing; write `==`");
    assert!(Formula::condition("a == b").is_ok() && Formula::condition("a != b").is_ok());
    assert!(wrong("x[3] > 0").contains("all elements"));
    assert!(wrong("foo(x)").contains("not a function"));
    assert!(wrong("sqrt(x, y)").contains("takes 1 number"));
    assert!(Formula::expression("1 + (a < b)").is_err());
    for text in ["", "0 <", "(", "a b", "inf", "a % 2", "not a", "a and b", "-"] {
        assert!(Formula::condition(text).is_err(), "{text}");
    }
}

#[test]
fn chains_are_taken_apart() {
    assert_eq!(printed("0 <= p <= 1"), printed("0 <= p and p <= 1"));
    assert_eq!(printed("1 > p > 0"), printed("p < 1 and 0 < p"));
}

#[test]
fn constants_are_exact_and_names_go_before_them() {
    assert_eq!(printed("scale*log2e"), printed("scale*(1/log(2))"));
    assert_eq!(Formula::expression("4*n").unwrap().names().len(), 1);
    assert_eq!(Formula::expression("0.1").unwrap().value(), Number::ratio(1, 10));
    assert_eq!(Formula::expression("pi").unwrap().value(), None);
    let meanings = BTreeMap::from([("n".to_owned(), Formula::number(Number::from(6)))]);
    let half = Formula::expression("n/4").unwrap().with(&meanings);
    assert_eq!(half.value(), Number::ratio(3, 2));
}
