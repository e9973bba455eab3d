// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

/// The checks that the fuzzers make with their bytes. Everything here is plain C++, so that
/// tests/regress can run the same code over stored inputs without a fuzzer.
namespace entrain::fuzz {

using Input = std::span<const std::uint8_t>;

/// How often a target asks the OTF2 library, which takes a child process each time.
enum class Compare { sometimes, always };

/// An input is one event file, cut into chunks where it says k_cut: every piece but the last is
/// filled up to the chunk size. It is read as the event file of two locations, one of which maps
/// its ids. The scan must end in an error that names the file or in a plausible skeleton, the
/// same one that the library reads if that can read the input. An archive that lost records must be
/// refused likewise, or hold what the skeleton has after the same loss.
void event_file(Input input, Compare compare);

/// The first byte chooses: global definitions, local definitions or anchor. The rest is the file.
void definitions(Input input, Compare compare);

/// A little program of 5-byte instructions that writes events of three processes; or, if it begins
/// with k_raw, two event files separated by k_cut. The archive is checked, corrected in both modes
/// and checked again: a correction without an error leaves no violation (README.md says when it
/// may). Of two raw files it need not be so.
void correction(Input input, Compare compare);

/// The first byte chooses: a table of edges, or of clocks. The rest is the table, as CSV or as JSON
/// lines: refused in a sentence that names it, or its edges are aligned. The number of threads that
/// read it makes no difference.
void edge_table(Input input, Compare compare);

/// The table of --apply, with times in column t and clocks in column c: refused in a sentence that
/// names it, or copied. A copy whose times stay is copied as it is.
void mapped_table(Input input, Compare compare);

/// A file, plain or packed: refused in a sentence that names it, or the same text however it is
/// read, also when it is written again.
void packed_text(Input input, Compare compare);

/// The first byte chooses: a file of VT_CONFIG, or lines of variables. What is added are
/// variables of clock synchronisation.
void vt_config(Input input, Compare compare);

/// Files of Chrome JSON, of Perfetto, or of spans, separated by k_cut: refused in a sentence, or
/// checked and corrected, which leaves no violation, unless times lie too far apart. Written with
/// other clocks, they differ in times only and come back with these.
void training_run(Input input, Compare compare);
void perfetto_run(Input input, Compare compare);
void spans(Input input, Compare compare);
/// The same of a trace of Paraver, whose records may stand in another order.
void paraver_trace(Input input, Compare compare);
/// The same of CTF traces: metadata and stream of each host in turn, separated by k_cut. Their
/// streams stay, and the clocks of their metadata get the frequencies and offsets that were told.
void ctf_traces(Input input, Compare compare);

/// The first byte chooses: a summary or fitted clocks, as a file or as what is packed in it, and
/// the part that the clocks are applied to. Refused in a sentence, or fitted or applied, which
/// refuses in a sentence.
void part_files(Input input, Compare compare);
/// First inputs of this target: name -> bytes.
std::map<std::string, std::string> part_file_seeds();

/// Topologies as JSON and as DOT: refused in a sentence that names the file, or every method's plan
/// for them holds and they come back from their own DOT.
void net_json(Input input, Compare compare);
void net_dot(Input input, Compare compare);

/// A parameter file: refused, or simulations with and without skipping come to the same end.
void net_parameters(Input input, Compare compare);

/// The first byte chooses a topology, with its highest bit set routes are as wild as the rest;
/// then 3 bytes per message. The verifier gives a verdict with its reason, and agrees with the
/// bound on what precedes what.
void net_schedule(Input input, Compare compare);

inline constexpr char k_cut[] = "CHNK";
inline constexpr std::uint8_t k_raw = 0xFF;

/// A target by the name of its function; nullptr for others.
using Target = void (*)(Input, Compare);
Target target_of(const std::string& name);

/// First inputs for the targets: name of target / name of input -> bytes. `examples` is the folder
/// of recorded traces.
std::map<std::filesystem::path, std::vector<std::uint8_t>> seeds(
    const std::filesystem::path& examples);

}  // namespace entrain::fuzz
