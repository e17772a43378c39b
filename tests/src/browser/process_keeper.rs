//! [`ProcessKeeper`]: ends a program with the test process, also if that is killed.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// A shell script that runs a program until the script's standard input is closed. Then it ends the
/// program and removes a folder. `$1` is the folder; the command follows.
///
/// The command can be a script that starts the program and waits for it. So it gets a process group
/// of its own, and the whole group ends.
const KEEPER: &str = r#"trap : HUP INT TERM
folder=$1; shift
command -v "$1" || exit
setsid "$@" & group=$!
read -r _
kill -9 "-$group" || kill -9 "$group"; wait "$group"
# Processes of the group can still write.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }"#;

/// A running program. The program and the processes of its group end when this value is dropped, or
/// when the test process ends.
#[derive(Debug)]
pub struct ProcessKeeper {
    /// The shell that ends the program when its standard input is closed. This process has the
    /// other side of the pipe.
    shell: Child,
}

impl ProcessKeeper {
    /// Starts a program with the arguments and the environment of `command`. `folder` is removed at
    /// its end.
    ///
    /// # Panics
    /// If the shell cannot be started.
    #[must_use]
    pub fn start(command: &Command, folder: tempfile::TempDir) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", KEEPER, "sh"]).arg(folder.path()).arg(command.get_program()).args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals for the group of the test process do not end the shell before the program.
        shell.process_group(0);
        let shell = shell.spawn().unwrap_or_else(|error| panic!("cannot run a shell: {error}"));
        // From now on, the shell removes the folder.
        let _path = folder.keep();
        Self { shell }
    }

    /// Whether the program has not ended. False if the program is not installed.
    pub(super) fn is_running(&mut self) -> bool {
        self.shell.try_wait().is_ok_and(|status| status.is_none())
    }
}

impl Drop for ProcessKeeper {
    fn drop(&mut self) {
        // The shell ends when its input is closed.
        drop(self.shell.stdin.take());
        // It may have ended already.
        let _ = self.shell.wait();
    }
}
