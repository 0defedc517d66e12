// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Servlets whose answer is made after they have returned. */
@WebServlet(
    urlPatterns = {
      "/servlet/PingManagedThread",
      "/servlet/PingManagedExecutor",
      "/servlet/PingServlet30Async",
      "/servlet/PingServlet31Async",
      "/servlet/PingServlet31AsyncRead"
    },
    asyncSupported = true)
public class AsyncPrimitives extends Primitive {

  private static final long serialVersionUID = 1L;

  @Resource private transient ManagedThreadFactory threads;
  @Resource private transient ManagedExecutorService executor;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    AsyncContext async = request.startAsync();
    switch (name) {
      case "PingManagedThread" -> threads.newThread(() -> finish(async, name)).start();
      case "PingManagedExecutor" -> executor.execute(() -> finish(async, name));
      case "PingServlet30Async" -> async.start(() -> finish(async, name));
      default ->
          request
              .getInputStream()
              .setReadListener(new Reader(async, name, name.equals("PingServlet31Async")));
    }
  }

  private static void finish(AsyncContext async, String name) {
    try {
      show(
          (HttpServletResponse) async.getResponse(),
          name,
          "Answered by " + Thread.currentThread().getName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      async.complete();
    }
  }

  /** Reads the request as it comes, and then answers: without blocking too, or plainly. */
  private static final class Reader implements ReadListener {

    private final AsyncContext async;
    private final String name;
    private final boolean writeLater;
    private final byte[] buffer = new byte[8192];
    private long bytes;

    Reader(AsyncContext async, String name, boolean writeLater) {
      this.async = async;
      this.name = name;
      this.writeLater = writeLater;
    }

    @Override
    public void onDataAvailable() throws IOException {
      ServletInputStream in = async.getRequest().getInputStream();
      int read = 0;
      while (read >= 0 && in.isReady()) {
        read = in.read(buffer);
        bytes += Math.max(read, 0);
      }
    }

    @Override
    public void onAllDataRead() throws IOException {
      ServletOutputStream out = async.getResponse().getOutputStream();
      byte[] answer = page(name, "Bytes read: " + bytes).getBytes(StandardCharsets.ISO_8859_1);
      if (writeLater) {
        out.setWriteListener(new Writer(out, answer));
      } else {
        out.write(answer);
        async.complete();
      }
    }

    @Override
    public void onError(Throwable cause) {
      async.complete();
    }

    /** Writes the answer once it can be written without waiting. */
    private final class Writer implements WriteListener {

      private final ServletOutputStream out;
      private byte[] answer;

      Writer(ServletOutputStream out, byte[] answer) {
        this.out = out;
        this.answer = answer;
      }

      @Override
      public void onWritePossible() throws IOException {
        if (answer != null && out.isReady()) {
          byte[] whole = answer;
          answer = null;
          out.write(whole);
        }
        if (answer == null && out.isReady()) {
          async.complete();
        }
      }

      @Override
      public void onError(Throwable cause) {
        async.complete();
      }
    }
  }
}
