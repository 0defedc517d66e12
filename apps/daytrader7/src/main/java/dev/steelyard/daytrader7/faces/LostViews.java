// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import jakarta.faces.FacesException;
import jakarta.faces.application.ViewExpiredException;
import jakarta.faces.context.ExceptionHandler;
import jakarta.faces.context.ExceptionHandlerFactory;
import jakarta.faces.context.ExceptionHandlerWrapper;
import jakarta.faces.context.ExternalContext;
import jakarta.faces.context.FacesContext;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A form of a view that the server no longer has, as after the end of a session, leads to the page
 * as it is now: the login page for those whose session is over.
 */
public final class LostViews extends ExceptionHandlerFactory {

  /** Around the factory of the implementation. */
  public LostViews(ExceptionHandlerFactory wrapped) {
    super(wrapped);
  }

  @Override
  public ExceptionHandler getExceptionHandler() {
    return new Handler(getWrapped().getExceptionHandler());
  }

  private static final class Handler extends ExceptionHandlerWrapper {

    Handler(ExceptionHandler wrapped) {
      super(wrapped);
    }

    @Override
    public void handle() throws FacesException {
      boolean lost = false;
      for (var events = getUnhandledExceptionQueuedEvents().iterator(); events.hasNext(); ) {
        if (events.next().getContext().getException() instanceof ViewExpiredException) {
          events.remove();
          lost = true;
        }
      }
      if (lost) {
        redirect(FacesContext.getCurrentInstance().getExternalContext());
      }
      super.handle();
    }

    private static void redirect(ExternalContext external) {
      try {
        external.redirect(external.getRequestContextPath() + external.getRequestServletPath());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
