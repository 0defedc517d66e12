// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The application of somebody who has a gate; its two builds differ in what they answer. */
class Shop {
  public static void main(String[] arguments) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int port = Integer.parseInt(arguments[0].substring("--server.port=".length()));
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
