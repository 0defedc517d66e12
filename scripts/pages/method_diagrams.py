# SPDX-License-Identifier: Apache-2.0
"""Diagrams of the method: session, trial, interval, warm-up, false alarms, search, host states."""

import json
import math
import random
from pathlib import Path

from pages.svg import Drawing

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
FALSE_ALARMS = RESULTS / "false-alarms.json"
"""Made by `scripts/bench/false_alarms.py`."""
NARROW = 480
"""Pixels of what the README shows: its words can be read on a screen of 390 pixels, which shows it three quarters as
large."""


def draw_session() -> Drawing:
    """Blocks, arms in random order, a void trial and its repeat."""
    d = Drawing(
        760,
        250,
        "A session: four blocks of two arms in random order; a void trial is repeated as a pair",
    )
    d.text(20, 32, "One session of two arms, A and B", "large")
    orders = ["AB", "BA", "BA", "AB"]
    for number, order in enumerate(orders):
        x = 20 + 140 * number
        d.rect(x, 62, 130, 92, "box soft", 6)
        d.text(x + 65, 80, f"block {number + 1}", "small faint", "middle")
        for place, arm in enumerate(order):
            void = (number, arm) == (2, "B")
            left = x + 10 + 58 * place
            d.rect(left, 90, 52, 50, "idle" if void else ("a" if arm == "A" else "b"))
            d.text(left + 26, 121, arm, "strong" if void else "strong on", "middle")
            if void:
                d.path([(left + 4, 94), (left + 48, 136)], "s-bad thick")
                d.text(left + 26, 172, "void", "small bad", "middle")
    x = 20 + 140 * 4
    d.rect(x, 62, 160, 92, "box soft", 6)
    d.text(x + 80, 80, "repeat of block 3", "small faint", "middle")
    for place, arm in enumerate("AB"):
        left = x + 22 + 62 * place
        d.rect(left, 90, 54, 50, "a" if arm == "A" else "b")
        d.text(left + 27, 121, arm, "strong on", "middle")
    d.arrow([(20, 196), (740, 196)])
    d.text(740, 214, "time", "small faint", "end")
    d.text(20, 218, "Each square is a trial: a fresh start, warm-up, measurement, stop.", "small")
    d.text(
        20,
        237,
        "A and B of one block are compared. The void trial is repeated together with its partner.",
        "small",
    )
    return d


