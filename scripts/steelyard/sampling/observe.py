# SPDX-License-Identifier: Apache-2.0
"""`python -m steelyard.sampling.observe`: samples a component from a container beside it, in one pod.

The two share their process ids and their user, and nothing else is needed: no privilege, nothing of the node. What goes
through it:

    processes of the pod -> the component's main one, by its environment -> the sampler -> standard output, a stream
    an injector's folder: what it says of itself each second, that it is ready -> the same stream
    a FIFO: words of the harness (`WORDS`) -> done and answered in the stream

After the last sample it stays, so that files can be fetched, until it is killed. The environment holds its settings
(`SETTINGS`, a JSON object): fields of `Watched` that are the same in every pod of a kind; `folder` and `work` where
those are not `FOLDER` and `WORK`; `marker` where the value of `MARKER` matters, as without process ids of its own.
"""

import json
import os
import select
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.errors import Exit
from steelyard.process_tree import environment
from steelyard.sampling.output import Stream
from steelyard.sampling.procfs import parse_stat
from steelyard.sampling.sampler import Sampler

SETTINGS = "STEELYARD_OBSERVE"
MARKER = "STEELYARD_COMPONENT"
"""The component's processes have it in their environment, this one has not."""
NAME = "component"
"""What rows call it: its real name is the harness's to know."""
FOLDER = Path("/observed")
"""Where the component's files lie, here; an injector's word to begin is written there."""
WORK = Path("/tmp")
"""Where its own files lie, the FIFO `tell` among them."""
WORDS = "tell"
"""`ID look`: read everything; `ID touch NAME [TEXT]`: write a file of the component;
`ID clock`: only hear it; `ID last`: sample a last time."""
_LISTENS = 0.25
"""Seconds between looks for the component and its files."""
_HEALTH, _READY = "health.jsonl", "ready"


def main_process(own: int, value: str = "") -> tuple[int, str] | None:
    """The oldest process that bears the marker, and the entry of its environment: others are what it started, or what
    was started beside it later."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208 - names as text
        entries = [
            entry for entry in environment(pid) or () if entry.startswith(f"{MARKER}={value}".encode())
        ]
        try:
            started = parse_stat(Path(f"/proc/{pid}/stat").read_bytes()).start
        except (OSError, ValueError):  # gone
            continue
        if pid != own and entries:
            found.append((started, pid, entries[0].decode(errors="surrogateescape")))
    return min(found)[1:] if found else None


class Observer:
    """What runs beside the sampler: finds the component, hears words, follows the files of an injector."""

    def __init__(self, stream: Stream, settings: Mapping[str, Any], waker: int) -> None:
        self._settings = dict(settings)
        self._folder = Path(self._settings.pop("folder", FOLDER))
        self._marker = self._settings.pop("marker", "")
        work = Path(self._settings.pop("work", WORK))
        self.config = work / "sampler.json"
        self._words = work / WORDS
        self._stream = stream
        self._waker = waker
        self._main: tuple[int, str] | None = None
        """The component's main process, and its mark."""
        self._health_read = 0
        self._injects = settings["role"] == "injector"
        self._ready = False
        self._write_config()
        if not self._words.exists():
            os.mkfifo(self._words)

    def run(self) -> None:
        """Until the last word."""
        # Open for writing too: the file does not end when somebody who had a word to say is gone.
        with open(os.open(self._words, os.O_RDWR | os.O_CLOEXEC), "rb", buffering=0) as file:  # noqa: PTH123
            rest = b""
            while True:
                listens = _LISTENS if self._injects or self._main is None else None
                if select.select([file], [], [], listens)[0]:
                    *lines, rest = (rest + file.read(65536)).split(b"\n")
                    if "last" in [self._hear(line.decode(errors="replace")) for line in lines]:
                        return
                self.follow()

    def follow(self) -> None:
        """Look for the component until it is there, and for what an injector has written."""
        if self._main is None:
            self._main = main_process(os.getpid(), self._marker)
            if self._main is not None:
                self._write_config()
        if self._injects and not self._ready and (self._folder / _READY).exists():
            self._ready = True
            self._stream.say("file", _READY)
        if self._injects:
            self._follow_health()

    def _follow_health(self) -> None:
        try:
            with (self._folder / _HEALTH).open("rb") as file:
                file.seek(self._health_read)
                whole, end, _ = file.read().rpartition(b"\n")
        except OSError:
            return
        self._health_read += len(whole + end)
        for line in whole.decode(errors="replace").splitlines():
            self._stream.say("health", line)

    def _hear(self, line: str) -> str:
        """Do as a word says; returns what it was."""
        told = time.time()
        number, _, rest = line.partition(" ")
        word, _, argument = rest.partition(" ")
        if word == "look":
            self._write_config()
        elif word == "touch":
            name, _, content = argument.partition(" ")
            new = self._folder / f"{name}.new"
            new.write_text(content, encoding="utf-8")
            new.replace(self._folder / name)
        elif word == "last":
            os.write(self._waker, b".")
        self._stream.say("heard", f"{number},{told:.6f}")
        return word

    def _write_config(self) -> None:
        """Have the sampler read everything in its next sample."""
        entries = []
        if self._main is not None:
            pid, mark = self._main
            entries = [{**self._settings, "name": NAME, "pid": pid, "mark": mark}]
        new = self.config.with_suffix(".new")
        new.write_text(
            json.dumps({"output": "-", "interval": 1.0, "parent": os.getppid(), "processes": entries}),
            encoding="utf-8",
        )
        new.replace(self.config)


def main() -> int:
    """Observe until the last word, then wait to be killed."""
    wake, waker = os.pipe()
    stream = Stream(1)
    try:
        observer = Observer(stream, json.loads(os.environ[SETTINGS]), waker)
    except (KeyError, ValueError, OSError) as error:
        sys.stderr.write(
            f"observer: cannot start: {SETTINGS} or a folder is not as it should be: {error!r}\n"
        )
        return Exit.BAD_INPUT
    listening = threading.Thread(target=observer.run, daemon=True)
    sampler = Sampler(observer.config, wake, stream)
    listening.start()
    sampler.run()
    # What an injector wrote last is told before the end.
    listening.join()
    observer.follow()
    stream.say("end", f"{time.time():.4f}")
    threading.Event().wait()
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
