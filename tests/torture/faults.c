/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tool: makes one system call or allocation after the begin of main() fail.
 *
 * TORTURE_FAULT = KIND:AT:ERROR:FROM:COUNTS
 *   KIND    c (system calls) or m (allocations)
 *   AT      number of the one that fails, from 1; 0 only counts
 *   ERROR   errno of the failure; 0: a short read or write (system calls only)
 *   FROM    1: all later ones fail, too
 *   COUNTS  file of 24 bytes for three numbers of 64 bits, filled also if the process is killed:
 *           how many there were, 1 if one failed, and the number of the system call that failed
 *
 * System calls are caught by a seccomp filter that turns them into SIGSYS, so that those count
 * which the C library makes by itself. The handler repeats a call from an address that the filter
 * lets pass. Calls that the C library makes while it blocks all signals cannot be caught: those of
 * starting and ending threads and processes. Calls of the libraries of the sanitizers, which look
 * at memory by writing it to a pipe, are not counted: no program has to survive their failure. If
 * there is no seccomp, main() is not entered and the exit code is 99. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "written for x86-64"
#endif

struct counts {
  _Atomic uint64_t seen, failed, number;
};
static struct counts nowhere;
static struct counts* counts = &nowhere;
static char kind;
static uint64_t at;
static int error, from;
static atomic_int counting; /* 1 while main() runs */

/* True if this one has to fail. */
static int is_due(uint64_t number) {
  const uint64_t count = atomic_fetch_add(&counts->seen, 1) + 1;
  if (at == 0 || (from ? count < at : count != at)) return 0;
  if (atomic_exchange(&counts->failed, 1) == 0) atomic_store(&counts->number, number);
  return 1;
}

/* ---- allocations: not in a library for programs that bring an allocator, as sanitizers do ---- */

#ifndef CALLS_ONLY

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static int no_memory(void) {
  if (!atomic_load_explicit(&counting, memory_order_relaxed) || kind != 'm' || !is_due(0)) return 0;
  errno = ENOMEM;
  return 1;
}
void* malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return no_memory() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
  return no_memory() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* const memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

#endif

/* ---- system calls ---- */

/* long repeat(number, six arguments): its only system call returns to after_repeat. */
long repeat(long, long, long, long, long, long, long);
extern const char after_repeat[];
__asm__(
    ".text\n"
    ".globl repeat\n.hidden repeat\n.type repeat,@function\n"
    "repeat:\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
    "  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n"
    "  syscall\n"
    ".globl after_repeat\n.hidden after_repeat\n"
    "after_repeat:\n"
    "  ret\n"
    ".size repeat, .-repeat\n");

static const int caught[] = {SYS_read,       SYS_write,        SYS_open,      SYS_openat,
                             SYS_creat,      SYS_close,        SYS_stat,      SYS_fstat,
                             SYS_lstat,      SYS_newfstatat,   SYS_statx,     SYS_lseek,
                             SYS_mmap,       SYS_mremap,       SYS_brk,       SYS_pread64,
                             SYS_pwrite64,   SYS_readv,        SYS_writev,    SYS_preadv,
                             SYS_pwritev,    SYS_access,       SYS_faccessat, SYS_pipe,
                             SYS_pipe2,      SYS_dup,          SYS_dup2,      SYS_dup3,
                             SYS_fcntl,      SYS_fsync,        SYS_fdatasync, SYS_truncate,
                             SYS_ftruncate,  SYS_getdents64,   SYS_getcwd,    SYS_rename,
                             SYS_renameat,   SYS_renameat2,    SYS_mkdir,     SYS_mkdirat,
                             SYS_rmdir,      SYS_link,         SYS_linkat,    SYS_unlink,
                             SYS_unlinkat,   SYS_symlink,      SYS_symlinkat, SYS_readlink,
                             SYS_readlinkat, SYS_chmod,        SYS_fchmod,    SYS_fchmodat,
                             SYS_statfs,     SYS_fstatfs,      SYS_fallocate, SYS_copy_file_range,
                             SYS_sendfile,   SYS_memfd_create, SYS_getrandom, SYS_ioctl,
                             SYS_utimensat,  SYS_flock,        SYS_fadvise64};
enum { k_begin = 8, k_caught = sizeof caught / sizeof *caught };

static long shortened(long number, const greg_t* r) {
  long size = r[REG_RDX], fifth = r[REG_R8];
  if (number == SYS_read || number == SYS_write || number == SYS_pread64 ||
      number == SYS_pwrite64) {
    if (size > 1) size /= 2;
  } else if (number == SYS_copy_file_range && fifth > 1) {
    fifth /= 2;
  }
  return repeat(number, r[REG_RDI], r[REG_RSI], size, r[REG_R10], fifth, r[REG_R9]);
}

