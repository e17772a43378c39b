#!/usr/bin/env python3
"""Writes `procedures.tsv` and the standard spec `mpi-procedures.tumit` from the table of the MPI
standard, which the package `pympistandard` contains.

    pip install pympistandard==0.2.0 && ./procedures.py

A line of `procedures.tsv` is a C function: its name, its level, its result and its parameters. Large
counts (`MPI_Send_c`) are functions of their own. Functions without a level are not recorded."""

import json
import re
from pathlib import Path

import pympistandard

HERE = Path(__file__).parent
SPEC = HERE / "../../../tumit/std/mpi-procedures.tumit"

# Conversions, the tools interface, and functions that a program calls for their result only. Some
# libraries implement attributes, operations and keys by calling functions that they pass on to the
# program, so that a wrapper would see calls of the library itself.
NOT_RECORDED = re.compile(
    r"_(c2f|f2c|c2f08|f082c|f082f|f2f08|toint|fromint)$|^MPI_(T|Status|Abi|Attr|Op|Keyval|Info|Errhandler)_"
    r"|keyval|_attr$|errhandler|^MPI_(Wtime|Wtick|Aint_add|Aint_diff|Pcontrol|Register_datarep|Grequest_start)$"
)
# The first level whose pattern matches the name applies.
LEVELS = [
    ("MPI_JOB", r"^MPI_(Init|Init_thread|Finalize|Abort|Session_(init|finalize))$"),
    ("MPI_IO", r"^MPI_File_(open|close|delete|i?read|i?write|sync|preallocate|set_size|set_view|seek)"),
    ("MPI_RMA", r"^MPI_(R?put|R?get|R?accumulate|R?get_accumulate|Fetch_and_op|Compare_and_swap)$"
                r"|^MPI_Win_(allocate|create|free|fence|lock|unlock|flush|post|start|complete|wait|test|sync|attach|detach)"),
    ("MPI_P2P", r"^MPI_([BSR]?send|I[bsr]?send|I?recv|I?m?recv|I?m?probe|I?sendrecv|I?sendrecv_replace)$"
                r"|^MPI_([BSR]?send|Recv|Psend|Precv)_init$|^MPI_(Start|Startall|Pready|Pready_range|Pready_list|Parrived)$"
                r"|^MPI_(Wait|Test)(all|any|some)?$|^MPI_(Cancel|Request_free|Request_get_status.*)$"
                r"|^MPI_(Buffer|Comm|Session)_(attach|detach|i?flush)(_buffer)?$"),
    ("MPI_COLL", r"^MPI_I?(neighbor_)?(allgather|allreduce|alltoall|barrier|bcast|exscan|gather|reduce|scan|scatter)"
                 r"(v|w|_scatter|_scatter_block)?(_init)?$"),
    ("MPI_TOPO", r"^MPI_Comm_(create|create_group|create_from_group|dup|dup_with_info|idup|idup_with_info|split"
                 r"|split_type|free|spawn|spawn_multiple|connect|accept|disconnect|join|set_name|get_parent)$"
                 r"|^MPI_(Cart|Graph|Dist_graph)_(create|sub|create_adjacent)$|^MPI_Intercomm_"),
    ("MPI_ENV", r""),
]


def level(name):
    """The level of a procedure, or `-`."""
    if NOT_RECORDED.search(name):
        return "-"
    plain = name.removesuffix("_c")
    return next(level for level, pattern in LEVELS if re.search(pattern, plain, re.IGNORECASE))


def rows():
    """Name, level, result and parameters of each C function."""
    pympistandard.use_api_version(1, force_bundled=True)
    table = json.loads((Path(pympistandard.__file__).parent / "data/apis.json").read_text())
    for key, entry in table.items():
        attributes = entry["attributes"]
        if attributes["callback"] or attributes["predefined_function"]:
            continue
        procedure = pympistandard.PROCEDURES[key]
        if procedure.express.iso_c is None:
            continue
        declarations = [(entry["name"], procedure.express.iso_c)]
        if procedure.has_embiggenment():
            declarations.append((entry["name"] + "_c", procedure.express.embiggen.iso_c))
        for name, declaration in declarations:
            result, parameters = str(declaration).split(name + "(", 1)
            yield name, level(name), result.strip(), parameters.rstrip(")")


def main():
    """Writes both files."""
    table = [row for row in rows() if row[1] != "-"]
    text = "".join("\t".join(row) + "\n" for row in sorted(table))
    (HERE / "procedures.tsv").write_text(text)
    names = "".join(f"    {name},\n" for name, *_ in sorted(table))
    SPEC.write_text(
        "/// The procedures of MPI 5.0 that are recorded, in C. `tracer-rt/preload/mpi/procedures.py` makes\n"
        "/// this list.\n"
        f"enum procedure {{\n{names}}}\n"
    )


if __name__ == "__main__":
    main()
