// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.calls;

import org.eclipse.microprofile.rest.client.RestClientBuilder;
import org.eclipse.microprofile.rest.client.spi.RestClientListener;

/**
 * Gives each REST client a pool of up to 100 connections, which stay open between calls. Found
 * through {@link java.util.ServiceLoader}.
 */
public final class KeptConnections implements RestClientListener {

  private static final int MOST = 100;

  // Of RESTEasy, Liberty's client; other clients ignore what they do not know.
  private static final String POOL_SIZE = "resteasy.connectionPoolSize";

  @Override
  public void onNewClient(Class<?> client, RestClientBuilder builder) {
    builder.property(POOL_SIZE, MOST);
  }
}
