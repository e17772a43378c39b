//! Makes the tracing functions: `OUT_DIR/requests.rs`, to be read with all the rest of the program.

fn main() {
    tumit_build::compile("requests.tumit");
}
