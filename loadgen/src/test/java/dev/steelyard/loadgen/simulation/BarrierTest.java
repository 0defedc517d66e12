// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import dev.steelyard.loadgen.recording.RunClock;
import dev.steelyard.loadgen.simulation.StartBarrier.StartBarrierException;
import dev.steelyard.testkit.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who comes to the meeting of the injectors, and what that does to those of the run. */
class BarrierTest {
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final AtomicBoolean stopped = new AtomicBoolean();
  private int port;

  @BeforeEach
  void choosePort() throws Exception {
    port = Processes.freePort();
  }

  @AfterEach
  void close() throws Exception {
    stopped.set(true);
    for (AutoCloseable each : open) {
      each.close();
    }
    threads.shutdown();
  }

  private Settings settings(int injector, int injectors, int users, int seconds) {
    String json =
        """
        {"journey": {"visits": {"v": {"steps": [{"operation": "a", "path": "/"}]}}},
         "targets": ["http://127.0.0.1:9"], "model": "closed", "users": %d, "measureSeconds": 60,
         "injector": %d, "injectors": %d, "meet": "127.0.0.1:%d", "meetSeconds": %d,
         "output": "/out/%d"}
        """;
    return SettingsReader.readVariable(
        "TEST", json.formatted(users, injector, injectors, port, seconds, injector), Instant.EPOCH);
  }

  /** What happens to an injector of three: it begins, or says why not. */
  private Future<?> begins(Settings settings) throws IOException {
    return begins(settings, new RunClock()::nanos);
  }

  private Future<?> begins(Settings settings, LongSupplier time) throws IOException {
    StartBarrier barrier = StartBarrier.of(settings, time);
    open.add(barrier);
    return threads.submit(
        () -> {
          barrier.begin(stopped::get);
          return null;
        });
  }

  private Future<?> begins(int injector) throws IOException {
    return begins(settings(injector, 3, 7, 300));
  }

  private static String failure(Future<?> injector) {
    ExecutionException e = assertThrows(ExecutionException.class, injector::get);
    assertTrue(e.getCause() instanceof StartBarrierException, e.toString());
    return e.getCause().getMessage();
  }

