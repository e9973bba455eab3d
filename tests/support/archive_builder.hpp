// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct OTF2_Archive_struct;
struct OTF2_EvtWriter_struct;
struct OTF2_SnapWriter_struct;
struct OTF2_GlobalDefWriter_struct;

namespace entrain::test {

struct BuilderOptions {
  std::string name = "traces";                  ///< anchor file NAME.otf2
  std::uint64_t event_chunk_size = 256 * 1024;  ///< 256 KiB .. 16 MiB
  std::uint64_t definition_chunk_size = 256 * 1024;
  std::uint64_t resolution_hz = 1'000'000'000;
  std::uint64_t trace_id = 0x5eed;
  /// > 0: event buffers hold that many chunks, then they are flushed and the library writes a
  /// BufferFlush record that takes `flush_ticks`.
  unsigned chunks_before_flush = 0;
  std::uint64_t flush_ticks = 1000;
};

/// Regions and paradigms by their OTF2 numbers, as far as hand-made traces need them.
enum class Role : std::uint8_t {
  function = 1,
  wrapper = 2,
  barrier = 15,
  implicit_barrier = 16,
  artificial = 31
};
enum class Paradigm : std::uint8_t { user = 1, openmp = 3, mpi = 4, cuda = 5, pthread = 7 };

/// Writes a small test archive with the OTF2 library.
///
///     ArchiveBuilder archive(folder);
///     const auto node = archive.node("n0");
///     archive.location(0, archive.process("MPI Rank 0", node));
///     ...
///     const auto world = archive.comm("MPI_COMM_WORLD", {0, 1});
///     archive.at(0).send(100, 1, world, 7);
///     archive.at(1).recv(90, 0, world, 7);
///     archive.finish();
///
/// Definitions and events may be mixed; events of one location in stream order. Every function
/// throws std::runtime_error when the library refuses.
class ArchiveBuilder {
 public:
  /// Id of the first group; those below are the lists of locations of the four paradigms.
  static constexpr std::uint32_t k_first_group = 4;

  /// `directory` is created; the anchor is directory/NAME.otf2.
  explicit ArchiveBuilder(const std::filesystem::path& directory, BuilderOptions options = {});
  ~ArchiveBuilder();
  ArchiveBuilder(const ArchiveBuilder&) = delete;
  ArchiveBuilder& operator=(const ArchiveBuilder&) = delete;

  // Definitions; each returns the global id.
  std::uint32_t string(const std::string& text);
  std::uint32_t node(const std::string& name, bool shared_memory = true);
  std::uint32_t process(const std::string& name, std::uint32_t node);
  /// An accelerator context created by `process`.
  std::uint32_t accelerator(const std::string& name, std::uint32_t node, std::uint32_t process);
  /// `type` is an OTF2_LocationType. Returns `id`.
  std::uint64_t location(std::uint64_t id, std::uint32_t process, const std::string& name = "",
                         std::uint8_t type = 1);
  std::uint32_t region(const std::string& name, Role role = Role::function,
                       Paradigm paradigm = Paradigm::mpi);
  /// A group of locations, stored as ranks in the paradigm's list of locations.
  std::uint32_t group(const std::vector<std::uint64_t>& locations,
                      Paradigm paradigm = Paradigm::mpi);
  /// An intra-communicator, or a thread team with Paradigm::openmp. Rank i is locations[i].
  std::uint32_t comm(const std::string& name, const std::vector<std::uint64_t>& locations,
                     Paradigm paradigm = Paradigm::mpi);
  std::uint32_t self_comm(const std::string& name);
  std::uint32_t inter_comm(const std::string& name, const std::vector<std::uint64_t>& group_a,
                           const std::vector<std::uint64_t>& group_b, std::uint32_t common);
  std::uint32_t window(const std::string& name, std::uint32_t comm);

  void clock_offset(std::uint64_t location, std::uint64_t time, std::int64_t offset,
                    double deviation = 0);
  /// Mapping table of a location: local id -> global id. `kind` is an OTF2_MappingType. Dense if
  /// the local ids are 0..n-1, sparse otherwise.
  void mapping(std::uint64_t location, std::uint8_t kind,
               const std::map<std::uint64_t, std::uint64_t>& local_to_global);
  void property(const std::string& name, const std::string& value);
  /// Further global definitions, written at the end; strings must exist before `finish`.
  void definitions(std::function<void(OTF2_GlobalDefWriter_struct*)> write);

