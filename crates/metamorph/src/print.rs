//! Prints kernels as CUDA C++, with their contract in comments.

mod contract;
mod expr;

pub use contract::Claim;

use crate::expr::{IntOp, Local, Val, ValOp, Var};
use crate::nest::{For, Form, Kernel, Space, Stmt, VarKind};
use expr::{Language, Printer};
use std::fmt::Write;

/// Prints a kernel; a claim adds the computed result to the contract.
#[must_use]
pub fn cuda(kernel: &Kernel, claim: Option<&Claim<'_>>) -> String {
    let mut text = String::new();
    if kernel.spelling.index_helper {
        text.push_str("__device__ int index_of(int y, int x, int w) { return y*w + x; }\n\n");
    }
    if kernel.spelling.max_helper {
        text.push_str("__device__ float greater(float a, float b) { return a > b ? a : b; }\n\n");
    }
    text.push_str(&contract::header(kernel, claim));
    let _ = writeln!(text, "__global__ void {}({}) {{", kernel.name, parameters(kernel));
    text.push_str(&shared(kernel));
    let mut writer = Writer { printer: Printer::new(kernel, Language::Cuda), text, depth: 1 };
    writer.stmts(&kernel.body);
    writer.text.push_str("}\n");
    writer.text
}

fn parameters(kernel: &Kernel) -> String {
    let mut parts = Vec::new();
    for array in &kernel.arrays {
        match array.space {
            Space::Input => parts.push(format!("const float* {}", array.name)),
            Space::Output => parts.push(format!("float* {}", array.name)),
            Space::Static | Space::Dynamic => {}
        }
    }
    for var in kernel.vars.of_kind(VarKind::Size) {
        parts.push(format!("int {}", kernel.vars.name(var)));
    }
    parts.join(", ")
}

fn shared(kernel: &Kernel) -> String {
    let printer = Printer::new(kernel, Language::Cuda);
    let mut text = String::new();
    for array in &kernel.arrays {
        match array.space {
            Space::Static => {
                let dims: String =
                    array.shape.iter().map(|extent| format!("[{}]", printer.int(extent))).collect();
                let _ = writeln!(text, "  __shared__ float {}{dims};", array.name);
            }
            Space::Dynamic => {
                let _ = writeln!(text, "  extern __shared__ float {}[];", array.name);
            }
            Space::Input | Space::Output => {}
        }
    }
    text
}

struct Writer<'a> {
    printer: Printer<'a>,
    text: String,
    depth: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        self.depth += 1;
        self.stmts(stmts);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Int(var, int) => {
                let line =
                    format!("{} {} = {};", self.int_type(), self.var(*var), self.printer.int(int));
                self.line(&line);
            }
            Stmt::Assign(var, int) => {
                let line = format!("{};", self.update(*var, int));
                self.line(&line);
            }
            Stmt::Float(local, val) => {
                let line = format!("float {} = {};", self.local(*local), self.printer.val(val));
                self.line(&line);
            }
            Stmt::Set(local, val) => {
                let line = format!("{} = {};", self.local(*local), self.printer.val(val));
                self.line(&line);
            }
            Stmt::Combine(local, op, val) => {
                let line = self.combine(*local, *op, val);
                self.line(&line);
            }
            Stmt::Store(access, val) => {
                let line = format!("{} = {};", self.printer.access(access), self.printer.val(val));
                self.line(&line);
            }
            Stmt::If(cond, yes, no) => {
                let line = format!("if ({}) {{", self.printer.cond(cond));
                self.line(&line);
                self.block(yes);
                if !no.is_empty() {
                    self.line("} else {");
                    self.block(no);
                }
                self.line("}");
            }
            Stmt::For(nested) => self.print_loop(nested),
            Stmt::Barrier => self.line("__syncthreads();"),
            Stmt::Return => self.line("return;"),
        }
    }

    fn int_type(&self) -> &'static str {
        if self.printer.kernel.spelling.is_unsigned { "unsigned" } else { "int" }
    }

    fn var(&self, var: Var) -> &str {
        self.printer.kernel.vars.name(var)
    }

    fn local(&self, local: Local) -> &str {
        &self.printer.kernel.locals[local.0]
    }

    fn combine(&self, local: Local, op: ValOp, val: &Val) -> String {
        let (name, val) = (self.local(local), self.printer.val(val));
        match op {
            ValOp::Add => format!("{name} += {val};"),
            ValOp::Sub => format!("{name} -= {val};"),
            ValOp::Mul => format!("{name} *= {val};"),
            ValOp::Max => format!("{name} = {}({name}, {val});", self.printer.max_name()),
            ValOp::Min => format!("{name} = fminf({name}, {val});"),
        }
    }

    /// Prints an assignment to an integer, in short form where there is one.
    fn update(&self, var: Var, next: &crate::expr::Int) -> String {
        use crate::expr::Int;
        let name = self.var(var);
        if let Int::Bin(op, left, right) = next
            && **left == Int::Var(var)
        {
            let right_text = self.printer.int(right);
            let one = **right == Int::Const(1);
            match op {
                IntOp::Add if one => return format!("{name}++"),
                IntOp::Sub if one => return format!("{name}--"),
                IntOp::Add => return format!("{name} += {right_text}"),
                IntOp::Sub => return format!("{name} -= {right_text}"),
                IntOp::Mul => return format!("{name} *= {right_text}"),
                IntOp::Div => return format!("{name} /= {right_text}"),
                _ => {}
            }
        }
        format!("{name} = {}", self.printer.int(next))
    }

    fn print_loop(&mut self, inner: &For) {
        let test = self.printer.cond(&inner.test);
        let update = self.update(inner.var, &inner.next);
        let start = inner.from.as_ref().map(|from| {
            format!("{} {} = {}", self.int_type(), self.var(inner.var), self.printer.int(from))
        });
        match inner.form {
            Form::For => {
                let line = format!("for ({}; {test}; {update}) {{", start.unwrap_or_default());
                self.line(&line);
                self.block(&inner.body);
            }
            Form::While | Form::Do => {
                if let Some(start) = start {
                    self.line(&format!("{start};"));
                }
                self.line(&match inner.form {
                    Form::Do => format!("if ({test}) do {{"),
                    _ => format!("while ({test}) {{"),
                });
                self.block(&inner.body);
                self.depth += 1;
                self.line(&format!("{update};"));
                self.depth -= 1;
            }
        }
        self.line(&match inner.form {
            Form::Do => format!("}} while ({test});"),
            _ => "}".to_string(),
        });
    }
}
