// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import dev.steelyard.testkit.Browser;
import java.io.IOException;
import java.net.URI;

/** Somebody with a browser who asks for actions. */
public final class TradeBrowser extends Browser {

  TradeBrowser(URI root) {
    super(root);
  }

  /** Asks for an action, with parameters as they stand in an address. */
  public Answer app(String actionAndParameters) throws IOException, InterruptedException {
    return get("app?action=" + actionAndParameters);
  }
}
