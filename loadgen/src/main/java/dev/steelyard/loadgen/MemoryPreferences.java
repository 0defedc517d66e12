// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.prefs.AbstractPreferences;

/** Preferences that live as long as the process and leave no file behind. */
final class MemoryPreferences extends AbstractPreferences {
  private final Map<String, String> values = new ConcurrentHashMap<>();
  private final Map<String, MemoryPreferences> children = new ConcurrentHashMap<>();

  MemoryPreferences(AbstractPreferences parent, String name) {
    super(parent, name);
  }

  @Override
  protected void putSpi(String key, String value) {
    values.put(key, value);
  }

  @Override
  protected String getSpi(String key) {
    return values.get(key);
  }

  @Override
  protected void removeSpi(String key) {
    values.remove(key);
  }

  @Override
  protected void removeNodeSpi() {
    values.clear();
  }

  @Override
  protected String[] keysSpi() {
    return values.keySet().toArray(String[]::new);
  }

  @Override
  protected String[] childrenNamesSpi() {
    return children.keySet().toArray(String[]::new);
  }

  @Override
  protected AbstractPreferences childSpi(String name) {
    return children.computeIfAbsent(name, made -> new MemoryPreferences(this, made));
  }

  @Override
  protected void syncSpi() {}

  @Override
  protected void flushSpi() {}
}
