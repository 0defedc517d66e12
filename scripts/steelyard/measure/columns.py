# SPDX-License-Identifier: Apache-2.0
"""The tables that samplers write, by their columns (docs/files.md). Standard library only: pods run samplers."""

OWN_NAME = "sampler"
"""What the sampler calls itself."""
INTERNAL = "internal-"
"""Beginning of the names of operations that services ask of each other."""
NOTHING = "internal-nothing"
"""Stands in counters.csv for the operations of a server that answers and has none to tell of."""

COLUMNS = {
    "processes": "epoch,process,user_s,system_s,rss,pss,minor_faults,major_faults,"
    "voluntary_switches,involuntary_switches,threads,wait_s,processes,ended",
    "threads": "epoch,process,group,cpu_s",
    "cgroups": "epoch,process,cpu_s,throttled_s,periods,throttled_periods,memory,working_set,peak,oom_kills,huge",
    "counters": "epoch,process,operation,requests,errors,service_s",
    "metrics": "epoch,process,metric,value",
    "host": "epoch,monotonic,busy_s,steal_s,idle_s,other_s",
    "notes": "epoch,process,note",
}
"""What a sampler writes."""
NODE_COLUMNS = "epoch,node,monotonic,busy_s,steal_s,idle_s,other_s"
"""What is put together from the samplers on each machine of a cluster (nodes.csv): as `host`, a machine a row."""
