// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.CountedOperations;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Statements of the Faces pages, whose beans read more than they show. */
@Tag("full")
@ExtendWith(TradeServer.Shared.class)
final class FacesStatementsIT {

  private CountedOperations counted;
  private TradeBrowser user;
  private String state;

  @Test
  void eachPageSendsTheStatementsOfTheTable(TradeServer server) throws Exception {
    counted = new CountedOperations(server.statements());
    server.configure(RunMode.EJB, OrderMode.SYNC);
    user = server.browser();
    user.app("login&uid=uid:60&passwd=xxx").must("Welcome to DayTrader");
    Answer owned = user.app("portfolio").must("DayTrader Portfolio");
    int h = owned.all("holdingID=([0-9]+)").size();
    int d = (int) owned.all("symbols=(s:[0-9]+)\"").stream().distinct().count();
    // The account with its holdings and closed orders, and the five stocks of the form for quotes.
    int page = 4 + d;
    int five = 5;

    user.get("tradehome.faces");
    get("home", "tradehome.faces", "S" + (page + five));
    get("account", "account.faces", "S" + (page + five));
    get("market summary", "marketSummary.faces", "S" + (page + five));
    get("quotes", "quote.faces", "S" + (page + five));
    get("portfolio", "portfolio.faces", "S" + (1 + d + h + page + five));
    get("quotes", "quote.faces", "S" + (page + five));
    post(
        "a quote",
        "quote.faces",
        "quotes:symbols=s:7&quotes:submit2=quotes&quotes_SUBMIT=1",
        "S" + (five + 1 + page));
    post(
        "buy",
        "quote.faces",
        "quotes:symbols=s:0&quotes:quotes:0:quantity=3&quotes:quotes:0:buy=buy&quotes_SUBMIT=1",
        "S" + (1 + page + 4) + " I2 U2");
    user.get("tradehome.faces").must("The following Order(s) have completed");

    owned = user.app("portfolio").must("DayTrader Portfolio");
    h = owned.all("holdingID=([0-9]+)").size();
    d = (int) owned.all("symbols=(s:[0-9]+)\"").stream().distinct().count();
    page = 4 + d;
    get("portfolio", "portfolio.faces", "S" + (1 + d + h + page + 1));
    post(
        "sell",
        "portfolio.faces",
        "portfolio:_idcl=portfolio:holdings:0:sell&portfolio:symbols=s:0&portfolio_SUBMIT=1",
        "S" + (1 + d + h + page + 1 + 5) + " I1 U3 D1");
    user.get("tradehome.faces").must("The following Order(s) have completed");
    counted.compare();
  }

  private void get(String name, String path, String statements) throws Exception {
    remember(counted.perform(name, statements, () -> user.get(path).must("DayTrader")));
  }

  private void post(String name, String path, String fields, String statements) throws Exception {
    String all = "javax.faces.ViewState=" + state + "&" + fields;
    remember(counted.perform(name, statements, () -> user.post(path, all).must("DayTrader")));
  }

  private void remember(Answer answer) {
    state = answer.all("name=\"javax\\.faces\\.ViewState\" [^>]*value=\"([^\"]+)\"").get(0);
  }
}
