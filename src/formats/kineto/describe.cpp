// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/collective_calls.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/text_hash.hpp"
#include "formats/json/strings.hpp"
#include "formats/json/text_file.hpp"

namespace entrain::kineto {
namespace {

constexpr std::string_view k_stream = "stream ";

/// The text in lower case without blanks, underscores and hyphens, as "allreduce" for "AllReduce".
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == ' ' || c == '-') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// True if a list such as "[3, 0, 5]" has a zero.
bool has_zero(std::string_view list) {
  while (!list.empty()) {
    const std::size_t digit = list.find_first_of("0123456789");
    if (digit == std::string_view::npos) return false;
    list.remove_prefix(digit);
    const std::size_t end = std::min(list.find_first_not_of("0123456789"), list.size());
    if (list.substr(0, end).find_first_not_of('0') == std::string_view::npos) return true;
    list.remove_prefix(end);
  }
  return false;
}

/// Parses a rank; k_no_rank for anything else, such as the -1 of unknown ranks.
std::uint32_t rank_in(std::string_view text) {
  return parsed<std::uint32_t>(text).value_or(k_no_rank);
}

/// The k-th rank of a process group: 2 for "[0, 2, 4]" and 1. k_no_rank if the list is too short;
/// long ones are cut, as in "[0, 1, ..., 63]".
std::uint32_t rank_of_member(std::string_view ranks, std::uint32_t k) {
  if (!ranks.starts_with('[')) return k_no_rank;
  ranks.remove_prefix(1);
  for (std::uint32_t i = 0;; ++i) {
    const std::size_t end = ranks.find_first_of(",]");
    if (end == std::string_view::npos) return k_no_rank;
    std::string_view one = ranks.substr(0, end);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::uint32_t rank = rank_in(one);
    if (i == k || rank == k_no_rank) return rank;
    ranks.remove_prefix(end + 1);
  }
}

/// Rank of the root: "Rank" is its place in the process group.
std::uint32_t root_of(Members& argument, std::string_view ranks) {
  const std::uint32_t place = rank_in(argument["Rank"]);
  if (place == k_no_rank) return k_no_rank;
  const std::uint32_t listed = rank_of_member(ranks, place);
  if (listed != k_no_rank) return listed;
  const std::uint64_t start = rank_in(argument["Global rank start"]);
  const std::uint64_t stride = rank_in(argument["Global rank stride"]);
  if (start == k_no_rank || stride == k_no_rank || stride == 0) return k_no_rank;
  const std::uint64_t rank = start + stride * place;
  return rank < k_no_rank ? static_cast<std::uint32_t>(rank) : k_no_rank;
}

/// Hash of the fields on which all ranks of a call must agree; 0: unknown.
std::uint64_t hash_of_size(Operation operation, Members& argument) {
  const auto first_of = [&](const char* a, const char* b) {
    const std::string_view value = argument[a];
    return value.empty() ? argument[b] : value;
  };
  const std::string_view type = first_of("dtype", "Input type");
  // Ranks of an all-to-all may give different amounts.
  const std::string_view size = operation == Operation::all_to_all
                                    ? std::string_view()
                                    : first_of("In msg nelems", "Input Dims");
  if (type.empty() && size.empty()) return 0;
  return text_hash(fmt::format("{} of {}", size, type)) | 1;
}

}  // namespace

const char* name_of(Operation operation) {
  constexpr std::array<const char*, 11> k_names{
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all",   "barrier", "broadcast",
      "scatter",    "reduce",     "gather",         "send_receive", "unknown"};
  return k_names.at(static_cast<std::size_t>(operation));
}

Operation operation_of(std::string_view name) {
  const std::string word = plain(name);
  // The order counts: "allreduce" contains "reduce", "reducescatter" both that and "scatter".
  constexpr std::array<std::pair<std::string_view, Operation>, 12> k_words{
      {{"allreduce", Operation::all_reduce},
       {"allgather", Operation::all_gather},
       {"reducescatter", Operation::reduce_scatter},
       {"alltoall", Operation::all_to_all},
       {"barrier", Operation::barrier},
       {"broadcast", Operation::broadcast},
       {"bcast", Operation::broadcast},
       {"scatter", Operation::scatter},
       {"gather", Operation::gather},
       {"send", Operation::send_receive},
       {"recv", Operation::send_receive},
       {"reduce", Operation::reduce}}};
  for (const auto& [known, operation] : k_words) {
    if (word.find(known) != std::string::npos) return operation;
  }
  return Operation::other;
}

std::string label_of(std::string_view name, std::string_view stream) {
  constexpr std::size_t k_most_bytes = 64;
  // Types of arguments tell nothing here: ncclDevKernel_AllReduce_Sum(ncclDevKernelArgsStorage).
  const std::size_t arguments = name.find('(');
  const bool is_function = arguments != std::string_view::npos && arguments > 0 &&
                           name[arguments - 1] != ' ' && name.back() == ')';
  std::string text = json::unescaped(is_function ? name.substr(0, arguments) : name);
  if (text.size() > k_most_bytes) {
    const std::string_view begin = std::string_view(text).substr(0, k_most_bytes);
    text = std::string(json::whole_characters(begin)) + "...";
  }
  return stream.empty() ? text : fmt::format("{} on stream {}", text, stream);
}

bool is_grouped_by_stream(const Call& call) { return call.group.starts_with(k_stream); }

void describe(Call& call, Members& argument, std::string_view stream) {
  call.zero_splits = call.operation == Operation::all_to_all &&
                     (has_zero(argument["In split size"]) || has_zero(argument["Out split size"]));
  call.size = hash_of_size(call.operation, argument);
  const std::string_view ranks = argument["Process Group Ranks"];
  const std::string_view group = argument["Process Group Name"];
  call.group = !group.empty() || !ranks.empty() ? fmt::format("group {} of {}", group, ranks)
                                                : fmt::format("{}{}", k_stream, stream);
  const std::uint32_t size = rank_in(argument["Group size"]);
  call.group_size = size == k_no_rank ? 0 : size;
  if (call.operation == Operation::send_receive) {
    call.from = rank_in(argument["Src Rank"]);
    call.to = rank_in(argument["Dst Rank"]);
  } else if (comes_from_root(call.operation) || goes_to_root(call.operation)) {
    call.root = root_of(argument, ranks);
  }
  const std::string_view id = argument["Comms Id"];
  const std::string_view sequence = argument["Seq"];
  if (!id.empty() && !sequence.empty()) {
    call.number = text_hash(fmt::format("{} {}", id, sequence)) | 1;
  }
}

}  // namespace entrain::kineto
