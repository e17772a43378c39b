//! The procedures that record one event, or one end of a span: the Fortran procedure that programs
//! call, and the C routine that it uses.

use std::fmt::Write as _;

use super::argument::{DummyArgument, FortranArgument, combinations};
use super::names::{ArgumentNames, FortranNames, imported};
use crate::codegen::c::CNames;
use crate::codegen::fortran::code_writer::CodeWriter;
use crate::spec::{RecordDecl, Spec};

/// The procedures of one record.
pub(super) struct FortranProcedure<'a> {
    record: &'a RecordDecl,
    /// The name that programs call.
    pub(super) name: &'a str,
    /// The Fortran name of the C routine. It is the public name if programs call the routine
    /// directly.
    routine: String,
    /// The name of the C routine for the linker.
    label: String,
    /// The function of the header.
    function: &'a str,
    /// A C expression that is 0 when the level is off.
    condition: String,
    arguments: Vec<FortranArgument>,
    /// The procedures of the module that convert arguments.
    converting: Vec<ConvertingProcedure>,
    /// The optional arguments for the source position.
    position: Option<PositionArguments>,
}

/// A procedure of the module that converts arguments.
struct ConvertingProcedure {
    name: String,
    /// The form of each argument.
    forms: Vec<usize>,
}

/// The names of the arguments for the source position.
struct PositionArguments {
    file: String,
    line: String,
}

/// Intrinsics that procedures of the module use in their bodies.
const INTRINSICS: [&str; 6] = ["int", "len", "logical", "present", "size", "transfer"];

impl<'a> FortranProcedure<'a> {
    /// The procedures of record `index`. Adds the private names that they need to `names`.
    pub(super) fn new(spec: &'a Spec, c: &'a CNames, names: &mut FortranNames, public: &'a str, index: usize) -> Self {
        let record = &spec.records[index];
        // Whether there are converting procedures depends only on the types of the arguments, and
        // it determines the reserved names. So the arguments are built twice.
        let build = |reserved: &[&str]| {
            let mut argument_names = ArgumentNames::new(reserved, public);
            let fields = record.layout.fields.iter().enumerate();
            let arguments: Vec<_> = fields
                .map(|(number, field)| {
                    FortranArgument::new(&mut argument_names, number, &field.name, field.ty, &c.enums)
                })
                .collect();
            let position = record
                .layout
                .has_location
                .then(|| PositionArguments { file: argument_names.add("file"), line: argument_names.add("line") });
            (arguments, position)
        };
        let (arguments, position) = build(&[]);
        let direct = position.is_none() && arguments.iter().all(|argument| argument.is_direct);
        let mut forms = combinations(&arguments);
        if direct {
            forms.remove(0);
        }
        let is_only_form = forms.len() + usize::from(direct) == 1;
        let routine = if direct && is_only_form { public.to_owned() } else { names.unique_private_name(public, "c") };
        let converting: Vec<_> = forms
            .into_iter()
            .enumerate()
            .map(|(number, forms)| {
                let name = if is_only_form {
                    public.to_owned()
                } else {
                    names.unique_private_name(public, &(number + 1).to_string())
                };
                ConvertingProcedure { name, forms }
            })
            .collect();
        let (arguments, position) = if converting.is_empty() {
            (arguments, position)
        } else {
            let specifics = converting.iter().map(|procedure| procedure.name.as_str());
            let passed: Vec<_> = arguments.iter().flat_map(|a| a.forms.iter().flat_map(|form| &form.pass)).collect();
            let placed = |name: &str| position.is_some() && ["len", "present"].contains(&name);
            let used = |name: &&str| placed(name) || passed.iter().any(|text| text.contains(&format!("{name}(")));
            build(&INTRINSICS.into_iter().filter(used).chain([routine.as_str()]).chain(specifics).collect::<Vec<_>>())
        };
        let level = c.levels.get(record.level.index()).map_or("", String::as_str);
        Self {
            record,
            name: public,
            label: format!("tumit1f_{public}"),
            function: &c.functions[index],
            condition: c.level_macro(level),
            routine,
            arguments,
            converting,
            position,
        }
    }

    pub(super) fn interfaces(&self, out: &mut CodeWriter) {
        let generic = self.converting.iter().any(|procedure| procedure.name != self.name);
        let direct = self.is_direct();
        out.line("");
        if !generic {
            if direct {
                out.doc(&self.documentation());
            }
            out.line("interface");
            out.indent(|out| self.c_interface(out));
            out.line("end interface");
            return;
        }
        if !direct {
            out.line("interface");
            out.indent(|out| self.c_interface(out));
            out.line("end interface");
        }
        out.doc(&self.documentation());
        out.line(&format!("interface {}", self.name));
        out.indent(|out| {
            if direct {
                self.c_interface(out);
            }
            let specifics: Vec<_> = self.converting.iter().map(|procedure| procedure.name.clone()).collect();
            out.list("module procedure :: ", &specifics, "");
        });
        out.line(&format!("end interface {}", self.name));
    }

    /// Whether programs can call the C routine itself.
    fn is_direct(&self) -> bool {
        self.position.is_none() && self.arguments.iter().all(|argument| argument.is_direct)
    }

    /// The record's documentation, and that of its fields.
    fn documentation(&self) -> String {
        let mut text = self.record.doc.trim().to_owned();
        for (argument, field) in self.arguments.iter().zip(&self.record.fields) {
            if !field.doc.trim().is_empty() {
                let _ = write!(text, "\n- `{}`: {}", argument.name, field.doc.trim());
            }
        }
        if let Some(PositionArguments { file, line }) = &self.position {
            let _ = write!(
                text,
                "\n- `{file}`, `{line}`: the source position of the call: __FILE__ and __LINE__ in a file.F90"
            );
        }
        text
    }

