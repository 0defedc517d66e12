// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpPostRequestDecoder;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * A small shop with cookies, a form, files, pages with parts and a WebSocket, on another HTTP
 * implementation than that of the JDK. Whatever is not as it should be is answered with 400. Counts
 * requests by the first part of their path, and the first words of its WebSocket.
 */
final class ShopServer extends NettyServer {
  private final Set<String> users = ConcurrentHashMap.newKeySet();
  private final BiConsumer<String, HttpHeaders> watch;

  ShopServer() throws IOException {
    this((path, headers) -> {});
  }

  /**
   * @param watch is given the path and the headers of each request
   */
  ShopServer(BiConsumer<String, HttpHeaders> watch) {
    this.watch = watch;
    listen();
  }

  @Override
  void addHandlers(ChannelPipeline pipeline) {
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new HandshakeCookies())
        .addLast(new HttpObjectAggregator(100_000))
        .addLast(new WebSocketServerProtocolHandler("/ticker", "chat"))
        .addLast(new Ticker())
        .addLast(new Pages());
  }

  /** Names that were logged in with. */
  Set<String> users() {
    return users;
  }

  /** Each answer to a handshake sets a cookie and removes one. */
  private static final class HandshakeCookies extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      if (message instanceof HttpResponse answer
          && answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
        answer.headers().add("Set-Cookie", "seat=7; Path=/cookies");
        answer.headers().add("Set-Cookie", "old=; Path=/; Max-Age=0");
      }
      var unused = context.write(message, promise);
    }
  }

  /** Greets, and says again what it is told, with a number; some words it does not like. */
  private final class Ticker extends SimpleChannelInboundHandler<TextWebSocketFrame> {
    private String opened = "";
    private int turn;

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof HandshakeComplete handshake) {
        opened = handshake.selectedSubprotocol() + " " + handshake.requestHeaders().get("X-Me");
        count("opened");
        String cookie = handshake.requestHeaders().get("Cookie");
        send(context, new TextWebSocketFrame("greeting, " + cookie));
      }
      context.fireUserEventTriggered(event);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, TextWebSocketFrame frame) {
      count("ticker");
      String word = frame.text().replaceFirst(" .*", "");
      count(word);
      turn++;
      if (word.equals("early") && served("early") < 3) {
        return;
      }
      send(context, new TextWebSocketFrame("welcome"));
      var unused =
          context.write(new TextWebSocketFrame("%s %s #%d".formatted(frame.text(), opened, turn)));
      if (word.equals("bye")) {
        unused = context.write(new CloseWebSocketFrame());
      }
      context.flush();
    }
  }

  private final class Pages extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      QueryStringDecoder uri = new QueryStringDecoder(request.uri());
      String first = uri.path().replaceFirst("^/([^/]*).*", "$1");
      count(first);
      watch.accept(uri.path(), request.headers());
      FullHttpResponse answer = answer(first, uri, request);
      answer.headers().set("Content-Length", answer.content().readableBytes());
      send(context, answer);
    }
  }

  private FullHttpResponse answer(String first, QueryStringDecoder uri, FullHttpRequest request) {
    HttpHeaders headers = request.headers();
    String cookie = headers.get("Cookie", "");
    return switch (first) {
      case "login" -> login(request, cookie);
      case "home" -> home(uri, headers, cookie);
      case "page" -> text(200, "page");
      case "style.css" -> style(headers);
      case "logo.png" -> text(200, "logo");
      case "items" ->
          uri.parameters().getOrDefault("limit", List.of()).equals(List.of("7"))
              ? items(cookie)
              : text(400, "");
      case "upload" -> upload(request);
      case "order" -> {
        boolean right =
            request.content().toString(StandardCharsets.UTF_8).matches("\\{\"size\": \\d+}");
        yield text(right && uri.path().equals("/order/i1") ? 200 : 400, "");
      }
      case "echo" -> text(200, uri.path());
      case "cookies" -> cookies(200, cookie, "old=1; Path=/", "new=2; Path=/");
      case "refused" -> cookies(500, cookie, "refused=3; Path=/");
      default -> text(500, "error");
    };
  }

  private FullHttpResponse login(FullHttpRequest request, String cookie) {
    QueryStringDecoder form =
        new QueryStringDecoder("/?" + request.content().toString(StandardCharsets.UTF_8));
    String name = form.parameters().getOrDefault("name", List.of("")).get(0);
    String colour = form.parameters().getOrDefault("colour", List.of("")).get(0);
    if (!cookie.isEmpty() || !Set.of("red", "green & blue").contains(colour)) {
      return text(400, "");
    }
    users.add(name);
    FullHttpResponse answer = text(302, "");
    answer.headers().add("Location", "/home#" + name);
    answer.headers().add("Set-Cookie", "who=" + name + "; Path=/; HttpOnly");
    answer.headers().add("Set-Cookie", "elsewhere=1; Path=/elsewhere");
    answer.headers().add("Set-Cookie", "old=1; Path=/; Max-Age=0");
    return answer;
  }

  private static FullHttpResponse home(QueryStringDecoder uri, HttpHeaders headers, String cookie) {
    String page = uri.parameters().get("page").get(0);
    boolean right =
        cookie.startsWith("who=user")
            && !cookie.contains(";")
            && headers.get("X-Token", "").equals("/home#" + cookie.substring(4))
            && page.matches("[123]");
    return right
        ? text(
            200,
            "<p>Welcome %s, pages: 3</p><input name=csrf value=c0ffee>"
                .formatted(cookie.substring(4)))
        : text(400, "");
  }

  private static FullHttpResponse cookies(int status, String cookie, String... set) {
    FullHttpResponse answer = text(status, "cookies: " + cookie + ".");
    answer.headers().add("Set-Cookie", List.of(set));
    return answer;
  }

  private static FullHttpResponse style(HttpHeaders headers) {
    if (headers.get("If-None-Match", "").equals("\"v1\"")) {
      return text(304, "");
    }
    FullHttpResponse answer = text(200, "p {}");
    answer.headers().set("ETag", "\"v1\"");
    answer.headers().set("Content-Type", "text/css");
    return answer;
  }

  private static FullHttpResponse items(String cookie) {
    return text(
        200,
        "{\"total\": 3, \"user\": \"%s\", \"open\": true, \"rest\": null, \"price\": 1.5, \"items\": [{\"id\": \"i1\"}]}"
            .formatted(cookie.substring(cookie.indexOf('=') + 1)));
  }

  private static FullHttpResponse upload(FullHttpRequest request) {
    HttpPostRequestDecoder form = new HttpPostRequestDecoder(request);
    try {
      Attribute csrf = (Attribute) form.getBodyHttpData("csrf");
      FileUpload file = (FileUpload) form.getBodyHttpData("file");
      boolean right =
          csrf.getValue().equals("c0ffee")
              && file.getFilename().equals("a.txt")
              && file.getContentType().equals("text/plain")
              && file.getString().startsWith("Hello ");
      return right ? text(201, "size=" + file.length()) : text(400, "");
    } catch (IOException e) {
      return text(400, e.toString());
    } finally {
      form.destroy();
    }
  }
}
