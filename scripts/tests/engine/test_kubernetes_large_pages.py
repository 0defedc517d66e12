# SPDX-License-Identifier: Apache-2.0
"""Large pages of nodes: what they tell, and what JVMs need of it."""

import pytest
from builders import make_jvm
from planned import containers, cores, specs

from steelyard.engines.kubernetes.large_pages import page_for, reserved_pages, resource_of
from steelyard.engines.kubernetes.pods import quantity
from steelyard.errors import MissingRequirement
from steelyard.results.spec import Spec
from steelyard.units import MIB

GIB = 1024 * MIB


def node(**pages: str) -> dict[str, object]:
    told = {f"hugepages-{name}": size for name, size in pages.items()}
    return {"status": {"allocatable": {"cpu": "2", "memory": "4Gi", **told}}}


def planned(pages: str) -> Spec:
    runtime = containers("server", jvm=make_jvm("hotspot"), cpus=8)
    asked = ("engine=kubernetes", f"pages={pages}", "jvms=1,2", "total_heap=1g")
    return specs("jvm-count", *asked, host=cores(8), runtime=runtime)["jvms-1"]


@pytest.mark.parametrize(
    ("size", "name"),
    [
        (64 * 1024, "hugepages-64Ki"),
        (2 * MIB, "hugepages-2Mi"),
        (16 * MIB, "hugepages-16Mi"),
        (GIB, "hugepages-1Gi"),
    ],
)
def test_a_size_of_pages_has_the_name_that_kubernetes_gives_it(size: int, name: str) -> None:
    assert resource_of(size) == name
    assert quantity(name.removeprefix("hugepages-")) == size


def test_the_node_with_most_counts_and_none_is_nothing() -> None:
    nodes = [node(**{"2Mi": "512Mi", "1Gi": "0"}), node(**{"2Mi": "1344Mi", "1Gi": "0"}), node()]
    assert reserved_pages(nodes) == {2 * MIB: 1344 * MIB}


def test_jvms_take_the_smallest_large_pages() -> None:
    specs_ = [planned("small"), planned("large")]
    assert page_for(specs_, {2 * MIB: 2 * GIB, GIB: 4 * GIB}) == 2 * MIB
    assert page_for(specs_[:1], {}) is None


@pytest.mark.parametrize(
    ("pages", "said"), [({}, "has any: reserve"), ({2 * MIB: GIB}, "1,344 MiB of large pages")]
)
def test_nodes_with_too_few_are_refused(pages: dict[int, int], said: str) -> None:
    with pytest.raises(MissingRequirement, match=said):
        page_for([planned("large")], pages)
