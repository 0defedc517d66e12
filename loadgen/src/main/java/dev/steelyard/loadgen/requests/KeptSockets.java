// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import dev.steelyard.loadgen.journey.User;
import io.gatling.core.session.Session;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * WebSockets that users keep open over many operations, one for each user at a target. Gatling's
 * own belong to a session of Gatling, and in the open model any of those may send the next request
 * of a user: hence the JDK's.
 *
 * <p>An operation opens a socket if there is none, or if the one there is has been open for its
 * time; then it sends a text and awaits the reply. Opening is part of that operation.
 */
final class KeptSockets {
  private static final Logger LOGGER = LoggerFactory.getLogger(KeptSockets.class);

  /** They only hand over: the work is done by the users' own threads. */
  private static final ExecutorService THREAD =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "sockets");
            thread.setDaemon(true);
            return thread;
          });

  private static final HttpClient CLIENT = HttpClient.newBuilder().executor(THREAD).build();

  private final Target target;
  private final String path;
  private final long keptNanos;
  private final Predicate<String> isReply;
  private final Map<User, Kept> sockets = new ConcurrentHashMap<>();

  /**
   * @param path at the target
   * @param kept how long a user keeps its socket
   * @param isReply tells a reply from what a server sends by itself
   */
  KeptSockets(Target target, String path, Duration kept, Predicate<String> isReply) {
    this.target = target;
    this.path = path;
    this.isReply = isReply;
    keptNanos = kept.toNanos();
  }

  /**
   * A step of a scenario: a text and its reply.
   *
   * @param operation its name
   * @param message the text
   * @param check is given the reply, and throws if it is not what it has to be
   */
  AwaitStep exchange(String operation, String message, BiConsumer<CurrentUser, String> check) {
    return new AwaitStep(
        (session, next) -> {
          CurrentUser user = (CurrentUser) session.attributes().apply(CurrentUser.ATTRIBUTE);
          var unused =
              reply(user, message)
                  .whenComplete(
                      (reply, failure) ->
                          session
                              .eventLoop()
                              .execute(
                                  () ->
                                      goOn(
                                          session,
                                          next,
                                          operation,
                                          failure,
                                          () -> {
                                            check.accept(user, reply);
                                          })));
        });
  }

  private static void goOn(
      Session session,
      Consumer<Session> next,
      String operation,
      Throwable failure,
      Runnable check) {
    Throwable wrong = failure;
    if (wrong == null) {
      try {
        check.run();
      } catch (RuntimeException e) {
        wrong = e;
      }
    }
    if (wrong != null) {
      LOGGER.error("Request '{}' failed: {}", operation, sentence(wrong));
    }
    next.accept(wrong == null ? session : session.markAsFailed());
  }

  private static String sentence(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    if (root instanceof TimeoutException) {
      return "no reply in time";
    }
    return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
  }

  private CompletableFuture<String> reply(CurrentUser current, String message) {
    User user = current.user();
    Kept kept = sockets.get(user);
    CompletableFuture<Kept> open;
    if (kept != null && kept.lives(keptNanos)) {
      open = CompletableFuture.completedFuture(kept);
    } else {
      if (kept != null) {
        kept.close();
      }
      open = open(user);
    }
    return open.thenCompose(socket -> socket.send(current, message))
        .orTimeout(target.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete(
            (reply, failure) -> {
              Kept broken = failure == null ? null : sockets.remove(user);
              if (broken != null) {
                // A late reply must not pass for that of the next operation.
                broken.close();
              }
            });
  }

  private CompletableFuture<Kept> open(User user) {
    WebSocket.Builder builder = CLIENT.newWebSocketBuilder().connectTimeout(target.timeout());
    String cookies = user.cookies().header(path);
    if (cookies != null) {
      builder.header("Cookie", cookies);
    }
    Kept kept = new Kept();
    URI uri = URI.create(target.baseUrl().replaceFirst("^http", "ws") + path);
    return builder
        .buildAsync(uri, kept)
        .thenApply(
            socket -> {
              kept.socket = socket;
              sockets.put(user, kept);
              return kept;
            });
  }

  /** One open socket. */
  private final class Kept implements WebSocket.Listener {
    private final long opened = System.nanoTime();
    private final StringBuilder text = new StringBuilder();
    private volatile WebSocket socket;
    private volatile boolean gone;
    private volatile CurrentUser user;
    private volatile CompletableFuture<String> awaited = new CompletableFuture<>();

    boolean lives(long forNanos) {
      return !gone && System.nanoTime() - opened < forNanos;
    }

    CompletableFuture<String> send(CurrentUser sender, String message) {
      CompletableFuture<String> reply = new CompletableFuture<>();
      user = sender;
      awaited = reply;
      if (gone) {
        return CompletableFuture.failedFuture(new IllegalStateException("the socket was closed"));
      }
      return socket.sendText(message, true).thenCompose(sent -> reply);
    }

    void close() {
      gone = true;
      if (!socket.isOutputClosed()) {
        // Nobody waits for the other side's good-bye.
        var unused =
            socket
                .sendClose(WebSocket.NORMAL_CLOSURE, "")
                .whenComplete((sent, e) -> socket.abort());
      }
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        String whole = text.toString();
        text.setLength(0);
        if (isReply.test(whole) && !awaited.isDone()) {
          user.answered();
          awaited.complete(whole);
        }
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
      end(new IllegalStateException("the server closed the socket, status " + status));
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      end(error);
    }

    private void end(Throwable why) {
      gone = true;
      awaited.completeExceptionally(why);
    }
  }
}
