// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import dev.steelyard.acmeair.web.Operations;
import dev.steelyard.bench.Workload;
import jakarta.enterprise.inject.spi.CDI;
import java.util.Map;
import java.util.Optional;

/**
 * What the applications with a database say about themselves, from the {@link ServerContext} that
 * is a bean of theirs.
 */
public abstract class DatabaseWorkload implements Workload {

  @Override
  public final String name() {
    return "acmeair";
  }

  @Override
  public final String version() {
    return Operations.VERSION;
  }

  @Override
  public final Optional<String> dataSetHash() {
    return context().dataSetHash();
  }

  @Override
  public final Map<String, String> settings() {
    return context().shown();
  }

  @Override
  public final boolean ready() {
    return context().connection().up();
  }

  private static ServerContext context() {
    return CDI.current().select(ServerContext.class).get();
  }
}
