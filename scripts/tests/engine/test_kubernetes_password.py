# SPDX-License-Identifier: Apache-2.0
"""The Job that makes a Secret with a password: asked of an API server that is made here."""

import base64
import json
import ssl
import subprocess
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fake_site import serving

from steelyard.engines.kubernetes import password
from steelyard.engines.kubernetes.password import make_secret, trust_cluster


class _Api(BaseHTTPRequestHandler):
    """Takes Secrets of one namespace, each name once."""

    made: dict[str, Any]
    asked: list[str]

    def do_POST(self) -> None:
        """One Secret."""
        self.asked.append(f"{self.path} {self.headers['Authorization']}")
        thing = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = thing["metadata"]["name"]
        code = HTTPStatus.CONFLICT if name in self.made else HTTPStatus.CREATED
        if name == "forbidden":
            code = HTTPStatus.FORBIDDEN
        self.made.setdefault(name, thing)
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Nothing."""


@pytest.fixture
def api() -> Iterator[tuple[str, type[_Api]]]:
    handler = type("Api", (_Api,), {"made": {}, "asked": []})
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}", handler


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """What Kubernetes puts into a pod."""
    (tmp_path / "token").write_text("the-token\n", encoding="utf-8")
    (tmp_path / "namespace").write_text("steelyard-acmeair", encoding="utf-8")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=api", "-days", "1"]
    files = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "ca.crt")]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return tmp_path


def test_a_secret_is_made_once_and_is_never_the_same(api: tuple[str, type[_Api]], account: Path) -> None:
    server, seen = api
    assert make_secret("database", server, account)
    first = seen.made["database"]
    assert not make_secret("database", server, account)
    assert seen.made["database"] is first
    assert make_secret("other", server, account)
    words = [seen.made[name]["stringData"]["database_password"] for name in ("database", "other")]
    assert words[0] != words[1]
    assert len(base64.urlsafe_b64decode(words[0])) == 24
    assert first["immutable"] is True
    assert set(seen.asked) == {"/api/v1/namespaces/steelyard-acmeair/secrets Bearer the-token"}


def test_what_goes_wrong_is_one_sentence(account: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
    assert password.main(["database"], environment, account) == 3
    assert password.main(["database"], environment | {"KUBERNETES_SERVICE_PORT": "x"}, account) == 3
    assert password.main(["database"], environment, account / "none") == 3
    for line in capsys.readouterr().err.splitlines():
        assert line.startswith("steelyard: the Secret database could not be made (")
        assert "the-token" not in line


def test_an_authority_without_key_usage_is_taken_as_kubectl_takes_it(account: Path) -> None:
    """Python 3.13 refuses it by default (`VERIFY_X509_STRICT`)."""
    trusted = trust_cluster(account)
    assert trusted.verify_mode == ssl.CERT_REQUIRED
    assert trusted.check_hostname
    assert not trusted.verify_flags & ssl.VERIFY_X509_STRICT
