# SPDX-License-Identifier: Apache-2.0
"""What the JVMs of the servers did, as a table: a figure a row, an arm a column."""

from steelyard.measure import jvm, native_memory, thread_states
from steelyard.report.table import Column, Table, TableCell, cells
from steelyard.report.view import View
from steelyard.results import figures

_METRICS = [metric.name for file in (jvm, thread_states, native_memory) for metric in file.METRICS]
NOTE = (
    f"Means over valid trials. {figures.DASH}: its JVM does not tell, or was not asked to; by the name below a figure,"
    " ./steelyard explain NAME says of which JVMs there is one, and what misleads in it."
)


def jvm_table(view: View) -> Table | None:
    """Compilations, classes, safepoints, locks, states of threads and memory beside the heap; None without any."""
    known = view.known_metrics(*_METRICS)
    if not known:
        return None
    rows = []
    for metric in known:
        means = [view.summary(metric.name, arm.name) for arm in view.arms]
        texts = [figures.DASH if mean is None else figures.with_unit(metric, mean.mean) for mean in means]
        rows.append(cells(TableCell(metric.label, (metric.name,)), *texts))
    columns = [Column("figure", figure=False), *(Column(view.arm_label(arm.name)) for arm in view.arms)]
    return Table("What the JVM did", columns, rows, 1, [NOTE])
