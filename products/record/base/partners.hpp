// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/base/journal.hpp"

namespace entrain::record {

/// The lists of partners that occur in this process, each with a number that records name. A list
/// is in the journal before a record names it. Programs call with the same partners again and
/// again, so there are few lists; where there are many, the definitions of the archive, which hold
/// those of all processes, would grow without limit.
class PartnerLists {
 public:
  explicit PartnerLists(Journal& journal) : journal_(journal) {}

  /// Once, before the first list. Gives this process its share of the room for all lists.
  void set_up(std::size_t processes);
  /// Number of the list with this text (partners_text); k_no_partners if there is no room for it.
  std::uint32_t number(const std::string& text);

 private:
  /// Room for the lists of all processes together, and what each process gets at least, bytes.
  static constexpr std::size_t k_room = std::size_t{256} << 20, k_least = std::size_t{64} << 10;

  Journal& journal_;
  std::size_t room_ = k_least;
  bool full_ = false;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The processes with which a process may exchange data on a communicator, and the lists of those
/// with which it did in the calls so far. The i-th counts of a call belong to the i-th candidates.
class Partners {
 public:
  /// Ranks; a negative one is nobody, and a rank may be there twice.
  Partners(std::vector<int> to, std::vector<int> from);
  /// The candidates of MPI_Alltoallv: `count` ranks, in both directions.
  static Partners everybody(std::uint64_t count);

  [[nodiscard]] const std::vector<int>& to() const { return to_; }
  [[nodiscard]] const std::vector<int>& from() const { return from_; }
  /// Bits of the call in work, one per candidate and 64 per word, which the caller sets where data
  /// move: both directions before number().
  [[nodiscard]] std::uint64_t* to_bits() { return bits_.data(); }
  [[nodiscard]] std::uint64_t* from_bits() { return bits_.data() + words(to_.size()); }
  /// Number of the list with the candidates whose bits are set; k_no_partners if there is no room.
  std::uint32_t number(PartnerLists& lists);

 private:
  static std::size_t words(std::size_t bits) { return (bits + 63) / 64; }

  std::vector<int> to_, from_;
  std::vector<std::uint64_t> bits_, latest_bits_;
  std::uint32_t latest_;  ///< number for latest_bits_
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_;
};

}  // namespace entrain::record
