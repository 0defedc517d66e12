// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import jakarta.faces.render.ResponseStateManager;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The parameters of a form as Faces 4 and MyFaces expect them, from those of drivers that were
 * written for older ones: the state of the view under its old name, and forms, links and a button
 * named as Mojarra names them.
 */
final class OlderParameters extends HttpServletRequestWrapper {

  /** The name of the view's state before Faces 3. */
  static final String OLD_STATE = "javax.faces.ViewState";

  private final Map<String, String[]> parameters;

  private OlderParameters(HttpServletRequest request, Map<String, String[]> parameters) {
    super(request);
    this.parameters = Collections.unmodifiableMap(parameters);
  }

  /** The request itself where there is nothing to translate. */
  static HttpServletRequest translated(HttpServletRequest request) {
    Map<String, String[]> given = request.getParameterMap();
    if (!given.containsKey(OLD_STATE) || given.containsKey(ResponseStateManager.VIEW_STATE_PARAM)) {
      return request;
    }
    Map<String, String[]> parameters = new LinkedHashMap<>(given);
    parameters.put(ResponseStateManager.VIEW_STATE_PARAM, given.get(OLD_STATE));
    given.forEach((name, values) -> addMojarras(parameters, name, values[0]));
    return new OlderParameters(request, parameters);
  }

  /** Mojarra's form says {@code form=form}, a link of it {@code form:link=form:link}. */
  private static void addMojarras(Map<String, String[]> parameters, String name, String value) {
    if (name.equals("quotes:submit")) {
      parameters.putIfAbsent("quotes:submit2", new String[] {value});
    } else if (name.equals(value)) {
      int colon = name.indexOf(':');
      if (colon < 0) {
        parameters.putIfAbsent(name + "_SUBMIT", new String[] {"1"});
      } else {
        parameters.putIfAbsent(name.substring(0, colon) + ":_idcl", new String[] {name});
      }
    }
  }

  @Override
  public String getParameter(String name) {
    String[] values = parameters.get(name);
    return values == null ? null : values[0];
  }

  @Override
  public Map<String, String[]> getParameterMap() {
    return parameters;
  }

  @Override
  public Enumeration<String> getParameterNames() {
    return Collections.enumeration(parameters.keySet());
  }

  @Override
  public String[] getParameterValues(String name) {
    return parameters.get(name);
  }
}
