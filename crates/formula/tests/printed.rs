//! Printing a formula gives text that parses to the same tree; random texts are rejected with a span inside of them.

use base::Span;
use formula::{
    Argument, Binary, Definition, Expression, ExpressionKind, Formula, Index, Name, Relation,
    Unary, parse,
};
use proptest::prelude::*;

fn at(kind: ExpressionKind) -> Expression {
    Expression { kind, span: Span::default() }
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: Span::default() }
}

fn expressions() -> impl Strategy<Value = Expression> {
    let number = (0_i64..2000, 1_i64..4, any::<bool>()).prop_map(|(above, below, is_real)| {
        let number = term::Number::ratio(above, 10_i64.pow(u32::try_from(below).unwrap())).unwrap();
        // A number that is not an integer is a real even without a point.
        let is_real = is_real || number.to_i64().is_none();
        at(ExpressionKind::Number(number, is_real))
    });
    let leaf = prop_oneof![
        number,
        prop::sample::select(vec!["i", "j", "eps", "pi"])
            .prop_map(|text| at(ExpressionKind::Name(text.to_owned()))),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let binary = prop::sample::select(vec![
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Divide,
            Binary::FloorDivide,
            Binary::Remainder,
            Binary::Power,
            Binary::And,
            Binary::Or,
        ]);
        let relation = prop::sample::select(vec![
            Relation::Less,
            Relation::LessEqual,
            Relation::Greater,
            Relation::GreaterEqual,
            Relation::Equal,
            Relation::NotEqual,
        ]);
        let boxed = |expression: Expression| Box::new(expression);
        let index = (inner.clone(), inner.clone()).prop_map(|range| {
            Argument::Index(Index { name: name("k"), range: Some(Box::new(range)) })
        });
        prop_oneof![
            (binary, inner.clone(), inner.clone())
                .prop_map(move |(op, a, b)| at(ExpressionKind::Binary(op, boxed(a), boxed(b)))),
            (prop::sample::select(vec![Unary::Negate, Unary::Not]), inner.clone())
                .prop_map(move |(op, a)| at(ExpressionKind::Unary(op, boxed(a)))),
            (inner.clone(), prop::collection::vec((relation, inner.clone()), 1..3)).prop_map(
                move |(first, others)| at(ExpressionKind::Comparison(boxed(first), others))
            ),
            (inner.clone(), inner.clone(), prop::option::of(inner.clone())).prop_map(
                move |(value, condition, otherwise)| at(ExpressionKind::If {
                    value: boxed(value),
                    condition: boxed(condition),
                    otherwise: otherwise.map(boxed),
                })
            ),
            (prop::collection::vec(inner.clone(), 1..3), prop::option::of(inner.clone())).prop_map(
                move |(indices, outside)| at(ExpressionKind::Element {
                    name: name("x"),
                    indices,
                    outside: outside.map(boxed),
                })
            ),
            (index, inner).prop_map(|(index, body)| at(ExpressionKind::Call {
                name: name("sum"),
                arguments: vec![index, Argument::Expression(body)],
            })),
        ]
    })
}

proptest! {
    #[test]
    fn printing_and_reading_is_the_identity(values in prop::collection::vec(expressions(), 1..3)) {
        let definitions = values.into_iter().enumerate().map(|(number, value)| Definition {
            is_let: number > 0,
            name: name(&format!("y{number}")),
            indices: vec![Index { name: name("i"), range: None }],
            value,
        });
        let formula = Formula { definitions: definitions.collect() };
        let text = formula.to_string();
        prop_assert_eq!(parse(&text), Ok(formula), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_inside_of_it(text in "[ -~\n]{0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.span.end as usize <= text.len(), "{:?}", error);
        }
    }
}

/// Numbers that are no short decimals: the smallest and the largest, large integers, many digits.
#[test]
fn each_literal_is_printed_as_a_literal() {
    let nines = "9".repeat(299);
    let long = format!("0.{nines}");
    let numbers =
        ["1e-300", "1e299", "3e50", "100000000000000000000", &nines, &long, "12.5e-60", "-7e-200"];
    for number in numbers {
        let formula = parse(&format!("y[i] = 2^(x[i] - {number}*{number})")).unwrap();
        let text = formula.to_string();
        assert_eq!(parse(&text), Ok(formula), "{text}");
    }
}
