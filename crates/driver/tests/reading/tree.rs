//! Program texts as trees for shrinking: each node has a role that says how it may be reduced.
//!
//! Every edit keeps a program free of undefined behaviour. Statements that stand alone are removed, bodies replace
//! their blocks, an expression becomes a constant, or a part of itself, of its own type and range.

use super::types::Type;

/// How a node may be reduced.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// Not at all.
    Fixed,
    /// It may be left out.
    Removable,
    /// It may be left out, or its removable children may stand in its place.
    Block,
    /// An expression.
    Expression(Bounds),
}

/// The bounds of an expression's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) ty: Type,
    /// Least and greatest; for floats, of the magnitude.
    pub(crate) low: i128,
    pub(crate) high: i128,
    /// Of a float: it is a multiple of 2^-grain.
    pub(crate) grain: u32,
}

impl Bounds {
    fn holds(&self, other: &Self) -> bool {
        self.ty == other.ty
            && self.low <= other.low
            && other.high <= self.high
            && other.grain <= self.grain
    }

    /// A constant of this type and range.
    fn constant(&self) -> String {
        let value = 0_i128.clamp(self.low, self.high);
        match self.ty.is_float() {
            true => format!("({})0", self.ty.name()),
            false => format!("({}){value}", self.ty.name()),
        }
    }
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    Node(Node),
}

/// A part that may be reduced.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part>,
}

impl Node {
    pub(crate) fn new(role: Role) -> Self {
        Self { role, parts: Vec::new() }
    }

    /// A statement or declaration.
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self::new(Role::Removable).text(text)
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    pub(crate) fn node(mut self, node: Self) -> Self {
        self.parts.push(Part::Node(node));
        self
    }

    pub(crate) fn nodes(mut self, nodes: Vec<Self>) -> Self {
        self.parts.extend(nodes.into_iter().map(Part::Node));
        self
    }

    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        self.render_to(&mut text);
        text
    }

    fn render_to(&self, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Node(node) => node.render_to(out),
            }
        }
    }

    /// The number of nodes, itself included.
    pub(crate) fn count(&self) -> usize {
        1 + self.children().map(Self::count).sum::<usize>()
    }

    fn children(&self) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter_map(|part| match part {
            Part::Node(node) => Some(node),
            Part::Text(_) => None,
        })
    }

    /// The reduced versions of the node with a number, counted in the order of the text.
    pub(crate) fn smaller(&self, number: usize) -> Vec<Self> {
        let versions = self.find(number).map(Self::own_versions).unwrap_or_default();
        versions.into_iter().map(|version| self.with(number, &version)).collect()
    }

    fn find(&self, mut number: usize) -> Option<&Self> {
        if number == 0 {
            return Some(self);
        }
        number -= 1;
        for child in self.children() {
            let count = child.count();
            if number < count {
                return child.find(number);
            }
            number -= count;
        }
        None
    }

    fn with(&self, mut number: usize, version: &Self) -> Self {
        if number == 0 {
            return version.clone();
        }
        number -= 1;
        let mut copy = Self::new(self.role.clone());
        for part in &self.parts {
            match part {
                Part::Text(text) => copy.parts.push(Part::Text(text.clone())),
                Part::Node(child) => {
                    let count = child.count();
                    let inside = number < count;
                    let new = if inside { child.with(number, version) } else { child.clone() };
                    copy.parts.push(Part::Node(new));
                    number = if inside { usize::MAX } else { number.saturating_sub(count) };
                }
            }
        }
        copy
    }

    fn own_versions(&self) -> Vec<Self> {
        let empty = Self::new(Role::Fixed);
        match &self.role {
            Role::Fixed => Vec::new(),
            Role::Removable => vec![empty],
            Role::Block => {
                let keeps = |node: &&Self| matches!(node.role, Role::Removable | Role::Block);
                let body: Vec<Self> = self.children().filter(keeps).cloned().collect();
                vec![empty.clone(), empty.nodes(body)]
            }
            Role::Expression(bounds) => {
                let mut inner = Vec::new();
                self.collect(bounds, &mut inner);
                inner.truncate(4);
                let wrap = |node: Self| Self::new(node.role.clone()).text("(").node(node).text(")");
                let constant = bounds.constant();
                if self.render().len() <= constant.len() {
                    return Vec::new();
                }
                let constant = Self::new(self.role.clone()).text(constant);
                [constant].into_iter().chain(inner.into_iter().map(wrap)).collect()
            }
        }
    }

    /// Subexpressions that may replace one with `bounds`.
    fn collect(&self, bounds: &Bounds, found: &mut Vec<Self>) {
        for child in self.children() {
            match &child.role {
                Role::Expression(inner) if bounds.holds(inner) => found.push(child.clone()),
                _ => child.collect(bounds, found),
            }
        }
    }
}
