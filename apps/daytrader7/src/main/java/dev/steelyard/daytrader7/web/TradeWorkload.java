// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.web;

import dev.steelyard.bench.Workload;
import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.data.DataSet;
import dev.steelyard.daytrader7.messages.MessageStatistics;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.servlet.http.HttpServletRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The workload {@code daytrader7}: its operations are the actions of {@code /app} and its pages.
 */
public final class TradeWorkload implements Workload {

  private static final String VERSION = "1.0.3";

  /** The actions of {@code /app}, in names that the pages of Faces share with a prefix. */
  private static final Map<String, Optional<String>> ACTIONS = new HashMap<>();

  private static final Map<String, Optional<String>> PATHS = new HashMap<>();

  /** The pages of Faces as they are asked for; what their forms ask for is told by their beans. */
  private static final Map<String, String> PAGES =
      Map.of(
          "welcome", "welcome",
          "register", "register-page",
          "tradehome", "home",
          "account", "account",
          "portfolio", "portfolio",
          "quote", "quote-page",
          "order", "order",
          "marketSummary", "market-summary");

  /** What is counted under names that no path tells: forms of Faces, and frames of a websocket. */
  private static final Set<String> TOLD =
      Set.of(
          "faces-login",
          "faces-register",
          "faces-update-profile",
          "faces-logout",
          "faces-quotes",
          "faces-buy",
          "faces-sell",
          "market-summary");

  static {
    for (String action :
        Set.of(
            "login",
            "home",
            "account",
            "portfolio",
            "quotes",
            "buy",
            "sell",
            "register",
            "logout",
            "mksummary")) {
      ACTIONS.put(action, Optional.of(action));
    }
    ACTIONS.put("portfolioNoEdge", Optional.of("portfolio"));
    ACTIONS.put("update_profile", Optional.of("update"));
    PATHS.put("/scenario", Optional.of("scenario"));
    PATHS.put("/register.jsp", Optional.of("register-page"));
    PAGES.forEach((path, name) -> PATHS.put("/" + path + ".faces", Optional.of("faces-" + name)));
  }

  @Override
  public String name() {
    return "daytrader7";
  }

  @Override
  public String version() {
    return VERSION;
  }

  @Override
  public Optional<String> dataSetHash() {
    return CDI.current().select(DataSet.class).get().hash();
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings =
        new TreeMap<>(CDI.current().select(TradeConfig.class).get().shown());
    DataSet data = CDI.current().select(DataSet.class).get();
    settings.put("database", data.product());
    settings.put("dataSource", data.source());
    return settings;
  }

  @Override
  public boolean ready() {
    try {
      return CDI.current()
          .select(Database.class)
          .get()
          .<Boolean>run(connection -> connection.isValid(1));
    } catch (TradeException notNow) {
      return false;
    }
  }

  @Override
  public Set<String> operations() {
    Set<String> operations = new HashSet<>(TOLD);
    ACTIONS.values().forEach(each -> operations.add(each.orElseThrow()));
    PATHS.values().forEach(each -> operations.add(each.orElseThrow()));
    return operations;
  }

  @Override
  public Set<String> messages() {
    return MessageStatistics.KINDS;
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    return PATHS.getOrDefault(request.getServletPath(), Optional.empty());
  }

  /** The operation of an action of {@code /app}; the action may stand in the body of a request. */
  static Optional<String> operationOf(String action) {
    return ACTIONS.getOrDefault(action, Optional.empty());
  }
}