static long failing(long number, const greg_t* r) {
  if (error == 0) return shortened(number, r);
  if (number == SYS_brk) return repeat(SYS_brk, 0, 0, 0, 0, 0, 0);
  if (number == SYS_close) repeat(number, r[REG_RDI], 0, 0, 0, 0, 0); /* as Linux does it */
  return -error;
}

/* Where the code of the sanitizers is. */
enum { k_most_ranges = 16 };
static struct range { uintptr_t begin, end; } ranges[k_most_ranges];
static int range_count;

static int find_ranges(struct dl_phdr_info* library, size_t size, void* nothing) {
  (void)size, (void)nothing;
  const char* const names[] = {"libasan.", "libubsan.", "liblsan.", "libtsan."};
  for (unsigned n = 0; n < sizeof names / sizeof *names; ++n) {
    if (strstr(library->dlpi_name, names[n]) == NULL) continue;
    for (unsigned i = 0; i < library->dlpi_phnum && range_count < k_most_ranges; ++i) {
      const ElfW(Phdr)* const part = &library->dlpi_phdr[i];
      if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
      const uintptr_t begin = library->dlpi_addr + part->p_vaddr;
      ranges[range_count++] = (struct range){begin, begin + part->p_memsz};
    }
  }
  return 0;
}

static int is_inside(uintptr_t address) {
  for (int i = 0; i < range_count; ++i) {
    if (address >= ranges[i].begin && address < ranges[i].end) return 1;
  }
  return 0;
}

/* Most calls of the sanitizers are in their own code, but they make pipes by the C library, which
 * keeps little on the stack below its caller. */
static int is_of_sanitizers(long number, const void* address, const greg_t* r) {
  if (is_inside((uintptr_t)address)) return 1;
  if (number != SYS_pipe && number != SYS_pipe2 && number != SYS_fcntl) return 0;
  const uintptr_t* const stack = (const uintptr_t*)r[REG_RSP];
  for (int i = 0; range_count > 0 && i < 32; ++i) {
    if (is_inside(stack[i])) return 1;
  }
  return 0;
}

static void on_call(int signal, siginfo_t* info, void* context) {
  (void)signal;
  greg_t* const r = ((ucontext_t*)context)->uc_mcontext.gregs;
  const long number = info->si_syscall;
  const int keep = errno;
  const int fails = !is_of_sanitizers(number, info->si_call_addr, r) && is_due((uint64_t)number);
  r[REG_RAX] =
      fails ? failing(number, r)
            : repeat(number, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
  errno = keep;
}

static int catch_calls(void) {
  dl_iterate_phdr(find_ranges, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  if (sigaction(SIGSYS, &action, NULL) != 0) return -1;
  const uint64_t ip = (uint64_t)(uintptr_t)after_repeat;
  const struct sock_filter begin[k_begin] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ip, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(ip >> 32), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  struct sock_filter whole[k_begin + k_caught + 2];
  memcpy(whole, begin, sizeof begin);
  for (unsigned i = 0; i < k_caught; ++i) { /* to the last statement */
    whole[k_begin + i] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)caught[i], (uint8_t)(k_caught - i), 0);
  }
  whole[k_begin + k_caught] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  whole[k_begin + k_caught + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {k_begin + k_caught + 2, whole};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* ---- the begin of main() ---- */

typedef int (*main_t)(int, char**, char**);
static main_t real_main;

static void read_settings(void) {
  const char* const text = getenv("TORTURE_FAULT");
  char path[256];
  if (text == NULL || sscanf(text, "%c:%lu:%d:%d:%255s", &kind, &at, &error, &from, path) != 5)
    return;
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof *counts) != 0) _exit(99);
  void* const memory = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) _exit(99);
  close(file);
  counts = memory;
  unsetenv("TORTURE_FAULT"); /* of this program only */
  if (kind == 'c' && catch_calls() != 0) _exit(99);
  atomic_store(&counting, 1);
}

static int wrapped_main(int count, char** arguments, char** environment) {
  read_settings();
  return real_main(count, arguments, environment);
}

int __libc_start_main(main_t program, int count, char** arguments, void (*init)(void),
                      void (*fini)(void), void (*linker_fini)(void), void* stack_end) {
  real_main = program;
  int (*start)(main_t, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      (int (*)(main_t, int, char**, void (*)(void), void (*)(void), void (*)(void), void*))dlsym(
          RTLD_NEXT, "__libc_start_main");
  return start(wrapped_main, count, arguments, init, fini, linker_fini, stack_end);
}
