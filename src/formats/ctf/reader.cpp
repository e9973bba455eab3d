// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/reader.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/try.hpp"
#include "formats/ctf/wire.hpp"

namespace entrain::ctf {

namespace {

constexpr std::uint64_t k_most_memory = std::uint64_t{4} << 30;  ///< the reading process, bytes

}  // namespace

Result<TraceFacts> read_trace(const std::filesystem::path& folder, std::span<const Rule> rules,
                              bool all, const std::function<Result<void>(const Event&)>& see) {
  std::optional<TraceFacts> facts;
  Event event;
  std::uint64_t clocks = 0;  // that events named
  // Returns true if more is expected; false after the facts, and for what makes no sense.
  const auto take = [&](std::string_view bytes) -> Result<bool> {
    parts::FieldReader fields(bytes);
    Record record{};
    fields(record);
    if (record == Record::event) {
      visit(fields, event);
      const auto is_wrong = [&](const MessageEnd& end) {
        return end.rule >= rules.size() || end.clock != event.clock;
      };
      if (!fields.at_end() || std::ranges::any_of(event.ends, is_wrong)) return false;
      clocks = std::max(clocks, std::uint64_t{event.clock} + 1);
      TRY(see(event));
      return true;
    }
    if (record == Record::failed && fields.fine()) {
      Error error;
      visit(fields, error);
      return tl::unexpected(std::move(error));
    }
    visit(fields, facts.emplace());
    const bool is_sound = record == Record::facts && fields.at_end() &&
                          clocks <= facts->clocks.size() &&
                          facts->spans.size() == facts->clocks.size();
    if (!is_sound) facts.reset();
    return false;
  };
  TRY_ASSIGN(
      const int signal,
      run_isolated(
          k_most_memory, [&](const SendRecord& send) { decode(folder, rules, all, send); }, take));
  if (facts) return *std::move(facts);
  if (signal == SIGINT || signal == SIGTERM) return fail(ErrorKind::interrupted, "interrupted");
  return input_error(
      "libbabeltrace2 broke down while it read the CTF trace {}{}: the trace is damaged, or needs "
      "more than 4 GiB of memory",
      folder.string(), signal == 0 ? "" : fmt::format(" ({})", ::strsignal(signal)));
}

}  // namespace entrain::ctf
