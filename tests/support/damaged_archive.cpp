// SPDX-License-Identifier: BSD-3-Clause
#include "support/damaged_archive.hpp"

#include <chrono>
#include <cstdio>
#include <sstream>

#include <entrain/entrain.hpp>

#include "support/small_trace.hpp"

namespace entrain::test {

namespace {

namespace fs = std::filesystem;

constexpr double k_longest_s = 10;
constexpr unsigned k_cases_per_child = 100;

// Sanitizers need the whole address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr rlim_t k_memory = 0;
#else
constexpr rlim_t k_memory = rlim_t{2} << 30;
#endif

bool counts_an_anomaly(const CheckReport& report) {
  for (const auto& [name, count] : report.skipped) {
    if (count > 0) return true;
  }
  for (const auto& [name, count] : report.unmatched) {
    if (count > 0) return true;
  }
  return false;
}

}  // namespace

DamagedArchive::DamagedArchive(const fs::path& scratch) : scratch_(scratch) {
  write_small_trace(folder());
  fs::create_directory(scratch_ / "work");
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (!entry.is_regular_file()) continue;
    files_[fs::relative(entry.path(), folder()).string()] = read_bytes(entry.path());
  }
}

void DamagedArchive::damage(const std::string& file, const Bytes& bytes) {
  write_bytes(folder() / file, bytes);
}

void DamagedArchive::remove(const std::string& file) { fs::remove_all(folder() / file); }

void DamagedArchive::restore() {
  for (const auto& [file, bytes] : files_) {
    if (!fs::exists(folder() / file) || fs::file_size(folder() / file) != bytes.size() ||
        read_bytes(folder() / file) != bytes) {
      write_bytes(folder() / file, bytes);
    }
  }
}

std::string DamagedArchive::complaint_about_error(const std::string& message) const {
  if (message.empty()) return "an empty error message";
  if (message.find('\n') != std::string::npos) return "an error of several lines: " + message;
  if (message.find(folder().string()) == std::string::npos) {
    return "an error that names no file: " + message;
  }
  return "";
}

std::string DamagedArchive::correct(std::uint64_t variant) {
  CorrectOptions options;
  options.check.threads = 1;
  options.mode = variant % 2 == 0 ? WriteMode::rewrite : WriteMode::overlay;
  const fs::path output = scratch_ / "work" / "out";
  const auto corrected = entrain::correct(folder(), output, options);
  std::string complaint;
  if (!corrected) {
    complaint = complaint_about_error(corrected.error().message);
    const auto left = entries_of(scratch_ / "work");
    if (complaint.empty() && !left.empty()) complaint = "a failed correction left " + left[0];
  } else if (!fs::exists(output / "traces.otf2")) {
    complaint = "a correction without output";
  }
  for (const auto& name : entries_of(scratch_ / "work")) fs::remove_all(scratch_ / "work" / name);
  return complaint;
}

Verdict DamagedArchive::judge(std::uint64_t variant) {
  Verdict verdict;
  const auto before = digest_tree(folder());
  const auto start = std::chrono::steady_clock::now();
  CheckOptions options;
  options.threads = 1;
  const auto report = entrain::check(folder(), options);
  verdict.refused = !report;
  if (report) {
    verdict.diagnosed = counts_an_anomaly(*report);
  } else {
    verdict.complaint = complaint_about_error(report.error().message);
  }
  const std::string of_correct = correct(variant);
  if (verdict.complaint.empty()) verdict.complaint = of_correct;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (seconds > 2 * k_longest_s) verdict.complaint = "took " + std::to_string(seconds) + " s";
  if (digest_tree(folder()) != before) verdict.complaint = "the input was changed";
  return verdict;
}

namespace {

/// One child's share of a series. Standard error tells the case in work, standard output the
/// results: a line "refused diagnosed" of numbers, then complaints.
int run_share(const fs::path& scratch, unsigned begin, unsigned end,
              const std::function<std::string(DamagedArchive&, unsigned)>& damage) {
  DamagedArchive archive(scratch);
  unsigned refused = 0, diagnosed = 0;
  std::string complaints;
  for (unsigned n = begin; n < end; ++n) {
    const std::string what = damage(archive, n);
    std::fprintf(stderr, "case %u: %s\n", n, what.c_str());
    const Verdict verdict = archive.judge(n);
    archive.restore();
    refused += verdict.refused ? 1 : 0;
    diagnosed += verdict.diagnosed ? 1 : 0;
    if (verdict.complaint.empty()) continue;
    complaints += "case " + std::to_string(n) + " (" + what + "): " + verdict.complaint + "\n";
  }
  std::printf("%u %u\n%s", refused, diagnosed, complaints.c_str());
  return 0;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1);
}

}  // namespace

SeriesOutcome run_series(unsigned count,
                         const std::function<std::string(DamagedArchive&, unsigned)>& damage) {
  SeriesOutcome total;
  for (unsigned begin = 0; begin < count; begin += k_cases_per_child) {
    const unsigned end = std::min(count, begin + k_cases_per_child);
    const TempFolder scratch;  // here, so that it goes even if the child crashes
    const auto outcome = run_in_child([&] { return run_share(scratch.path(), begin, end, damage); },
                                      {.timeout_s = 100, .address_space = k_memory});
    total.cases += end - begin;
    if (outcome.exit_code != 0) {
      total.problems += "signal " + std::to_string(outcome.signal) + ", exit code " +
                        std::to_string(outcome.exit_code) + " at or before " +
                        last_line(outcome.err);
      continue;
    }
    std::istringstream out(outcome.out);
    unsigned refused = 0, diagnosed = 0;
    out >> refused >> diagnosed;
    total.refused += refused;
    total.diagnosed += diagnosed;
    std::string line;
    std::getline(out, line);
    while (std::getline(out, line)) total.problems += line + '\n';
  }
  return total;
}

}  // namespace entrain::test
