// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** A server at a free port of this host that counts what it serves. */
abstract class NettyServer implements AutoCloseable {
  private final EventLoopGroup threads =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private final Map<String, LongAdder> served = new ConcurrentHashMap<>();
  private Channel channel;

  /** Adds the handlers of a connection. */
  abstract void addHandlers(ChannelPipeline pipeline);

  /** Begins to listen: the last that a constructor does, as handlers use the fields. */
  final void listen() {
    channel =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel client) {
                    addHandlers(client.pipeline());
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  final String url() {
    return "http://127.0.0.1:" + ((InetSocketAddress) channel.localAddress()).getPort();
  }

  /** How often something was served. */
  final long served(String what) {
    LongAdder count = served.get(what);
    return count == null ? 0 : count.sum();
  }

  final void count(String what) {
    served.computeIfAbsent(what, unseen -> new LongAdder()).increment();
  }

  static void send(ChannelHandlerContext context, Object message) {
    var unused = context.writeAndFlush(message);
  }

  static FullHttpResponse text(int status, String body) {
    return new DefaultFullHttpResponse(
        HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(status),
        Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    var unused = threads.shutdownGracefully();
  }
}
