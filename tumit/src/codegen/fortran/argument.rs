//! A field of a record in Fortran, in the C routine, and in the call of the header's function.

use tracer_format::schema::{FieldType, Scalar};

use super::names::ArgumentNames;

/// One type of an argument that callers can pass.
pub(super) struct ArgumentForm {
    /// The type, as in `integer(c_int)`.
    pub(super) ty: &'static str,
    /// The text after the name: nothing, `(3)` or `(:)`.
    pub(super) shape: String,
    /// The arguments for the C routine.
    pub(super) pass: Vec<String>,
}

/// A field as an argument in Fortran and C.
pub(super) struct FortranArgument {
    pub(super) name: String,
    /// The first form is the type in the record. Another is the type of a Fortran literal.
    pub(super) forms: Vec<ArgumentForm>,
    /// Whether the forms are integers of 64 bits and of default kind.
    pub(super) is_wide: bool,
    /// Whether Fortran can call the C routine with the first form unchanged.
    pub(super) is_direct: bool,
    /// Dummy arguments of the C routine.
    pub(super) dummies: Vec<DummyArgument>,
    /// Parameters of the C routine, as C declarations.
    pub(super) parameters: Vec<String>,
    /// Statements before and after the call of the header's function.
    pub(super) setup: Vec<String>,
    pub(super) cleanup: Vec<String>,
    /// Arguments of the call of the header's function.
    pub(super) call_arguments: Vec<String>,
}

/// A dummy argument of a procedure.
#[derive(Clone)]
pub(super) struct DummyArgument {
    /// The type with its attributes.
    pub(super) declared_type: String,
    /// The name with its shape.
    pub(super) name: String,
}

impl DummyArgument {
    pub(super) fn new(declared_type: impl Into<String>, name: impl Into<String>) -> Self {
        Self { declared_type: declared_type.into(), name: name.into() }
    }
}

/// A parameter of a C routine.
struct CParameter {
    declaration: String,
    /// The argument for the header's function.
    argument: String,
}

/// The conversion of one value from Fortran to C.
struct ValuePassing {
    /// Fortran type of the parameter of the C routine.
    fortran: &'static str,
    /// C type of the parameter of the C routine.
    c: &'static str,
    /// Type of the parameter of the header's function.
    header: String,
    /// Types that callers can pass, with their conversions: first the type above, then default
    /// kinds.
    forms: Vec<(&'static str, ValueConversion)>,
}

/// The conversion from the value of a caller to the type of the C routine.
#[derive(Clone, Copy)]
enum ValueConversion {
    Not,
    /// The text before and after the value.
    By(&'static str, &'static str),
}

impl ValueConversion {
    fn apply(self, value: &str) -> String {
        match self {
            Self::Not => value.to_owned(),
            Self::By(before, after) => format!("{before}{value}{after}"),
        }
    }
}

const DEFAULT_INTEGER: &str = "integer(c_int)";
const LONG: (&str, ValueConversion) = ("integer(c_int64_t)", ValueConversion::Not);
const TO_LONG: (&str, ValueConversion) = (DEFAULT_INTEGER, ValueConversion::By("int(", ", c_int64_t)"));

impl ValuePassing {
    /// A single value. Small integers are default integers here, because the C routine can narrow
    /// them.
    fn of_scalar(scalar: Scalar, enums: &[String]) -> Self {
        let small = |header: &str| Self::direct_argument(DEFAULT_INTEGER, "int", header);
        match scalar {
            Scalar::U8 => small("uint8_t"),
            Scalar::U16 => small("uint16_t"),
            Scalar::U32 => small("uint32_t"),
            Scalar::I8 => small("int8_t"),
            Scalar::I16 => small("int16_t"),
            other => Self::of_element(other, enums),
        }
    }

    /// An element of an array, which C uses unchanged in memory.
    fn of_element(scalar: Scalar, enums: &[String]) -> Self {
        match scalar {
            Scalar::U8 => Self::small_integer("integer(c_int8_t)", "int8_t", "uint8_t", "tumit_low8("),
            Scalar::I8 => Self::small_integer("integer(c_int8_t)", "int8_t", "int8_t", "tumit_low8("),
            Scalar::U16 => Self::small_integer("integer(c_int16_t)", "int16_t", "uint16_t", "tumit_low16("),
            Scalar::I16 => Self::small_integer("integer(c_int16_t)", "int16_t", "int16_t", "tumit_low16("),
            Scalar::U32 => Self::direct_argument(DEFAULT_INTEGER, "int", "uint32_t"),
            Scalar::I32 => Self::direct_argument(DEFAULT_INTEGER, "int", "int32_t"),
            Scalar::U64 => Self { forms: vec![LONG, TO_LONG], ..Self::direct_argument(LONG.0, "int64_t", "uint64_t") },
            Scalar::I64 => Self { forms: vec![LONG, TO_LONG], ..Self::direct_argument(LONG.0, "int64_t", "int64_t") },
            Scalar::F32 => Self::direct_argument("real(c_float)", "float", "float"),
            Scalar::F64 => Self::direct_argument("real(c_double)", "double", "double"),
            Scalar::Date => Self::direct_argument(LONG.0, "int64_t", "tumit1_date"),
            Scalar::Pointer => Self::direct_argument("type(c_ptr)", "const void *", "const void *"),
            Scalar::Bool => Self {
                forms: vec![("logical", ValueConversion::By("logical(", ", c_bool)"))],
                ..Self::direct_argument("logical(c_bool)", "bool", "bool")
            },
            Scalar::Enum { index, .. } => {
                let name = enums.get(index as usize).map_or_else(|| "int".into(), |name| format!("enum {name}"));
                Self::direct_argument(DEFAULT_INTEGER, "int", &name)
            }
            Scalar::Interned | Scalar::String => Self {
                forms: vec![("character(len=*)", ValueConversion::Not)],
                ..Self::direct_argument("character(kind=c_char)", "char", "const char *")
            },
            Scalar::Bytes => Self {
                forms: vec![("integer(c_int8_t)", ValueConversion::Not)],
                ..Self::direct_argument("integer(c_int8_t)", "int8_t", "void")
            },
        }
    }

