// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <span>
#include <string_view>

#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

bool read_endpoint(value from, Place& place) {
  return each_member(from, [&](std::string_view key, value inner) {
    std::string* const member = place.member(key);
    return member == nullptr || read_name(inner, *member);
  });
}

bool read_annotation(value from, Annotation& annotation, bool& has_place) {
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "timestamp") return annotation.time = number_of(inner), true;
    if (key == "value") return read_name(inner, annotation.what);
    if (key != "endpoint") return true;
    has_place = true;
    return read_endpoint(inner, annotation.place);
  });
}

/// Reads a tag of version 1. Addresses of the other side (`sa`, `ca`, `ma`) do not give the place
/// of the span.
bool read_binary_annotation(value from, Draft& draft, Place& local) {
  std::string_view key, text;
  Place place;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    if (name == "value") return read_string(inner, text);
    return name != "endpoint" || read_endpoint(inner, place);
  });
  draft.polls = draft.polls || says_polls(key, text);
  draft.marked = draft.marked || key == k_mark;
  const bool is_other = key == "sa" || key == "ca" || key == "ma";
  if (!is_other && local.is_unknown()) local = place;
  return whole;
}

/// Null if there is none, or `what` is empty: a half without an end.
template <class One>
One* find(std::span<One> annotations, std::string_view what) {
  if (what.empty()) return nullptr;
  const auto found = std::find_if(annotations.begin(), annotations.end(),
                                  [&](const Annotation& one) { return one.what == what; });
  return found == annotations.end() ? nullptr : &*found;
}

/// The first place that a span names; right for spans with at most one half.
Place named_place(const ZipkinV1& v1) {
  const auto named = std::find_if(v1.annotations.begin(), v1.annotations.end(),
                                  [](const Annotation& one) { return !one.place.is_unknown(); });
  return named != v1.annotations.end() && v1.local.is_unknown() ? named->place : v1.local;
}

/// Place whose clock wrote the span's own begin and duration: that of the half that began it.
Place owner_of(const ZipkinV1& v1) {
  for (const std::string_view what : {"cs", "cr", "ms", "sr", "ss", "mr"}) {
    if (const Annotation* const one = find(std::span(v1.annotations), what)) return one->place;
  }
  return named_place(v1);
}

struct HalfKind {
  std::string_view begin, end;
  Role role = Role::internal;
};
constexpr HalfKind k_first_halves[] = {{"cs", "cr", Role::client}, {"ms", "", Role::producer}};
constexpr HalfKind k_second_halves[] = {{"sr", "ss", Role::server}, {"mr", "", Role::consumer}};

bool has_any(const ZipkinV1& v1, std::span<const HalfKind> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const HalfKind& kind) {
    const std::span annotations(v1.annotations);
    return find(annotations, kind.begin) != nullptr || find(annotations, kind.end) != nullptr;
  });
}

/// True for a begin or an end of a half.
bool is_of_half(const Annotation& one) {
  constexpr std::string_view k_all[] = {"cs", "cr", "sr", "ss", "ms", "mr"};
  return std::find(std::begin(k_all), std::end(k_all), one.what) != std::end(k_all);
}

/// Copies the place between the begin and the end of a half, which are of one process.
void share_place(std::span<Annotation> annotations, const HalfKind& kind) {
  Annotation* const first = find(annotations, kind.begin);
  Annotation* const last = find(annotations, kind.end);
  if (first == nullptr || last == nullptr) return;
  if (first->place.is_unknown()) first->place = last->place;
  if (last->place.is_unknown()) last->place = first->place;
}

/// Sets the endpoint of annotations without one: that of their half or of the span's only half; if
/// they are of no half, that of the owner. If there are two halves, one without any stays without.
void complete_places(ZipkinV1& v1) {
  for (const HalfKind& kind : k_first_halves) share_place(v1.annotations, kind);
  for (const HalfKind& kind : k_second_halves) share_place(v1.annotations, kind);
  const bool has_both = has_any(v1, k_first_halves) && has_any(v1, k_second_halves);
  const Place named = named_place(v1);
  for (Annotation& one : v1.annotations) {
    if (!has_both && is_of_half(one) && one.place.is_unknown()) one.place = named;
  }
  const Place owner = owner_of(v1);
  for (Annotation& one : v1.annotations) {
    if (!is_of_half(one) && one.place.is_unknown()) one.place = owner;
  }
  v1.owner = owner;
}

}  // namespace

