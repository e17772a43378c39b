//! Expressions over a record, and texts with holes.

/// An expression over a record. Types are already checked. [`Expr::Text`] yields text.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the numbers")]
pub enum Expr {
    Integer(i64),
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text, perhaps with holes.
    Text(TextPattern),
    /// The record's field with this index.
    Field(u32),
    /// A property of the record or its stream.
    Builtin(Builtin),
    /// An element of the record's field with this index. Elements count from 0. There is no value
    /// beyond the last one.
    Element(u32, Box<Expr>),
    /// A function of the language.
    Call(ExprFunction, Vec<Expr>),
    /// `-x`, `not x`.
    Unary(UnaryOp, Box<Expr>),
    /// `x + y` and the like.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Functions of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExprFunction {
    /// Number of elements of a list, of bytes of `bytes`, of characters of a text.
    Len,
    /// The absolute value of a number.
    Abs,
    /// The smaller of two numbers or timestamps.
    Min,
    /// The larger of two numbers or timestamps.
    Max,
    /// The largest integer that is not above the number.
    Floor,
    /// The smallest integer that is not below the number.
    Ceil,
    /// The nearest integer. Halves are rounded away from zero.
    Round,
    /// The number of an enum value, the address of a pointer, 1 or 0 for a bool.
    Number,
    /// The value with a given number in this enum (an index into
    /// [`Spec::enums`](super::Spec::enums)). The result is the number itself if no value has it.
    Lookup(u32),
}

/// Properties of every record and its stream.
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

impl BinaryOp {
    /// The operator in the language.
    ///
    /// ```
    /// assert_eq!(tumit::spec::BinaryOp::LessEqual.symbol(), "<=");
    /// ```
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

/// Text with holes: `"Node {node}"`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextPattern(pub Vec<PatternPiece>);

/// A piece of a [`TextPattern`].
#[derive(Clone, Debug, PartialEq)]
pub enum PatternPiece {
    /// Literal text.
    Text(String),
    /// In the pattern of a container: a key of its path or a field given by `create … with`, and
    /// its format.
    Name(String, ValueFormat),
    /// In the text of a rule: an expression over the record, and its format.
    Expr(Expr, ValueFormat),
}

/// The format of a value in a text: the part after `:` in a hole, `{value:08.3}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueFormat {
    /// Alignment in `width`. By default numbers are aligned right, and other values left.
    pub align: Option<TextAlign>,
    /// Whether zeros, placed after the sign, fill the width instead of blanks.
    pub zeros: bool,
    /// Minimum number of characters.
    pub width: u16,
    /// Digits after the point of a number or timestamp. Maximum number of characters of a text.
    pub precision: Option<u16>,
    /// How a number is written. Other values ignore it.
    pub notation: NumberNotation,
}

/// The notation of the language, with the `:`. Empty for the default format.
impl std::fmt::Display for ValueFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        f.write_str(":")?;
        f.write_str(match self.align {
            None => "",
            Some(TextAlign::Left) => "<",
            Some(TextAlign::Right) => ">",
            Some(TextAlign::Center) => "^",
        })?;
        f.write_str(if self.zeros { "0" } else { "" })?;
        if self.width > 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(match self.notation {
            NumberNotation::Usual => "",
            NumberNotation::Hexadecimal => "x",
            NumberNotation::UpperHexadecimal => "X",
            NumberNotation::Binary => "b",
            NumberNotation::Exponent => "e",
        })
    }
}

/// Alignment of a value in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum TextAlign {
    Left,
    Right,
    Center,
}

/// How a number is written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberNotation {
    /// The usual notation of the type.
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
