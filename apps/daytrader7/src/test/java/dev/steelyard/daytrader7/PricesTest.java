// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PricesTest {

  @Test
  void changeFactorsAreHundredthsFromNinetyPercentUp() {
    Random random = new Random(7);
    TreeSet<BigDecimal> factors = new TreeSet<>();
    for (int i = 0; i < 10_000; i++) {
      factors.add(Prices.changeFactor(random));
    }
    assertEquals(new BigDecimal("0.90"), factors.first());
    assertEquals(new BigDecimal("1.10"), factors.last());
    assertEquals(21, factors.size());
  }

  @ParameterizedTest
  @CsvSource({
    "100.00, 1.05, 105.00",
    "0.01, 0.90, 6.00",
    "400.00, 1.10, 440.00",
    "400.01, 1.10, 200.01"
  })
  void aPennyRecoversAndWhatIsDearIsSplit(BigDecimal price, BigDecimal factor, BigDecimal moved) {
    assertEquals(moved, Prices.moved(price, Prices.factorFor(price, factor)));
  }

  @Test
  void bothSidesOfAnOrderPayTheFee() {
    BigDecimal price = new BigDecimal("10.00");
    assertEquals(0, new BigDecimal("124.95").compareTo(Prices.costOfBuy(price, 10)));
    assertEquals(0, new BigDecimal("75.05").compareTo(Prices.proceedsOfSell(price, 10)));
  }

  @Test
  void everySettingIsReadFromItsVariableAndRefusesWhatIsNone() {
    TradeConfig config = new TradeConfig();
    assertEquals("TRADE_RUNTIME_MODE", ConfigSetting.RUN_MODE.variable());
    assertEquals(
        "TRADE_PUBLISH_QUOTE_PRICE_CHANGE", ConfigSetting.PUBLISH_QUOTE_PRICE_CHANGE.variable());
    for (ConfigSetting setting : ConfigSetting.values()) {
      setting.set(config, setting.text(config));
      try {
        setting.set(config, "no value");
      } catch (IllegalArgumentException e) {
        assertTrue(
            e.getMessage().startsWith(setting.key() + " is 'no value': set it to "),
            e.getMessage());
        continue;
      }
      throw new AssertionError(setting + " takes anything");
    }
  }
}
