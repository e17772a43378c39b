//! `tumit record` through the real command, with Open MPI and MPICH.

mod attached_programs;
mod mpi_jobs;
mod program_ends;
mod record_folder;
mod settings;
