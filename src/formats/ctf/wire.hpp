// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <entrain/error.hpp>

#include "base/isolated.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/parts/fields.hpp"

/// Records that a process which reads a trace sends (base/isolated.hpp).
namespace entrain::ctf {

/// First field of a record.
enum class Record : std::uint8_t { failed, event, facts };  ///< an Error, Event or TraceFacts

template <class Fields>
void visit(Fields& fields, Error& error) {
  fields(error.kind, error.message);
}

template <class Fields>
void visit(Fields& fields, Event& event) {
  fields(event.clock, event.time);
  parts::list(fields, event.ends, [](Fields& inner, MessageEnd& end) {
    inner.hash(end.key.first);
    inner.hash(end.key.second);
    inner(end.rule, end.is_send);
    inner.hash(end.place);
    inner(end.clock, end.time);
  });
  fields.hash(event.contents);
  fields(event.name, event.stream);
}

template <class Fields>
void visit(Fields& fields, TraceFacts& facts) {
  fields(facts.hostname);
  parts::list(fields, facts.clocks, &ClockClass::name, &ClockClass::uuid, &ClockClass::frequency,
              &ClockClass::offset_s, &ClockClass::offset);
  parts::list(fields, facts.spans, &StampRange::first, &StampRange::last);
  fields(facts.events, facts.without_clock, facts.out_of_range, facts.discarded);
}

template <class Value>
void send(const SendRecord& send_record, Record record, Value value) {
  parts::FieldWriter fields;
  fields(record);
  visit(fields, value);
  send_record(fields.take());
}

/// Reads a trace by libbabeltrace2, and sends its events and facts. For a process of its own: the
/// library ends a process in which it finds a mistake of its own, and some damaged traces show
/// such.
void decode(const std::filesystem::path& folder, std::span<const Rule> rules, bool all,
            const SendRecord& to);

}  // namespace entrain::ctf
