// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.Refused;
import dev.steelyard.olio.files.Filestore;
import dev.steelyard.olio.files.StoredName;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** Files of the filestore, read through the application. */
@WebServlet("/access-artifacts/*")
public final class FilesServlet extends Route {

  private static final long serialVersionUID = 1L;
  private static final long SECOND = 1000;

  @Inject private transient Filestore filestore;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String path = String.valueOf(request.getPathInfo());
    StoredName name =
        StoredName.parse(path.substring(1))
            .orElseThrow(() -> Refused.unknown("There is no such file."));
    Path file = filestore.path(name);
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      long modified = attributes.lastModifiedTime().toMillis() / SECOND * SECOND;
      response.setDateHeader("Last-Modified", modified);
      response.setHeader("Cache-Control", "public, max-age=31536000");
      response.setHeader("X-Content-Type-Options", "nosniff");
      if (since(request) >= modified) {
        response.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
        return;
      }
      response.setContentType(name.type());
      response.setContentLengthLong(attributes.size());
      Files.copy(file, response.getOutputStream());
    } catch (NoSuchFileException e) {
      throw Refused.unknown("There is no such file.");
    }
  }

  /** The date of a condition; one that cannot be read is none. */
  static long since(HttpServletRequest request) {
    try {
      return request.getDateHeader("If-Modified-Since");
    } catch (IllegalArgumentException e) {
      return -1;
    }
  }
}
