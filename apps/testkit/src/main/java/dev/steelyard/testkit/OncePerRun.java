// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives all tests of a run the same thing, which starts with the first that asks for it and ends
 * with the run: servers, which are what takes long.
 *
 * @param <T> what tests ask for, as a parameter
 */
public abstract class OncePerRun<T extends AutoCloseable> implements ParameterResolver {

  /** Starts a thing. */
  @FunctionalInterface
  public interface Start<T> {
    T start() throws IOException, InterruptedException;
  }

  private final Class<T> type;
  private final Start<T> start;

  protected OncePerRun(Class<T> type, Start<T> start) {
    this.type = type;
    this.start = start;
  }

  @Override
  public final boolean supportsParameter(ParameterContext parameter, ExtensionContext extension) {
    return parameter.getParameter().getType() == type;
  }

  @Override
  public final Object resolveParameter(ParameterContext parameter, ExtensionContext extension) {
    return extension
        .getRoot()
        .getStore(ExtensionContext.Namespace.GLOBAL)
        .getOrComputeIfAbsent(getClass(), key -> started(), type);
  }

  private T started() {
    try {
      return start.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
