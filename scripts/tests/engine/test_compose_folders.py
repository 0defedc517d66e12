# SPDX-License-Identifier: Apache-2.0
"""Folders of this host that containers write to."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from compose_specs import injector, spec_of

from steelyard.engines.compose.bundle import User
from steelyard.engines.compose.engine import give_folders
from steelyard.results.spec import Component

USER = User(os.getuid() or 1001, os.getgid())


def cached(user: str) -> Component:
    """A server that uses a class cache, as the user of its image or as the harness's."""
    one = spec_of("ping").servers[0]
    assert one.container is not None
    place = one.container.model_copy(update={"user": user})
    return one.model_copy(update={"container": place, "jvm_options": ["-Xshareclasses:cacheDir=${cache}"]})


def test_they_and_a_cache_that_lies_there_belong_to_the_containers_user(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch(mode=0o600)
    before = outside.stat()
    (tmp_path / "cache" / "server").mkdir(parents=True)
    (tmp_path / "cache" / "server" / "classes").touch()
    (tmp_path / "cache" / "server" / "link").symlink_to(outside)
    give_folders(tmp_path, [cached("harness"), injector()], USER)
    for name in ("servers/server-1/logs", "cache/server", "cache/server/classes", "load"):
        assert (tmp_path / name).stat().st_uid == USER.uid, name
    assert outside.stat().st_uid == before.st_uid


def test_nobody_knows_whom_an_image_runs_as(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch(mode=0o600)
    (tmp_path / "cache" / "server").mkdir(parents=True)
    (tmp_path / "cache" / "server" / "link").symlink_to(outside)
    give_folders(tmp_path, [cached("image")], USER)
    assert (tmp_path / "servers" / "server-1" / "logs").stat().st_mode & 0o777 == 0o777
    assert outside.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("user", ["harness", "image"])
def test_a_hard_link_to_a_file_elsewhere_is_not_given_away(tmp_path: Path, user: str) -> None:
    """Where fs.protected_hardlinks is 0, who may write to the folder can name any file of its disk there."""
    outside = tmp_path / "outside"
    outside.touch(mode=0o600)
    before = outside.stat()
    (tmp_path / "cache" / "server").mkdir(parents=True)
    (tmp_path / "cache" / "server" / "link").hardlink_to(outside)
    os.mkfifo(tmp_path / "cache" / "server" / "fifo")  # opened, it would stand still
    give_folders(tmp_path, [cached(user)], USER)
    after = outside.stat()
    assert (after.st_uid, after.st_mode) == (before.st_uid, before.st_mode)


@pytest.mark.parametrize("user", ["harness", "image"])
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    cache, outside = tmp_path / "cache" / "server", tmp_path / "outside"
    (cache / "sub").mkdir(parents=True)
    (cache / "sub" / "classes").touch()
    outside.mkdir(mode=0o700)
    (outside / "classes").touch(mode=0o600)
    before = [path.stat() for path in (outside, outside / "classes")]
    walk = os.fwalk

    def swapped(top: Path) -> Iterator[tuple[str, list[str], list[str], int]]:
        for found in walk(top):
            if top == cache and not (cache / "sub").is_symlink():
                (cache / "sub").rename(cache / "away")
                (cache / "sub").symlink_to(outside)
            yield found

    monkeypatch.setattr(os, "fwalk", swapped)
    give_folders(tmp_path, [cached(user)], USER)
    after = [path.stat() for path in (outside, outside / "classes")]
    assert [(one.st_uid, one.st_mode) for one in after] == [(one.st_uid, one.st_mode) for one in before]
    assert (cache / "sub").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_what_the_images_user_made_is_left_to_it(tmp_path: Path) -> None:
    """An ordinary user's harness may not change what a container made as somebody else."""
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:
        if folder.owner() == "root" and folder.stat().st_mode & 0o055 == 0:
            folder.chmod(0o755)
    as_nobody(lambda: give_folders(tmp_path, [cached("image")], USER))
    made = tmp_path / "servers" / "server-1" / "logs" / "messages.log"
    made.touch(mode=0o600)
    as_nobody(lambda: give_folders(tmp_path, [cached("image")], USER))
    assert made.stat().st_mode & 0o777 == 0o600


def as_nobody(action: Callable[[], None]) -> None:
    """Fails when the action does, done by an ordinary user."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            action()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
