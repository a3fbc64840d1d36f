//! Every invariant of [`ir::validate`], broken once in a program that is otherwise well formed.
//!
//! Long: an operation of each kind, wrong and right.

use base::{Index, IndexVec, Span};
use ir::{
    Accuracy, Address, AddressBase, Argument, AsyncCopy, Atomic, AtomicOp, BarrierKind, Block,
    BlockId, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary, Format, FuncId,
    Function, Guard, Instr, IntBinary, IntTernary, IntUnary, Launch, Load, MatchMode, Op, Operand,
    Ordering, Param, Program, RealFunction, ReduxOp, Reg, Register, Relation, Rounding, Scalar,
    ShuffleMode, Space, Store, Symbol, SyncOp, Terminator, VarId, Variable, VoteMode, Width,
};

// Numbers of the registers of `function`: a predicate, a half, a word of 32 bits, a long and a wide one.
const P: usize = 0;
const H: usize = 1;
const R: usize = 2;
const L: usize = 3;
const W: usize = 4;
/// No register has this number.
const NONE: usize = 9;

fn reg(number: usize) -> Reg {
    Reg::from_position(number)
}

fn read(number: usize) -> Operand {
    reg(number).into()
}

fn span() -> Span {
    Span { start: 0, end: 0 }
}

fn variable(space: Space) -> Variable {
    Variable {
        name: "v".to_owned(),
        space,
        owner: None,
        element: "b8".to_owned(),
        dimensions: vec![Some(16)],
        size: Some(16),
        align: 16,
        external: false,
        pointee: None,
        initial: Vec::new(),
        relocations: Vec::new(),
        span: span(),
    }
}

fn function(instructions: Vec<Instr>, terminator: Terminator) -> Function {
    let widths = [Width::B1, Width::B16, Width::B32, Width::B64, Width::B128];
    let registers = widths.map(|width| Register { name: format!("{width}"), width });
    let blocks = [Block { instructions, terminator, span: span(), location: None }];
    Function {
        name: "f".to_owned(),
        is_kernel: false,
        params: Vec::new(),
        returns: Vec::new(),
        launch: Launch::default(),
        registers: registers.into_iter().collect::<IndexVec<Reg, Register>>(),
        blocks: blocks.into_iter().collect(),
        span: span(),
    }
}

/// A program of one function, a callee of one parameter, and a shared variable.
fn program(instruction: Option<Instr>, terminator: Terminator) -> Program {
    let mut callee = function(Vec::new(), Terminator::Return);
    callee.params.push(Param::Register(reg(R), Width::B32));
    let caller = function(instruction.into_iter().collect(), terminator);
    Program {
        functions: [caller, callee].into_iter().collect(),
        variables: [variable(Space::Shared)].into_iter().collect(),
        ..Program::default()
    }
}

fn problems(op: Op) -> Vec<String> {
    let instruction = Instr { guard: None, op, span: span(), location: None };
    ir::validate(&program(Some(instruction), Terminator::Return))
}

/// Asserts that the first operation is refused with this message and the second accepted.
#[track_caller]
fn refused(message: &str, wrong: Op, right: Op) {
    let found = problems(wrong.clone());
    assert!(found.iter().any(|found| found.contains(message)), "{wrong:?}: {found:?}");
    assert_eq!(problems(right.clone()), [""; 0], "{right:?}");
}

fn add(width: Width, dst: usize, a: Operand) -> Op {
    Op::IntBinary { op: IntBinary::Add, width, dst: reg(dst), a, b: Operand::Constant(1) }
}

fn at(base: AddressBase) -> Address {
    Address { base, offset: 0 }
}

fn load(dst: usize, width: Width, space: Space, base: AddressBase) -> Op {
    let (dsts, ordering) = (vec![Some(reg(dst))], Ordering::Weak);
    let (address, signed, non_coherent) = (at(base), false, false);
    Op::Load(Load { dsts, width, signed, space, address, ordering, non_coherent })
}

const IN_REGISTER: fn() -> AddressBase = || AddressBase::Register(reg(L));

