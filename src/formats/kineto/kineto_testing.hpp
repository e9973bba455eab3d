// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/temp_folder_testing.hpp"
#include "formats/kineto/kineto.hpp"

namespace entrain::kineto {

/// Ends of calls in us, one after the other.
using Ends = std::vector<double>;

inline std::string kernel(double end, const std::string& arguments = "") {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", )"
                     R"("ts": {:.3f}, "dur": 10, "args": {{"stream": 7{}}}}})",
                     end - 10, arguments);
}

inline std::string file_of(const std::vector<std::string>& events, const std::string& facts = "") {
  return fmt::format("{{{}\"traceEvents\": [{}]}}", facts, fmt::join(events, ",\n"));
}

class Chrome : public ::testing::Test {
 protected:
  void add(const std::string& text) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    files_.push_back(folder_.put(fmt::format("rank{}.json", files_.size()), {bytes, text.size()}));
  }
  void add_calls(const Ends& ends) {
    std::vector<std::string> events;
    for (const double end : ends) events.push_back(kernel(1e15 + end));
    add(file_of(events));
  }
  Result<std::unique_ptr<formats::Recording>> open() { return read(files_, 1); }
  std::string error() {
    auto result = open();
    return result ? "" : result.error().message;
  }

  TempFolder folder_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace entrain::kineto
