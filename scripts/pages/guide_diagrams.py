# SPDX-License-Identifier: Apache-2.0
"""Diagrams of the guides: the gate, void trials, which experiment, where components run, engines, JITServer."""

from pages.svg import Drawing


def draw_gate() -> Drawing:
    """From the certificate to the exit code."""
    d = Drawing(
        760,
        430,
        "The gate: certificate, margin, analyses after 6, 10 and 20 pairs, confirmation",
    )
    d.text(20, 32, "How a gate decides", "large")
    d.box(40, 52, 300, 44, ["a noise certificate of this host?"])
    d.box(40, 122, 300, 44, ["can it see harm as small as the margin?"])
    d.box(40, 192, 300, 44, ["is the host quiet now?"])
    d.box(40, 262, 300, 62, ["pairs in random order;", "look after 6, 10 and 20 of them"])
    d.box(40, 354, 300, 52, ["a second session finds it again?"])
    for y in (96, 166, 236):
        d.arrow([(190, y), (190, y + 26)])
        d.text(198, y + 18, "yes", "small faint")
    d.box(540, 122, 190, 44, ["inconclusive: 2"], "b", "on strong")
    for y in (74, 144, 214):
        d.path([(340, y), (440, y), (440, 144)])
        d.text(350, y - 6, "no", "small faint")
    d.arrow([(440, 144), (540, 144)])
    d.box(540, 230, 190, 44, ["pass: 0"], "good", "on strong")
    d.arrow([(340, 280), (470, 280), (470, 252), (540, 252)])
    d.text(350, 274, "harm ruled out", "small faint")
    d.arrow([(340, 306), (500, 306), (500, 158), (540, 158)], "dashed")
    d.text(350, 322, "20 pairs, or no hope of an answer", "small faint")
    d.arrow([(190, 324), (190, 354)])
    d.text(198, 343, "clearly worse", "small faint")
    d.box(540, 358, 190, 44, ["regression: 1"], "bad", "on strong")
    d.arrow([(340, 380), (540, 380)])
    d.text(350, 374, "yes", "small faint")
    d.arrow([(340, 396), (500, 396), (500, 420), (745, 420), (745, 144), (732, 144)], "dashed")
    d.text(350, 412, "no", "small faint")
    return d


def draw_void_trial() -> Drawing:
    """From the check's name to the remedy."""
    d = Drawing(760, 330, "Void trial: from the failed check to the remedy")
    d.text(20, 32, "A trial is void. Which check failed?", "large")
    rows = [
        (
            "other-cpu, steal, sample-gaps",
            "the host was disturbed",
            "stop other work; another host;",
            "gates: --duet",
        ),
        (
            "injector-cpu, / late-arrivals, injector-memory",
            "not the load asked for",
            "less load, or cores",
            "for the injectors",
        ),
        (
            "errors, restarts, counts",
            "the server failed",
            "its log in trials/.../servers;",
            "journey try",
        ),
        (
            "settings, build, / remote-compilation",
            "it did not run as configured",
            "the sentence names the setting;",
            "plan shows the options",
        ),
        ("clock-step, clock-offset", "clocks moved", "NTP: slew, do not step", ""),
    ]
    for number, (checks, cause, remedy, more) in enumerate(rows):
        y = 52 + 54 * number
        first, _, rest = checks.partition(" / ")
        d.box(20, y, 250, 44, [first, rest] if rest else [checks], "soft", "small strong")
        d.arrow([(270, y + 22), (296, y + 22)])
        d.box(298, y, 206, 44, [cause], "soft", "small")
        d.arrow([(504, y + 22), (530, y + 22)])
        d.box(532, y, 210, 44, [remedy, more] if more else [remedy], "soft", "small good")
    return d


def draw_experiments() -> Drawing:
    """Which experiment answers which question."""
    d = Drawing(760, 434, "Which experiment answers which question")
    d.text(20, 32, "What do you want to know?", "large")
    rows = [
        ("One JVM or several on this host?", "jvm-count", "acmeair-scale, daytrader-scale"),
        ("Which JDK?", "jvm-compare", ""),
        ("Which collector?", "collectors", "collectors-latency"),
        ("How long does a start take?", "start-up", "jitserver-start-up"),
        ("How soon is it fast?", "ramp-up", "jitserver-ramp-up"),
        ("How much load can it take?", "capacity", "capacity-rate, load-levels"),
        ("How large a heap, which pages?", "heap-sweep", "large-pages, page-faults"),
        ("One program or services?", "acmeair-topology", "ingress"),
        ("Does a host setting help?", "governor", "smt, scale-smt, prefetch, numa"),
        ("Process, container or pod?", "olio-native-vs-container", "k8s-scale"),
        ("Did this change make it slower?", "gate", ""),
    ]
    for number, (question, name, others) in enumerate(rows):
        y = 52 + 34 * number
        d.rect(20, y, 280, 27, "box soft", 5)
        d.text(32, y + 18, question, "small")
        d.arrow([(300, y + 13), (326, y + 13)])
        d.text(334, y + 18, name, "strong a")
        if others:
            d.text(530, y + 18, f"also {others}", "small faint")
    return d


