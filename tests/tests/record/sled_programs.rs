//! Programs that clang compiles with `-fxray-instrument`.

use std::process::Command;

use tests::programs::{succeed, tumit};

use crate::function_programs::calls;
use crate::record_folder::RecordFolder;

/// Functions with arguments and results in all kinds of registers, which `main` checks, and ends of
/// all kinds: by a tail call, `longjmp` and an exception. `weigh` is in a library.
const CALLS: &str = r#"
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <immintrin.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
struct Pair { double first, second; };
struct Wide { long first, second; };
static jmp_buf target;
volatile int sum;
int weigh(int number);
[[clang::optnone]] NOINLINE int recurse(int depth) { return depth == 0 ? 0 : recurse(depth - 1) + 1; }
NOINLINE Pair halves(double number) { return {number / 2, number / 2 + 1}; }
NOINLINE Wide wide(long a, long b, long c, long d, long e, long f, long g) { return {a + b + c + d, e + f + g}; }
NOINLINE long double thrice(long double number) { return number * 3; }
NOINLINE int six(int number) { return weigh(number) * 6; }
NOINLINE int tail(int number) { sum += number; return six(number + 1); }
NOINLINE double add(int count, ...) {
    va_list list;
    double total = 0;
    va_start(list, count);
    while (count-- > 0) total += va_arg(list, double);
    va_end(list);
    return total;
}
__attribute__((noinline, target("avx"))) __m256d twice(__m256d numbers) { return _mm256_add_pd(numbers, numbers); }
__attribute__((noinline, target("avx"))) int check_vectors(void) {
    double numbers[4];
    _mm256_storeu_pd(numbers, twice(_mm256_set_pd(4, 3, 2, 1)));
    return numbers[0] == 2 && numbers[1] == 4 && numbers[2] == 6 && numbers[3] == 8;
}
NOINLINE void jump(void) { longjmp(target, 1); }
NOINLINE void fail(int number) { if (number > 0) throw std::runtime_error("end"); }
NOINLINE void *work(void *argument) { sum += tail(1); return argument; }
int main(int count, char **) {
    pthread_t thread;
    volatile int i;
    int status = 0;
    const Pair pair = halves(4.0);
    const Wide result = wide(1, 2, 3, 4, 5, 6, 7);
    if (pair.first != 2 || pair.second != 3 || result.first != 10 || result.second != 18) return 1;
    if (thrice(1.5L) != 4.5L || add(3, 1.0, 2.0, 4.0) != 7.0 || tail(1) != 18 || recurse(200) != 200) return 2;
    if (__builtin_cpu_supports("avx") && !check_vectors()) return 3;
    for (i = 0; i < 10; i++) {
        if (setjmp(target) == 0) jump();
        try { fail(count); } catch (const std::exception &) { }
    }
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 4;
    if (fork() == 0) exit(six(0) == 6 ? 5 : 4);
    if (wait(&status) < 0 || WEXITSTATUS(status) != 5) return 5;
    puts("done");
    return 0;
}
"#;

const LIBRARY: &str = "int weigh(int number) { return number + 1; }";

const FLAGS: [&str; 4] = ["-fxray-instrument", "-fxray-instruction-threshold=1", "-fnoxray-link-deps", "-g"];

#[test]
fn the_calls_of_a_program_with_sleds_are_exact() {
    if !cfg!(target_arch = "x86_64") || Command::new("clang++").arg("--version").output().is_err() {
        // `make packages` installs clang.
        return println!("NOT TESTED: sleds need clang++ and the processor type x86-64");
    }
    for linking in [&["-pie", "-fPIE", "-O2"][..], &["-no-pie", "-O1"][..]] {
        let folder = RecordFolder::new();
        let flags = [&FLAGS[..], &["-shared", "-fPIC", "-O1"]].concat();
        let library = folder.compile("clang++", "libweigh.so", LIBRARY, &flags).display().to_string();
        let flags = [&FLAGS[..], linking, &["-pthread", &library, "-Wl,-rpath,$ORIGIN"]].concat();
        let program = folder.compile("clang++", "program", CALLS, &flags).display().to_string();
        let recorded = |options: &[&str]| {
            let arguments = [&["--overwrite", "-o", "run.tmt"], options, &["--", &program]].concat();
            let (output, messages) = folder.recorded(&arguments);
            assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"done\n"[..]), "{messages}");
            let calls = calls(&folder, "run.tmt");
            move |name: &str| {
                calls.iter().filter(|(call, _)| call.starts_with(name)).map(|(_, count)| count).sum::<usize>()
            }
        };
        let count = recorded(&[]);
        let names =
            ["main", "halves(", "wide(", "thrice(", "add(", "tail(", "six(", "weigh(", "jump(", "fail(", "work("];
        let expected: [usize; 11] = [1, 1, 1, 1, 1, 2, 3, 3, 10, 10, 1];
        assert_eq!(names.map(&count), expected, "{linking:?}");
        // `main` contains 127 calls of `recurse`.
        assert_eq!(count("recurse("), 127, "{linking:?}");
        let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
        assert!(dump.contains("program.c:44"), "the position of the call of `halves`: {dump}");
        let info = succeed(tumit().arg("info").arg(folder.file("run.tmt")));
        assert!(info.contains("Nothing is dropped, missing or damaged."), "{info}");
        // A function that no pattern selects is not changed.
        let count = recorded(&["--functions", "six;weigh"]);
        assert_eq!(["main", "six(", "weigh(", "tail("].map(&count), [0, 3, 3, 0]);
        let count = recorded(&["--function-rate", "100", "--functions", "!main"]);
        assert_eq!(["main", "six(", "recurse("].map(&count), [0, 3, 100]);
    }
}
