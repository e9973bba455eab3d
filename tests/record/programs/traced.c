/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a tracer of its own, as tracers are made: it wraps MPI by way of PMPI, stamps
 * events with a timer of its own, measures offsets by ping-pongs at begin and end, and writes an
 * OTF2 archive.
 *
 * traced ARCHIVE STEPS writes ARCHIVE. The variable TRACED_TIMER chooses the timer: raw
 * (CLOCK_MONOTONIC_RAW) or tsc. If TRACED_CLOCKS names a virtual_clocks.txt of the recorder, the
 * clocks of the tracer are those, and ARCHIVE.truth has the true times. */
#include <math.h>
#include <mpi.h>
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

int entrain_timesync(void);

enum { INIT, SEND, RECV, ALLREDUCE, REGIONS };
static const char* const k_names[REGIONS] = {"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Allreduce"};

/* A call: begin and end by the true clock, and the partner. */
struct Call {
  uint64_t begin, end;
  int32_t region, peer;
};
/* A ping-pong with rank 0: middle of the round trip here, answer there. */
struct Offset {
  uint64_t local, master;
};

enum { k_most_calls = 100000, k_pings = 10 };
static struct Call calls[k_most_calls];
static struct Offset offsets[2];
static int count, rank, size, use_tsc;
static uint64_t first_count, first_ns, ticks_per_second = 1000000000;

static uint64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t stamp(void) {
#if defined(__x86_64__)
  if (use_tsc) return __rdtsc();
#endif
  return nanoseconds();
}

static void note(uint64_t begin, int region, int peer) {
  if (count == k_most_calls) abort();
  calls[count++] = (struct Call){begin, stamp(), region, peer};
}

