// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace entrain::record {

/// Writes `sentence`, made presentable(), to standard error, as one line that begins with "entrain
/// record: ". Any thread may call it: a line is one write.
void say(const std::string& sentence);

}  // namespace entrain::record
