// SPDX-License-Identifier: BSD-3-Clause
#include "cli/same_start.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/printable.hpp"
#include "base/try.hpp"

namespace entrain::cli {
namespace {

using Words = std::vector<std::string>;

/// The variable that the tool reads, other than those that every program obeys.
constexpr const char* k_variable = "ENTRAIN_PROCESSES";
constexpr std::size_t k_most_shown = 120;  ///< code points of what one process has

Team::Bytes packed(const Words& words) {
  Team::Bytes bytes;
  for (const std::string& word : words) {
    const auto* const begin = reinterpret_cast<const std::byte*>(word.c_str());
    bytes.insert(bytes.end(), begin, begin + word.size() + 1);
  }
  return bytes;
}

Words unpacked(const Team::Bytes& bytes) {
  Words words;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1) {
    words.emplace_back(text.substr(at, text.find('\0', at) - at));
  }
  return words;
}

/// Words that another process has.
struct Other {
  std::size_t rank;
  Words words;
};

/// At the first process: the first other one that has other words. Collective.
std::optional<Other> first_other(Team& team, const Words& words) {
  std::vector<Team::Bytes> outgoing(team.size());
  const Team::Bytes own = packed(words);
  outgoing.front() = own;
  const std::vector<Team::Bytes> received = team.exchange(std::move(outgoing));
  if (team.rank() != 0) return std::nullopt;
  const auto other =
      std::ranges::find_if(received, [&](const Team::Bytes& bytes) { return bytes != own; });
  if (other == received.end()) return std::nullopt;
  return Other{static_cast<std::size_t>(other - received.begin()), unpacked(*other)};
}

std::string quoted(std::span<const std::string> words) {
  if (words.empty()) return "nothing";
  return "'" + shortened(printable(fmt::format("{}", fmt::join(words, " "))), k_most_shown) + "'";
}

bool is_option(const std::string& word) { return word.starts_with('-'); }

/// "process 1 has '--mu 2' where process 0 has '--mu 1'".
std::string difference(const Words& first, const Other& other) {
  std::span<const std::string> a(first), b(other.words);
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  auto same = static_cast<std::size_t>(differ.first - a.begin());
  while (std::min(a.size(), b.size()) > same && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
  // The option that the values belong to.
  const auto is_value = [&](auto words) { return words.size() == same || !is_option(words[same]); };
  if (same > 0 && is_option(first[same - 1]) && is_value(a) && is_value(b)) --same;
  return fmt::format("process {} has {} where process 0 has {}", other.rank,
                     quoted(b.subspan(same)), quoted(a.subspan(same)));
}

}  // namespace

Words words_of_start(int argc, char** argv) {
  Words words{fmt::format("entrain {}", version())};
  if (const char* const value = std::getenv(k_variable)) {
    words.push_back(fmt::format("{}={}", k_variable, value));
  }
  words.insert(words.end(), argv + std::min(argc, 1), argv + argc);
  return words;
}

Result<void> check_same_start(Team& team, const Words& words) {
  const std::optional<Other> other = first_other(team, words);
  if (!other) return team.agree({});
  return team.agree(usage_error("all processes of a run need the same command line, but {}",
                                difference(words, *other)));
}

Result<void> check_same_folder(Team& team) {
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown).string();
  const std::optional<Other> other = first_other(team, {folder});
  if (!other) return team.agree({});
  return team.agree(
      usage_error("process {} was started in {}, process 0 in {}; start all processes in one "
                  "folder, or give absolute paths",
                  other->rank, other->words.front(), folder));
}

}  // namespace entrain::cli
