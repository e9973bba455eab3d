// SPDX-License-Identifier: BSD-3-Clause
// Loaded before the C library, so that calls of the tool fail or wait where a test wants it:
//
//   FAIL_MEMORY_FROM=K     every request for memory from the K-th on gets none
//   FAIL_MEMORY_ONCE=K     only the K-th
//   COUNT_MEMORY_IN=FILE   at the end the file holds the number of requests
//   FAIL_THREADS_FROM=K    every start of a thread from the K-th on fails
//   WHEN_CREATED=NAME      when a file of this name has been created ...
//   APPEND_TO=FILE         ... a byte is appended to FILE, or, without APPEND_TO, the call waits
//                          for ever
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static atomic_long requests, threads;
static long fail_memory_from, fail_memory_once, fail_threads_from;
static const char *count_in, *when_created, *append_to;

static long number_of(const char* name) {
  const char* const text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void begin(void) {
  fail_threads_from = number_of("FAIL_THREADS_FROM");
  count_in = getenv("COUNT_MEMORY_IN");
  when_created = getenv("WHEN_CREATED");
  append_to = getenv("APPEND_TO");
  atomic_store(&requests, 0);
  fail_memory_once = number_of("FAIL_MEMORY_ONCE");
  fail_memory_from = number_of("FAIL_MEMORY_FROM");
}

__attribute__((destructor)) static void end(void) {
  if (count_in == NULL) return;
  const long count = atomic_load(&requests);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, count_in, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dprintf(file, "%ld", count);
  close(file);
}

static int refused(void) {
  const long number = atomic_fetch_add(&requests, 1) + 1;
  if (number != fail_memory_once && (fail_memory_from == 0 || number < fail_memory_from)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return refused() ? NULL : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return refused() ? NULL : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) {
  return refused() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (refused()) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  const long number = atomic_fetch_add(&threads, 1) + 1;
  if (fail_threads_from != 0 && number >= fail_threads_from) return EAGAIN;
  const Create create = (Create)dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, body, argument);
}

static void notice(const char* path) {
  const char* const slash = strrchr(path, '/');
  if (when_created == NULL || strcmp(slash == NULL ? path : slash + 1, when_created) != 0) return;
  while (append_to == NULL) pause();
  const int file = (int)syscall(SYS_openat, AT_FDCWD, append_to, O_WRONLY | O_APPEND, 0);
  if (write(file, "x", 1) != 1) _exit(99);
  close(file);
}

static int open_file(const char* path, int flags, mode_t mode) {
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if ((flags & O_CREAT) != 0) notice(path);
  return file;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}
