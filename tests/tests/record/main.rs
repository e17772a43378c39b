//! `tumit record` through the real command, with Open MPI and MPICH.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

mod attached_programs;
mod counter_programs;
mod file_programs;
mod function_programs;
mod mpi_jobs;
mod openmp_programs;
mod program_ends;
mod record_folder;
mod settings;
mod sled_programs;
mod thread_programs;
mod tokio_programs;
