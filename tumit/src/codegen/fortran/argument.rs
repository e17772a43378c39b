//! What a field of a record is in Fortran, in the C routine behind it, and in the call of the header's function.

use tracer_format::schema::{FieldType, Scalar};

use super::names::Arguments;

/// One way in which a caller may give an argument.
pub(super) struct Form {
    /// `integer(c_int)`.
    pub(super) ty: &'static str,
    /// After the name: nothing, `(3)` or `(:)`.
    pub(super) shape: String,
    /// What the C routine is given for it.
    pub(super) pass: Vec<String>,
}

/// A field, as Fortran and C see it.
pub(super) struct Argument {
    pub(super) name: String,
    /// The first is what the record holds; another is what a literal of Fortran is.
    pub(super) forms: Vec<Form>,
    /// The forms are integers of 64 bits and of default kind.
    pub(super) is_wide: bool,
    /// Fortran can call the C routine with the first form as it is.
    pub(super) is_direct: bool,
    /// Dummies of the C routine: type with attributes, and name with shape.
    pub(super) dummies: Vec<(String, String)>,
    /// Parameters of the C routine, as declared in C.
    pub(super) parameters: Vec<String>,
    /// Statements before the call of the header's function, and after it.
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
    /// Arguments of that call.
    pub(super) given: Vec<String>,
}

/// How one value crosses from Fortran to C.
struct Crossing {
    /// Type that the C routine takes, in Fortran.
    fortran: &'static str,
    /// The same in C.
    c: &'static str,
    /// What the header's function takes.
    header: String,
    /// What callers may give, and how it is converted: first to the type above, then from default kinds.
    forms: Vec<(&'static str, Convert)>,
}

/// From a caller's value to what C takes.
#[derive(Clone, Copy)]
enum Convert {
    Not,
    /// `BEFORE x AFTER`.
    By(&'static str, &'static str),
}

impl Convert {
    fn apply(self, value: &str) -> String {
        match self {
            Self::Not => value.to_owned(),
            Self::By(before, after) => format!("{before}{value}{after}"),
        }
    }
}

const DEFAULT_INTEGER: &str = "integer(c_int)";
const LONG: (&str, Convert) = ("integer(c_int64_t)", Convert::Not);
const TO_LONG: (&str, Convert) = (DEFAULT_INTEGER, Convert::By("int(", ", c_int64_t)"));

impl Crossing {
    /// One value by itself: small integers are default ones here, as the C routine can narrow them.
    fn of_scalar(scalar: Scalar, enums: &[String]) -> Self {
        let small = |header: &str| Self::plain(DEFAULT_INTEGER, "int", header);
        match scalar {
            Scalar::U8 => small("uint8_t"),
            Scalar::U16 => small("uint16_t"),
            Scalar::U32 => small("uint32_t"),
            Scalar::I8 => small("int8_t"),
            Scalar::I16 => small("int16_t"),
            other => Self::of_element(other, enums),
        }
    }

    /// An element of an array, which C takes as it lies in memory.
    fn of_element(scalar: Scalar, enums: &[String]) -> Self {
        match scalar {
            Scalar::U8 => Self::small("integer(c_int8_t)", "int8_t", "uint8_t", "tumit_low8("),
            Scalar::I8 => Self::small("integer(c_int8_t)", "int8_t", "int8_t", "tumit_low8("),
            Scalar::U16 => Self::small("integer(c_int16_t)", "int16_t", "uint16_t", "tumit_low16("),
            Scalar::I16 => Self::small("integer(c_int16_t)", "int16_t", "int16_t", "tumit_low16("),
            Scalar::U32 => Self::plain(DEFAULT_INTEGER, "int", "uint32_t"),
            Scalar::I32 => Self::plain(DEFAULT_INTEGER, "int", "int32_t"),
            Scalar::U64 => Self { forms: vec![LONG, TO_LONG], ..Self::plain(LONG.0, "int64_t", "uint64_t") },
            Scalar::I64 => Self { forms: vec![LONG, TO_LONG], ..Self::plain(LONG.0, "int64_t", "int64_t") },
            Scalar::F32 => Self::plain("real(c_float)", "float", "float"),
            Scalar::F64 => Self::plain("real(c_double)", "double", "double"),
            Scalar::Date => Self::plain(LONG.0, "int64_t", "tumit1_date"),
            Scalar::Pointer => Self::plain("type(c_ptr)", "const void *", "const void *"),
            Scalar::Bool => Self {
                forms: vec![("logical", Convert::By("logical(", ", c_bool)"))],
                ..Self::plain("logical(c_bool)", "bool", "bool")
            },
            Scalar::Enum { index, .. } => {
                let name = enums.get(index as usize).map_or_else(|| "int".into(), |name| format!("enum {name}"));
                Self::plain(DEFAULT_INTEGER, "int", &name)
            }
            Scalar::Interned | Scalar::String => Self {
                forms: vec![("character(len=*)", Convert::Not)],
                ..Self::plain("character(kind=c_char)", "char", "const char *")
            },
            Scalar::Bytes => Self {
                forms: vec![("integer(c_int8_t)", Convert::Not)],
                ..Self::plain("integer(c_int8_t)", "int8_t", "void")
            },
        }
    }

