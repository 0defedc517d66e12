# SPDX-License-Identifier: Apache-2.0
"""The platforms of the tests' images where a base was made without one."""

from pathlib import Path

import platforms
import pytest
from platforms import BASES, missing, narrowed, skip_where_missing

REASON = "apt could not verify trixie's list for ppc64el"
PLAN = {
    "harness": {
        "args": {"BASE_HARNESS": f"{BASES}/harness:trixie@sha256:0"},
        "platforms": ["linux/amd64", "linux/ppc64le"],
    },
    "ping-hotspot": {
        "args": {
            "BASE_HOTSPOT": f"{BASES}/hotspot:17-debian",
            "BASE_MAVEN": "scratch",
            "WORKLOAD": "harness",
        },
        "platforms": ["linux/amd64", "linux/ppc64le"],
    },
}


def test_an_image_has_the_platforms_that_its_bases_have(tmp_path: Path) -> None:
    assert narrowed(PLAN, tmp_path) == PLAN
    (tmp_path / "harness.without").write_text(f"linux/ppc64le {REASON}\n", encoding="utf-8")
    (tmp_path / "maven.without").write_text(f"linux/ppc64le {REASON}\n", encoding="utf-8")
    assert {name: one["platforms"] for name, one in narrowed(PLAN, tmp_path).items()} == {
        "harness": ["linux/amd64"],
        "ping-hotspot": ["linux/amd64", "linux/ppc64le"],
    }
    assert missing(PLAN["harness"], tmp_path) == {
        "linux/ppc64le": f"the base harness was made without linux/ppc64le: {REASON}"
    }


def test_only_what_a_note_names_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "harness.without").write_text(f"linux/ppc64le {REASON}\n", encoding="utf-8")
    monkeypatch.setattr(platforms, "missing", lambda target: missing(target, tmp_path))
    skip_where_missing(*PLAN.values(), platform="linux/amd64")
    skip_where_missing(PLAN["ping-hotspot"], platform="linux/ppc64le")
    with pytest.raises(
        pytest.skip.Exception, match=f"the base harness was made without linux/ppc64le: {REASON}"
    ):
        skip_where_missing(*PLAN.values(), platform="linux/ppc64le")
