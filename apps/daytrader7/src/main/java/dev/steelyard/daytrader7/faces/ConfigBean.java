// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.ConfigSetting;
import dev.steelyard.daytrader7.OrderMode;
import dev.steelyard.daytrader7.RunMode;
import dev.steelyard.daytrader7.Trade;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.WebInterface;
import dev.steelyard.daytrader7.data.Populate;
import dev.steelyard.daytrader7.data.Tables;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import java.util.LinkedHashMap;
import java.util.Map;

/** The settings of this JVM, and what administrators do. */
@Named("config")
@RequestScoped
public class ConfigBean {

  @Inject private Trade trade;
  @Inject private TradeConfig config;
  @Inject private Tables tables;
  @Inject private Populate populate;

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Begins with the settings as they are. */
  @PostConstruct
  void begin() {
    for (ConfigSetting setting : ConfigSetting.values()) {
      String text = setting.text(config);
      values.put(setting.key(), setting.checkbox(config) ? Boolean.valueOf(text) : text);
    }
  }

  /** Sets what the form says; what is no value stays as it was. */
  public void update() {
    for (ConfigSetting setting : ConfigSetting.values()) {
      try {
        setting.set(config, String.valueOf(values.get(setting.key())));
      } catch (IllegalArgumentException e) {
        Page.say(e.getMessage());
      }
    }
    Page.say("DayTrader Configuration Updated");
  }

  /** Removes what runs left behind. */
  public void resetTrade() {
    Page.say("Trade Reset completed successfully: " + trade.resetTrade());
  }

  /** Makes the tables anew. */
  public void buildTables() {
    tables.make();
    Page.say("DayTrader tables successfully created!");
  }

  /** Fills the tables. */
  public void populate() {
    populate.run(progress -> {});
    Page.say("DayTrader Database Built - " + config.maxUsers() + "users created");
  }

  /** The settings by their keys: texts, and {@code true} or {@code false} for boxes. */
  public Map<String, Object> getValues() {
    return values;
  }

  public RunMode[] getRunModes() {
    return RunMode.values();
  }

  public OrderMode[] getOrderModes() {
    return OrderMode.values();
  }

  public WebInterface[] getWebInterfaces() {
    return WebInterface.values();
  }
}
