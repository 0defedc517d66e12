# SPDX-License-Identifier: Apache-2.0
"""CPU and memory of servers with several processes: what the sampler says beside what the kernel counted.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/own_servers.py [--requests 2000] [NAME ...]

Each server is started in a control group of its own (which needs root, or a group that is ours), loaded with requests
by 4 users, and sampled as in a trial. The kernel's own count is `cpuacct.usage` of that group, or `usage_usec` of
version 2; where there is no such group, what `wait4` tells at the end of a server all of whose processes were waited
for. It prints a table, and exits with 1 where CPU per 1,000 requests differs by more than 2 %. Servers of which a
program is missing are named and left out; give their folders by PATH and PYTHONPATH:

- gunicorn (preforked, renewed after 100 requests): `pip install gunicorn`
- node (cluster, workers that stay; workers that are renewed)
- nginx with two workers, and nginx with PHP-FPM behind it: Debian's `nginx` and `php8.2-fpm`
- a script without `exec`, a launcher's thread, a Java launcher (`ProcessBuilder`), programs that live for one request
"""

import argparse
import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.measure.samples import Samples
from steelyard.processes import Children

SERVERS = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "servers"
LIMIT = 0.02
USERS = 4
PORT = 21900
_GROUP = "steelyard-own-servers"
_START = 60.0
"""Seconds that a server may take to answer."""
_SETTLE = 2.5
"""Seconds before and after the load in which the server is idle: both accounts are read there, more than a sample away
from any use."""
WSGI = """\
import hashlib

def app(environ, start_response):
    hashlib.pbkdf2_hmac("sha512", b"password", b"salt", 800)
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
NGINX = """\
daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off; keepalive_requests 100;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{ listen 127.0.0.1:{port}; {location} }}
}}
"""
PHP = """\
[global]
error_log = {folder}/php.log
daemonize = no
[www]
user = {user}
group = {user}
listen = {folder}/php.sock
pm = static
pm.max_children = 2
pm.max_requests = 200
"""
JAVA = """\
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.concurrent.Executors;

public class Own {
    public static void main(String[] words) throws Exception {
        if (words.length > 1) {
            String java = System.getProperty("java.home") + "/bin/java";
            var builder = new ProcessBuilder(java, "-Xmx64m", words[1], words[0]);
            System.exit(builder.inheritIO().start().waitFor());
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            try (exchange) {
                MessageDigest digest = MessageDigest.getInstance("SHA-512");
                for (int i = 0; i < 800; i++) digest.update(digest.digest());
                exchange.sendResponseHeaders(200, 2);
                exchange.getResponseBody().write("ok".getBytes());
            } catch (java.security.GeneralSecurityException impossible) {
                throw new IllegalStateException(impossible);
            }
        });
        server.start();
    }
}
"""


@dataclass(frozen=True)
class Server:
    """How one is started."""

    command: Callable[[Path, int], list[str]]
    """By its folder and port."""
    needs: str
    """The program without which it cannot be run."""


def _nginx(folder: Path, port: int, location: str) -> list[str]:
    (folder / "nginx.conf").write_text(
        NGINX.format(folder=folder, port=port, location=location), encoding="utf-8"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]


def _static(folder: Path, port: int) -> list[str]:
    (folder / "page").write_text("x" * 20_000, encoding="utf-8")
    # Compressed anew for each request: without work, what is compared would be too little to compare.
    return _nginx(
        folder,
        port,
        f"root {folder}; gzip on; gzip_comp_level 9; gzip_types *; location = / {{ rewrite ^ /page last; }}",
    )


def _php(folder: Path, port: int) -> list[str]:
    (folder / "page.php").write_text(
        "<?php hash_pbkdf2('sha512', 'password', 'salt', 800); echo 'ok';", encoding="utf-8"
    )
    (folder / "php.conf").write_text(PHP.format(folder=folder, user="www-data"), encoding="utf-8")
    web = _nginx(
        folder,
        port,
        f"location / {{ fastcgi_pass unix:{folder}/php.sock; fastcgi_param SCRIPT_FILENAME {folder}/page.php;"
        " fastcgi_param REQUEST_METHOD GET; }",
    )
    socket = f"{folder}/php.sock"
    script = (
        f"php-fpm8.2 -n -y {folder}/php.conf & while ! test -S {socket}; do sleep 0.1; done; chmod 777 {socket}; "
        + " ".join(web)
    )
    return ["sh", "-c", script]


def _gunicorn(folder: Path, port: int) -> list[str]:
    (folder / "own.py").write_text(WSGI, encoding="utf-8")
    words = ["--workers", "2", "--max-requests", "100", "--preload", "--chdir", str(folder)]
    return [sys.executable, "-m", "gunicorn", *words, "--bind", f"127.0.0.1:{port}", "own:app"]


def _java(folder: Path, port: int) -> list[str]:
    (folder / "Own.java").write_text(JAVA, encoding="utf-8")
    return ["java", "-Xmx64m", str(folder / "Own.java"), str(port), str(folder / "Own.java")]


def _node(workers: int, renew: int) -> Callable[[Path, int], list[str]]:
    return lambda _, port: [
        *("env", f"PORT={port}", f"WORKERS={workers}", f"RENEW={renew}"),
        *("node", str(SERVERS / "workers.js")),
    ]


def _python(*words: str) -> Callable[[Path, int], list[str]]:
    return lambda _, port: [sys.executable, str(SERVERS / "workers.py"), str(port), *words]


ALL = {
    "gunicorn, workers renewed": Server(_gunicorn, "gunicorn"),
    "node cluster": Server(_node(2, 0), "node"),
    "node cluster, workers renewed": Server(_node(2, 100), "node"),
    "nginx, 2 workers": Server(_static, "nginx"),
    "nginx and PHP-FPM, renewed": Server(_php, "php-fpm8.2"),
    "script without exec": Server(
        lambda folder, port: ["sh", "-c", " ".join(_python("1", "0", "64")(folder, port)) + "; true"], "sh"
    ),
    "launcher's thread": Server(
        lambda folder, port: [
            sys.executable,
            str(SERVERS / "launcher.py"),
            *_python("2", "0", "64")(folder, port),
        ],
        "sh",
    ),
    "Java launcher (ProcessBuilder)": Server(_java, "java"),
    "a program for each request": Server(_python("2", "50", "16", "--program"), "sh"),
}


class Group:
    """A control group for one server; its count is the kernel's."""

    def __init__(self) -> None:
        one, two = Path("/sys/fs/cgroup/cpuacct"), Path("/sys/fs/cgroup")
        self.is_first = one.is_dir()
        self.folder = (one if self.is_first else two) / f"{_GROUP}-{os.getpid()}"
        self.folder.mkdir()

    def command(self, command: Sequence[str]) -> list[str]:
        """One that runs in the group."""
        return ["sh", "-c", f'echo $$ > {self.folder}/cgroup.procs; exec "$@"', "sh", *command]

    def used(self) -> float:
        """CPU seconds so far."""
        if self.is_first:
            return int((self.folder / "cpuacct.usage").read_text(encoding="ascii")) / 1e9
        lines = (self.folder / "cpu.stat").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec")) / 1e6

    def remove(self) -> None:
        """Once it is empty."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)


def answers(port: int) -> bool:
    """One request, on a connection of its own."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/", headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status == 200
    return False


