# SPDX-License-Identifier: Apache-2.0
"""What a person sees while a session runs: a live view in a terminal, plain lines elsewhere."""

import math
from collections.abc import Iterator, Set
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from steelyard.analysis.search import value_text
from steelyard.cli.options import print_line
from steelyard.clock import SYSTEM, Clock
from steelyard.results.schema import Phase, Planned, Session, Trial
from steelyard.session.context import Watcher
from steelyard.session.schedule import trial_seconds
from steelyard.spec.search import Varied, varied_setting
from steelyard.units import format_duration, format_size

_PHASES: dict[str, str] = {
    "wash-out": "waiting until the host is idle",
    "set-host": "setting the host",
    "prepare": "preparing",
    "start": "starting servers",
    "ramp": "ramping up",
    "warmup": "warming up",
    "measure": "measuring",
    "stop": "stopping",
    "collect": "collecting",
}
_SHOWN_TRIALS = 8
_PROGRESS_SECONDS = 2.0


@contextmanager
def screen(session: Session, console: Console, before: Set[tuple[int, str]]) -> Iterator[Watcher]:
    """A watcher that shows a session while it runs: live on a terminal, as plain lines otherwise.

    `before`: (block, arm) of trials that an earlier run of the session has done.
    """
    if not console.is_terminal:
        yield PlainScreen(console, session)
        return
    shown = LiveScreen(session, console, before)
    with Live(console=console, get_renderable=shown.render, refresh_per_second=2, transient=True):
        yield shown


def trial_line(trial: Trial, varies: Varied | None = None) -> str:
    """One line for a trial that has ended; `varies`: what its search changes."""
    name = f"block {trial.block} {_arm_label(trial, varies)}"
    if trial.measurement is None:
        return f"{name}: {'did not survive' if trial.state == 'valid' else 'void'}, {trial.failure}"
    figures = _figures(trial)
    if trial.state == "valid":
        return f"{name}: {figures}" + (", not steady" if trial.steady is False else "")
    failed = next(check for check in trial.checks if check.voids and not check.passed)
    return f"{name}: void ({failed.detail.rstrip('.')}), {figures}"


def _arm_label(trial: Trial | Planned, varies: Varied | None) -> str:
    if varies is not None and trial.value is not None:
        return f"{trial.arm} with {value_text(varies, trial.value)}"
    return trial.arm + (f" (repeat {trial.attempt})" if trial.attempt else "")


def _varies(session: Session) -> Varied | None:
    """What the session's search changes; None: it searches for nothing."""
    search = session.experiment.search
    return varied_setting(search, session.arms[0].spec) if search is not None else None


def _figures(trial: Trial) -> str:
    """What a person wants to see of a trial that has just ended, by its procedure."""
    parts = []
    if trial.first_answers:
        parts.append(f"all answered after {max(trial.first_answers.values()):.2f} s")
    elif "throughput" in trial.metrics:
        parts.append(f"{trial.metrics['throughput']:,.0f} req/s")
    if trial.survived is not None:
        parts.append("survived" if trial.survived else "did not survive")
    if "memory_rss" in trial.metrics:
        parts.append(f"{format_size(trial.metrics['memory_rss'])} resident")
    return ", ".join(parts) or "done"


