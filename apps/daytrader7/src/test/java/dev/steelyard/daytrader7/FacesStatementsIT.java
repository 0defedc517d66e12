// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.daytrader7.Browser.Answer;
import dev.steelyard.testkit.StatementLog;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

/** Statements of the Faces pages, whose beans read more than they show. */
@ExtendWith(TradeServer.Shared.class)
final class FacesStatementsIT {

  private final List<Executable> comparisons = new ArrayList<>();

  private TradeServer server;
  private Browser user;
  private String state;

  @Test
  void eachPageSendsTheStatementsOfTheTable(TradeServer shared) throws Exception {
    server = shared;
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
    assertAll(comparisons);
  }

  private void get(String name, String path, String statements) throws Exception {
    long end = server.statements().end();
    compare(name, end, user.get(path), statements);
  }

  private void post(String name, String path, String fields, String statements) throws Exception {
    long end = server.statements().end();
    compare(
        name, end, user.post(path, "javax.faces.ViewState=" + state + "&" + fields), statements);
  }

  private void compare(String name, long end, Answer answer, String statements) throws Exception {
    answer.must("DayTrader");
    remember(answer);
    StatementLog.Counts counts = server.statements().since(end);
    comparisons.add(
        () -> assertEquals(StatementLog.Counts.of(statements), counts.statements(), name));
  }

  private void remember(Answer answer) {
    state = answer.all("name=\"javax\\.faces\\.ViewState\" [^>]*value=\"([^\"]+)\"").get(0);
  }
}
