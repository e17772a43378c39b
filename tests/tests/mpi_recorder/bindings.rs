//! All bindings of Fortran are recorded like C.

use crate::environment::{MpiLibrary, records};

#[test]
fn calls_of_all_fortran_bindings_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    for library in MpiLibrary::all().into_iter().filter(MpiLibrary::has_fortran) {
        for source in ["ring_mpif_h.f90", "ring_mpi.f90", "ring_mpi_f08.f90"] {
            let program = library.compile(folder.path(), source, &[]);
            let (run, _) = library.record(folder.path(), &program, &[]);
            let records = records(&run);
            let count = |event: &str, procedure: Option<&str>| {
                let is_counted = |record: &&serde_json::Value| {
                    record["event"] == event && procedure.is_none_or(|name| record["fields"]["procedure"] == name)
                };
                records.iter().filter(is_counted).count()
            };
            // Three ranks make five steps.
            let counts = [
                count("send", None),
                count("receive", None),
                count("point_to_point.begin", Some("MPI_Irecv")),
                count("point_to_point.begin", Some("MPI_Wait")),
                count("collective.begin", Some("MPI_Allreduce")),
            ];
            assert_eq!(counts, [15; 5], "{library:?} {source}");
        }
    }
}
