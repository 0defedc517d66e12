# SPDX-License-Identifier: Apache-2.0
"""Diagrams of topologies: scaling up and out, applications, a Compose bundle, a cluster; and a history of figures."""

from pages.svg import Drawing


def draw_scale() -> Drawing:
    """One JVM or several on the same cores."""
    d = Drawing(760, 276, "Scale up or out: one, two or four JVMs on the same eight cores and 2 GiB of heap")
    d.text(20, 32, "Scale up, or scale out: the same cores and heap", "large")
    for row, jvms in enumerate((1, 2, 4)):
        y = 56 + 60 * row
        d.text(20, y + 20, f"{jvms} JVM{'s' if jvms > 1 else ''}", "strong")
        d.text(20, y + 37, f"jvms={jvms}", "small faint")
        width = (560 - 8 * (jvms - 1)) / jvms
        for jvm in range(jvms):
            x = 110 + (width + 8) * jvm
            d.rect(x, y, width, 46, "a" if jvm % 2 == 0 else "b", 6)
            cores = 8 // jvms
            heap = 2048 // jvms
            words = f"{cores} cores, {heap} MiB of heap" if jvms < 4 else f"{cores} cores, {heap} MiB"
            d.text(x + width / 2, y + 28, words, "on small", "middle")
        d.text(684, y + 28, "8 cores", "small faint")
    d.text(
        20,
        246,
        "Cores and heap are split evenly; injectors and databases have the same cores in every arm.",
        "small",
    )
    d.text(20, 264, "What differs is the number of JVMs, so what the report finds is theirs.", "small")
    return d


def draw_acmeair() -> Drawing:
    """The monolith, and the services behind their proxy."""
    d = Drawing(760, 372, "AcmeAir as a monolith, and as five services behind a proxy")
    d.text(20, 32, "AcmeAir: monolith and microservices", "large")
    d.text(20, 62, "monolith", "strong")
    d.box(20, 84, 96, 60, ["injectors"], "good", "on strong")
    for jvm in range(2):
        d.box(190, 74 + 46 * jvm, 130, 36, [f"server-{jvm + 1}"], "a", "on strong")
        d.arrow([(116, 114), (150, 114), (150, 92 + 46 * jvm), (188, 92 + 46 * jvm)])
        d.arrow([(320, 92 + 46 * jvm), (352, 92 + 46 * jvm), (352, 114), (388, 114)])
    d.box(390, 92, 120, 44, ["database"], "b", "on strong")
    d.text(530, 108, "each user keeps to one server", "small faint")
    d.text(530, 126, "all servers share one database", "small faint")
    d.path([(20, 176), (740, 176)], "dashed")
    d.text(20, 200, "microservices", "strong")
    d.box(20, 250, 96, 60, ["injectors"], "good", "on strong")
    d.box(170, 250, 90, 60, ["proxy", "(nginx)"], "soft", "strong")
    d.arrow([(116, 280), (168, 280)])
    for place, name in enumerate(("auth", "customer", "flight", "booking", "main")):
        y = 190 + 35 * place
        d.box(340, y, 120, 29, [name], "a", "on strong")
        d.arrow([(260, 280), (300, 280), (300, y + 14), (338, y + 14)])
        if name in ("customer", "flight", "booking"):
            d.arrow([(460, y + 14), (508, y + 14)])
            d.box(510, y, 160, 29, [f"database of {name}"], "b", "on small")
    d.arrow([(460, 200), (700, 200), (700, 364), (215, 364), (215, 312)], "dashed")
    d.text(470, 194, "services call each other through the proxy", "small faint")
    return d


def draw_daytrader7_olio() -> Drawing:
    """DayTrader7 and Olio: one server with its database, or several with one."""
    d = Drawing(760, 360, "DayTrader7 and Olio: Derby in the server, or several servers with one database")
    d.text(20, 32, "DayTrader7 and Olio: single and shared", "large")
    d.text(20, 64, "single", "strong")
    d.box(20, 82, 96, 50, ["injectors"], "good", "on strong")
    d.arrow([(116, 107), (188, 107)])
    d.rect(190, 74, 230, 66, "box soft", 6)
    d.box(200, 84, 100, 46, ["server"], "a", "on strong")
    d.box(312, 84, 98, 46, ["Derby"], "b", "on strong")
    d.arrow([(300, 107), (310, 107)])
    d.text(440, 103, "one JVM holds both:", "small faint")
    d.text(440, 121, "its CPU and memory are the database's, too", "small faint")
    d.path([(20, 162), (740, 162)], "dashed")
    d.text(20, 188, "shared", "strong")
    d.box(20, 226, 96, 50, ["injectors"], "good", "on strong")
    for jvm in range(2):
        y = 204 + 52 * jvm
        d.box(190, y, 120, 42, [f"server-{jvm + 1}"], "a", "on strong")
        d.arrow([(116, 251), (150, 251), (150, y + 21), (188, y + 21)])
        d.arrow([(310, y + 21), (350, y + 21), (350, 225), (398, 225)])
        d.arrow([(310, y + 21), (350, y + 21), (350, 277), (398, 277)])
    d.box(400, 204, 330, 42, ["Derby's server, PostgreSQL or Db2"], "b", "on strong")
    d.box(400, 256, 330, 42, ["Olio: filestore, and a geocoder"], "soft", "strong")
    d.text(
        20,
        324,
        "The database has a process of its own, and CPU and memory of its own in the report:",
        "small",
    )
    d.text(
        20,
        342,
        "cpu_per_1k is the servers', cpu_per_1k_system includes database, proxy and geocoder.",
        "small",
    )
    return d


