// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace entrain {

/// Spreads the bits of an integer key.
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ x >> 32;
}

/// Hash map with open addressing for keys that have `hash(key)` by Hash. No allocation per entry;
/// pointers stay valid until the next insertion. Not thread safe.
template <class Key, class Value, class Hash>
class FlatMap {
 public:
  /// The value of `key`, inserted with `initial` if it is new; second: true if it was.
  std::pair<Value*, bool> insert(const Key& key, Value initial) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    std::size_t i = home(key);
    for (; slots_[i].used; i = next(i)) {
      if (slots_[i].key == key) return {&slots_[i].value, false};
    }
    slots_[i] = {key, initial, true};
    ++count_;
    return {&slots_[i].value, true};
  }

  Value* find(const Key& key) { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(const Key& key) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t i = home(key); slots_[i].used; i = next(i)) {
      if (slots_[i].key == key) return &slots_[i].value;
    }
    return nullptr;
  }

  /// Removes `key` if it is there, keeping every other entry reachable.
  void erase(const Key& key) {
    if (slots_.empty()) return;
    std::size_t i = home(key);
    while (slots_[i].used && !(slots_[i].key == key)) i = next(i);
    if (!slots_[i].used) return;
    --count_;
    for (std::size_t j = next(i); slots_[j].used; j = next(j)) {
      const std::size_t want = home(slots_[j].key);
      // Entry j may fill the gap at i unless its home lies cyclically in (i, j].
      if (((j - want) & mask()) >= ((j - i) & mask())) {
        slots_[i] = slots_[j];
        i = j;
      }
    }
    slots_[i].used = false;
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  void clear() {
    for (Slot& slot : slots_) slot.used = false;
    count_ = 0;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool used = false;
  };
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t home(const Key& key) const {
    return static_cast<std::size_t>(Hash{}(key)) & mask();
  }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    count_ = 0;
    for (Slot& slot : old) {
      if (slot.used) insert(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

/// Hash of a single integer key.
struct IntegerHash {
  std::uint64_t operator()(std::uint64_t key) const { return mix(key); }
};

}  // namespace entrain
