/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of MPI 3.1 for one-sided communication, with every way to synchronise it. */
#include <string.h>

#include "expect.h"

enum { k_ints = 8, k_bytes = k_ints * sizeof(int) };
static int rank, size, left, right;
static MPI_Win win;
static const char* name;
static int* memory;
static int from[k_ints], to[k_ints];
static MPI_Group left_group, right_group;

/* --- what the recorder should write --- */

static void begin(void) { expect("RMA_BEGIN"); }
static void end(const char* operation, const char* level) {
  expect("RMA_END %s %s {%s} NONE 0 0", operation, name, level);
}
static void local(void) { expect("LOCAL %s", name); }
static void remote(void) { expect("REMOTE %s", name); }
static void atomic(const char* type, int sent, int received) {
  expect("ATOMIC %s %d %s %d %d", name, right, type, sent, received);
}

static void fence(int assertion) {
  begin();
  DO(Win_fence, assertion, win);
}
static void fenced(void) { end("BARRIER", "PROCESS, MEMORY"); }

static void made(const char* new_name, const char* operation) {
  name = new_name;
  begin();
  expect("WIN_CREATE %s", name);
  end(operation, "PROCESS");
  DO(Win_set_name, win, name);
}

static void freed(const char* operation) {
  begin();
  expect("WIN_DESTROY %s", name);
  end(operation, "PROCESS");
  DO(Win_free, &win);
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  expect("BEGIN");
  expect("END BARRIER MPI_COMM_WORLD NONE 0 0");
}

/* --- the calls --- */

static void put(void) {
  expect("PUT %s %d %d", name, right, k_bytes);
  DO(Put, from, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, win);
}
static void get(void) {
  expect("GET %s %d %d", name, right, k_bytes);
  DO(Get, to, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, win);
}
static void accumulate(void) {
  atomic("ACCUMULATE", k_bytes, 0);
  DO(Accumulate, from, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, MPI_SUM, win);
}
static void get_accumulate(void) {
  atomic("FETCH_AND_ACCUMULATE", k_bytes, k_bytes);
  DO(Get_accumulate, from, k_ints, MPI_INT, to, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, MPI_MAX,
     win);
}
static void fetch(MPI_Op op, const char* type, int sent) {
  atomic(type, sent, sizeof(int));
  DO(Fetch_and_op, from, to, MPI_INT, right, 0, op, win);
}
static void compare_and_swap(void) {
  const int expected = -1;
  atomic("COMPARE_AND_SWAP", sizeof(int), sizeof(int));
  DO(Compare_and_swap, from, &expected, to, MPI_INT, right, 1, win);
}

static void fences(void) {
  fence(MPI_MODE_NOPRECEDE);
  end("BARRIER", "MEMORY");
  put();
  fence(0);
  local();
  fenced();
  for (int i = 0; i < k_ints; ++i) REQUIRE(memory[i] == left * 100 + i);
  get();
  fence(0);
  local();
  remote();
  fenced();
  for (int i = 0; i < k_ints; ++i) REQUIRE(to[i] == rank * 100 + i);
  accumulate();
  DO(Put, from, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win); /* leaves no record */
  fence(MPI_MODE_NOSUCCEED);
  local();
  fenced();
  for (int i = 0; i < k_ints; ++i) REQUIRE(memory[i] == 2 * (left * 100 + i));
  result(memory, k_bytes);
}

static void wait_for_origin(int by_test) {
  int over = 0;
  if (by_test) {
    while (!over) MPI_Win_test(win, &over);
  } else {
    DO(Win_wait, win);
  }
  expect("GROUP_SYNC {PROCESS, MEMORY} %s", name);
}

static void epochs(void) {
  for (int round = 0; round < 4; ++round) {
    expect("GROUP_SYNC {PROCESS, MEMORY} %s", name);
    DO(Win_post, left_group, 0, win);
    DO(Win_start, right_group, 0, win);
    expect("GROUP_SYNC {PROCESS, MEMORY} %s", name);
    from[0] = rank * 100 + round;
    put();
    expect("GROUP_SYNC {PROCESS, MEMORY} %s", name);
    DO(Win_complete, win);
    local();
    wait_for_origin(round % 2);
    REQUIRE(memory[0] == left * 100 + round);
  }
  from[0] = rank * 100;
  result(memory, k_bytes);
  barrier();
}

static void lock(int exclusive) {
  expect("LOCK %s %d %s", name, right, exclusive ? "EXCLUSIVE" : "SHARED");
  DO(Win_lock, exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right, 0, win);
}
static void unlock(void) { expect("UNLOCK %s %d", name, right); }

