// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <entrain/error.hpp>

#include "base/team.hpp"
#include "report/table.hpp"

namespace entrain::cli {

/// Gives descriptors 0 to 2 something to refer to, if the caller closed them: a file of an archive
/// must not become "standard output".
void occupy_standard_descriptors();

/// Writes the result of the run to standard output, all of it. False, with a sentence on standard
/// error, if that fails (full disk, closed pipe). The sentence says where the result of the run is,
/// if that is complete.
[[nodiscard]] bool write_out(std::string_view text);

/// Writes a line to standard error: "entrain: <sentence>", with words and sentences that are too
/// long cut in the middle. Only from the process that speaks for all.
void complain(std::string_view sentence);
/// The same from any process: for what happens to this one alone.
void complain_alone(std::string_view sentence);

/// Says so if the system gave this process fewer threads than it wanted.
void tell_of_refused_threads();

/// Complains about `error` and returns the exit code that belongs to it.
int exit_code_of(const Error& error);

/// Colours if standard output is a terminal that has some and NO_COLOR is not set.
report::Style output_style(bool verbose);
/// From now on output_style() has none: some launchers give a process a terminal of its own, and
/// pass on what it writes there to a file.
void show_no_colours();

/// True if `descriptor` is a terminal that understands escape sequences.
bool is_capable_terminal(int descriptor);

/// The processes of this run, this one alone until set_processes() says otherwise. Call that once,
/// before anything else; `team` must live as long as the program works.
Team& processes();
void set_processes(Team& team);

/// True in the process that speaks for all: the others print nothing.
bool speaks();
/// From now on this process does not speak: all is said, and only MPI has to end. A launcher that
/// saw another process end may stop this one then. From any thread.
void fall_silent();

}  // namespace entrain::cli
