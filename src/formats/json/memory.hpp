// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <zlib.h>

#include <new>

#include <simdjson.h>

/// zlib and simdjson return a code if memory runs out. These functions throw std::bad_alloc
/// instead, so that it is not taken for damaged input.
namespace entrain::json {

namespace ondemand = simdjson::ondemand;

/// Returns the code of zlib; throws std::bad_alloc for Z_MEM_ERROR.
inline int unless_no_memory(int state) {
  if (state == Z_MEM_ERROR) throw std::bad_alloc();
  return state;
}

/// simdjson's parser for one text after the other. Use only this class.
class Parser {
 public:
  /// Begins a text of less than 4 GiB. The document is valid until the next call. False for damaged
  /// JSON; throws std::bad_alloc.
  bool begin(simdjson::padded_string_view text, ondemand::document& document) {
    const simdjson::error_code error = parser_.iterate(text).get(document);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error != simdjson::SUCCESS) return false;
    if (Opened::strings_of(document) == nullptr) throw std::bad_alloc();
    return true;
  }

 private:
  /// Accesses the string buffer of a document: simdjson 3.0 does not check its allocation.
  struct Opened : ondemand::document {
    static const void* strings_of(ondemand::document& document) {
      return (document.*(&Opened::iter)).string_buf_loc();
    }
  };

  ondemand::parser parser_;
};

}  // namespace entrain::json
