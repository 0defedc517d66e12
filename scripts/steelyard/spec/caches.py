# SPDX-License-Identifier: Apache-2.0
"""Variants of a spec that bring class caches into their declared state; they are run, labelled, and never averaged
in."""

from collections.abc import Callable
from typing import Any

from steelyard.jvm.options import jvm_options
from steelyard.results.spec import Component, Spec

POPULATING_USERS = 8
"""Users of a populating run where the trials themselves have none."""


def populating(spec: Spec) -> Spec:
    """The run that fills the class caches for `class_cache: warm`: one JVM of each kind writes them.

    A HotSpot archive has one writer; OpenJ9's cache is shared by all, and one is enough.
    """
    first = {one.kind: one.name for one in reversed(spec.servers)}
    filled = _with_servers(spec, lambda one: _options(one, "warm", populates=first[one.kind] == one.name))
    components = [one.model_copy(update={"settings": _load(one.settings)}) for one in filled.injectors]
    return filled.model_copy(update={"components": [*filled.deployed, *components], "procedure": "steady"})


def _load(settings: dict[str, Any]) -> dict[str, Any]:
    """An injector's settings for real load: each operation once, as start-up trials ask, leaves much code untouched."""
    if settings.get("model") != "probe":
        return settings
    return {**settings, "model": "closed", "users": POPULATING_USERS, "firstUser": 0}


def without_caches(spec: Spec) -> Spec:
    """The run before a measured start that only loads the data: it must not touch the class caches."""
    return _with_servers(spec, lambda one: _options(one, "default", populates=False))


def _with_servers(spec: Spec, options: Callable[[Component], list[str]]) -> Spec:
    components = [
        one.model_copy(update={"jvm_options": options(one)})
        if one.role == "server" and one.jvm_settings is not None
        else one
        for one in spec.components
    ]
    return spec.model_copy(update={"components": components})


def _options(component: Component, state: str, *, populates: bool) -> list[str]:
    settings, jvm = component.jvm_settings, component.artifact.jvm
    assert settings is not None
    assert jvm is not None
    if state == "warm" and not populates:
        state = "default"
    changed = settings.model_copy(update={"class_cache": state})
    own = component.jvm_options[
        : len(component.jvm_options) - len(jvm_options(settings, component.heap_bytes, jvm))
    ]
    return [*own, *jvm_options(changed, component.heap_bytes, jvm, populates=populates)]
