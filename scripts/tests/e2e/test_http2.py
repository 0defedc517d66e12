# SPDX-License-Identifier: Apache-2.0
"""What an injector speaks with a real server (nginx) that has HTTP/2 (loadgen/README.md, Declared journeys)."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from waiting import wait_until

from .driver import call, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.full]

CONFIGURATION = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ }}
http {{
  log_format protocol '$server_port $server_protocol';
  access_log {folder}/access.log protocol;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{ready}; return 200 "ready"; }}
  server {{ listen 127.0.0.1:{clear} http2; return 200 "over HTTP/2"; }}
  server {{
    listen 127.0.0.1:{tls} ssl http2;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    return 200 "either";
  }}
}}
"""
WORKLOAD = """\
steelyard: 1
name: page
version: "1"
title: One page
topologies:
  single:
    about: one server
    components:
      server:
        role: server
        process: {command: [nginx]}
    journey: {visits: {home: {steps: [{operation: home, path: /, check: {contains: either}}]}}}
"""


@pytest.fixture
def ports(tmp_path: Path, nginx: None) -> Iterator[dict[str, int]]:
    """Ports of a server that has HTTP/2: in clear text alone, and beside HTTP/1.1 over TLS."""
    program = shutil.which("nginx")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed")
    key, certificate = (str(tmp_path / f"{name}.pem") for name in ("key", "certificate"))
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    ports = {name: free_port() for name in ("ready", "clear", "tls")}
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(folder=tmp_path, **ports), encoding="utf-8")
    with subprocess.Popen([program, "-c", str(configuration), "-e", str(tmp_path / "error.log")]) as server:
        try:
            wait_until(lambda: is_ready(ports["ready"]), "nginx answers")
            yield ports
        finally:
            server.terminate()


def is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/") as answer:
            return bool(answer.status == 200)
    except URLError:
        return False


def try_page(folder: Path, url: str) -> tuple[int, str]:
    """Exit code of a try, and why its operation failed."""
    workload = folder / "page.yaml"
    workload.write_text(WORKLOAD, encoding="utf-8")
    done = call("journey", "try", str(workload), "--url", url, "--json")
    (operation,) = json.loads(done.stdout)
    return done.returncode, operation["message"] or ""


def test_http_1_1_is_spoken_where_a_server_has_both(tmp_path: Path, ports: dict[str, int]) -> None:
    assert try_page(tmp_path, f"https://127.0.0.1:{ports['tls']}") == (0, "")
    log = (tmp_path / "access.log").read_text(encoding="utf-8").splitlines()
    assert f"{ports['tls']} HTTP/1.1" in log


def test_a_server_that_has_http_2_alone_is_an_error_of_the_operation(
    tmp_path: Path, ports: dict[str, int]
) -> None:
    code, message = try_page(tmp_path, f"http://127.0.0.1:{ports['clear']}")
    assert code == 12
    assert message
