//! Functions of the math library by their names (libdevice user's guide, chapter 3).

use ir::{FloatBinary, FloatUnary, Format, RealFunction, Rounding};

/// The operation that a library function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routine {
    Real(RealFunction),
    Unary(FloatUnary, Rounding),
    Binary(FloatBinary),
    Fma,
    /// `2^(y log₂ x)`. Unlike the power, it is defined only for positive numbers.
    FastPower,
}

impl Routine {
    /// Number of arguments.
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::Real(function) => function.arguments(),
            Self::Unary(..) => 1,
            Self::Binary(_) | Self::FastPower => 2,
            Self::Fma => 3,
        }
    }
}

const PREFIXES: [&str; 2] = ["__nv_", "vt_"];

/// Returns the function of a name, and the format of its arguments and result. Functions that write to memory
/// (`sincosf`, `modff`) or take integers are not included.
pub(crate) fn routine(name: &str) -> Option<(Routine, Format)> {
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    if let Some(fast) = name.strip_prefix("fast_") {
        return Some((fast_routine(fast)?, Format::F32));
    }
    let rounded = match name {
        "fdiv_rn" | "fdividef" => Some(Routine::Binary(FloatBinary::Div)),
        "fadd_rn" => Some(Routine::Binary(FloatBinary::Add)),
        "fmul_rn" => Some(Routine::Binary(FloatBinary::Mul)),
        "fsqrt_rn" => Some(Routine::Unary(FloatUnary::Sqrt, Rounding::NearestEven)),
        "frcp_rn" => Some(Routine::Unary(FloatUnary::Reciprocal, Rounding::NearestEven)),
        "fmaf_rn" => Some(Routine::Fma),
        // A neighbour of a single is not a neighbour among the doubles.
        "nextafterf" => Some(Routine::Real(RealFunction::Named("nextafterf", 2))),
        _ => None,
    };
    if let Some(routine) = rounded {
        return Some((routine, Format::F32));
    }
    // `erf` ends in the letter that marks singles.
    match (double_routine(name), name.strip_suffix('f').and_then(double_routine)) {
        (Some(routine), _) => Some((routine, Format::F64)),
        (None, Some(routine)) => Some((routine, Format::F32)),
        (None, None) => None,
    }
}

/// Returns the routine of a name, without its prefix `fast_`.
fn fast_routine(name: &str) -> Option<Routine> {
    use RealFunction as F;
    Some(match name {
        "expf" => Routine::Real(F::Exp),
        "exp10f" => Routine::Real(F::Exp10),
        "logf" => Routine::Real(F::Log),
        "log2f" => Routine::Real(F::Log2),
        "log10f" => Routine::Real(F::Log10),
        "sinf" => Routine::Real(F::Sin),
        "cosf" => Routine::Real(F::Cos),
        "tanf" => Routine::Real(F::Tan),
        "powf" => Routine::FastPower,
        "fdividef" => Routine::Binary(FloatBinary::Div),
        _ => return None,
    })
}

