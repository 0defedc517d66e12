// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Invariant;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Fragments;
import dev.steelyard.olio.data.Load;
import dev.steelyard.olio.data.OlioInvariants;
import dev.steelyard.olio.files.LoadedFiles;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * {@code /load}: the data and the files, made anew, told line by line, or with {@code part=files}
 * the files alone; {@code /stats}: what this JVM did and what the database holds beyond the load;
 * {@code /consistency}: {@code consistent}, or the rows that break what must hold. Not meant for a
 * time with load.
 */
@WebServlet({"/load", "/stats", "/consistency"})
public final class AdministrationServlet extends Route {

  private static final long serialVersionUID = 1L;
  private static final Logger LOG = Logger.getLogger(AdministrationServlet.class.getName());
  private static final int LOADED = 10_000_000;

  @Inject private transient Database database;
  @Inject private transient Fragments fragments;
  @Inject private transient Load load;
  @Inject private transient LoadedFiles files;
  @Inject private transient Stats stats;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (request.getServletPath()) {
      case "/load" -> load(request, response);
      case "/stats" -> stats(response);
      default -> consistency(response);
    }
  }

  private void load(HttpServletRequest request, HttpServletResponse response) throws IOException {
    response.setContentType("text/plain;charset=UTF-8");
    PrintWriter out = response.getWriter();
    try {
      if (!Input.text(request, "part").equals("files")) {
        line(out, "The data set is " + load.run(each -> line(out, each)) + ".");
      }
      files.run(each -> line(out, each));
      fragments.clear();
      line(out, "Loaded.");
    } catch (RuntimeException e) {
      if (!response.isCommitted()) {
        throw e;
      }
      LOG.log(Level.WARNING, "The load failed", e);
      // The status has gone: without the last line the answer is no success.
      line(out, "The load failed: " + e.getMessage());
    }
  }

  /** Sent on at once: there is somebody who waits. */
  private static void line(PrintWriter out, String text) {
    synchronized (out) {
      out.println(text);
      out.flush();
    }
  }

  private void stats(HttpServletResponse response) throws IOException {
    JsonObjectBuilder told = Json.createObjectBuilder();
    for (Stats.Count each : Stats.Count.values()) {
      told.add(each.key(), stats.get(each));
    }
    long attendances = database.count("SELECT COUNT(*) FROM PERSON_SOCIALEVENT");
    told.add(
        "stored",
        Json.createObjectBuilder()
            .add("persons", database.count("SELECT COUNT(*) FROM PERSON WHERE USERID > ?", LOADED))
            .add(
                "events",
                database.count("SELECT COUNT(*) FROM SOCIALEVENT WHERE SOCIALEVENTID > ?", LOADED))
            .add("attendances", attendances - database.count("SELECT ATTENDANCES FROM DATASET")));
    send(response, told.build());
  }

  private void consistency(HttpServletResponse response) throws IOException {
    send(response, "text/plain;charset=UTF-8", Invariant.report(database, OlioInvariants.ALL));
  }
}
