// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpUpgradeHandler;
import jakarta.servlet.http.WebConnection;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A connection that leaves HTTP, if the client asks for {@code echo}: what it sends comes back. */
@WebServlet(urlPatterns = "/servlet/PingUpgradeServlet", asyncSupported = true)
public class UpgradePrimitive extends Primitive {

  private static final long serialVersionUID = 1L;

  @Override
  protected void answer(String name, HttpServletRequest request, HttpServletResponse response)
      throws Exception {
    if ("echo".equals(request.getHeader("Upgrade"))) {
      response.setStatus(HttpServletResponse.SC_SWITCHING_PROTOCOLS);
      response.setHeader("Connection", "Upgrade");
      response.setHeader("Upgrade", "echo");
      request.upgrade(Echo.class);
    } else {
      show(response, name, "No upgrade was asked for");
    }
  }

  /** The connection after HTTP. */
  public static final class Echo implements HttpUpgradeHandler, ReadListener {

    private final byte[] buffer = new byte[8192];
    private WebConnection connection;
    private ServletInputStream in;
    private ServletOutputStream out;

    @Override
    public void init(WebConnection opened) {
      try {
        connection = opened;
        in = opened.getInputStream();
        out = opened.getOutputStream();
        in.setReadListener(this);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void destroy() {}

    @Override
    public void onDataAvailable() throws IOException {
      while (in.isReady()) {
        int read = in.read(buffer);
        if (read < 0) {
          return;
        }
        out.write(buffer, 0, read);
        out.flush();
      }
    }

    @Override
    public void onAllDataRead() throws IOException {
      close();
    }

    @Override
    public void onError(Throwable cause) {
      close();
    }

    private void close() {
      try {
        connection.close();
      } catch (Exception alreadyClosed) {
        // The client was faster.
      }
    }
  }
}
