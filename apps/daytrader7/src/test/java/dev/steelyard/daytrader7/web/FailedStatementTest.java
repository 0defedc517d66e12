// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.steelyard.bench.Workload;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.TradeOrder;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page of a request whose statement failed is no answer: it would count as right. */
@SuppressWarnings("UnnecessaryAssignment") // No container injects here.
final class FailedStatementTest {

  private final TradeException dead = new TradeException("no", new SQLException("no"));

  private final Map<String, Object> attributes = new HashMap<>();
  private final Map<String, String> parameters = new HashMap<>();
  private RuntimeException failure = dead;
  private Object status = 200;

  private final class Failing extends Trade {
    @Override
    public List<TradeOrder> closedOrders(String userID) {
      throw failure;
    }

    @Override
    public Account register(AccountProfile profile, BigDecimal openBalance) {
      throw failure;
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private final HttpSession session =
      proxy(HttpSession.class, (self, method, arguments) -> "uid:0");

  private final RequestDispatcher pages =
      proxy(RequestDispatcher.class, (self, method, arguments) -> null);

  private final HttpServletRequest request =
      proxy(
          HttpServletRequest.class,
          (self, method, arguments) ->
              switch (method.getName()) {
                case "getParameter" -> parameters.get((String) arguments[0]);
                case "getSession" -> session;
                case "getRequestDispatcher" -> pages;
                case "setAttribute" -> attributes.put((String) arguments[0], arguments[1]);
                default -> null;
              });

  private final HttpServletResponse response =
      proxy(
          HttpServletResponse.class,
          (self, method, arguments) -> {
            status = method.getName().equals("sendError") ? arguments[0] : status;
            return null;
          });

  private final FilterChain page = (asked, answer) -> status = "a page";

  @ParameterizedTest
  @CsvSource({"quotes, quotes", "mksummary, mksummary", "update_profile, update", "login, login"})
  void closedOrdersThatCannotBeReadAreAnErrorOfTheOperation(String action, String operation)
      throws Exception {
    OrdersAlertFilter filter = new OrdersAlertFilter();
    filter.trade = new Failing();
    filter.config = new TradeConfig();
    parameters.putAll(Map.of("action", action, "uid", "uid:0"));
    filter.doFilter(request, response, page);
    assertEquals(500, status);
    assertEquals(operation, attributes.get(Workload.OPERATION));
  }

  private TradeActions registering() {
    parameters.putAll(
        Map.of("user id", "ru:0", "passwd", "x", "confirm passwd", "x", "money", "1"));
    TradeActions actions = new TradeActions();
    actions.trade = new Failing();
    actions.config = new TradeConfig();
    return actions;
  }

  @Test
  void aRegistrationThatTheDatabaseDoesNotTakeIsAnError() {
    for (RuntimeException each : List.of(dead, new IllegalStateException("rolled back"))) {
      failure = each;
      Throwable thrown =
          assertThrows(RuntimeException.class, () -> registering().register(request, response));
      assertSame(each, thrown);
    }
  }

  @Test
  void aRegistrationThatCannotBeDoneAsAskedIsAPageThatSaysWhy() throws Exception {
    failure = new TradeException("There is a user ru:0 already.");
    registering().register(request, response);
    assertEquals(
        "Registration operation failed; There is a user ru:0 already.",
        attributes.get(Page.RESULTS));
  }
}
