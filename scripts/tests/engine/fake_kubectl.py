# SPDX-License-Identifier: Apache-2.0
"""A kubectl that stands for a cluster: `install` makes it, `answer` says what its commands answer.

`python fake_kubectl.py FOLDER ARGUMENTS`: kubectl of a cluster that is a folder, which tests change meanwhile.

    FOLDER/pods/NAME.json   a pod, as the API server tells of it
    FOLDER/answers.sh       what commands answer, by the first part of their arguments that fits
    FOLDER/away             while it is there, the API server does not answer
    FOLDER/asked            all that was asked, a line each

`proxy` lists pods and watches them, on the socket that it is told. All other commands end at once, well unless told
otherwise; `delete` removes pods. The client is a shell script, which answers without starting Python.
"""

import json
import shlex
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any


def install(folder: Path) -> Path:
    """A client `kubectl` in the folder, whose cluster the folder is."""
    client = folder / "kubectl"
    cluster = f'exec {shlex.join([sys.executable, str(Path(__file__)), str(folder)])} "$@"'
    here = shlex.quote(str(folder))
    lines = [
        "#!/bin/sh",
        f'case "$*" in *proxy*) {cluster};; esac',
        f'echo "$*" >>{here}/asked',
        f"if [ -e {here}/answers.sh ]; then . {here}/answers.sh; fi",
        f'case "$*" in *" delete "*) {cluster};; esac',
    ]
    client.write_text("\n".join([*lines, ""]), encoding="utf-8")
    client.chmod(0o755)
    return client


def answer(folder: Path, answers: Mapping[str, str | tuple[int, str]]) -> None:
    """What commands answer from now on, by a part of their arguments: a text, or an exit code and a sentence."""
    cases = []
    for part, told in answers.items():
        code, text = told if isinstance(told, tuple) else (0, told)
        out = ">&2" if code else ""
        cases.append(f"*{shlex.quote(part)}*) printf '%s\\n' {shlex.quote(text)} {out}; exit {code};;")
    new = folder / "answers.new"
    new.write_text("\n".join(['case "$*" in', *cases, "esac", ""]), encoding="utf-8")
    new.replace(folder / "answers.sh")


def asked_of(folder: Path) -> list[str]:
    """The arguments of every command so far."""
    return (folder / "asked").read_text(encoding="utf-8").splitlines()


LOOKS = 0.01
"""Seconds between looks for changes."""


class Folder:
    """A cluster."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def away(self) -> bool:
        return (self._path / "away").exists()

    def pods(self) -> dict[str, Any]:
        return {one.stem: json.loads(one.read_text()) for one in sorted(self._path.glob("pods/*.json"))}

    def delete(self, arguments: str) -> None:
        """Remove the pods that such a command names."""
        kinds, *words = arguments.partition(" delete ")[2].split() or [""]
        for path in self._path.glob("pods/*.json") if "pods" in kinds.split(",") else ():
            if path.stem in words or "--selector" in words[0]:
                path.unlink()


class Server(ThreadingMixIn, UnixStreamServer):
    """The API server behind `kubectl proxy`."""

    daemon_threads = True
    folder: Folder

    def __init__(self, path: str, asked: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(path, asked)
        self.lists: list[dict[str, Any]] = []
        """What was listed, by resource version: a watch begins where its list ended."""


class Asked(BaseHTTPRequestHandler):
    """One question."""

    server: Server

    def do_GET(self) -> None:
        folder, lists = self.server.folder, self.server.lists
        if folder.away():
            self.send_error(502)
            return
        self.send_response(200)
        self.end_headers()
        if "watch=true" not in self.path:
            lists.append(folder.pods())
            told = {"resourceVersion": str(len(lists) - 1)}
            self._tell({"metadata": told, "items": list(lists[-1].values())})
            return
        before = lists[int(self.path.rpartition("resourceVersion=")[2])]
        while not folder.away():
            now = folder.pods()
            for name in before.keys() | now.keys():
                if before.get(name) != now.get(name):
                    kind = "MODIFIED" if name in now else "DELETED"
                    self._tell({"type": kind, "object": now.get(name, before.get(name))})
            before = now
            time.sleep(LOOKS)

    def _tell(self, told: Any) -> None:
        self.wfile.write(json.dumps(told).encode() + b"\n")
        self.wfile.flush()

    def address_string(self) -> str:
        return "a socket"


def main() -> None:
    """What kubectl does."""
    folder, arguments = Folder(Path(sys.argv[1])), sys.argv[2:]
    if "proxy" in arguments:
        (path,) = (one.partition("=")[2] for one in arguments if one.startswith("--unix-socket="))
        server = Server(path, Asked)
        server.folder = folder
        server.serve_forever()
    folder.delete(" ".join(arguments))


if __name__ == "__main__":
    main()
