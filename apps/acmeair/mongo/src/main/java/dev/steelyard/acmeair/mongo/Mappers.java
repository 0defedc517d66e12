// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.mongo;

import dev.steelyard.acmeair.web.InvalidInputMapper;
import dev.steelyard.acmeair.web.NotLoadedMapper;
import dev.steelyard.acmeair.web.NotPermittedMapper;
import dev.steelyard.acmeair.web.UnreadableBodyMapper;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.Set;

/** Every mapper that an application with data registers. */
public final class Mappers {

  public static final Set<Class<? extends ExceptionMapper<?>>> ALL =
      Set.of(
          DatabaseFailureMapper.class,
          InvalidInputMapper.class,
          NotLoadedMapper.class,
          NotPermittedMapper.class,
          UnreadableBodyMapper.class);

  private Mappers() {}
}
