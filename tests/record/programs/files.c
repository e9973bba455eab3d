/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of MPI 3.1 that reads or writes a file. They are recorded as calls only. */
#include <string.h>

#include "expect.h"

enum { k_ints = 4, k_bytes = k_ints * sizeof(int) };
static int rank, size;
static int out[k_ints], in[k_ints];
static MPI_File file;
static MPI_Request request;

static void seek(void) { DO(File_seek, file, rank * k_ints, MPI_SEEK_SET); }
static void finish(void) { DO(Wait, &request, MPI_STATUS_IGNORE); }

/* Own data are back. */
static void check(void) {
  for (int i = 0; i < k_ints; ++i) REQUIRE(in[i] == out[i]);
  result(in, sizeof in);
  memset(in, 0, sizeof in);
  for (int i = 0; i < k_ints; ++i) ++out[i];
}

/* Somebody's data are there: who comes first takes the first ones. */
static void check_any(void) {
  REQUIRE(in[1] == in[0] + 1 && in[3] == in[0] + 3);
  memset(in, 0, sizeof in);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  expect("BEGIN");
  expect("END BARRIER MPI_COMM_WORLD NONE 0 0");
}

static void rewind_shared(void) {
  barrier();
  DO(File_seek_shared, file, 0, MPI_SEEK_SET);
}

#define DATA(buffer) buffer, k_ints, MPI_INT
#define IGNORE MPI_STATUS_IGNORE

static void individual(void) {
  seek(), DO(File_write, file, DATA(out), IGNORE);
  seek(), DO(File_read, file, DATA(in), IGNORE), check();
  seek(), DO(File_write_all, file, DATA(out), IGNORE);
  seek(), DO(File_read_all, file, DATA(in), IGNORE), check();
  seek(), DO(File_iwrite, file, DATA(out), &request), finish();
  seek(), DO(File_iread, file, DATA(in), &request), finish(), check();
  seek(), DO(File_iwrite_all, file, DATA(out), &request), finish();
  seek(), DO(File_iread_all, file, DATA(in), &request), finish(), check();
  seek(), DO(File_write_all_begin, file, DATA(out)), DO(File_write_all_end, file, out, IGNORE);
  seek(), DO(File_read_all_begin, file, DATA(in)), DO(File_read_all_end, file, in, IGNORE), check();
}

static void at_offsets(void) {
  const MPI_Offset at = rank * k_ints;
  DO(File_write_at, file, at, DATA(out), IGNORE);
  DO(File_read_at, file, at, DATA(in), IGNORE), check();
  DO(File_write_at_all, file, at, DATA(out), IGNORE);
  DO(File_read_at_all, file, at, DATA(in), IGNORE), check();
  DO(File_iwrite_at, file, at, DATA(out), &request), finish();
  DO(File_iread_at, file, at, DATA(in), &request), finish(), check();
  DO(File_iwrite_at_all, file, at, DATA(out), &request), finish();
  DO(File_iread_at_all, file, at, DATA(in), &request), finish(), check();
  DO(File_write_at_all_begin, file, at, DATA(out)), DO(File_write_at_all_end, file, out, IGNORE);
  DO(File_read_at_all_begin, file, at, DATA(in)), DO(File_read_at_all_end, file, in, IGNORE);
  check();
}

static void shared_pointer(void) {
  rewind_shared(), DO(File_write_ordered, file, DATA(out), IGNORE);
  rewind_shared(), DO(File_read_ordered, file, DATA(in), IGNORE), check();
  rewind_shared(), DO(File_write_ordered_begin, file, DATA(out));
  DO(File_write_ordered_end, file, out, IGNORE);
  rewind_shared(), DO(File_read_ordered_begin, file, DATA(in));
  DO(File_read_ordered_end, file, in, IGNORE), check();
  rewind_shared(), DO(File_write_shared, file, DATA(out), IGNORE);
  rewind_shared(), DO(File_read_shared, file, DATA(in), IGNORE), check_any();
  rewind_shared(), DO(File_iwrite_shared, file, DATA(out), &request), finish();
  rewind_shared(), DO(File_iread_shared, file, DATA(in), &request), finish(), check_any();
}

static void questions(void) {
  MPI_Offset offset;
  MPI_Group group;
  MPI_Info info;
  MPI_Datatype etype, filetype;
  MPI_Aint extent;
  char representation[MPI_MAX_DATAREP_STRING];
  int value;
  DO(File_get_size, file, &offset);
  REQUIRE(offset == (MPI_Offset)size * k_bytes);
  DO(File_get_amode, file, &value);
  DO(File_get_group, file, &group), MPI_Group_free(&group);
  DO(File_get_info, file, &info), MPI_Info_free(&info);
  DO(File_set_info, file, MPI_INFO_NULL);
  DO(File_get_view, file, &offset, &etype, &filetype, representation);
  DO(File_get_position, file, &offset);
  DO(File_get_position_shared, file, &offset);
  DO(File_get_byte_offset, file, 1, &offset);
  DO(File_get_type_extent, file, MPI_INT, &extent);
  DO(File_set_atomicity, file, 0);
  DO(File_get_atomicity, file, &value);
  DO(File_sync, file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  for (int i = 0; i < k_ints; ++i) out[i] = rank * 1000 + i;
  char path[4096];
  snprintf(path, sizeof path, "%s/data", argv[1]);
  DO(File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  DO(File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  DO(File_set_size, file, 0);
  /* Nothing: Open MPI 4.1 asks every process for the size while the first one writes, and then cuts
     off what those wrote that had seen the new size. */
  DO(File_preallocate, file, 0);
  individual();
  at_offsets();
  shared_pointer();
  questions();
  DO(File_close, &file);
  barrier();
  if (rank == 0) DO(File_delete, path, MPI_INFO_NULL);
  expect_close();
  if (rank == 0) printf("files done\n");
  MPI_Finalize();
  return 0;
}
