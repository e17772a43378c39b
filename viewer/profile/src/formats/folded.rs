//! Folded stacks, the input of `flamegraph.pl`, `inferno` and other tools.

use std::fmt::Write as _;

use super::paths::self_times;
use crate::profile::Profile;

/// A name in a line of a stack: `;` separates names, and a line break ends the stack.
pub(super) fn stack_name(name: &str) -> String {
    name.replace(';', ",").replace(char::is_control, " ")
}

/// A line for each path of calls with self time: the names, separated by `;`, a blank and the self
/// time in nanoseconds. In names, `;` becomes `,`, and control characters become blanks.
///
/// The lines are sorted. A stack has at most 1,000 names: the self times of deeper calls count for
/// their caller at this depth. The cost is proportional to the sum of the depths of all nodes.
pub fn folded(profiles: &[Profile]) -> String {
    let mut text = String::new();
    for (path, nanos) in profiles.iter().flat_map(self_times) {
        let names: Vec<String> = path.into_iter().map(stack_name).collect();
        let _ = writeln!(text, "{} {nanos}", names.join(";"));
    }
    text
}
