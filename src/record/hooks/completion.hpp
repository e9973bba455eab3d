// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "record/hooks/call.hpp"

namespace entrain::record {

/// The requests of one call of the Wait and Test families, as they were before it.
///
/// Where several threads call MPI, the handle of a request that is complete can be that of another
/// thread's new one before this thread comes to speak of it. So they are taken out of the table
/// before the call, and those that are not complete put back after it.
class Completion {
 public:
  Completion(int count, const MPI_Request* requests);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  /// The request at `index` is complete (MPI_UNDEFINED: none was active).
  void finished(Call& call, int result, int index, const MPI_Status* status);
  void all(Call& call, int result, const MPI_Status* statuses);
  void some(Call& call, int result, int count, const int* indices, const MPI_Status* statuses);
  /// None of them is.
  void tested(Call& call, int result);

 private:
  void claim();
  /// The call failed: what the library has let go of is no longer pending. `status`, of the request
  /// that failed, may be null.
  void failed(Call& call, int result, const MPI_Status* status);
  void failed(Call& call, int index, int error, const MPI_Status* status);
  /// The pending operation at `index`, which is no longer pending; kind nothing if unknown.
  Pending take(int index);
  [[nodiscard]] const Pending* look(int index) const;
  void complete(Call& call, int index, const MPI_Status& status);

  static constexpr int k_few = 16;
  const MPI_Request* requests_;   ///< of the program
  std::vector<Pending> claimed_;  ///< inactive: none; empty if there is one thread only
  int count_;
  std::uint64_t few_[k_few];
  std::vector<std::uint64_t> many_;
  std::uint64_t* handles_;
};

void on_request_free(Call& call, const MPI_Request* request);
void on_cancel(const MPI_Request* request);

}  // namespace entrain::record
