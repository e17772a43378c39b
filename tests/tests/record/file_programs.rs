//! Programs with files.

use tests::programs::{succeed, tumit};

use crate::record_folder::RecordFolder;

/// Reads and writes in all ways. The status is the number of the first step that fails.
const PROGRAM: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static char bytes[100000];
int main(int argc, char **argv) {
    struct iovec parts[2] = {{bytes, 1000}, {bytes, 24}};
    int file = open("data", O_RDWR | O_CREAT | O_TRUNC, 0640), channel[2], i;
    FILE *stream;
    (void)argv;
    if (write(file, bytes, sizeof bytes) != sizeof bytes || writev(file, parts, 2) != 1024) return 1;
    if (pwrite(file, bytes, 10, 5) != 10 || fsync(file) != 0) return 2;
    if (pread(file, bytes, 2000 + argc - 1, 0) != 2000 || close(file) != 0) return 3;
    stream = fopen("text", "w");
    for (i = 0; i < 50000; i++) if (fwrite("hello\n", 6, 1, stream) != 1) return 4;
    if (fclose(stream) != 0) return 5;
    stream = fopen("text", "r");
    for (i = 0; fread(bytes, 1, 6, stream) == 6; i++) {}
    if (i != 50000 || fclose(stream) != 0) return 6;
    if (pipe(channel) != 0 || write(channel[1], "x", 1) != 1 || read(channel[0], bytes, 1) != 1) return 7;
    errno = 0;
    if (read(999, bytes, 1) != -1 || errno != EBADF) return 8;
    if (open("/absent/file", O_RDONLY) != -1 || errno != ENOENT) return 9;
    return 0;
}
"#;

#[test]
fn the_bytes_of_files_are_exact() {
    for flags in [&["-O0"][..], &["-O2", "-D_FORTIFY_SOURCE=2"]] {
        let folder = RecordFolder::new();
        let program = folder.compile("gcc", "program", PROGRAM, flags).display().to_string();
        let (output, messages) =
            folder.recorded(&["--with", "io", "--levels", "IO_CHANNELS=on", "-o", "run.tmt", "--", &program]);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        assert!(messages.contains("io attached to"), "{messages}");
        let convert = succeed(tumit().arg("convert").arg(folder.file("run.tmt")).args(["-o", "-", "--format", "csv"]));
        let sum = |variable: &str| -> f64 {
            let values = convert.lines().filter(|line| line.starts_with("Variable") && line.contains(variable));
            values.filter_map(|line| line.split(',').nth(7)?.parse().ok()).fold(0.0, f64::max)
        };
        assert_eq!((sum("Bytes written"), sum("Bytes read")), (101_034.0 + 300_000.0, 2000.0 + 300_000.0), "{convert}");
        let channels = folder.event_count("run.tmt", "channel_call.begin");
        assert!(channels >= 2, "a write and a read of the pipe: {channels}");
        let info = succeed(tumit().arg("info").arg(folder.file("run.tmt")));
        assert!(info.contains("Nothing is dropped, missing or damaged."), "{info}");
    }
}

#[test]
fn files_are_recorded_on_request_only() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", PROGRAM, &[]).display().to_string();
    let (output, messages) = folder.recorded(&["--", &program]);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert!(messages.contains("nothing was recorded") && folder.runs().is_empty(), "{messages}");
}
