// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Somebody's application, which listens on the port of its argument; its builds differ in what they answer. */
class Shop {
  public static void main(String[] arguments) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(arguments[0].replace("--server.port=", ""));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 256);
    byte[] answer = "BUILD".getBytes();
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.start();
  }
}
