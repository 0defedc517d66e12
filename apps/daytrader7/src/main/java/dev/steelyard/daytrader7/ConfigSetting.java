// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * One setting: its key in {@code daytrader.properties}, the parameter of {@code /config} that sets
 * it, and how it is read and written. The environment variable of a key is {@code TRADE_} and the
 * key's words: {@code maxUsers} is {@code TRADE_MAX_USERS}.
 */
@SuppressWarnings("ImmutableEnumChecker") // The functions keep nothing.
public enum ConfigSetting {
  RUN_MODE(
      "runtimeMode",
      "RunTimeMode",
      (config, text) -> config.setRunMode(choice(RunMode.values(), text)),
      config -> config.runMode().value()),
  ORDER_MODE(
      "orderProcessingMode",
      "OrderProcessingMode",
      (config, text) -> config.setOrderMode(choice(OrderMode.values(), text)),
      config -> config.orderMode().value()),
  WEB_INTERFACE(
      "webInterface",
      "WebInterface",
      (config, text) -> config.setWebInterface(choice(WebInterface.values(), text)),
      config -> config.webInterface().value()),
  MAX_USERS(
      "maxUsers",
      "MaxUsers",
      (config, text) -> config.setMaxUsers(number(text, 1, 10_000_000)),
      TradeConfig::maxUsers),
  MAX_QUOTES(
      "maxQuotes",
      "MaxQuotes",
      (config, text) -> config.setMaxQuotes(number(text, 1, 10_000_000)),
      TradeConfig::maxQuotes),
  MARKET_SUMMARY_INTERVAL(
      "marketSummaryInterval",
      "marketSummaryInterval",
      (config, text) ->
          config.setMarketSummaryInterval(number(text, Integer.MIN_VALUE, Integer.MAX_VALUE)),
      TradeConfig::marketSummaryInterval),
  PRIM_ITERATIONS(
      "primIterations",
      "primIterations",
      (config, text) -> config.setPrimIterations(number(text, 1, 1_000_000)),
      TradeConfig::primIterations),
  PERCENT_TO_WEBSOCKET(
      "percentSentToWebsocket",
      "percentSentToWebsocket",
      (config, text) -> config.setPercentToWebsocket(number(text, 0, 100)),
      TradeConfig::percentToWebsocket),
  PUBLISH_QUOTE_PRICE_CHANGE(
      "publishQuotePriceChange",
      "EnablePublishQuotePriceChange",
      (config, text) -> config.setPublishQuotePriceChange(flag(text)),
      TradeConfig::publishQuotePriceChange),
  DISPLAY_ORDER_ALERTS(
      "displayOrderAlerts",
      "DisplayOrderAlerts",
      (config, text) -> config.setDisplayOrderAlerts(flag(text)),
      TradeConfig::displayOrderAlerts),
  LONG_RUN(
      "longRun",
      "EnableLongRun",
      (config, text) -> config.setLongRun(flag(text)),
      TradeConfig::longRun),
  TRACE("trace", "EnableTrace", (config, text) -> config.setTrace(flag(text)), TradeConfig::trace),
  ACTION_TRACE(
      "actionTrace",
      "EnableActionTrace",
      (config, text) -> config.setActionTrace(flag(text)),
      TradeConfig::actionTrace),
  SEED(
      "seed",
      "seed",
      (config, text) -> config.setSeed(number(text, 0, Integer.MAX_VALUE)),
      TradeConfig::seed);

  private final String key;
  private final String parameter;
  private final BiConsumer<TradeConfig, String> writer;
  private final Function<TradeConfig, Object> reader;

  ConfigSetting(
      String key,
      String parameter,
      BiConsumer<TradeConfig, String> writer,
      Function<TradeConfig, Object> reader) {
    this.key = key;
    this.parameter = parameter;
    this.writer = writer;
    this.reader = reader;
  }

  /** Its key in the properties file, and its name wherever settings are told. */
  public String key() {
    return key;
  }

  /** Its parameter of {@code /config}. */
  public String parameter() {
    return parameter;
  }

  /** Its environment variable. */
  public String variable() {
    return "TRADE_" + key.replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
  }

  /** Whether it is a checkbox: absent from a request, it is to be switched off. */
  public boolean checkbox(TradeConfig config) {
    return reader.apply(config) instanceof Boolean;
  }

  /** The value as a number or {@code true} or {@code false}. */
  public String text(TradeConfig config) {
    return String.valueOf(reader.apply(config));
  }

  /**
   * Sets it.
   *
   * @throws IllegalArgumentException for a text that is no value of it; says what is
   */
  public void set(TradeConfig config, String text) {
    try {
      writer.accept(config, text.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s is '%s': set it to %s.".formatted(key, text, e.getMessage()), e);
    }
  }

  private static <T> T choice(T[] values, String text) {
    return values[number(text, 0, values.length - 1)];
  }

  private static int number(String text, int least, int most) {
    String wanted = "a whole number from " + least + " to " + most;
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
      throw new IllegalArgumentException(wanted);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(wanted, e);
    }
  }

  private static boolean flag(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("true or false");
    };
  }
}
