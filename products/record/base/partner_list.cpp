// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/partner_list.hpp"

#include "record/base/rank_list.hpp"

namespace entrain::record {

std::string partners_text(const std::vector<int>& to, const std::vector<int>& from) {
  std::string text = "to";
  if (!to.empty()) text += ' ' + join_ranks(to);
  text += " from";
  if (!from.empty()) text += ' ' + join_ranks(from);
  return text;
}

}  // namespace entrain::record
