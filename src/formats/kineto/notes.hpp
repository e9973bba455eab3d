// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/perfetto/packet_writer.hpp"

/// Values of JSON as debug annotations of Perfetto.
namespace entrain::kineto {

/// Appends a name to an event: its number if the table has room, else its text. `raw`: with
/// escapes.
void add_name(std::string& fields, perfetto::InternedNames& names, perfetto::EventField number,
              perfetto::EventField text, std::string_view raw);

/// Appends an annotation. `key`, `value`: as written, the key without quotes. Numbers that are no
/// 64-bit integer and no double, empty lists and objects, null, and what is no JSON become JSON
/// text, which readers of Perfetto know too.
void add_note(std::string& fields, perfetto::InternedNames& names, std::string_view key,
              std::string_view value);

/// Appends the members of an object; returns their number. Anything else becomes one annotation,
/// `args`.
std::uint64_t add_notes(std::string& fields, perfetto::InternedNames& names,
                        std::string_view object);

}  // namespace entrain::kineto
