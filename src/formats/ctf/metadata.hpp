// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <entrain/error.hpp>

namespace entrain::ctf {

inline constexpr const char* k_metadata_name = "metadata";

/// A clock of a CTF trace: its count shows the time (offset + count) / frequency + offset_s, s.
struct ClockClass {
  std::string name;
  std::string uuid;  ///< 16 bytes, or none
  std::uint64_t frequency = 1'000'000'000;
  std::int64_t offset_s = 0;
  std::uint64_t offset = 0;  ///< counts
};

/// True if a file begins like the metadata of a CTF 1.8 trace, as text or in packets.
bool is_metadata(const std::filesystem::path& file);

/// Refuses metadata whose packets are cut or damaged, which libbabeltrace2 may read for ever.
/// Errors: ErrorKind::input.
Result<void> check_metadata(const std::filesystem::path& file);

/// Copies a file of metadata; clocks get the frequency and the offsets that `retimed` returns for
/// them, and all other text stays byte for byte. Packets are joined where something changes.
/// Errors: ErrorKind::input, ErrorKind::output.
Result<void> copy_metadata(const std::filesystem::path& from, const std::filesystem::path& to,
                           const std::function<ClockClass(const ClockClass&)>& retimed);

/// The text with other clocks; see copy_metadata(). Empty: a clock is not as CTF has them.
std::optional<std::string> with_clocks(const std::string& text,
                                       const std::function<ClockClass(const ClockClass&)>& retimed);

}  // namespace entrain::ctf
