// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Settings;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;

/** Ends the application where a setting cannot be used, and before anybody asks for a page. */
@WebListener
public final class Start implements ServletContextListener {

  @Inject private Settings settings;

  @Override
  public void contextInitialized(ServletContextEvent event) {
    event.getServletContext().log("Settings: " + settings.shown());
  }
}
