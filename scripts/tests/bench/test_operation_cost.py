# SPDX-License-Identifier: Apache-2.0
"""Parts of `bench/operation_cost.py`: DayTrader7's table of operations, and the costs of a request of the mix."""

from urllib.parse import parse_qs, urlsplit

import pytest
from operation_cost import Cost, of_the_mix
from trade_operations import STEPS, USERS, Traders


def _field(path: str, name: str) -> str:
    return parse_qs(urlsplit(path).query)[name][0]


def test_the_mix_of_daytrader_weighs_operations_as_the_workload_does() -> None:
    equal = {operation: Cost(0.002, 1000.0, 1) for operation in STEPS}
    mix = of_the_mix("daytrader7", equal)
    assert [mix.cpu, mix.allocated, mix.ended] == pytest.approx([0.002, 1000.0, len(STEPS)])
    quotes = equal | {"quotes": Cost(0.002, 2000.0, 1)}
    # The workload has 12.0313 requests of quotes and 0.75 purchases in 35.088 requests; 2.3438 are left out.
    assert of_the_mix("daytrader7", quotes).allocated == pytest.approx(
        1000 + 1000 * 11.2813 / 32.744, rel=1e-3
    )


@pytest.mark.parametrize("operations", [(), ("logout",)], ids=["microservices", "monolith"])
def test_the_mix_of_acmeair_is_a_mean_of_its_operations(operations: tuple[str, ...]) -> None:
    names = ("login", "view-profile", "update-customer", "query-flight", "book-flight", "list-bookings")
    figures = dict.fromkeys((*names, "cancel-booking", *operations), Cost(0.001, 500.0, 0))
    mix = of_the_mix("acmeair", figures)
    assert [mix.cpu, mix.allocated] == pytest.approx([0.001, 500.0])


def test_a_trader_sells_each_holding_once_and_only_what_the_portfolio_showed() -> None:
    traders = Traders()
    traders.keep("portfolio", 3, "holdingID=7>sell holdingID=9>sell holdingID=7>sell")
    sales = list(traders.requests("sell", 10 * USERS))
    assert [(sale.user, _field(sale.path, "holdingID")) for sale in sales] == [(3, "7"), (3, "9")]


def test_a_trader_buys_another_stock_each_time_and_registers_under_another_name() -> None:
    traders = Traders()
    bought = [request for request in traders.requests("buy", 5 * USERS) if request.user == 0]
    assert len({_field(request.path, "symbol") for request in bought}) == 5
    names = {
        _field(request.path, "user id") for count in (3, 4) for request in traders.requests("register", count)
    }
    assert len(names) == 7


def test_everybody_logs_out_once() -> None:
    assert len(list(Traders().requests("logout", 5 * USERS))) == USERS
