//! Generates the tracing functions.

fn main() {
    tumit_build::compile("specs/app.tumit");
    tumit_build::BuildScript::new("specs/app.tumit").off(["APP"]).file_name("quiet.rs").compile();
}
