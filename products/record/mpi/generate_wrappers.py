#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers of all MPI calls from the tables mpi_calls.txt and mpi4_calls.txt.

generate_wrappers.py TABLE... OUTPUT_DIR writes
  mpi/real_mpi.hpp      a table of pointers to the library's own functions
  mpi/regions.hpp       one number per call, and their names
  hooks/wrappers.cpp    the interposed functions, as MPI_X and as PMPI_X
  hooks/exports.map     the linker's list of the symbols that the recorder exports
"""

import re
import sys
from pathlib import Path

# Kind -> code before and after the call. `call` is the Call, `result` what the real function
# returned; arguments go by their names in the table.
BEFORE_AND_AFTER = {
    "plain": ("", ""),
    "probe": ("", ""),
    "send": (
        "const Stamp begin = call.time();\n"
        "  const Send send{count, datatype, dest, tag, comm};\n"
        "  const bool written = on_send(call, send);",
        "after_send(call, written, begin, result, send);",
    ),
    "isend": (
        "const Started started = on_isend(call, {count, datatype, dest, tag, comm});",
        "after_isend(call, result, started, request);",
    ),
    "send_init": ("", "after_send_init(result, {count, datatype, dest, tag, comm}, request);"),
    "isendrecv": (
        "const Started sent = on_isend(call, {sendcount, sendtype, dest, sendtag, comm});\n"
        "  const BothWays started = both_ways(sent, on_irecv(call, source, comm), recvcount, "
        "recvtype, source, recvtag);",
        "after_isendrecv(call, result, started, request);",
    ),
    "isendrecv_replace": (
        "const Started sent = on_isend(call, {count, datatype, dest, sendtag, comm});\n"
        "  const BothWays started = both_ways(sent, on_irecv(call, source, comm), count, datatype, "
        "source, recvtag);",
        "after_isendrecv(call, result, started, request);",
    ),
    "recv": ("const OwnStatus own(status);", "after_recv(call, result, source, comm, status);"),
    "irecv": (
        "const Started started = on_irecv(call, source, comm);",
        "after_irecv(call, result, started, request);",
    ),
    "recv_init": ("", "after_recv_init(result, source, comm, request);"),
    "sendrecv": (
        "const OwnStatus own(status);\n  const Stamp begin = call.time();\n"
        "  const Send send{sendcount, sendtype, dest, sendtag, comm};\n"
        "  const bool written = on_send(call, send);",
        "after_send(call, written, begin, result, send);\n"
        "  after_recv(call, result, source, comm, status);",
    ),
    "sendrecv_replace": (
        "const OwnStatus own(status);\n  const Stamp begin = call.time();\n"
        "  const Send send{count, datatype, dest, sendtag, comm};\n"
        "  const bool written = on_send(call, send);",
        "after_send(call, written, begin, result, send);\n"
        "  after_recv(call, result, source, comm, status);",
    ),
    "mprobe": ("", "after_mprobe(call, result, true, comm, message);"),
    "improbe": ("", "after_mprobe(call, result, result == MPI_SUCCESS && *flag != 0, comm, message);"),
    "mrecv": (
        "const OwnStatus own(status);\n  const Matched matched = take_message(message);",
        "after_mrecv(call, result, matched, status);",
    ),
    "imrecv": (
        "const Matched matched = take_message(message);",
        "after_imrecv(call, result, matched, request);",
    ),
    "start": ("on_start(call, 1, request);", ""),
    "startall": ("on_start(call, count, requests);", ""),
    "wait": (
        "Completion done(1, request);\n  const OwnStatus own(status);",
        "done.finished(call, result, 0, status);",
    ),
    "waitall": (
        "Completion done(count, requests);\n  const OwnStatuses own(statuses, count);",
        "done.all(call, result, statuses);",
    ),
    "waitany": (
        "Completion done(count, requests);\n  const OwnStatus own(status);",
        "done.finished(call, result, *index, status);",
    ),
    "waitsome": (
        "Completion done(count, requests);\n  const OwnStatuses own(statuses, count);",
        "done.some(call, result, *outcount, indices, statuses);",
    ),
    "test": (
        "Completion done(1, request);\n  const OwnStatus own(status);",
        "if (*flag != 0) done.finished(call, result, 0, status);\n"
        "  else done.tested(call, result);",
    ),
    "testall": (
        "Completion done(count, requests);\n  const OwnStatuses own(statuses, count);",
        "if (*flag != 0) done.all(call, result, statuses);\n  else done.tested(call, result);",
    ),
    "testany": (
        "Completion done(count, requests);\n  const OwnStatus own(status);",
        "if (*flag != 0) done.finished(call, result, *index, status);\n"
        "  else done.tested(call, result);",
    ),
    "testsome": (
        "Completion done(count, requests);\n  const OwnStatuses own(statuses, count);",
        "if (*outcount != 0) done.some(call, result, *outcount, indices, statuses);\n"
        "  else done.tested(call, result);",
    ),
    "set_errhandler": ("", "after_set_errhandler(errhandler);"),
    "request_free": ("on_request_free(call, request);", ""),
    "cancel": ("on_cancel(request);", ""),
    "new_comm": (
        "const Collective what = new_comm_on(comm);\n  on_collective(call, what);",
        "after_new_comm(call, result, what, comm, newcomm);",
    ),
    "comm_idup": (
        "const Collective what = new_comm_on(comm);\n"
        "  const std::uint64_t number = on_icollective(call, what);",
        "after_comm_idup(call, result, number, what, comm, newcomm, request);",
    ),
    "comm_create_group": (
        "",
        "after_comm_create_group(call, result, comm, tag, newcomm);",
    ),
    "intercomm_create": (
        "",
        "after_intercomm_create(call, result, local_leader, bridge_comm, tag, newcomm);",
    ),
    "foreign_comm": ("", "after_foreign_comm(call, result, newcomm);"),
    "free_comm": (
        "const Freed freed = on_free_comm(comm);",
        "after_free_comm(call, result, freed);",
    ),
    "comm_set_name": ("", "after_comm_set_name(result, comm, comm_name);"),
    "other_request": ("", "after_other_request(result, request);"),
    "new_window": (
        "const Stamp begin = call.time();",
        "after_new_window(call, begin, result, comm, false, win);",
    ),
    "allocate_window": (
        "const Stamp begin = call.time();",
        "after_new_window(call, begin, result, comm, true, win);",
    ),
    "free_window": (
        "const FreedWindow freed = on_free_window(call, win);",
        "after_free_window(call, result, freed);",
    ),
    "win_set_name": ("", "after_win_set_name(result, win, win_name);"),
    "fence": ("on_fence(call, win);", "after_fence(call, assert, win);"),
    "post": ("on_post(call, group, assert, win);", ""),
    "start_epoch": ("", "after_start(call, result, group, assert, win);"),
    "complete": ("on_complete(call, win);", "after_complete(call, win);"),
    "win_wait": ("", "after_win_wait(call, result, true, win);"),
    "win_test": ("", "after_win_wait(call, result, result == MPI_SUCCESS && *flag != 0, win);"),
    "lock": ("on_lock(call, lock_type == MPI_LOCK_EXCLUSIVE, rank, win);", ""),
    "lock_all": ("on_lock(call, false, k_everybody, win);", ""),
    "unlock": ("", "after_unlock(call, result, rank, win);"),
    "unlock_all": ("", "after_unlock(call, result, k_everybody, win);"),
    "flush": ("", "after_flush(call, result, false, rank, win);"),
    "flush_all": ("", "after_flush(call, result, false, k_everybody, win);"),
    "flush_local": ("", "after_flush(call, result, true, rank, win);"),
    "flush_local_all": ("", "after_flush(call, result, true, k_everybody, win);"),
    "win_sync": ("on_win_sync(call, win);", ""),
}

# Kind -> code before a call that waits for others, recorded or not.
WAIT = {
    "probe": "wait_for_message(source, tag, comm);",
    "mprobe": "wait_for_message(source, tag, comm);",
    "recv": "wait_for_message(source, tag, comm);",
    "wait": "wait_for_all(1, request);",
    "waitall": "wait_for_all(count, requests);",
    "waitany": "wait_for_one(count, requests);",
    "waitsome": "wait_for_one(count, requests);",
}

# One-sided operation -> how it begins.
ONE_SIDED = {
    "put": "on_put(call, origin_count, origin_datatype, target_rank, win)",
    "get": "on_get(call, origin_count, origin_datatype, target_rank, win)",
    "accumulate": "on_accumulate(call, origin_count, origin_datatype, target_rank, win)",
    "get_accumulate": "on_fetch(call, origin_count, origin_datatype, result_count, "
    "result_datatype, op, target_rank, win)",
    "fetch_and_op": "on_fetch(call, 1, datatype, 1, datatype, op, target_rank, win)",
    "compare_and_swap": "on_compare_and_swap(call, datatype, target_rank, win)",
}

# Kind -> whole body of the wrapper.
BODY = {
    "init": "return on_init(Region::{name}, [&] {{ return {real}; }});",
    "init_thread": "return on_init(Region::{name}, [&] {{ return {real}; }});",
    "finalize": "return on_finalize([] {{ return {real}; }});",
    "session_init": "on_session_init();\n  return {real};",
    "abort": "on_abort();\n  return {real};",
}

# Operation -> the arguments that decide its volume (hooks/collectives.hpp).
ALL = "sendbuf, sendcount, sendtype, recvcount, recvtype, comm"
V = "sendbuf, sendcount, sendtype, recvcounts, recvtype, comm"
REDUCTION = "sendbuf, count, datatype, comm"
VOLUME = {
    "barrier": "comm",
    "bcast": "count, datatype, root, comm",
    "gather": "sendbuf, sendcount, sendtype, recvcount, recvtype, root, comm",
    "gatherv": "sendbuf, sendcount, sendtype, recvcounts, recvtype, root, comm",
    "scatter": "recvbuf, sendcount, sendtype, recvcount, recvtype, root, comm",
    "scatterv": "recvbuf, sendcounts, sendtype, recvcount, recvtype, root, comm",
    "allgather": ALL,
    "allgatherv": V,
    "alltoall": ALL,
    "alltoallv": "sendbuf, sendcounts, sendtype, recvcounts, recvtype, comm",
    "alltoallw": "sendbuf, sendcounts, sendtypes, recvcounts, recvtypes, comm",
    "allreduce": REDUCTION,
    "reduce": "sendbuf, count, datatype, root, comm",
    "reduce_scatter": "sendbuf, recvcounts, datatype, comm",
    "reduce_scatter_block": "sendbuf, recvcount, datatype, comm",
    "scan": REDUCTION,
    "exscan": REDUCTION,
    "neighbor_allgather": "sendcount, sendtype, recvcount, recvtype, comm",
    "neighbor_allgatherv": "sendcount, sendtype, recvcounts, recvtype, comm",
    "neighbor_alltoall": "sendcount, sendtype, recvcount, recvtype, comm",
    "neighbor_alltoallv": "sendcounts, sendtype, recvcounts, recvtype, comm",
    "neighbor_alltoallw": "sendcounts, sendtypes, recvcounts, recvtypes, comm",
}

PROTOTYPE = re.compile(r"^(\S+)\s+(.*?)(MPI_\w+)\((.*)\)$")
ARGUMENT = re.compile(r"^(.*?)(\w+)((?:\[\d*\])*)$")


class Function:
    """One line of a table; `since` is the version of MPI that it stands below, or 0."""

    def __init__(self, line, since):
        match = PROTOTYPE.match(line)
        if not match:
            raise SystemExit(f"not a prototype: {line}")
        self.since = since
        self.kind, returns, self.name, arguments = match.groups()
        self.returns = returns.strip()
        self.parameters = [a.strip() for a in arguments.split(",")] if arguments else []
        self.arguments = [ARGUMENT.match(p).group(2) for p in self.parameters]

    def pointer(self):
        return f"{self.returns} (*{self.name})({', '.join(self.parameters)}) = nullptr;"

    def real(self):
        return f"real.{self.name}({', '.join(self.arguments)})"

    def hooks(self):
        kind, _, operation = self.kind.partition(":")
        if not operation:
            return BEFORE_AND_AFTER[kind]
        if kind == "one_sided":
            return ONE_SIDED[operation] + ";", ""
        if kind == "one_sided_request":
            return (
                f"const std::uint64_t number = {ONE_SIDED[operation]};",
                "after_request(result, number, win, request);",
            )
        # Calls among neighbours differ from other collectives in one way: no clock session follows.
        if "neighbour" in kind:
            operation = "neighbor_" + operation
            kind = kind.replace("neighbour", "collective")
        volume = f"const Collective what = {operation}({VOLUME[operation]});"
        if kind == "collective_init":
            return volume, "after_collective_init(result, what, request);"
        if kind == "collective":
            return volume + "\n  on_collective(call, what);", "after_collective(call, result, what);"
        return (
            volume + "\n  const std::uint64_t number = on_icollective(call, what);",
            "after_icollective(call, result, number, what, request);",
        )

    def body(self):
        if self.kind in BODY:
            return "  " + BODY[self.kind].format(name=self.name, real=self.real())
        before, after = self.hooks()
        over = ["const CollectiveOver over(comm);"] if self.kind.startswith("collective:") else []
        lines = over + [f"Call call(Region::{self.name});"]
        lines += [WAIT[self.kind]] if self.kind in WAIT else []
        lines += [f"if (!call) return {self.real()};"]
        lines += [before] if before else []
        lines += [f"const {self.returns} result = {self.real()};", "call.done();"]
        lines += [after] if after else []
        lines += ["return result;"]
        return "\n".join("  " + line for line in lines)

    def wrapper(self):
        head = f"{self.returns} {self.name}({', '.join(self.parameters)})"
        tail = head.replace(self.name, "P" + self.name, 1)
        return (
            f'#undef {self.name}\nextern "C" ENTRAIN_EXPORT {head} {{\n{self.body()}\n}}\n'
            f'extern "C" ENTRAIN_EXPORT {tail} __attribute__((alias("{self.name}")));\n'
        )


NOTE = "// Generated from the tables of MPI's calls.\n"


def versions(functions):
    return sorted({f.since for f in functions})


def guarded(functions, write, otherwise=None):
    """The text that `write` makes for each version's functions, compiled for that version only."""
    text = ""
    for since in versions(functions):
        part = write([f for f in functions if f.since == since])
        if since:
            other = f"#else\n{otherwise(since)}" if otherwise else ""
            part = f"#if MPI_VERSION >= {since}\n{part}{other}#endif\n"
        text += part
    return text


