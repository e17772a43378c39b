//! Numbers of enum values: explicit, or one more than the previous number.

tracer_rt::events!("cases/enum-numbers/spec.tumit");

pub fn main() {
    all::changed(State::Idle, Code::Ok);
    all::changed(State::Busy, Code::Failed);
    all::changed(State::Lost, Code::Odd);
    all::changed(State::Found, Code::Small);
    all::changed(State::First, Code::Ok);
    all::changed(State::Last, Code::Ok);
    all::several([State::Last, State::First, State::Idle], &[Code::Odd, Code::Small, Code::Failed]);
    all::several([State::Busy; 3], &[]);
}
