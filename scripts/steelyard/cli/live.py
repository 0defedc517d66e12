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

from steelyard.cli.console import print_line
from steelyard.clock import SYSTEM, Clock
from steelyard.results.schema import Phase, Planned, Session, Trial
from steelyard.session.context import Watcher
from steelyard.session.progress import PHASES, arm_text, remaining_seconds, search_setting, trial_line
from steelyard.units import format_duration

_SHOWN_TRIALS = 8
_PROGRESS_SECONDS = 2.0


@contextmanager
def screen(session: Session, console: Console, before: Set[tuple[int, str]]) -> Iterator[Watcher]:
    """A watcher that shows a session while it runs: live on a terminal, as plain lines otherwise.

    `before`: (block, arm) of trials that an earlier run of the session has done.
    """
    if not console.is_terminal:
        yield PlainScreen(console, session, before=before)
        return
    shown = LiveScreen(session, console, before)
    with Live(console=console, get_renderable=shown.render, refresh_per_second=2, transient=True):
        yield shown


class PlainScreen:
    """One line for each trial and phase."""

    def __init__(
        self,
        console: Console,
        session: Session,
        clock: Clock = SYSTEM,
        before: Set[tuple[int, str]] = frozenset(),
    ) -> None:
        self._clock = clock
        self._console = console
        self._session = session
        self._before = before
        self._ended: list[Trial] = []
        self._varies = search_setting(session)
        self._last_progress = -math.inf

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Print which trial begins."""
        print_line(
            self._console,
            f"trial {done + 1} of {total}: block {planned.block}, {arm_text(planned, self._varies)},"
            f" {self._remaining_text(planned.arm, 0.0)} left",
        )

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Phases that a person waits for get a line."""
        if phase in ("start", "warmup", "measure"):
            print_line(
                self._console, f"  {PHASES[phase]}" + (f" ({format_duration(seconds)})" if seconds else "")
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
        self._ended.append(trial)
        print_line(self._console, f"  {trial_line(trial, self._varies)}")

    def note(self, sentence: str) -> None:
        """Print it (on a terminal above the view)."""
        print_line(self._console, f"note: {sentence}")

    def _remaining_text(self, running: str | None, elapsed: float) -> str:
        left = remaining_seconds(self._session, self._ended, self._before, running, elapsed)
        return f"about {format_duration(left)}"


class LiveScreen(PlainScreen):
    """Block and trial of how many, phase, throughput, time left, and the last trials."""

    def __init__(
        self, session: Session, console: Console, before: Set[tuple[int, str]], clock: Clock = SYSTEM
    ) -> None:
        super().__init__(console, session, clock, before)
        self._trial_began = self._clock.monotonic()
        self._planned: Planned | None = None
        self._done = 0
        self._total = len(session.schedule)
        self._phase: Phase = "prepare"
        self._phase_began = self._clock.monotonic()
        self._phase_seconds: float | None = None
        self._rate: float | None = None
        self._progress = ""
        self._note = ""

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Note the trial."""
        self._planned, self._done, self._total, self._rate, self._note = planned, done, total, None, ""
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
        # What comes next may be a profile, which is no trial of the schedule.
        self._planned = self._rate = None
        self._trial_began = self._clock.monotonic()

    def note(self, sentence: str) -> None:
        """Print it, and show it until the next trial begins."""
        super().note(sentence)
        self._note = sentence

    def render(self) -> RenderableType:
        """The view as it is now."""
        blocks = self._session.experiment.design.blocks
        head = Text(self._session.experiment.title, style="bold")
        status = Table.grid(padding=(0, 2))
        status.add_row("session", ProgressBar(total=max(self._total, 1), completed=self._done, width=50))
        if self._planned is not None:
            block = f"block {self._planned.block} of {blocks}"
            status.add_row("trial", f"{self._done + 1} of {self._total}   {block}")
            status.add_row("arm", arm_text(self._planned, self._varies))
        elif self._note:
            status.add_row("now", Text(self._note, overflow="ellipsis", no_wrap=True))
        elapsed = self._clock.monotonic() - self._phase_began
        expected = f" of {format_duration(self._phase_seconds)}" if self._phase_seconds else ""
        doing = f"{PHASES[self._phase]}, {format_duration(elapsed)}{expected}{self._progress}"
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
        running = self._planned.arm if self._planned is not None else None
        elapsed = self._clock.monotonic() - self._trial_began
        return self._remaining_text(running, elapsed)
