# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program under limits, and judges what every run of the tool must keep to."""

import hashlib
import os
import re
import resource
import select
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = os.fspath(Path(__file__).resolve().parents[3]) + os.sep  # of the project
LONGEST_RUN_S = 10
SANITIZED_FACTOR = 6  # how much longer a sanitized program may take
LONGEST_MESSAGE = 400  # characters of one line on standard error
MOST_MEMORY = 1 << 30  # bytes that a run on a small input may hold
ADDRESS_SPACE = 8 << 30
LARGEST_FILE = 1 << 29
WRITTEN = (0, 1, 3)  # exit codes with which correct leaves an archive
# Tabs and line ends are no danger to a terminal; a carriage return hides what stood before.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
REPORTS = re.compile(r"(AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:|"
                     r"ThreadSanitizer)")
TROUBLE = re.compile(r"(internal error|terminate called|what\(\):|std::|Assertion|basic_string)")


@dataclass
class Finding:
    """A rule that a run broke."""
    rule: str
    verb: str
    detail: str
    command: str

    def __post_init__(self) -> None:
        """Paths begin at the project: results are published."""
        self.detail = self.detail.replace(ROOT, "")
        self.command = self.command.replace(ROOT, "")

    def signature(self) -> str:
        """The same for findings that are probably the same defect."""
        text = re.sub(r"[0-9]+", "0", self.detail.split("\n", 1)[0])
        return f"{self.rule} | {self.verb} | {text[:70]}"


@dataclass
class Outcome:
    args: list[str]
    code: int  # minus the signal, if one ended the run
    seconds: float
    peak_bytes: int
    out: str
    err: str
    timed_out: bool = False
    left_process: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    sanitized: bool = False

    def command(self) -> str:
        quoted = " ".join(map(_quoted, self.args))
        return "".join(f"{k}={_quoted(v)} " for k, v in self.environment.items()) + quoted


def _quoted(word: str) -> str:
    if re.fullmatch(r"[\w./=:,+@%-]+", word):
        return word
    if word.isprintable():
        return "'" + word.replace("'", "'\\''") + "'"
    escaped = "".join(c if c.isprintable() and c not in "'\\" else
                      "".join(f"\\x{b:02x}" for b in c.encode(errors="surrogateescape"))
                      for c in word)
    return f"$'{escaped}'"


def tree(folder: Path) -> dict[str, str]:
    """What a folder holds: contents of files, targets of links, kinds of everything else."""
    found: dict[str, str] = {}
    _add_tree(os.fspath(folder), "", found)
    return found


