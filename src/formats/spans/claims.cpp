// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/claims.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/try.hpp"
#include "formats/claims.hpp"
#include "formats/json/document.hpp"
#include "formats/json/tree.hpp"

namespace entrain::spans {
namespace {

using json::Tree;
using Node = Tree::Node;

/// A span, or an end of a span of Zipkin's version 1.
struct SpanRecord {
  std::uint64_t id = 0;              ///< hash of trace and span
  std::uint64_t begin = 0, end = 0;  ///< ns; 0: unknown
  std::uint32_t clock = k_none;      ///< position in Clocks::clocks; k_none: unknown
  bool is_client = false, is_server = false, polls = false;
  bool is_shared = false;  ///< the server's half of a span of this id

  [[nodiscard]] bool is_like(const SpanRecord& other) const {
    return is_client == other.is_client && is_server == other.is_server &&
           is_shared == other.is_shared && (begin == 0) == (other.begin == 0);
  }
};

/// A span that another one precedes.
struct Relation {
  std::uint64_t earlier = 0;  ///< SpanRecord::id
  std::uint32_t later = 0;    ///< position of the span
  bool is_parent = false;     ///< else a link
};

/// Attributes that name a host.
struct Host {
  std::string_view node, pod, instance, service;

  void take(std::string_view key, std::string_view text) {
    if (text.empty()) return;
    if (key == "host.name" || key == "hostname") node = text;
    if (key == "k8s.node.name" && node.empty()) node = text;
    if (key == "k8s.pod.name") pod = text;
    if (key == "service.instance.id") instance = text;
    if ((key == "ip" || key == "ipv4" || key == "ipv6") && instance.empty()) instance = text;
    if (key == "service.name" || key == "serviceName") service = text;
  }
  [[nodiscard]] std::string name() const {
    if (!node.empty()) return std::string(node);
    if (!pod.empty()) return std::string(pod);
    if (instance.empty()) return std::string(service.starts_with("unknown_service") ? "" : service);
    return (service.empty() ? "" : std::string(service) + "@").append(instance);
  }
};

/// Hash of an id: the lower 64 bits of a trace, and a span; 0 if there is none.
std::uint64_t hash_of(std::string_view trace, std::string_view span) {
  constexpr std::size_t k_half = 16;
  if (trace.size() > k_half) trace.remove_prefix(trace.size() - k_half);
  std::uint64_t hash = 0;
  for (std::string_view part : {trace, span}) {
    part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
    if (part.empty()) return 0;
    std::string lower(part);
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    hash = mix(hash + std::hash<std::string>{}(lower));
  }
  return hash | 1;
}

std::uint64_t ns_of(std::string_view text, int decimals) {
  return static_cast<std::uint64_t>(json::scaled(text, decimals).value_or(0));
}

/// Finds the spans of documents of any shape.
class Extraction {
 public:
  explicit Extraction(const std::vector<Clock>& clocks) {
    for (std::uint32_t c = 0; c < clocks.size(); ++c) clocks_.emplace(clocks[c].name, c);
    clocks_.erase("unknown");
  }

  void see(std::string_view text) {
    std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    while ((at = tree_.parse(text, at)) != std::string_view::npos) walk(0, {}, Tree::k_none);
  }

  std::vector<SpanRecord> all;
  std::vector<Relation> relations;

 private:
  /// `host`, `processes`: those that objects around it name.
  void walk(Node node, Host host, Node processes, int depth = 0) {
    constexpr int k_most_depth = 32;
    if (depth > k_most_depth) return;
    if (const Node resource = tree_.find(node, {"resource"}); resource != Tree::k_none) {
      host = {};
      take_attributes(tree_.find(resource, {"attributes"}), host);
    }
    if (const Node own = tree_.find(node, {"processes"}); own != Tree::k_none) processes = own;
    const bool has_time =
        tree_.find(node, {"startTimeUnixNano", "start_time_unix_nano", "startTime", "timestamp",
                          "annotations"}) != Tree::k_none;
    if (has_time && tree_.find(node, {"spanId", "span_id", "spanID", "id"}) != Tree::k_none) {
      see_span(node, host, processes);
    } else if (tree_.is_object(node) || tree_.is_list(node)) {
      tree_.for_each(node, [&](Node inner) { walk(inner, host, processes, depth + 1); });
    }
  }

