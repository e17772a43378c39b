//! The names of states in which a unit sends or receives messages.

use crate::execution::categories::words;

/// The calls that start a send and return without a wait for the receiver.
const NONBLOCKING_SENDS: [&str; 6] = ["isend", "ibsend", "irsend", "issend", "isendrecv", "bsend"];

/// Whether a unit receives messages in a state of this name, such as `MPI_Recv`.
pub(crate) fn is_receive(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("recv") || name.contains("receive")
}

/// Whether a unit sends messages in a state of this name, such as `MPI_Ssend`.
pub(crate) fn is_send(name: &str) -> bool {
    name.to_lowercase().contains("send")
}

/// Whether a state of this name starts a send without a wait for its receiver, such as `MPI_Isend`
/// or `send begin`.
pub(super) fn is_nonblocking_send(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| NONBLOCKING_SENDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| pair == ["send", "begin"])
}

#[cfg(test)]
mod tests {
    use super::{is_nonblocking_send, is_receive, is_send};

    #[test]
    fn names_have_their_direction() {
        for (name, sends, receives, is_nonblocking) in [
            ("MPI_Ssend", true, false, false),
            ("PMPI_Isend", true, false, true),
            ("send begin", true, false, true),
            ("MPI_Bsend", true, false, true),
            ("MPI_Sendrecv", true, true, false),
            ("Receives a message", false, true, false),
            ("MPI_Waitall", false, false, false),
        ] {
            let found = (is_send(name), is_receive(name), is_nonblocking_send(name));
            assert_eq!(found, (sends, receives, is_nonblocking), "{name}");
        }
    }
}
