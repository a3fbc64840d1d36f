//! The parts of the language that a program uses. Some programs use few, so that one construct refused by the front
//! end does not hide how it reads all others.

use testing::Random;

/// A part of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    AlternativeTokens,
    Assignments,
    Auto,
    BinaryLiterals,
    Bool,
    Braces,
    Casts,
    Characters,
    Commas,
    Conditionals,
    Constants,
    Constexpr,
    Constructors,
    DefaultArguments,
    Double,
    Enumerations,
    HexFloats,
    IfDeclaration,
    Increments,
    IntegerTypes,
    Intrinsics,
    Lambdas,
    Loops,
    Macros,
    Methods,
    Operators,
    Overloads,
    Pointers,
    Prototypes,
    Qualifiers,
    References,
    ScopedEnumerations,
    Separators,
    SeveralDeclarators,
    Shadowing,
    Shared,
    SizeOf,
    SkippedText,
    Spellings,
    Sequencing,
    Structures,
    Switches,
    Tables,
    Templates,
    Trivia,
    TwoDimensions,
    Unsized,
}

const COUNT: usize = Feature::Unsized as usize + 1;

impl Feature {
    /// The feature needed by the statement with a number, in the order in which they are drawn.
    pub(crate) fn of_statement(drawn: usize) -> Option<Self> {
        match drawn {
            19 => Some(Self::Sequencing),
            38 | 39 => Some(Self::Switches),
            40 | 43 => Some(Self::Pointers),
            42 => Some(Self::Lambdas),
            44 => Some(Self::Structures),
            _ => None,
        }
    }

    /// Like [`Self::of_statement`], for declarations.
    pub(crate) fn of_declaration(drawn: usize) -> Option<Self> {
        match drawn {
            14 => Some(Self::Pointers),
            15 => Some(Self::References),
            16 => Some(Self::Enumerations),
            17 => Some(Self::Structures),
            18 | 19 => Some(Self::SeveralDeclarators),
            _ => None,
        }
    }

    /// Like [`Self::of_statement`], for expressions.
    pub(crate) fn of_expression(drawn: usize) -> Option<Self> {
        match drawn {
            24 => Some(Self::Overloads),
            25 => Some(Self::Templates),
            26 | 27 => Some(Self::Intrinsics),
            28 | 29 => Some(Self::Macros),
            30 => Some(Self::Methods),
            31 => Some(Self::Assignments),
            32 => Some(Self::Increments),
            33 => Some(Self::Commas),
            _ => None,
        }
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features([bool; COUNT]);

impl Features {
    /// Draws few, some or many features.
    pub(crate) fn drawn(random: &mut Random) -> Self {
        let share = random.pick(&[4, 8, 16, 60]);
        let mut set: [bool; COUNT] = std::array::from_fn(|_| random.chance(share));
        // These occur in almost every line: rare, so that programs without them remain.
        for feature in [Feature::BinaryLiterals, Feature::HexFloats, Feature::Separators] {
            set[feature as usize] &= random.chance(25);
        }
        Self(set)
    }

    pub(crate) fn has(self, feature: Feature) -> bool {
        self.0[feature as usize]
    }
}
