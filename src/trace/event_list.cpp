// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event_list.hpp"

#include <algorithm>

namespace entrain::trace {

void EventList::append(const EventList& from, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> form_here(from.forms_.size(), k_none);
  for (std::size_t i = begin; i < end; ++i) {
    const Entry& entry = from.entries_[i];
    std::uint32_t& form = form_here[entry.form];
    if (form == k_none) form = number_of(from.forms_[entry.form]);
    entries_.push_back({entry.time, form, entry.detail});
  }
}

void EventList::settle(bool cut) {
  if (cut) entries_.shrink_to_fit();
  forms_.shrink_to_fit();
  numbers_ = {};
}

std::uint32_t EventList::search(const Event& form) {
  if (numbers_.size() < forms_.size()) {  // after settle()
    for (std::uint32_t n = 0; n < forms_.size(); ++n) numbers_.insert(words(forms_[n]), n);
  }
  const auto next = static_cast<std::uint32_t>(forms_.size());
  const auto [number, is_new] = numbers_.insert(words(form), next);
  if (is_new) forms_.push_back(form);
  return *number;
}

bool operator==(const EventList& a, const EventList& b) {
  const auto same = [](const Event& x, const Event& y) {
    return x.time == y.time && EventList::words(x) == EventList::words(y);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace entrain::trace
