// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import dev.steelyard.daytrader7.beans.TradeLocal;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.ejb.EJB;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Servlets that use Enterprise Beans, entities and messages. */
@WebServlet({
  "/ejb3/PingServlet2Session",
  "/ejb3/PingServlet2SessionLocal",
  "/ejb3/PingServlet2SessionRemote",
  "/ejb3/PingServlet2Entity",
  "/ejb3/PingServlet2Session2Entity",
  "/ejb3/PingServlet2Session2Entity2JSP",
  "/ejb3/PingServlet2Session2EntityCollection",
  "/ejb3/PingServlet2Session2CMROne2One",
  "/ejb3/PingServlet2Session2CMR2One2One",
  "/ejb3/PingServlet2Session2CMROne2Many",
  "/ejb3/PingServlet2Session2CMR2One2Many",
  "/ejb3/PingServlet2Session2JDBC",
  "/ejb3/PingServlet2Session2JDBCCollection",
  "/ejb3/PingServlet2MDBQueue",
  "/ejb3/PingServlet2MDBTopic",
  "/ejb3/PingServlet2TwoPhase"
})
public class BeanPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  private static final double INVESTED = 1000;
  private static final double WORTH = 1100;

  @EJB private transient PingLocal local;
  @EJB private transient PingRemote remote;
  @EJB private transient TradeLocal trade;
  @Inject private transient Messages messages;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    Object found = repeated(step(name));
    if (name.endsWith("2JSP")) {
      forward(request, response, name, found);
    } else {
      show(response, name, found);
    }
  }

  private Callable<Object> step(String name) {
    return switch (name.substring("PingServlet2".length())) {
      case "Session" ->
          () ->
              ((PingLocal) lookup("java:module/PingBean!" + PingLocal.class.getName()))
                  .investmentReturn(INVESTED, WORTH);
      case "SessionLocal" -> () -> local.investmentReturn(INVESTED, WORTH);
      case "SessionRemote" -> () -> remote.investmentReturn(INVESTED, WORTH);
      case "Entity" -> () -> local.entity(randomSymbol());
      case "Session2Entity", "Session2Entity2JSP" -> () -> trade.quote(randomSymbol());
      case "Session2EntityCollection" -> () -> trade.holdings(randomUser());
      case "Session2CMROne2One", "Session2CMR2One2One" ->
          () -> trade.accountProfileData(randomUser());
      case "Session2CMROne2Many", "Session2CMR2One2Many" -> () -> trade.orders(randomUser());
      case "Session2JDBC" -> () -> local.quoteByJdbc(randomSymbol());
      case "Session2JDBCCollection" -> () -> local.holdingsByJdbc(randomUser());
      case "MDBQueue" -> () -> sent(messages::pingQueue, "the queue");
      case "MDBTopic" -> () -> sent(messages::pingTopic, "the topic");
      case "TwoPhase" -> () -> local.quoteAndMessage(randomSymbol());
      default -> throw new IllegalStateException(name);
    };
  }

  private static String sent(Consumer<String> send, String where) {
    send.accept("Ping of " + where);
    return "A message was sent to " + where;
  }
}
