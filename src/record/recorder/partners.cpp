// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/partners.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "record/base/partner_list.hpp"

namespace entrain::record {

namespace {

/// The ranks whose bits are set, each once, in rising order.
std::vector<int> marked(const std::vector<int>& candidates, const std::uint64_t* bits) {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool set = (bits[i / 64] >> i % 64 & 1) != 0;
    if (set && candidates[i] != MPI_PROC_NULL) ranks.push_back(candidates[i]);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Partners grid_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  real.MPI_Cartdim_get(comm, &dimensions);
  std::vector<int> ranks;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    real.MPI_Cart_shift(comm, d, 1, &below, &above);
    ranks.insert(ranks.end(), {below, above});
  }
  return {ranks, ranks};
}

Partners graph_neighbours(MPI_Comm comm) {
  int rank = 0, count = 0;
  real.MPI_Comm_rank(comm, &rank);
  real.MPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  real.MPI_Graph_neighbors(comm, rank, count, ranks.data());
  return {ranks, ranks};
}

Partners dist_graph_neighbours(MPI_Comm comm) {
  int in = 0, out = 0, weighted = 0;
  real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> from(static_cast<std::size_t>(in)), to(static_cast<std::size_t>(out));
  // The standard does not allow MPI_UNWEIGHTED for a weighted graph.
  std::vector<int> in_weights(from.size()), out_weights(to.size());
  real.MPI_Dist_graph_neighbors(comm, in, from.data(),
                                weighted != 0 ? in_weights.data() : MPI_UNWEIGHTED, out, to.data(),
                                weighted != 0 ? out_weights.data() : MPI_UNWEIGHTED);
  return {std::move(to), std::move(from)};
}

}  // namespace

void PartnerLists::set_up(std::size_t processes) {
  room_ = std::max(k_least, k_room / std::max<std::size_t>(processes, 1));
}

std::uint32_t PartnerLists::number(const std::string& text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  if (text.size() > room_) {
    if (!std::exchange(full_, true)) journal_.add({"partners_full"});
    return k_no_partners;
  }
  room_ -= text.size();
  const auto number = static_cast<std::uint32_t>(numbers_.size());
  journal_.add({"partners", std::to_string(number), text});
  return numbers_[text] = number;
}

Partners::Partners(std::vector<int> to, std::vector<int> from)
    : to_(std::move(to)),
      from_(std::move(from)),
      bits_(words(to_.size()) + words(from_.size()), 0),
      latest_(k_no_partners) {}

Partners Partners::everybody(std::uint64_t count) {
  std::vector<int> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return {ranks, ranks};
}

Partners Partners::neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  real.MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) return grid_neighbours(comm);
  if (kind == MPI_GRAPH) return graph_neighbours(comm);
  if (kind == MPI_DIST_GRAPH) return dist_graph_neighbours(comm);
  return {{}, {}};
}

std::uint32_t Partners::number(PartnerLists& lists) {
  if (latest_ != k_no_partners && bits_ == latest_bits_) return latest_;
  const auto known = known_.find(bits_);
  if (known != known_.end()) {
    latest_ = known->second;
  } else {
    latest_ = lists.number(partners_text(marked(to_, to_bits()), marked(from_, from_bits())));
    if (latest_ != k_no_partners) known_[bits_] = latest_;
  }
  latest_bits_ = bits_;
  return latest_;
}

}  // namespace entrain::record
