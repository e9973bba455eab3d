// SPDX-License-Identifier: BSD-3-Clause
#include "record/settings.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace entrain::record {
namespace {

/// Reads one variable after the other and keeps the first complaint.
class Environment {
 public:
  explicit Environment(std::string& problem) : problem_(problem) {}

  void text(const char* name, std::string& value) {
    if (const char* given = std::getenv(name)) value = given;
  }

  void count(const char* name, std::uint64_t& value, double least, double most) {
    double number = static_cast<double>(value);
    real(name, number, least, most);
    value = static_cast<std::uint64_t>(number);
  }

  void real(const char* name, double& value, double least, double most) {
    const char* given = std::getenv(name);
    if (given == nullptr || *given == '\0') return;
    char* end = nullptr;
    errno = 0;
    const double number = std::strtod(given, &end);
    if (*end != '\0' || errno != 0 || !(number >= least && number <= most)) {
      complain(std::string(name) + " is '" + given + "', but must be a number from " +
               short_form(least) + " to " + short_form(most));
      return;
    }
    value = number;
  }

  /// Position of the value among `words` (a null ends them), or `fallback`.
  int word(const char* name, const char* const* words, int fallback) {
    const char* given = std::getenv(name);
    if (given == nullptr || *given == '\0') return fallback;
    std::string all;
    for (int i = 0; words[i] != nullptr; ++i) {
      if (std::string(words[i]) == given) return i;
      all += std::string(i == 0 ? "" : ", ") + words[i];
    }
    complain(std::string(name) + " is '" + given + "', but must be one of " + all);
    return fallback;
  }

 private:
  static std::string short_form(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }
  void complain(const std::string& sentence) {
    if (problem_.empty()) problem_ = sentence;
  }

  std::string& problem_;
};

void read_sync(Environment& environment, SyncSettings& sync) {
  static const char* const k_switch[] = {"off", "on", nullptr};
  static const char* const k_choice[] = {"auto", "yes", "no", nullptr};
  sync.enabled = environment.word("ENTRAIN_SYNC", k_switch, 1) == 1;
  environment.count("ENTRAIN_SYNC_MAX_MESSAGES", sync.max_messages, 1, 1e6);
  environment.real("ENTRAIN_SYNC_MAX_DURATION", sync.max_duration_s, 0, 1e6);
  environment.real("ENTRAIN_SYNC_DROP", sync.dropped_share, 0, 0.9);
  environment.count("ENTRAIN_SYNC_FANOUT", sync.fanout, 1, 1e6);
  environment.real("ENTRAIN_SYNC_PERIOD", sync.period_s, 0, 1e6);
  environment.count("ENTRAIN_SYNC_EVERY", sync.every, 1, 1e6);
  sync.synced_host = static_cast<Choice>(environment.word("ENTRAIN_SYNCED_HOST", k_choice, 0));
  sync.synced_cluster = environment.word("ENTRAIN_SYNCED_CLUSTER", k_choice, 2) == 1;
}

void read_virtual(Environment& environment, VirtualCluster& cluster) {
  environment.count("ENTRAIN_VIRTUAL_NODES", cluster.nodes, 0, 1e6);
  environment.count("ENTRAIN_VIRTUAL_SEED", cluster.seed, 0, 1e15);
  environment.real("ENTRAIN_VIRTUAL_OFFSET", cluster.offset_s, 0, 1000);
  environment.real("ENTRAIN_VIRTUAL_DRIFT_PPM", cluster.drift_ppm, 0, 10000);
  environment.real("ENTRAIN_VIRTUAL_WANDER_PPM", cluster.wander_ppm, 0, 10000);
  environment.real("ENTRAIN_VIRTUAL_WANDER_PERIOD", cluster.wander_period_s, 0.001, 1e9);
  environment.count("ENTRAIN_VIRTUAL_RESOLUTION_NS", cluster.resolution_ns, 1, 1e9);
}

}  // namespace

Settings read_settings(std::string& problem) {
  static const char* const k_timers[] = {"monotonic_raw", "tsc", nullptr};
  static const char* const k_switch[] = {"0", "1", nullptr};
  Settings settings;
  Environment environment(problem);
  environment.text("ENTRAIN_RECORD_DIR", settings.directory);
  environment.count("ENTRAIN_RECORD_BUFFER", settings.buffer_bytes, 1 << 20, 1e12);
  settings.timer = static_cast<TimerKind>(environment.word("ENTRAIN_RECORD_TIMER", k_timers, 0));
  settings.launched = environment.word("ENTRAIN_RECORD_LAUNCHED", k_switch, 0) == 1;
  read_sync(environment, settings.sync);
  read_virtual(environment, settings.virtual_cluster);
  return settings;
}

}  // namespace entrain::record