    fn plain(fortran: &'static str, c: &'static str, header: &str) -> Self {
        Self { fortran, c, header: header.to_owned(), forms: vec![(fortran, Convert::Not)] }
    }

    /// An integer that is narrower than default ones.
    fn small(fortran: &'static str, c: &'static str, header: &str, narrow: &'static str) -> Self {
        let forms = vec![(fortran, Convert::Not), (DEFAULT_INTEGER, Convert::By(narrow, ")"))];
        Self { forms, ..Self::plain(fortran, c, header) }
    }

    fn forms(&self, name: &str, shape: &str, more: &[String]) -> Vec<Form> {
        let form = |(ty, convert): &(&'static str, Convert)| {
            let mut pass = vec![convert.apply(name)];
            pass.extend_from_slice(more);
            Form { ty, shape: shape.to_owned(), pass }
        };
        self.forms.iter().map(form).collect()
    }

    /// The C routine's parameter, when the value comes by itself, and what the header is given.
    fn scalar_in_c(&self, parameter: &str) -> (String, String) {
        let space = if self.c.ends_with('*') { "" } else { " " };
        let given = if self.c == self.header { parameter.to_owned() } else { format!("({}){parameter}", self.header) };
        (format!("{}{space}{parameter}", self.c), given)
    }

    /// The same for arrays. Enums have the size of `int`, and `void *` loses no alignment here.
    fn array_in_c(&self, parameter: &str) -> (String, String) {
        let pointer = |ty: &str| if ty.ends_with('*') { format!("{ty}const *") } else { format!("const {ty} *") };
        let given = if self.c == self.header {
            parameter.to_owned()
        } else {
            format!("({})(const void *){parameter}", pointer(&self.header))
        };
        (format!("{}{parameter}", pointer(self.c)), given)
    }
}

impl Argument {
    /// Field `number` of a record. `enums`: the C names of the spec's enums.
    pub(super) fn new(taken: &mut Arguments, number: usize, field: &str, ty: FieldType, enums: &[String]) -> Self {
        let name = taken.add(field);
        match ty {
            FieldType::One(Scalar::String | Scalar::Interned) => Self::text(taken, number, &name),
            FieldType::One(Scalar::Bytes) => Self::bytes(taken, number, &name),
            FieldType::One(scalar) => Self::scalar(number, &name, scalar, enums),
            FieldType::Fixed(Scalar::Interned, length) => Self::texts(taken, number, &name, Some(length)),
            FieldType::Variable(Scalar::Interned) => Self::texts(taken, number, &name, None),
            FieldType::Fixed(scalar, length) => Self::fixed(number, &name, scalar, length, enums),
            FieldType::Variable(scalar) => Self::variable(taken, number, &name, scalar, enums),
        }
    }

    fn scalar(number: usize, name: &str, scalar: Scalar, enums: &[String]) -> Self {
        let crossing = Crossing::of_scalar(scalar, enums);
        let (parameter, given) = crossing.scalar_in_c(&format!("p{number}"));
        Self {
            forms: crossing.forms(name, "", &[]),
            is_wide: is_wide(scalar),
            is_direct: !matches!(scalar, Scalar::Bool),
            dummies: vec![(format!("{}, value", crossing.fortran), name.to_owned())],
            parameters: vec![parameter],
            given: vec![given],
            ..Self::empty(name)
        }
    }

    fn fixed(number: usize, name: &str, scalar: Scalar, length: u32, enums: &[String]) -> Self {
        let crossing = Crossing::of_element(scalar, enums);
        let (parameter, given) = crossing.array_in_c(&format!("p{number}"));
        let shape = format!("({length})");
        Self {
            forms: crossing.forms(name, &shape, &[]),
            is_wide: is_wide(scalar),
            is_direct: !matches!(scalar, Scalar::Bool),
            dummies: vec![(format!("{}, intent(in)", crossing.fortran), format!("{name}{shape}"))],
            parameters: vec![parameter],
            given: vec![given],
            ..Self::empty(name)
        }
    }

