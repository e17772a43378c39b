//! Compiles and runs the Fortran module with every standard that it supports, and decodes the
//! records.

use std::path::Path;

use tests::lang::c::{folder, header, record};
use tests::lang::fortran::{F2018, FortranCompilers, GFORTRAN, MPIFORT, module};
use tests::programs::{count, mpirun, succeed, tumit, workspace};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;
use tumit::codegen::{Backend, CodegenOptions, fortran::FortranBackend};
use tumit_test_support::pj_dump::{PjDumpRows, accept};

const TYPES: &str = include_str!("../../cases/types/spec.tumit");
const DRIVE_TYPES: &str = include_str!("../../cases/types/drive.f90");
const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: string } }\n";

fn single_file(run: &Path) -> ProcessFile {
    let mut files = read(run);
    assert_eq!(files.len(), 1, "one process, one file");
    files.remove(0)
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a writable folder");
}

/// Builds and runs a driver, and returns its records as text.
fn texts(compiler: FortranCompilers, spec: &str, driver: &str) -> Vec<String> {
    let folder = folder();
    let program = compiler.build(folder.path(), spec, driver).unwrap_or_else(|error| panic!("{error}"));
    single_file(&record(&program, folder.path(), "run.tmt", &[])).texts()
}

#[test]
fn every_standard_compiles_clean_and_records_the_same() {
    let all = [GFORTRAN, FortranCompilers { standard: F2018, ..GFORTRAN }]
        .map(|compiler| texts(compiler, TYPES, DRIVE_TYPES));
    assert_eq!(all[0].len(), 28);
    assert_eq!(all[0], all[1]);
    let expected = [
        "numbers a=Unsigned(255) b=Unsigned(65535) c=Unsigned(4294967295) d=Unsigned(18446744073709551615) e=Signed(-128) f=Signed(-32768) g=Signed(-2147483648) h=Signed(-9223372036854775808)",
        "others yes=Bool(true) where=Pointer(0) tint=green",
        "texts name=\"north\" what=\"héllo\" data=Bytes([0, 1, 2])",
        "placed @drive n=Unsigned(7)",
    ];
    for line in expected {
        assert!(all[0].iter().any(|text| text == line), "`{line}` is not among {:#?}", all[0]);
    }
}

#[test]
fn names_of_fortran_keywords_and_functions_are_valid() {
    let long = "a".repeat(62);
    let spec = format!(
        "trace odd;
enum size {{ int, len = 7, large = 65535 }}
level if {{
    event end {{ size: u32, len: u16, int: i64, present: bool, c_int: string, C_INT64_T: u8, odd_end: f64, odd_end_c: u8 }}
    event call located {{ file: interned, line: u64, if: size }}
    event plain {{ size: u32, len: u16, odd_plain: u8 }}
    event {long} {{ {long}: string, _under: [u8] }}
    span {long}a {{ tumbling: u8, if: [size], Tumbling2: [pointer], x: [date; 2] }}
}}
"
    );
    let driver = "
program drive
  use, intrinsic :: iso_c_binding, only: c_null_ptr
  use odd_trace
  implicit none
  call odd_end(1, 2, 3, .true., 'text', 5, 6d0, 7)
  call odd_end(size=1, len_2=2, int_2=3_8, present=.false., c_int_2='text', C_INT64_T_2=5, odd_end_3=6d0, odd_end_c_2=7)
  call odd_call('a  ', 4, odd_size_large, file_2='other.f90', line_2=9)
  call odd_call('a', 4_8, odd_size_len)
  call odd_plain(len=2, size=1, odd_plain_2=3)
  call LONG1('x', [200, 3])
  call LONG2(1, [odd_size_len, odd_size_int], &
      [c_null_ptr], [tumit_now(), tumit_now()])
  call LONG3()
end program drive
";
    let name = |full: String| tumit::names::fortran_name(&full);
    let driver = driver
        .replace("LONG1", &name(format!("odd_{long}")))
        .replace("LONG2", &name(format!("odd_{long}a_begin")))
        .replace("LONG3", &name(format!("odd_{long}a_end")));
    assert_eq!(
        texts(GFORTRAN, &spec, &driver),
        [
            "end size=Unsigned(1) len=Unsigned(2) int=Signed(3) present=Bool(true) c_int=\"text\" C_INT64_T=Unsigned(5) odd_end=Double(6.0) odd_end_c=Unsigned(7)".to_owned(),
            "end size=Unsigned(1) len=Unsigned(2) int=Signed(3) present=Bool(false) c_int=\"text\" C_INT64_T=Unsigned(5) odd_end=Double(6.0) odd_end_c=Unsigned(7)".into(),
            "call @other file=\"a\" line=Unsigned(4) if=large".into(),
            "call @unknown file=\"a\" line=Unsigned(4) if=len".into(),
            "plain size=Unsigned(1) len=Unsigned(2) odd_plain=Unsigned(3)".into(),
            format!("{long} {long}=\"x\" _under=[200, 3]"),
            format!("{long}a.begin tumbling=Unsigned(1) if=[7, 0, 0, 0] Tumbling2=[0, 0, 0, 0, 0, 0, 0, 0] x=2 timestamps"),
            format!("{long}a.end"),
        ]
    );
}

