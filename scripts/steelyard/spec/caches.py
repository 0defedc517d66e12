# SPDX-License-Identifier: Apache-2.0
"""Variants of a spec that bring class caches into their declared state; they are run, labelled, and never averaged
in."""

from typing import Any

from steelyard.jvm.options import jvm_options
from steelyard.results.spec import Component, Spec

POPULATING_USERS = 8
"""Users of a populating run where the trials themselves have none."""


def populating(spec: Spec) -> Spec:
    """The run that fills the class caches for `class_cache: warm`: one JVM of each kind writes them.

    A HotSpot archive has one writer; OpenJ9's cache is shared by all, and one is enough. Start-up trials ask for each
    operation once, which leaves much code untouched: here the injectors offer real load.
    """
    first = {one.kind: one.name for one in reversed(spec.servers)}
    filled = spec.changed("server", lambda one: _options(one, writes=first[one.kind] == one.name))
    load = {"model": "closed", "users": POPULATING_USERS, "firstUser": 0}
    return filled.changed(
        "injector",
        lambda one: {"settings": one.settings | (load if one.settings.get("model") == "probe" else {})},
        procedure="steady",
    )


def without_caches(spec: Spec) -> Spec:
    """The run before a measured start that only loads the data: it must not touch the class caches."""
    return spec.changed("server", lambda one: _options(one, writes=False))


def _options(component: Component, *, writes: bool) -> dict[str, Any]:
    """The same options with a class cache that is written, or left to the JVM."""
    settings, jvm, heap = component.jvm_settings, component.artifact.jvm, component.heap_bytes
    if settings is None or jvm is None:
        return {}
    own = component.jvm_options[: len(component.jvm_options) - len(jvm_options(settings, heap, jvm))]
    changed = settings.model_copy(update={"class_cache": "warm" if writes else "default"})
    return {"jvm_options": [*own, *jvm_options(changed, heap, jvm, populates=writes)]}