    fn direct_argument(fortran: &'static str, c: &'static str, header: &str) -> Self {
        Self { fortran, c, header: header.to_owned(), forms: vec![(fortran, ValueConversion::Not)] }
    }

    /// An integer with fewer bits than a default integer.
    fn small_integer(fortran: &'static str, c: &'static str, header: &str, narrow_kind: &'static str) -> Self {
        let forms = vec![(fortran, ValueConversion::Not), (DEFAULT_INTEGER, ValueConversion::By(narrow_kind, ")"))];
        Self { forms, ..Self::direct_argument(fortran, c, header) }
    }

    fn forms(&self, name: &str, shape: &str, attributes: &[String]) -> Vec<ArgumentForm> {
        let form = |(ty, convert): &(&'static str, ValueConversion)| {
            let mut pass = vec![convert.apply(name)];
            pass.extend_from_slice(attributes);
            ArgumentForm { ty, shape: shape.to_owned(), pass }
        };
        self.forms.iter().map(form).collect()
    }

    /// The C routine's parameter for a single value.
    fn scalar_in_c(&self, parameter: &str) -> CParameter {
        let space = if self.c.ends_with('*') { "" } else { " " };
        let argument =
            if self.c == self.header { parameter.to_owned() } else { format!("({}){parameter}", self.header) };
        CParameter { declaration: format!("{}{space}{parameter}", self.c), argument }
    }

    /// The same for an array. Enums have the size of `int`, and the cast to `void *` loses no
    /// alignment here.
    fn array_in_c(&self, parameter: &str) -> CParameter {
        let pointer = |ty: &str| if ty.ends_with('*') { format!("{ty}const *") } else { format!("const {ty} *") };
        let argument = if self.c == self.header {
            parameter.to_owned()
        } else {
            format!("({})(const void *){parameter}", pointer(&self.header))
        };
        CParameter { declaration: format!("{}{parameter}", pointer(self.c)), argument }
    }
}

impl FortranArgument {
    /// Field `number` of a record. `enums` are the C names of the spec's enums.
    pub(super) fn new(names: &mut ArgumentNames, number: usize, field: &str, ty: FieldType, enums: &[String]) -> Self {
        let name = names.add(field);
        match ty {
            FieldType::One(Scalar::String | Scalar::Interned) => Self::text(names, number, &name),
            FieldType::One(Scalar::Bytes) => Self::bytes(names, number, &name),
            FieldType::One(scalar) => Self::scalar(number, &name, scalar, enums),
            FieldType::Fixed(Scalar::Interned, length) => Self::texts(names, number, &name, Some(length)),
            FieldType::Variable(Scalar::Interned) => Self::texts(names, number, &name, None),
            FieldType::Fixed(scalar, length) => Self::fixed_array(number, &name, scalar, length, enums),
            FieldType::Variable(scalar) => Self::variable(names, number, &name, scalar, enums),
        }
    }

    fn scalar(number: usize, name: &str, scalar: Scalar, enums: &[String]) -> Self {
        let passing = ValuePassing::of_scalar(scalar, enums);
        let CParameter { declaration, argument } = passing.scalar_in_c(&format!("p{number}"));
        Self {
            forms: passing.forms(name, "", &[]),
            is_wide: is_wide(scalar),
            is_direct: !matches!(scalar, Scalar::Bool),
            dummies: vec![DummyArgument::new(format!("{}, value", passing.fortran), name)],
            parameters: vec![declaration],
            call_arguments: vec![argument],
            ..Self::empty(name)
        }
    }

    fn fixed_array(number: usize, name: &str, scalar: Scalar, length: u32, enums: &[String]) -> Self {
        let passing = ValuePassing::of_element(scalar, enums);
        let CParameter { declaration, argument } = passing.array_in_c(&format!("p{number}"));
        let shape = format!("({length})");
        Self {
            forms: passing.forms(name, &shape, &[]),
            is_wide: is_wide(scalar),
            is_direct: !matches!(scalar, Scalar::Bool),
            dummies: vec![DummyArgument::new(format!("{}, intent(in)", passing.fortran), format!("{name}{shape}"))],
            parameters: vec![declaration],
            call_arguments: vec![argument],
            ..Self::empty(name)
        }
    }

