//! Programs whose counters are recorded. No test depends on a counter of the processor.

use tests::programs::{succeed, tumit};

use crate::record_folder::RecordFolder;

/// Touches 1000 pages in the first thread, 2000 in a second one that then works for a while, and
/// 500 in a child process. Files that the program did not open are closed, and their numbers used.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void touch(size_t pages) {
    size_t i, size = (size_t)getpagesize();
    volatile char *bytes = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)bytes, pages * size, MADV_NOHUGEPAGE);
    for (i = 0; i < pages; i++) bytes[i * size] = 1;
}
static void *work(void *argument) {
    struct timespec time;
    touch(2000);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); while (time.tv_sec == 0 && time.tv_nsec < 50000000);
    return argument;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int status, ends[2], i, last = 0;
    (void)argv;
    touch(1000);
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 2;
    if (fork() == 0) {
        touch(500);
        usleep(30000);
        exit(7);
    }
    if (wait(&status) < 0 || WEXITSTATUS(status) != 7) return 3;
    if (argc > 1) {
        char text[8];
        for (i = 3; i < 70000; i++) close(i);
        if (pipe(ends) != 0 || write(ends[1], "12345678", 8) != 8) return 4;
        while ((i = dup(ends[0])) >= 0) last = i;
        usleep(50000);
        if (read(ends[0], text, 8) != 8) return 5;
        for (i = 5; i <= last; i++) close(i);
    }
    puts("done");
    return 0;
}
"#;

/// Replaces itself by each function that can do this. Child processes of `vfork` and programs that
/// do not exist do not end the recording. The exit status is that of the last program.
const REPLACEMENTS: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    const int stage = argc > 1 ? atoi(argv[1]) : 0;
    char next[12], *arguments[] = {argv[0], next, NULL};
    size_t i, page = (size_t)getpagesize(), bytes = 400 * page;
    volatile char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)pages, bytes, MADV_NOHUGEPAGE);
    snprintf(next, sizeof next, "%d", stage + 1);
    usleep(15000);
    if (stage == 0) {
        if (vfork() == 0) {
            execl("/bin/true", "true", (char *)0);
            _exit(1);
        }
        wait(NULL);
        execl("/nowhere/program", "program", (char *)0);
        execlp("no-such-program", "program", (char *)0);
    }
    for (i = 0; i < bytes; i += page) pages[i] = 1;
    usleep(15000);
    switch (stage) {
    case 0: execl(argv[0], argv[0], next, (char *)0); break;
    case 1: execlp(argv[0], argv[0], next, (char *)0); break;
    case 2: execle(argv[0], argv[0], next, (char *)0, environ); break;
    case 3: execv(argv[0], arguments); break;
    case 4: execvp(argv[0], arguments); break;
    case 5: execvpe(argv[0], arguments, environ); break;
    case 6: execve(argv[0], arguments, environ); break;
    case 7: fexecve(open(argv[0], O_RDONLY | O_CLOEXEC), arguments, environ); break;
    case 8: execveat(AT_FDCWD, argv[0], arguments, environ, 0); break;
    case 9: execveat(open(argv[0], O_RDONLY | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH); break;
    case 10: return 9;
    }
    return 1;
}
"#;

/// Starts a program in a sandbox in which the system call for counters fails: `sandbox ERRNO
/// PROGRAM`.
const SANDBOX: &str = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    if (argc < 3) return 11;
    code[2].k |= (unsigned)atoi(argv[1]);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 12;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 13;
    execv(argv[2], argv + 2);
    return 14;
}
"#;

/// A value of a variable in a run.
struct CounterValue {
    /// The id of its container.
    container: String,
    /// Its time range, in seconds.
    start: f64,
    end: f64,
    value: f64,
}

