// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "base/printable.hpp"
#include "record/base/vt_settings.hpp"

namespace entrain::record {
namespace {

/// All of `text`, a decimal number, or nothing.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// Reads one variable after the other and collects the complaints.
class Environment {
 public:
  Environment(const std::string& variables, std::string& problem) : problem_(problem) {
    for (std::size_t at = 0; at < variables.size();) {
      const std::string one = variables.c_str() + at;
      at += one.size() + 1;
      const std::size_t name_end = one.find('=');
      if (name_end != std::string::npos)
        values_[one.substr(0, name_end)] = one.substr(name_end + 1);
    }
  }

  /// "" if it is not set.
  [[nodiscard]] std::string text(const char* name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }

  void count(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most) {
    const std::string given = text(name);
    if (given.empty()) return;
    const auto number = number_in<std::uint64_t>(given);
    if (number && *number >= least && *number <= most) {
      value = *number;
    } else {
      complain(name, given,
               "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
  }

  /// Bytes, with or without a unit K, M, G or T.
  void size(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most) {
    const std::string given = text(name);
    if (given.empty()) return;
    const std::size_t unit = std::string("KMGT").find(given.back());
    const bool has_unit = unit != std::string::npos;
    const auto number =
        number_in<std::uint64_t>(given.substr(0, given.size() - (has_unit ? 1 : 0)));
    const std::uint64_t factor = has_unit ? std::uint64_t{1} << 10 * (unit + 1) : 1;
    if (number && *number <= most / factor && *number * factor >= least) {
      value = *number * factor;
    } else {
      complain(name, given, "a size such as 16M, 1M to 1T");
    }
  }

  void real(const char* name, double& value, double least, double most) {
    const std::string given = text(name);
    if (given.empty()) return;
    const auto number = number_in<double>(given);
    if (number && *number >= least && *number <= most) {
      value = *number;
    } else {
      complain(name, given, "a number from " + short_form(least) + " to " + short_form(most));
    }
  }

  /// Position of the value among `words` (a null ends them), or `fallback`.
  int word(const char* name, const char* const* words, int fallback) {
    const std::string given = text(name);
    if (given.empty()) return fallback;
    std::string all;
    for (int i = 0; words[i] != nullptr; ++i) {
      if (words[i] == given) return i;
      all += std::string(i == 0 ? "" : ", ") + words[i];
    }
    complain(name, given, "one of " + all);
    return fallback;
  }

  void complain(const char* name, const std::string& given, const std::string& wanted) {
    if (!problem_.empty()) problem_ += '\0';  // no variable can hold one
    const std::string origin = text((k_origin_mark + std::string(name)).c_str());
    constexpr std::size_t k_most_shown = 60;  // code points: room for several complaints
    problem_ += (origin.empty() ? name : origin) + " is '" +
                shortened(printable(given), k_most_shown) + "', but must be " + wanted;
  }

 private:
  static std::string short_form(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  std::map<std::string, std::string> values_;
  std::string& problem_;
};

void read_sync(Environment& environment, SyncSettings& sync) {
  static const char* const k_switch[] = {"off", "on", nullptr};
  static const char* const k_choice[] = {"auto", "yes", "no", nullptr};
  sync.enabled = environment.word("ENTRAIN_SYNC", k_switch, 1) == 1;
  environment.count("ENTRAIN_SYNC_MAX_MESSAGES", sync.max_messages, 1, 1'000'000);
  environment.real("ENTRAIN_SYNC_MAX_DURATION", sync.max_duration_s, 0, 1e6);
  environment.real("ENTRAIN_SYNC_DROP", sync.dropped_share, 0, 0.9);
  environment.count("ENTRAIN_SYNC_FANOUT", sync.fanout, 1, 1'000'000);
  environment.real("ENTRAIN_SYNC_PERIOD", sync.period_s, 0, 1e6);
  environment.count("ENTRAIN_SYNC_EVERY", sync.every, 1, 1'000'000);
  environment.real("ENTRAIN_SYNC_BUDGET", sync.budget_percent, 0, 100);
  sync.synced_host = static_cast<Choice>(environment.word("ENTRAIN_SYNCED_HOST", k_choice, 0));
  sync.synced_cluster =
      static_cast<Choice>(environment.word("ENTRAIN_SYNCED_CLUSTER", k_choice, 2));
}

void read_virtual(Environment& environment, VirtualCluster& cluster) {
  environment.count("ENTRAIN_VIRTUAL_NODES", cluster.nodes, 0, 1'000'000);
  environment.count("ENTRAIN_VIRTUAL_SEED", cluster.seed, 0, 1'000'000'000'000'000);
  environment.real("ENTRAIN_VIRTUAL_OFFSET", cluster.offset_s, 0, 1000);
  environment.real("ENTRAIN_VIRTUAL_DRIFT_PPM", cluster.drift_ppm, 0, 10000);
  environment.real("ENTRAIN_VIRTUAL_WANDER_PPM", cluster.wander_ppm, 0, 10000);
  environment.real("ENTRAIN_VIRTUAL_WANDER_PERIOD", cluster.wander_period_s, 0.001, 1e9);
  environment.count("ENTRAIN_VIRTUAL_RESOLUTION_NS", cluster.resolution_ns, 1, 1'000'000'000);
}

/// `path` as seen from everywhere, without slashes at its end: names of other folders are made of
/// it.
std::string absolute(std::string path) {
  char here[PATH_MAX];
  if (!path.empty() && path[0] != '/' && ::getcwd(here, sizeof here) != nullptr) {
    path = std::string(here) + '/' + path;
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string own_variables() {
  const std::string folder = "ENTRAIN_RECORD_DIR=";
  std::vector<std::string> variables;
  for (char** one = ::environ; one != nullptr && *one != nullptr; ++one) {
    std::string variable = *one;
    if (!variable.starts_with("ENTRAIN_") && !is_vt_variable(variable)) continue;
    if (variable.starts_with(folder)) {
      variable = folder + absolute(variable.substr(folder.size()));
    }
    variables.push_back(variable);
  }
  std::sort(variables.begin(), variables.end());
  std::string all;
  for (const std::string& variable : variables) all += variable + '\0';
  return all;
}

Settings read_settings(const std::string& variables, std::string& problem) {
  static const char* const k_timers[] = {"monotonic_raw", "tsc", "monotonic", "realtime", nullptr};
  static const char* const k_off_on[] = {"off", "on", nullptr};
  static const char* const k_switch[] = {"0", "1", nullptr};
  Settings settings;
  Environment environment(variables, problem);
  settings.directory = environment.text("ENTRAIN_RECORD_DIR");
  constexpr std::uint64_t k_least = std::uint64_t{1} << 20, k_most = std::uint64_t{1} << 40;
  environment.size("ENTRAIN_RECORD_BUFFER", settings.buffer_bytes, k_least, k_most);
  environment.size("ENTRAIN_RECORD_MAX_SIZE", settings.most_bytes, k_least, k_most);
  environment.count("ENTRAIN_RECORD_MAX_LOCATIONS", settings.most_locations, 1, 1'000'000);
  settings.timer = static_cast<TimerKind>(environment.word("ENTRAIN_RECORD_TIMER", k_timers, 0));
  settings.clocks_only = environment.word("ENTRAIN_RECORD_CLOCKS_ONLY", k_off_on, 0) == 1;
  if (settings.timer == TimerKind::realtime && !settings.clocks_only) {
    environment.complain("ENTRAIN_RECORD_TIMER", "realtime",
                         "another one, since a clock that may be set back stamps no events");
    settings.timer = TimerKind::monotonic_raw;
  }
  settings.launched = environment.word("ENTRAIN_RECORD_LAUNCHED", k_switch, 0) == 1;
  read_sync(environment, settings.sync);
  read_virtual(environment, settings.virtual_cluster);
  return settings;
}

}  // namespace entrain::record
