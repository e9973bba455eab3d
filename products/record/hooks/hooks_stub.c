/* SPDX-License-Identifier: BSD-3-Clause */
/* libentrain-hooks: the functions of entrain/record.h without the recorder, and the one of Intel
 * Trace Collector that the recorder has, under all names that Fortran compilers give it. */
#include <entrain/record.h>
#include <stddef.h>

void entrain_timesync_(int* error);
void entrain_region_begin_(const char* name, size_t length);
void entrain_region_end_(void);
int VT_timesync(void);
void vttimesync(int* error);
void vttimesync_(int* error);
void vttimesync__(int* error);
void VTTIMESYNC(int* error);
void VTTIMESYNC_(int* error);

int entrain_timesync(void) { return 0; }

void entrain_region_begin(const char* name) { (void)name; }

void entrain_region_end(void) {}

void entrain_timesync_(int* error) { *error = 0; }

void entrain_region_begin_(const char* name, size_t length) {
  (void)name;
  (void)length;
}

void entrain_region_end_(void) {}

int VT_timesync(void) { return 0; }

void vttimesync(int* error) { *error = 0; }

void vttimesync_(int* error) { *error = 0; }

void vttimesync__(int* error) { *error = 0; }

void VTTIMESYNC(int* error) { *error = 0; }

void VTTIMESYNC_(int* error) { *error = 0; }