/* As tracers measure: serial ping-pongs, of which the shortest counts. */
static void measure(struct Offset* offset) {
  for (int other = 1; other < size; ++other) {
    uint64_t best = UINT64_MAX, answer = 0;
    for (int i = 0; i < k_pings && rank == other; ++i) {
      const uint64_t sent = stamp();
      PMPI_Send(&answer, 1, MPI_UINT64_T, 0, 77, MPI_COMM_WORLD);
      PMPI_Recv(&answer, 1, MPI_UINT64_T, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const uint64_t trip = stamp() - sent;
      if (trip >= best) continue;
      best = trip;
      *offset = (struct Offset){sent + trip / 2, answer};
    }
    for (int i = 0; i < k_pings && rank == 0; ++i) {
      PMPI_Recv(&answer, 1, MPI_UINT64_T, other, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      answer = stamp();
      PMPI_Send(&answer, 1, MPI_UINT64_T, other, 77, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) offset->local = offset->master = stamp();
}

int MPI_Init(int* argc, char*** argv) {
  const char* const timer = getenv("TRACED_TIMER");
  use_tsc = timer != NULL && strcmp(timer, "tsc") == 0;
  first_count = stamp();
  first_ns = nanoseconds();
  const uint64_t begin = stamp();
  const int result = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  measure(&offsets[0]);
  note(begin, INIT, -1);
  return result;
}

int MPI_Send(const void* data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const uint64_t begin = stamp();
  const int result = PMPI_Send(data, number, type, to, tag, comm);
  note(begin, SEND, to);
  return result;
}

int MPI_Recv(void* data, int number, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  const uint64_t begin = stamp();
  const int result = PMPI_Recv(data, number, type, from, tag, comm, status);
  note(begin, RECV, from);
  return result;
}

int MPI_Allreduce(const void* in, void* out, int number, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const uint64_t begin = stamp();
  const int result = PMPI_Allreduce(in, out, number, type, op, comm);
  note(begin, ALLREDUCE, -1);
  return result;
}

/* A wrong clock, as the recorder describes it. */
struct Clock {
  double offset, rate, wander, speed, phase, epoch;
};

static uint64_t shown(const struct Clock* clock, uint64_t truth) {
  const double passed = (double)truth - clock->epoch;
  const double wander =
      clock->wander * (sin(clock->speed * passed + clock->phase) - sin(clock->phase));
  return truth +
         (uint64_t)(int64_t)(clock->offset + (double)llround(clock->rate * passed + wander));
}

static void read_clocks(struct Clock* clocks) {
  const char* const path = getenv("TRACED_CLOCKS");
  FILE* const file = path == NULL ? NULL : fopen(path, "r");
  char line[1024];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    const int of = atoi(strchr(line, '=') + 1);
    struct Clock* const c = &clocks[of];
    if (sscanf(strstr(line, "offset_ns="),
               "offset_ns=%lf rate_error=%lf wander_ns=%lf wander_rad_per_ns=%lf "
               "wander_phase_rad=%lf epoch_ns=%lf",
               &c->offset, &c->rate, &c->wander, &c->speed, &c->phase, &c->epoch) != 6) {
      abort();
    }
  }
  if (file != NULL) fclose(file);
}

static OTF2_FlushType before_flush(void* a, OTF2_FileType b, OTF2_LocationRef c, void* d, bool e) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
  return OTF2_FLUSH;
}
static OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};

static void write_events(OTF2_Archive* archive, int of, const struct Call* some, int number,
                         const struct Clock* clock) {
  OTF2_EvtWriter* const events = OTF2_Archive_GetEvtWriter(archive, (OTF2_LocationRef)of);
  for (const struct Call* c = some; c != some + number; ++c) {
    const uint64_t begin = shown(clock, c->begin), end = shown(clock, c->end);
    OTF2_EvtWriter_Enter(events, NULL, begin, (OTF2_RegionRef)c->region);
    if (c->region == SEND) {
      OTF2_EvtWriter_MpiSend(events, NULL, begin, (uint32_t)c->peer, 0, 0, 4);
    } else if (c->region == RECV) {
      OTF2_EvtWriter_MpiRecv(events, NULL, end, (uint32_t)c->peer, 0, 0, 4);
    } else if (c->region == ALLREDUCE) {
      OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, begin);
      OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, end, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                      OTF2_COLLECTIVE_ROOT_NONE, 4, 4);
    }
    OTF2_EvtWriter_Leave(events, NULL, end, (OTF2_RegionRef)c->region);
  }
  OTF2_Archive_CloseEvtWriter(archive, events);
}

