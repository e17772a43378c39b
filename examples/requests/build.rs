//! Generates the tracing functions, `OUT_DIR/requests.rs`, which the program includes.

fn main() {
    tumit_build::compile("requests.tumit");
}
