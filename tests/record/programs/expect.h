/* SPDX-License-Identifier: BSD-3-Clause */
/* A program writes down, line by line, what the recorder should have recorded of this process. */
#ifndef EXPECT_H
#define EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* expect_file;

/* Opens FOLDER/expected.RANK. */
static void expect_open(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/expected.%d", folder, rank);
  expect_file = fopen(path, "w");
  if (expect_file == NULL) abort();
}

static void expect(const char* format, ...) {
  va_list words;
  va_start(words, format);
  vfprintf(expect_file, format, words);
  va_end(words);
  fputc('\n', expect_file);
}

static void expect_close(void) { fclose(expect_file); }

/* Ends the program when the library's result is not what it must be. */
#define REQUIRE(condition)                                              \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 9);                                     \
    }                                                                   \
  } while (0)

#endif
