// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <span>

#include "formats/spans/reader.hpp"
#include "formats/tables/times.hpp"

namespace entrain::spans {
namespace {

/// An annotation; in version 1 with its place.
struct Annotation {
  std::string what;
  Number time;
  Place place;
};

/// Contents of a span of version 1 besides its Draft.
struct ZipkinV1 {
  std::vector<Annotation> annotations;
  Place local;         ///< place of a span without halves
  Place owner;         ///< place of the span's own begin and duration
  bool is_v1 = false;  ///< true if the span is of version 1

  /// Null if there is none, or `what` is empty: a half without an end.
  Annotation* find(std::string_view what) {
    const auto found = std::ranges::find(annotations, what, &Annotation::what);
    return what.empty() || found == annotations.end() ? nullptr : &*found;
  }
};

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
  draft.see_attribute(key, text);
  const bool is_other = key == "sa" || key == "ca" || key == "ma";
  if (!is_other && local.is_unknown()) local = place;
  return whole;
}

/// The first place that a span names; right for spans with at most one half.
Place named_place(const ZipkinV1& v1) {
  const auto named = std::find_if(v1.annotations.begin(), v1.annotations.end(),
                                  [](const Annotation& one) { return !one.place.is_unknown(); });
  return named != v1.annotations.end() && v1.local.is_unknown() ? named->place : v1.local;
}

/// A half of a span of version 1, by its first and its last annotation.
struct HalfKind {
  std::string_view begin, end;
  Role role = Role::internal;
  bool is_second = false;  ///< the other side's
};
constexpr std::array<HalfKind, 4> k_halves{{{"cs", "cr", Role::client, false},
                                            {"ms", "", Role::producer, false},
                                            {"sr", "ss", Role::server, true},
                                            {"mr", "", Role::consumer, true}}};

/// Place whose clock wrote the span's own begin and duration: that of the half that began it.
Place owner_of(ZipkinV1& v1) {
  for (const HalfKind& kind : k_halves) {
    for (const std::string_view what : {kind.begin, kind.end}) {
      if (const Annotation* const one = v1.find(what)) return one->place;
    }
  }
  return named_place(v1);
}

bool has_any(ZipkinV1& v1, bool is_second) {
  return std::ranges::any_of(k_halves, [&](const HalfKind& kind) {
    return kind.is_second == is_second &&
           (v1.find(kind.begin) != nullptr || v1.find(kind.end) != nullptr);
  });
}

bool is_of_half(const Annotation& one) {
  return !one.what.empty() && std::ranges::any_of(k_halves, [&](const HalfKind& kind) {
    return one.what == kind.begin || one.what == kind.end;
  });
}

/// Copies the place between the begin and the end of a half, which are of one process.
void share_place(ZipkinV1& v1, const HalfKind& kind) {
  Annotation *const first = v1.find(kind.begin), *const last = v1.find(kind.end);
  if (first == nullptr || last == nullptr) return;
  if (first->place.is_unknown()) first->place = last->place;
  if (last->place.is_unknown()) last->place = first->place;
}

/// Sets the endpoint of annotations without one: that of their half or of the span's only half; if
/// they are of no half, that of the owner. If there are two halves, one without any stays without.
void complete_places(ZipkinV1& v1) {
  for (const HalfKind& kind : k_halves) share_place(v1, kind);
  const bool has_both = has_any(v1, false) && has_any(v1, true);
  const Place named = named_place(v1);
  for (Annotation& one : v1.annotations) {
    if (!has_both && is_of_half(one) && one.place.is_unknown()) one.place = named;
  }
  v1.owner = owner_of(v1);
  for (Annotation& one : v1.annotations) {
    if (!is_of_half(one) && one.place.is_unknown()) one.place = v1.owner;
  }
}

/// True for a valid time or duration.
bool is_valid(const Number& number) {
  return !number.digits.empty() && number.value < tables::k_most_stamp / k_us / 2;
}
bool is_begin(const Number& number) { return number.value > 0 && is_valid(number); }

/// Adds the half between the annotations of this kind; false if that of the begin is missing.
bool add_half(Reader& reader, ZipkinV1& v1, const HalfKind& kind) {
  Draft& draft = reader.draft;
  draft.role = kind.role;
  const Annotation *const first = v1.find(kind.begin), *const last = v1.find(kind.end);
  if (first == nullptr || !is_begin(first->time)) return false;
  const std::uint32_t clock = reader.clock_at(first->place);
  const std::uint64_t since = ns_of(first->time, k_us);
  std::uint64_t until = since;
  if (last != nullptr && reader.clock_at(last->place) == clock && is_valid(last->time)) {
    until = ns_of(last->time, k_us);
  } else if (clock == reader.clock_at(v1.owner) && is_valid(draft.begin) &&
             ns_of(draft.begin, k_us) == since && is_valid(draft.end)) {
    until += ns_of(draft.end, k_us);
  }
  // The end of the server is unknown: its span gives no edge of ends.
  if (until == since && draft.role == Role::server) draft.role = Role::internal;
  reader.add_span(since, until, k_us, clock);
  return true;
}

/// Adds the client's and the server's half of a span of version 1.
void finish_v1(Reader& reader, ZipkinV1& v1) {
  Draft& draft = reader.draft;
  draft.form = Mark::Form::zipkin_v1;
  const std::uint32_t owner = reader.clock_at(v1.owner);
  reader.stamp(draft.begin, k_us, owner);
  reader.stamp_length(draft.end, draft.begin, k_us, owner);
  for (const Annotation& one : v1.annotations) {
    reader.stamp(one.time, k_us, reader.clock_at(one.place));
  }
  if (draft.id.is_zero() || draft.trace.is_zero()) {
    ++reader.spans.without_id;
    return;
  }
  const auto add_one = [&](bool is_second) {
    return std::ranges::any_of(k_halves, [&](const HalfKind& kind) {
      return kind.is_second == is_second && add_half(reader, v1, kind);
    });
  };
  const bool has_first = add_one(false);
  // Begin, duration and mark of the span belong to the first half.
  draft.shared = true;
  draft.marked |= has_first;
  if (has_first) draft.begin = draft.end = {};
  const bool has_second = add_one(true);
  if (has_first || has_second) return;
  if (!is_begin(draft.begin) || !is_valid(draft.end)) return reader.ignore(k_us, owner);
  draft.role = Role::internal;
  draft.shared = false;
  const std::uint64_t begin = ns_of(draft.begin, k_us);
  reader.add_span(begin, begin + ns_of(draft.end, k_us), k_us, owner);
}

}  // namespace

bool read_zipkin_span(Reader& reader, value from) {
  Draft& draft = reader.draft.begin_span(Mark::Form::zipkin);
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
    if (key == "kind") return draft.read_kind(inner);
    if (key == "localEndpoint" || key == "tags") {
      if (key == "tags") draft.note_attributes(inner, ondemand::json_type::object);
      return each_member(inner, [&](std::string_view name, value item) {
        std::string* const member = draft.place.member(name);
        if (member != nullptr) return read_name(item, *member);
        std::string_view text;
        const bool good = read_string(item, text);
        draft.see_attribute(name, text);
        return good;
      });
    }
    if (key == "binaryAnnotations") {
      v1.is_v1 = true;
      draft.note_attributes(inner, ondemand::json_type::array);
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
    finish_v1(reader, v1);
  } else {
    for (const Annotation& one : v1.annotations) draft.instants.push_back(one.time);
    reader.finish(k_us, true, reader.clock_at(draft.place));
  }
  return whole && reader.has_memory();
}

}  // namespace entrain::spans
