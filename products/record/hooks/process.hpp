// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "record/hooks/call.hpp"

#define ENTRAIN_EXPORT __attribute__((visibility("default")))

namespace entrain::record {

/// MPI_Init and MPI_Init_thread; `library` calls the MPI library's.
template <class Real>
int on_init(Region region, Real library);
/// MPI_Finalize.
template <class Real>
int on_finalize(Real library);
/// MPI_Session_init. A program that never calls MPI_Init gets a sentence at its end: it is not
/// recorded.
void on_session_init();
/// MPI_Abort: the records so far are written to files.
void on_abort();

Stamp before_init();
void after_init(Region region, const Stamp& begin, int result);
void before_finalize();

template <class Real>
int on_init(Region region, Real library) {
  ++this_thread.depth;
  const Stamp begin = before_init();
  const int result = library();
  after_init(region, begin, result);
  --this_thread.depth;
  return result;
}

template <class Real>
int on_finalize(Real library) {
  ++this_thread.depth;
  before_finalize();
  const int result = library();
  --this_thread.depth;
  return result;
}

}  // namespace entrain::record
