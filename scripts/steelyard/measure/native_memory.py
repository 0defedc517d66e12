# SPDX-License-Identifier: Apache-2.0
"""Memory of HotSpot beside its heap, by its own account at the end of the load (`nmt`)."""

from steelyard.measure.formulas import SERVERS, Metric, sum_of
from steelyard.measure.nmt import CODE, HEAP, NativeMemory
from steelyard.measure.window import Unknown, Window, component_figure
from steelyard.results.spec import Component

_UNASKED = Unknown("its JVM did not tell its own account of memory")


def _account(window: Window, component: Component) -> NativeMemory | Unknown | None:
    """None: its JVM keeps no account."""
    account = window.native_memory.get(component.name)
    return account if account is None or account.is_known else _UNASKED


@component_figure("bytes")
def native_memory(window: Window, component: Component) -> int | Unknown | None:
    """Memory that HotSpot had committed beside its heap when the load ended; None without its account (NMT)."""
    account = _account(window, component)
    if account is None or isinstance(account, Unknown):
        return account
    return (account.total or 0) - account.parts[HEAP]


@component_figure("bytes")
def code_cache(window: Window, component: Component) -> int | Unknown | None:
    """Of it that for compiled code; None without the account."""
    account = _account(window, component)
    return account if account is None or isinstance(account, Unknown) else account.parts[CODE]


METRICS = (
    Metric(
        name="native_memory",
        label="memory of the servers' JVMs beside the heap",
        unit="bytes",
        source="Committed memory by HotSpot's own account (NMT) less the heap, of the servers, when the load ended.",
        pitfalls="Only of JVMs with `jvm_args: -XX:NativeMemoryTracking=summary`, which costs some memory and"
        " time itself: give it to every arm. Committed is not resident (memory_rss), and memory of native libraries"
        " is not in it.",
        compute=sum_of("native_memory", SERVERS),
        roles=SERVERS,
        evidence=True,
    ),
    Metric(
        name="code_cache",
        label="code cache of the servers",
        unit="bytes",
        source="Committed memory for compiled code by HotSpot's own account (NMT), of the servers, when the load"
        " ended.",
        pitfalls="As native_memory, of which it is a part. OpenJ9's is not known.",
        compute=sum_of("code_cache", SERVERS),
        roles=SERVERS,
        evidence=True,
    ),
)