def draw_cores() -> Drawing:
    """Who runs on which CPUs."""
    d = Drawing(760, 280, "Who runs where: on a small host, on a large host, on two nodes of a cluster")
    d.text(20, 32, "Who runs where", "large")
    d.text(20, 66, "two cores", "strong")
    d.text(20, 84, "all share them", "small faint")
    for core in range(2):
        d.rect(180 + 60 * core, 52, 54, 42, "b", 4)
    d.text(308, 78, "servers, injectors and databases on both: reports say so", "small")
    d.text(20, 140, "eight cores or more", "strong")
    d.text(20, 158, "load: a quarter or more", "small faint")
    for core in range(8):
        d.rect(180 + 60 * core, 126, 54, 42, "a" if core < 6 else "good", 4)
    d.text(180, 186, "servers, proxy, JITServer", "small a")
    d.text(540, 186, "injectors, databases", "small good")
    d.text(20, 226, "a cluster", "strong")
    d.text(20, 244, "by labels of nodes", "small faint")
    for node, (words, role) in enumerate((("servers", "a"), ("databases", "b"), ("injectors", "good"))):
        d.box(180 + 190 * node, 208, 170, 46, [words], role, "on strong")
    return d


def draw_engines() -> Drawing:
    """One file, three engines."""
    d = Drawing(760, 272, "One experiment file, run as processes, containers or pods")
    d.text(20, 32, "One experiment, three engines", "large")
    d.box(30, 98, 150, 60, ["experiment.yaml", "workload.yaml"], "soft", "small strong")
    rows = [
        ("--engine process", "processes of this host", "JDK and Maven; no root"),
        ("--engine compose", "containers of this host", "docker or podman"),
        ("--engine kubernetes", "pods of a cluster", "kubectl and a namespace"),
    ]
    for number, (option, where, needs) in enumerate(rows):
        y = 52 + 64 * number
        d.arrow([(180, 128), (214, 128), (214, y + 23), (240, y + 23)])
        d.box(242, y, 170, 46, [option], "soft", "small strong")
        d.arrow([(412, y + 23), (440, y + 23)])
        d.box(442, y, 140, 46, [where], "a", "small on")
        d.text(594, y + 28, needs, "small faint")
    d.text(
        30,
        258,
        "Same trials, checks and report. --engine process,compose compares the engines themselves.",
        "small",
    )
    return d


def draw_jitserver() -> Drawing:
    """Compiled in the JVM or in a JITServer, at equal resources."""
    d = Drawing(
        760, 230, "A JITServer: the compiler in a process of its own, at equal cores and memory in total"
    )
    d.text(20, 32, "Compiled in the JVM, or in a JITServer", "large")
    d.text(20, 60, "local", "strong")
    d.rect(90, 48, 300, 120, "box soft", 6)
    d.text(240, 70, "server: all cores, all memory", "small", "middle")
    d.box(110, 84, 120, 64, ["application"], "a", "on small")
    d.box(250, 84, 120, 64, ["compiler"], "b", "on small")
    d.text(410, 60, "remote", "strong")
    d.rect(480, 48, 130, 120, "box soft", 6)
    d.text(545, 70, "server", "small", "middle")
    d.box(492, 84, 106, 64, ["application"], "a", "on small")
    d.rect(640, 48, 104, 120, "box soft", 6)
    d.text(692, 70, "JITServer", "small", "middle")
    d.box(650, 84, 84, 64, ["compiler"], "b", "on small")
    d.arrow([(598, 108), (648, 108)])
    d.arrow([(650, 126), (600, 126)])
    d.text(
        20, 194, "Cores and memory are equal in total: what the JITServer has, the server gives up.", "small"
    )
    d.text(
        20,
        212,
        "Reports count its CPU and memory with the server's: work that moves does not vanish.",
        "small",
    )
    return d
