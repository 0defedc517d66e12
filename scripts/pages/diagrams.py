# SPDX-License-Identifier: Apache-2.0
"""Writes the diagrams of the documents: `python -m pages.diagrams` in scripts/. A test holds the files against this."""

from collections.abc import Callable
from pathlib import Path

from pages import guide_diagrams, method_diagrams, topology_diagrams
from pages.svg import Drawing

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

DIAGRAMS: dict[str, Callable[[], Drawing]] = {
    "answer": method_diagrams.draw_answer,
    "session": method_diagrams.draw_session,
    "trial": method_diagrams.draw_trial,
    "interval": method_diagrams.draw_interval,
    "warm-up": method_diagrams.draw_warm_up,
    "false-alarms": method_diagrams.draw_false_alarms,
    "search": method_diagrams.draw_search,
    "plots": method_diagrams.draw_plots,
    "gate": guide_diagrams.draw_gate,
    "void-trial": guide_diagrams.draw_void_trial,
    "experiments": guide_diagrams.draw_experiments,
    "cores": guide_diagrams.draw_cores,
    "engines": guide_diagrams.draw_engines,
    "jitserver": guide_diagrams.draw_jitserver,
    "scale": topology_diagrams.draw_scale,
    "acmeair": topology_diagrams.draw_acmeair,
    "daytrader7-olio": topology_diagrams.draw_daytrader7_olio,
    "compose": topology_diagrams.draw_compose,
    "cluster": topology_diagrams.draw_cluster,
    "history": topology_diagrams.draw_history,
}
"""By the name of their file."""


def write_diagrams() -> None:
    """Write each file anew."""
    for name, draw in DIAGRAMS.items():
        (IMAGES / f"{name}.svg").write_text(draw().render(), encoding="utf-8")


if __name__ == "__main__":
    write_diagrams()
