// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "formats/recording.hpp"
#include "formats/registry/open.hpp"

namespace entrain::formats {

/// Opens files of JSON, which hold a Recording.
inline Result<std::unique_ptr<Recording>> open_recording(const Paths& paths, unsigned threads) {
  auto source = open(paths, threads);
  if (!source) return tl::unexpected<Error>(source.error());
  return std::unique_ptr<Recording>(static_cast<Recording*>(source->release()));
}

}  // namespace entrain::formats
