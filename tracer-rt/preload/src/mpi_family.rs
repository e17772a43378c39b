//! [`MpiFamily`]: MPI libraries with one binary interface.

use std::fmt;

/// MPI libraries with one binary interface, by the names of their shared libraries.
/// `mpi/dispatch.c` has the same table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiFamily {
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH 3.1 to 5 and its relatives: Intel MPI, Cray MPICH, MVAPICH.
    Mpich,
    /// The standard interface of MPI 5.
    Standard,
    /// An MPI library that the recorder does not support.
    Unsupported,
}

/// Prefixes of names, and their families. The first match counts.
const NAMES: [(&str, MpiFamily); 10] = [
    ("libmpi_abi.so", MpiFamily::Standard),
    ("libmpi.so.40", MpiFamily::OpenMpi),
    ("libmpi.so.12", MpiFamily::Mpich),
    ("libmpich.so.12", MpiFamily::Mpich),
    ("libmpi_cray.so.12", MpiFamily::Mpich),
    ("libmpi_gnu", MpiFamily::Mpich),
    ("libmpi_intel.so.12", MpiFamily::Mpich),
    ("libmpi.so", MpiFamily::Unsupported),
    ("libmpich.so", MpiFamily::Unsupported),
    ("libmpi_cray.so", MpiFamily::Unsupported),
];

impl MpiFamily {
    /// The family of a library by its name. `None` if the library is none of MPI.
    #[must_use]
    pub fn of_library(name: &str) -> Option<Self> {
        NAMES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, family)| *family)
    }
}

impl fmt::Display for MpiFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH or a relative",
            Self::Standard => "standard interface of MPI 5",
            Self::Unsupported => "not supported",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MpiFamily;

    #[test]
    fn names_of_libraries_have_families() {
        for (name, family) in [
            ("libmpi.so.40", Some(MpiFamily::OpenMpi)),
            ("libmpi.so.40.30.4", Some(MpiFamily::OpenMpi)),
            ("libmpich.so.12", Some(MpiFamily::Mpich)),
            ("libmpi_gnu_91.so.12", Some(MpiFamily::Mpich)),
            ("libmpi_abi.so.1", Some(MpiFamily::Standard)),
            ("libmpi.so.1", Some(MpiFamily::Unsupported)),
            ("libmpi_mpifh.so.40", None),
            ("libmpifort.so.12", None),
            ("libm.so.6", None),
        ] {
            assert_eq!(MpiFamily::of_library(name), family, "{name}");
        }
    }
}
