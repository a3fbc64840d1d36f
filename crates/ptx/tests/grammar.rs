//! The whole grammar, on one file with every construct.

use ptx::syntax::ast::{Item, Statement};
use ptx::syntax::{parse, print};

const EVERYTHING: &str = include_str!("grammar/everything.ptx");

#[test]
fn every_construct_is_read_and_printed() {
    let first = parse(EVERYTHING);
    assert!(first.errors.is_empty(), "{:#?}", first.errors);
    let printed = print(&first.module);
    let second = parse(&printed);
    assert!(second.errors.is_empty(), "{:#?}\n{printed}", second.errors);
    assert_eq!(first.module, second.module);
}

#[test]
fn lowering_it_refuses_what_is_not_modelled_and_nothing_else() {
    let parsed = parse(EVERYTHING);
    let lowered = ptx::lower(&parsed.module);
    let messages: Vec<&str> = lowered.diagnostics.iter().map(|d| &*d.message).collect();
    snapbox::assert_data_eq!(
        messages.join("\n"),
        snapbox::file!["grammar/everything.diagnostics"].raw()
    );
    assert_eq!(ir::validate(&lowered.program), [""; 0]);
}

#[test]
fn initialisers_become_bytes() {
    let lowered = ptx::lower(&parse(EVERYTHING).module);
    let contents = |name: &str| {
        let variable = lowered.program.variables.iter().find(|v| v.name == name).unwrap();
        (variable.initial.clone(), variable.relocations.clone())
    };
    let word = |value: i64| value.to_le_bytes().to_vec();
    // C's precedence and the manual's types: ((1+6-2)<<2 | (0x10 & ~7) ^ 1) && 1.
    assert_eq!(contents("expression").0, word(1));
    assert_eq!(contents("remainders").0, word(4));
    assert_eq!(contents("cast").0, word(15));
    assert_eq!(contents("warp_size").0, 32u32.to_le_bytes());
    let literals: Vec<u8> =
        [15u32, 5, 0x1F79, 42, 0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(contents("literals").0, literals);
    let floats = [1.0f32, 2.5, 0.5, -1.0, 0.0, 0.0, 1.0, 1e-3];
    let floats: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(contents("pairs").0, floats, "missing elements are zero");
    let (_, relocations) = contents("pointer");
    assert_eq!((relocations[0].addend, relocations[0].generic), (4, true));
    let (_, relocations) = contents("byte_of_pointer");
    let shifts: Vec<_> = relocations.iter().map(|r| (r.at, r.bytes, r.shift)).collect();
    assert_eq!(shifts, [(0, 1, 0), (1, 1, 8), (2, 1, 16)]);
}

#[test]
fn source_lines_follow_inlining() {
    let lowered = ptx::lower(&parse(EVERYTHING).module);
    let program = &lowered.program;
    let kernel = program.functions.iter().find(|f| f.name == "parameters").unwrap();
    let location = |index: usize| {
        let id = kernel.instructions().nth(index).unwrap().location.unwrap();
        program.locations[id].clone()
    };
    let first = location(0);
    assert_eq!((first.line, program.files[first.file.unwrap()].as_str()), (9, "a file.cu"));
    let (name, call) = first.inlined_at.unwrap();
    assert_eq!(name.as_deref(), Some("_Z3f"));
    assert_eq!(program.locations[call].line, 21);
    // The second is inlined into the first: the chain goes through both.
    let (_, call) = location(1).inlined_at.unwrap();
    assert_eq!(program.locations[call].line, 9);
    let (_, outer) = program.locations[call].inlined_at.clone().unwrap();
    assert_eq!(program.locations[outer].line, 21);
}

#[test]
fn inner_names_hide_outer_ones() {
    let parsed = parse(EVERYTHING);
    let Some(Item::Function(function)) = parsed.module.items.iter().find(
        |item| matches!(item, Item::Function(function) if function.name.text == "parameters"),
    ) else {
        panic!("no such kernel")
    };
    let blocks = function.body.as_ref().unwrap().statements.iter();
    assert_eq!(blocks.filter(|s| matches!(s, Statement::Block(_))).count(), 3);
    let lowered = ptx::lower(&parsed.module);
    let kernel = lowered.program.functions.iter().find(|f| f.name == "parameters").unwrap();
    let named = |name: &str| kernel.registers.iter().filter(|r| r.name == name).count();
    assert_eq!((named("%p1"), named("%r1"), named("%r2")), (2, 2, 1));
}
