/*
 * System calls by name: their number on every architecture that the specification names, and how
 * much of each argument the kernel takes. Pure.
 *
 * The table is kept by hand from the kernel's own headers (Linux 7.2), because a C library or
 * libseccomp of the day knows fewer. A new call is a row with EVERYWHERE(number): since Linux 5.1
 * all architectures number alike.
 */
#pragma once

#include <linux/audit.h>
#include <stddef.h>
#include <stdint.h>

#ifndef AUDIT_ARCH_LOONGARCH64 /* Linux 5.19 */
#define AUDIT_ARCH_LOONGARCH64 (258 | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE)
#endif

/* x32 is no architecture to the kernel. This is what libseccomp calls it. */
#define SYSCALL_TOKEN_X32 (EM_X86_64 | __AUDIT_ARCH_LE)

/* Architectures that differ in their numbers. */
enum syscall_column {
	COLUMN_X86_64,
	COLUMN_X32,
	COLUMN_X86,
	COLUMN_ARM,
	COLUMN_AARCH64,
	COLUMN_RISCV64,
	COLUMN_LOONGARCH64,
	COLUMN_MIPS,
	COLUMN_MIPS64,
	COLUMN_MIPS64N32,
	COLUMN_PPC,
	COLUMN_PPC64,
	COLUMN_S390,
	COLUMN_S390X,
	COLUMN_M68K,
	COLUMN_SH,
	COLUMN_PARISC,
	COLUMN_PARISC64,
	COLUMN_COUNT,
};

struct syscall_arch {
	char name[12];	/* the specification's, without SCMP_ARCH_ */
	uint8_t column; /* enum syscall_column */
	uint8_t bits;	/* of an argument, mostly: syscall_register_bits() */
	uint32_t base;	/* what is added to all numbers */
	uint32_t token; /* the kernel's audit number, or SYSCALL_TOKEN_X32 */
};

enum {
	SYSCALL_NONE = 0xffff,	      /* nr: the architecture lacks the call */
	SYSCALL_ARM_PRIVATE = 0xf000, /* nr: the first of ARM's private calls, really 0x0f0000 */
	SYSCALL_VIA_SOCKETCALL = 0,
	SYSCALL_VIA_IPC = 100,
};

/* Without pointers, so that a start of the program has nothing to relocate. */
struct syscall_row {
	char name[30];
	char widths[7]; /* a letter for each argument, see syscall_table.c */
	uint8_t via;	/* 0, or SYSCALL_VIA_* and the selector there */
	uint16_t nr[COLUMN_COUNT];
};

extern const struct syscall_arch syscall_archs[];
extern const size_t syscall_arch_count;
extern const struct syscall_row syscall_rows[]; /* sorted by name */
extern const size_t syscall_row_count;

/* Each returns NULL when there is none. */
const struct syscall_arch *syscall_arch_find(const char *name);
const struct syscall_row *syscall_find(const char *name);

/* As syscall_find(), for lists whose names mostly follow each other as in the table: it is looked
 * for behind *at first, which is NULL at the beginning and becomes what is found. */
const struct syscall_row *syscall_find_next(const char *name, const struct syscall_row **at);

/* The architecture that this program was built for. */
const struct syscall_arch *syscall_arch_native(void);

/* The call that a filter sees as this number of this audit architecture, and whose it is; NULL:
 * nobody knows it. */
const struct syscall_row *syscall_seen(uint32_t token, uint32_t nr,
				       const struct syscall_arch **ret_arch);

/* The call's number there, or -1. */
int syscall_number(const struct syscall_row *r, const struct syscall_arch *a);

/* How many bits a register has that the kernel takes as a whole: a pointer or a long of the call
 * with this number. */
unsigned int syscall_register_bits(const struct syscall_arch *a, uint32_t nr);

/* How many of an argument's low bits the kernel looks at. */
unsigned int syscall_arg_bits(const struct syscall_row *r, const struct syscall_arch *a,
			      unsigned int index);

/*
 * The row of socketcall or ipc, if the call can also be made through one of them; else NULL. The
 * first argument then is *ret_selector, and the others lie in memory.
 */
const struct syscall_row *syscall_via(const struct syscall_row *r, const struct syscall_arch *a,
				      unsigned int *ret_selector);
