# SPDX-License-Identifier: Apache-2.0
"""Which rows of the list are asked for (pure)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from steelyard.serve.index import SessionRow


@dataclass(frozen=True)
class Filters:
    """What a row has to be; an empty text asks for nothing."""

    workload: str = ""
    host: str = ""
    commit: str = ""
    """A commit, or how it begins."""
    text: str = ""
    """Words that all stand somewhere in the row."""

    @classmethod
    def of_query(cls, query: Mapping[str, Sequence[str]]) -> "Filters":
        """From the query of an address."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: query[name][0].strip() for name in names if query.get(name)})

    @property
    def any(self) -> bool:
        """Whether anything is asked for."""
        return self != Filters()

    @property
    def query(self) -> str:
        """As the query of an address."""
        return urlencode(
            {field.name: value for field in fields(self) if (value := getattr(self, field.name))}
        )

    def admit(self, row: SessionRow) -> bool:
        """Whether a row is asked for."""
        names = (row.folder, row.title, row.experiment, row.workload, row.host, row.processor, row.gate or "")
        words = " ".join([*names, *row.answer, *row.commits]).casefold()
        return (
            self.workload in ("", row.workload)
            and self.host in ("", row.host)
            and (not self.commit or any(commit.startswith(self.commit) for commit in row.commits))
            and all(word in words for word in self.text.casefold().split())
        )


@dataclass(frozen=True)
class Choices:
    """What can be chosen, each with the sessions that have it; the most frequent first."""

    workloads: list[tuple[str, int]]
    hosts: list[tuple[str, int]]
    commits: list[tuple[str, int]]


def choices(rows: Iterable[SessionRow]) -> Choices:
    """What these rows have."""
    rows = list(rows)
    return Choices(
        workloads=Counter(row.workload for row in rows if row.workload).most_common(),
        hosts=Counter(row.host for row in rows if row.host).most_common(),
        commits=Counter(commit for row in rows for commit in row.commits).most_common(),
    )
