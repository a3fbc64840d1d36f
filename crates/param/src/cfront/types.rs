//! Types: scalars as wide as on CUDA's 64-bit platforms, pointers, structs, CUDA's vectors, and other names
//! for them.

use super::ast::{Declarator, Scalar, Struct, TypeName};
use super::parser::Parser;
use super::token::{Kind, Result};

/// Words that integer types are put together from.
fn is_part(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "char" | "short" | "int" | "long" | "auto" | "const")
}

/// Types that are one word.
fn named_type(word: &str) -> Option<Scalar> {
    let int = |bits, signed| Some(Scalar::Int { bits, signed });
    match word {
        "void" => Some(Scalar::Void),
        "bool" => Some(Scalar::Bool),
        "float" => Some(Scalar::Float { bits: 32 }),
        "double" => Some(Scalar::Float { bits: 64 }),
        "half" | "__half" | "__nv_bfloat16" => Some(Scalar::Float { bits: 16 }),
        "int8_t" => int(8, true),
        "uint8_t" | "uchar" => int(8, false),
        "int16_t" => int(16, true),
        "uint16_t" | "ushort" => int(16, false),
        "int32_t" => int(32, true),
        "uint32_t" | "uint" => int(32, false),
        "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" => int(64, true),
        "uint64_t" | "size_t" | "ulong" | "uintptr_t" => int(64, false),
        _ => None,
    }
}

/// `unsigned long long` and its like; every word must fit.
fn integer_type(words: &[String]) -> Option<Scalar> {
    let count = |wanted: &str| words.iter().filter(|word| *word == wanted).count();
    let (unsigned, signed) = (count("unsigned"), count("signed"));
    let (chars, shorts, ints, longs) = (count("char"), count("short"), count("int"), count("long"));
    let taken = unsigned + signed + chars + shorts + ints + longs;
    if words.is_empty() || taken != words.len() || unsigned + signed > 1 || ints > 1 {
        return None;
    }
    let bits = match (chars, shorts, longs) {
        (1, 0, 0) if ints == 0 => 8,
        (0, 1, 0) => 16,
        (0, 0, 0) => 32,
        (0, 0, 1 | 2) => 64,
        _ => return None,
    };
    Some(Scalar::Int { bits, signed: unsigned == 0 })
}

/// CUDA's vectors of two to four numbers.
fn vector_type(word: &str) -> Option<(Scalar, usize)> {
    let count = word.chars().last()?.to_digit(10).filter(|count| (1..=4).contains(count))?;
    let int = |bits, signed| Scalar::Int { bits, signed };
    let scalar = match word.get(..word.len() - 1)? {
        "float" => Scalar::Float { bits: 32 },
        "double" => Scalar::Float { bits: 64 },
        "char" => int(8, true),
        "uchar" => int(8, false),
        "short" => int(16, true),
        "ushort" => int(16, false),
        "int" => int(32, true),
        "uint" => int(32, false),
        "long" | "longlong" => int(64, true),
        "ulong" | "ulonglong" => int(64, false),
        _ => return None,
    };
    Some((scalar, count as usize))
}

impl Parser {
    /// Whether a word is the name of a type here.
    pub(super) fn is_type_word(&self, word: &str) -> bool {
        let known = is_part(word)
            || named_type(word).is_some()
            || vector_type(word).is_some()
            || self.aliases.contains_key(word);
        known && !self.shadowed.contains(word)
    }

    fn add_struct(&mut self, name: &str, fields: Vec<Declarator>, is_vector: bool) -> Scalar {
        let number = u16::try_from(self.structs.len()).unwrap_or(u16::MAX);
        self.structs.push(Struct { name: name.to_owned(), is_vector, fields });
        self.aliases.insert(name.to_owned(), Scalar::Struct(number));
        Scalar::Struct(number)
    }

    fn vector(&mut self, name: &str, scalar: Scalar, count: usize) -> Scalar {
        if let Some(number) = self.structs.iter().position(|one| one.name == name) {
            return Scalar::Struct(u16::try_from(number).unwrap_or(u16::MAX));
        }
        let span = self.span();
        let ty = TypeName { scalar, pointers: 0, constant: false, reference: false };
        let field = |name: &&str| Declarator {
            name: (*name).to_owned(),
            span,
            ty,
            dimensions: Vec::new(),
            init: None,
        };
        let fields = ["x", "y", "z", "w"].iter().take(count).map(field).collect();
        self.add_struct(name, fields, true)
    }