#[test]
fn literals_of_any_kind_may_be_arguments() {
    let spec = "trace t;
level L {
    event three { a: u64, b: i64, c: [u64; 2], d: u8 }
    event five { a: u64, b: u64, c: u64, d: u64, e: i64, f: [u8], g: bytes }
    event lists { a: [i8], b: [i32], c: [f32], d: [bool], e: [interned; 2], f: [f64; 1] }
}
";
    let driver = "
program drive
  use, intrinsic :: iso_fortran_env, only: int8, int64
  use t_trace
  implicit none
  integer(int64), parameter :: w = 5_int64
  integer :: i, matrix(3, 2), vector(4)
  logical :: flags(300)
  character(len=4) :: names(2)
  call t_three(1, 2, [3, 4], 5)
  call t_three(w, 2, [3, 4], 5)
  call t_three(1, w, [3, 4], 5)
  call t_three(1, 2, [w, w], 5)
  call t_three(w, w, [w, w], 5)
  call t_five(1, 2, 3, 4, -5, [6_int8], [7_int8])
  call t_five(w, w, w, w, -w, [-1_int8], [7_int8])
  matrix = reshape([1, 2, 3, 4, 5, 6], [3, 2])
  vector = [(300 + i, i = 1, 4)]
  flags = .false.
  flags(2:300:2) = .true.
  names = ['one ', '    ']
  call t_lists([-128, 127, 255], matrix(2, :), [1.5, -0.0], flags(1:3), names, [1d0])
  call t_lists([integer(int8) :: 1], vector(4:1:-2), [real ::], flags(2:2), names(2:1:-1), [2d0])
end program drive
";
    let three = |a: u8, b: u8, c: [u8; 2]| {
        let word = |n: u8| format!("{n}, 0, 0, 0, 0, 0, 0, 0");
        format!("three a=Unsigned({a}) b=Signed({b}) c=[{}, {}] d=Unsigned(5)", word(c[0]), word(c[1]))
    };
    let five = "e=Signed(-5) f=";
    assert_eq!(
        texts(GFORTRAN, spec, driver),
        [
            three(1, 2, [3, 4]),
            three(5, 2, [3, 4]),
            three(1, 5, [3, 4]),
            three(1, 2, [5, 5]),
            three(5, 5, [5, 5]),
            format!("five a=Unsigned(1) b=Unsigned(2) c=Unsigned(3) d=Unsigned(4) {five}[6] g=Bytes([7])"),
            format!("five a=Unsigned(5) b=Unsigned(5) c=Unsigned(5) d=Unsigned(5) {five}[255] g=Bytes([7])"),
            "lists a=[128, 127, 255] b=[2, 0, 0, 0, 5, 0, 0, 0] c=[0, 0, 192, 63, 0, 0, 0, 128] d=[0, 1, 0] e=[1, 0, 0, 0, 0, 0, 0, 0] f=[0, 0, 0, 0, 0, 0, 240, 63]".into(),
            "lists a=[1] b=[48, 1, 0, 0, 46, 1, 0, 0] c=[] d=[1] e=[0, 0, 0, 0, 1, 0, 0, 0] f=[0, 0, 0, 0, 0, 0, 0, 64]".into(),
        ]
    );
}

