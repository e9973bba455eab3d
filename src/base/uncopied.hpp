// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain {

/// Base of classes that others derive from and that are held by pointers.
class Uncopied {
 public:
  Uncopied() = default;
  Uncopied(const Uncopied&) = delete;
  Uncopied& operator=(const Uncopied&) = delete;
  virtual ~Uncopied() = default;
};

}  // namespace entrain