static void locks(void) {
  lock(1);
  put();
  DO(Win_unlock, right, win);
  local();
  remote();
  unlock();
  lock(0);
  get_accumulate();
  DO(Win_flush, right, win);
  local();
  remote();
  fetch(MPI_SUM, "FETCH_AND_ADD", sizeof(int));
  DO(Win_flush_local, right, win);
  local();
  remote();
  put();
  DO(Win_flush_local, right, win);
  local();
  DO(Win_unlock, right, win);
  remote();
  unlock();
  barrier();
}

static void everybody_locked(void) {
  expect("LOCK %s UNDEFINED SHARED", name);
  DO(Win_lock_all, 0, win);
  fetch(MPI_REPLACE, "SWAP", sizeof(int));
  DO(Win_flush_all, win);
  local();
  remote();
  fetch(MPI_NO_OP, "FETCH_AND_ACCUMULATE", 0);
  compare_and_swap();
  DO(Win_flush_local_all, win);
  local();
  remote();
  local();
  remote();
  expect("SYNC %s %d MEMORY", name, rank);
  DO(Win_sync, win);

  MPI_Request requests[4];
  expect("PUT %s %d %d", name, right, k_bytes);
  DO(Rput, from, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, win, &requests[0]);
  DO(Wait, &requests[0], MPI_STATUS_IGNORE);
  local();
  DO(Win_flush, right, win);
  remote();
  expect("GET %s %d %d", name, right, k_bytes);
  DO(Rget, to, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, win, &requests[0]);
  atomic("ACCUMULATE", k_bytes, 0);
  DO(Raccumulate, from, k_ints, MPI_INT, right, 0, k_ints, MPI_INT, MPI_REPLACE, win, &requests[1]);
  atomic("FETCH_AND_ACCUMULATE", k_bytes, k_bytes);
  int old[k_ints];
  DO(Rget_accumulate, from, k_ints, MPI_INT, old, k_ints, MPI_INT, right, 0, k_ints, MPI_INT,
     MPI_MIN, win, &requests[2]);
  MPI_Irecv(to, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[3]);
  DO(Waitall, 4, requests, MPI_STATUSES_IGNORE);
  local(); /* of the get */
  remote();
  local(); /* of the accumulation */
  local(); /* of the other one */
  remote();
  DO(Win_unlock_all, win);
  remote();
  expect("UNLOCK %s UNDEFINED", name);
  barrier();
  for (int i = 0; i < k_ints; ++i) REQUIRE(old[i] == rank * 100 + i);
  result(old, sizeof old);
}

static void all_of(void) {
  memset(memory, 0, k_bytes);
  barrier();
  fences();
  epochs();
  locks();
  everybody_locked();
}

static void windows(void) {
  int own[k_ints], unit;
  MPI_Aint bytes;
  memory = own;
  DO(Win_create, own, k_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  made("created", "CREATE_HANDLE");
  all_of();
  MPI_Group group;
  DO(Win_get_group, win, &group);
  MPI_Group_free(&group);
  freed("DESTROY_HANDLE");

  DO(Win_allocate, k_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  made("allocated", "CREATE_HANDLE_AND_ALLOCATE");
  all_of();
  freed("DESTROY_HANDLE_AND_DEALLOCATE");

  DO(Win_allocate_shared, k_bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  made("shared", "CREATE_HANDLE_AND_ALLOCATE");
  fences();
  DO(Win_shared_query, win, rank, &bytes, &unit, &memory);
  REQUIRE(bytes == k_bytes && unit == sizeof(int));
  freed("DESTROY_HANDLE_AND_DEALLOCATE");

  DO(Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  made("dynamic", "CREATE_HANDLE");
  memset(own, 0, sizeof own);
  DO(Win_attach, win, own, k_bytes);
  MPI_Aint address, there;
  MPI_Get_address(own, &address);
  MPI_Sendrecv(&address, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect("SEND %d MPI_COMM_WORLD 1 8", left);
  expect("RECV %d MPI_COMM_WORLD 1 8", right);
  fence(0);
  fenced();
  expect("PUT %s %d 4", name, right);
  DO(Put, from, 1, MPI_INT, right, there, 1, MPI_INT, win);
  fence(0);
  local();
  fenced();
  REQUIRE(own[0] == left * 100);
  DO(Win_detach, win, own);
  freed("DESTROY_HANDLE");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(argv[1], rank);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  for (int i = 0; i < k_ints; ++i) from[i] = rank * 100 + i;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &left, &left_group);
  MPI_Group_incl(all, 1, &right, &right_group);
  MPI_Group_free(&all);
  windows();
  MPI_Group_free(&left_group);
  MPI_Group_free(&right_group);
  expect_close();
  if (rank == 0) printf("one_sided done\n");
  MPI_Finalize();
  return 0;
}
