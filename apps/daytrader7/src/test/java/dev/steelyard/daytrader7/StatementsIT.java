// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Browser.Answer;
import dev.steelyard.testkit.CountedOperations;
import dev.steelyard.testkit.StatementLog;
import dev.steelyard.testkit.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Statements, transactions and messages of each operation, equal to those of the application after
 * which this one is made.
 */
@Tag("full")
@ExtendWith(TradeServer.Shared.class)
final class StatementsIT {

  private static final String ALERT = "The following Order(s) have completed";

  /** More than threads that receive messages of the topic. */
  private static final int PINGS = 10;

  private CountedOperations counted;
  private TradeServer server;
  private TradeBrowser user;

  /** One operation: the table's row, to be compared. */
  private Answer operation(
      String name, String path, String text, String statements, int transactions) throws Exception {
    return counted.perform(name, statements, transactions, () -> user.get(path).must(text));
  }

  @ParameterizedTest
  @EnumSource(RunMode.class)
  void eachOperationSendsTheStatementsOfTheTable(RunMode mode, TradeServer shared)
      throws Exception {
    server = shared;
    counted = new CountedOperations(server.statements());
    boolean beans = mode == RunMode.EJB;
    server.configure(mode, OrderMode.SYNC);
    user = server.browser();
    // The first request of a user tells of the orders of the population, once.
    user.app("login&uid=uid:5&passwd=xxx").must("Welcome to DayTrader");
    Answer portfolio = user.app("portfolio").must("DayTrader Portfolio");
    int h = portfolio.all("holdingID=([0-9]+)").size();
    int d = (int) portfolio.all("symbols=(s:[0-9]+)\"").stream().distinct().count();

    String welcome = "Welcome to DayTrader";
    operation(
        "login",
        "app?action=login&uid=uid:5&passwd=xxx",
        welcome,
        beans ? "S%d U1".formatted(6 + d) : "S5 U1",
        4);
    operation("home", "app?action=home", welcome, beans ? "S" + (4 + d) : "S3", 3);
    String quotes = "DayTrader: Quotes and Trading";
    operation("a quote", "app?action=quotes&symbols=s:1", quotes, "S2", 2);
    operation("five quotes", "app?action=quotes&symbols=s:1,s:2+s:3,s:4,s:5", quotes, "S6", 6);
    operation("no symbols", "app?action=quotes&symbol=s:1", quotes, "S1", 1);
    operation("account", "app?action=account", "Account Information", beans ? "S4" : "S3", 3);
    operation(
        "portfolio",
        "app?action=portfolio",
        "DayTrader Portfolio",
        "S" + (beans ? 2 + d + h : 2 + h),
        2 + h);
    operation("summary", "app?action=mksummary", "Market Summary", "S1", 1);
    String submitted = "has been submitted";
    operation(
        "buy",
        "app?action=buy&symbol=s:7&quantity=10",
        submitted,
        beans ? "S5 I2 U2" : "S10 I2 U4",
        beans ? 3 : 4);
    user.app("home").must(ALERT);
    operation(
        "sell",
        "app?action=sell&holdingID=" + portfolio.all("holdingID=([0-9]+)").get(0),
        submitted,
        beans ? "S6 I1 U3 D1" : "S11 I1 U5 D1",
        beans ? 3 : 4);
    user.app("home").must(ALERT);
    operation(
        "update",
        "app?action=update_profile&password=xxx&cpassword=xxx&address=a&creditcard=c&email=e&fullname="
            + mode,
        "Account profile update successful",
        beans ? "S5 U1" : "S4 U1",
        4);
    operation("logout", "app?action=logout", "DayTrader Login", beans ? "S2 U1" : "U1", 1);
    operation(
        "register",
        "app?action=register&user+id=ru:"
            + mode
            + "&passwd=yyy&confirm+passwd=yyy&Full+Name=f&Credit+Card+Number=1&money=1000000"
            + "&email=e&snail+mail=s",
        welcome,
        beans ? "S6 I2 U1" : "S4 I2 U1",
        4);
    operation(
        "reset", "config?action=resetTrade", "Trade Reset completed successfully", "S8 U1 D7", 1);
    counted.compare();
  }

