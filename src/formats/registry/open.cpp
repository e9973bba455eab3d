// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry/open.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/ctf/ctf.hpp"
#include "formats/kineto/kineto.hpp"
#include "formats/kineto/manifest.hpp"
#include "formats/otf2/source.hpp"
#include "formats/paraver/recording.hpp"
#include "formats/recording.hpp"
#include "formats/registry/parts.hpp"
#include "formats/registry/standard_input.hpp"
#include "formats/spans/recording.hpp"
#include "output/mark.hpp"

namespace entrain::formats {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> missing(const fs::path& path) {
  return input_error("cannot open {}: No such file or directory", path.string());
}

/// True for a file that holds a trace in JSON, of Perfetto or of Paraver, or spans, by its name.
/// Tables are judged by their contents, as most are tables of something else; but not if the user
/// says that they are tables of spans.
bool is_trace_file(const fs::path& path, const std::string& columns) {
  if (is_table_name(path)) {
    return !columns.empty() || spans::are_spans(path, columns).value_or(false);
  }
  return is_file_name(path) || paraver::is_trace_name(path);
}

/// The files of a trace in JSON, of Perfetto or of Paraver, or of spans: a file, or those of a
/// folder that holds no OTF2 anchor, in order of their names. Empty: the path is to be read as an
/// OTF2 archive.
Result<std::vector<fs::path>> document_files(const fs::path& path,
                                             const std::string& columns = {}) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    // The reader of archives reports what it cannot read.
    const bool is_one = is_trace_file(path, columns) || paraver::is_trace(path) ||
                        kineto::holds_packets(path) ||
                        spans::are_spans(path, columns).value_or(false);
    return is_one ? std::vector<fs::path>{path} : std::vector<fs::path>{};
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (otf2::is_anchor(it->path())) return std::vector<fs::path>();
    const fs::path name = it->path().filename();
    std::error_code unknown;
    if (name != kineto::k_manifest_name && !it->is_directory(unknown) &&
        is_trace_file(it->path(), columns)) {
      files.push_back(it->path());
    }
  }
  if (error) {
    return input_error("cannot read {}: {}", path.string(), error.message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<bool> may_be_document(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(const bool are_spans, spans::are_spans(file, columns));
  if (are_spans || paraver::is_trace(file)) return true;
  return kineto::may_be_trace(file);
}

tl::unexpected<Error> of_two_kinds(const fs::path& one, const fs::path& other) {
  return usage_error(
      "{} is no trace of the kind that {} is: they are no files of one run; give them separately",
      one.string(), other.string());
}

/// True for a folder of CTF traces. A folder with an OTF2 anchor is an archive whatever else is in
/// it.
bool holds_ctf(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && otf2::anchors_in(path, error).empty() &&
         ctf::holds_traces(path);
}

/// The files of a path, without those of a folder that hold something else; a note names these. If
/// all do, all are kept: their reader says what is wrong. None of a folder of CTF traces; if some
/// are traces, it is refused.
Result<std::vector<fs::path>> chosen_files(const fs::path& path, std::vector<std::string>& notes,
                                           const std::string& columns) {
  TRY_ASSIGN(std::vector<fs::path> files, document_files(path, columns));
  const bool is_ctf = !files.empty() && holds_ctf(path);
  if (files.size() < 2 && !is_ctf) return files;
  std::vector<fs::path> chosen, others;
  for (const fs::path& file : files) {
    TRY_ASSIGN(const bool is_chosen, may_be_document(file, columns));
    (is_chosen ? chosen : others).push_back(file);
  }
  if (is_ctf && !chosen.empty()) {
    return usage_error(
        "{} holds CTF traces, and {} is no part of them: name the file, or the folders of the "
        "traces",
        path.string(), chosen.front().string());
  }
  if (is_ctf) return chosen;
  if (chosen.empty() || others.empty()) return files;
  const char* const what = columns.empty() ? "no events" : "neither events nor these columns";
  notes.push_back(note_of_ignored(others, " of " + path.string(), what));
  return chosen;
}

constexpr const char* k_no_span_table =
    "is no table of spans, whose columns are trace, span, start, and end or duration (--columns "
    "names others); tables of edges are for entrain align";

/// Files that are packed or made for people, by the ends of their names, and what to do.
constexpr std::array<std::pair<std::string_view, const char*>, 11> k_other_files{
    {{".zst", "is packed with zstd; name it .json.zst if it is JSON, else unpack it (zstd -d)"},
     {".gz", "is packed with gzip; name it .json.gz if it is JSON, else unpack it (gunzip)"},
     {".xz", "is packed with xz; unpack it first (xz -d)"},
     {".bz2", "is packed with bzip2; unpack it first (bunzip2)"},
     {".zip", "is a package of files; unpack it first (unzip)"},
     {".tar", "is a package of files; unpack it first (tar xf)"},
     {".tar.gz", "is a package of files; unpack it first (tar xzf)"},
     {".csv", k_no_span_table},
     {".csv.gz", k_no_span_table},
     {".csv.zst", k_no_span_table},
     {".html", "is a page for a browser; name the trace that it shows"}}};

/// A hint for a path that is no trace; "" if nobody knows.
std::string hint_of(const fs::path& path) {
  if (const fs::path anchor = otf2::anchor_around(path); !anchor.empty()) {
    return fmt::format("{} is a part of an archive; name the archive, which is {}", path.string(),
                       anchor.string());
  }
  std::error_code error;
  if (const fs::path folder = ctf::trace_around(path); !folder.empty()) {
    return fmt::format("{} is a part of a CTF trace; name its folder, which is {}", path.string(),
                       folder.string());
  }
  if (!fs::is_regular_file(path, error)) return "";
  const std::string name = path.filename().string();
  const char* hint = nullptr;
  for (const auto& [ending, text] : k_other_files) {
    if (name.ends_with(ending)) hint = text;  // the longest one is the last that fits
  }
  return hint == nullptr ? "" : fmt::format("{} {}", path.string(), hint);
}

constexpr std::size_t k_kinds = 3;  ///< number of values of DocumentKind

bool is_paraver(const fs::path& file) {
  return paraver::is_trace_name(file) || paraver::is_trace(file);
}

/// Kind of a file, without opening it as a whole.
Result<DocumentKind> kind_of(const fs::path& file, const std::string& columns) {
  TRY_ASSIGN(const bool are_spans, spans::are_spans(file, columns));
  if (are_spans) return DocumentKind::spans;
  if (is_paraver(file)) return DocumentKind::paraver;
  std::error_code error;
  if (is_message_name(file) && fs::file_size(file, error) > 0) {
    TRY_ASSIGN(const bool may_be_trace, kineto::may_be_trace(file));
    if (!may_be_trace) {
      return input_error(
          "{} is named as Protobuf, and is no message of OTLP: its begin is damaged, or of another "
          "kind",
          file.string());
    }
  }
  return DocumentKind::trace;
}

bool holds_none(DocumentKind kind, const fs::path& file, const ReadOptions& how) {
  std::error_code error;
  if (fs::file_size(file, error) == 0) return true;
  return kind == DocumentKind::spans   ? spans::holds_none(file, how.max_unpacked, how.columns)
         : kind == DocumentKind::trace ? kineto::holds_none(file, how.max_unpacked)
                                       : false;
}

/// Leaves out the files that `is_empty` names.
template <class IsEmpty>
void leave_out(std::vector<fs::path>& files, const IsEmpty& is_empty,
               std::vector<std::string>& notes) {
  const auto full = [&](const fs::path& file) { return !is_empty(file); };
  const auto empty = std::stable_partition(files.begin(), files.end(), full);
  if (empty == files.end()) return;
  notes.push_back(note_of_ignored(
      std::span(files).subspan(static_cast<std::size_t>(empty - files.begin())), ""));
  files.erase(empty, files.end());
}

/// A file that holds nothing may stand beside files of another kind: an empty list looks like
/// spans. So may a table that the user has not named. Other files of several kinds are refused, and
/// several traces of Paraver: each is one file, with labels beside it. `named`: paths that the user
/// gave.
Result<DocumentKind> choose_kind(std::vector<fs::path>& files, std::span<const fs::path> named,
                                 std::vector<std::string>& notes, const ReadOptions& how) {
  std::array<std::vector<fs::path>, k_kinds> of_kind;
  for (fs::path& file : files) {  // each file is looked at once: it may change meanwhile
    TRY_ASSIGN(const DocumentKind kind, kind_of(file, how.columns));
    of_kind.at(static_cast<std::size_t>(kind)).push_back(std::move(file));
  }
  const auto found = [&] {
    std::vector<std::size_t> kinds{0, 1, 2};
    std::erase_if(kinds, [&](std::size_t kind) { return of_kind.at(kind).empty(); });
    return kinds;
  };
  for (std::size_t kind = 0; kind < k_kinds; ++kind) {
    if (found().size() == 1) break;
    leave_out(
        of_kind.at(kind),
        [&](const fs::path& file) {
          return holds_none(static_cast<DocumentKind>(kind), file, how);
        },
        notes);
  }
  if (found().size() > 1) {
    leave_out(
        of_kind.at(static_cast<std::size_t>(DocumentKind::spans)),
        [&](const fs::path& file) {
          return is_table_name(file) && std::ranges::find(named, file) == named.end();
        },
        notes);
  }
  const std::size_t first = found().front(), last = found().back();
  const DocumentKind kind{static_cast<std::uint8_t>(first)};
  files = std::move(of_kind.at(first));
  if (first != last) {
    return input_error(
        "{} holds {}, but {} does not: they are no files of one run; give them separately",
        files.front().string(),
        kind == DocumentKind::spans ? "spans of services" : "a trace of Paraver",
        of_kind.at(last).front().string());
  }
  if (kind == DocumentKind::paraver && files.size() > 1) {
    return usage_error(
        "{} and {} are traces of Paraver, each of a run of its own; give one of them",
        files[0].string(), files[1].string());
  }
  return kind;
}

/// Whether these are folders of CTF traces. Errors: ErrorKind::usage if only some are.
Result<bool> are_ctf(const Paths& paths) {
  std::array<const fs::path*, 2> last{};  // others, CTF
  for (const fs::path& path : paths) last.at(holds_ctf(path) ? 1 : 0) = &path;
  if (last[0] == nullptr || last[1] == nullptr) return last[0] == nullptr;
  return file_exists(*last[0]) ? of_two_kinds(*last[0], *last[1]) : missing(*last[0]);
}

/// Reads folders of CTF traces.
Result<std::unique_ptr<Source>> open_ctf(const Paths& paths, std::span<const std::string> match) {
  const auto begin = std::chrono::steady_clock::now();
  TRY_ASSIGN(std::unique_ptr<Recording> recording, ctf::read(paths, match));
  recording->finish(begin, {});
  return recording;
}

/// Error for a path that is no table of spans with the columns that the user named. Where nothing
/// else can read a file, it says what the table lacks.
tl::unexpected<Error> no_table(const fs::path& path, const std::string& columns) {
  std::error_code error;
  const bool is_other = !fs::is_regular_file(path, error) || otf2::is_anchor(path) ||
                        is_paraver(path) || may_be_document(path, columns).value_or(true);
  const Result<void> checked = is_other ? Result<void>() : spans::check_table(path, columns);
  if (!checked) return tl::unexpected(checked.error());
  return usage_error("--columns is for tables of spans in CSV, and {} {} none", path.string(),
                     fs::is_directory(path, error) ? "holds" : "is");
}

/// Refuses columns of which no file is a table.
Result<void> check_columns(std::span<const fs::path> files, const std::string& columns) {
  if (columns.empty()) return {};
  for (const fs::path& file : files) {
    if (spans::check_table(file, columns)) return {};
  }
  return no_table(files.front(), columns);
}

/// Contents of files, without files that hold nothing. `named`: paths that the user gave.
Result<Documents> documents_in(std::vector<fs::path> files, std::span<const fs::path> named,
                               std::vector<std::string> notes, const ReadOptions& how) {
  // Not by folders: a copy of all files in one folder is the same run in the same order.
  std::ranges::sort(files, {}, [](const fs::path& one) { return std::pair(one.filename(), one); });
  TRY_ASSIGN(const DocumentKind kind, choose_kind(files, named, notes, how));
  TRY(check_columns(files, how.columns));
  return Documents{.kind = kind, .files = std::move(files), .notes = std::move(notes)};
}

/// Reads files of JSON, of Perfetto and of Paraver, and spans.
Result<std::unique_ptr<Recording>> open_documents(std::vector<fs::path> files,
                                                  std::span<const fs::path> named,
                                                  std::vector<std::string> notes, unsigned threads,
                                                  const ReadOptions& how) {
  TRY_ASSIGN(const Documents documents,
             documents_in(std::move(files), named, std::move(notes), how));
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<Recording> recording;
  if (documents.kind == DocumentKind::paraver) {
    TRY_ASSIGN(recording, paraver::read(documents.files.front(), how.max_unpacked));
  } else if (documents.kind == DocumentKind::spans) {
    TRY_ASSIGN(recording, spans::read(documents.files, threads, how.max_unpacked, how.columns));
  } else {
    TRY_ASSIGN(recording, kineto::read(documents.files, threads, how.max_unpacked));
  }
  recording->finish(begin, documents.notes);
  return recording;
}

/// The files of these paths that hold a trace; empty: none of them is a document. Errors:
/// ErrorKind::usage if only some are, and for columns of which none is a table.
Result<std::vector<fs::path>> documents_at(const Paths& paths, std::vector<std::string>& notes,
                                           const std::string& columns) {
  std::vector<fs::path> files;
  const fs::path* other_kind = nullptr;  // the last one: it may be one argument too many
  for (const fs::path& path : paths) {
    TRY_ASSIGN(const std::vector<fs::path> own, chosen_files(path, notes, columns));
    if (own.empty()) other_kind = &path;
    files.insert(files.end(), own.begin(), own.end());
  }
  if (other_kind != nullptr && !columns.empty()) {
    if (!file_exists(*other_kind)) return missing(*other_kind);
    return no_table(*other_kind, columns);
  }
  if (other_kind == nullptr || files.empty()) return files;
  if (!file_exists(*other_kind)) return missing(*other_kind);
  return of_two_kinds(*other_kind, files.front());
}

/// Refuses paths that are known to be no archives.
Result<void> check_archives(const Paths& paths) {
  for (const fs::path& path : paths) {
    if (const std::string hint = hint_of(path); !hint.empty()) return fail(ErrorKind::usage, hint);
  }
  return {};
}

constexpr const char* k_no_match = "--match is for CTF traces, whose events it names";

bool is_one_file(const Paths& paths) {
  std::error_code error;
  return paths.size() == 1 &&
         (paths.front() == k_standard_input || fs::is_regular_file(paths.front(), error));
}

constexpr const char* k_needs_labels =
    "a trace of Paraver is corrected together with its labels (.pcf, .row); name its file";

/// Opens standard input, which is JSON, or a trace of Perfetto or Paraver.
Result<std::unique_ptr<Source>> open_standard_input(unsigned threads, const ReadOptions& how) {
  constexpr std::string_view k_shown = "standard input";
  TRY_ASSIGN(const fs::path path, standard_input());
  auto source = open_documents({path}, {}, {}, threads, how);
  if (source) {
    (*source)->clocks.name = k_shown;
    (*source)->is_one_file = true;
    (*source)->has_overlay = false;  // nothing could be linked
    if (is_paraver(path)) {
      (*source)->unwritable = k_needs_labels;
    }
    return *std::move(source);
  }
  Error error = source.error();
  for (std::size_t at = 0; (at = error.message.find(path.string(), at)) != std::string::npos;) {
    error.message.replace(at, path.string().size(), k_shown);
  }
  return tl::unexpected(std::move(error));
}

/// True if some of these are results whose correction was unproven. The files beside a manifest
/// have other times than the result.
bool any_unproven_result(Paths paths) {
  std::erase_if(paths, [](const fs::path& path) {
    return path == k_standard_input || file_exists(path / kineto::k_manifest_name) ||
           file_exists(path.parent_path() / kineto::k_manifest_name);
  });
  return any_unproven(paths);
}

Result<std::unique_ptr<Source>> open_any(const Paths& paths, unsigned threads,
                                         const ReadOptions& how) {
  if (std::find(paths.begin(), paths.end(), k_standard_input) != paths.end()) {
    if (paths.size() > 1)
      return usage_error("standard input (-) is one trace: give no others beside it");
    if (!how.match.empty()) return usage_error(k_no_match);
    return open_standard_input(threads, how);
  }
  const bool are_summaries = std::ranges::any_of(paths, is_summary);
  std::vector<std::string> notes;
  std::vector<fs::path> files;
  if (!are_summaries) {
    TRY_ASSIGN(files, documents_at(paths, notes, how.columns));
    if (files.empty()) {
      TRY_ASSIGN(const bool is_ctf, are_ctf(paths));
      if (is_ctf) return open_ctf(paths, how.match);
    }
  }
  if (!how.match.empty()) return usage_error(k_no_match);
  if (are_summaries) return open_summaries(paths, threads, how);
  if (files.empty()) {
    TRY(check_archives(paths));
    return otf2::source_of(paths);
  }
  TRY_ASSIGN(std::unique_ptr<Recording> recording,
             open_documents(std::move(files), paths, std::move(notes), threads, how));
  recording->is_one_file = is_one_file(paths);
  for (const fs::path& path : paths) {
    if (!file_exists(path / kineto::k_manifest_name)) continue;
    recording->notes.push_back(
        fmt::format("{} is for Perfetto and not applied here: times are those of the files",
                    (path / kineto::k_manifest_name).string()));
  }
  recording->clocks.name = shown_name(paths);
  return recording;
}

}  // namespace

Result<std::unique_ptr<Source>> open(const Paths& paths, unsigned threads, const ReadOptions& how) {
  TRY_ASSIGN(std::unique_ptr<Source> source, open_any(paths, threads, how));
  source->set_unproven(any_unproven_result(paths));
  return source;
}

Result<Documents> documents_of(const Paths& paths, const ReadOptions& how) {
  std::vector<std::string> notes;
  TRY_ASSIGN(std::vector<fs::path> files, documents_at(paths, notes, how.columns));
  if (files.empty()) {
    TRY(check_archives(paths));
    const auto absent = std::ranges::find_if_not(paths, file_exists);
    if (absent != paths.end()) return missing(*absent);
  } else {
    TRY_ASSIGN(Documents documents, documents_in(std::move(files), paths, std::move(notes), how));
    documents.is_one_file = is_one_file(paths);
    const std::set<fs::path> chosen(documents.files.begin(), documents.files.end());
    for (const fs::path& path : paths) {
      std::error_code error;
      for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        if (!chosen.contains(it->path())) documents.left_out.push_back(it->path());
      }
    }
    if (documents.kind != DocumentKind::paraver) return documents;
  }
  return usage_error(
      "{} is neither a training run nor spans, and only these are corrected in parts: give all of "
      "it to entrain correct; processes share the work on an OTF2 archive (mpirun -n 4 entrain "
      "correct)",
      paths.front().string());
}