static void write_definitions(OTF2_Archive* archive, const int* numbers, uint64_t begin,
                              uint64_t end) {
  OTF2_GlobalDefWriter* const defs = OTF2_Archive_GetGlobalDefWriter(archive);
  uint64_t members[1024];
  OTF2_GlobalDefWriter_WriteClockProperties(defs, ticks_per_second, begin, end - begin, 0);
  OTF2_GlobalDefWriter_WriteString(defs, 0, "");
  for (uint32_t i = 0; i < REGIONS; ++i) {
    OTF2_GlobalDefWriter_WriteString(defs, i + 1, k_names[i]);
    OTF2_GlobalDefWriter_WriteRegion(defs, i, i + 1, i + 1, 0, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, 0, 0, 0);
  }
  OTF2_GlobalDefWriter_WriteString(defs, 20, "machine");
  OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 20, 20, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  for (uint32_t i = 0; i < (uint32_t)size; ++i) {
    char name[32];
    snprintf(name, sizeof name, "node %u", i);
    members[i] = i;
    OTF2_GlobalDefWriter_WriteString(defs, 30 + i, name);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, i + 1, 30 + i, 20, 0);
    OTF2_GlobalDefWriter_WriteLocationGroup(defs, i, 30 + i, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                            i + 1, OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(defs, i, 30 + i, OTF2_LOCATION_TYPE_CPU_THREAD,
                                       (uint64_t)numbers[i], i);
  }
  OTF2_GlobalDefWriter_WriteGroup(defs, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, (uint32_t)size, members);
  OTF2_GlobalDefWriter_WriteGroup(defs, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, (uint32_t)size, members);
  OTF2_GlobalDefWriter_WriteComm(defs, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_Archive_CloseGlobalDefWriter(archive, defs);
}

/* Everything by rank 0: all calls, one process after the other, and the offsets of each. */
static void write_archive(const char* path, const struct Call* all, const int* numbers,
                          const struct Offset* sessions, const struct Clock* clocks, int truth) {
  OTF2_Archive* const archive =
      OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22, OTF2_SUBSTRATE_POSIX,
                        OTF2_COMPRESSION_NONE);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
  OTF2_Archive_OpenEvtFiles(archive);
  const struct Call* next = all;
  uint64_t begin = UINT64_MAX, end = 0;
  for (int i = 0; i < size; next += numbers[i++]) {
    write_events(archive, i, next, numbers[i], &clocks[i]);
    if (next->begin < begin) begin = next->begin;
    if (next[numbers[i] - 1].end > end) end = next[numbers[i] - 1].end;
  }
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_OpenDefFiles(archive);
  for (int i = 0; i < size; ++i) {
    OTF2_DefWriter* const defs = OTF2_Archive_GetDefWriter(archive, (OTF2_LocationRef)i);
    for (int s = 0; s < 2 && !truth; ++s) {
      const uint64_t local = shown(&clocks[i], sessions[2 * i + s].local);
      const uint64_t master = shown(&clocks[0], sessions[2 * i + s].master);
      OTF2_DefWriter_WriteClockOffset(defs, local, (int64_t)(master - local), 0);
    }
    OTF2_Archive_CloseDefWriter(archive, defs);
  }
  OTF2_Archive_CloseDefFiles(archive);
  write_definitions(archive, numbers, begin - 1000000000, end + 1000000000);
  OTF2_Archive_Close(archive);
}

static char output[4096];

int MPI_Finalize(void) {
  measure(&offsets[1]);
  int* const numbers = calloc((size_t)size, 2 * sizeof(int));
  int* const places = numbers + size;
  const int bytes = count * (int)sizeof(struct Call);
  struct Offset* const sessions = calloc((size_t)size, sizeof offsets);
  PMPI_Gather(&bytes, 1, MPI_INT, numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 1; i < size; ++i) places[i] = places[i - 1] + numbers[i - 1];
  struct Call* const all = malloc((size_t)(places[size - 1] + numbers[size - 1]) + 1);
  PMPI_Gatherv(calls, bytes, MPI_BYTE, all, numbers, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  PMPI_Gather(offsets, sizeof offsets, MPI_BYTE, sessions, sizeof offsets, MPI_BYTE, 0,
              MPI_COMM_WORLD);
  const int result = PMPI_Finalize();
  if (use_tsc) {
    ticks_per_second =
        (uint64_t)((double)(stamp() - first_count) * 1e9 / (double)(nanoseconds() - first_ns));
  }
  if (rank == 0) {
    struct Clock* const clocks = calloc((size_t)size, sizeof(struct Clock));
    for (int i = 0; i < size; ++i) numbers[i] /= (int)sizeof(struct Call);
    char truth[4200];
    snprintf(truth, sizeof truth, "%s.truth", output);
    if (getenv("TRACED_CLOCKS") != NULL) {
      write_archive(truth, all, numbers, sessions, clocks, 1);
      read_clocks(clocks);
    }
    write_archive(output, all, numbers, sessions, clocks, 0);
    free(clocks);
  }
  free(all), free(numbers), free(sessions);
  return result;
}

int main(int number, char** words) {
  MPI_Init(&number, &words);
  if (number != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  snprintf(output, sizeof output, "%s", words[1]);
  const int steps = atoi(words[2]), right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < steps; ++i) {
    int token = i, sum = 0;
    if (rank % 2 == 0) MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank % 2 == 1) MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    if (i % 4 == 0) MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (i == steps / 2) entrain_timesync();
    usleep(500);
  }
  MPI_Finalize();
  return 0;
}