  private Socket stranger(String words) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    open.add(socket);
    socket.getOutputStream().write(words.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  @Test
  void strangersWhateverTheySayKeepNobodyFromTheStart() throws Exception {
    Future<?> first = begins(0);
    for (int i = 0; i < 100; i++) {
      stranger("");
    }
    stranger("\0\0\0\1");
    stranger("GET / HTTP/1.1\r\nHost: injector-0\r\nUser-Agent: a health check\r\n\r\n");
    stranger("x".repeat(100_000));
    Socket reset = stranger("\0\0");
    reset.setSoLinger(true, 0);
    reset.close();
    stranger("bye").close();
    Future<?> second = begins(1);
    assertTrue(!first.isDone() && !second.isDone(), "it began without the third");
    Future<?> third = begins(2);
    for (Future<?> each : List.of(first, second, third)) {
      each.get();
    }
  }

  /** A pod that was killed before the start, and came again. */
  @Test
  void oneThatWasLostBeforeTheStartMayComeAgain() throws Exception {
    Future<?> first = begins(0);
    try (Socket lost = stranger("")) {
      lost.getOutputStream().write(new Hello(settings(1, 3, 7, 300)).of(1).array());
      // It was taken in: it has heard the other's hello.
      assertEquals(Hello.LENGTH, lost.getInputStream().readNBytes(Hello.LENGTH).length);
    }
    Future<?> again = begins(1);
    Future<?> third = begins(2);
    for (Future<?> each : List.of(first, again, third)) {
      each.get();
    }
  }

  /** Both at one look, as after a pause; which of the two is seen first is by chance, each time. */
  @Test
  void oneThatIsLostWhileAnotherComesInItsPlaceIsNotThereTwice() throws Exception {
    byte[] hello = new Hello(settings(1, 3, 7, 300)).of(1).array();
    try (Registrar registrar = new Registrar(settings(0, 3, 7, 300), port, new RunClock()::nanos)) {
      List<Socket> comers = new ArrayList<>();
      AtomicInteger looks = new AtomicInteger();
      var all =
          registrar.awaitOthers(
              () -> {
                try {
                  if (looks.incrementAndGet() % 2 == 1) {
                    comers.add(stranger(""));
                  } else {
                    if (comers.size() > 1) {
                      comers.remove(0).close();
                    }
                    comers.get(0).getOutputStream().write(hello);
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                return looks.get() == 60;
              });
      assertTrue(all.isEmpty(), "the third has not come");
    }
  }

  @Test
  void oneThatIsThereTwiceIsNamed() throws Exception {
    Future<?> first = begins(0);
    for (int i = 0; i < 2; i++) {
      stranger("").getOutputStream().write(new Hello(settings(1, 3, 7, 300)).of(1).array());
    }
    assertTrue(failure(first).startsWith("Injector 1 came twice"));
  }

  @Test
  void oneThatIsMissingIsNamedToAllOnceTimeIsOver() throws Exception {
    AtomicBoolean isLate = new AtomicBoolean();
    AtomicLong time = new AtomicLong();
    Settings settings = settings(0, 3, 7, 5);
    // Time stands still until one is there, and then passes by a second at each look.
    Future<?> first =
        begins(settings, () -> isLate.get() ? time.addAndGet(1_000_000_000) : time.get());
    Socket second = stranger("");
    second.getOutputStream().write(new Hello(settings).of(1).array());
    assertEquals(Hello.LENGTH, second.getInputStream().readNBytes(Hello.LENGTH).length);
    isLate.set(true);
    String sentence =
        "Injector 2 did not come to 127.0.0.1:%d within 5 s: the run did not start."
            .formatted(port);
    assertEquals(sentence, failure(first));
    ByteBuffer told = ByteBuffer.wrap(second.getInputStream().readAllBytes());
    assertEquals(StartBarrier.givenUp(sentence), told);
  }

  @Test
  void whatTheFirstGaveUpForIsToldByAll() throws Exception {
    try (ServerSocket first = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
      Settings settings = settings(1, 3, 7, 300);
      Future<?> second = begins(settings);
      try (Socket other = first.accept()) {
        other.getInputStream().readNBytes(Hello.LENGTH);
        other.getOutputStream().write(new Hello(settings).of(0).array());
        other.getOutputStream().write(StartBarrier.givenUp("Injector 2 did not come").array());
      }
      assertEquals("Injector 2 did not come", failure(second));
    }
  }

  @Test
  void oneOfAnotherRunIsMissing() throws Exception {
    Future<?> first = begins(settings(0, 2, 7, 2));
    Future<?> other = begins(settings(1, 2, 8, 2));
    assertTrue(failure(first).startsWith("Injector 1 did not come"));
    assertTrue(failure(other).startsWith("The first injector was not met"));
  }

  @Test
  void firstThatIsMissingIsSaidSo() throws Exception {
    assertTrue(
        failure(begins(settings(1, 2, 7, 1))).startsWith("The first injector was not met at"));
  }

  /** Something else has its port, and answers as servers do. */
  @Test
  void whatAnswersInThePlaceOfTheFirstIsNotTakenForIt() throws Exception {
    try (ServerSocket server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress())) {
      CountDownLatch asked = new CountDownLatch(1);
      var unused =
          threads.submit(
              () -> {
                while (true) {
                  try (Socket client = server.accept()) {
                    client
                        .getOutputStream()
                        .write(
                            "\1HTTP/1.1 400 Bad Request\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                    asked.countDown();
                  }
                }
              });
      Future<?> second = begins(settings(1, 2, 7, 2));
      asked.await();
      assertTrue(failure(second).contains("The first injector was not met at"));
    }
  }

  @Test
  void stopEndsTheWait() throws Exception {
    Future<?> first = begins(0);
    Future<?> second = begins(1);
    stopped.set(true);
    first.get();
    try {
      second.get();
    } catch (ExecutionException e) {
      // It may have heard of the first's end before it looked.
      assertTrue(e.getCause() instanceof StartBarrierException, e.toString());
    }
  }
}