Result<std::unique_ptr<Source>> open(Team& processes, const Paths& paths, unsigned threads,
                                     const ReadOptions& how) {
  TRY_ASSIGN(auto source, agree(processes, open(paths, threads, how)));
  Result<void> shared;
  if (source->given() && processes.size() > 1) {
    shared = usage_error("only OTF2 archives are shared among processes");
  }
  TRY(processes.agree(std::move(shared)));
  return source;
}

Result<void> check_output(const Paths& paths, const fs::path& output, const OutputRule& rule) {
  if (std::ranges::any_of(paths, is_summary)) {
    return usage_error(
        "{} is a summary, which holds no events to write: entrain fit finds the clocks, and "
        "entrain apply writes each part by them",
        std::ranges::find_if(paths, is_summary)->string());
  }
  if (paths.size() == 1 && paths.front() == k_standard_input && !is_file_name(output)) {
    TRY_ASSIGN(const fs::path path, standard_input());
    if (is_paraver(path)) return usage_error(k_needs_labels);
    return usage_error(
        "standard input becomes a file: give it a name that ends in .json, .jsonl, .ndjson, "
        ".pftrace, .pb or .csv");
  }
  const bool is_of_paraver = paths.size() == 1 && is_paraver(paths.front());
  if (paraver::is_trace_name(output) || (is_of_paraver && is_file_name(output))) {
    return usage_error(
        "{} is the name of a file, but a trace of Paraver is written with its labels (.pcf, .row) "
        "into a folder; name one",
        output.string());
  }
  if (!is_file_name(output)) return OutputFolder::check(output, rule);
  if (is_one_file(paths)) return OutputFile::check(output, rule);
  return usage_error("the new trace is a folder, as {} is{}; {} is the name of a file",
                     paths.front().string(), paths.size() == 1 ? "" : ", with the others",
                     output.string());
}

Result<void> require_archive(const fs::path& path) {
  TRY_ASSIGN(const std::vector<fs::path> documents, document_files(path));
  if (documents.empty() && !holds_ctf(path)) return {};
  return input_error(
      "{} is no OTF2 archive, and this verb reads OTF2 archives only; all others but record read "
      "other traces, too",
      path.string());
}

void add_inputs(Inputs& inputs, const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (const auto files = document_files(path); files && !files->empty()) {
    if (is_folder) inputs.add_folder(path);
    for (const fs::path& file : *files) inputs.add_file(file);
  } else if (is_folder) {
    const std::vector<fs::path> anchors = otf2::anchors_in(path, error);
    for (const fs::path& anchor : anchors) otf2::add_inputs(inputs, anchor);
    anchors.empty() ? inputs.add_folder(path) : inputs.add_home(path);  // a folder of CTF traces
  } else if (otf2::is_anchor(path)) {
    otf2::add_inputs(inputs, path);
  } else {
    inputs.add_file(path);
  }
}

}  // namespace entrain::formats