def _add_tree(path: str, name: str, found: dict[str, str]) -> None:
    for entry in os.scandir(path):
        below = name + "/" + entry.name
        if entry.is_symlink():
            found[below] = "link to " + os.readlink(entry.path)
        elif entry.is_dir():
            found[below] = "folder"
            _add_tree(entry.path, below, found)
        elif entry.is_file() and entry.stat().st_size <= 1 << 28:
            with open(entry.path, "rb") as file:
                found[below] = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
        else:
            found[below] = f"mode {entry.stat().st_mode}, {entry.stat().st_size} bytes"


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes behind every name, links followed; but for the tool's mark, which tells links from
    files."""
    return {os.path.relpath(path, folder): Path(path).read_bytes()
            for base, _, names in os.walk(folder, followlinks=True)
            for path in (os.path.join(base, name) for name in names if name != ".entrain-result")}


class Runner:
    """Runs programs in one folder, one after another; not for several threads."""

    def __init__(self, tool: Path, folder: Path, sanitized: bool, suppressions: Path | None = None):
        self.tool, self.folder, self.sanitized = os.fspath(tool), folder, sanitized
        self.limit_s = LONGEST_RUN_S * (SANITIZED_FACTOR if sanitized else 1)
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.streams = folder / "streams"
        self.streams.mkdir(exist_ok=True)
        self.runs = 0
        self.environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8",
                            "TMPDIR": os.fspath(self.temporary), "HOME": os.fspath(folder)}
        if sanitized:
            leaks = f"suppressions={suppressions}:" if suppressions else ""
            self.environment |= {
                "ASAN_OPTIONS": "allocator_may_return_null=1:verify_asan_link_order=0:"
                                "abort_on_error=0:exitcode=86:detect_leaks=1",
                "LSAN_OPTIONS": leaks + "print_suppressions=0:exitcode=86",
                "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=86"}

    def without_leaks(self) -> dict[str, str]:
        """Variables of runs in which no leaks are looked for: the search is a process of its own,
        which signals neither stop nor spare."""
        if not self.sanitized:
            return {}
        options = self.environment["ASAN_OPTIONS"]
        return {"ASAN_OPTIONS": options.replace("detect_leaks=1", "detect_leaks=0")}

    def start(self, program: str, args: list[str], more: dict[str, str]) -> int:
        files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
        for number, name in ((1, "out"), (2, "err")):
            files.append((os.POSIX_SPAWN_OPEN, number, os.fspath(self.streams / name),
                          os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        pid = os.posix_spawnp(program, [program, *args], self.environment | more,
                              file_actions=files, setpgroup=0, setsigmask=[],
                              setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE])
        limits = [(resource.RLIMIT_CPU, int(self.limit_s) + 2), (resource.RLIMIT_CORE, 0),
                  (resource.RLIMIT_FSIZE, LARGEST_FILE)]
        if not self.sanitized:
            limits.append((resource.RLIMIT_AS, ADDRESS_SPACE))
        try:
            for which, value in limits:
                resource.prlimit(pid, which, (value, value))
        except ProcessLookupError:
            pass
        return pid

    def tool_run(self, args: list[str], more: dict[str, str] | None = None, act=None) -> Outcome:
        self.runs += 1
        return self.run(self.tool, args, more or {}, act)

    def run(self, program: str, args: list[str], more: dict[str, str], act=None) -> Outcome:
        """`act(pid, wait)` may disturb the process; wait(seconds) is true once it has ended."""
        began = time.monotonic()
        pid = self.start(program, args, more)
        descriptor = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if act is not None:
                act(pid, lambda seconds: bool(poll.poll(seconds * 1000)))
            ended = bool(poll.poll(max(0.0, began + self.limit_s - time.monotonic()) * 1000))
            if not ended:
                _kill_group(pid, grace=0)
        finally:
            os.close(descriptor)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - began
        code = os.waitstatus_to_exitcode(status)
        if ended and code in (-signal.SIGXCPU, -signal.SIGKILL) and usage.ru_utime + \
                usage.ru_stime > self.limit_s:
            ended = False
        left = _kill_group(pid)
        return Outcome([os.path.basename(program), *args], code, seconds,
                       usage.ru_maxrss * 1024, self._read("out"), self._read("err"),
                       not ended, left and ended, more, self.sanitized)

    def _read(self, name: str) -> str:
        with open(self.streams / name, "rb") as file:
            return file.read(1 << 22).decode("utf-8", "surrogateescape")


def _kill_group(pid: int, grace: float = 0.3) -> bool:
    """Ends what is left of the process group of a run; true if something was left for a while."""
    end = time.monotonic() + grace
    while True:
        try:
            os.killpg(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        if time.monotonic() >= end:
            break
        time.sleep(0.005)
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def judge(outcome: Outcome, allowed: tuple[int, ...], message_may_be_lost: bool = False
          ) -> list[tuple[str, str]]:
    """Rules that the run broke, whatever it did: pairs of rule and detail."""
    err, code = outcome.err, outcome.code
    last = err.strip().rsplit("\n", 1)[-1]
    if outcome.timed_out:
        return [("hang", f"still there after {outcome.seconds:.0f} s")]
    broken = []
    if REPORTS.search(err) or code == 86:
        line = next((one for one in err.split("\n") if REPORTS.search(one)), last)
        summary = next((one for one in err.split("\n") if one.startswith("SUMMARY")), line)
        return [("sanitizer", re.sub(r"0x[0-9a-f]+|==[0-9]+==", "", summary))]
    if code < 0 and code not in allowed:
        return [("crash", f"{_signal_name(-code)}: {last}")]
    if code not in allowed:
        broken.append(("exit code", f"{code}: {last}"))
    if code == 2 and not err.strip() and not message_may_be_lost:
        broken.append(("empty message", "exit code 2 says nothing"))
    if TROUBLE.search(err):
        broken.append(("message", f"talks of its inside: {last}"))
    long = [line for line in err.split("\n") if len(line) > LONGEST_MESSAGE]
    if long:
        broken.append(("message", f"is {len(long[0])} characters long: {long[0][:120]}"))
    for stream, text in (("standard error", err), ("standard output", outcome.out)):
        found = CONTROL.search(text)
        if found:
            around = text[max(0, found.start() - 40):found.end() + 10]
            broken.append(("message", f"control character on {stream}: {around!r}"))
    if outcome.peak_bytes > MOST_MEMORY and not outcome.sanitized:
        broken.append(("memory", f"{outcome.peak_bytes >> 20} MiB"))
    if outcome.left_process:
        broken.append(("process", "left a process behind"))
    return broken


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
