// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/parts/fields.hpp"
#include "formats/parts_of_run.hpp"
#include "formats/spans/identity.hpp"
#include "formats/spans/spans.hpp"

/// Files of spans as compact bytes: what read() leaves of each, and what writing them needs.
namespace entrain::spans {

enum class Encoding : std::uint8_t { json, protobuf, csv };

/// A file, which is read again when it is written.
struct SourceFile : formats::Parts::File {
  std::uint64_t max_unpacked = 0;  ///< parameter of json::load()
  std::string columns{};           ///< parameter of read()
  Encoding encoding = Encoding::json;
  bool is_cut = false;          ///< it ends inside a record
  bool was_summarised = false;  ///< it was read long before it is written
};

/// A file with its spans, whose numbers are of names in this file.
struct SpanFile {
  SourceFile source;
  Spans spans;
};

/// The bytes of a file: those of its spans, in pieces whose clocks are not settled yet, and at the
/// end those of what is known then.
std::string packed_piece(Spans& spans);
std::string packed_end(SourceFile& source, StoredUnits units);
/// Reads a file; false if it is damaged, or if a number in it is out of range.
[[nodiscard]] bool unpack(parts::FieldReader& fields, SpanFile& file);

/// Adds the spans of the next file or piece, as if read() had added them.
void append(Spans& spans, const Spans& next);

/// Facts that tell the clock of every time of a run, and its files.
struct Fitted {
  std::vector<std::string> places;           ///< names, as Spans::clocks
  std::vector<std::vector<Period>> periods;  ///< see Identity
  std::vector<SourceFile> files;
};
void pack(parts::FieldWriter& fields, Fitted& fitted);
/// `clocks`: the number of clocks. False if it is damaged.
[[nodiscard]] bool unpack(parts::FieldReader& fields, std::size_t clocks, Fitted& fitted);

}  // namespace entrain::spans