class PlainScreen:
    """One line for each trial and phase."""

    def __init__(self, console: Console, session: Session, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._console = console
        self._varies = _varies(session)
        self._last_progress = -math.inf

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Print which trial begins."""
        print_line(
            self._console,
            f"trial {done + 1} of {total}: block {planned.block}, {_arm_label(planned, self._varies)}",
        )

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Phases that a person waits for get a line."""
        if phase in ("start", "warmup", "measure"):
            print_line(
                self._console, f"  {_PHASES[phase]}" + (f" ({format_duration(seconds)})" if seconds else "")
            )

    def progress(self, text: str) -> None:
        """A line now and then: a loader tells of every fiftieth user."""
        now = self._clock.monotonic()
        if now - self._last_progress >= _PROGRESS_SECONDS:
            self._last_progress = now
            print_line(self._console, f"  {text}")

    def throughput(self, rate: float) -> None:
        """Not shown: a line each second would bury the rest."""

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Print the trial's figures."""
        del done, total
        print_line(self._console, f"  {trial_line(trial, self._varies)}")

    def note(self, sentence: str) -> None:
        """Print it (on a terminal above the view)."""
        print_line(self._console, f"note: {sentence}")


class LiveScreen(PlainScreen):
    """Block and trial of how many, phase, throughput, time left, and the last trials."""

    def __init__(
        self, session: Session, console: Console, before: Set[tuple[int, str]], clock: Clock = SYSTEM
    ) -> None:
        super().__init__(console, session, clock)
        self._session = session
        self._specs = {arm.name: arm.spec for arm in session.arms}
        self._before = before
        self._trial_began = self._clock.monotonic()
        self._planned: Planned | None = None
        self._done = 0
        self._total = len(session.schedule)
        self._phase: Phase = "prepare"
        self._phase_began = self._clock.monotonic()
        self._phase_seconds: float | None = None
        self._rate: float | None = None
        self._progress = ""
        self._ended: list[Trial] = []

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Note the trial."""
        self._planned, self._done, self._total, self._rate = planned, done, total, None
        self._trial_began = self._clock.monotonic()

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Note the phase."""
        self._phase, self._phase_seconds, self._phase_began = phase, seconds, self._clock.monotonic()
        self._progress = ""

    def progress(self, text: str) -> None:
        """Note what a loader says."""
        self._progress = f": {text}"

    def throughput(self, rate: float) -> None:
        """Note the throughput."""
        self._rate = rate

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Note the outcome."""
        self._ended.append(trial)
        self._done, self._total = done, total

    def render(self) -> RenderableType:
        """The view as it is now."""
        blocks = self._session.experiment.design.blocks
        head = Text(self._session.experiment.title, style="bold")
        status = Table.grid(padding=(0, 2))
        status.add_row("session", ProgressBar(total=max(self._total, 1), completed=self._done, width=50))
        if self._planned is not None:
            block = f"block {self._planned.block} of {blocks}"
            status.add_row("trial", f"{self._done + 1} of {self._total}   {block}")
            status.add_row("arm", _arm_label(self._planned, self._varies))
        elapsed = self._clock.monotonic() - self._phase_began
        expected = f" of {format_duration(self._phase_seconds)}" if self._phase_seconds else ""
        doing = f"{_PHASES[self._phase]}, {format_duration(elapsed)}{expected}{self._progress}"
        status.add_row("phase", Text(doing, overflow="ellipsis", no_wrap=True))
        status.add_row("throughput", f"{self._rate:,.0f} req/s" if self._rate is not None else "-")
        status.add_row("time left", self._remaining_time())
        trials = Table.grid(padding=(0, 2))
        for trial in self._ended[-_SHOWN_TRIALS:]:
            mark, style = ("✓", "green") if trial.state == "valid" else ("✗", "red")
            line = Text(trial_line(trial, self._varies), overflow="ellipsis", no_wrap=True)
            trials.add_row(Text(mark, style=style), line)
        return Group(head, status, *([trials] if self._ended else []))

    def _remaining_time(self) -> str:
        """What the plan expects of the trials to come, scaled by how long the ended ones took."""
        ended = {(trial.block, trial.arm) for trial in self._ended} | self._before
        to_come = [place.arm for place in self._session.schedule if (place.block, place.arm) not in ended]
        if not to_come and self._planned is not None and self._done < self._total:
            to_come = [self._planned.arm]  # a repeat
        measured = [trial for trial in self._ended if "collect" in trial.phases]
        spent = sum(_length(trial) for trial in measured)
        pace = spent / sum(self._planned_seconds(trial.arm) for trial in measured) if measured else 1.0
        elapsed = self._clock.monotonic() - self._trial_began
        left = pace * sum(self._planned_seconds(arm) for arm in to_come) - elapsed
        return f"about {format_duration(max(left, 0.0))}"

    def _planned_seconds(self, arm: str) -> float:
        low, high = trial_seconds(self._specs[arm])
        return (low + high) / 2


def _length(trial: Trial) -> float:
    return max(end for _, end in trial.phases.values()) - min(start for start, _ in trial.phases.values())