#[test]
fn mentioned_entities_must_exist() {
    let missing = "does not exist";
    let copy = |dst, src| Op::Copy { dst: reg(dst), src: read(src) };
    refused(missing, copy(NONE, R), copy(R, R));
    refused(missing, copy(R, NONE), copy(R, R));
    let of = |base| load(R, Width::B32, Space::Shared, base);
    let variable = |number| AddressBase::Variable(VarId::from_position(number));
    refused(missing, of(variable(1)), of(variable(0)));
    refused(missing, of(AddressBase::Register(reg(NONE))), of(AddressBase::Register(reg(L))));
    refused("does not fit", of(AddressBase::Register(reg(H))), of(AddressBase::Register(reg(R))));
    let address = |symbol| Op::AddressOf { dst: reg(L), symbol, offset: 0 };
    let symbol = |number| Symbol::Variable(VarId::from_position(number));
    refused(missing, address(symbol(1)), address(symbol(0)));
    let function = |number| Symbol::Function(FuncId::from_position(number));
    refused(missing, address(function(2)), address(function(1)));
    let pass = |number| Op::Call {
        callee: FuncId::from_position(1),
        arguments: vec![Argument::Variable(VarId::from_position(number))],
        returns: Vec::new(),
    };
    refused(missing, pass(1), pass(0));
    let call = |callee| Op::Call {
        callee: FuncId::from_position(callee),
        arguments: vec![Argument::Operand(read(R))],
        returns: Vec::new(),
    };
    refused(missing, call(2), call(1));
}

#[test]
fn predicates_are_one_bit_wide() {
    let guarded = |register| {
        let guard = Some(Guard { register: reg(register), negated: false });
        let op = add(Width::B32, R, read(R));
        let instruction = Instr { guard, op, span: span(), location: None };
        ir::validate(&program(Some(instruction), Terminator::Return))
    };
    assert!(guarded(R)[0].contains("is not b1") && guarded(NONE)[0].contains("is not b1"));
    assert_eq!(guarded(P), [""; 0]);
    let wrong = "is not b1";
    let compare = |dst| Op::IntCompare {
        relation: Relation::Lt,
        signed: true,
        width: Width::B32,
        dst: reg(dst),
        a: read(R),
        b: read(R),
    };
    refused(wrong, compare(R), compare(P));
    let relation = FloatRelation::Order { relation: Relation::Lt, or_unordered: false };
    let floats = |dst| Op::FloatCompare {
        relation,
        format: Format::F32,
        flush: false,
        dst: reg(dst),
        a: read(R),
        b: read(R),
    };
    refused(wrong, floats(R), floats(P));
    let test = |dst| Op::FloatTest {
        property: FloatProperty::Finite,
        format: Format::F32,
        dst: reg(dst),
        a: read(R),
    };
    refused(wrong, test(R), test(P));
    let space = |dst| Op::IsSpace { dst: reg(dst), address: read(L), space: Space::Shared };
    refused(wrong, space(R), space(P));
    let carry = |out| Op::AddCarry {
        width: Width::B32,
        subtract: false,
        dst: reg(R),
        carry_out: Some(reg(out)),
        a: read(R),
        b: read(R),
        carry_in: Some(read(P)),
    };
    refused(wrong, carry(R), carry(P));
    let choose =
        |condition| Op::Select { dst: reg(R), condition, if_true: read(R), if_false: read(R) };
    refused("exceeds b1", choose(Operand::Constant(2)), choose(Operand::Constant(1)));
}

