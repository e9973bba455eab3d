// SPDX-License-Identifier: BSD-3-Clause
// Loaded into a program (LD_PRELOAD), notes the calls that change files, one line each, in the
// order in which they are made, in the file that LOG_CALLS names:
//
//     mkdir PATH      write PATH      sync PATH      rename FROM TO      exchange A B
//     unlink PATH     rmdir PATH      link PATH      sync all PATH
//
// "write" is any call that changes the content of a file, also the one that creates it. The program
// must run in one thread.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int log_file(void) {
  static int file = -2;
  if (file == -2) {
    const char* path = getenv("LOG_CALLS");
    int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
    file = path == NULL ? -1 : real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  return file;
}

static void note(const char* what, const char* a, const char* b) {
  char line[2 * PATH_MAX + 32];
  const int size = snprintf(line, sizeof line, "%s\t%s%s%s\n", what, a, b[0] ? "\t" : "", b);
  ssize_t (*real)(int, const void*, size_t) =
      (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (log_file() >= 0 && real(log_file(), line, (size_t)size) != size) abort();
}

static void path_of(int file, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, PATH_MAX - 1);
  path[size < 0 ? 0 : size] = '\0';
}

/// The path of a name in an open folder.
static const char* path_at(int folder, const char* name, char path[PATH_MAX]) {
  if (folder == AT_FDCWD || name[0] == '/') return name;
  path_of(folder, path);
  const size_t size = strlen(path);
  snprintf(path + size, PATH_MAX - size, "/%s", name);
  return path;
}

static void note_file(const char* what, int file) {
  char path[PATH_MAX];
  path_of(file, path);
  if (path[0] == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0) {
    note(what, path, "");
  }
}

#define REAL(type, name, ...) \
  type (*real)(__VA_ARGS__) = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static int note_opened(int file, int flags) {
  if (file >= 0 && (flags & O_CREAT) != 0) note_file("write", file);
  return file;
}

#define OPEN(name)                                      \
  int name(const char* path, int flags, ...) {          \
    va_list more;                                       \
    va_start(more, flags);                              \
    const mode_t mode = va_arg(more, mode_t);           \
    va_end(more);                                       \
    REAL(int, name, const char*, int, ...);             \
    return note_opened(real(path, flags, mode), flags); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
  int name(int folder, const char* path, int flags, ...) {      \
    va_list more;                                               \
    va_start(more, flags);                                      \
    const mode_t mode = va_arg(more, mode_t);                   \
    va_end(more);                                               \
    REAL(int, name, int, const char*, int, ...);                \
    return note_opened(real(folder, path, flags, mode), flags); \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void* bytes, size_t size) {
  REAL(ssize_t, write, int, const void*, size_t);
  if (file > 2) note_file("write", file);
  return real(file, bytes, size);
}

#define PWRITE(name, offset_type)                                              \
  ssize_t name(int file, const void* bytes, size_t size, offset_type offset) { \
    REAL(ssize_t, name, int, const void*, size_t, offset_type);                \
    note_file("write", file);                                                  \
    return real(file, bytes, size, offset);                                    \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* where, size_t size,
                        unsigned flags) {
  REAL(ssize_t, copy_file_range, int, off64_t*, int, off64_t*, size_t, unsigned);
  note_file("write", to);
  return real(from, at, to, where, size, flags);
}

#define TRUNCATE(name, offset_type)      \
  int name(int file, offset_type size) { \
    REAL(int, name, int, offset_type);   \
    note_file("write", file);            \
    return real(file, size);             \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int fsync(int file) {
  REAL(int, fsync, int);
  const int result = real(file);
  if (result == 0) note_file("sync", file);
  return result;
}

int syncfs(int file) {
  REAL(int, syncfs, int);
  const int result = real(file);
  if (result == 0) note_file("sync all", file);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  REAL(int, mkdir, const char*, mode_t);
  const int result = real(path, mode);
  if (result == 0) note("mkdir", path, "");
  return result;
}

int rename(const char* from, const char* to) {
  REAL(int, rename, const char*, const char*);
  const int result = real(from, to);
  if (result == 0) note("rename", from, to);
  return result;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(int, renameat2, int, const char*, int, const char*, unsigned);
  const int result = real(from_folder, from, to_folder, to, flags);
  if (result == 0) note((flags & RENAME_EXCHANGE) != 0 ? "exchange" : "rename", from, to);
  return result;
}

int symlink(const char* to, const char* path) {
  REAL(int, symlink, const char*, const char*);
  const int result = real(to, path);
  if (result == 0) note("link", path, "");
  return result;
}

int link(const char* from, const char* to) {
  REAL(int, link, const char*, const char*);
  const int result = real(from, to);
  if (result == 0) note("link", to, "");
  return result;
}

int unlinkat(int folder, const char* name, int flags) {
  char path[PATH_MAX];
  REAL(int, unlinkat, int, const char*, int);
  const char* const whole = path_at(folder, name, path);
  const int result = real(folder, name, flags);
  if (result == 0) note((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", whole, "");
  return result;
}

int unlink(const char* path) {
  REAL(int, unlink, const char*);
  const int result = real(path);
  if (result == 0) note("unlink", path, "");
  return result;
}

int rmdir(const char* path) {
  REAL(int, rmdir, const char*);
  const int result = real(path);
  if (result == 0) note("rmdir", path, "");
  return result;
}

int remove(const char* path) {
  REAL(int, remove, const char*);
  const int result = real(path);
  if (result == 0) note("unlink", path, "");
  return result;
}
