// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "record/hooks/call.hpp"

namespace entrain::record {

/// The requests of one call of the Wait and Test families, as they were before it.
///
/// Where several threads call MPI, the library may give the handle of a completed request to
/// another thread's new request before this thread has looked up the old one. So the constructor
/// takes the requests out of the table, and the destructor puts back those that are not complete.
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
  /// None of them is complete.
  void tested(Call& call, int result);

 private:
  void claim();
  /// The call failed: requests that the library has released are no longer pending. `status`
  /// belongs to the request that failed; it may be null.
  void failed(Call& call, int result, const MPI_Status* status);
  void failed(Call& call, int index, int error, const MPI_Status* status);
  /// Takes the operation at `index`, which is no longer pending; of kind nothing if it is unknown.
  Pending take(int index);
  [[nodiscard]] const Pending* look(int index) const;
  void complete(Call& call, int index, const MPI_Status& status);

  static constexpr int k_few = 16;
  const MPI_Request* requests_;   ///< requests of the program
  std::vector<Pending> claimed_;  ///< inactive: none; empty if there is one thread only
  int count_;
  std::uint64_t few_[k_few];
  std::vector<std::uint64_t> many_;
  std::uint64_t* handles_;
};

void on_request_free(Call& call, const MPI_Request* request);
void on_cancel(const MPI_Request* request);

}  // namespace entrain::record
