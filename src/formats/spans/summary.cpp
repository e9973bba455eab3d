// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/summary.hpp"

#include <algorithm>
#include <bit>

#include "formats/tables/times.hpp"

namespace entrain::spans {
namespace {

constexpr std::size_t k_least_of_span = 10;  ///< bytes: one per column

template <class Fields>
void visit_source(Fields& fields, SourceFile& source) {
  std::string path = source.path.string();
  fields(path);
  source.path = path;
  fields(source.max_unpacked, source.columns, source.bytes);
  fields.hash(source.hash);
  fields(source.events, source.encoding, source.is_cut);
  if (source.encoding > Encoding::csv) fields.refuse();
}

template <class Fields>
void visit_names(Fields& fields, NameTable& table) {
  std::vector<std::string> names = Fields::k_reads ? std::vector<std::string>() : table.all();
  parts::list(fields, names);
  for (const std::string& name : names) table.number(name);
  if (table.all().size() != names.size()) fields.refuse();  // no name stands there twice
}

/// The largest unit that begins and ends are multiples of, ns.
std::uint64_t unit_of(const Spans& spans) {
  constexpr std::uint64_t k_us = 1000, k_ms = 1'000'000;
  for (const std::uint64_t unit : {k_ms, k_us}) {
    const auto is_whole = [unit](const Span& span) {
      return span.begin % unit == 0 && span.end % unit == 0;
    };
    if (std::ranges::all_of(spans.all, is_whole)) return unit;
  }
  return 1;
}

/// A column per member, as its neighbours in time are alike, and those in a row are not.
template <class Fields>
void visit_rows(Fields& fields, BigVector<Span>& all, std::uint64_t unit) {
  const auto each = [&](auto... members) {
    const auto one = [&](auto member) {
      for (Span& span : all) fields(span.*member);
    };
    (one(members), ...);
  };
  parts::columns(fields, all, &Span::id);
  // Most parents are known shortly before or after: 0 is none, and the distance of the id itself 1.
  for (Span& span : all) {
    std::uint64_t id = span.id, parent = span.parent;
    if (span.parent == k_none) parent = id;
    if (span.parent != k_none && parent >= id) ++parent;
    fields.delta(id, parent);
    if constexpr (Fields::k_reads) {
      const std::uint64_t own = parent > span.id ? parent - 1 : parent;
      span.parent = parent == span.id ? k_none : static_cast<std::uint32_t>(own);
      if (parent != span.id && own >= k_none) fields.refuse();
    }
  }
  each(&Span::clock, &Span::operation, &Span::role, &Span::shared, &Span::polls, &Span::follows);
  parts::column(
      fields, all, [&](const Span& span) { return span.begin / unit; },
      [&](Span& span, std::uint64_t value) { span.begin = value * unit; });
  for (Span& span : all) {
    std::uint64_t length = Fields::k_reads ? 0 : (span.end - span.begin) / unit;
    fields(length);
    if constexpr (Fields::k_reads) span.end = span.begin + length * unit;
  }
}

template <class Fields>
void visit_spans(Fields& fields, Spans& spans) {
  spans.ids.visit(fields);
  for (NameTable* const names : {&spans.operations, &spans.clocks, &spans.groups}) {
    visit_names(fields, *names);
  }
  fields.size(spans.facts);
  parts::columns(fields, spans.facts, &PlaceFacts::group, &PlaceFacts::is_changed);
  fields.size(spans.all, k_least_of_span);
  std::uint64_t unit = Fields::k_reads ? 0 : unit_of(spans);
  fields(unit);
  visit_rows(fields, spans.all, unit);
  fields.size(spans.links);
  parts::columns(fields, spans.links, &Link::id, &Link::span, &Link::is_cause);
  parts::list(fields, spans.untimed, [](Fields& inner, Untimed& one) {
    auto value = std::bit_cast<std::uint64_t>(one.value);
    inner(one.clock);
    inner.hash(value);
    inner(one.is_backwards);
    one.value = std::bit_cast<double>(value);
  });
  fields(spans.unit, spans.without_id, spans.without_end, spans.immovable_times,
         spans.first_immovable_time, spans.other_signal);
  if (spans.unit == 0) fields.refuse();
  parts::list(fields, spans.guesses);
}

template <class Fields>
void visit_units(Fields& fields, StoredUnits& units) {
  fields(units.begin, units.end, units.has_lengths);
  if (units.begin == 0 || units.end == 0) fields.refuse();
}

/// True if all numbers are in their ranges.
bool is_sound(const Spans& spans) {
  const auto is_in = [](std::uint32_t number, const NameTable& names) {
    return number < names.all().size();
  };
  const auto is_id = [&](std::uint32_t number) { return number < spans.ids.size(); };
  const auto fits = [&](const Span& span) {
    return is_id(span.id) && (span.parent == k_none || is_id(span.parent)) &&
           is_in(span.clock, spans.clocks) && is_in(span.operation, spans.operations) &&
           span.role <= Role::unnamed && span.begin <= span.end && span.end < tables::k_most_stamp;
  };
  return spans.facts.size() == spans.clocks.all().size() &&
         std::ranges::all_of(spans.facts,
                             [&](const auto& place) { return is_in(place.group, spans.groups); }) &&
         std::ranges::all_of(spans.all, fits) &&
         std::ranges::all_of(
             spans.links,
             [&](const Link& link) { return is_id(link.id) && link.span < spans.all.size(); }) &&
         std::ranges::all_of(spans.untimed,
                             [&](const auto& one) { return is_in(one.clock, spans.clocks); });
}

template <class Fields>
void visit_fitted(Fields& fields, Fitted& fitted) {
  parts::list(fields, fitted.places);
  parts::list(fields, fitted.periods, [](Fields& inner, std::vector<Period>& periods) {
    inner.size(periods);
    parts::columns(inner, periods, &Period::first, &Period::host);
  });
  parts::list(fields, fitted.files,
              [](Fields& inner, SourceFile& file) { visit_source(inner, file); });
}

/// The numbers in another table of all names of a table.
std::vector<std::uint32_t> numbers_in(NameTable& table, const NameTable& names) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names.all()) numbers.push_back(table.number(name));
  return numbers;
}

}  // namespace

