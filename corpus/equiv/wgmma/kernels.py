"""Products of one warp group (wgmma), and references for them.

    python3 kernels.py

writes products.ptx, naive.ptx and the pairs beside itself. A kernel loads A and B with tensor copies into the layout that its descriptors
name, multiplies step by step, and stores the accumulators: C = A B, 64 rows. `along` says whether neighbours in memory are neighbours along K
("k") or along M and N ("mn"); `span` is the bytes of a swizzled row, 16 for none. Mistakes are named by what they change.
"""

import pathlib

HERE = pathlib.Path(__file__).parent
HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
MODES = {16: 0, 128: 1, 64: 2, 32: 3}
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
# Names of types in arguments.
ARGUMENT = {"tf32": "f32"}


class Operand:
    """A matrix of `rows` (of A, or columns of B) by `depth`, in boxes one after the other."""

    def __init__(self, kind, rows, depth, along, span):
        self.kind, self.rows, self.depth, self.along, self.span = kind, rows, depth, along, span
        size = BYTES[kind]
        self.step = 32 // size
        self.mode = MODES[span]
        if along == "k":
            self.shape, self.box = [rows, depth], [rows, span // size]
            self.boxes, self.box_bytes = depth * size // span, rows * span
            self.stride, self.lead = 8 * span, rows * 16
        else:
            self.shape, self.box = [depth, rows], [depth, span // size]
            self.boxes, self.box_bytes = rows * size // span, depth * span
            block, eight = depth * span, 8 * span
            self.stride, self.lead = (block, eight) if span == 16 else (eight, block)

    def bytes(self):
        return self.boxes * self.box_bytes

    def start(self, step):
        """Where a step begins."""
        if self.along == "mn":
            return step * self.step * self.span
        if self.span == 16:
            return step * 2 * self.rows * 16
        return step * 32 // self.span * self.box_bytes + step * 32 % self.span

    def high(self):
        return self.mode << 62 | self.stride >> 4 << 32 | self.lead >> 4 << 16

    def map(self, name):
        swizzle = "" if self.span == 16 else f",swizzle={self.span}B"
        shape, box = (",".join(map(str, one)) for one in (self.shape, self.box))
        return f"tensormap({name}={ARGUMENT.get(self.kind, self.kind)}[{shape}],box=[{box}]{swizzle})"


def kernel(name, d, a, b, n, depth, a_along="k", b_along="k", span=128, registers=False, a_span=None, **mistakes):
    left = Operand(a, 64, depth, a_along, a_span or span)
    right = Operand(b, n, depth, b_along, span)
    maps = [left.map("A"), right.map("B")]
    for key, value in mistakes.items():
        if key in ("mode", "stride", "lead"):
            setattr(right, key, value)
    count = n // (4 if d == "f16" else 2)
    shared = 0 if registers else left.bytes()
    lines = [f".visible .entry {name}(" + (".param .u64 ta" if registers else ".param .align 64 .b8 ta[128]")
             + ", .param .align 64 .b8 tb[128], .param .u64 c)", "{",
             f"\t.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %a<4>; .reg .b32 %d<{count}>; .reg .b64 %rd<16>;",
             f"\t.shared .align 1024 .b8 sa[{max(shared, 16)}];", f"\t.shared .align 1024 .b8 sb[{right.bytes()}];",
             "\t.shared .align 8 .b8 bar[8];", "\tmov.u32 %r1, %tid.x;", "\tsetp.ne.u32 %p1, %r1, 0;", "\t@%p1 bra READY;",
             "\tmbarrier.init.shared::cta.b64 [bar], 1;",
             f"\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {shared + right.bytes()};"]
    for operand, variable, parameter in ([] if registers else [(left, "sa", "ta")]) + [(right, "sb", "tb")]:
        lines += [f"\tmov.b64 %rd1, {parameter};", "\tcvta.param.u64 %rd1, %rd1;", f"\tmov.u32 %r2, {variable};"]
        for box in range(operand.boxes):
            inner = box * operand.span // BYTES[operand.kind]
            lines += ["\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                      f"[%r2], [%rd1, {{{inner}, 0}}], [bar];", f"\tadd.u32 %r2, %r2, {operand.box_bytes};"]
    lines += ["READY:", "\tbar.sync 0;", "WAIT:", "\tmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;", "\t@!%p2 bra WAIT;"]
    for variable, register, operand in [("sa", 10, left), ("sb", 11, right)]:
        lines += [f"\tmov.u32 %r3, {variable};", "\tshr.u32 %r3, %r3, 4;", "\tand.b32 %r3, %r3, 16383;", f"\tcvt.u64.u32 %rd{register}, %r3;",
                  f"\tor.b64 %rd{register}, %rd{register}, {operand.high()};"]
    # This thread's row and column.
    lines += ["\tshr.u32 %r4, %r1, 5;", "\tshl.b32 %r4, %r4, 4;", "\tand.b32 %r5, %r1, 31;", "\tshr.u32 %r6, %r5, 2;",
              "\tadd.u32 %r4, %r4, %r6;", "\tand.b32 %r5, %r5, 3;"]
    if registers:
        pitch = depth * BYTES[a]
        lines += ["\tld.param.u64 %rd4, [ta];", "\tcvta.to.global.u64 %rd4, %rd4;", f"\tmul.wide.u32 %rd5, %r4, {pitch};",
                  "\tadd.s64 %rd4, %rd4, %rd5;", "\tmul.wide.u32 %rd5, %r5, 4;", "\tadd.s64 %rd4, %rd4, %rd5;"]
    accumulators = "{" + ", ".join(f"%d{i}" for i in range(count)) + "}"
    types = f".{d}.{a}.{b}"
    for step in range(depth // left.step):
        start = right.start(0 if mistakes.get("same_step") else step)
        lines += [f"\tadd.s64 %rd12, %rd10, {left.start(step) >> 4};", f"\tadd.s64 %rd13, %rd11, {start >> 4};"]
        factor = "%rd12"
        if registers:
            for r in range(4):
                at = 32 * step + r % 2 * 8 * pitch + r // 2 * 16
                lines.append(f"\tld.global.b32 %a{r}, [%rd4+{at}];")
            factor = "{%a0, %a1, %a2, %a3}"
        operands = [accumulators, factor, "%rd13", "0" if step == 0 or mistakes.get("no_sum") else "1"]
        if d != "s32":
            operands += ["1", str(mistakes.get("sign", 1))]
        if BYTES[a] == 2:
            majors = [] if registers else [int(a_along == "mn")]
            operands += map(str, majors + [int(b_along == "mn") ^ mistakes.get("transposed", 0)])
        lines += ["\twgmma.fence.sync.aligned;", f"\twgmma.mma_async.sync.aligned.m64n{n}k{left.step}{types} {', '.join(operands)};",
                  "\twgmma.commit_group.sync.aligned;", "\twgmma.wait_group.sync.aligned 0;"]
    size = 2 if d == "f16" else 4
    lines += ["\tld.param.u64 %rd6, [c];", "\tcvta.to.global.u64 %rd6, %rd6;", f"\tmul.wide.u32 %rd7, %r4, {n * size};",
              "\tadd.s64 %rd6, %rd6, %rd7;", f"\tmul.wide.u32 %rd7, %r5, {2 * size};", "\tadd.s64 %rd6, %rd6, %rd7;"]
    words = 1 if d == "f16" else 2
    for i in range(0, count, words):
        pair = i // words
        at = pair // 2 * 8 * size + pair % 2 * 8 * n * size
        value = f"%d{i}" if words == 1 else f"{{%d{i}, %d{i + 1}}}"
        lines.append(f"\tst.global{'' if words == 1 else '.v2'}.b32 [%rd6+{at}], {value};")
    flags = [f"--opt-grid 1 --opt-block 128 --opt-arg a={f'A={ARGUMENT.get(a, a)}[64,{depth}]'[2:] if registers else maps[0]}"
             f" --opt-arg b={maps[1]} --opt-arg C={d}[64,{n}]:out"]
    if registers:
        flags[0] = flags[0].replace("--opt-arg a=", "--opt-arg A=", 1)
    shapes = [[64, depth] if registers or a_along == "k" else [depth, 64], right.shape]
    strides = [(depth, 1) if registers or a_along == "k" else (1, 64), (depth, 1) if b_along == "k" else (1, n)]
    flags.append(f"--ref-grid 64 --ref-block {n} " + " ".join(
        f"--ref-arg {one}={ARGUMENT.get(kind, kind)}[{shape[0]},{shape[1]}]" for one, kind, shape in zip("AB", (a, b), shapes))
        + f" --ref-arg C={d}[64,{n}]:out --ref-arg K={depth} " + " ".join(
            f"--ref-arg {one}{which}={stride}" for one, pair in zip("ab", strides) for which, stride in zip("rk", pair)))
    return "\n".join(lines + ["\tret;", "}"]) + "\n", flags


LOADS = {
    "f16": "\tld.global.b16 %h{h}, [{at}];\n\tcvt.f32.f16 {to}, %h{h};\n",
    "bf16": "\tld.global.b16 %h{h}, [{at}];\n\tmov.b32 %r{h}, {{0, %h{h}}};\n\tmov.b32 {to}, %r{h};\n",
    "tf32": "\tld.global.f32 {to}, [{at}];\n",
    "s8": "\tld.global.s8 {to}, [{at}];\n",
    "u8": "\tld.global.u8 {to}, [{at}];\n",
}
for small in ("e4m3", "e5m2"):
    LOADS[small] = ("\tld.global.u8 %h{h}, [{at}];\n\tcvt.rn.f16x2." + small + "x2 %r{h}, %h{h};\n\tmov.b32 {{%h{h}, %h7}}, %r{h};\n"
                    "\tcvt.f32.f16 {to}, %h{h};\n")


def reference(name, d, a, b):
    """One thread for each output."""
    number = "%i" if d == "s32" else "%f"
    text = [f".visible .entry {name}(.param .u64 A, .param .u64 B, .param .u64 C, .param .u32 K, .param .u32 ar, .param .u32 ak, "
            ".param .u32 br, .param .u32 bk)\n{\n\t.reg .pred %p<2>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b32 %i<4>; "
            ".reg .b64 %rd<16>;\n"]
    for register, parameter in enumerate(["A", "B", "C"], 1):
        text.append(f"\tld.param.u64 %rd{register}, [{parameter}];\n\tcvta.to.global.u64 %rd{register}, %rd{register};\n")
    for register, parameter in enumerate(["K", "ar", "ak", "br", "bk"], 8):
        text.append(f"\tld.param.u32 %r{register}, [{parameter}];\n")
    text.append("\tmov.u32 %r4, %ctaid.x;\n\tmov.u32 %r5, %tid.x;\n\tmul.lo.u32 %r6, %r4, %r9;\n\tmul.lo.u32 %r7, %r5, %r11;\n")
    for register, row, column, size in [(4, 6, 10, BYTES[a]), (5, 7, 12, BYTES[b])]:
        text.append(f"\tmul.wide.u32 %rd{register}, %r{row}, {size};\n\tadd.s64 %rd{register}, %rd{register}, %rd{register - 3};\n"
                    f"\tmul.wide.u32 %rd{register + 2}, %r{column}, {size};\n")
    text.append(f"\tmov.b32 {number}1, 0;\n\tmov.u32 %r13, 0;\nLOOP:\n")
    for at, register, kind in [("%rd4", 2, a), ("%rd5", 3, b)]:
        text.append(LOADS[kind].format(h=register, at=at, to=f"{number}{register}"))
    text.append(f"\tmad.lo.s32 %i1, %i2, %i3, %i1;\n" if d == "s32" else "\tfma.rn.f32 %f1, %f2, %f3, %f1;\n")
    text.append("\tadd.s64 %rd4, %rd4, %rd6;\n\tadd.s64 %rd5, %rd5, %rd7;\n\tadd.u32 %r13, %r13, 1;\n\tsetp.lt.u32 %p1, %r13, %r8;\n"
                "\t@%p1 bra LOOP;\n\tmov.u32 %r14, %ntid.x;\n\tmad.lo.u32 %r14, %r4, %r14, %r5;\n")
    text.append(f"\tmul.wide.u32 %rd8, %r14, {2 if d == 'f16' else 4};\n\tadd.s64 %rd8, %rd8, %rd3;\n")
    text.append("\tcvt.rn.f16.f32 %h1, %f1;\n\tst.global.b16 [%rd8], %h1;\n" if d == "f16" else f"\tst.global.b32 [%rd8], {number}1;\n")
    return "".join(text + ["\tret;\n}\n"])


F16 = ("f32", "f16", "f16", 16, 32)
# Name, arguments of `kernel`, its mistakes, and what is right to answer.
PAIRS = [
    ("f16_none", F16, {"span": 16}, "Core matrices one after the other."),
    ("f16_32", F16, {"span": 32}, "Rows of 32 bytes."),
    ("f16_64", F16, {"span": 64}, "Rows of 64 bytes."),
    ("f16_128", ("f32", "f16", "f16", 64, 64), {}, "Rows of 128 bytes: four steps inside a row."),
    ("f16_deep", ("f32", "f16", "f16", 8, 256), {}, "Four boxes, sixteen steps."),
    ("f16_n24", ("f32", "f16", "f16", 24, 32), {"span": 64}, "24 columns."),
    ("f16_half", ("f16", "f16", "f16", 16, 32), {"span": 64}, "Accumulators in half precision."),
    ("f16_b_mn", ("f32", "f16", "f16", 64, 32), {"b_along": "mn", "span": 64}, "B with neighbours along N."),
    ("f16_b_mn_128", ("f32", "f16", "f16", 128, 32), {"b_along": "mn", "a_span": 64}, "B with neighbours along N, two boxes."),
    ("f16_b_mn_none", F16, {"b_along": "mn", "span": 16}, "B with neighbours along N, not swizzled."),
    ("f16_a_mn", ("f32", "f16", "f16", 32, 32), {"a_along": "mn", "span": 64}, "A with neighbours along M."),
    ("f16_both_mn", ("f32", "f16", "f16", 64, 32), {"a_along": "mn", "b_along": "mn"}, "Both."),
    ("f16_registers", ("f32", "f16", "f16", 16, 32), {"span": 64, "registers": True}, "A in registers."),
    ("bf16", ("f32", "bf16", "bf16", 16, 64), {}, "bf16."),
    ("bf16_mn", ("f32", "bf16", "bf16", 64, 32), {"b_along": "mn", "span": 64}, "bf16, B with neighbours along N."),
    ("tf32", ("f32", "tf32", "tf32", 16, 32), {}, "Singles; the product takes 19 bits of them, which over the reals is all."),
    ("tf32_registers", ("f32", "tf32", "tf32", 16, 16), {"span": 64, "registers": True}, "Singles, A in registers."),
    ("e4m3", ("f32", "e4m3", "e4m3", 16, 64), {"span": 64}, "Eight bits."),
    ("e4m3_e5m2", ("f32", "e4m3", "e5m2", 16, 64), {"span": 32}, "Eight bits of two formats."),
    ("s8", ("s32", "s8", "s8", 16, 64), {"span": 64}, "Integers."),
    ("s8_u8", ("s32", "s8", "u8", 16, 64), {"span": 16}, "Integers with and without sign."),
    ("s8_registers", ("s32", "s8", "s8", 16, 32), {"span": 32, "registers": True}, "Integers, A in registers."),
]
BROKEN = [
    ("f16_mode", F16, {"span": 64, "mode": 3}, "The descriptor of B has another swizzle than the map."),
    ("f16_no_swizzle", F16, {"span": 32, "mode": 0, "lead": 16}, "The descriptor of B has no swizzle, the map does."),
    ("f16_stride", F16, {"span": 64, "stride": 256}, "Groups of eight rows of B are taken to be closer together than they are."),
    ("f16_same_step", F16, {"span": 64, "same_step": 1}, "B stays at the first step."),
    ("f16_no_sum", F16, {"span": 64, "no_sum": 1}, "The accumulator starts anew in each step."),
    ("f16_sign", F16, {"span": 64, "sign": -1}, "B is negated."),
    ("f16_transposed", ("f32", "f16", "f16", 32, 32), {"span": 64, "transposed": 1}, "B is taken to have neighbours along N."),
    ("s8_stride", ("s32", "s8", "s8", 16, 64), {"span": 64, "stride": 256}, "Groups of eight rows of B are too close together."),
]


def main():
    products, references = [], {}
    for names, expected in ((PAIRS, "proved"), (BROKEN, "refuted")):
        for name, arguments, options, why in names:
            text, flags = kernel(name, *arguments, **options)
            products.append(text)
            d, a, b = arguments[:3]
            naive = "_".join(dict.fromkeys((d, a, b)))
            references[naive] = reference(naive, d, a, b)
            kind = "kind: different\n" if expected == "refuted" else ""
            lines = "".join(f"flags: {one}\n" for one in flags)
            (HERE / f"{name}.pair").write_text(
                f"ref: naive.ptx::{naive}\nopt: products.ptx::{name}\n{lines}expect: {expected}\n{kind}why: {why}\n")
    (HERE / "products.ptx").write_text(HEADER + "".join(products))
    (HERE / "naive.ptx").write_text(HEADER + "".join(references.values()))


main()