  /// Events of one location. Times in ticks; ids as stored (local ones if there is a mapping).
  class Events {
   public:
    Events& enter(std::uint64_t time, std::uint32_t region);
    Events& leave(std::uint64_t time, std::uint32_t region);
    Events& send(std::uint64_t time, std::uint32_t receiver, std::uint32_t comm, std::uint32_t tag,
                 std::uint64_t bytes = 8);
    Events& recv(std::uint64_t time, std::uint32_t sender, std::uint32_t comm, std::uint32_t tag,
                 std::uint64_t bytes = 8);
    Events& isend(std::uint64_t time, std::uint32_t receiver, std::uint32_t comm, std::uint32_t tag,
                  std::uint64_t request, std::uint64_t bytes = 8);
    Events& isend_complete(std::uint64_t time, std::uint64_t request);
    Events& irecv_request(std::uint64_t time, std::uint64_t request);
    Events& irecv(std::uint64_t time, std::uint32_t sender, std::uint32_t comm, std::uint32_t tag,
                  std::uint64_t request, std::uint64_t bytes = 8);
    Events& cancelled(std::uint64_t time, std::uint64_t request);
    Events& collective_begin(std::uint64_t time);
    /// `op` is an OTF2_CollectiveOp; `root` a rank or one of the k_root_ values.
    Events& collective_end(std::uint64_t time, std::uint8_t op, std::uint32_t comm,
                           std::uint32_t root, std::uint64_t sent = 8, std::uint64_t received = 8);
    Events& nb_request(std::uint64_t time, std::uint64_t request);
    Events& nb_complete(std::uint64_t time, std::uint8_t op, std::uint32_t comm, std::uint32_t root,
                        std::uint64_t request, std::uint64_t sent = 8, std::uint64_t received = 8);
    Events& fork(std::uint64_t time, std::uint32_t threads = 2);
    Events& join(std::uint64_t time);
    Events& team_begin(std::uint64_t time, std::uint32_t team);
    Events& team_end(std::uint64_t time, std::uint32_t team);
    Events& acquire_lock(std::uint64_t time, std::uint32_t lock, std::uint32_t order);
    Events& release_lock(std::uint64_t time, std::uint32_t lock, std::uint32_t order);
    Events& flush(std::uint64_t time, std::uint64_t stop);

    /// The library's writer, for record types that have no function here; see note_time.
    OTF2_EvtWriter_struct* writer = nullptr;
    ArchiveBuilder* builder = nullptr;
    std::uint64_t location = 0;
  };
  Events at(std::uint64_t location);

  /// Makes ClockProperties hold this time of a location. The functions of Events do so themselves.
  void note_time(std::uint64_t location, std::uint64_t time);
  /// Last time of a location so far, stop times of flushes included.
  [[nodiscard]] std::uint64_t last_time(std::uint64_t location) const;

  [[nodiscard]] const BuilderOptions& options() const { return options_; }

  /// A snapshot file of a location; implies one snapshot in the anchor.
  OTF2_SnapWriter_struct* snapshot(std::uint64_t location);
  /// The open archive, for everything else (markers, thumbnails).
  [[nodiscard]] OTF2_Archive_struct* archive() const { return archive_; }

  /// Writes definitions and closes. Returns the anchor's path.
  std::filesystem::path finish();

 private:
  struct Place;  // one location: writer, clock offsets, mappings
  std::uint32_t rank(std::uint64_t location, Paradigm paradigm);
  void write_local_definitions();
  void write_global_definitions();
  void set_trace_id(const std::filesystem::path& anchor) const;

  std::filesystem::path directory_;
  BuilderOptions options_;
  OTF2_Archive_struct* archive_ = nullptr;
  OTF2_GlobalDefWriter_struct* global_ = nullptr;
  std::vector<std::unique_ptr<Place>> places_;
  std::map<std::uint64_t, Place*> place_of_;
  std::map<std::string, std::uint32_t> strings_;
  std::vector<std::function<void()>> before_groups_, groups_, after_groups_;
  std::vector<std::function<void(OTF2_GlobalDefWriter_struct*)>> extra_;
  std::map<Paradigm, std::vector<std::uint64_t>> ranks_;  ///< per paradigm: its locations
  std::uint32_t nodes_ = 1, processes_ = 0, regions_ = 0, comms_ = 0, windows_ = 0;
  std::uint32_t group_count_ = k_first_group;
  std::uint64_t first_ = ~std::uint64_t{0}, last_ = 0;
  bool finished_ = false, snapshots_ = false;
};

}  // namespace entrain::test