def draw_compose() -> Drawing:
    """The services of a Compose bundle, by profile."""
    d = Drawing(760, 300, "A Compose bundle: what starts at once, and what a profile adds")
    d.text(20, 32, "A bundle: docker compose up, and its profiles", "large")
    d.rect(240, 52, 330, 170, "box soft", 8)
    d.text(405, 70, "docker compose up", "small strong", "middle")
    d.box(260, 88, 120, 50, ["server", "--scale server=N"], "a", "on small")
    d.box(432, 88, 120, 50, ["database"], "b", "on strong")
    d.arrow([(380, 113), (430, 113)])
    d.box(260, 160, 120, 46, ["data: loads", "once, and ends"], "paper", "small")
    d.arrow([(320, 160), (320, 140)])
    d.box(432, 160, 120, 46, ["password: makes", "it, and ends"], "paper", "small")
    d.arrow([(492, 160), (492, 140)])
    d.box(20, 88, 140, 50, ["load (injector)"], "good", "on strong")
    d.arrow([(160, 113), (258, 113)])
    d.text(20, 156, "--profile load", "small strong")
    d.box(20, 186, 140, 36, ["results/"], "soft", "strong")
    d.arrow([(90, 162), (90, 184)])
    d.box(620, 100, 120, 50, ["jitserver"], "b", "on strong")
    d.path([(320, 88), (320, 80), (680, 80)])
    d.arrow([(680, 80), (680, 99)])
    d.text(620, 168, "--profile jitserver", "small strong")
    d.text(620, 186, "OpenJ9 alone", "small faint")
    d.text(
        20,
        254,
        "Services start when what they need is healthy. Ports are on 127.0.0.1; nothing is privileged.",
        "small",
    )
    d.text(
        20,
        274,
        "The compose engine starts each trial from the same file, with one override for CPUs, memory and ports.",
        "small",
    )
    return d


def draw_cluster() -> Drawing:
    """Who runs where on labelled nodes."""
    d = Drawing(
        760, 322, "A cluster with labelled nodes: servers, databases and injectors on nodes of their own"
    )
    d.text(20, 32, "An experiment on labelled nodes", "large")
    d.box(20, 116, 130, 74, ["./steelyard run", "on your machine,", "or a Job"], "soft", "small strong")
    d.box(186, 116, 100, 74, ["API server"], "soft", "strong")
    d.arrow([(150, 153), (184, 153)])
    nodes = (
        ("role=server", "node-a", ["server-0", "server-1"], "a"),
        ("role=database", "node-b", ["database"], "b"),
        ("role=injector", "node-c", ["injector-0", "injector-1"], "good"),
    )
    for number, (label, node, pods, role) in enumerate(nodes):
        y = 52 + 82 * number
        d.rect(330, y, 410, 72, "box soft", 8)
        d.text(342, y + 20, node, "strong")
        d.text(342, y + 40, "steelyard.dev/", "small faint")
        d.text(342, y + 56, label, "small faint")
        for place, pod in enumerate(pods):
            x = 450 + 144 * place
            d.box(x, y + 12, 134, 48, [pod, "+ observer"], role, "on small")
        d.arrow([(286, 153), (308, 153), (308, y + 36), (328, y + 36)])
    d.text(20, 250, "kubectl proxy: one socket,", "small faint")
    d.text(20, 267, "no port is opened", "small faint")
    d.text(
        20,
        310,
        "A role without a labelled node may run on any node, the servers' among them: label one for each role.",
        "small",
    )
    return d


def draw_history() -> Drawing:
    """A slow decline that no gate sees, and the change point that a history shows."""
    values = (101, 99, 100, 102, 100, 99, 101, 100, 96, 95, 97, 96, 95, 96, 97, 95)
    d = Drawing(760, 268, "Figures over commits: a level, a change point, and the level after it")
    d.text(20, 32, "A history finds the commit after which it is slower", "large")
    for level in (95, 100):
        y = 190.0 - 14 * (level - 93)
        d.path([(60, y), (740, y)], "dashed")
        d.text(52, y + 4, str(level), "small faint", "end")
    places = [(84 + 42 * n, 190.0 - 14 * (value - 93)) for n, value in enumerate(values)]
    for number, (x, y) in enumerate(places):
        d.path([(x, y - 14), (x, y + 14)])
        d.circle(x, y, 5, "a" if number < 8 else "bad")
    for first, last, mean, role in ((0, 7, 100.25, "s-a"), (8, 15, 95.9, "s-bad")):
        y = 190.0 - 14 * (mean - 93)
        d.path([(places[first][0] - 12, y), (places[last][0] + 12, y)], f"thick {role}")
    at = (places[7][0] + places[8][0]) / 2
    d.path([(at, 56), (at, 204)], "dashed s-bad")
    d.text(at + 8, 66, "change point: -4.3 %", "strong bad")
    d.text(84, 226, "one session of each commit, oldest first", "small faint")
    d.text(
        20,
        252,
        "Each point is a session with its interval. The page names the commit at which the level changed.",
        "small",
    )
    return d
