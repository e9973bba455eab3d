// SPDX-License-Identifier: BSD-3-Clause
#include "support/mpi.hpp"

#include <cstdlib>
#include <string>

#include "support/files.hpp"

namespace entrain::test {

namespace {

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

}  // namespace

void prepare_mpi() {
  // Launchers of Open MPI that share a folder for their sessions fail now and then, when one makes
  // it while another one does, or removes it.
  static const TempFolder sessions;
  set("OMPI_MCA_orte_tmpdir_base", sessions.path());
  // Open MPI refuses root and more processes than cores unless told otherwise; MPICH knows neither,
  // and waits in a busy loop.
#ifdef ENTRAIN_YIELD_WHEN_IDLE
  set("LD_PRELOAD", ENTRAIN_YIELD_WHEN_IDLE);
#endif
  set("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  set("OMPI_MCA_rmaps_base_oversubscribe", "1");
  set("OMPI_MCA_mpi_yield_when_idle", "1");
  set("OMPI_MCA_btl_base_warn_component_unused", "0");
  // Programs on one machine start in 0.12 s in place of 0.36 s without a search for networks and
  // for a shared database of processes.
  set("OMPI_MCA_pml", "ob1");
  set("PMIX_MCA_gds", "hash");
  // Where a process ends with another code than 0, as that of a violated trace, the launcher waits
  // twice for so many seconds before it ends the others.
  set("OMPI_MCA_odls_base_sigkill_timeout", "0");
  // The tool lets processes rest that have no core, and its tests are about those that work.
  set("ENTRAIN_PROCESSES", "all");
  // A recorder built with the address sanitizer is loaded before the sanitizer's own library. MPI
  // libraries leak by themselves, by way of plugins that are gone at the end: only a full stack
  // tells whose memory it is.
  set("ASAN_OPTIONS", "verify_asan_link_order=0:fast_unwind_on_malloc=0");
  set("LSAN_OPTIONS", "suppressions=" ENTRAIN_SOURCE_DIR "/tests/lsan.supp:print_suppressions=0");
}

}  // namespace entrain::test
