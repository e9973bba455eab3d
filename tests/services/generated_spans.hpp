// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace entrain::test {

/// What services do, and how wrong their clocks are.
struct ServicesPlan {
  std::uint32_t hosts = 10;
  std::uint32_t wrong = 0;       ///< clocks that are off, the last ones
  double offset_s = 0;           ///< by at least half of this and at most this
  double drift_ppm = 0;          ///< and run too fast or slow by at most this
  std::uint32_t requests = 300;  ///< 20 ms apart
  std::uint64_t seed = 1;
  bool whole_ms = false;  ///< the first host cuts its times to ms
};

/// Spans of services whose true times are known: calls that are waited for, clients that give up,
/// calls that nobody waits for, and messages. A call takes 80 us to another host, or more.
class GeneratedSpans {
 public:
  explicit GeneratedSpans(const ServicesPlan& plan)
      : plan_(plan),
        random_(plan.seed),
        offset_(plan.hosts),
        rate_(plan.hosts),
        spans_(plan.hosts) {
    for (std::uint32_t h = plan.hosts - plan.wrong; h < plan.hosts; ++h) {
      const double size = (0.5 + 0.5 * share()) * plan.offset_s;
      offset_[h] = std::llround((chance(0.5) ? size : -size) * 1e9);
      rate_[h] = (2 * share() - 1) * plan.drift_ppm * 1e-6;
    }
    for (std::uint32_t r = 0; r < plan.requests; ++r) {
      trace_ = fmt::format("{:032x}", r + 1);
      serve(any_host(), "", std::int64_t{r} * 20'000'000, 0, "request");
    }
  }

  /// The times as hosts show them, a document of OTLP per line.
  [[nodiscard]] std::string otlp_lines() const {
    std::string text;
    for (std::uint32_t h = 0; h < plan_.hosts; ++h) {
      text += fmt::format(
          R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":)"
          R"({{"stringValue":"s{}"}}}},{{"key":"host.name","value":{{"stringValue":"host{}"}}}}]}},)"
          R"("scopeSpans":[{{"spans":[)",
          h % 3, h);
      for (std::size_t i = 0; i < spans_[h].size(); ++i) {
        const Span& span = spans_[h][i];
        text += fmt::format(R"({}{{"traceId":"{}","spanId":"{}",)", i > 0 ? "," : "", span.trace,
                            span.id);
        if (!span.parent.empty()) text += fmt::format(R"("parentSpanId":"{}",)", span.parent);
        text += fmt::format(
            R"("name":"{}","kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}"}})", span.name,
            span.kind, shown(h, span.begin), shown(h, span.end));
      }
      text += "]}]}]}\n";
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
    for (const Span& span : spans_[host]) begins.push_back(span.begin);
    return begins;
  }

  static constexpr std::int64_t k_start = 1'700'000'000'000'000'000;

 private:
  enum Kind : int { server = 2, client = 3, producer = 4, consumer = 5 };
  struct Span {
    std::string trace, id, parent, name;
    int kind = 0;
    std::int64_t begin = 0, end = 0;
  };

  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  bool chance(double p) { return share() < p; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + std::llround(share() * static_cast<double>(high - low));
  }
  std::uint32_t any_host() { return static_cast<std::uint32_t>(random_() % plan_.hosts); }
  std::int64_t way() { return 80'000 + std::llround(-60'000 * std::log(1 - share())); }
  std::string new_id() { return fmt::format("{:016x}", ++ids_); }
  void add(std::uint32_t host, const std::string& id, const std::string& parent, int kind,
           const char* name, std::int64_t begin, std::int64_t end) {
    spans_[host].push_back({trace_, id, parent, name, kind, begin, end});
  }
  [[nodiscard]] std::int64_t shown(std::uint32_t host, std::int64_t time) const {
    const std::int64_t stamp = k_start + time + ahead(host, time);
    return plan_.whole_ms && host == 0 ? stamp / 1'000'000 * 1'000'000 : stamp;
  }

  /// A server's span with the calls that it makes; returns its end.
  std::int64_t serve(std::uint32_t host, const std::string& parent, std::int64_t begin, int depth,
                     const char* name) {
    const std::string id = new_id();
    std::int64_t now = begin + between(50'000, 400'000);
    const std::uint64_t calls = depth < 3 ? random_() % 4 : 0;
    for (std::uint64_t call = 0; call < calls; ++call) now = call_out(host, id, now, depth);
    if (std::string_view(name) == "slow") now += 5'000'000;
    add(host, id, parent, server, name, begin, now);
    return now;
  }
  std::int64_t call_out(std::uint32_t host, const std::string& parent, std::int64_t now,
                        int depth) {
    const std::uint32_t other = any_host();
    const std::string id = new_id();
    const double what = share();
    const std::int64_t arrival = now + (other == host ? 0 : way());
    std::int64_t end = now + 20'000;
    if (what < 0.75) {
      end = serve(other, id, arrival, depth + 1, "get") + (other == host ? 0 : way());
      add(host, id, parent, client, "get", now, end);
    } else if (what < 0.8) {
      end = now + 1'000'000;  // and gives up
      serve(other, id, arrival, depth + 1, "slow");
      add(host, id, parent, client, "slow", now, end);
    } else if (what < 0.9) {
      serve(other, id, arrival, depth + 1, "tell");
      add(host, id, parent, client, "tell", now, end);
    } else {
      const std::int64_t taken = arrival + between(0, 5'000'000);
      add(host, id, parent, producer, "send", now, end);
      add(other, new_id(), id, consumer, "take", taken, taken + 100'000);
    }
    return end + between(10'000, 100'000);
  }

  ServicesPlan plan_;
  std::mt19937_64 random_;
  std::vector<std::int64_t> offset_;
  std::vector<double> rate_;
  std::vector<std::vector<Span>> spans_;
  std::string trace_;
  std::uint64_t ids_ = 0;
};

}  // namespace entrain::test