#[test]
fn results_have_the_width_that_is_produced() {
    for (op, right, wrong) in [
        (IntBinary::Add, R, L),
        (IntBinary::Add, R, H),
        (IntBinary::MulWide { signed: true }, L, R),
    ] {
        let make =
            |dst| Op::IntBinary { op, width: Width::B32, dst: reg(dst), a: read(R), b: read(R) };
        refused("wide", make(wrong), make(right));
    }
    let wide = Op::IntBinary {
        op: IntBinary::MulWide { signed: true },
        width: Width::B128,
        dst: reg(W),
        a: read(W),
        b: read(W),
    };
    refused("no register holds the product", wide, add(Width::B64, L, read(L)));
    let count = |dst| Op::IntUnary {
        op: IntUnary::PopulationCount,
        width: Width::B64,
        dst: reg(dst),
        a: read(L),
    };
    refused("is not b32", count(L), count(R));
    let not =
        |dst| Op::IntUnary { op: IntUnary::Not, width: Width::B64, dst: reg(dst), a: read(L) };
    refused("is not b64", not(R), not(L));
    let logic = |dst| Op::IntTernary {
        op: IntTernary::Logic { table: 1 },
        width: Width::B32,
        dst: reg(dst),
        a: read(R),
        b: read(R),
        c: read(R),
    };
    refused("is not b32", logic(L), logic(R));
    let insert = |dst| Op::InsertBits {
        width: Width::B32,
        dst: reg(dst),
        insert: read(R),
        base: read(R),
        position: read(R),
        length: read(R),
    };
    refused("is not b32", insert(L), insert(R));
    let half = Scalar::Float(Format::F16);
    let convert = |dst| Op::Convert {
        dst: reg(dst),
        src: read(R),
        from: Scalar::Float(Format::F32),
        to: half,
        rounding: Rounding::NearestEven,
        flush: false,
        saturate: false,
        finite: false,
        relu: false,
    };
    refused("is not b16", convert(R), convert(H));
}

#[test]
fn operands_are_as_wide_as_what_is_read() {
    let narrow = "is narrower than";
    refused(narrow, add(Width::B32, R, read(H)), add(Width::B32, R, read(L)));
    refused(
        "exceeds b32",
        add(Width::B32, R, Operand::Constant(1 << 32)),
        add(Width::B32, R, Operand::Constant(1 << 31)),
    );
    let shift =
        |b| Op::IntBinary { op: IntBinary::Shl, width: Width::B64, dst: reg(L), a: read(L), b };
    refused(narrow, shift(read(H)), shift(read(R)));
    let copy = |src| Op::Copy { dst: reg(R), src: read(src) };
    refused(narrow, copy(H), copy(L));
    let choose = |if_false| Op::Select {
        dst: reg(R),
        condition: read(P),
        if_true: read(R),
        if_false: read(if_false),
    };
    refused(narrow, choose(H), choose(R));
    let resize = |src| Op::Resize { dst: reg(L), src: read(src), from: Width::B32, signed: true };
    refused(narrow, resize(H), resize(R));
    let extract = |a, b| Op::IntTernary {
        op: IntTernary::ExtractBits { signed: false },
        width: Width::B64,
        dst: reg(L),
        a: read(a),
        b: read(b),
        c: Operand::Constant(3),
    };
    refused(narrow, extract(R, R), extract(L, R));
    refused(narrow, extract(L, H), extract(L, L));
    let insert = |base, position| Op::InsertBits {
        width: Width::B32,
        dst: reg(R),
        insert: read(R),
        base: read(base),
        position: read(position),
        length: read(R),
    };
    refused(narrow, insert(H, R), insert(R, R));
    refused(narrow, insert(R, H), insert(R, L));
    let carry = |carry_in| Op::AddCarry {
        width: Width::B32,
        subtract: false,
        dst: reg(R),
        carry_out: None,
        a: read(R),
        b: read(R),
        carry_in: Some(carry_in),
    };
    refused("exceeds b1", carry(Operand::Constant(2)), carry(read(P)));
    let store = |src| {
        Op::Store(Store {
            srcs: vec![read(src)],
            width: Width::B32,
            space: Space::Global,
            address: at(IN_REGISTER()),
            ordering: Ordering::Weak,
        })
    };
    refused(narrow, store(H), store(L));
    let test = |a| Op::FloatTest {
        property: FloatProperty::Finite,
        format: Format::F32,
        dst: reg(P),
        a: read(a),
    };
    refused(narrow, test(H), test(R));
    let atomic = |dst, a| {
        Op::Atomic(Atomic {
            dsts: vec![Some(reg(dst))],
            op: AtomicOp::Add,
            scalar: Scalar::Float(Format::F16),
            packed: 2,
            a: vec![read(a)],
            b: None,
            space: Space::Global,
            address: at(IN_REGISTER()),
            ordering: Ordering::Weak,
            keeps_subnormals: false,
            skips: ir::Skips::Never,
        })
    };
    refused(narrow, atomic(R, H), atomic(R, R));
    refused("too narrow", atomic(H, R), atomic(L, R));
    let copy = |bytes, ignore| {
        Op::AsyncCopy(AsyncCopy {
            dst: at(IN_REGISTER()),
            src: at(IN_REGISTER()),
            bytes: 4,
            src_bytes: Some(read(bytes)),
            ignore_src: Some(ignore),
        })
    };
    refused(narrow, copy(H, read(P)), copy(R, read(P)));
    refused("exceeds b1", copy(R, Operand::Constant(3)), copy(R, read(P)));
}