/// Returns the routine of a function of doubles.
fn double_routine(name: &str) -> Option<Routine> {
    use FloatUnary as U;
    use RealFunction as F;
    let real = Routine::Real;
    let exact = |op| Routine::Unary(op, Rounding::NearestEven);
    let round_to_integral = |rounding| Routine::Unary(U::RoundToIntegral, rounding);
    let (propagate_nan, xor_sign_abs) = (false, false);
    Some(match name {
        "exp" => real(F::Exp),
        "exp2" => real(F::Exp2),
        "exp10" => real(F::Exp10),
        "expm1" => real(F::Expm1),
        "log" => real(F::Log),
        "log2" => real(F::Log2),
        "log10" => real(F::Log10),
        "log1p" => real(F::Log1p),
        "tanh" => real(F::Tanh),
        "sinh" => real(F::Sinh),
        "cosh" => real(F::Cosh),
        "erf" => real(F::Erf),
        "erfc" => real(F::Erfc),
        "sin" => real(F::Sin),
        "cos" => real(F::Cos),
        "tan" => real(F::Tan),
        "cbrt" => real(F::Cbrt),
        "pow" => real(F::Pow),
        "hypot" => real(F::Hypot),
        "fmod" => real(F::Fmod),
        "round" => real(F::RoundAway),
        "asin" => real(F::Asin),
        "acos" => real(F::Acos),
        "atan" => real(F::Atan),
        "atan2" => real(F::Atan2),
        "asinh" => real(F::Asinh),
        "acosh" => real(F::Acosh),
        "atanh" => real(F::Atanh),
        "normcdf" => real(F::NormCdf),
        "erfinv" => real(F::ErfInv),
        "lgamma" => real(F::Lgamma),
        "sqrt" => exact(U::Sqrt),
        "rsqrt" => exact(U::ReciprocalSqrt),
        "fabs" => exact(U::Abs),
        "rint" | "nearbyint" => round_to_integral(Rounding::NearestEven),
        "trunc" => round_to_integral(Rounding::Zero),
        "floor" => round_to_integral(Rounding::Down),
        "ceil" => round_to_integral(Rounding::Up),
        "fmax" => Routine::Binary(FloatBinary::Max { propagate_nan, xor_sign_abs }),
        "fmin" => Routine::Binary(FloatBinary::Min { propagate_nan, xor_sign_abs }),
        "fma" => Routine::Fma,
        _ => {
            let (name, arguments) = *UNINTERPRETED.iter().find(|(one, _)| *one == name)?;
            real(F::Named(name, arguments))
        }
    })
}

/// Functions that terms leave uninterpreted (equal arguments give equal results), and their numbers of arguments.
const UNINTERPRETED: [(&str, u8); 19] = [
    ("tgamma", 1),
    ("j0", 1),
    ("j1", 1),
    ("y0", 1),
    ("y1", 1),
    ("erfcinv", 1),
    ("erfcx", 1),
    ("normcdfinv", 1),
    ("sinpi", 1),
    ("cospi", 1),
    ("rcbrt", 1),
    ("logb", 1),
    ("cyl_bessel_i0", 1),
    ("cyl_bessel_i1", 1),
    ("nextafter", 2),
    ("remainder", 2),
    ("fdim", 2),
    ("rhypot", 2),
    ("copysign", 2),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_letter_tells_the_format() {
        let known = |name: &str| routine(name);
        assert_eq!(known("__nv_expf"), Some((Routine::Real(RealFunction::Exp), Format::F32)));
        assert_eq!(known("vt_exp"), Some((Routine::Real(RealFunction::Exp), Format::F64)));
        assert_eq!(known("__nv_erf"), Some((Routine::Real(RealFunction::Erf), Format::F64)));
        assert_eq!(known("vt_erff"), Some((Routine::Real(RealFunction::Erf), Format::F32)));
        assert_eq!(known("__nv_fast_powf"), Some((Routine::FastPower, Format::F32)));
        let bessel = Routine::Real(RealFunction::Named("j0", 1));
        assert_eq!(known("__nv_j0f"), Some((bessel, Format::F32)));
        let next = |name| Some(Routine::Real(RealFunction::Named(name, 2)));
        assert_eq!(known("__nv_nextafterf"), next("nextafterf").map(|one| (one, Format::F32)));
        assert_eq!(known("__nv_nextafter"), next("nextafter").map(|one| (one, Format::F64)));
        assert_eq!(known("vt_remainder").map(|(one, _)| one.arguments()), Some(2));
    }

    #[test]
    fn other_functions_are_not_known() {
        for name in ["expf", "my_expf", "__nv_sincosf", "__nv_ldexpf", "vt_", "__nv_fast_exp"] {
            assert_eq!(routine(name), None, "{name}");
        }
    }
}
