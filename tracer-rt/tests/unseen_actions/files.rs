//! Programs that close all descriptors, as daemons do, including those of the recorder, and open
//! files of their own.

use std::io::Write;
use std::os::fd::IntoRawFd;

use crate::{ProgramRunFolder, com};

const RECORDS: u64 = 20_000;

/// Records, closes all descriptors, opens files that get the same numbers, and records again.
pub(crate) fn closed(program: &str) {
    (0..RECORDS).for_each(|n| com::tick(n, 0));
    tracer_rt::flush();
    for number in 3..64 {
        // SAFETY: the recorder must tolerate it, and no other code here has descriptors.
        unsafe { libc::close(number) };
    }
    if program == "closed and removed" {
        std::fs::remove_dir_all(std::env::var_os("TUMIT_TRACE").unwrap()).unwrap();
    }
    let mut files: Vec<_> = (0..61).map(|n| std::fs::File::create(format!("own {n}")).unwrap()).collect();
    files.iter_mut().for_each(|file| file.write_all(b"row 1\n").unwrap());
    (RECORDS..2 * RECORDS).for_each(|n| com::tick(n, 0));
    tracer_rt::flush();
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    println!("{} of them", counts.written + counts.dropped + counts.in_live_file);
    for mut file in files {
        file.write_all(b"row 2\n").unwrap();
        // SAFETY: the file was opened above. The test checks that it is still open.
        assert_eq!(unsafe { libc::close(file.into_raw_fd()) }, 0);
    }
}

fn own_files_are_whole(folder: &ProgramRunFolder) -> bool {
    let run = folder.run();
    let folder = run.parent().unwrap();
    (0..61).all(|n| std::fs::read(folder.join(format!("own {n}"))).is_ok_and(|bytes| bytes == b"row 1\nrow 2\n"))
}

#[test]
fn a_program_may_close_all_descriptors() {
    for buffers in ["mapped", "private"] {
        let folder = ProgramRunFolder::new();
        let output = folder.output("closed", &[("TUMIT_BUFFERS", buffers)]);
        assert!(output.status.success(), "{output:?}");
        assert!(own_files_are_whole(&folder), "{buffers}");
        let process = folder.left().pop().unwrap();
        assert_eq!(process.ticks()[0], (0..2 * RECORDS).collect::<Vec<_>>(), "{buffers}");
        assert!(process.ended && process.end_dropped == 0);
        // The trace is gone, but the number of its records is known.
        let folder = ProgramRunFolder::new();
        let output = folder.output("closed and removed", &[("TUMIT_BUFFERS", buffers), ("TUMIT_POLICY", "all=drop")]);
        assert!(output.status.success() && own_files_are_whole(&folder), "{buffers}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(&format!("{} of them", 2 * RECORDS)), "{printed}");
    }
    if cfg!(debug_assertions) {
        let folder = ProgramRunFolder::new();
        folder.output("closed", &[("TUMIT_FAULT", "descriptors are not checked")]);
        assert!(!own_files_are_whole(&folder), "a test that cannot fail");
    }
}
