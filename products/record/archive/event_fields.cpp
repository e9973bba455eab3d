// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/event_fields.hpp"

#include "formats/otf2/format/format.hpp"

namespace entrain::record {

namespace {

namespace event = otf2::event;

// Types that only the recorder has to know.
constexpr std::uint8_t k_rma_win_create = 35, k_rma_win_destroy = 36, k_rma_put = 46,
                       k_rma_get = 47, k_rma_atomic = 48, k_rma_op_complete_non_blocking = 50,
                       k_rma_op_test = 51, k_rma_op_complete_remote = 52, k_comm_create = 87,
                       k_comm_destroy = 88;

/// The fields of a record: b is a byte, s and l are compressed integers of up to 4 and 8 bytes, w
/// is one of 8 bytes. Null for types that the recorder does not write.
const char* fields_of(std::uint8_t type) {
  switch (type) {
    case event::buffer_flush:
      return "w";
    case event::measurement_on_off:
      return "b";
    case event::enter:
    case event::leave:
    case k_rma_win_create:
    case k_rma_win_destroy:
    case k_comm_create:
    case k_comm_destroy:
      return "s";
    case event::mpi_send:
    case event::mpi_recv:
      return "sssl";
    case event::mpi_isend:
    case event::mpi_irecv:
      return "sssll";
    case event::mpi_isend_complete:
    case event::mpi_irecv_request:
    case event::mpi_request_test:
    case event::mpi_request_cancelled:
    case event::nb_collective_request:
      return "l";
    case event::mpi_collective_begin:
    case event::rma_collective_begin:
      return "";
    case event::mpi_collective_end:
      return "bssll";
    case event::nb_collective_complete:
      return "bsslll";
    case event::rma_collective_end:
      return "bsssll";
    case event::rma_group_sync:
      return "sss";
    case event::rma_request_lock:
    case event::rma_acquire_lock:
    case event::rma_try_lock:
      return "sslb";
    case event::rma_release_lock:
      return "ssl";
    case event::rma_sync:
      return "ssb";
    case k_rma_put:
    case k_rma_get:
      return "ssll";
    case k_rma_atomic:
      return "ssblll";
    case k_rma_op_complete_non_blocking:
    case k_rma_op_test:
    case k_rma_op_complete_remote:
      return "sl";
    default:
      return nullptr;
  }
}

otf2::FieldReader reader_of(std::span<const std::uint8_t> payload) {
  return {payload.data(), payload.size(), false};
}

}  // namespace

bool is_event_payload(std::uint8_t type, std::span<const std::uint8_t> payload) {
  const char* fields = fields_of(type);
  if (fields == nullptr) return false;
  otf2::FieldReader in = reader_of(payload);
  for (; *fields != '\0' && in.ok(); ++fields) {
    switch (*fields) {
      case 'b':
        in.u8();
        break;
      case 's':
        in.c32();
        break;
      case 'l':
        in.c64();
        break;
      default:
        in.fixed64();
    }
  }
  return in.ok() && in.left() == 0;
}

bool is_attribute_payload(std::span<const std::uint8_t> payload) {
  otf2::FieldReader in = reader_of(payload);
  const std::uint32_t count = in.c32();
  if (count == 0) return false;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    in.c32();
    if (in.u8() != otf2::attribute_type::string) return false;
    in.c32();
  }
  return in.ok() && in.left() == 0;
}

}  // namespace entrain::record
