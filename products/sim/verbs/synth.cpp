// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include <fmt/core.h>
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "formats/otf2/format/event_writer.hpp"
#include "formats/otf2/write_archive.hpp"
#include "output/output.hpp"
#include "sim/model/synth_json.hpp"
#include "sim/model/workload.hpp"
#include "sim/model/write_blocks.hpp"
#include "sim/otf2/new_archive.hpp"

namespace entrain {

namespace {

constexpr std::uint64_t k_resolution_hz = 1'000'000'000;
/// Bytes of all buffers together; more only if there are many locations.
constexpr std::size_t k_buffer_memory = std::size_t{128} << 20;
/// Larger ones would not stay in the cache.
constexpr std::size_t k_largest_buffer = std::size_t{64} << 10;

/// Writes the events of one process to its event file. The room sim must not know OTF2, so it
/// reports them through this interface.
class EventFileSink final : public sim::EventSink {
 public:
  EventFileSink(std::filesystem::path path, std::size_t buffer_size)
      : file_(std::move(path), otf2::NewArchive::k_event_chunk, buffer_size) {}

  void enter(std::uint64_t t, std::uint32_t region) override { file_.enter(t, region); }
  void leave(std::uint64_t t, std::uint32_t region) override { file_.leave(t, region); }
  void send(std::uint64_t t, const trace::Message& m) override { file_.mpi_send(t, m); }
  void receive(std::uint64_t t, const trace::Message& m) override { file_.mpi_recv(t, m); }
  void isend(std::uint64_t t, const trace::Message& m, std::uint64_t request) override {
    file_.mpi_isend(t, m, request);
  }
  void isend_complete(std::uint64_t t, std::uint64_t request) override {
    file_.mpi_isend_complete(t, request);
  }
  void irecv_request(std::uint64_t t, std::uint64_t request) override {
    file_.mpi_irecv_request(t, request);
  }
  void irecv(std::uint64_t t, const trace::Message& m, std::uint64_t request) override {
    file_.mpi_irecv(t, m, request);
  }
  void collective_begin(std::uint64_t t) override { file_.mpi_collective_begin(t); }
  void collective_end(std::uint64_t t, const trace::Collective& c) override {
    file_.mpi_collective_end(t, c);
  }
  void nb_request(std::uint64_t t, std::uint64_t request) override {
    file_.nb_collective_request(t, request);
  }
  void nb_complete(std::uint64_t t, const trace::Collective& c, std::uint64_t request) override {
    file_.nb_collective_complete(t, c, request);
  }

  [[nodiscard]] bool ok() const { return file_.ok(); }
  Result<void> close() { return file_.close(); }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] std::uint64_t events() const { return file_.events(); }

 private:
  otf2::EventWriter file_;
};

std::string description_of(const SynthOptions& options) {
  return fmt::format("synthetic trace: pattern {}, seed {}", name_of(options.pattern),
                     options.seed);
}

}  // namespace

Result<SynthReport> synth(const std::filesystem::path& output, const SynthOptions& options,
                          Progress* progress) {
  if (options.format != SynthFormat::otf2) return sim::synth_json(output, options, progress);
  const auto start = std::chrono::steady_clock::now();
  const OutputRule rule{.force = options.force, .inputs = {}};
  TRY(OutputFolder::check(output, rule));
  TRY_ASSIGN(const sim::Workload workload, sim::Workload::plan(options));
  TRY_ASSIGN(otf2::NewArchive archive, otf2::NewArchive::create(output, rule));
  const std::uint32_t processes = workload.layout().processes;
  const std::size_t buffer = std::clamp<std::size_t>(
      k_buffer_memory / processes, otf2::EventWriter::k_least_buffer, k_largest_buffer);
  trace::Definitions definitions = workload.layout().definitions;
  if (progress != nullptr) progress->begin("write", workload.counts().events, "events");
  TRY_ASSIGN(const sim::WrittenFiles written,
             sim::write_in_blocks<sim::EventSink>(
                 {processes, options.threads, progress},
                 [&](std::uint64_t l) {
                   return std::make_unique<EventFileSink>(
                       archive.event_file(static_cast<std::uint32_t>(l)), buffer);
                 },
                 [&](std::uint32_t first, std::span<sim::EventSink* const> sinks,
                     const auto& look) { return workload.run(first, sinks, look); },
                 [&](std::uint32_t l, const EventFileSink& file) {
                   definitions.locations[l].event_count = file.events();
                   return archive.write_local_definitions(l);
                 }));
  definitions.clock.resolution_hz = k_resolution_hz;
  definitions.clock.global_offset = written.span.first;
  definitions.clock.length = written.span.last - written.span.first;
  TRY_ASSIGN(const std::filesystem::path anchor,
             archive.commit(definitions, fmt::format("entrain synth {}", version()),
                            description_of(options)));
  SynthReport report;
  report.archive = anchor.string();
  report.leftovers_removed = archive.leftovers_removed();
  report.pattern = options.pattern;
  report.seed = options.seed;
  report.locations = options.locations;
  report.iterations = workload.iterations();
  report.events = workload.counts().events;
  report.communication_events = workload.counts().communication;
  report.messages = workload.counts().messages;
  report.collectives = workload.counts().collectives;
  report.event_bytes = written.bytes;
  report.span_s =
      static_cast<double>(definitions.clock.length) / static_cast<double>(k_resolution_hz);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace entrain