#[test]
fn constants_and_tasks_reach_fortran() {
    let spec = r#"trace t;
const LIMIT = 5;
const FAR = 5000000000;
const LOW = -9223372036854775807 - 1;
const HALF: f64 = -0.5;
const NAME = "a \"quoted\" text,\nin two lines, of which the second one is so long that it is continued";
const NONE = "";
const YES = true;
level L {
    span fetch async { url: string }
    event seen { far: i64, low: i64, half: f64, name: string, none: string, yes: bool }
}
"#;
    let driver = "
program drive
  use, intrinsic :: iso_fortran_env, only: int64
  use t_trace
  implicit none
  integer(int64) :: task
  integer :: list(t_LIMIT)
  list = 0
  task = tumit_new_task()
  call t_fetch_begin(task, 'here')
  call t_seen(t_FAR, t_LOW, t_HALF, t_NAME, t_NONE, t_YES)
  call t_fetch_end(task)
  if (tumit_new_task() == task .or. size(list) /= 5) error stop 1
end program drive
";
    let constants = "seen far=Signed(5000000000) low=Signed(-9223372036854775808) half=Double(-0.5) name=\"a \\\"quoted\\\" text,\\nin two lines, of which the second one is so long that it is continued\" none=\"\" yes=Bool(true)";
    let expected = ["fetch.begin task=Unsigned(1) url=\"here\"", constants, "fetch.end task=Unsigned(1)"];
    assert_eq!(texts(GFORTRAN, spec, driver), expected);
}

