// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import jakarta.faces.FacesWrapper;
import jakarta.faces.context.FacesContext;
import jakarta.faces.context.ResponseWriter;
import jakarta.faces.context.ResponseWriterWrapper;
import jakarta.faces.render.RenderKit;
import jakarta.faces.render.RenderKitFactory;
import jakarta.faces.render.RenderKitWrapper;
import jakarta.faces.render.ResponseStateManager;
import java.io.IOException;
import java.util.Iterator;

/**
 * Writes the state of a view twice into each form: as Faces does, and right after it under the name
 * and id that it had before Faces 3, where drivers of that time look for it.
 */
public final class StateRenderKits extends RenderKitFactory {

  /** Around the factory of the implementation. */
  public StateRenderKits(RenderKitFactory wrapped) {
    super(wrapped);
  }

  @Override
  public void addRenderKit(String id, RenderKit kit) {
    getWrapped().addRenderKit(id, kit);
  }

  @Override
  public RenderKit getRenderKit(FacesContext context, String id) {
    RenderKit kit = getWrapped().getRenderKit(context, id);
    return kit == null ? null : new TwiceKit(kit);
  }

  @Override
  public Iterator<String> getRenderKitIds() {
    return getWrapped().getRenderKitIds();
  }

  private static final class TwiceKit extends RenderKitWrapper {

    TwiceKit(RenderKit wrapped) {
      super(wrapped);
    }

    @Override
    public ResponseStateManager getResponseStateManager() {
      return new TwiceManager(getWrapped().getResponseStateManager());
    }
  }

  /** MyFaces looks for its own manager by unwrapping. */
  private static final class TwiceManager extends ResponseStateManager
      implements FacesWrapper<ResponseStateManager> {

    private final ResponseStateManager wrapped;

    TwiceManager(ResponseStateManager wrapped) {
      this.wrapped = wrapped;
    }

    @Override
    public ResponseStateManager getWrapped() {
      return wrapped;
    }

    @Override
    public Object getState(FacesContext context, String viewId) {
      return wrapped.getState(context, viewId);
    }

    @Override
    public String getViewState(FacesContext context, Object state) {
      return wrapped.getViewState(context, state);
    }

    @Override
    public String getCryptographicallyStrongTokenFromSession(FacesContext context) {
      return wrapped.getCryptographicallyStrongTokenFromSession(context);
    }

    @Override
    public boolean isPostback(FacesContext context) {
      return wrapped.isPostback(context);
    }

    @Override
    public boolean isStateless(FacesContext context, String viewId) {
      return wrapped.isStateless(context, viewId);
    }

    @Override
    public void writeState(FacesContext context, Object state) throws IOException {
      ResponseWriter writer = context.getResponseWriter();
      FieldWatcher watcher = new FieldWatcher(writer);
      context.setResponseWriter(watcher);
      try {
        wrapped.writeState(context, state);
      } finally {
        context.setResponseWriter(writer);
      }
      if (watcher.id != null && watcher.value != null) {
        writer.startElement("input", null);
        writer.writeAttribute("type", "hidden", null);
        writer.writeAttribute("name", OlderParameters.OLD_STATE, null);
        writer.writeAttribute(
            "id",
            watcher.id.replace(ResponseStateManager.VIEW_STATE_PARAM, OlderParameters.OLD_STATE),
            null);
        writer.writeAttribute("value", watcher.value, null);
        writer.endElement("input");
      }
    }
  }

  /** Sees the id and the value of the field with the state. */
  private static final class FieldWatcher extends ResponseWriterWrapper {

    private boolean inState;
    private String id;
    private Object value;

    FieldWatcher(ResponseWriter wrapped) {
      super(wrapped);
    }

    @Override
    public void writeAttribute(String name, Object text, String property) throws IOException {
      switch (name) {
        case "name" -> inState = ResponseStateManager.VIEW_STATE_PARAM.equals(text);
        case "id" -> id = inState ? String.valueOf(text) : id;
        case "value" -> value = inState ? text : value;
        default -> {}
      }
      super.writeAttribute(name, text, property);
    }
  }
}
