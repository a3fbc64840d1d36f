//! Variables, parameters and initialisers (manual §5.4 and §11.2).

use super::super::ast::{
    Attribute, Declarator, Expr, Initializer, Linkage, Name, Number, Pointer, StateSpace, Variable,
};
use super::super::token::Punct;
use super::{Parse, Parser};

impl<'a> Parser<'a> {
    /// Parses a variable directive at the outermost level or in a body, up to its semicolon.
    pub(super) fn variable(&mut self, linkage: Option<Linkage>) -> Parse<Variable<'a>> {
        let mut variable = self.variable_head(linkage)?;
        variable.declarators = self.comma_separated(Self::declarator)?;
        self.expect(Punct::Semicolon, "`,` or `;` after a declaration")?;
        Ok(variable)
    }

    /// Parses a parenthesised list of parameters; may be empty.
    pub(super) fn parameters(&mut self) -> Parse<Vec<Variable<'a>>> {
        self.expect(Punct::LeftParen, "`(`")?;
        if self.accept(Punct::RightParen) {
            return Ok(Vec::new());
        }
        let params = self.comma_separated(Self::parameter)?;
        self.expect(Punct::RightParen, "`,` or `)` after a parameter")?;
        Ok(params)
    }

    fn parameter(&mut self) -> Parse<Variable<'a>> {
        let mut variable = self.variable_head(None)?;
        variable.declarators = vec![self.declarator()?];
        Ok(variable)
    }

    /// Returns the state space named by the current token, if any.
    pub(super) fn peek_space(&self) -> Option<StateSpace> {
        self.peek_dotted().and_then(state_space)
    }

    /// Everything before the declared names. PTX fixes an order for the attributes, but producers differ, so any
    /// order is read.
    fn variable_head(&mut self, linkage: Option<Linkage>) -> Parse<Variable<'a>> {
        let start = self.token.span;
        let Some(space) = self.peek_space() else {
            return self.fail("a state space such as `.reg` or `.param`");
        };
        self.bump();
        let bank = if self.accept(Punct::LeftBracket) {
            let bank = self.number("the number of a constant bank")?;
            self.expect(Punct::RightBracket, "`]`")?;
            Some(bank)
        } else {
            None
        };
        let (mut align, mut attributes, mut vector, mut pointer) = (None, Vec::new(), None, None);
        let mut ty: Option<Name<'a>> = None;
        while let Some(word) = self.dotted() {
            match word.text {
                "align" => align = Some(self.alignment()?),
                "attribute" => attributes = self.attributes()?,
                "v2" | "v4" | "v8" => vector = Some(word),
                "ptr" => pointer = Some(self.pointer()?),
                _ if ty.is_none() => ty = Some(word),
                _ => return self.fail("the name of the variable after its type"),
            }
        }
        let Some(ty) = ty else { return self.fail("a type such as `.b32`") };
        let at = self.since(start);
        let declarators = Vec::new();
        Ok(Variable {
            linkage,
            space,
            bank,
            align,
            attributes,
            vector,
            ty,
            pointer,
            declarators,
            at,
        })
    }

    /// Parses the number after `.align`. No operators: in `.align 4 %p` the name is not a remainder.
    fn alignment(&mut self) -> Parse<Expr<'a>> {
        self.unary()
    }

    /// `.space` and `.align N` after `.ptr`
    fn pointer(&mut self) -> Parse<Pointer<'a>> {
        let mut pointer = Pointer { space: None, align: None };
        loop {
            match self.peek_dotted() {
                Some("align") => {
                    self.bump();
                    pointer.align = Some(self.alignment()?);
                }
                Some("const" | "global" | "local" | "shared" | "param") => {
                    pointer.space = self.dotted();
                }
                _ => return Ok(pointer),
            }
        }
    }

    /// Parses the parenthesised list after `.attribute`
    pub(super) fn attributes(&mut self) -> Parse<Vec<Attribute<'a>>> {
        self.expect(Punct::LeftParen, "`(` after `.attribute`")?;
        let attributes = self.comma_separated(|parser| {
            let Some(name) = parser.dotted() else {
                return parser.fail("an attribute such as `.managed`");
            };
            let mut arguments = Vec::new();
            if parser.accept(Punct::LeftParen) {
                arguments = parser.comma_separated(Self::expr)?;
                parser.expect(Punct::RightParen, "`)`")?;
            }
            Ok(Attribute { name, arguments })
        })?;
        self.expect(Punct::RightParen, "`)`")?;
        Ok(attributes)
    }

    fn declarator(&mut self) -> Parse<Declarator<'a>> {
        let name = self.name("the name of a variable")?;
        let range = self.range()?;
        let mut dimensions: Vec<Option<Expr<'a>>> = Vec::new();
        while self.accept(Punct::LeftBracket) {
            let size = if self.is(Punct::RightBracket) { None } else { Some(self.expr()?) };
            self.expect(Punct::RightBracket, "`]`")?;
            dimensions.push(size);
        }
        let initializer = if self.accept(Punct::Equal) { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, range, dimensions, initializer })
    }

    /// `<N>` after the prefix of a range of names.
    pub(super) fn range(&mut self) -> Parse<Option<Number<'a>>> {
        if !self.accept(Punct::Less) {
            return Ok(None);
        }
        let count = self.number("how many names the range declares")?;
        self.expect(Punct::Greater, "`>`")?;
        Ok(Some(count))
    }

    fn initializer(&mut self) -> Parse<Initializer<'a>> {
        if !self.accept(Punct::LeftBrace) {
            return Ok(Initializer::Scalar(self.expr()?));
        }
        if self.accept(Punct::RightBrace) {
            return Ok(Initializer::List(Vec::new()));
        }
        let values = self.nested(|parser| parser.comma_separated(Self::initializer))?;
        self.expect(Punct::RightBrace, "`,` or `}` in an initialiser")?;
        Ok(Initializer::List(values))
    }
}

fn state_space(text: &str) -> Option<StateSpace> {
    Some(match text {
        "reg" => StateSpace::Reg,
        "sreg" => StateSpace::Sreg,
        "const" => StateSpace::Const,
        "global" => StateSpace::Global,
        "local" => StateSpace::Local,
        "param" => StateSpace::Param,
        "shared" => StateSpace::Shared,
        "tex" => StateSpace::Tex,
        _ => return None,
    })
}
