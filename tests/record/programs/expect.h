/* SPDX-License-Identifier: BSD-3-Clause */
/* A program writes down, line by line, what the recorder should have recorded of this process. */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *expect_file, *result_file, *call_file;

static FILE* expect_file_of(const char* folder, const char* what, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%d", folder, what, rank);
  FILE* const file = fopen(path, "w");
  if (file == NULL) abort();
  return file;
}

/* Opens expected.RANK, results.RANK and calls.RANK in FOLDER. */
static void expect_open(const char* folder, int rank) {
  expect_file = expect_file_of(folder, "expected", rank);
  result_file = expect_file_of(folder, "results", rank);
  call_file = expect_file_of(folder, "calls", rank);
}

static void expect(const char* format, ...) {
  va_list words;
  va_start(words, format);
  vfprintf(expect_file, format, words);
  va_end(words);
  fputc('\n', expect_file);
}

static void expect_close(void) {
  fclose(expect_file);
  fclose(result_file);
  fclose(call_file);
}

/* Notes data that a call gave: they must be the same without the recorder. */
__attribute__((unused)) static void result(const void* data, size_t bytes) {
  const unsigned char* const at = data;
  unsigned long hash = 0xcbf29ce484222325UL;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3UL;
  fprintf(result_file, "%lx\n", hash);
}

/* Calls MPI_`name` and counts it. */
#define DO(name, ...) (fputs("MPI_" #name "\n", call_file), MPI_##name(__VA_ARGS__))

/* Ends the program when the library's result is not what it must be. */
#define REQUIRE(condition)                                              \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 9);                                     \
    }                                                                   \
  } while (0)

#endif
