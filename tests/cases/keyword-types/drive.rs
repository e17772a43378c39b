//! Keywords as the name of the trace, of levels, enums, their values, types and constants.

tracer_rt::events!("cases/keyword-types/spec.tumit");

pub fn main() {
    int::a(Struct::Enum, 1);
    int::a(Struct::Self_, 2);
    tracer_rt::set_level("match", true);
    match_::b(Type::Float, [7, 8]);
    end::c(&[Struct::Public, Struct::Virtual, Struct::True, Struct::None]);
}
