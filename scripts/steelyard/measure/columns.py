# SPDX-License-Identifier: Apache-2.0
"""How the tables of a sampler are read: the columns by which each begins, which say when and whose a row is.

What follows them stands in the file's own header (`sampling/columns.py`): a column that a sampler adds is a series by
its name. Standard library only: pods run samplers.
"""

OWN_NAME = "sampler"
"""What the sampler calls itself."""
INTERNAL = "internal-"
"""Beginning of the names of operations that services ask of each other."""
NOTHING = "internal-nothing"
"""Stands in counters.csv for the operations of a server that answers and has none to tell of."""
KEYS = {
    "processes": ("epoch", "process"),
    "threads": ("epoch", "process", "group"),
    "cgroups": ("epoch", "process"),
    "counters": ("epoch", "process", "operation"),
    "metrics": ("epoch", "process", "metric"),
    "jvm": ("epoch", "process"),
    "host": ("epoch",),
    "cpus": ("epoch", "cpu"),
    "forwarders": ("epoch", "forwarder"),
    "notes": ("epoch", "process"),
    "nodes": ("epoch", "node"),
}
