// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_definitions.hpp"

#include <bit>

#include "base/fail.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

bool read_mapping_table(FieldReader& in, LocalStrings strings, LocalDefinitions& local) {
  const std::uint8_t kind = in.u8();
  IdMapping* target = kind == mapping::region       ? &local.regions
                      : kind == mapping::comm       ? &local.comms
                      : kind == mapping::group      ? &local.groups
                      : kind == mapping::rma_window ? &local.windows
                                                    : nullptr;
  if (strings == LocalStrings::read && kind == mapping::string) target = &local.strings;
  if (strings == LocalStrings::read && kind == mapping::attribute) target = &local.attributes;
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

}  // namespace entrain::otf2
