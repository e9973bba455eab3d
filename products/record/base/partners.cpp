// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/partners.hpp"

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
    if (set && candidates[i] >= 0) ranks.push_back(candidates[i]);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
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