/// The values of a variable in a run, by time.
fn values(folder: &RecordFolder, variable: &str) -> Vec<CounterValue> {
    let csv = succeed(tumit().arg("convert").arg(folder.file("run.tmt")).args(["-o", "-", "--format", "csv"]));
    let rows = csv.lines().filter(|line| line.starts_with("Variable,"));
    let fields = rows.map(|line| line.split(',').collect::<Vec<&str>>());
    let named = fields.filter(|fields| fields[2] == variable);
    let number = |text: &str| text.parse::<f64>().unwrap();
    let mut values: Vec<CounterValue> = named
        .map(|fields| CounterValue {
            container: fields[11].to_owned(),
            start: number(fields[3]),
            end: number(fields[4]),
            value: number(fields[7]),
        })
        .collect();
    values.sort_by(|left, right| left.start.total_cmp(&right.start));
    values
}

/// Checks that rates begin with the second sample, and that they belong to the sums: the first
/// thread with a rate has the increase of its sum, and no thread has a larger one.
fn check_rates(folder: &RecordFolder) {
    let sums = values(folder, "Page faults");
    let rates = values(folder, "Page faults (1/s)");
    assert!(rates.iter().any(|rate| rate.value > 0.0) && rates.iter().all(|rate| rate.value >= 0.0));
    let first = &rates[0];
    assert!(first.end - first.start > 0.001, "{} to {}", first.start, first.end);
    for container in rates.iter().map(|rate| &rate.container) {
        let increase: f64 = rates
            .iter()
            .filter(|rate| rate.container == *container)
            .map(|rate| rate.value * (rate.end - rate.start))
            .sum();
        let own: Vec<f64> = sums.iter().filter(|sum| sum.container == *container).map(|sum| sum.value).collect();
        let (first_sum, last_sum) = (own[0], own[own.len() - 1]);
        assert!(increase <= last_sum * 1.01 + 5.0, "{increase} of {last_sum}");
        let difference = (increase - (last_sum - first_sum)).abs();
        assert!(
            *container != first.container || difference <= last_sum * 0.01 + 5.0,
            "{increase}: {first_sum} to {last_sum}"
        );
    }
}

/// The last sum of each container, in increasing order.
fn sums(folder: &RecordFolder, variable: &str) -> Vec<f64> {
    let mut sums = std::collections::BTreeMap::new();
    for value in values(folder, variable) {
        let sum: &mut f64 = sums.entry(value.container).or_default();
        *sum = sum.max(value.value);
    }
    let mut sums: Vec<f64> = sums.into_values().collect();
    sums.sort_by(f64::total_cmp);
    sums
}

/// Checks the sums of the three threads of the program.
fn check_sums(folder: &RecordFolder, messages: &str) {
    let faults = sums(folder, "Page faults");
    assert_eq!(faults.len(), 3, "{faults:?} {messages}");
    let enough = faults.iter().zip([500.0, 1000.0, 2000.0]).all(|(sum, pages)| *sum >= pages && *sum < pages + 1000.0);
    assert!(enough, "{faults:?} {messages}");
    let times = sums(folder, "Processor time (s)");
    assert!(times.len() == 3 && times[0] > 0.0 && times[2] > 0.01, "{times:?}");
    let info = succeed(tumit().arg("info").arg(folder.file("run.tmt")));
    assert!(info.contains("Nothing is dropped, missing or damaged."), "{info}");
}

#[test]
fn counters_of_threads_processes_and_the_machine_are_recorded() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", PROGRAM, &["-pthread"]).display().to_string();
    let (output, messages) = folder.recorded(&["--with", "counters", "-o", "run.tmt", "--", &program]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"done\n"[..]), "{messages}");
    assert!(messages.contains("counters attached to") && messages.contains(", or tumit stats run.tmt"), "{messages}");
    assert!(!messages.contains("waiting"), "the run has no states: {messages}");
    check_sums(&folder, &messages);
    check_rates(&folder);
    for variable in ["Resident memory (MiB)", "Memory used (MiB)"] {
        let memory = values(&folder, variable);
        assert!(!memory.is_empty() && memory.iter().all(|value| value.value > 1.0), "{variable}");
    }
    for variable in ["User (%)", "Idle (%)", "Processor use (%)", "Voluntary context switches (1/s)"] {
        assert!(!values(&folder, variable).is_empty(), "{variable}");
    }
    // A process that ends before the first sample is not recorded.
    let arguments = ["--with", "counters", "--counter-interval", "10s", "-o", "short.tmt", "--", &program];
    let (output, messages) = folder.recorded(&arguments);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert!(messages.contains("nothing was recorded: no program ran longer than the interval"), "{messages}");
    let (output, messages) = folder.recorded(&[
        "--with",
        "counters",
        "--counters",
        "task-clock",
        "--counter-interval",
        "1ms",
        "--overwrite",
        "-o",
        "run.tmt",
        "--",
        &program,
        "close",
    ]);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert!(sums(&folder, "Page faults").is_empty() && values(&folder, "Load").is_empty(), "{messages}");
    assert!(folder.event_count("run.tmt", "thread_sample") > 10 && !messages.contains("counters were"), "{messages}");
}