    fn c_interface(&self, out: &mut CodeWriter) {
        let mut dummies: Vec<DummyArgument> = Vec::new();
        if let Some(PositionArguments { file, line }) = &self.position {
            dummies.push(DummyArgument::new("character(kind=c_char), intent(in)", format!("{file}(*)")));
            // The C routine gets these arguments by position, so their names are free.
            dummies.push(DummyArgument::new("integer(c_size_t), value", "tumit_len"));
            dummies.push(DummyArgument::new("integer(c_int), value", line));
        }
        let argument_dummies = self.arguments.iter().flat_map(|argument| argument.dummies.iter().cloned());
        dummies.extend(argument_dummies);
        let base_name = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
        let names: Vec<_> = dummies.iter().map(|dummy| base_name(&dummy.name)).collect();
        out.list(&format!("subroutine {}(", self.routine), &names, ") &");
        out.line(&format!("    bind(C, name=\"{}\")", self.label));
        out.indent(|out| {
            let types: String = dummies.iter().map(|dummy| format!("{} ", dummy.declared_type)).collect();
            let kinds = imported(&types);
            if !kinds.is_empty() {
                out.list("import :: ", &kinds, "");
            }
            for (number, dummy) in dummies.iter().enumerate() {
                let type_text = if self.is_direct() { self.field_type_text(number) } else { "" };
                out.line_with_comment(&format!("{} :: {}", dummy.declared_type, dummy.name), type_text);
            }
        });
        out.line(&format!("end subroutine {}", self.routine));
    }

    /// The type of the field as in the spec.
    fn field_type_text(&self, field: usize) -> &str {
        self.record.fields.get(field).map_or("", |field| field.type_text.as_str())
    }

    /// Writes the procedures of the module that convert arguments.
    pub(super) fn bodies(&self, out: &mut CodeWriter) {
        for ConvertingProcedure { name, forms } in &self.converting {
            out.line("");
            if name == self.name {
                out.doc(&self.documentation());
            }
            self.body(out, name, forms);
        }
    }

    fn body(&self, out: &mut CodeWriter, name: &str, forms: &[usize]) {
        let position = self.position.iter().flat_map(|names| [names.file.clone(), names.line.clone()]);
        let dummies: Vec<_> = self.arguments.iter().map(|argument| argument.name.clone()).chain(position).collect();
        out.list(&format!("subroutine {name}("), &dummies, ")");
        out.indent(|out| {
            let mut pass = Vec::new();
            for (number, (argument, &form)) in self.arguments.iter().zip(forms).enumerate() {
                let form = &argument.forms[form];
                let declared = format!("{}, intent(in) :: {}{}", form.ty, argument.name, form.shape);
                out.line_with_comment(&declared, self.field_type_text(number));
                pass.extend(form.pass.iter().cloned());
            }
            let call = format!("call {}(", self.routine);
            let Some(PositionArguments { file, line }) = &self.position else { return out.list(&call, &pass, ")") };
            out.line(&format!("character(len=*), intent(in), optional :: {file}"));
            out.line(&format!("integer(c_int), intent(in), optional :: {line}"));
            let with = |position: [String; 3]| position.into_iter().chain(pass.iter().cloned()).collect::<Vec<_>>();
            out.line(&format!("if (present({file}) .and. present({line})) then"));
            out.indent(|out| {
                out.list(&call, &with([file.clone(), format!("len({file}, c_size_t)"), line.clone()]), ")");
            });
            out.line("else");
            out.indent(|out| {
                out.list(&call, &with(["\" \"".into(), "0_c_size_t".into(), "0_c_int".into()]), ")");
            });
            out.line("end if");
        });
        out.line(&format!("end subroutine {name}"));
    }

    /// Writes the C routine.
    pub(super) fn routine_in_c(&self, out: &mut String) {
        let mut parameters: Vec<_> = self.arguments.iter().flat_map(|a| a.parameters.iter().cloned()).collect();
        let mut call_arguments: Vec<_> = self.arguments.iter().flat_map(|a| a.call_arguments.iter().cloned()).collect();
        let mut function = self.function.to_owned();
        if self.position.is_some() {
            let position = ["const char *file", "size_t length", "int line"];
            parameters.splice(0..0, position.map(str::to_owned));
            call_arguments.insert(0, "tumit1f_place(file, length, line)".into());
            function += "_at";
        }
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let fields: Vec<_> = self.record.layout.fields.iter().map(|field| field.name.as_str()).collect();
        let _ = writeln!(out, "\n/* {}({}) */", self.record.layout.name, fields.join(", "));
        let _ = writeln!(out, "void {}({parameters}) {{", self.label);
        let call = format!("{function}({});", call_arguments.join(", "));
        if self.is_direct() {
            let _ = writeln!(out, "    {call}");
        } else {
            let _ = writeln!(out, "    if ({} != 0) {{", self.condition);
            let setup = self.arguments.iter().flat_map(|argument| &argument.setup);
            let cleanup = self.arguments.iter().flat_map(|argument| &argument.cleanup);
            for line in setup.chain([&call]).chain(cleanup) {
                let _ = writeln!(out, "        {line}");
            }
            out.push_str("    }\n");
        }
        out.push_str("}\n");
    }
}