  @ParameterizedTest
  @CsvSource({
    "EJB, ASYNC_2PHASE, S4 I1 U1, S5 U1 D1",
    "DIRECT, ASYNC_2PHASE, S3 I1 U2, S3 U2 D1",
    "EJB, ASYNC_MANAGED_THREAD, S4 I1 U1, S5 U1 D1",
    "DIRECT, ASYNC_MANAGED_THREAD, S3 I1 U2, S3 U2 D1",
  })
  void anOrderIsCompletedLaterAndOnce(
      RunMode mode, OrderMode order, String afterBuy, String afterSell, TradeServer shared)
      throws Exception {
    server = shared;
    boolean beans = mode == RunMode.EJB;
    server.configure(mode, order);
    user = server.browser();
    user.app("login&uid=uid:8&passwd=xxx").must("Welcome to DayTrader");
    List<String> before = user.app("portfolio").all("holdingID=([0-9]+)");
    awaitEarlierMessages();

    later(
        beans,
        order,
        "app?action=buy&symbol=s:7&quantity=10",
        beans ? "S5 I1 U2" : "S7 I1 U2",
        afterBuy);
    List<String> bought = new ArrayList<>(portfolioWithAlert().all("holdingID=([0-9]+)"));
    assertEquals(before.size() + 1, bought.size());

    bought.removeAll(before);
    String sold = bought.get(0);
    later(
        beans,
        order,
        "app?action=sell&holdingID=" + sold,
        beans ? "S6 I1 U3" : "S8 I1 U3",
        afterSell);
    assertEquals(Set.copyOf(before), Set.copyOf(portfolioWithAlert().all("holdingID=([0-9]+)")));
    user.app("sell&holdingID=" + sold).must("has been submitted").must("cancelled");
  }

  /**
   * The portfolio once it tells that the order is complete: Derby logs a statement before it
   * executes it, so a complete log does not say that the order is committed.
   */
  private Answer portfolioWithAlert() throws Exception {
    AtomicReference<Answer> page = new AtomicReference<>();
    Waiting.await(
        "the order is told of",
        () -> {
          page.set(user.app("portfolio").must("DayTrader Portfolio"));
          return page.get().body().contains(ALERT);
        });
    return page.get();
  }

  /** Waits until no message of an earlier order arrives among those that are sent after it. */
  private void awaitEarlierMessages() throws Exception {
    int received;
    do {
      received = server.received("topic updateQuote");
      for (int i = 0; i < PINGS; i++) {
        int pings = server.received("topic ping");
        user.get("ejb3/PingServlet2MDBTopic").must("PingServlet2MDBTopic");
        Waiting.await("the ping is received", () -> server.received("topic ping") > pings);
      }
    } while (server.received("topic updateQuote") != received);
  }

  /**
   * An order that is answered without waiting for its end, and completed by statements of somebody
   * else's. By JDBC it is read again for the answer, and may have been completed by then.
   */
  private void later(boolean beans, OrderMode mode, String path, String request, String completion)
      throws Exception {
    int published = server.received("topic updateQuote");
    int queued = server.received("queue neworder");
    Map<Character, Integer> wanted = new TreeMap<>(StatementLog.Counts.of(request));
    StatementLog.Counts.of(completion).forEach((kind, n) -> wanted.merge(kind, n, Integer::sum));
    int all = wanted.values().stream().mapToInt(Integer::intValue).sum();
    long end = server.statements().end();
    Answer answer = user.get(path).must("has been submitted");
    List<String> status = answer.all(">(open|closed)<");
    assertTrue(status.contains("open") || (!beans && status.contains("closed")), status::toString);
    Waiting.await(
        "The order is complete",
        () ->
            server.statements().since(end).statements().values().stream()
                    .mapToInt(Integer::intValue)
                    .sum()
                >= all);
    assertEquals(wanted, server.statements().since(end).statements());
    Waiting.await("The price is published", () -> server.received("topic updateQuote") > published);
    assertEquals(published + 1, server.received("topic updateQuote"));
    int wantedOnQueue = mode == OrderMode.ASYNC_2PHASE ? queued + 1 : queued;
    Waiting.await(
        "The order's message is counted", () -> server.received("queue neworder") >= wantedOnQueue);
    assertEquals(wantedOnQueue, server.received("queue neworder"));
  }
}
