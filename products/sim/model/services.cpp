// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/services.hpp"

#include <algorithm>
#include <string_view>

#include "base/try.hpp"

namespace entrain::sim {
namespace {

constexpr std::int64_t k_between_requests = 20'000'000;
constexpr std::int64_t k_least_way = 80'000;
constexpr double k_mean_detour = 60'000;
constexpr std::int64_t k_patience = 1'000'000;  ///< a client gives up after this
constexpr std::int64_t k_slow = 5'000'000;      ///< and a slow server needs more
constexpr std::int64_t k_handover = 20'000;     ///< delay of a message that nobody waits for
constexpr int k_deepest = 3;
constexpr double k_with_answer = 0.9;  ///< share of calls that are no messages
using Kind = ServiceSpan::Kind;

}  // namespace

Result<ServiceCounts> Services::run(std::uint64_t spans) {
  left_ = spans;
  while (left_ > 0) {
    --left_;
    ServiceSpan request;
    request.host = any_host();
    request.trace = ++trace_;
    request.id = ++ids_;
    request.name = "request";
    request.begin = static_cast<std::int64_t>(counts_.requests) * k_between_requests;
    ++counts_.requests;
    TRY(serve(request, 0));
  }
  return counts_;
}

std::int64_t Services::way(std::uint32_t from, std::uint32_t to) {
  if (from == to) return 0;
  return k_least_way + static_cast<std::int64_t>(k_mean_detour * tailed(random_.next()));
}

Result<void> Services::add(const ServiceSpan& span) {
  counts_.last = std::max(counts_.last, span.end);
  return see_(span);
}

/// Does the work of a server's span, which has everything but its end, with the calls that it
/// makes.
Services::Moment Services::serve(const ServiceSpan& span, int depth) {
  std::int64_t now = span.begin + between(50'000, 400'000);
  const std::uint64_t calls = depth < k_deepest ? random_.below(4) : 0;
  for (std::uint64_t call = 0; call < calls && left_ >= 2; ++call) {
    left_ -= 2;
    TRY_ASSIGN(now, call_out(span, now, depth));
  }
  if (std::string_view(span.name) == "slow") now += k_slow;
  ServiceSpan done = span;
  done.end = now;
  TRY(add(done));
  return now;
}

/// Calls another service at `now`: two spans. Returns when the caller goes on.
Services::Moment Services::call_out(const ServiceSpan& caller, std::int64_t now, int depth) {
  ServiceSpan own{caller.host, trace_, ++ids_, caller.id, "get", Kind::client, now, now};
  ServiceSpan other{any_host(), trace_, ++ids_, own.id, "get", Kind::server, now, now};
  const double what = share();
  other.begin += way(own.host, other.host);
  own.end = now + k_handover;
  if (other.host != own.host) {
    ++counts_.calls;
    counts_.answers += what < k_with_answer ? 1 : 0;
  }
  if (what < 0.75) {
    TRY_ASSIGN(const std::int64_t served, serve(other, depth + 1));
    own.end = served + way(other.host, own.host);
  } else if (what < 0.8) {
    own.name = other.name = "slow";
    own.end = now + k_patience;
    TRY(serve(other, depth + 1));
  } else if (what < k_with_answer) {
    own.name = other.name = "tell";
    TRY(serve(other, depth + 1));
  } else {
    own.name = "send";
    own.kind = Kind::producer;
    other.name = "take";
    other.kind = Kind::consumer;
    other.begin += between(0, 5'000'000);
    other.end = other.begin + 100'000;
    TRY(add(other));
  }
  TRY(add(own));
  return own.end + between(10'000, 100'000);
}

}  // namespace entrain::sim
