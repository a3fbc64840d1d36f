//! The flags for a kernel's launch and its arguments.

use driver::arguments::{
    AliasSpec, ArgumentSpec, Arguments, BlockSelection, ByteCount, Dimensions, LaunchSpec,
    ParseError,
};
use std::str::FromStr;

/// Launch flags and arguments, for every command that executes a kernel.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Launch")]
pub(crate) struct LaunchArgs {
    /// The number of blocks in the grid.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    grid: Option<Dimensions>,

    /// Threads of a block; not needed if the PTX fixes it (.reqntid).
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    block: Option<Dimensions>,

    /// Blocks of a cluster; not needed if the PTX fixes it (.reqnctapercluster).
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    cluster: Option<Dimensions>,

    /// Dynamic shared memory: bytes, or 48KiB.
    #[arg(long, value_name = "SIZE", value_parser = parsed::<ByteCount>)]
    smem: Option<ByteCount>,

    /// Run only these blocks: positions, or numbers such as 0..4 (x varies fastest), separated by `;`. [default: all]
    #[arg(
        long,
        value_name = "X[,Y[,Z]]|N..M|all",
        value_parser = parsed_blocks,
        value_delimiter = ';'
    )]
    blocks: Vec<Blocks>,

    /// The next argument, under a name of your choice: x=f32[4,512], y=f32[4]:out, n=512.
    #[arg(
        long = "arg",
        value_name = "NAME=…",
        value_parser = parsed::<ArgumentSpec>,
        long_help = "The next argument, in the order of the kernel's parameters and under a name of your choice:\n\
                     x=f32[4,512]              an input: any contents\n\
                     y=f32[4]:out              an output; :inout if it is read first\n\
                     n=512, scale=f32          a number; a float that may be any number\n\
                     i=s32[3]=[3,1,2]          contents: a list, a number for all, iota,\n\
                     w=f16[8]=@w.npy           random, random(SEED), or a file\n\
                     i=s32[8]:0..100:distinct  what is known of an input: its range;\n\
                     A=f32[8,8]:lower          its structure: also :upper, :symmetric,\n\
                     M=f32[8]:mask=@mask.npy   or where it is not zero\n\
                     p={0:x,8:512}             a struct: offsets and fields\n\
                     q=?                       a buffer of unknown size"
    )]
    arguments: Vec<ArgumentSpec>,

    /// Arguments that have the same address; all others do not overlap.
    #[arg(long = "alias", value_name = "NAME,NAME", value_parser = parsed::<AliasSpec>)]
    aliases: Vec<AliasSpec>,

    /// The contents of a module variable at the launch: lut=f32[4]=[1,2,3,4].
    #[arg(
        long = "symbol",
        value_name = "NAME=…",
        value_parser = parsed::<ArgumentSpec>,
        long_help = "The contents of a module variable (.global, .const) at the launch, if they differ from those in \
                     the module: lut=f32[4]=[1,2,3,4], lut=f32[256]=@lut.npy, n=512, p=?; lut=f32[256] for any \
                     contents (in a comparison, a constant is then an input of that name)"
    )]
    symbols: Vec<ArgumentSpec>,
}

/// Where the two sides of a comparison differ.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "One side of a comparison")]
pub(crate) struct SideArgs {
    /// The number of blocks of the reference.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    ref_grid: Option<Dimensions>,

    /// The number of blocks of the optimised kernel.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    opt_grid: Option<Dimensions>,

    /// Threads of a block of the reference.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    ref_block: Option<Dimensions>,

    /// Threads of a block of the optimised kernel.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    opt_block: Option<Dimensions>,

    /// Blocks of a cluster of the reference.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    ref_cluster: Option<Dimensions>,

    /// Blocks of a cluster of the optimised kernel.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parsed::<Dimensions>)]
    opt_cluster: Option<Dimensions>,

    /// Dynamic shared memory of the reference.
    #[arg(long, value_name = "SIZE", value_parser = parsed::<ByteCount>)]
    ref_smem: Option<ByteCount>,

    /// Dynamic shared memory of the optimised kernel.
    #[arg(long, value_name = "SIZE", value_parser = parsed::<ByteCount>)]
    opt_smem: Option<ByteCount>,

    /// The next argument of the reference. With any of these, --arg is for the other side alone.
    #[arg(long = "ref-arg", value_name = "NAME=…", value_parser = parsed::<ArgumentSpec>)]
    ref_arguments: Vec<ArgumentSpec>,

    /// The next argument of the optimised kernel. With any of these, --arg is for the other side alone.
    #[arg(long = "opt-arg", value_name = "NAME=…", value_parser = parsed::<ArgumentSpec>)]
    opt_arguments: Vec<ArgumentSpec>,

    /// A module variable of the reference. With any of these, --symbol is for the other side alone.
    #[arg(long = "ref-symbol", value_name = "NAME=…", value_parser = parsed::<ArgumentSpec>)]
    ref_symbols: Vec<ArgumentSpec>,