    fn variable(taken: &mut Arguments, number: usize, name: &str, scalar: Scalar, enums: &[String]) -> Self {
        let crossing = Crossing::of_element(scalar, enums);
        let (parameter, given) = crossing.array_in_c(&format!("p{number}"));
        let count = taken.add(&format!("{name}_count"));
        Self {
            forms: crossing.forms(name, "(:)", &[format!("size({name}, kind=c_size_t)")]),
            is_wide: is_wide(scalar),
            dummies: vec![
                (format!("{}, intent(in)", crossing.fortran), format!("{name}(*)")),
                ("integer(c_size_t), value".into(), count),
            ],
            parameters: vec![parameter, format!("size_t n{number}")],
            given: vec![given, format!("n{number}")],
            ..Self::empty(name)
        }
    }

    /// Bytes come as an array of them, or as characters.
    fn bytes(taken: &mut Arguments, number: usize, name: &str) -> Self {
        let mut argument = Self::variable(taken, number, name, Scalar::Bytes, &[]);
        argument.forms.push(Form {
            ty: "character(len=*)",
            shape: String::new(),
            pass: vec![format!("transfer({name}, [0_c_int8_t])"), format!("len({name}, c_size_t)")],
        });
        argument.given[0] = format!("p{number}");
        argument
    }

    fn text(taken: &mut Arguments, number: usize, name: &str) -> Self {
        let crossing = Crossing::of_element(Scalar::String, &[]);
        let length = taken.add(&format!("{name}_len"));
        Self {
            forms: crossing.forms(name, "", &[format!("len({name}, c_size_t)")]),
            dummies: vec![
                (format!("{}, intent(in)", crossing.fortran), format!("{name}(*)")),
                ("integer(c_size_t), value".into(), length),
            ],
            parameters: vec![format!("const char *p{number}"), format!("size_t n{number}")],
            before: vec![
                format!("size_t b{number} = tumit1f_bytes(p{number}, n{number});"),
                format!("char t{number}[b{number} + 1];"),
            ],
            given: vec![format!("tumit1f_text(t{number}, p{number}, b{number})")],
            ..Self::empty(name)
        }
    }

    /// An array of texts: all of one length in Fortran, each with its own in the trace.
    fn texts(taken: &mut Arguments, number: usize, name: &str, fixed: Option<u32>) -> Self {
        let crossing = Crossing::of_element(Scalar::Interned, &[]);
        let length = taken.add(&format!("{name}_len"));
        let shape = fixed.map_or_else(|| "(:)".into(), |length| format!("({length})"));
        let mut pass = vec![format!("len({name}, c_size_t)")];
        let mut dummies = vec![
            (format!("{}, intent(in)", crossing.fortran), format!("{name}(*)")),
            ("integer(c_size_t), value".into(), length),
        ];
        let mut parameters = vec![format!("const char *p{number}"), format!("size_t n{number}")];
        let mut given = vec![format!("(const char *const *)t{number}")];
        let count = fixed.map_or_else(|| format!("c{number}"), |length| format!("{length}u"));
        if fixed.is_none() {
            pass.push(format!("size({name}, kind=c_size_t)"));
            dummies.push(("integer(c_size_t), value".into(), taken.add(&format!("{name}_count"))));
            parameters.push(format!("size_t c{number}"));
            given.push(format!("t{number} == NULL ? 0 : c{number}"));
        }
        Self {
            forms: crossing.forms(name, &shape, &pass),
            dummies,
            parameters,
            before: vec![format!("const char **t{number} = tumit1f_texts(p{number}, n{number}, {count});")],
            given,
            after: vec![format!("free(t{number});")],
            ..Self::empty(name)
        }
    }

    fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            forms: Vec::new(),
            is_wide: false,
            is_direct: false,
            dummies: Vec::new(),
            parameters: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            given: Vec::new(),
        }
    }
}

fn is_wide(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::U64 | Scalar::I64)
}

/// With more arguments of two forms than this, not every combination is offered.
const MOST_CHOICES: usize = 3;

/// The combinations of forms that a record's procedure accepts: for each the index of every argument's form. The first is
/// what the record holds. With many arguments only those of 64 bits keep a choice, and with still more all make the same.
pub(super) fn combinations(arguments: &[Argument]) -> Vec<Vec<usize>> {
    let with_choice = |wide_only: bool| -> Vec<usize> {
        let has = |argument: &Argument| argument.forms.len() > 1 && (argument.is_wide || !wide_only);
        (0..arguments.len()).filter(|&index| has(&arguments[index])).collect()
    };
    let mut choices = with_choice(false);
    if choices.len() > MOST_CHOICES {
        choices = with_choice(true);
    }
    let first = vec![0; arguments.len()];
    if choices.len() > MOST_CHOICES {
        let mut second = first.clone();
        choices.iter().for_each(|&index| second[index] = 1);
        return vec![first, second];
    }
    let combine = |bits: usize| {
        let mut forms = first.clone();
        choices.iter().enumerate().for_each(|(bit, &index)| forms[index] = bits >> bit & 1);
        forms
    };
    (0..1 << choices.len()).map(combine).collect()
}
