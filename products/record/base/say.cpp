// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/say.hpp"

#include <unistd.h>

#include "base/printable.hpp"

namespace entrain::record {

void say(const std::string& sentence) {
  const std::string line = "entrain record: " + presentable(sentence) + '\n';
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace entrain::record