std::string packed_piece(Spans& spans) {
  parts::FieldWriter fields;
  fields(true);
  visit_spans(fields, spans);
  return fields.take();
}

std::string packed_end(SourceFile& source, StoredUnits units) {
  parts::FieldWriter fields;
  fields(false);
  visit_source(fields, source);
  visit_units(fields, units);
  return fields.take();
}

bool unpack(parts::FieldReader& fields, SpanFile& file) {
  bool is_first = true;
  for (bool more = false; fields(more), more; is_first = false) {
    Spans piece;
    visit_spans(fields, piece);
    if (!fields.fine() || !is_sound(piece)) return false;
    if (is_first) {
      file.spans = std::move(piece);
    } else {
      append(file.spans, piece);
    }
  }
  visit_source(fields, file.source);
  visit_units(fields, file.spans.units);
  file.spans.cut_files = file.source.is_cut ? 1 : 0;
  return fields.fine();
}

void append(Spans& spans, const Spans& next) {
  const std::vector<std::uint32_t> ids = spans.ids.add(next.ids);
  const std::vector<std::uint32_t> operations = numbers_in(spans.operations, next.operations);
  std::vector<std::uint32_t> clocks;
  for (std::size_t c = 0; c < next.facts.size(); ++c) {
    clocks.push_back(spans.clocks.number(next.clocks.all()[c]));
    if (clocks.back() < spans.facts.size()) continue;
    const PlaceFacts& facts = next.facts[c];
    spans.facts.push_back({spans.groups.number(next.groups.all()[facts.group]), facts.is_changed});
  }
  const std::size_t first = spans.all.size();
  for (Span span : next.all) {
    span.id = ids[span.id];
    if (span.parent != k_none) span.parent = ids[span.parent];
    span.clock = clocks[span.clock];
    span.operation = operations[span.operation];
    spans.all.push_back(span);
  }
  for (Link link : next.links) {
    link.id = ids[link.id];
    link.span += first;
    spans.links.push_back(link);
  }
  for (Untimed one : next.untimed) {
    one.clock = clocks[one.clock];
    spans.untimed.push_back(one);
  }
  for (const std::string& guess : next.guesses) spans.add_guess(guess);
  if (spans.other_signal.empty()) spans.other_signal = next.other_signal;
  if (spans.immovable_times == 0) spans.first_immovable_time = next.first_immovable_time;
  spans.unit = std::max(spans.unit, next.unit);
  spans.cut_files += next.cut_files;
  spans.without_id += next.without_id;
  spans.without_end += next.without_end;
  spans.immovable_times += next.immovable_times;
}

void pack(parts::FieldWriter& fields, Fitted& fitted) { visit_fitted(fields, fitted); }

bool unpack(parts::FieldReader& fields, std::size_t clocks, Fitted& fitted) {
  visit_fitted(fields, fitted);
  const auto is_sound = [clocks](const std::vector<Period>& periods) {
    return !periods.empty() && std::ranges::all_of(periods, [clocks](const Period& period) {
      return period.host < clocks;
    });
  };
  return fields.fine() && fitted.places.size() == fitted.periods.size() &&
         std::ranges::all_of(fitted.periods, is_sound);
}

}  // namespace entrain::spans
