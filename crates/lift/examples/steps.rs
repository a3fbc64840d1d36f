//! Prints the values that kernels store as steps of the tables: `steps FILE.ptx [KERNEL]`. With `--lift`, prints the
//! lifted kernels instead; with `--slow`, slow paths as in `slow.txt`.

#![allow(clippy::print_stdout, reason = "a tool")]

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let slow = arguments.iter().any(|argument| argument == "--slow");
    arguments.retain(|argument| argument != "--slow");
    let lifts = arguments.iter().any(|argument| argument == "--lift");
    arguments.retain(|argument| argument != "--lift");
    let text = std::fs::read_to_string(&arguments[0]).expect("a file");
    let program = ptx::lower(&ptx::syntax::parse(&text).module).program;
    let lifted = lift::lift(&program);
    for (id, function) in program.functions.enumerate() {
        if arguments.get(1).is_some_and(|name| *name != function.name) || !function.is_kernel {
            continue;
        }
        let found: Vec<String> = lifted.program.functions[id]
            .instructions()
            .filter_map(|instruction| match &instruction.op {
                ir::Op::Real { function, .. } => Some(format!("{function:?}")),
                _ => None,
            })
            .collect();
        println!("# {} {}", function.name, found.join(" "));
        if slow {
            lift::slow_paths(&program, function).iter().for_each(|text| println!("{text}\n"));
        } else if lifts {
            let function = &lifted.program.functions[id];
            print!("{}", ir::Printed { program: &lifted.program, function });
        } else if arguments.len() > 1 {
            let inputs = function.params.len() - 1;
            for steps in lift::stored_steps(function, inputs) {
                println!("{steps}");
            }
        }
    }
}