#[test]
fn parts_add_up_to_the_whole() {
    let concat = |parts: &[usize]| Op::Concat {
        dst: reg(L),
        parts: parts.iter().map(|&part| read(part)).collect(),
    };
    refused("do not add up to the whole", concat(&[R, R, R]), concat(&[R, R]));
    refused("is narrower than", concat(&[R, H]), concat(&[H, H, H, H]));
    let split = |dsts: &[usize], src| Op::Split {
        dsts: dsts.iter().map(|&dst| Some(reg(dst))).collect(),
        src: read(src),
    };
    refused("do not add up to a register", split(&[R, R, R], W), split(&[R, R, R, R], W));
    refused("is narrower than", split(&[R, R], R), split(&[R, R], L));
    refused("is not b32", split(&[R, H], L), split(&[H, H], R));
}

#[test]
fn floats_fit_a_register() {
    let mode = FloatMode { accuracy: Accuracy::Exact, ..FloatMode::NEAREST };
    let neg = |format, lanes, dst, a| Op::FloatUnary {
        op: FloatUnary::Negate,
        format,
        lanes,
        mode,
        dst: reg(dst),
        a: read(a),
    };
    let right = neg(Format::F32, 2, L, L);
    refused("no register holds these lanes", neg(Format::F32, 3, L, L), right.clone());
    refused("is not b64", neg(Format::F32, 2, R, L), right.clone());
    refused("is narrower than", neg(Format::F32, 2, L, R), right);
    let add = |a| Op::FloatBinary {
        op: FloatBinary::Add,
        format: Format::F16,
        lanes: 2,
        mode,
        dst: reg(R),
        a: read(R),
        b: read(a),
    };
    refused("is narrower than", add(H), add(R));
    let fma = |c| Op::Fma {
        format: Format::F32,
        lanes: 1,
        mode,
        dst: reg(R),
        a: read(R),
        b: read(R),
        c: read(c),
    };
    refused("is narrower than", fma(H), fma(R));
    let exp = |b: Option<Operand>| Op::Real {
        function: RealFunction::Exp,
        range: None,
        format: Format::F32,
        dst: reg(R),
        a: read(R),
        b,
    };
    refused("does not take as many numbers", exp(Some(read(R))), exp(None));
}

#[test]
fn accesses_fit_registers_and_spaces() {
    let of = |dst| load(dst, Width::B32, Space::Global, IN_REGISTER());
    refused("too narrow for what is loaded", of(H), of(L));
    let variable = AddressBase::Variable(VarId::from_position(0));
    let inside = |space| load(R, Width::B32, space, variable);
    for space in [Space::Shared, Space::SharedCluster, Space::Generic] {
        refused("another space than its own", inside(Space::Global), inside(space));
    }
    let store = |space| {
        Op::Store(Store {
            srcs: vec![read(R)],
            width: Width::B32,
            space,
            address: at(variable),
            ordering: Ordering::Weak,
        })
    };
    refused("another space than its own", store(Space::Local), store(Space::Shared));
}

#[test]
fn calls_fit_the_callee() {
    let argument = Argument::Operand(read(R));
    let call = |arguments: usize, returns: usize| Op::Call {
        callee: FuncId::from_position(1),
        arguments: vec![argument; arguments],
        returns: vec![argument; returns],
    };
    for (arguments, returns) in [(0, 0), (2, 0), (1, 1)] {
        refused("does not fit the callee", call(arguments, returns), call(1, 0));
    }
}

