# SPDX-License-Identifier: Apache-2.0
"""What a session of `checkpoint-start` has to show of its servers, whatever engine ran them."""

from steelyard.results.measurement import ComponentResult
from steelyard.results.store import SessionDirectory

from .noise import require_judgeable

RESTORED = "checkpoint-after-app-start"


def servers_seen_restored(directory: SessionDirectory) -> dict[str, list[ComponentResult]]:
    """Servers by arm: those of one arm were restored, by the kernel's account and by their own, and no others."""
    servers: dict[str, list[ComponentResult]] = {}
    for trial in require_judgeable(directory.trials()):
        (server,) = (one for one in trial.components if one.role == "server")
        assert server.read_back.get("checkpoint") == ("restored" if trial.arm == RESTORED else None)
        servers.setdefault(trial.arm, []).append(server)
    logs = list((directory.path / "trials").glob(f"[0-9]*-{RESTORED}*/servers/server-1/logs"))
    assert logs
    for folder in logs:
        assert "CWWKC0451I" in (folder / "checkpoint.log").read_text(encoding="utf-8")
        assert "CWWKC0452I" in (folder / "console.log").read_text(encoding="utf-8")
    return servers
