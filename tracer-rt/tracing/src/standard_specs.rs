//! The generated functions of the specs that all programs have.

tracer_rt::events!("std:tracing", mod = tracing);
tracer_rt::events!("std:tokio", mod = tokio);
