// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.util.List;

/** Puts an {@link AnswerGuard} into each connection: Netty finds this class as a service. */
public final class AnswerGuardInstaller extends ChannelInitializerExtension {
  private static final String GUARD = "answer-guard";

  /** Gatling's own handlers; the name of that of a WebSocket is not public. */
  private static final List<String> HANDLERS =
      List.of(DefaultHttpClient.APP_HTTP_HANDLER, "app-ws");

  /** Has Netty look for such services; to be called before its first connection. */
  public static void install() {
    System.setProperty(EXTENSIONS_SYSTEM_PROPERTY, "serviceload");
  }

  @Override
  public void postInitializeClientChannel(Channel channel) {
    // Gatling's own initializer comes first.
    channel
        .pipeline()
        .addLast(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel initialised) {
                ChannelPipeline pipeline = initialised.pipeline();
                for (String handler : HANDLERS) {
                  if (pipeline.get(handler) != null) {
                    pipeline.addBefore(handler, GUARD, new AnswerGuard());
                  }
                }
              }
            });
  }
}
