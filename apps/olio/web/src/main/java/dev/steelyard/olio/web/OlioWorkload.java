// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.bench.Workload;
import dev.steelyard.bench.database.Database;
import dev.steelyard.bench.database.Dialect;
import dev.steelyard.olio.Settings;
import dev.steelyard.olio.calendar.GeocoderClient;
import dev.steelyard.olio.data.Load;
import dev.steelyard.olio.data.OlioDatabase;
import dev.steelyard.olio.data.Tables;
import dev.steelyard.olio.files.Filestore;
import jakarta.enterprise.inject.spi.CDI;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The workload {@code olio}. Each of its operations is several requests; one of them stands for it:
 * what else a browser sends, and the pages that the application itself leads to, are not counted.
 */
public final class OlioWorkload implements Workload {

  private static final String VERSION = "1.1.3";

  private static final Optional<String> HOME = Optional.of("home-page");
  private static final Optional<String> LOGIN = Optional.of("login");
  private static final Optional<String> TAG = Optional.of("tag-search");
  private static final Optional<String> EVENT = Optional.of("event-detail");
  private static final Optional<String> PERSON = Optional.of("person-detail");
  private static final Optional<String> ADD_PERSON = Optional.of("add-person");
  private static final Optional<String> ADD_EVENT = Optional.of("add-event");

  @Override
  public String name() {
    return "olio";
  }

  @Override
  public String version() {
    return VERSION;
  }

  @Override
  public Optional<String> dataSetHash() {
    return bean(Load.class).hash();
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = bean(Settings.class).shown();
    try {
      settings.put("database", bean(Tables.class).product());
      settings.put("dataSource", bean(Database.class).run(Dialect::dataSource));
    } catch (OlioDatabase.Failure e) {
      settings.put("database", "unreachable");
      settings.put("dataSource", "unreachable");
    }
    return settings;
  }

  /**
   * Whether database and filestore are there. Without the geocoder all operations go on: were it
   * asked for here, it would take all servers out of service with it.
   */
  @Override
  public boolean ready() {
    try {
      return bean(Database.class).<Boolean>run(connection -> connection.isValid(1))
          && bean(Filestore.class).writable();
    } catch (OlioDatabase.Failure notNow) {
      return false;
    }
  }

  /** And the geocoder, without whose places a run is not valid. */
  @Override
  public boolean started() {
    return ready() && bean(GeocoderClient.class).ready();
  }

  private static <T> T bean(Class<T> type) {
    return CDI.current().select(type).get();
  }

  @Override
  public Set<String> operations() {
    return Set.of(
        "home-page",
        "login",
        "tag-search",
        "event-detail",
        "person-detail",
        "add-person",
        "add-event");
  }

  /** What is asked by whoever loads and checks the data, and nothing of what users ask for. */
  @Override
  public boolean countsOther(HttpServletRequest request) {
    return Set.of("/load", "/consistency").contains(request.getServletPath());
  }

  @Override
  public Optional<String> operationOf(HttpServletRequest request) {
    String query = request.getQueryString() == null ? "" : request.getQueryString();
    boolean led = query.contains("from=");
    boolean post = request.getMethod().equals("POST");
    String info = request.getPathInfo();
    return switch (info == null ? request.getServletPath() : request.getServletPath() + info) {
      case "", "/", "/index.jsp", "/event/list" -> led ? Optional.empty() : HOME;
      case "/person/login" -> LOGIN;
      case "/tag/display" -> post ? TAG : Optional.empty();
      case "/event/detail" -> led ? Optional.empty() : EVENT;
      case "/person" -> query.contains("actionType=display_person") ? PERSON : Optional.empty();
      case "/api/person/fileuploadPerson" -> ADD_PERSON;
      case "/api/event/addEvent" -> ADD_EVENT;
      default -> Optional.empty();
    };
  }
}
