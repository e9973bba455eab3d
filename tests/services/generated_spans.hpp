// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"
#include "sim/model/otlp_text.hpp"
#include "sim/model/services.hpp"

namespace entrain::test {

/// What services do, and how wrong their clocks are.
struct ServicesPlan {
  std::uint32_t hosts = 10;
  std::uint32_t wrong = 0;     ///< clocks that are off, the last ones
  double offset_s = 0;         ///< by at least half of this and at most this
  double drift_ppm = 0;        ///< and run too fast or slow by at most this
  std::uint64_t spans = 4500;  ///< about 15 per request, which are 20 ms apart
  std::uint64_t seed = 1;
  bool whole_ms = false;  ///< the first host cuts its times to ms
};

/// The spans of a synthetic run, whose true times are known, and clocks of which some are right.
class GeneratedSpans {
 public:
  explicit GeneratedSpans(const ServicesPlan& plan)
      : plan_(plan), offset_(plan.hosts), rate_(plan.hosts), spans_(plan.hosts) {
    RandomStream random(plan.seed, 1);
    for (std::uint32_t h = plan.hosts - plan.wrong; h < plan.hosts; ++h) {
      const double size = random.uniform(0.5, 1) * plan.offset_s;
      offset_[h] = std::llround((random.below(2) == 0 ? size : -size) * 1e9);
      rate_[h] = random.uniform(-1, 1) * plan.drift_ppm * 1e-6;
    }
    const auto see = [&](const sim::ServiceSpan& span) -> Result<void> {
      spans_[span.host].push_back(span);
      return {};
    };
    sim::Services(plan.hosts, plan.seed, see).run(plan.spans).value();
  }

  /// The times as hosts show them, a document of OTLP per line.
  [[nodiscard]] std::string otlp_lines() const {
    std::string text;
    for (std::uint32_t h = 0; h < plan_.hosts; ++h) {
      text += sim::otlp_begin(fmt::format("s{}", h % 3), fmt::format("host{}", h));
      for (std::size_t i = 0; i < spans_[h].size(); ++i) {
        const sim::ServiceSpan& span = spans_[h][i];
        if (i > 0) text += ",";
        text +=
            sim::otlp_span({span.trace, span.id, span.parent, span.name,
                            static_cast<int>(span.kind), shown(h, span.begin), shown(h, span.end)});
      }
      text += sim::k_otlp_end;
    }
    return text;
  }

  /// By how much the shown time of a host is ahead of the true one, at a true time, ns.
  [[nodiscard]] std::int64_t ahead(std::uint32_t host, std::int64_t time) const {
    return offset_[host] + std::llround(rate_[host] * static_cast<double>(time));
  }
  /// The true begins of the spans of a host, ns after k_start, in order of the text.
  [[nodiscard]] std::vector<std::int64_t> begins(std::uint32_t host) const {
    std::vector<std::int64_t> begins;
    for (const sim::ServiceSpan& span : spans_[host]) begins.push_back(span.begin);
    return begins;
  }

  static constexpr std::int64_t k_start = 1'700'000'000'000'000'000;

 private:
  [[nodiscard]] std::int64_t shown(std::uint32_t host, std::int64_t time) const {
    const std::int64_t stamp = k_start + time + ahead(host, time);
    return plan_.whole_ms && host == 0 ? stamp / 1'000'000 * 1'000'000 : stamp;
  }

  ServicesPlan plan_;
  std::vector<std::int64_t> offset_;
  std::vector<double> rate_;
  std::vector<std::vector<sim::ServiceSpan>> spans_;
};

}  // namespace entrain::test