    /// `struct S { … };` with fields alone; anything else is left as it is, and refused where it is used.
    pub(super) fn record(&mut self) -> bool {
        let start = self.at;
        let is_typedef = start > 0
            && self
                .tokens
                .get(start - 1)
                .is_some_and(|one| one.kind == Kind::Word("typedef".into()));
        let done = self.fields().and_then(|(name, fields)| {
            let name = if is_typedef { self.name().ok().or(name) } else { name };
            (self.take(";")).then_some(name.map(|name| (name, fields))).flatten()
        });
        match done {
            Some((name, fields)) => {
                self.add_struct(&name, fields, false);
                true
            }
            None => {
                self.at = start;
                false
            }
        }
    }

    fn fields(&mut self) -> Option<(Option<String>, Vec<Declarator>)> {
        self.at += 1;
        self.qualifiers();
        let name = if self.is("{") { None } else { self.name().ok() };
        if !self.take("{") {
            return None;
        }
        let mut fields = Vec::new();
        while !self.take("}") {
            if self.is_end() || !self.is_type() {
                return None;
            }
            let qualifiers = self.qualifiers();
            let declaration = self.declaration(qualifiers).ok()?;
            if declaration.declarators.iter().any(|one| one.init.is_some() || one.ty.reference) {
                return None;
            }
            fields.extend(declaration.declarators);
        }
        Some((name, fields))
    }

    /// `typedef` and `using`.
    pub(super) fn alias(&mut self) -> Result<()> {
        let start = self.at;
        if self.is_word("typedef") && *self.kind_at(1) == Kind::Word("struct".to_owned()) {
            self.at += 1;
            if self.record() {
                return Ok(());
            }
            self.at = start;
        }
        let named = if self.take_word("using") {
            let name = self.name()?;
            self.take("=");
            self.is_type().then(|| self.scalar()).transpose()?.map(|scalar| (name, scalar))
        } else {
            self.at += 1;
            let scalar = self.is_type().then(|| self.scalar()).transpose()?;
            scalar.and_then(|scalar| self.name().ok().map(|name| (name, scalar)))
        };
        match named {
            Some((name, scalar)) if self.take(";") => {
                self.aliases.insert(name, scalar);
            }
            // Not a name for a scalar: whoever uses it will be told.
            _ => {
                self.at = start;
                self.skip_host();
            }
        }
        Ok(())
    }

    /// Whether a type begins here.
    pub(super) fn is_type(&self) -> bool {
        match self.kind() {
            Kind::Word(word) => {
                self.is_type_word(word)
                    || word == "struct"
                        && matches!(self.kind_at(1), Kind::Word(name) if self.is_type_word(name))
            }
            _ => false,
        }
    }

    /// A type with its pointers, as in casts and parameters.
    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        let mut constant = false;
        while self.is_word("const") || self.is_word("volatile") {
            constant |= self.is_word("const");
            self.at += 1;
        }
        let scalar = self.scalar()?;
        while self.is_word("const") || self.is_word("volatile") {
            constant |= self.is_word("const");
            self.at += 1;
        }
        let mut ty = TypeName { scalar, pointers: 0, constant, reference: false };
        self.stars(&mut ty);
        Ok(ty)
    }

    pub(super) fn stars(&mut self, ty: &mut TypeName) {
        while self.take("*") {
            ty.pointers = ty.pointers.saturating_add(1);
            while matches!(self.kind(), Kind::Word(word)
                if matches!(word.as_str(), "const" | "__restrict__" | "__restrict" | "restrict" | "volatile"))
            {
                self.at += 1;
            }
        }
    }

    fn scalar(&mut self) -> Result<Scalar> {
        let span = self.span();
        self.take_word("struct");
        let Kind::Word(word) = self.kind().clone() else {
            return Err(self.error("expected a type"));
        };
        if self.take_word("auto") {
            return Ok(Scalar::Auto);
        }
        if let Some((scalar, count)) =
            vector_type(&word).filter(|_| !self.aliases.contains_key(&word))
        {
            self.at += 1;
            return Ok(self.vector(&word, scalar, count));
        }
        if let Some(scalar) = named_type(&word).or_else(|| self.aliases.get(&word).copied()) {
            self.at += 1;
            return Ok(scalar);
        }
        let mut words = Vec::new();
        while let Kind::Word(word) = self.kind().clone() {
            if word == "const" && !words.is_empty() {
                break;
            }
            if !is_part(&word) {
                break;
            }
            words.push(word);
            self.at += 1;
        }
        integer_type(&words).ok_or_else(|| {
            let message = format!("the type `{word}` is not supported");
            self.unsupported(span, &message)
        })
    }
}