    /// A module variable of the optimised kernel. With any of these, --symbol is for the other side alone.
    #[arg(long = "opt-symbol", value_name = "NAME=…", value_parser = parsed::<ArgumentSpec>)]
    opt_symbols: Vec<ArgumentSpec>,
}

impl SideArgs {
    /// The arguments of the reference alone.
    pub(crate) fn reference_arguments(&self) -> Arguments {
        let (specs, symbols) = (self.ref_arguments.clone(), self.ref_symbols.clone());
        Arguments { specs, symbols, aliases: Vec::new() }
    }

    /// Launches and arguments of the two sides, reference first.
    pub(crate) fn sides(&self, common: &LaunchArgs) -> [(LaunchSpec, Arguments); 2] {
        let side = |(grid, block, cluster), shared, own: [&Vec<ArgumentSpec>; 2]| {
            let (launch, mut arguments) = (common.launch(), common.arguments());
            for (common, own) in [&mut arguments.specs, &mut arguments.symbols].into_iter().zip(own)
            {
                if !own.is_empty() {
                    common.clone_from(own);
                }
            }
            let launch = LaunchSpec {
                grid: Option::or(grid, launch.grid),
                block: Option::or(block, launch.block),
                cluster: Option::or(cluster, launch.cluster),
                shared: Option::or(shared, launch.shared),
                ..launch
            };
            (launch, arguments)
        };
        [
            side(
                (self.ref_grid, self.ref_block, self.ref_cluster),
                self.ref_smem,
                [&self.ref_arguments, &self.ref_symbols],
            ),
            side(
                (self.opt_grid, self.opt_block, self.opt_cluster),
                self.opt_smem,
                [&self.opt_arguments, &self.opt_symbols],
            ),
        ]
    }
}

/// The value of `--blocks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    All,
    Some(BlockSelection),
}

impl LaunchArgs {
    /// The launch flags.
    pub(crate) fn launch(&self) -> LaunchSpec {
        let positions = self.blocks.iter().filter_map(|blocks| match blocks {
            Blocks::All => None,
            Blocks::Some(selection) => Some(*selection),
        });
        let all = self.blocks.contains(&Blocks::All);
        LaunchSpec {
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            shared: self.smem,
            blocks: if all { Vec::new() } else { positions.collect() },
        }
    }

    /// The arguments.
    pub(crate) fn arguments(&self) -> Arguments {
        Arguments {
            specs: self.arguments.clone(),
            aliases: self.aliases.clone(),
            symbols: self.symbols.clone(),
        }
    }
}

/// Parses a value. Clap quotes the text itself, so only the reason is passed on.
pub(crate) fn parsed<T: FromStr<Err = ParseError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseError| error.reason().to_string())
}

fn parsed_blocks(text: &str) -> Result<Blocks, String> {
    if text == "all" { Ok(Blocks::All) } else { parsed(text).map(Blocks::Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        launch: LaunchArgs,
    }

    fn parse(flags: &str) -> Result<LaunchArgs, String> {
        let words = std::iter::once("test").chain(flags.split_whitespace());
        let command = Command::try_parse_from(words).map_err(|error| error.to_string())?;
        Ok(command.launch)
    }

    #[test]
    fn flags_become_specs() {
        let args = parse(
            "--grid 4,2 --block 128 --smem 48KiB --blocks 3,1;0 --blocks 4..6 --arg x=f32[4,512] \
             --arg y=f32[4,512]:out --arg n=-1 --alias x,y --symbol lut=f32[4]",
        )
        .unwrap();
        let launch = args.launch();
        assert_eq!(launch.grid, Some(Dimensions([4, 2, 1])));
        assert_eq!(launch.block, Some(Dimensions([128, 1, 1])));
        assert_eq!(launch.shared, Some(ByteCount(49152)));
        let blocks: Vec<String> = launch.blocks.iter().map(ToString::to_string).collect();
        assert_eq!(blocks, ["3,1", "0", "4..6"]);
        let arguments = args.arguments();
        let specs: Vec<String> = arguments.specs.iter().map(ToString::to_string).collect();
        assert_eq!(specs, ["x=f32[4,512]", "y=f32[4,512]:out", "n=-1"]);
        assert_eq!(arguments.aliases[0].names, ["x", "y"]);
        assert_eq!(arguments.symbols[0].to_string(), "lut=f32[4]");
    }

    #[test]
    fn all_blocks_need_no_list() {
        assert_eq!(parse("--blocks all").unwrap().launch(), LaunchSpec::default());
        assert_eq!(parse("").unwrap().launch(), LaunchSpec::default());
    }

    #[test]
    fn errors_quote_the_flag_once() {
        let error = parse("--arg x=f33[4]").unwrap_err();
        let first = error.lines().next().unwrap_or_default();
        assert_eq!(
            first,
            "error: invalid value 'x=f33[4]' for '--arg <NAME=…>': `f33` is not a type; did you \
             mean f32?"
        );
        assert!(parse("--grid 4x2").unwrap_err().contains("`4x2` is not a 32-bit number"));
    }
}
