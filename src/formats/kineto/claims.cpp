// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/claims.hpp"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "formats/claims.hpp"
#include "formats/json/text_file.hpp"
#include "formats/json/tree.hpp"

namespace entrain::kineto {
namespace {

using formats::Refutation;
using json::Tree;

constexpr std::int64_t k_any = -1;  ///< a time that is not known, or not claimed

/// Properties in which calls agree; `k_kernel`: operation by a kernel without "Collective name".
enum Trait : std::uint8_t { k_operation, k_kernel, k_group, k_type, k_size, k_number, k_traits };
using Traits = std::array<std::uint64_t, k_traits>;  ///< hashes; 0: not written

/// A kernel that communicates.
struct CallRecord {
  std::int64_t begin = 0, end = 0;  ///< ns; the end of an event in two parts is k_any
  Traits traits{};
  bool used = false;  ///< by a claim
};

/// Operations by words of their names, of which the first one counts.
constexpr std::string_view k_words[] = {"alltoall", "allreduce", "allgather", "reducescatter",
                                        "barrier",  "broadcast", "bcast",     "scatter",
                                        "gather",   "send",      "recv",      "reduce"};
constexpr std::uint64_t k_all_to_all = 1, k_broadcast = 6, k_bcast = 7, k_send = 10, k_receive = 11;

std::uint64_t operation_in(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ')
      plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  std::uint64_t word = 0;
  while (word < std::size(k_words) && plain.find(k_words[word]) == std::string::npos) ++word;
  if (word == std::size(k_words)) return 0;
  ++word;
  return word == k_bcast ? k_broadcast : word == k_receive ? k_send : word;
}

std::uint64_t hash_of(std::string_view text) {
  return text.empty() ? 0 : std::hash<std::string_view>{}(text) | 1;
}

Traits traits_of(const Tree& event, Tree::Node arguments, std::string_view collective) {
  const bool is_named = !collective.empty();
  const std::uint64_t operation = operation_in(is_named ? collective : event.text(0, {"name"}));
  Traits traits{};
  // Kernels that send and receive may be parts of any operation.
  if (is_named || operation != k_send) traits[is_named ? k_operation : k_kernel] = operation;
  traits[k_group] = hash_of(event.text(arguments, {"Process Group Name"}));
  traits[k_type] = hash_of(event.text(arguments, {"dtype"}));
  const bool has_size = traits[k_operation] + traits[k_kernel] > k_all_to_all;
  if (has_size) traits[k_size] = hash_of(event.text(arguments, {"In msg nelems"}));
  const std::uint64_t communicator = hash_of(event.text(arguments, {"Comms Id"}));
  const std::uint64_t sequence = hash_of(event.text(arguments, {"Seq"}));
  if (communicator != 0 && sequence != 0) traits[k_number] = mix(communicator + sequence) | 1;
  return traits;
}

/// Finds the calls of a file.
class Extraction {
 public:
  explicit Extraction(json::TextReader reader) : reader_(std::move(reader)) {}

  /// Reads up to the end, or to where the text is cut off.
  Result<std::vector<CallRecord>> run() {
    TRY_ASSIGN(const bool is_list, next_is('['));
    if (is_list) {
      TRY(see_list());
      return std::move(calls_);
    }
    for (++at_;; ++at_) {  // after a bracket, or a comma
      TRY_ASSIGN(const bool has_key, parse());
      if (!has_key) break;
      const std::string key(tree_.text(0));
      TRY(next_is(':'));
      ++at_;
      TRY_ASSIGN(const bool has_list, next_is('['));
      if (has_list) {
        TRY(see_list());
      } else {
        TRY(parse());
        if (key == "baseTimeNanoseconds") base_ = json::scaled(tree_.text(0), 0).value_or(0);
      }
      TRY_ASSIGN(const bool more, next_is(','));
      if (!more) break;
    }
    for (CallRecord& call : calls_) {
      call.begin += base_;
      if (call.end != k_any) call.end += base_;
    }
    return std::move(calls_);
  }