#[test]
fn collectives_have_words_and_predicates() {
    let mask = Operand::Constant(u64::from(u32::MAX));
    let sync = |sync| Op::Sync(sync);
    let shuffle = |dst, in_range, value| {
        sync(SyncOp::Shuffle {
            mode: ShuffleMode::Bfly,
            dst: reg(dst),
            in_range: Some(reg(in_range)),
            value: read(value),
            lane: Operand::Constant(1),
            clamp: Operand::Constant(31),
            mask,
        })
    };
    let right = shuffle(R, P, R);
    refused("is not b32", shuffle(L, P, R), right.clone());
    refused("is not b1", shuffle(R, R, R), right.clone());
    refused("is narrower than", shuffle(R, P, H), right);
    let vote =
        |mode, dst, mask| sync(SyncOp::Vote { mode, dst: reg(dst), predicate: read(P), mask });
    refused("is not b32", vote(VoteMode::Ballot, P, mask), vote(VoteMode::Ballot, R, mask));
    refused("is not b1", vote(VoteMode::Any, R, mask), vote(VoteMode::Any, P, mask));
    refused("is narrower than", vote(VoteMode::Any, P, read(H)), vote(VoteMode::Any, P, mask));
    let matches = |dst, all: usize, value| {
        let (mode, all_equal, width) = (MatchMode::All, Some(reg(all)), Width::B64);
        sync(SyncOp::Match { mode, dst: reg(dst), all_equal, value: read(value), width, mask })
    };
    refused("is not b32", matches(L, P, L), matches(R, P, L));
    refused("is not b1", matches(R, R, L), matches(R, P, L));
    refused("is narrower than", matches(R, P, R), matches(R, P, L));
    let redux = |dst, value| {
        sync(SyncOp::Redux { op: ReduxOp::Add, dst: reg(dst), value: read(value), mask })
    };
    refused("is not b32", redux(L, R), redux(R, R));
    refused("is narrower than", redux(R, H), redux(R, R));
    let active = |dst| sync(SyncOp::ActiveMask { dst: reg(dst) });
    refused("is not b32", active(L), active(R));
    let elect = |leader, is_leader| {
        sync(SyncOp::Elect { leader: Some(reg(leader)), is_leader: reg(is_leader), mask })
    };
    refused("is not b32", elect(L, P), elect(R, P));
    refused("is not b1", elect(R, R), elect(R, P));
    let barrier = |kind, id| sync(SyncOp::Barrier { kind, id, count: None, aligned: true });
    let number = Operand::Constant(0);
    let popc = |dst| BarrierKind::Popc { dst: reg(dst), predicate: read(P) };
    refused("is not b32", barrier(popc(P), number), barrier(popc(R), number));
    let all = |dst| BarrierKind::And { dst: reg(dst), predicate: read(P) };
    refused("is not b1", barrier(all(R), number), barrier(all(P), number));
    let wait = |id| barrier(BarrierKind::Sync, id);
    refused("is narrower than", wait(read(H)), wait(read(R)));
    let warp = |mask| sync(SyncOp::WarpBarrier { mask });
    refused("is narrower than", warp(read(H)), warp(mask));
}

#[test]
fn blocks_end_in_targets_that_exist() {
    let ends = |terminator| ir::validate(&program(None, terminator));
    let block = BlockId::from_position;
    assert!(ends(Terminator::Jump(block(1)))[0].contains("a target does not exist"));
    assert_eq!(ends(Terminator::Jump(block(0))), [""; 0]);
    let branch = |register, otherwise| {
        let guard = Guard { register: reg(register), negated: true };
        let (then, otherwise) = (block(0), block(otherwise));
        ends(Terminator::Branch { guard, then, otherwise, uniform: false })
    };
    assert!(branch(P, 1)[0].contains("a target does not exist"));
    assert!(branch(R, 0)[0].contains("is not b1"));
    assert_eq!(branch(P, 0), [""; 0]);
    let table = |index, target| {
        ends(Terminator::Table { index: read(index), targets: vec![block(target)], uniform: false })
    };
    assert!(table(R, 1)[0].contains("a target does not exist"));
    assert!(table(H, 0)[0].contains("is narrower than"));
    assert_eq!(table(R, 0), [""; 0]);
}

#[test]
#[should_panic(expected = "not well formed: f: ")]
fn a_program_that_is_not_well_formed_is_not_run() {
    ir::assert_valid(&program(None, Terminator::Jump(BlockId::from_position(1))));
}