#[test]
fn texts_have_their_fortran_length_without_trailing_blanks() {
    let driver = "
program drive
  use t_trace
  implicit none
  character(len=70000) :: long
  character(len=:), allocatable :: some
  call t_say('  in front and inside stay  ')
  call t_say('C ends here'//achar(0)//'and not there')
  long = repeat('x', 60000)
  call t_say(long)
  some = 'allocated'
  call t_say(some)
  call t_say(some(1:5)//'!')
end program drive
";
    let record_texts = texts(GFORTRAN, TICK, driver);
    let long = "x".repeat(60000);
    let expected = ["  in front and inside stay", "C ends here", &long, "allocated", "alloc!"];
    assert_eq!(record_texts, expected.map(|text| format!("say text={text:?}")));
}

#[test]
fn build_options_remove_tracing() {
    for (flags, records) in [(&["-DTUMIT_OFF"] as &[_], None), (&["-DTYPES_OFF_ALL"], Some(4))] {
        let folder = folder();
        let compiler = FortranCompilers { c_flags: flags, ..GFORTRAN };
        let program = compiler.build(folder.path(), TYPES, DRIVE_TYPES).unwrap_or_else(|error| panic!("{error}"));
        let run = record(&program, folder.path(), "off.tmt", &[]);
        match records {
            None => assert!(!run.exists(), "nothing was recorded"),
            Some(records) => assert_eq!(single_file(&run).texts().len(), records, "what QUIET and LOUD record"),
        }
    }
}

#[test]
fn files_modules_and_languages_share_one_recorder() {
    let folder = folder();
    let folder = folder.path();
    let mut objects = Vec::new();
    for spec in [TICK, "trace u;\nlevel L { event other {} }\n"] {
        let [module, routines] = module(folder, spec);
        header(folder, spec);
        GFORTRAN.object(folder, &routines).unwrap_or_else(|error| panic!("{error}"));
        GFORTRAN.object(folder, &module).unwrap_or_else(|error| panic!("{error}"));
        objects.extend([module, routines]);
    }
    let sources = [
        (
            "one.f90",
            "module one\n  use t_trace\n  implicit none\n  public\ncontains\n  subroutine from_one()\n    call t_tick(1)\n  end subroutine from_one\nend module one\n",
        ),
        (
            "two.c",
            "#include \"t_trace.h\"\n#include \"u_trace.h\"\nvoid from_c(void);\nvoid from_c(void) { t_tick(2); u_other(); }\n",
        ),
        (
            "drive.f90",
            "program drive\n  use one, only: from_one\n  use t_trace\n  use u_trace, second_now => tumit_now\n  implicit none\n  interface\n    subroutine from_c() bind(C)\n    end subroutine from_c\n  end interface\n  call from_one()\n  call from_c()\n  call u_other()\n  if (second_now() <= tumit_now()) call t_tick(3)\nend program drive\n",
        ),
    ];
    for (name, text) in sources {
        write(folder, name, text);
        GFORTRAN.object(folder, name).unwrap_or_else(|error| panic!("{error}"));
        objects.push(name.into());
    }
    let objects: Vec<_> = objects.iter().map(|name| format!("{name}.o")).collect();
    let program = GFORTRAN.link(folder, &objects.iter().map(String::as_str).collect::<Vec<_>>());
    let file = single_file(&record(&program.unwrap_or_else(|error| panic!("{error}")), folder, "run.tmt", &[]));
    assert_eq!(file.texts(), ["tick n=Unsigned(1)", "tick n=Unsigned(2)", "other", "other", "tick n=Unsigned(3)"]);
    assert_eq!(file.schemas.len(), 2);
}

#[test]
fn each_openmp_thread_has_a_stream() {
    let driver = "
program drive
  use t_trace
  implicit none
  integer :: i
  !$omp parallel num_threads(3)
  call tumit_set_thread_name('worker')
  !$omp do
  do i = 1, 9000
    call t_tick(i)
  end do
  !$omp end do
  !$omp end parallel
end program drive
";
    let folder = folder();
    let compiler = FortranCompilers { driver_flags: &["-fopenmp"], ..GFORTRAN };
    let program = compiler.build(folder.path(), TICK, driver).unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!(file.totals(), (9000, 0));
    assert_eq!(file.records.len(), 3);
    let names: Vec<_> = file.records.keys().map(|&stream| file.thread_name(stream)).collect();
    assert_eq!(names, ["worker"; 3]);
}

#[test]
fn a_program_may_supply_the_clock() {
    let driver = "
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 10
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    now = now + 5000
    date = now
  end function ticks
end module clock
program drive
  use clock
  use t_trace
  implicit none
  integer :: error, found
  call tumit_set_clock(ticks, 1000_c_int64_t, 'my clock', error)
  if (error /= 0) error stop 1
  call t_tick(1)
  call t_tick(2)
  call tumit_flush()
  call tumit_set_clock(ticks, 1000_c_int64_t, 'too late', error)
  if (error == 0) error stop 2
  call tumit_set_level('t.L ', .false., found)
  if (found /= 1) error stop 3
  call t_tick(3)
end program drive
";
    let folder = folder();
    let program = GFORTRAN.build(folder.path(), TICK, driver).unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!(file.process_integer(tag::CLOCK_HZ), Some(1000));
    assert_eq!(file.process[&tag::CLOCK_DOMAIN], b"my clock");
    assert_eq!(file.texts(), ["tick n=Unsigned(1)", "tick n=Unsigned(2)"]);
    let records = &file.records[&0];
    assert_eq!(records[1].ticks - records[0].ticks, 5000);
}

#[test]
fn a_program_controls_the_recorder() {
    let driver = "
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use t_trace
  implicit none
  type(tumit_stats) :: before, after
  integer :: error, i
  call tumit_start(policies='L=overwrite', memory_bytes=1048576_c_int64_t, buffers='private ', error=error)
  if (error /= 0) error stop 1
  call tumit_start(error=error)
  if (error == 0) error stop 2
  do i = 1, 100000
    call t_tick(i)
  end do
  call tumit_get_stats(before)
  if (before%slots /= 16 .or. before%mapped /= 0 .or. before%streams /= 1) error stop 3
  if (before%written /= 0 .or. before%dropped == 0) error stop 4
  call tumit_dump()
  call tumit_get_stats(after)
  if (after%written + after%dropped /= 100000 .or. after%blocks < 2 .or. after%file_bytes <= before%file_bytes) error stop 5
  call tumit_pause()
  call t_tick(0)
  call tumit_resume()
  call t_tick(100001)
  call tumit_finish()
  call t_tick(100002)
  call tumit_get_stats(after)
  if (after%written + after%dropped /= 100001 .or. after%writer_thread /= 0 .or. after%in_live_file /= 0) error stop 6
end program drive
";
    let folder = folder();
    let program = GFORTRAN.build(folder.path(), TICK, driver).unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
    let (written, dropped) = file.totals();
    assert_eq!(written + dropped, 100_001);
    let expected = (dropped + 1..=100_001).map(|n| format!("tick n=Unsigned({n})"));
    assert!(dropped > 0 && file.texts().into_iter().eq(expected), "the newest, and nothing of the pause");
    assert_eq!(file.process_integer(tag::BUFFERS), Some(0));
}

#[test]
fn every_way_to_start_mpi_gives_ranks_and_samples() {
    let cases = [
        ("use mpi", "call MPI_Init(error)", "call MPI_Finalize(error)"),
        ("use mpi_f08", "call MPI_Init()", "call MPI_Finalize()"),
        ("use mpi_f08", "call MPI_Init_thread(MPI_THREAD_FUNNELED, given, error)", "call MPI_Finalize(error)"),
        ("use mpi", "call MPI_Init_thread(MPI_THREAD_SINGLE, given, error)", "call MPI_Finalize(error)"),
    ];
    for (use_mpi, init, finalize) in cases {
        let driver = format!(
            "program drive\n  {use_mpi}\n  use t_trace\n  implicit none\n  integer :: rank, error, given\n  given = 0\n  \
             error = 0\n  {init}\n  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)\n  call t_tick(rank + given - given)\n  \
             {finalize}\n  if (error /= 0) error stop 1\nend program drive\n"
        );
        let folder = folder();
        let program = MPIFORT.build(folder.path(), TICK, &driver).unwrap_or_else(|error| panic!("{error}"));
        let run = folder.path().join("run.tmt");

        succeed(mpirun(2).arg(&program).env("TUMIT_TRACE", &run).current_dir(folder.path()));
        let files = read(&run);
        assert_eq!(files.len(), 2, "{use_mpi}, {init}");
        for (rank, file) in files.iter().enumerate() {
            assert_eq!(file.process_integer(tag::RANK), Some(rank as u64), "{use_mpi}, {init}");
            assert_eq!(file.process_integer(tag::RANKS), Some(2));
            assert_eq!(file.texts(), [format!("tick n=Unsigned({rank})")]);
        }
    }
}

#[test]
fn clocks_of_ranks_are_compared() {
    let driver = "
module clock
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
contains
  function ticks() result(date) bind(C)
    use, intrinsic :: iso_c_binding, only: c_int64_t
    integer(c_int64_t) :: date
    call system_clock(date)
  end function ticks
end module clock
program drive
  use clock
  use mpi
  use t_trace
  implicit none
  character(len=16) :: rank
  integer(int64) :: hz
  integer :: error
  call get_environment_variable('OMPI_COMM_WORLD_RANK', rank)
  call system_clock(count_rate=hz)
  call tumit_set_clock(ticks, hz, 'clock of rank '//rank)
  call MPI_Init(error)
  call t_tick(1)
  call MPI_Finalize(error)
end program drive
";
    let folder = folder();
    let program = MPIFORT.build(folder.path(), TICK, driver).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    succeed(mpirun(2).arg(&program).env("TUMIT_TRACE", &run).current_dir(folder.path()));
    let files = read(&run);
    assert_eq!(files[0].process[&tag::CLOCK_DOMAIN], b"clock of rank 0");
    assert_eq!(files.iter().map(|file| file.sync.len()).collect::<Vec<_>>(), [600, 0], "two bursts, of the first rank");
}

#[test]
fn heat_along_a_rod_has_the_expected_trace() {
    let folder = folder();
    let folder = folder.path();
    let example = workspace().join("examples/heat-fortran");
    for name in ["rod.tumit", "rod.f90"] {
        std::fs::copy(example.join(name), folder.join(name)).expect("the example is there");
    }
    let spec = std::fs::read_to_string(folder.join("rod.tumit")).expect("a spec");
    let [module, routines] = module(folder, &spec);
    let files = [routines.as_str(), &module, "rod.f90"];
    files.iter().for_each(|file| MPIFORT.object(folder, file).unwrap_or_else(|error| panic!("{error}")));
    let objects = files.map(|file| format!("{file}.o"));
    let rod = MPIFORT.link(folder, &objects.each_ref().map(String::as_str)).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.join("rod.tmt");
    let stdout = succeed(mpirun(3).arg(&rod).env("TUMIT_TRACE", &run).current_dir(folder));
    let paje = folder.join("rod.paje");
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    accept(&paje);
    let rows = PjDumpRows::read(&paje);
    for (kind, name) in [("State", "states"), ("Link", "links"), ("Variable", "samples")] {
        assert_eq!(rows.count(kind), count(&stdout, name), "{name}");
    }
    assert_eq!(count(&stdout, "ranks"), 3);
    assert_eq!(rows.reversed_links(), 0);
}

#[test]
fn names_that_differ_in_case_alone_are_refused() {
    let refused = |text: &str| {
        let (spec, diagnostics) = tumit::compile_text("spec.tumit", text);
        let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
        FortranBackend.generate(&spec, &CodegenOptions::default()).expect_err("one name for two things").reason
    };
    assert_eq!(
        refused("trace t; level L { event recvDone {} event recvdone {} }"),
        "`recvDone` and `recvdone` both become `t_recvdone` in Fortran, which ignores upper and lower case: rename one"
    );
    assert_eq!(
        refused("trace t; level L { event trace {} }"),
        "the module and `trace` both become `t_trace` in Fortran, which ignores upper and lower case: rename one"
    );
}