 private:
  /// Reads more text; false at its end.
  Result<bool> refill() {
    text_.erase(0, at_);
    at_ = 0;
    const std::size_t size = text_.size(), part = std::max(size, std::size_t{1} << 18);
    text_.resize(size + part);
    TRY_ASSIGN(const std::size_t read, reader_.read({text_.data() + size, part}));
    text_.resize(size + read);
    return read > 0;
  }

  /// True if this character follows blanks.
  Result<bool> next_is(char c) {
    for (;; ++at_) {
      if (at_ == text_.size()) {
        TRY_ASSIGN(const bool more, refill());
        if (!more) return false;
      }
      const bool is_blank = text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r');
      if (!is_blank && !text_.substr(at_, 3).starts_with("\xEF\xBB\xBF")) return text_[at_] == c;
      at_ += is_blank ? 0 : 2;
    }
  }

  /// Parses the next value; false at the end.
  Result<bool> parse() {
    for (;;) {
      const std::size_t end = tree_.parse(text_, at_);
      if (end != std::string::npos) {
        at_ = end;
        return true;
      }
      TRY_ASSIGN(const bool more, refill());
      if (!more) return false;
    }
  }

  Result<void> see_list() {
    for (++at_;; ++at_) {
      TRY_ASSIGN(const bool is_end, next_is(']'));
      if (is_end) break;
      TRY_ASSIGN(const bool has_event, parse());
      if (!has_event) return {};
      see();
      TRY_ASSIGN(const bool more, next_is(','));
      if (!more) break;
    }
    ++at_;
    return {};
  }

  void see() {
    const std::string_view category = tree_.text(0, {"cat"}), phase = tree_.text(0, {"ph"});
    if ((category != "kernel" && category != "Kernel") || phase == "M") return;
    const std::string_view name = tree_.text(0, {"name"});
    const Tree::Node arguments = tree_.find(0, {"args"});
    const std::string_view collective = tree_.text(arguments, {"Collective name"});
    const auto begin = json::scaled(tree_.text(0, {"ts"}), 3);
    if (!name.starts_with("nccl") && !name.starts_with("rccl") && collective.empty()) return;
    if (!begin || phase == "E" || phase == "e") return;
    const auto length = json::scaled(tree_.text(0, {"dur"}), 3);
    const std::int64_t end = phase == "X" && length ? *begin + *length : k_any;
    calls_.push_back(
        {.begin = *begin, .end = end, .traits = traits_of(tree_, arguments, collective)});
  }

  json::TextReader reader_;
  std::string text_;
  std::size_t at_ = 0;
  Tree tree_;
  std::int64_t base_ = 0;  ///< ns
  std::vector<CallRecord> calls_;
};

/// What is claimed of a call: its begin, its end, or both.
struct ClaimedCall {
  std::uint32_t clock = 0;
  std::int64_t begin = k_any, end = k_any;  ///< ns
};

class ClaimTest {
 public:
  explicit ClaimTest(std::vector<std::vector<CallRecord>> files) {
    for (std::uint32_t f = 0; f < files.size(); ++f) {
      for (CallRecord& call : files[f]) {
        const auto position = static_cast<std::uint32_t>(calls_.size());
        index_.add(key_of({f, call.begin, call.end}), position);
        index_.add(key_of({f, call.begin, k_any}), position);
        index_.add(key_of({f, k_any, call.end}), position);
        calls_.push_back(call);
      }
    }
  }

  /// Tests one claim: calls of different clocks that belong together. Those with one candidate are
  /// taken first, as they decide about the others.
  Refutation run(const std::vector<ClaimedCall>& claims, bool is_message) {
    Traits common{};
    std::vector<const ClaimedCall*> later;
    const auto refute = [](const char* why, const ClaimedCall& call) {
      const std::int64_t time = call.begin != k_any ? call.begin : call.end;
      return Refutation{why, call.clock, static_cast<std::uint64_t>(time)};
    };
    for (const ClaimedCall& claim : claims) {
      find(claim);
      if (found_.empty()) return refute("there is no such call, or it is used twice", claim);
      if (found_.size() > 1) {
        later.push_back(&claim);
      } else if (!take(common, is_message)) {
        return refute("its calls do not agree", claim);
      }
    }
    for (const ClaimedCall* claim : later) {
      find(*claim);
      if (!take(common, is_message)) return refute("its calls do not agree", *claim);
    }
    return {};
  }

