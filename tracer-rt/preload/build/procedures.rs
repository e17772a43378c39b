//! The table of the procedures of MPI.

/// A procedure as a C function.
#[derive(Debug)]
pub(crate) struct Procedure {
    /// The name, such as `MPI_Send_c`.
    pub(crate) name: String,
    /// The level of `std:mpi` that records the call.
    pub(crate) level: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter of a C function.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// The whole declaration, such as `const int counts[]`.
    pub(crate) declaration: String,
    pub(crate) name: String,
}

impl Procedure {
    /// Reads a line: name, level, result and parameters, separated by tabs.
    pub(crate) fn parse(line: &str) -> Self {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, level, "int", parameters] = columns[..] else {
            panic!("not a line of a procedure that returns an error code: {line}")
        };
        let parameters = parameters.split(',').filter(|text| text.trim() != "void").map(Parameter::parse).collect();
        Self { name: name.to_owned(), level: level.to_owned(), parameters }
    }

    /// Whether there is a parameter with this name.
    pub(crate) fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|own| own.name == parameter)
    }

    /// Whether the parameter with this name is an array.
    pub(crate) fn has_array(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|own| own.name == parameter && own.declaration.contains('['))
    }

    /// The declarations of all parameters.
    pub(crate) fn declarations(&self) -> String {
        let all: Vec<&str> = self.parameters.iter().map(|parameter| parameter.declaration.as_str()).collect();
        if all.is_empty() { "void".to_owned() } else { all.join(", ") }
    }

    /// The names of all parameters.
    pub(crate) fn arguments(&self) -> String {
        let all: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        all.join(", ")
    }

    /// The name without `MPI_`, and without the suffix for large counts.
    pub(crate) fn plain_name(&self) -> &str {
        let name = self.name.strip_prefix("MPI_").unwrap_or(&self.name);
        name.strip_suffix("_c").unwrap_or(name)
    }
}

impl Parameter {
    fn parse(declaration: &str) -> Self {
        let declaration = declaration.trim();
        let end = declaration.find('[').unwrap_or(declaration.len());
        let start = declaration[..end].rfind([' ', '*']).map_or(0, |index| index + 1);
        Self { declaration: declaration.to_owned(), name: declaration[start..end].to_owned() }
    }
}
