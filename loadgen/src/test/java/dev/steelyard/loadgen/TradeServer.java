// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A small broker on the wire, with sessions, holdings, view states and a WebSocket. Stricter than
 * the real one: an action without its session, a form without the state of the page before it, a
 * sale of what was not listed is answered with 400. Counts what it answers by action or page, and
 * "sockets" and "updates" of the WebSocket.
 */
final class TradeServer extends NettyServer {
  private static final int BAD = 400;

  private final Map<String, Session> sessions = new ConcurrentHashMap<>();
  private final Map<String, SortedSet<Integer>> holdings = new ConcurrentHashMap<>();
  private final Map<String, String> registered = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private volatile boolean silent;
  private volatile boolean forgetful;

  /** What a cookie stands for; used by one request at a time. */
  private static final class Session {
    private String user;
    private String viewState = "";
  }

  TradeServer() {
    listen();
  }

  @Override
  void addHandlers(ChannelPipeline pipeline) {
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new HttpObjectAggregator(100_000))
        .addLast(new WebSocketServerProtocolHandler("/daytrader/marketsummary"))
        .addLast(new Summary())
        .addLast(new Pages());
  }

  /** Users that registered. */
  int registered() {
    return registered.size();
  }

  /** Makes the WebSocket answer no more, or again. */
  void silence(boolean silence) {
    silent = silence;
  }

  /** Loses the session of each user who logs out. */
  void loseSessions() {
    forgetful = true;
  }

  private final class Summary extends SimpleChannelInboundHandler<TextWebSocketFrame> {
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
        count("sockets");
      }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, TextWebSocketFrame frame) {
      if (!frame.text().equals("{\"action\":\"update\"}")) {
        var unused = context.close();
        return;
      }
      // Before it is counted: whoever sees the count may end the silence.
      boolean replies = !silent;
      count("updates");
      send(context, new TextWebSocketFrame("{\"change1_stock\":\"s:1\",\"pushed\":true}"));
      if (replies) {
        send(context, new TextWebSocketFrame("{\"gainer1_stock\":\"s:1\",\"tsia\":1.00}"));
      }
    }
  }

  private final class Pages extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      FullHttpResponse answer = answer(request);
      answer.headers().set("Content-Length", answer.content().readableBytes());
      send(context, answer);
    }
  }

  private FullHttpResponse answer(FullHttpRequest request) {
    QueryStringDecoder uri = new QueryStringDecoder(request.uri());
    boolean post = request.method().name().equals("POST");
    Map<String, String> fields = new HashMap<>();
    (post ? new QueryStringDecoder("/?" + request.content().toString(StandardCharsets.UTF_8)) : uri)
        .parameters()
        .forEach((name, values) -> fields.put(name, values.get(0)));
    String cookie = request.headers().get("Cookie", "").replace("JSESSIONID=", "");
    boolean known = sessions.containsKey(cookie);
    String id = known ? cookie : UUID.randomUUID().toString();
    Session session = sessions.computeIfAbsent(id, unseen -> new Session());
    String page = uri.path().replace("/daytrader/", "");
    if (forgetful && post && page.equals("tradehome.faces")) {
      count("lost");
      FullHttpResponse answer = text(302, "");
      answer.headers().add("Location", "/daytrader/welcome.faces");
      return answer;
    }
    String body =
        switch (page) {
          case "app" -> action(session, fields, post);
          case "register.jsp" -> "<title>DayTrader Registration</title>";
          default -> page.endsWith(".faces") ? faces(session, page, fields, post) : null;
        };
    if (body != null) {
      count(page.equals("app") ? fields.get("action") : (post ? "POST " : "GET ") + page);
    }
    FullHttpResponse answer = text(body == null ? BAD : 200, body == null ? "" : body);
    if (!known) {
      answer.headers().add("Set-Cookie", "JSESSIONID=" + id + "; Path=/; HttpOnly");
    }
    return answer;
  }

  private String action(Session session, Map<String, String> fields, boolean post) {
    String action = fields.get("action");
    if (action.equals("login")) {
      session.user = post && fields.get("passwd").equals("xxx") ? fields.get("uid") : null;
      return session.user == null ? null : home();
    }
    if (action.equals("register")) {
      boolean right = fields.get("passwd").equals("yyy") && fields.get("money").equals("1000000");
      return right ? register(session, fields.get("user id"), home()) : null;
    }
    if (action.equals("logout")) {
      session.user = null;
      return "<title>DayTrader Login</title>" + (forgetful ? "User Not Logged in" : "");
    }
    if (session.user == null) {
      return null;
    }
    return switch (action) {
      case "home" -> home();
      case "quotes" ->
          (fields.containsKey("symbols") ? fields.get("symbols") : fields.get("symbol"))
                  .matches("s:[0-3]?[0-9]")
              ? "<title>DayTrader: Quotes and Trading</title>"
              : null;
      case "portfolio" -> {
        StringBuilder page = new StringBuilder("<title>DayTrader Portfolio</title>");
        own(session)
            .forEach(
                each -> page.append("<a href='app?action=sell&holdingID=%d'>".formatted(each)));
        yield page.toString();
      }
      case "account" -> "<title>DayTrader Account Information</title>";
      case "update_profile" ->
          fields.keySet().containsAll(List.of("fullname", "password", "cpassword", "creditcard"))
              ? "Account profile update successful"
              : null;
      case "buy" -> buy(session, fields.get("symbol"), fields.get("quantity"));
      case "sell" -> sell(session, Integer.valueOf(fields.get("holdingID")));
      default -> null;
    };
  }

  private static String home() {
    return "<title>Welcome to DayTrader</title>";
  }

  private SortedSet<Integer> own(Session session) {
    return holdings.computeIfAbsent(session.user, unseen -> new TreeSet<>());
  }

  private String register(Session session, String user, String page) {
    session.user = registered.put(user, user) == null ? user : null;
    return session.user == null ? null : page;
  }

  private String buy(Session session, String symbol, String quantity) {
    if (!symbol.matches("s:[0-3]?[0-9]") || !quantity.matches("1?[0-9]{1,2}|200")) {
      return null;
    }
    own(session).add(numbers.incrementAndGet());
    return "has been submitted";
  }

  private String sell(Session session, Integer holding) {
    return own(session).remove(holding) ? "has been submitted" : null;
  }

  private String faces(Session session, String page, Map<String, String> fields, boolean post) {
    boolean welcome = page.equals("welcome.faces") && fields.isEmpty();
    boolean stale = !session.viewState.equals(fields.get("jakarta.faces.ViewState"));
    if (post && !welcome && stale) {
      return null;
    }
    String body = post && !welcome ? form(session, page, fields) : view(session, page);
    session.viewState = "state" + numbers.incrementAndGet();
    return body == null
        ? null
        : body
            + "<input type=\"hidden\" name=\"jakarta.faces.ViewState\" id=\"a:1\" value=\"%s\" />"
                .formatted(session.viewState);
  }

  private String view(Session session, String page) {
    return switch (page) {
      case "welcome.faces" -> "DayTrader Login Log in";
      case "register.faces" -> "DayTrader Register";
      case "quote.faces" -> session.user == null ? null : "DayTrader Quotes s:0";
      case "tradehome.faces" -> session.user == null ? null : "DayTrader Home";
      case "account.faces" -> session.user == null ? null : "DayTrader Account";
      default ->
          session.user == null
              ? null
              : "DayTrader Portfolio <b>Number of Holdings: </b>%d</td>"
                  .formatted(own(session).size());
    };
  }

  private String form(Session session, String page, Map<String, String> fields) {
    if (page.equals("welcome.faces")) {
      session.user = fields.containsKey("login_SUBMIT") ? fields.get("login:uid") : null;
      return session.user == null ? null : "Ready to Trade";
    }
    if (page.equals("register.faces")) {
      return register(session, fields.get("register:uid"), "Registration operation succeeded");
    }
    if (session.user == null) {
      return null;
    }
    if (fields.containsKey("quotes:quotes:0:buy")) {
      String bought =
          buy(session, fields.get("quotes:symbols"), fields.get("quotes:quotes:0:quantity"));
      return bought == null ? null : "been submitted";
    }
    if ("portfolio:holdings:0:sell".equals(fields.get("portfolio:_idcl"))) {
      return own(session).isEmpty() ? null : sell(session, own(session).first());
    }
    if ("tradeHome:logoff".equals(fields.get("tradeHome:_idcl"))) {
      session.user = null;
      return "DayTrader Login";
    }
    return fields.containsKey("updateProfile_SUBMIT")
        ? "Account profile update successful"
        : "DayTrader Quotes " + fields.get("quotes:symbols");
  }
}
