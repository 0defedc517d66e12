// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The settings of this JVM, which {@code /config} changes while it runs. They begin as {@code
 * daytrader.properties} says, and environment variables say otherwise.
 */
@ApplicationScoped
public class TradeConfig {

  /** Most holdings that a populated user has. */
  public static final int MAX_HOLDINGS = 10;

  /** Most symbols that a request of the scenario asks for. */
  public static final int QUOTES_PER_PAGE = 10;

  private volatile RunMode runMode = RunMode.EJB;
  private volatile OrderMode orderMode = OrderMode.SYNC;
  private volatile WebInterface webInterface = WebInterface.JSP;
  private volatile int maxUsers = 15_000;
  private volatile int maxQuotes = 10_000;
  private volatile int marketSummaryInterval = 20;
  private volatile int primIterations = 1;
  private volatile int percentToWebsocket = 10;
  private volatile boolean publishQuotePriceChange = true;
  private volatile boolean displayOrderAlerts = true;
  private volatile boolean longRun = true;
  private volatile boolean trace = false;
  private volatile boolean actionTrace = false;
  private volatile int seed = 1;

  /** Reads the file and the environment; a value that cannot be used ends the application. */
  @PostConstruct
  void begin() {
    Properties file = new Properties();
    try (InputStream in = TradeConfig.class.getResourceAsStream("/daytrader.properties")) {
      file.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (ConfigSetting setting : ConfigSetting.values()) {
      String given = System.getenv().getOrDefault(setting.variable(), "");
      String text = given.isBlank() ? file.getProperty(setting.key()) : given;
      if (text != null) {
        setting.set(this, text);
      }
    }
  }

  /** All settings, key by text. */
  public Map<String, String> shown() {
    Map<String, String> shown = new TreeMap<>();
    for (ConfigSetting setting : ConfigSetting.values()) {
      shown.put(setting.key(), setting.text(this));
    }
    return shown;
  }

  /** What carries out the operations. */
  public RunMode runMode() {
    return runMode;
  }

  public void setRunMode(RunMode runMode) {
    this.runMode = runMode;
  }

  /** When an order is completed. */
  public OrderMode orderMode() {
    return orderMode;
  }

  public void setOrderMode(OrderMode orderMode) {
    this.orderMode = orderMode;
  }

  /** The pages of {@code /app}. */
  public WebInterface webInterface() {
    return webInterface;
  }

  public void setWebInterface(WebInterface webInterface) {
    this.webInterface = webInterface;
  }

  /** Users that are populated and drawn. */
  public int maxUsers() {
    return maxUsers;
  }

  public void setMaxUsers(int maxUsers) {
    this.maxUsers = maxUsers;
  }

  /** Stocks that are populated and drawn. */
  public int maxQuotes() {
    return maxQuotes;
  }

  public void setMaxQuotes(int maxQuotes) {
    this.maxQuotes = maxQuotes;
  }

  /** Seconds for which direct mode keeps a summary; 0 never, negative for ever. */
  public int marketSummaryInterval() {
    return marketSummaryInterval;
  }

  public void setMarketSummaryInterval(int marketSummaryInterval) {
    this.marketSummaryInterval = marketSummaryInterval;
  }

  /** How often a primitive repeats its step. */
  public int primIterations() {
    return primIterations;
  }

  public void setPrimIterations(int primIterations) {
    this.primIterations = primIterations;
  }

  /** Percent of the stocks whose changes reach websockets. */
  public int percentToWebsocket() {
    return percentToWebsocket;
  }

  public void setPercentToWebsocket(int percentToWebsocket) {
    this.percentToWebsocket = percentToWebsocket;
  }

  /** Whether a changed price is published on the topic. */
  public boolean publishQuotePriceChange() {
    return publishQuotePriceChange;
  }

  public void setPublishQuotePriceChange(boolean publishQuotePriceChange) {
    this.publishQuotePriceChange = publishQuotePriceChange;
  }

  /** Whether pages tell which orders have been closed. */
  public boolean displayOrderAlerts() {
    return displayOrderAlerts;
  }

  public void setDisplayOrderAlerts(boolean displayOrderAlerts) {
    this.displayOrderAlerts = displayOrderAlerts;
  }

  /** Whether closed orders are removed once told, and none are listed. */
  public boolean longRun() {
    return longRun;
  }

  public void setLongRun(boolean longRun) {
    this.longRun = longRun;
  }

  /** Whether operations are logged. */
  public boolean trace() {
    return trace;
  }

  public void setTrace(boolean trace) {
    this.trace = trace;
  }

  /** Whether requests are logged. */
  public boolean actionTrace() {
    return actionTrace;
  }

  public void setActionTrace(boolean actionTrace) {
    this.actionTrace = actionTrace;
  }

  /** What the data set is made from. */
  public int seed() {
    return seed;
  }

  public void setSeed(int seed) {
    this.seed = seed;
  }
}