#[test]
fn programs_that_replace_themselves_have_complete_files() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", REPLACEMENTS, &[]).display().to_string();
    let (output, messages) =
        folder.recorded(&["--with", "counters", "--counter-interval", "5ms", "-o", "run.tmt", "--", &program]);
    assert_eq!(output.status.code(), Some(9), "{messages}");
    assert!(!messages.contains("killed") && folder.processes("run.tmt") >= 11, "{messages}");
    // The programs have equal process ids, and touch 400 pages each.
    let faults = sums(&folder, "Page faults");
    assert!(faults.iter().filter(|&&sum| sum >= 400.0).count() >= 11, "{faults:?}");
    // The other recorders behave alike.
    let script = "echo text > file.txt; exec cat file.txt";
    let arguments = ["--with", "io", "--overwrite", "-o", "run.tmt", "--", "sh", "-c", script];
    let (output, messages) = folder.recorded(&arguments);
    assert_eq!(output.stdout, b"text\n", "{messages}");
    assert!(!messages.contains("killed") && folder.processes("run.tmt") >= 1, "{messages}");
}

/// A thread with more thread-local data than the stack of the sampler has room for.
const THREAD_DATA: &str = r#"
#include <pthread.h>
#include <unistd.h>
static __thread volatile char data[1 << 20];
static void *work(void *argument) { data[0] = 1; usleep(40000); return argument; }
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 1;
    return data[0] == 0 ? 7 : 2;
}
"#;

#[test]
fn thread_local_data_and_few_open_files_are_no_obstacle() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", THREAD_DATA, &["-pthread"]).display().to_string();
    // A process with 12 files has none left for the counters of its threads.
    for limit in ["1024", "12"] {
        let script = format!("ulimit -n {limit}; exec {program}");
        let options = ["--with", "counters", "--counter-interval", "2ms", "--overwrite", "-o", "run.tmt"];
        let (output, messages) = folder.recorded(&[&options[..], &["--", "sh", "-c", &script]].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(7), 0), "{limit}: {messages}");
        assert!(!messages.contains("killed"), "{limit}: {messages}");
        assert!(folder.event_count("run.tmt", "thread_sample") > 2, "{limit}: {messages}");
    }
}

#[test]
fn without_permission_the_files_of_the_system_are_read() {
    const EPERM: &str = "1";
    const EACCES: &str = "13";
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", PROGRAM, &["-pthread"]).display().to_string();
    // A statically linked program does not load the recorder.
    let sandbox = folder.compile("gcc", "sandbox", SANDBOX, &["-static"]).display().to_string();
    for (error, reason) in [(EPERM, "a sandbox forbids"), (EACCES, "the setting kernel.perf_event_paranoid=")] {
        let arguments = ["--with", "counters", "--overwrite", "-o", "run.tmt", "--", &sandbox, error, &program];
        let (output, messages) = folder.recorded(&arguments);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        let lines: Vec<&str> = messages.lines().filter(|line| line.contains("these counters were not")).collect();
        assert_eq!(lines.len(), 1, "{messages}");
        let counters = "cycles, instructions, cache misses, branch misses; ";
        assert!(lines[0].contains(counters) && lines[0].contains(reason), "{messages}");
        check_sums(&folder, &messages);
    }
}
