//! Expressions over a record, and texts with holes.

/// An expression over a record. Types were checked; [`Expr::Text`] gives text.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text, perhaps with holes.
    Text(Pattern),
    /// The record's field with this index.
    Field(u32),
    /// A fact about the record or its stream.
    Builtin(Builtin),
    /// An element of the record's field with this index, counted from 0; no value beyond its end.
    Element(u32, Box<Expr>),
    /// A function of the language.
    Call(Function, Vec<Expr>),
    /// `-x`, `not x`.
    Unary(UnaryOp, Box<Expr>),
    /// `x + y` and the like.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Functions of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Elements of a list, bytes of `bytes`, characters of a text.
    Len,
    /// A number without its sign.
    Abs,
    /// The smaller of two numbers or dates.
    Min,
    /// The larger of two numbers or dates.
    Max,
    /// The next integer below.
    Floor,
    /// The next integer above.
    Ceil,
    /// The nearest integer; halves away from zero.
    Round,
    /// The number that stands for an enum value, a pointer's address, 1 or 0 for a bool.
    Number,
    /// The value of this enum (an index into [`Spec::enums`](super::Spec::enums)) that has a number; the number where there is none.
    Lookup(u32),
}

/// Facts that every record's stream knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Builtin {
    Date,
    Pid,
    Tid,
    Rank,
    Host,
    ThreadName,
    StreamLabel,
    File,
    Line,
    /// Name of the event or span.
    Event,
    /// Name of the level.
    Level,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum UnaryOp {
    Minus,
    Not,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

/// Text with holes: `"Node {node}"`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern(pub Vec<Piece>);

/// A piece of a [`Pattern`].
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// In a container's pattern: a key of its path, or a field given by `create … with`, and how it is written.
    Name(String, Format),
    /// In a rule's text: an expression over the record, and how it is written.
    Expr(Expr, Format),
}

/// How a value is written into a text: what stands after `:` in a hole, `{value:08.3}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Which side is filled up to `width`; numbers stand right and all else left unless said otherwise.
    pub align: Option<Align>,
    /// Filled with zeros, after the sign, instead of blanks.
    pub zeros: bool,
    /// Least number of characters.
    pub width: u16,
    /// Digits after the point of a number or date; most characters of a text.
    pub precision: Option<u16>,
    /// Notation of numbers.
    pub notation: Notation,
}

/// As the language spells it, with the `:`; empty for the usual form.
impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        f.write_str(":")?;
        f.write_str(match self.align {
            None => "",
            Some(Align::Left) => "<",
            Some(Align::Right) => ">",
            Some(Align::Center) => "^",
        })?;
        f.write_str(if self.zeros { "0" } else { "" })?;
        if self.width > 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(match self.notation {
            Notation::Usual => "",
            Notation::Hexadecimal => "x",
            Notation::UpperHexadecimal => "X",
            Notation::Binary => "b",
            Notation::Exponent => "e",
        })
    }
}

/// Where a value stands in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Align {
    Left,
    Right,
    Center,
}

/// Notation of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// As it is usual for the type.
    #[default]
    Usual,
    /// Integers and pointers: `ff`.
    Hexadecimal,
    /// Integers and pointers: `FF`.
    UpperHexadecimal,
    /// Integers: `1010`.
    Binary,
    /// Numbers: `1.5e3`.
    Exponent,
}
