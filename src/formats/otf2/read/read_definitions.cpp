// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_definitions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

// OTF2_RegionRole, OTF2_Paradigm.
constexpr std::uint8_t k_role_function = 1, k_role_barrier = 15, k_role_implicit_barrier = 16;
constexpr std::uint8_t k_paradigm_openmp = 3, k_paradigm_cuda = 5, k_paradigm_pthread = 7,
                       k_paradigm_hip = 23;

/// True for the collective calls among neighbours, but not for those that only prepare one.
bool is_call_among_neighbours(std::string_view name) {
  if (!name.starts_with("mpi_neighbor_") && !name.starts_with("mpi_ineighbor_")) return false;
  return name.find("_init") == std::string_view::npos;
}

/// Calls of CUDA's driver and of HIP, and kernels, as Score-P has them: a call is a wrapper, a
/// kernel a function, and idle times are artificial. CUDA's runtime calls the driver.
RegionRole role_of_accelerator(std::string_view name, std::uint8_t region_role) {
  if (region_role == k_role_function) return RegionRole::kernel;
  if (name == "custreamsynchronize") return RegionRole::stream_wait;
  if (name == "cuctxsynchronize" || name == "cudadevicesynchronize" ||
      name == "hipdevicesynchronize") {
    return RegionRole::device_wait;
  }
  const bool launches =
      name.starts_with("culaunch") || (name.starts_with("hip") && name.ends_with("launchkernel"));
  return launches && name != "culaunchhostfunc" ? RegionRole::kernel_launch : RegionRole::other;
}

/// Takes a blank and ranges with commas between them, or nothing.
bool take_ranks(std::string_view& text, trace::RankSet& ranks) {
  if (text.size() < 2 || text[0] != ' ' || text[1] < '0' || text[1] > '9') return true;
  do {
    text.remove_prefix(1);  // the blank or the comma
    const auto first = take_number<std::uint32_t>(text);
    const auto last = first && take(text, "-") ? take_number<std::uint32_t>(text) : first;
    if (!last || !ranks.add(*first, *last)) return false;
  } while (text.starts_with(','));
  return true;
}

bool read_mapping_table(FieldReader& in, LocalStrings strings, LocalDefinitions& local) {
  const std::uint8_t kind = in.u8();
  IdMapping* target = kind == mapping::region       ? &local.regions
                      : kind == mapping::comm       ? &local.comms
                      : kind == mapping::group      ? &local.groups
                      : kind == mapping::rma_window ? &local.windows
                      : kind == mapping::attribute  ? &local.attributes
                                                    : nullptr;
  if (strings == LocalStrings::read && kind == mapping::string) target = &local.strings;
  if (target == nullptr) return true;
  const std::uint64_t count = in.c64();
  const bool sparse = in.u8() != 0;
  std::vector<std::uint64_t> dense;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t value = in.c64();
    if (sparse) {
      target->add(value, in.c64());
    } else {
      dense.push_back(value);
    }
  }
  if (!sparse) target->set_dense(std::move(dense));
  return in.ok();
}

}  // namespace

Result<LocalDefinitions> local_definitions_of(const DefinitionFile& file,
                                              const std::filesystem::path& path,
                                              LocalStrings strings) {
  LocalDefinitions local;
  for (const DefinitionRecord& record : file.records) {
    FieldReader in(record.payload.data(), record.payload.size(), file.big_endian);
    bool good = true;
    if (record.type == def::local_mapping_table) {
      good = read_mapping_table(in, strings, local);
    } else if (record.type == def::local_clock_offset) {
      trace::ClockOffset offset;
      offset.time = in.fixed64();
      offset.offset = in.s64();
      offset.stddev = std::bit_cast<double>(in.fixed64());
      local.clock_offsets.push_back(offset);
      good = in.ok();
    }
    if (!good) {
      return input_error(
          "{} is damaged: a definition record of type {} is too short; restore the file or record "
          "the trace again",
          path.string(), record.type);
    }
  }
  return local;
}

RegionRole role_of(std::string_view name, std::uint8_t region_role, std::uint8_t paradigm) {
  // Fortran wrappers of some tracers name the regions in other letters.
  std::string lower = in_small_letters(name);
  while (!lower.empty() && lower.back() == '_') lower.pop_back();
  static constexpr std::array<std::pair<std::string_view, RegionRole>, 8> k_names{{
      {"mpi_init", RegionRole::mpi_init},
      {"mpi_init_thread", RegionRole::mpi_init},
      {"mpi_finalize", RegionRole::mpi_finalize},
      {"mpi_win_post", RegionRole::win_post},
      {"mpi_win_start", RegionRole::win_start},
      {"mpi_win_complete", RegionRole::win_complete},
      {"mpi_win_wait", RegionRole::win_wait},
      {"mpi_win_test", RegionRole::win_wait},
  }};
  for (const auto& [known, role] : k_names) {
    if (lower == known) return role;
  }
  if (is_call_among_neighbours(lower)) return RegionRole::neighbours;
  if (paradigm == k_paradigm_cuda || paradigm == k_paradigm_hip) {
    return role_of_accelerator(lower, region_role);
  }
  const bool barrier = region_role == k_role_barrier || region_role == k_role_implicit_barrier;
  const bool threads = paradigm == k_paradigm_openmp || paradigm == k_paradigm_pthread;
  return barrier && threads ? RegionRole::thread_barrier : RegionRole::other;
}

std::optional<NamedPartners> parse_partners(std::string_view text) {
  NamedPartners partners;
  const bool good = take(text, "to") && take_ranks(text, partners.to) && take(text, " from") &&
                    take_ranks(text, partners.from) && text.empty();
  if (!good) return std::nullopt;
  return partners;
}

}  // namespace entrain::otf2
