# SPDX-License-Identifier: Apache-2.0
"""Java tests wait for states, in `apps/testkit`'s Waiting alone: no other sleep, deadline or stopwatch."""

import re
from pathlib import Path

import pytest

from steelyard.paths import ROOT

pytestmark = pytest.mark.checks
TESTKIT = "apps/testkit/src/main/java/dev/steelyard/testkit"
FORBIDDEN = {
    "sleep": r"Thread\.sleep|\bpark(Nanos|Until)\b",
    "clock": r"\bnanoTime\b|\bcurrentTimeMillis\b",
    "time limit": (
        r"\.waitFor\([^)]|\bassertTimeout|@Timeout\b|\borTimeout\b|\bcompleteOnTimeout\b"
        r"|\.timeout\(|\.connectTimeout\(|\.set(So|Connect|Read)?Timeout\("
    ),
    "unit of a time limit": r"\bTimeUnit\b",
    # The servers' own give up after three seconds, which a test that stood still had waited.
    "time limits of a database's client": r"\"MONGO_HOST\"",
}
ALLOWED = {
    f"{TESTKIT}/Waiting.java": {"sleep": "this is the place", "clock": "this is the place"},
    "apps/acmeair/mongo/src/test/java/dev/steelyard/acmeair/TestDatabase.java": {
        "time limits of a database's client": "this is the place"
    },
    "apps/acmeair/mongo/src/test/java/dev/steelyard/acmeair/settings/SettingsTest.java": {
        "time limits of a database's client": "they are read, and nothing connects"
    },
    "apps/acmeair/server/src/test/java/dev/steelyard/acmeair/server/Deployment.java": {
        "time limits of a database's client": "the place for whole servers"
    },
    "apps/acmeair/server/src/test/java/dev/steelyard/acmeair/server/RequestBytes.java": {
        "clock": "what a server allocates by itself is a rate, which is taken off"
    },
    "apps/bench/src/test/java/dev/steelyard/bench/BehaviourServlet.java": {
        "time limit": "how long an asynchronous answer takes at least; it may take longer",
        "unit of a time limit": "the same",
    },
    "apps/bench/src/test/java/dev/steelyard/bench/BenchModuleTest.java": {
        "clock": "when an operation began, that took this long or longer"
    },
    "apps/daytrader7/src/test/java/dev/steelyard/daytrader7/KilledServerIT.java": {
        "clock": "a slow answer may be an error; no answer has to be quick"
    },
    "apps/olio/geocoder/src/test/java/dev/steelyard/olio/geocoder/GeocoderTest.java": {
        "clock": "the shortest of many answers; the kernel makes each of them long where one is"
    },
    "loadgen/src/test/java/dev/steelyard/loadgen/simulation/WaitingSlotsTest.java": {
        "clock": "one that the test moves, for the event loop and the run",
        "unit of a time limit": "how far it is moved",
    },
}
COMMENT = re.compile(r"\s*(//|\*|/\*)")


def java_tests() -> list[Path]:
    found = [path for path in ROOT.glob("**/src/test/**/*.java") if "target" not in path.parts]
    return sorted({*found, *ROOT.glob("apps/testkit/src/**/*.java")})


def waits(text: str) -> list[tuple[int, str, str]]:
    """Each line that waits or looks at a clock: its number, the name of what it does, and the line."""
    return [
        (number, name, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if not COMMENT.match(line) and not line.startswith("import ")
        for name, pattern in FORBIDDEN.items()
        if re.search(pattern, line)
    ]


def test_java_tests_wait_in_one_place() -> None:
    complaints = []
    used = set()
    for path in java_tests():
        name = path.relative_to(ROOT).as_posix()
        for number, what, line in waits(path.read_text(encoding="utf-8")):
            if what in ALLOWED.get(name, {}):
                used.add((name, what))
            else:
                complaints.append(f"{name}:{number}: {what}: {line}")
    assert not complaints, "wait for a state with Waiting.await:\n" + "\n".join(complaints)
    assert used == {(name, what) for name, allowed in ALLOWED.items() for what in allowed}


@pytest.mark.parametrize(
    "line",
    [
        "Thread.sleep(300);",
        "LockSupport.parkNanos(1_000_000);",
        "assertTrue(process.waitFor(240, SECONDS));",
        "long deadline = System.nanoTime() + LIMIT;",
        "new Fragments(true, stats, System::nanoTime);",
        "long start = System.currentTimeMillis();",
        "String text = received.poll(5, TimeUnit.SECONDS);",
        "assertTimeoutPreemptively(Duration.ofSeconds(5), this::run);",
        "@Timeout(5)",
        "future.orTimeout(5, unit).join();",
        "HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(5))",
        "HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5))",
        "socket.setSoTimeout(100);",
        'Map.of("MONGO_HOST", "127.0.0.1");',
    ],
)
def test_a_wait_is_found(line: str) -> None:
    planted = f"class PlantedTest {{\n  void test() {{\n    {line}\n  }}\n}}\n"
    assert {number for number, _, _ in waits(planted)} == {3}


@pytest.mark.parametrize(
    "line",
    [
        "// Thread.sleep(300) would be too short.",
        'Waiting.await("load came", () -> server.served() > 100);',
        "assertEquals(0, process.waitFor());",
        "assertEquals(60, pause.next(Duration.ofSeconds(1)));",
        'settings.put("requestTimeoutMillis", 300);',
    ],
)
def test_a_state_is_none(line: str) -> None:
    assert waits(f"    {line}\n") == []