def write_for_each(functions):
    name = "ENTRAIN_FOR_EACH_MPI_CALL"
    parts = guarded(
        functions,
        lambda some: f"#define {name}_{some[0].since}(f) \\\n"
        + "".join(f"  f({f.name})\\\n" for f in some)
        + "\n",
        lambda since: f"#define {name}_{since}(f)\n",
    )
    all_parts = " ".join(f"{name}_{since}(f)" for since in versions(functions))
    return f"{parts}#define {name}(f) {all_parts}\n"


def write_real(functions):
    undefined = "".join(f"#undef {f.name}\n" for f in functions)
    members = guarded(functions, lambda some: "".join(f"  {f.pointer()}\n" for f in some))
    return (
        f"{NOTE}#pragma once\n#include <mpi.h>\n{undefined}"
        "namespace entrain::record {\n"
        "/// The library's own functions; null where it has none of that name.\n"
        f"struct RealMpi {{\n{members}}};\nextern RealMpi real;\n}}\n{write_for_each(functions)}"
    )


def write_regions(functions):
    numbers = "".join(f"  {f.name},\n" for f in functions)
    names = "".join(f'    "{f.name}",\n' for f in functions)
    return (
        f"{NOTE}#pragma once\n#include <cstdint>\n"
        "namespace entrain::record {\n"
        f"enum class Region : std::uint32_t {{\n{numbers}  count\n}};\n"
        f"inline constexpr const char* k_region_names[] = {{\n{names}}};\n}}\n"
    )


def write_wrappers(functions):
    head = f'{NOTE}#include "record/hooks/hooks.hpp"\nusing namespace entrain::record;\n\n'
    return head + guarded(functions, lambda some: "\n".join(f.wrapper() for f in some))


def write_exports(functions):
    names = "".join(f"    {f.name}; P{f.name};\n" for f in functions)
    hooks = "MPI_Pcontrol; PMPI_Pcontrol; entrain_*; VT_timesync; vttimesync*; VTTIMESYNC*;"
    return f"{{\n  global:\n{names}    {hooks}\n  local: *;\n}};\n"


def read_table(path):
    since = 0
    functions = []
    for line in path.read_text().splitlines():
        if line.startswith("since "):
            since = int(line.split()[1])
        elif line and line[0] != "#":
            functions.append(Function(line, since))
    return functions


def main():
    *tables, folder = (Path(argument) for argument in sys.argv[1:])
    functions = [function for table in tables for function in read_table(table)]
    for name, text in {
        "mpi/real_mpi.hpp": write_real(functions),
        "mpi/regions.hpp": write_regions(functions),
        "hooks/wrappers.cpp": write_wrappers(functions),
        "hooks/exports.map": write_exports(functions),
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