  /// Calls `see` with the name and the text of each attribute: of a list, or of Zipkin's objects.
  template <class See>
  void for_each_attribute(Node list, const See& see) const {
    const bool is_list = tree_.is_list(list);
    tree_.for_each(list, [&](Node one) {
      if (!is_list) return see(tree_.key(one), tree_.text(one));
      Node text = tree_.find(one, {"value"});
      if (tree_.is_object(text)) text = tree_.find(text, {"stringValue", "string_value"});
      see(tree_.text(one, {"key"}), tree_.text(text));
    });
  }
  void take_attributes(Node list, Host& host) const {
    for_each_attribute(list, [&](auto key, auto text) { host.take(key, text); });
  }

  void see_span(Node node, Host host, Node processes) {
    SpanRecord span;
    const std::string_view trace = tree_.text(node, {"traceId", "trace_id", "traceID"});
    span.id = hash_of(trace, tree_.text(node, {"spanId", "span_id", "spanID", "id"}));
    span.is_shared = tree_.text(node, {"shared"}) == "true";
    std::string_view kind = tree_.text(node, {"kind"});
    const Node start = tree_.find(node, {"startTimeUnixNano", "start_time_unix_nano"});
    if (start != Tree::k_none) {
      span.begin = ns_of(tree_.text(start), 0);
      span.end = ns_of(tree_.text(node, {"endTimeUnixNano", "end_time_unix_nano"}), 0);
    } else {
      span.begin = ns_of(tree_.text(node, {"startTime", "timestamp"}), 3);
      span.end = span.begin + ns_of(tree_.text(node, {"duration"}), 3);
    }
    tree_.for_each(node, [&](Node member) {
      const bool may_name_host =
          tree_.key(member) == "tags" || tree_.key(member) == "localEndpoint";
      if (may_name_host && tree_.is_object(member)) take_attributes(member, host);
    });
    for (const char* name : {"tags", "attributes", "binaryAnnotations"}) {
      const Node list = tree_.find(node, {name});
      for_each_attribute(list, [&](std::string_view key, std::string_view text) {
        if (key == "span.kind") kind = text;
        const bool is_operation = key == "messaging.operation" || key == "messaging.operation.type";
        span.polls = span.polls || (is_operation && (text == "receive" || text == "poll"));
      });
    }
    take_process(node, processes, host);
    span.is_client = kind.ends_with("lient") || kind.ends_with("LIENT") || kind == "3";
    span.is_server = kind.ends_with("erver") || kind.ends_with("ERVER") || kind == "2";
    const std::size_t first = all.size();
    see_annotations(node, span, host);
    span.clock = clock_of(host);
    all.push_back(span);
    for (std::size_t i = first; i < all.size(); ++i) relate(node, trace, i);
  }

  /// Jaeger names a process in the span, or by its key in `processes`.
  void take_process(Node node, Node processes, Host& host) const {
    Node process = tree_.find(node, {"process"});
    const std::string_view id = tree_.text(node, {"processID"});
    if (!id.empty()) process = tree_.find(processes, {id});
    host.take("serviceName", tree_.text(process, {"serviceName"}));
    take_attributes(tree_.find(process, {"tags"}), host);
  }

  /// In version 1 of Zipkin each annotation has a host: cs and sr begin halves, cr and ss end them.
  void see_annotations(Node node, SpanRecord& whole, Host& host) {
    for (const char* name : {"binaryAnnotations", "annotations"}) {
      tree_.for_each(tree_.find(node, {name}), [&](Node one) {
        const std::string_view key = tree_.text(one, {"key"});
        const bool is_other = key == "sa" || key == "ca" || key == "ma";
        if (host.name().empty() && !is_other) take_attributes(tree_.find(one, {"endpoint"}), host);
      });
    }
    tree_.for_each(tree_.find(node, {"annotations"}), [&](Node one) {
      const std::string_view what = tree_.text(one, {"value"});
      if (what != "cs" && what != "cr" && what != "sr" && what != "ss" && what != "ms" &&
          what != "mr")
        return;
      SpanRecord half = whole;
      half.is_client = what[0] == 'c';
      half.is_server = what[0] == 's';
      half.is_shared = what[0] == 's' || what == "mr";
      const bool ends = what == "cr" || what == "ss";
      const std::uint64_t time = ns_of(tree_.text(one, {"timestamp"}), 3);
      half.begin = ends ? 0 : time;
      half.end = ends || half.begin != whole.begin ? time : whole.end;
      Host own;
      take_attributes(tree_.find(one, {"endpoint"}), own);
      half.clock = clock_of(own.name().empty() ? host : own);
      all.push_back(half);
    });
  }

