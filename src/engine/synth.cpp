// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <mutex>

#include <fmt/core.h>
#include <entrain/entrain.hpp>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/event_writer.hpp"
#include "formats/otf2/write/new_archive.hpp"
#include "formats/otf2/write/write_archive.hpp"
#include "output/output.hpp"
#include "sim/synth_json.hpp"
#include "sim/workload.hpp"

namespace entrain {

namespace {

constexpr std::uint64_t k_resolution_hz = 1'000'000'000;
/// Bytes of all buffers together; more only if there are many locations.
constexpr std::size_t k_buffer_memory = std::size_t{128} << 20;
/// Larger ones would not stay in the cache.
constexpr std::size_t k_largest_buffer = std::size_t{64} << 10;
/// Events of a worker between two looks at progress and errors.
constexpr std::uint64_t k_batch = std::uint64_t{1} << 18;

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

  otf2::EventWriter& file() { return file_; }

 private:
  otf2::EventWriter file_;
};

/// A run of synth().
class Generator {
 public:
  Generator(const sim::Workload& workload, const otf2::NewArchive& archive,
            const SynthOptions& options, Progress* progress)
      : workload_(workload),
        archive_(archive),
        progress_(progress),
        definitions_(workload.layout().definitions),
        blocks_(std::min<std::size_t>(worker_count(options.threads), workload.layout().processes)),
        threads_(options.threads) {}

  /// Writes the files of all locations: a block of neighbours per thread, each with a run of the
  /// program of its own, so that no thread waits for another one.
  Result<void> write() {
    if (progress_ != nullptr) progress_->begin("write", workload_.counts().events, "events");
    return parallel_for(threads_, blocks_, [&](std::size_t block) -> Result<void> {
      const std::uint64_t processes = workload_.layout().processes;
      return write_block(static_cast<std::uint32_t>(processes * block / blocks_),
                         static_cast<std::uint32_t>(processes * (block + 1) / blocks_));
    });
  }

  /// Numbers of events and the range of times, in the archive as written.
  const trace::Definitions& definitions() {
    definitions_.clock.resolution_hz = k_resolution_hz;
    definitions_.clock.global_offset = span_.first;
    definitions_.clock.length = span_.last - span_.first;
    return definitions_;
  }
  [[nodiscard]] std::uint64_t event_bytes() const { return event_bytes_; }

 private:
  Result<void> write_block(std::uint32_t first, std::uint32_t last) {
    const std::size_t buffer =
        std::clamp<std::size_t>(k_buffer_memory / workload_.layout().processes,
                                otf2::EventWriter::k_least_buffer, k_largest_buffer);
    std::vector<std::unique_ptr<EventFileSink>> files;
    std::vector<sim::EventSink*> sinks;
    for (std::uint32_t l = first; l < last; ++l) {
      files.push_back(std::make_unique<EventFileSink>(archive_.event_file(l), buffer));
      sinks.push_back(files.back().get());
    }
    const std::uint64_t each =
        std::max<std::uint64_t>(workload_.counts().events / workload_.layout().processes *
                                    (last - first) / workload_.iterations(),
                                1);
    std::uint64_t since = 0;
    const auto look = [&]() -> Result<void> {
      since += each;
      return since < k_batch ? Result<void>() : report(files, since);
    };
    TRY_ASSIGN(const sim::WorkloadSpan span, workload_.run(first, sinks, look));
    TRY(report(files, since));
    return finish_block(first, files, span);
  }

  /// Reports `events` more and sets it back to 0. Errors: interrupted; a failed write, which is
  /// found when it is closed.
  Result<void> report(const std::vector<std::unique_ptr<EventFileSink>>& files,
                      std::uint64_t& events) {
    if (progress_ != nullptr) {
      progress_->advance(events);
      TRY(Cancel(progress_).check());
    }
    events = 0;
    for (const auto& file : files) {
      if (!file->file().ok()) return file->file().close();
    }
    return {};
  }

  Result<void> finish_block(std::uint32_t first,
                            const std::vector<std::unique_ptr<EventFileSink>>& files,
                            const sim::WorkloadSpan& span) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      otf2::EventWriter& file = files[i]->file();
      TRY(file.close());
      TRY(archive_.write_local_definitions(first + i));
      definitions_.locations[first + i].event_count = file.events();
      bytes += file.size();
    }
    const std::lock_guard lock(mutex_);
    span_ = span;  // the same for every block
    event_bytes_ += bytes;
    return {};
  }

  const sim::Workload& workload_;
  const otf2::NewArchive& archive_;
  Progress* progress_;
  trace::Definitions definitions_;
  std::size_t blocks_;
  unsigned threads_;
  std::mutex mutex_;
  sim::WorkloadSpan span_;
  std::uint64_t event_bytes_ = 0;
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
  Generator generator(workload, archive, options, progress);
  TRY(generator.write());
  const trace::Definitions& definitions = generator.definitions();
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
  report.event_bytes = generator.event_bytes();
  report.span_s =
      static_cast<double>(definitions.clock.length) / static_cast<double>(k_resolution_hz);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace entrain
