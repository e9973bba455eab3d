/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by which a program tells the recorder (`entrain record`) more than MPI calls show, from C
 * and C++. Link with libentrain-hooks, whose functions do nothing; the recorder puts its own in
 * their place. From Fortran: call entrain_timesync(ierr), entrain_region_begin('name'),
 * entrain_region_end().
 *
 *   entrain_region_begin("solve");
 *   for (int step = 0; step < steps; ++step) {
 *     advance();
 *     if (step % 1000 == 0) entrain_timesync();
 *   }
 *   entrain_region_end();
 */
#ifndef ENTRAIN_RECORD_H
#define ENTRAIN_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/** Measures the clocks of all processes against each other, now. Collective over MPI_COMM_WORLD:
 *  every process calls it, one thread each, or it blocks. Takes about what MPI_Init's session
 * takes; a call every ten seconds or so follows clocks that change their rate. Outside of MPI_Init
 * ... MPI_Finalize, and without the recorder, nothing happens. Returns 0. */
int entrain_timesync(void);

/** Begins a region of the calling thread. Equal names are one region. Regions of a thread nest: the
 *  next entrain_region_end ends this one. `name` is copied; if it is null, nothing happens. */
void entrain_region_begin(const char* name);

/** Ends the region that the calling thread began last; without one, nothing happens. */
void entrain_region_end(void);

#ifdef __cplusplus
}
#endif

#endif