def draw_trial() -> Drawing:
    """The phases of a steady trial over its throughput."""
    d = Drawing(760, 300, "One trial on a time line: start, data, ramp, warm-up, measurement, stop")
    d.text(20, 32, "One trial of the procedure steady", "large")
    phases = [
        ("start", 80),
        ("load data", 90),
        ("ramp", 60),
        ("warm-up", 250),
        ("measurement", 150),
        ("stop", 70),
    ]
    x = 30.0
    edges = {}
    for number, (name, width) in enumerate(phases):
        d.rect(x, 225, width - 3, 30, "a" if name == "measurement" else ("idle" if number % 2 else "soft"), 3)
        d.text(x + width / 2, 245, name, "small on strong" if name == "measurement" else "small", "middle")
        edges[name] = (x, x + width)
        x += width
    first, end = edges["ramp"][0], edges["stop"][0]
    noise = random.Random(4)
    points = [(30.0, 205.0), (first, 205.0)]
    for step in range(int(end - first) // 4):
        rise = 1 - math.exp(-step / 22)
        points.append((first + 4 * step, 205 - 105 * rise + noise.uniform(-3, 3)))
    points += [(end, 205.0), (x, 205.0)]
    d.path(points, "s-a")
    d.text(34, 64, "requests per second", "small faint")
    warm = edges["warm-up"]
    for at, label in ((warm[1] - 60, "look 1"), (warm[1], "look 2")):
        d.path([(at, 80), (at, 222)], "dashed")
        d.text(at, 76, label, "small faint", "middle")
    d.text(30, 277, "The warm-up ends when two looks, 13 s apart, both find the last 60 s flat.", "small")
    d.text(30, 293, "Only the measurement enters the averages. It is judged by the same rule.", "small")
    return d


def draw_interval() -> Drawing:
    """Four intervals and what is said of each."""
    d = Drawing(760, 330, "How to read an interval: beyond noise, within noise, and too wide to tell")
    d.text(20, 32, "The change of B against A: estimate and 95 % interval", "large")
    zero, unit = 320.0, 11.0
    d.path([(zero, 52), (zero, 290)], "dashed")
    d.text(zero, 308, "no change", "small faint", "middle")
    for tick in (-20, -10, 10):
        d.text(zero + unit * tick, 308, f"{tick:+d} %", "small faint", "middle")
    rows = (
        (-18, -12, -6, "good", "beyond noise", "it leaves out zero: B is lower"),
        (-2, 1.5, 5, "a", "within noise", "a change above 5 % is ruled out"),
        (-21, -4, 15, "b", "within noise", "too wide: much could be hiding"),
        (3, 7, 11, "bad", "beyond noise", "it leaves out zero: B is higher"),
    )
    for number, (low, mean, high, role, verdict, words) in enumerate(rows):
        y = 78 + 58 * number
        d.path([(zero + unit * low, y), (zero + unit * high, y)], f"s-{role} thick")
        d.circle(zero + unit * mean, y, 6, role)
        d.text(510, y - 8, verdict, f"strong {role}")
        d.lines(510, y + 10, [f"{mean:+g} % ({low:+d} to {high:+d} %)", words], "small", step=17)
    return d


def draw_warm_up() -> Drawing:
    """What a steady minute is, and what is not."""
    d = Drawing(760, 280, "A warm-up curve: refused while it rises, a dip left out, accepted when flat")
    d.text(20, 32, "When is a server warm?", "large")
    noise = random.Random(2)
    points = []
    for second in range(230):
        level = 150 * (1 - math.exp(-second / 38)) + noise.uniform(-3, 3)
        level -= 60 if second in (186, 187) else 0
        points.append((40 + 3 * second, 220 - level))
    d.rect(40 + 3 * 20, 50, 180, 172, "soft", 3)
    d.text(40 + 3 * 50, 66, "refused: still rising", "small bad", "middle")
    d.rect(40 + 3 * 160, 50, 180, 172, "soft", 3)
    d.text(40 + 3 * 190, 66, "accepted: flat", "small good", "middle")
    d.path(points, "s-a")
    d.text(40 + 3 * 187, 146, "dip: left out", "small faint", "middle")
    d.path([(40, 222), (735, 222)])
    d.text(40, 240, "0 s", "small faint")
    d.text(735, 240, "about 4 min", "small faint", "end")
    d.text(
        20,
        266,
        "Flat: no change point, no slope above 1 %/min, and a quiet JIT compiler.",
        "small",
    )
    return d


def draw_false_alarms() -> Drawing:
    """What three designs find where there is nothing to find; narrow enough for a telephone."""
    data = json.loads(FALSE_ALARMS.read_text(encoding="utf-8"))
    designs, runs = data["designs"], data["runs"]
    d = Drawing(NARROW, 376, "False alarms of three designs on a drifting host, from simulation")
    d.text(16, 32, "How often do two equal builds look different?", "large")
    d.lines(
        16,
        54,
        [
            "On a host that drifts by 2 %, with tests at 5 %;",
            f"{data['sessions']:,} simulated sessions for each bar.",
        ],
        "small faint",
        step=17,
    )
    left, scale = 122.0, 3.7
    y = 104.0
    for design in designs:
        d.text(16, y, design["name"], "strong")
        for number, share in enumerate(design["false_alarms"]):
            at = y + 8 + 19 * number
            role = "good" if design["name"].startswith("random") else "bad"
            width = max(2.0, scale * 100 * share)
            d.text(left - 8, at + 12, f"{runs[number]} runs a side", "small faint", "end")
            d.rect(left, at, width, 15, role, 2)
            d.text(left + width + 6, at + 12, f"{100 * share:.0f} %", "small")
        d.path([(left + scale * 5, y + 4), (left + scale * 5, y + 65)], "dashed")
        y += 88
    d.text(left + scale * 5, y - 8, "5 %: what the test promises", "small faint", "start")
    return d


def draw_search() -> Drawing:
    """Doubling, halving, confirming."""
    d = Drawing(
        760, 280, "A search doubles until a trial fails, halves the distance, and confirms both sides"
    )
    d.text(20, 32, "A search for the most users", "large")
    tried = [
        (50, True),
        (100, True),
        (200, True),
        (400, False),
        (283, True),
        (336, False),
        (283, True),
        (336, False),
    ]
    for value in (50, 100, 200, 400):
        y = 230 - 55 * math.log2(value / 50)
        d.path([(60, y), (740, y)], "dashed")
        d.text(52, y + 4, str(value), "small faint", "end")
    places = [(110 + 84 * n, 230 - 55 * math.log2(value / 50)) for n, (value, _) in enumerate(tried)]
    d.path(places)
    for (x, y), (value, passed) in zip(places, tried, strict=True):
        d.circle(x, y, 8, "good" if passed else "bad")
        d.text(x, y + 24, f"{value}", "small", "middle")
    d.text(110, 282, "doubling", "small faint")
    d.text(110 + 84 * 3.6, 282, "halving the distance", "small faint")
    d.text(110 + 84 * 5.7, 282, "confirming each side", "small faint")
    d.text(560, 52, "passed", "small good")
    d.text(620, 52, "failed", "small bad")
    return d


def draw_plots() -> Drawing:
    """Host states are switched between plots."""
    d = Drawing(
        760, 230, "Host states: a block has one plot for each state, and each plot begins with a switch"
    )
    d.text(20, 32, "Two host states, two arms under each", "large")
    blocks = [("off", "AB", "on", "BA"), ("on", "AB", "off", "AB"), ("off", "BA", "on", "AB")]
    for number, (one, first, two, second) in enumerate(blocks):
        x = 20 + 245 * number
        d.rect(x, 52, 232, 110, "box soft", 6)
        d.text(x + 116, 70, f"block {number + 1}", "small faint", "middle")
        for place, (state, arms) in enumerate(((one, first), (two, second))):
            left = x + 8 + 110 * place
            d.rect(left, 80, 106, 72, "box paper", 4)
            d.text(left + 53, 97, f"state {state}", "small strong", "middle")
            for at, arm in enumerate(arms):
                d.rect(left + 10 + 45 * at, 105, 40, 38, "a" if arm == "A" else "b", 3)
                d.text(left + 30 + 45 * at, 130, arm, "on strong", "middle")
            d.arrow([(left + 4, 176), (left + 4, 156)], "s-bad")
    d.text(
        20,
        196,
        "Each arrow is a switch. What a switch brings by chance meets all trials of its plot,",
        "small",
    )
    d.text(
        20,
        214,
        "so a comparison of states rests on the number of switches, not on the number of trials.",
        "small",
    )
    return d


def draw_answer() -> Drawing:
    """What a quick session answered: each change with its interval; narrow enough for a telephone."""
    data = json.loads((RESULTS / "jvm-count.json").read_text(encoding="utf-8"))
    changes = data["changes"]
    bottom = 122 + 44 * len(changes)
    d = Drawing(NARROW, bottom + 82, "The answer of a quick session of jvm-count, with intervals")
    first = changes[0]
    d.text(16, 32, "Does a second JVM pay, on the same cores and heap?", "strong")
    weight = "within noise" if first["low"] <= 0 <= first["high"] else "beyond noise"
    d.text(16, 58, f"{percent(first['change'])} {first['metric']}: {weight}", "large a")
    d.text(16, 79, f"two JVMs; 95 % interval {percent(first['low'])} to {percent(first['high'])}", "strong a")
    low = min(0.0, *(row["low"] for row in changes))
    high = max(0.0, *(row["high"] for row in changes))
    left, unit = 196.0, 262 / (high - low)
    zero = left - unit * low
    for number, row in enumerate(changes):
        y = 122 + 44 * number
        from_x, to_x, x = (zero + unit * row[key] for key in ("low", "high", "change"))
        role = "good" if (row["change"] > 0) == (row["better"] == "higher") else "bad"
        if row["low"] <= 0 <= row["high"]:
            role = "faint"
        d.text(16, y + 5, row["metric"])
        d.path([(from_x, y), (to_x, y)], f"s-{role} thick")
        d.circle(x, y, 6, role)
        d.text(x, y - 11, percent(row["change"]), f"strong {role}", "middle")
    d.path([(zero, 96), (zero, bottom - 18)], "dashed")
    d.text(zero, bottom - 4, "no change", "small faint", "middle")
    repeats = f", {data['repeats']} of them repeats" if data["repeats"] else ""
    steady = f"; {data['not_steady']} not steady" if data["not_steady"] else ""
    d.lines(
        16,
        bottom + 26,
        [
            f"{data['blocks']} pairs in random order, {data['trials']} trials{repeats}{steady}.",
            f"A quick session of {data['minutes']} minutes: an indication, not an answer.",
            f"{data['host'][0].upper()}{data['host'][1:]}, {data['jvm']}, {data['day']}.",
        ],
        "small faint",
        step=19,
    )
    return d


def percent(share: float) -> str:
    """`+17.8 %`."""
    return f"{100 * share:+.1f} %".replace(".0 ", " ")