    fn variable(names: &mut ArgumentNames, number: usize, name: &str, scalar: Scalar, enums: &[String]) -> Self {
        let passing = ValuePassing::of_element(scalar, enums);
        let CParameter { declaration, argument } = passing.array_in_c(&format!("p{number}"));
        let count = names.add(&format!("{name}_count"));
        Self {
            forms: passing.forms(name, "(:)", &[format!("size({name}, kind=c_size_t)")]),
            is_wide: is_wide(scalar),
            dummies: vec![
                DummyArgument::new(format!("{}, intent(in)", passing.fortran), format!("{name}(*)")),
                DummyArgument::new("integer(c_size_t), value", count),
            ],
            parameters: vec![declaration, format!("size_t n{number}")],
            call_arguments: vec![argument, format!("n{number}")],
            ..Self::empty(name)
        }
    }

    /// A field of type `bytes`: an array of bytes, or characters.
    fn bytes(names: &mut ArgumentNames, number: usize, name: &str) -> Self {
        let mut argument = Self::variable(names, number, name, Scalar::Bytes, &[]);
        argument.forms.push(ArgumentForm {
            ty: "character(len=*)",
            shape: String::new(),
            pass: vec![format!("transfer({name}, [0_c_int8_t])"), format!("len({name}, c_size_t)")],
        });
        argument.call_arguments[0] = format!("p{number}");
        argument
    }

    fn text(names: &mut ArgumentNames, number: usize, name: &str) -> Self {
        let passing = ValuePassing::of_element(Scalar::String, &[]);
        let length = names.add(&format!("{name}_len"));
        Self {
            forms: passing.forms(name, "", &[format!("len({name}, c_size_t)")]),
            dummies: vec![
                DummyArgument::new(format!("{}, intent(in)", passing.fortran), format!("{name}(*)")),
                DummyArgument::new("integer(c_size_t), value", length),
            ],
            parameters: vec![format!("const char *p{number}"), format!("size_t n{number}")],
            setup: vec![
                format!("size_t b{number} = tumit1f_bytes(p{number}, n{number});"),
                format!("char t{number}[b{number} + 1];"),
            ],
            call_arguments: vec![format!("tumit1f_text(t{number}, p{number}, b{number})")],
            ..Self::empty(name)
        }
    }

    /// An array of texts. In Fortran all have one length. In the trace each has its own.
    fn texts(names: &mut ArgumentNames, number: usize, name: &str, fixed: Option<u32>) -> Self {
        let passing = ValuePassing::of_element(Scalar::Interned, &[]);
        let length = names.add(&format!("{name}_len"));
        let shape = fixed.map_or_else(|| "(:)".into(), |length| format!("({length})"));
        let mut pass = vec![format!("len({name}, c_size_t)")];
        let mut dummies = vec![
            DummyArgument::new(format!("{}, intent(in)", passing.fortran), format!("{name}(*)")),
            DummyArgument::new("integer(c_size_t), value", length),
        ];
        let mut parameters = vec![format!("const char *p{number}"), format!("size_t n{number}")];
        let mut call_arguments = vec![format!("(const char *const *)t{number}")];
        let count = fixed.map_or_else(|| format!("c{number}"), |length| format!("{length}u"));
        if fixed.is_none() {
            pass.push(format!("size({name}, kind=c_size_t)"));
            dummies.push(DummyArgument::new("integer(c_size_t), value", names.add(&format!("{name}_count"))));
            parameters.push(format!("size_t c{number}"));
            call_arguments.push(format!("t{number} == NULL ? 0 : c{number}"));
        }
        Self {
            forms: passing.forms(name, &shape, &pass),
            dummies,
            parameters,
            setup: vec![format!("const char **t{number} = tumit1f_texts(p{number}, n{number}, {count});")],
            call_arguments,
            cleanup: vec![format!("free(t{number});")],
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
            setup: Vec::new(),
            cleanup: Vec::new(),
            call_arguments: Vec::new(),
        }
    }
}

fn is_wide(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::U64 | Scalar::I64)
}

/// Maximum number of arguments with two forms for which all combinations are generated.
const MAX_CHOICES: usize = 3;

/// The combinations of forms that the procedure of a record accepts: for each, the index of every
/// argument's form.
///
/// The first combination has the types in the record. With too many arguments, only those of 64
/// bits have a choice of forms. If these are still too many, all of them have their first form, or
/// all have their second form.
pub(super) fn combinations(arguments: &[FortranArgument]) -> Vec<Vec<usize>> {
    let with_choice = |wide_only: bool| -> Vec<usize> {
        let has = |argument: &FortranArgument| argument.forms.len() > 1 && (argument.is_wide || !wide_only);
        (0..arguments.len()).filter(|&index| has(&arguments[index])).collect()
    };
    let mut choices = with_choice(false);
    if choices.len() > MAX_CHOICES {
        choices = with_choice(true);
    }
    let first = vec![0; arguments.len()];
    if choices.len() > MAX_CHOICES {
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
