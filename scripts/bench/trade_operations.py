# SPDX-License-Identifier: Apache-2.0
"""DayTrader7's operations as `operation_cost.py` performs them: a table of requests, and what a user keeps of pages.

Addresses, fields and texts are those of the public load plan, as the injector sends them (`TradeJourney.java`): most
quotes are asked for with a parameter that the application does not know. Users have five holdings each before the
first operation (`SETTLING`), of the same stocks on each deployment: a portfolio's work depends on them. The page
after an order lists it; here that page is mostly the next order's, whose figure includes the list.
"""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

USERS = 200
QUOTES = 400
_APP = "/daytrader/app"
_NAME = "first:1 last:2"


@dataclass(frozen=True)
class Request:
    """A request of a user, and the text that its answer shows."""

    method: str
    path: str
    body: str
    headers: Mapping[str, str]
    user: int = 0
    text: str = ""


@dataclass(frozen=True)
class Step:
    """The request of an operation: fields may name {user}, {symbol}, {holding}, {new_user}."""

    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    path: str = _APP
    most: int | None = None
    """How often each user performs it in a row; None: as often as one likes."""


STEPS: Mapping[str, Step] = {
    "login": Step(
        "Welcome to DayTrader", {"action": "login", "uid": "{user}", "passwd": "xxx"}, method="POST"
    ),
    "home": Step("Welcome to DayTrader", {"action": "home"}),
    "quotes": Step("DayTrader: Quotes and Trading", {"action": "quotes", "symbol": "{symbol}"}),
    "quotes-before-buy": Step("DayTrader: Quotes and Trading", {"action": "quotes", "symbols": "{symbol}"}),
    "account": Step("DayTrader Account Information", {"action": "account"}),
    "buy": Step("has been submitted", {"action": "buy", "symbol": "{symbol}", "quantity": "100"}),
    "portfolio": Step("DayTrader Portfolio", {"action": "portfolio"}),
    "sell": Step("has been submitted", {"action": "sell", "holdingID": "{holding}"}),
    "update-profile": Step(
        "Account profile update successful",
        {
            "action": "update_profile",
            "userID": "{user}",
            "fullname": "rnd{user}",
            "password": "xxx",
            "address": "rndAddress",
            "cpassword": "xxx",
            "creditcard": "rndCC",
            "email": "rndEmail",
        },
    ),
    "register-page": Step("DayTrader Registration", path="/daytrader/register.jsp"),
    "register": Step(
        "Welcome to DayTrader",
        {
            "action": "register",
            "Full Name": _NAME,
            "snail mail": _NAME,
            "email": "{user}@1.com",
            "user id": "{new_user}",
            "passwd": "yyy",
            "confirm passwd": "yyy",
            "money": "1000000",
            "Credit Card Number": "123-fake-ccnum-456",
        },
    ),
    "logout": Step("DayTrader Login", {"action": "logout"}, most=1),
}
"""In the order in which one prepares the next."""
SETTLING: Mapping[str, int] = {
    "login": USERS,
    "portfolio": USERS,
    "sell": USERS * 100,
    "buy": USERS * 5,
}
"""What is performed before all figures, and how often at most: everybody sells everything, and buys five stocks."""


class Traders:
    """The users of one deployment: what they hold, and how often something was done."""

    def __init__(self) -> None:
        self._holdings: dict[int, list[str]] = {}
        self._run = f"{time.time():.0f}"
        self._done = dict.fromkeys(STEPS, 0)

    def requests(self, operation: str, count: int) -> Iterable[Request]:
        """So many, of all users in turn; sales of what there is to sell, log-outs of whoever is logged in."""
        step = STEPS[operation]
        for i in range(count if step.most is None else min(count, step.most * USERS)):
            user, number = i % USERS, self._done[operation]
            held = self._holdings.get(user)
            if operation == "sell" and not held:
                continue
            values = {
                "user": f"uid:{user}",
                # Another one for each time that it is the same user's turn.
                "symbol": f"s:{(number + number // USERS * 37) % QUOTES}",
                "new_user": f"ru:{self._run}:{number}",
                "holding": held.pop(0) if operation == "sell" and held else "",
            }
            self._done[operation] += 1
            fields = urlencode({name: value.format(**values) for name, value in step.fields.items()})
            if step.method == "POST":
                form = {"Content-Type": "application/x-www-form-urlencoded"}
                yield Request("POST", step.path, fields, form, user, step.text)
            else:
                yield Request("GET", f"{step.path}?{fields}", "", {}, user, step.text)

    def keep(self, operation: str, user: int, page: str) -> None:
        """Remember the holdings that a page lists."""
        if operation == "portfolio":
            self._holdings[user] = list(dict.fromkeys(re.findall(r"holdingID=(\d+)", page)))


def split_quotes(shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of all operations of the table, of those of the workload's: a purchase follows on quotes of its own."""
    return dict(shares) | {
        "quotes": shares["quotes"] - shares["buy"],
        "quotes-before-buy": shares["buy"],
    }
