# SPDX-License-Identifier: Apache-2.0
"""Profiles of the sample's sessions: a shop whose second arm pays more for one method. Nothing here was sampled."""

import random
from pathlib import Path

from steelyard.results.profile import RECORD, Profile
from steelyard.results.store import SessionDirectory, write_record

SECONDS, SLICES, RATE = 2.0, 6, 1200.0
TICK = 10_000_000
"""Nanoseconds of a sample."""
_THREAD = "java/lang/Thread.run_[0];com/ibm/ws/threading/internal/ExecutorServiceImpl$Work.run_[j]"
_HTTP = f"{_THREAD};com/ibm/ws/http/channel/internal/HttpServiceContextImpl"
_READ = f"{_HTTP}.read_[j];sun/nio/ch/SocketChannelImpl.read_[j]"
_WRITE = f"{_HTTP}.write_[j];sun/nio/ch/SocketChannelImpl.write_[j]"
_WRAPPER = "com/ibm/ws/webcontainer/servlet/ServletWrapper.service_[j]"
_SERVLET = f"{_THREAD};{_WRAPPER};jakarta/servlet/http/HttpServlet.service_[j]"
_NATIVE = "start_thread;thread_native_entry"
_CART, _SEARCH = f"{_SERVLET};shop/CartServlet.doGet_[j]", f"{_SERVLET};shop/SearchServlet.doGet_[j]"
_JSON = "shop/Json.write_[j];java/lang/StringBuilder.append_[j]"
TOTAL = "shop/Cart.total"
STACKS: dict[str, tuple[float, float]] = {
    f"{_READ};read_[k]": (70, 68),
    f"{_READ};sun/nio/ch/IOUtil.read_[j]": (22, 22),
    f"{_WRITE};writev_[k];tcp_sendmsg_[k]": (84, 85),
    f"{_CART};{TOTAL}_[j]": (40, 150),
    f"{_CART};{TOTAL}_[j];java/math/BigDecimal.add_[j]": (25, 95),
    f"{_CART};{TOTAL}_[j];java/math/BigDecimal.multiply_[j]": (18, 60),
    f"{_CART};shop/Cart.read_[j];java/util/HashMap.get_[j]": (34, 33),
    f"{_CART};{_JSON}": (48, 30),
    f"{_CART};{_JSON};java/lang/AbstractStringBuilder.ensureCapacity_[j]": (16, 6),
    f"{_SEARCH};shop/Index.find_[j];java/util/TreeMap.getEntry_[j]": (95, 96),
    f"{_SEARCH};shop/Index.find_[j];java/lang/String.compareTo_[j]": (61, 60),
    f"{_SEARCH};shop/Index.rank_[j];java/util/TimSort.sort_[j]": (52, 53),
    f"{_SEARCH};shop/Legacy.trim_[j]": (20, 0),
    f"{_SEARCH};{_JSON}": (44, 28),
    f"{_NATIVE};CompileBroker::compiler_thread_loop;C2Compiler::compile_method": (38, 40),
    f"{_NATIVE};GangWorker::run;G1ParTask::work": (30, 31),
}
"""Samples of a slice in the baseline and in every other arm."""


def add_profiles(directory: SessionDirectory, starts: int = 4) -> list[Path]:
    """Write a profile of CPU time for the first two arms, of several starts; the folders of their first starts."""
    rng = random.Random(7)
    firsts = []
    for number, arm in enumerate(arm.name for arm in directory.session().arms[:2]):
        for start in range(1, starts + 1):
            folder = directory.path / "profiles" / arm / ("cpu" if start == 1 else f"cpu-{start}")
            _write_slices(folder / "server-1", number, rng)
            names = [f"cpu-{at}.collapsed" for at in range(SLICES)]
            record = Profile(
                arm=arm,
                event="cpu",
                start=start,
                slice_seconds=SECONDS,
                slices={"server-1": names},
                request_rate=RATE * rng.gauss(1, 0.01),
                throughput_change=-0.02,
            )
            write_record(folder / RECORD, record)
            firsts += [folder] if start == 1 else []
    return firsts


def _write_slices(folder: Path, side: int, rng: random.Random) -> None:
    folder.mkdir(parents=True)
    for at in range(SLICES):
        costs = {stack: round(both[side] * rng.gauss(1, 0.06)) for stack, both in STACKS.items()}
        lines = [f"{stack} {samples * TICK}\n" for stack, samples in costs.items() if samples]
        (folder / f"cpu-{at}.collapsed").write_text("".join(lines), encoding="utf-8")
