//! The exported symbols of the library. Each jumps to the wrapper of the family in use.

use std::fmt::Write as _;

use crate::procedures::Procedure;

/// The assembly file with all entry points.
///
/// An entry point jumps to the address in its element of `tumit_mpi_entries`. At first, this is a
/// stub, which passes the number of the entry to `tumit_mpi_first_call`. That code keeps the
/// registers of the arguments, calls `tumit_mpi_select_family`, which fills the table, and continues
/// with the wrapper.
pub(crate) fn entries(procedures: &[Procedure], architecture: &str) -> String {
    let assembly = match architecture {
        "x86_64" => &X86_64,
        "aarch64" => &AARCH64,
        other => panic!("the recorder of MPI calls does not support the processor architecture {other}"),
    };
    let names: Vec<&str> = procedures.iter().map(|procedure| procedure.name.as_str()).chain(["MPI_Pcontrol"]).collect();
    let mut out = String::from("    .text\n");
    out.push_str(assembly.first_call);
    for (number, name) in names.iter().enumerate() {
        for symbol in [(*name).to_owned(), format!("P{name}")] {
            let _ = writeln!(out, "    .globl {symbol}\n    .type {symbol}, %function\n{symbol}:");
        }
        out.push_str(&(assembly.entry)(number));
        let _ = writeln!(out, "tumit_mpi_stub_{number}:");
        out.push_str(&(assembly.stub)(number));
        let _ = writeln!(out, "    .size {name}, . - {name}\n    .size P{name}, . - P{name}");
    }
    out.push_str("    .section .data.rel.local, \"aw\"\n    .balign 8\n    .hidden tumit_mpi_entries\n");
    out.push_str("    .globl tumit_mpi_entries\n    .type tumit_mpi_entries, %object\ntumit_mpi_entries:\n");
    for number in 0..names.len() {
        let _ = writeln!(out, "    .quad tumit_mpi_stub_{number}");
    }
    out.push_str("    .size tumit_mpi_entries, . - tumit_mpi_entries\n");
    out.push_str("    .section .note.GNU-stack, \"\", %progbits\n");
    out
}

/// The instructions of a processor architecture.
struct Assembly {
    first_call: &'static str,
    /// Jumps to the address in an element of the table.
    entry: fn(usize) -> String,
    /// Passes the number of the entry to `tumit_mpi_first_call`.
    stub: fn(usize) -> String,
}

const X86_64: Assembly = Assembly {
    first_call: "\
tumit_mpi_first_call:
    .cfi_startproc
    .cfi_def_cfa_offset 16
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %rax
    pushq %rax
    .cfi_def_cfa_offset 80
    call tumit_mpi_select_family
    popq %rax
    popq %rax
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_def_cfa_offset 16
    popq %r11
    .cfi_def_cfa_offset 8
    leaq tumit_mpi_entries(%rip), %r10
    jmp *(%r10,%r11,8)
    .cfi_endproc
",
    entry: |number| format!("    jmp *tumit_mpi_entries+{}(%rip)\n", number * 8),
    stub: |number| format!("    pushq ${number}\n    jmp tumit_mpi_first_call\n"),
};

const AARCH64: Assembly = Assembly {
    first_call: "\
tumit_mpi_first_call:
    stp x29, x30, [sp, #-96]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x17, [sp, #80]
    bl tumit_mpi_select_family
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x17, [sp, #80]
    ldp x29, x30, [sp], #96
    adrp x16, tumit_mpi_entries
    add x16, x16, :lo12:tumit_mpi_entries
    ldr x16, [x16, x17, lsl #3]
    br x16
",
    entry: |number| {
        let offset = number * 8;
        format!(
            "    adrp x16, tumit_mpi_entries+{offset}\n    ldr x16, [x16, #:lo12:tumit_mpi_entries+{offset}]\n    br x16\n"
        )
    },
    stub: |number| format!("    mov x17, #{number}\n    b tumit_mpi_first_call\n"),
};