bool Reader::zipkin_span(value from) {
  Draft& draft = draft_.begin_span(Mark::Form::zipkin);
  draft.has_place = true;
  ZipkinV1 v1;
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (key == "traceId") return read_id(inner, k_trace_digits, draft.trace);
    if (key == "id") return read_id(inner, k_span_digits, draft.id);
    if (key == "parentId") return read_id(inner, k_span_digits, draft.parent);
    if (key == "name") return read_string(inner, draft.name);
    if (key == "timestamp") return draft.begin = number_of(inner), true;
    if (key == "duration") return draft.end = number_of(inner), true;
    if (key == "shared") {
      draft.shared =
          is_a(inner, ondemand::json_type::boolean) && inner.raw_json_token().starts_with("true");
      return true;
    }
    if (key == "kind") {
      std::string_view word;
      const bool good = read_string(inner, word);
      draft.role = role_of(word);
      return good;
    }
    if (key == "localEndpoint" || key == "tags") {
      if (key == "tags") note_attributes(inner, ondemand::json_type::object, draft);
      return each_member(inner, [&](std::string_view name, value item) {
        std::string* const member = draft.place.member(name);
        if (member != nullptr) return read_name(item, *member);
        std::string_view text;
        const bool good = read_string(item, text);
        draft.polls = draft.polls || says_polls(name, text);
        draft.marked = draft.marked || name == k_mark;
        return good;
      });
    }
    if (key == "binaryAnnotations") {
      v1.is_v1 = true;
      note_attributes(inner, ondemand::json_type::array, draft);
      return each_element(
          inner, [&](value item) { return read_binary_annotation(item, draft, v1.local); });
    }
    if (key != "annotations") return true;
    return each_element(inner, [&](value item) {
      return read_annotation(item, v1.annotations.emplace_back(), v1.is_v1);
    });
  });
  if (v1.is_v1) {
    complete_places(v1);
    finish_v1(draft, v1);
    return whole && has_memory();
  }
  for (const Annotation& annotation : v1.annotations) draft.instants.push_back(annotation.time);
  finish(draft, k_us, true, clock_at(draft.place));
  return whole && has_memory();
}

void Reader::finish_v1(Draft& draft, const ZipkinV1& v1) {
  draft.form = Mark::Form::zipkin_v1;
  const std::uint32_t owner = clock_at(v1.owner);
  stamp(draft.begin, k_us, owner);
  stamp_length(draft.end, draft.begin, k_us, owner);
  for (const Annotation& one : v1.annotations) {
    stamp(one.time, k_us, clock_at(one.place));
  }
  if (draft.id.is_zero() || draft.trace.is_zero()) {
    ++spans_.without_id;
    return;
  }
  bool any = false;
  for (const HalfKind& kind : k_first_halves) {
    draft.role = kind.role;
    any = any || add_half(draft, v1, kind.begin, kind.end);
  }
  // Begin, duration and mark of the span belong to the first half.
  draft.shared = true;
  draft.marked = draft.marked || any;
  if (any) draft.begin = draft.end = {};
  bool second = false;
  for (const HalfKind& kind : k_second_halves) {
    draft.role = kind.role;
    second = second || add_half(draft, v1, kind.begin, kind.end);
  }
  if (any || second) return;
  if (draft.begin.value == 0 || !is_time(draft.begin, k_us) || !is_time(draft.end, k_us)) {
    return ignore(draft.begin, k_us, owner);
  }
  draft.role = Role::internal;
  draft.shared = false;
  const std::uint64_t begin = ns_of(draft.begin, k_us);
  add_span(draft, begin, begin + ns_of(draft.end, k_us), k_us, owner);
}

bool Reader::add_half(const Draft& draft, const ZipkinV1& v1, std::string_view begin,
                      std::string_view end) {
  const std::span annotations(v1.annotations);
  const Annotation* const first = find(annotations, begin);
  if (first == nullptr || first->time.value == 0 || !is_time(first->time, k_us)) return false;
  const std::uint32_t clock = clock_at(first->place);
  const Annotation* const last = find(annotations, end);
  const std::uint64_t since = ns_of(first->time, k_us);
  std::uint64_t until = since;
  if (last != nullptr && clock_at(last->place) == clock && is_time(last->time, k_us)) {
    until = ns_of(last->time, k_us);
  } else if (clock == clock_at(v1.owner) && is_time(draft.begin, k_us) &&
             ns_of(draft.begin, k_us) == since && is_time(draft.end, k_us)) {
    until += ns_of(draft.end, k_us);
  }
  Draft half = draft;
  // The end of the server is unknown: its span gives no edge of ends.
  if (until == since && half.role == Role::server) half.role = Role::internal;
  add_span(half, since, until, k_us, clock);
  return true;
}

}  // namespace entrain::spans