def load(port: int, requests: int) -> int:
    """So many requests by some users, asked again where a worker that ends does not answer; how many were answered."""
    good: list[int] = []

    def user() -> None:
        for _ in range(requests // USERS):
            while not answers(port):
                time.sleep(0.05)
            good.append(1)

    users = [threading.Thread(target=user) for _ in range(USERS)]
    for one in users:
        one.start()
    for one in users:
        one.join()
    return sum(good)


@contextlib.contextmanager
def sampled(pid: int, mark: str, folder: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """The sampler over a server: where its files are, and what has it read everything in its next sample."""
    config = folder / "sampler.json"
    output = folder / "samples"
    watched = {"name": "server", "pid": pid, "role": "server", "mark": mark}

    def look() -> None:
        config.write_text(
            json.dumps({"output": str(output), "interval": 1.0, "processes": [watched]}), encoding="utf-8"
        )

    look()
    sampler = subprocess.Popen([sys.executable, "-m", "steelyard.sampling", str(config)])
    try:
        yield output, look
    finally:
        sampler.send_signal(signal.SIGTERM)
        sampler.wait()


def weigh(name: str, requests: int, port: int, children: Children) -> tuple[str, float]:
    """A line of the table, and by how much the two accounts of CPU differ."""
    group = Group()
    with tempfile.TemporaryDirectory(prefix="own-") as text:
        folder = Path(text)
        folder.chmod(0o755)  # workers may run as another user
        command = group.command(ALL[name].command(folder, port))
        child = children.spawn(name, command, console=folder / "console.log", cwd=folder)
        try:
            deadline = time.monotonic() + _START
            while not answers(port):
                if child.exit_code() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{name}: {child.read_output()[-2000:]}")
                time.sleep(0.2)
            load(port, requests // 10)
            with sampled(child.pid, child.mark, folder) as (output, look):
                time.sleep(_SETTLE)
                begin, before = time.time(), group.used()
                time.sleep(_SETTLE)
                served = load(port, requests)
                look()
                time.sleep(_SETTLE)
                end, after = time.time(), group.used()
                time.sleep(_SETTLE)
            samples = Samples.load(output)
        finally:
            children.stop([child], grace=5.0)
            group.remove()
    ours = samples.cpu_seconds("server", begin, end)
    memory = samples.memory(["server"], begin, end)
    last = samples.processes["server", "ended"].delta(begin, end)
    if ours is None or not served:
        raise SystemExit(f"{name}: {served} requests, CPU {ours}")
    kernel = after - before
    per, per_kernel = 1000 * ours / served, 1000 * kernel / served
    sizes = [
        f"{size / 2**20:.0f}" if size is not None else "?" for size in (memory.rss_mean, memory.pss_mean)
    ]
    difference = per / per_kernel - 1
    cells = [
        name,
        f"{served}",
        f"{last:.0f}",
        f"{per:.3f}",
        f"{per_kernel:.3f}",
        f"{100 * difference:+.1f} %",
    ]
    return f"| {' | '.join([*cells, *sizes])} |", difference


def _missing(program: str) -> bool:
    if program == "gunicorn":
        return (
            subprocess.run(
                [sys.executable, "-c", "import gunicorn"], capture_output=True, check=False
            ).returncode
            != 0
        )
    return shutil.which(program) is None


def main() -> int:
    """Weigh and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(ALL)}")
    parser.add_argument("--requests", type=int, default=2000)
    options = parser.parse_args()
    write = sys.stdout.write
    write(
        "| server | requests | ended processes | CPU s per 1,000 | by the kernel | difference | RSS, MiB | PSS, MiB |\n"
    )
    write("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
    worst = 0.0
    with Children() as children:
        for number, name in enumerate(options.names or ALL):
            if _missing(ALL[name].needs):
                write(f"{name}: not run, {ALL[name].needs} is not here\n")
                continue
            line, difference = weigh(name, options.requests, PORT + number, children)
            write(f"{line}\n")
            sys.stdout.flush()
            worst = max(worst, abs(difference))
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
