/* The code that patched sleds reach: it calls `tumit_enter_sled` or `tumit_leave_sled`, and changes
 * no register of the program except r10 and r11, which a call may change at any time.
 *
 * r10d is the number of the function. Vector registers can contain arguments. Their lower halves
 * are always kept. Their upper halves are kept if they are in use: functions of the C library, which
 * the recorder may call, clear them. */

#if defined(__x86_64__)

/* Bytes for registers on the stack: 8 of 8 bytes, and 8 of 16 bytes. */
#define REGISTERS (8 * 8 + 8 * 16)
/* Bytes for upper halves, in the layout of the instruction `xsave`. `sleds.h` checks the size. */
#define UPPER_HALVES 2752
/* The offset of the header in this layout, of which `xsave` writes a part. */
#define HEADER 512

/* `words` is the offset from rbp of the word with the return address of the function. */
.macro trampoline name, function, words
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r11
    subq $(8 * 16), %rsp
    movups %xmm0, -REGISTERS(%rbp)
    movups %xmm1, -REGISTERS+16(%rbp)
    movups %xmm2, -REGISTERS+32(%rbp)
    movups %xmm3, -REGISTERS+48(%rbp)
    movups %xmm4, -REGISTERS+64(%rbp)
    movups %xmm5, -REGISTERS+80(%rbp)
    movups %xmm6, -REGISTERS+96(%rbp)
    movups %xmm7, -REGISTERS+112(%rbp)
    cld
    movl %r10d, %edi
    leaq \words(%rbp), %rsi
    movl tumit_vector_states(%rip), %r8d
    testl %r8d, %r8d
    jz 2f
    cmpl $0, tumit_has_states_in_use(%rip)
    je 1f
    movl $1, %ecx
    xgetbv
    testl %r8d, %eax
    jz 2f
1:
    subq $UPPER_HALVES, %rsp
    andq $-64, %rsp
    xorl %edx, %edx
    .irp word, 0, 8, 16, 24, 32, 40, 48, 56
    movq %rdx, HEADER+\word(%rsp)
    .endr
    movl %r8d, %eax
    xsave (%rsp)
    call \function
    movl tumit_vector_states(%rip), %eax
    xorl %edx, %edx
    xrstor (%rsp)
    jmp 3f
2:
    andq $-16, %rsp
    call \function
3:
    movups -REGISTERS(%rbp), %xmm0
    movups -REGISTERS+16(%rbp), %xmm1
    movups -REGISTERS+32(%rbp), %xmm2
    movups -REGISTERS+48(%rbp), %xmm3
    movups -REGISTERS+64(%rbp), %xmm4
    movups -REGISTERS+80(%rbp), %xmm5
    movups -REGISTERS+96(%rbp), %xmm6
    movups -REGISTERS+112(%rbp), %xmm7
    leaq -64(%rbp), %rsp
    popq %r11
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
/* A sled calls the first two, and jumps to the third one. */
    trampoline tumit_entry_trampoline, tumit_enter_sled, 16
    trampoline tumit_tail_exit_trampoline, tumit_leave_sled, 16
    trampoline tumit_exit_trampoline, tumit_leave_sled, 8

#endif

    .section .note.GNU-stack, "", %progbits
