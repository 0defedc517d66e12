// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.testkit.Browser.Answer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is answered to good and bad input. */
@Tag("full")
@ExtendWith(TradeServer.Shared.class)
final class PagesIT {

  private static final double SIZE_BAND = 0.10;

  @ParameterizedTest
  @CsvSource({
    "'', 4614",
    "home, 8410",
    "quotes&symbols=s:1, 7839",
    "'quotes&symbols=s:1,s:2,s:3', 10741",
    "quotes&symbol=s:1, 7849",
    "account, 15970",
    "mksummary, 21225",
  })
  void pagesAreAsLargeAsTheOriginals(String action, int bytes, TradeServer server)
      throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    TradeBrowser user = loggedIn(server, "uid:20");
    int size =
        user.get(action.isEmpty() ? "app" : "app?action=" + action)
            .must("DayTrader")
            .body()
            .length();
    assertEquals(bytes, size, SIZE_BAND * bytes);
  }

  @Test
  void pagesOfOrdersAndHoldingsAreAsLargeAsTheOriginals(TradeServer server) throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    TradeBrowser user = loggedIn(server, "uid:21");
    int order = user.app("buy&symbol=s:1&quantity=3").body().length();
    user.app("home");
    Answer portfolio = user.app("portfolio");
    int wanted = 8592 + 1098 * portfolio.all("holdingID=([0-9]+)").size();
    assertEquals(wanted, portfolio.body().length(), SIZE_BAND * wanted);
    assertEquals(8145, order, SIZE_BAND * 8145);
    int cancelled = user.app("sell&holdingID=2000000000").must("cancelled").body().length();
    assertEquals(8112, cancelled, SIZE_BAND * 8112);
    int register =
        server.browser().get("register.jsp").must("DayTrader Registration").body().length();
    assertEquals(6471, register, SIZE_BAND * 6471);
  }

  /** The original's was measured with eight holdings and one alert of 1,400 bytes. */
  @Test
  void thePortfolioOfFacesIsAsLargeAsTheOriginals(TradeServer server) throws Exception {
    server.configure(RunMode.EJB, OrderMode.SYNC);
    int number = 150;
    TradeBrowser user = loggedIn(server, "uid:" + number);
    while (user.app("portfolio").all("holdingID=([0-9]+)").size() != 8) {
      user = loggedIn(server, "uid:" + ++number);
    }
    int size = user.get("portfolio.faces").must("DayTrader Portfolio").body().length();
    int wanted = 10344 - 1400;
    assertEquals(wanted, size, SIZE_BAND * wanted);
  }

  @ParameterizedTest
  @EnumSource(RunMode.class)
  void badInputGetsAClearAnswer(RunMode mode, TradeServer server) throws Exception {
    server.configure(mode, OrderMode.SYNC);
    TradeBrowser nobody = server.browser();
    nobody.app("home").must("User Not Logged in");
    nobody.app("buy&symbol=s:1&quantity=1").must("User Not Logged in");
    int wrong = mode == RunMode.EJB ? 500 : 200;
    nobody.app("login&uid=uid:3&passwd=no").must(wrong, "The password of uid:3 is another one.");
    nobody.app("login&uid=uid:99999&passwd=xxx").must(wrong, "There is no user uid:99999.");
    nobody.app("login").must(wrong, "There is no user null.");

    TradeBrowser user = loggedIn(server, "uid:22");
    user.app("quotes&symbols=nope").must("Invalid symbol: nope");
    user.app("quotes&symbols=%3Cscript%3E").must("Invalid symbol: &lt;script&gt;");
    user.app("buy&symbol=s:99999&quantity=1").must(500, "There is no stock s:99999.");
    user.app("buy&quantity=1").must(500, "There is no stock null.");
    for (String quantity : new String[] {"abc", "", "-1", "0", "NaN", "Infinity", "1e300"}) {
      user.app("buy&symbol=s:1&quantity=" + quantity).must(500, "The quantity of shares must be");
    }
    user.app("sell").must(500, "The holding to be sold must be given by its number.");
    user.app("sell&holdingID=x").must(500, "The holding to be sold");
    user.app("sell&holdingID=999999").must("has been submitted");
    user.app("update_profile&password=a&cpassword=b").must("passwords do not match");
    user.app("update_profile&password=a&cpassword=a").must("please fill in all profile");
    user.app("what%3Cis%3E").must("TradeAppServlet: Invalid Actionwhat&lt;is&gt;");
    user.app("register&user+id=uid:1&passwd=a&confirm+passwd=a&money=1")
        .must("Registration operation failed;");
    user.app("register&user+id=ru:x&passwd=a&confirm+passwd=b&money=1")
        .must("Registration operation failed, your passwords did not match");
    user.app("register&user+id=ru:x&passwd=a&confirm+passwd=a&money=much")
        .must("The opening balance must be a number.");
    user.app("logout").must("DayTrader Login");
    user.app("home").must("User Not Logged in");
  }

  @ParameterizedTest
  @EnumSource(RunMode.class)
  void theScenarioDoesEachOperation(RunMode mode, TradeServer server) throws Exception {
    server.configure(mode, OrderMode.SYNC);
    TradeBrowser user = server.browser();
    user.get("scenario").must("Welcome to DayTrader");
    user.get("scenario?action=q").must("Quotes and Trading");
    user.get("scenario?action=a").must("Account Information");
    user.get("scenario?action=p").must("DayTrader Portfolio");
    user.get("scenario?action=b").must("has been submitted");
    user.get("scenario?action=s").must("has been submitted");
    user.get("scenario?action=u").must("Account profile update successful");
    user.get("scenario?action=r").must("Registration operation succeeded");
    user.get("scenario?action=s").must("has been submitted");
    user.get("scenario?action=o").must("DayTrader Login");
    user.get("scenario?action=h").must("Welcome to DayTrader");
    assertTrue(user.get("scenario?action=n").must("Hello").body().length() < 80);
  }

  @Test
  void anAbsentCheckboxIsSwitchedOffAndABadValueIgnored(TradeServer server) throws Exception {
    server
        .browser()
        .get("config?action=updateConfig&MaxUsers=many&RunTimeMode=7&primIterations=3")
        .must("DayTrader Configuration Updated");
    var settings = server.json("/daytrader/bench/info").getJsonObject("settings");
    assertEquals("200", settings.getString("maxUsers"));
    assertEquals("3", settings.getString("primIterations"));
    assertEquals("false", settings.getString("longRun"));
    assertEquals("false", settings.getString("displayOrderAlerts"));
    server.configure(RunMode.EJB, OrderMode.SYNC);
    settings = server.json("/daytrader/bench/info").getJsonObject("settings");
    assertEquals("true", settings.getString("longRun"));
    assertEquals("0", settings.getString("runtimeMode"));
  }

  @Test
  void derbyGathersNoStatisticsWhileLoadRuns(TradeServer server) throws Exception {
    String arguments = server.json("/daytrader/bench/info").getJsonArray("jvmArguments").toString();
    assertTrue(arguments.contains("-Dderby.storage.indexStats.auto=false"), arguments);
  }

  @Test
  void theSameSeedMakesTheSameDataSetAgain(TradeServer server) throws Exception {
    String hash = server.json("/daytrader/bench/info").getString("dataSetHash");
    server
        .browser()
        .get("config?action=buildDBTables")
        .must("Database Product detected: Apache Derby");
    server.browser().get("config?action=buildDB").must("Creating 400 Quotes");
    assertEquals(hash, server.json("/daytrader/bench/info").getString("dataSetHash"));
    // Keys that this JVM has in hand are still nobody else's.
    server.configure(RunMode.EJB, OrderMode.SYNC);
    loggedIn(server, "uid:23").app("buy&symbol=s:1&quantity=3").must("has been submitted");
    server.configure(RunMode.DIRECT, OrderMode.SYNC);
    loggedIn(server, "uid:24").app("buy&symbol=s:1&quantity=3").must("has been submitted");
  }

  /** Somebody who was told of the orders of the population. */
  private static TradeBrowser loggedIn(TradeServer server, String userID) throws Exception {
    TradeBrowser user = server.browser();
    user.app("login&uid=" + userID + "&passwd=xxx").must("Welcome to DayTrader");
    return user;
  }
}
