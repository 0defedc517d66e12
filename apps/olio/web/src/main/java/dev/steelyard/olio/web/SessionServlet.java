// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import dev.steelyard.olio.calendar.Persons;
import dev.steelyard.olio.entities.Person;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.Optional;

/** Logging in and out. */
@WebServlet({"/person/login", "/logout"})
public final class SessionServlet extends Route {

  private static final long serialVersionUID = 1L;

  @Inject private transient Persons persons;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (request.getServletPath().equals("/logout")) {
      HttpSession session = request.getSession(false);
      if (session != null) {
        session.invalidate();
      }
      response.sendRedirect(request.getContextPath() + "/event/list");
    } else {
      logIn(request, response);
    }
  }

  /** Leads to the page that the person came from; the address says that it was not asked for. */
  private void logIn(HttpServletRequest request, HttpServletResponse response) throws IOException {
    Optional<Person> person =
        persons.login(Input.text(request, "user_name"), Input.text(request, "password"));
    HttpSession session = request.getSession(true);
    if (person.isPresent()) {
      new LoggedInUser(person.get().getId(), person.get().getUserName()).logIn(request);
    } else {
      session.setAttribute(
          PageLayout.MESSAGE, "There is no such user, or the password is another one.");
    }
    Object last = session.getAttribute(PageLayout.LAST_PAGE);
    String page = last == null ? request.getContextPath() + "/event/list" : last.toString();
    if (!page.contains("from=")) {
      page += (page.contains("?") ? "&" : "?") + "from=login";
    }
    response.sendRedirect(page);
  }
}
