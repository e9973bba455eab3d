# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program and measures it: wall and CPU time, or memory by kind."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

TARGET = "{target}"  # in a command: the folder that it writes
SAMPLE_INTERVAL_S = 0.002
SPILL_INTERVAL_S = 0.05  # looking through all mappings costs more than reading one status


class CannotRun(Exception):
    """Something is missing or went wrong: nothing that was measured may be believed."""


@dataclass
class Contestant:
    """A program that is measured, on one trace."""

    name: str
    command: list[str]
    trace: str = ""  # name of the trace it reads; "" if none
    exit_codes: tuple[int, ...] = (0,)
    report: str = ""  # what it prints: "correct", "check", "scan", "stream", "" for nothing
    threads: int = 1
    processes: int = 1
    timed: bool = True  # False: only its memory is measured
    memory: bool = True  # False: its memory is not
    both: bool = False  # True: its runs take so long that time and memory come from the same ones
    most_open_files: int = 0  # soft limit; 0: as it is
    environment: dict[str, str] = field(default_factory=dict)


def say(text: str) -> None:
    os.write(2, (text + "\n").encode())


def run_quietly(command: list[str], exit_codes: tuple[int, ...] = (0,)) -> str:
    """Standard output of a program that must end with one of these codes."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode not in exit_codes:
        raise CannotRun(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def warm(folder: Path) -> None:
    """Reads all files, so that nobody pays for the disk on behalf of the others."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 22):
                    pass


def prepare(target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    if target.exists():
        raise CannotRun(f"{target} cannot be removed")
    subprocess.run(["sync"], check=True)


def start(contestant: Contestant, target: Path, out: IO[bytes], err: IO[bytes]) -> subprocess.Popen:
    command = [str(target) if word == TARGET else word for word in contestant.command]
    limit = contestant.most_open_files

    def limit_files() -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                            env={**os.environ, **contestant.environment},
                            preexec_fn=limit_files if limit else None)


def outcome(contestant: Contestant, child: subprocess.Popen, begin: float, status: int,
            usage: resource.struct_rusage, out: IO[bytes], err: IO[bytes]) -> dict[str, Any]:
    """Times of a program that has just ended, and what it said, if it ended well."""
    wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    out.seek(0)
    err.seek(0)
    if child.returncode not in contestant.exit_codes:
        raise CannotRun(f"{contestant.name}: {' '.join(contestant.command)} ended with "
                        f"{child.returncode}: {err.read().decode(errors='replace').strip()}")
    run = {"wall_s": round(wall, 6), "user_s": round(usage.ru_utime, 4),
           "system_s": round(usage.ru_stime, 4), "max_rss_bytes": usage.ru_maxrss * 1024}
    if contestant.report:
        run.update(kept_of(json.loads(out.read()), contestant))
    return run


def measure_time(contestant: Contestant, target: Path) -> dict[str, Any]:
    """One run without observation: wall time from start to exit."""
    prepare(target)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = start(contestant, target, out, err)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            stop(child)
            raise
        run = outcome(contestant, child, begin, status, usage, out, err)
    shutil.rmtree(target, ignore_errors=True)
    return run


def measure_memory(contestant: Contestant, target: Path
                   ) -> tuple[dict[str, Any], dict[str, int]]:
    """One run under observation: its time, and the largest values seen of each kind of memory."""
    prepare(target)
    peak = MemoryPeak()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        child = start(contestant, target, out, err)
        look_for_spill = 0.0
        try:
            while True:
                ended, status, usage = os.wait4(child.pid, os.WNOHANG)
                if ended:
                    break
                now = time.perf_counter()
                pids = workers_of(child.pid) if contestant.processes > 1 else [child.pid]
                peak.look(pids)
                if now >= look_for_spill:
                    peak.look_for_spill(pids)
                    look_for_spill = now + SPILL_INTERVAL_S
                time.sleep(SAMPLE_INTERVAL_S)
        except BaseException:
            stop(child)
            raise
        run = outcome(contestant, child, begin, status, usage, out, err)
    shutil.rmtree(target, ignore_errors=True)
    return run, peak.values


def stop(child: subprocess.Popen) -> None:
    if child.returncode is None:
        child.send_signal(signal.SIGTERM)
        child.wait()


class MemoryPeak:
    """Largest values seen; anon_bytes is the largest process, anon_sum_bytes all at one moment."""

    KINDS = {"RssAnon": "anon_bytes", "RssFile": "file_bytes", "RssShmem": "shared_bytes"}

    def __init__(self) -> None:
        self.values: dict[str, int] = {name: 0 for name in self.KINDS.values()}
        self.values.update(anon_sum_bytes=0, spill_bytes=0, samples=0)

    def look(self, pids: list[int]) -> None:
        total = 0
        for pid in pids:
            status = read_status(pid)
            for kind, name in self.KINDS.items():
                self.values[name] = max(self.values[name], status.get(kind, 0))
            total += status.get("RssAnon", 0)
        self.values["anon_sum_bytes"] = max(self.values["anon_sum_bytes"], total)
        self.values["samples"] += 1

    def look_for_spill(self, pids: list[int]) -> None:
        """Mapped files without a name: arrays that did not fit into memory."""
        total = 0
        for pid in pids:
            try:
                with open(f"/proc/{pid}/maps", "rb") as file:
                    for line in file:
                        if line.endswith(b" (deleted)\n") and b" /dev/shm/" not in line:
                            begin, end = line.split(b" ", 1)[0].split(b"-")
                            total += int(end, 16) - int(begin, 16)
            except OSError:
                continue  # it has ended meanwhile
        self.values["spill_bytes"] = max(self.values["spill_bytes"], total)


def read_status(pid: int) -> dict[str, int]:
    """Rss lines of /proc/PID/status in bytes; nothing of a process that has ended."""
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            text = file.read().decode()
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        if line.startswith("Rss"):
            kind, value = line.split(":")
            found[kind] = int(value.split()[0]) * 1024
    return found


def workers_of(pid: int) -> list[int]:
    """Processes named entrain among the descendants of a launcher."""
    found, rest = [], [pid]
    while rest:
        parent = rest.pop()
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
            for task in tasks:
                with open(f"/proc/{parent}/task/{task}/children", "rb", buffering=0) as file:
                    rest.extend(int(child) for child in file.read().split())
            with open(f"/proc/{parent}/comm", "rb", buffering=0) as file:
                if file.read().strip() == b"entrain":
                    found.append(parent)
        except OSError:
            continue
    return found


def kept_of(report: dict[str, Any], contestant: Contestant) -> dict[str, Any]:
    """What is kept of a program's JSON; refuses a report that cannot be right."""
    if contestant.report in ("scan", "stream"):
        return report
    check = report["before"] if contestant.report == "correct" else report
    p2p = check["edges"]["p2p"]
    kept: dict[str, Any] = {"events": check["events"], "receives": p2p["count"],
                            "violated_receives": p2p["violations"]}
    if contestant.report == "correct":
        kept["phases_s"] = report["phases_s"]
        kept["passes"] = len(report["passes"])
        if report["verified"]:
            kept["moved_share"] = report["moved_events"] / max(report["compared_events"], 1)
        after = report.get("after") or {}
        if after.get("violations"):
            raise CannotRun(f"{contestant.name}: {after['violations']} violations remain after "
                            "the correction")
    return kept