 private:
  static std::uint64_t key_of(const ClaimedCall& call) {
    const std::uint64_t begin = mix(call.clock + 1) + static_cast<std::uint64_t>(call.begin);
    return mix(mix(begin) + static_cast<std::uint64_t>(call.end));
  }

  /// Candidates that are not used. An event in two parts has any end.
  void find(const ClaimedCall& claim) {
    found_.clear();
    const auto add = [&](const ClaimedCall& key) {
      index_.for_each(key_of(key), [&](std::uint32_t call) {
        if (!calls_[call].used) found_.push_back(call);
      });
    };
    add(claim);
    if (claim.end == k_any || !found_.empty()) return;
    add({claim.clock, claim.begin, k_any});
    std::erase_if(found_, [&](std::uint32_t call) { return calls_[call].end != k_any; });
  }

  /// Uses a candidate that agrees with the calls before; false if none does.
  bool take(Traits& common, bool is_message) {
    for (const std::uint32_t position : found_) {
      CallRecord& call = calls_[position];
      if (is_message) call.traits[k_number] = 0;  // ranks count their messages apart
      bool agrees = true;
      for (std::size_t t = 0; t < k_traits; ++t) {
        agrees &= call.traits[t] == 0 || common[t] == 0 || call.traits[t] == common[t];
      }
      if (!agrees) continue;
      for (std::size_t t = 0; t < k_traits; ++t) common[t] |= call.traits[t];
      return call.used = true;
    }
    return false;
  }

  std::vector<CallRecord> calls_;
  formats::RecordIndex index_;
  std::vector<std::uint32_t> found_;  ///< candidates of a claimed call
};

/// The calls of an instance, one per clock; none if a clock has two begins or two ends.
std::vector<ClaimedCall> calls_of(const Edges& claims, const CollectiveInstance& instance) {
  std::map<std::uint32_t, ClaimedCall> calls;
  for (std::uint32_t k = 0; k < instance.begins + instance.ends; ++k) {
    const InstanceMember& member = claims.members[instance.first + k];
    ClaimedCall& call = calls.emplace(member.clock, ClaimedCall{member.clock}).first->second;
    std::int64_t& time = k < instance.begins ? call.begin : call.end;
    if (time != k_any) return {};
    time = static_cast<std::int64_t>(member.time);
  }
  std::vector<ClaimedCall> result;
  for (const auto& [clock, call] : calls) result.push_back(call);
  return result;
}

Refutation refute(const Edges& claims, ClaimTest test) {
  for (const CollectiveInstance& instance : claims.instances) {
    const std::vector<ClaimedCall> calls = calls_of(claims, instance);
    if (calls.empty()) return {"a rank has two calls", claims.members[instance.first].clock, 0};
    const Refutation refuted = test.run(calls, false);
    if (refuted.why != nullptr) return refuted;
  }
  for (std::size_t i = 0; i < claims.cause_clock.size(); ++i) {
    const ClaimedCall from{.clock = claims.cause_clock[i],
                           .begin = static_cast<std::int64_t>(claims.cause_time[i])};
    const ClaimedCall to{.clock = claims.effect_clock[i],
                         .end = static_cast<std::int64_t>(claims.effect_time[i])};
    if (from.clock == to.clock) return {"it stays at its rank", to.clock, claims.effect_time[i]};
    const Refutation refuted = test.run({from, to}, true);
    if (refuted.why != nullptr) return refuted;
  }
  return {};
}

}  // namespace

Result<void> verify_claims(const formats::Recording& run, unsigned threads,
                           std::uint64_t max_unpacked) {
  std::vector<std::vector<CallRecord>> calls(run.files.size());
  TRY(parallel_for(threads, calls.size(), [&](std::size_t f) -> Result<void> {
    TRY_ASSIGN(json::TextReader reader, json::TextReader::open(run.files[f], max_unpacked));
    TRY_ASSIGN(calls[f], Extraction(std::move(reader)).run());
    return {};
  }));
  return formats::verdict(run.clocks, refute(run.list.view(), ClaimTest(std::move(calls))));
}

}  // namespace entrain::kineto