  void relate(Node node, std::string_view trace, std::size_t later) {
    const auto add = [&](std::string_view other, std::string_view id, bool is_parent) {
      const std::uint64_t earlier = hash_of(other.empty() ? trace : other, id);
      if (earlier != 0)
        relations.push_back({earlier, static_cast<std::uint32_t>(later), is_parent});
    };
    add(trace, tree_.text(node, {"parentSpanId", "parent_span_id", "parentSpanID", "parentId"}),
        true);
    tree_.for_each(tree_.find(node, {"links", "references"}), [&](Node link) {
      add(tree_.text(link, {"traceId", "trace_id", "traceID"}),
          tree_.text(link, {"spanId", "span_id", "spanID"}),
          tree_.text(link, {"refType"}) == "CHILD_OF");
    });
    const bool is_half = all[later].is_shared || all[later].is_server;
    if (is_half) relations.push_back({all[later].id, static_cast<std::uint32_t>(later), true});
  }

  [[nodiscard]] std::uint32_t clock_of(const Host& host) const {
    const auto known = clocks_.find(host.name());
    return known == clocks_.end() ? k_none : known->second;
  }

  Tree tree_;
  std::unordered_map<std::string, std::uint32_t> clocks_;  ///< by host
};

/// Claimed edges that no relation supports yet.
class OpenEdges {
 public:
  explicit OpenEdges(const Edges& claims) : claims_(claims) {
    for (std::size_t i = 0; i < claims.cause_clock.size(); ++i) ++*open_.insert(key_of(i), 0).first;
  }

  void support(const SpanRecord& earlier, const SpanRecord& later, bool is_parent) {
    if (earlier.clock == later.clock) return;
    close(earlier.clock, earlier.begin, later.clock, later.polls ? later.end : later.begin);
    if (!is_parent || !earlier.is_client || !later.is_server) return;
    close(later.clock, later.end, earlier.clock, earlier.end);
  }

  [[nodiscard]] formats::Refutation refute() const {
    for (std::size_t i = 0; i < claims_.cause_clock.size(); ++i) {
      if (*open_.find(key_of(i)) == 0) continue;
      return {"spans have no such relation, or it is used twice", claims_.effect_clock[i],
              claims_.effect_time[i]};
    }
    return {};
  }

 private:
  static std::uint64_t key_of(std::uint64_t cause, std::uint64_t cause_time, std::uint64_t effect,
                              std::uint64_t effect_time) {
    return mix(mix(mix(mix(cause + 1) + cause_time) + effect) + effect_time);
  }
  [[nodiscard]] std::uint64_t key_of(std::size_t i) const {
    return key_of(claims_.cause_clock[i], claims_.cause_time[i], claims_.effect_clock[i],
                  claims_.effect_time[i]);
  }
  void close(std::uint32_t cause, std::uint64_t cause_time, std::uint32_t effect,
             std::uint64_t effect_time) {
    std::uint32_t* const claims = open_.find(key_of(cause, cause_time, effect, effect_time));
    if (claims != nullptr && *claims > 0) --*claims;
  }

  Edges claims_;
  FlatMap<std::uint64_t, std::uint32_t, formats::RecordIndex::Hash> open_;  ///< number of claims
};

/// Spans by their ids. Of those of an id that are alike the first one is taken.
formats::RecordIndex index_of(const std::vector<SpanRecord>& spans) {
  formats::RecordIndex index;
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    bool is_new = true;
    index.for_each(spans[i].id, [&](std::uint32_t j) { is_new &= !spans[j].is_like(spans[i]); });
    if (is_new) index.add(spans[i].id, i);
  }
  return index;
}

}  // namespace

Result<void> verify_claims(const formats::Recording& recording, std::uint64_t max_unpacked) {
  Extraction spans(recording.clocks.clocks);
  for (const std::filesystem::path& file : recording.files) {
    TRY_ASSIGN(const json::Document document, json::load(file, max_unpacked));
    spans.see(document.text);
  }
  const formats::RecordIndex index = index_of(spans.all);
  OpenEdges open(recording.list.view());
  for (const Relation& relation : spans.relations) {
    index.for_each(relation.earlier, [&](std::uint32_t earlier) {
      open.support(spans.all[earlier], spans.all[relation.later], relation.is_parent);
    });
  }
  return formats::verdict(recording.clocks, open.refute());
}

}  // namespace entrain::spans
