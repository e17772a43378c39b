//! Access to the page from another machine by `ssh -L`, with the printed command, to a port or to a
//! socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tests::browser::BrowserPage;
use tests::page::{SETTLED, TRACE, rows};
use tests::programs::{succeed, tumit};

/// `tumit view`, and the lines that it printed before the last one. Killed at the end of the test.
struct ViewerOutput {
    process: Child,
    lines: Vec<String>,
    // Keeps the pipe open: a viewer that cannot write ends.
    _stderr: BufReader<std::process::ChildStderr>,
}

impl ViewerOutput {
    fn start(view: &mut Command, folder: &Path) -> Self {
        // A second name gives another port, because a listener on the usual port of this one would
        // block the tunnel.
        for name in ["trace.paje", "tunnel.paje"] {
            std::fs::write(folder.join(name), TRACE).unwrap();
        }
        view.current_dir(folder)
            .env("XDG_CACHE_HOME", folder)
            .env("USER", "me")
            .stderr(Stdio::piped())
            .stdin(Stdio::null());
        let mut process = view.spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != "Ctrl-C closes the page.") {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended: {lines:?}");
            lines.push(line.trim().to_owned());
        }
        Self { process, lines, _stderr: stderr }
    }

    fn with(&self, start: &str) -> &str {
        self.lines.iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} in {:?}", self.lines))
    }
}

impl Drop for ViewerOutput {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The effect of `ssh -L PORT:PATH`, without the network.
fn tunnel(port: u16, path: &Path) {
    let near = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let path = path.to_owned();
    std::thread::spawn(move || {
        for here in near.incoming().map_while(Result::ok) {
            let Ok(there) = UnixStream::connect(&path) else { continue };
            let (mut near_in, mut far_out) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            let (mut far_in, mut near_out): (UnixStream, TcpStream) = (there, here);
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut near_in, &mut far_out);
                let _ = far_out.shutdown(Shutdown::Write);
            });
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut far_in, &mut near_out);
                let _ = near_out.shutdown(Shutdown::Both);
            });
        }
    });
}

#[test]
fn the_page_works_through_a_socket_that_is_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my page.sock");
    let serve = || {
        // The parent of the test process may ignore this signal.
        let mut view = Command::new("env");
        view.arg("--default-signal=HUP").arg(tumit().get_program());
        view.args(["view", "tunnel.paje", "--socket", "my page.sock"]).env_remove("SSH_CONNECTION");
        ViewerOutput::start(&mut view, folder.path())
    };
    let end = |viewer: &mut ViewerOutput, signal: &str| {
        succeed(Command::new("kill").args([signal, &viewer.process.id().to_string()]));
        assert!(viewer.process.wait().unwrap().success(), "{signal}");
        assert!(!path.exists(), "the socket is removed: {signal}");
    };
    let mut viewer = serve();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let url = viewer.with("http://127.0.0.1:").to_owned();
    let port: u16 = url[17..].split('/').next().unwrap().parse().unwrap();
    assert_eq!(viewer.with("ssh"), format!("ssh -L {port}:'{}' me@HOST", path.display()));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "no port is open");
    tunnel(port, &path);
    let mut browser = BrowserPage::start(1280, 720);
    browser.open(&url);
    browser.wait(SETTLED);
    assert_eq!(rows(&mut browser)[0], "Node 0");
    browser.key("+");
    browser.wait("document.querySelector('#time-range-field').value.startsWith('166')");
    browser.wait(SETTLED);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    // The secret is required here, too.
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /t/0/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    drop(browser);
    end(&mut viewer, "-INT");
    for signal in ["-TERM", "-HUP"] {
        end(&mut serve(), signal);
    }
}

#[test]
fn the_tunnel_command_is_printed_in_an_ssh_session() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = ViewerOutput::start(
        tumit().args(["view", "trace.paje", "--no-open"]).env("SSH_CONNECTION", "10.0.0.7 51234 login1.example 22"),
        folder.path(),
    );
    let url = viewer.with("http://127.0.0.1:");
    let port: u16 = url[17..].split('/').next().unwrap().parse().unwrap();
    assert_eq!(viewer.with("ssh"), format!("ssh -L {port}:127.0.0.1:{port} me@login1.example"));
    drop(viewer);
    let local = ViewerOutput::start(
        tumit().args(["view", "trace.paje", "--no-open"]).env_remove("SSH_CONNECTION"),
        folder.path(),
    );
    assert!(!local.lines.iter().any(|line| line.contains("ssh")), "{:?}", local.lines);
}
