// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen;

import java.util.prefs.Preferences;
import java.util.prefs.PreferencesFactory;

/**
 * Keeps Gatling from asking an outside address for its newest release.
 *
 * <p>Gatling does so at every start, unless the preferences say that it did so lately, and notes
 * the answer in the user's home: an injector must do neither, and in a container without a home the
 * note would land in the folder of the results.
 *
 * <p>A check that failed counts as lately for 3.6 seconds only (Gatling 3.15), less than a start
 * takes on a busy machine: so it is said to have been in a distant future.
 */
public final class MemoryPreferencesFactory implements PreferencesFactory {
  private final MemoryPreferences root = new MemoryPreferences(null, "");

  /** For the JDK, which makes one, by its name. */
  public MemoryPreferencesFactory() {}

  /**
   * Takes the place of the JDK's preferences, before anything asks for them: the JDK chooses their
   * factory once, when {@link Preferences} is loaded.
   */
  static void install() {
    System.setProperty(
        "java.util.prefs.PreferencesFactory", MemoryPreferencesFactory.class.getName());
    Preferences release = Preferences.userRoot().node("/io/gatling/latestVersion");
    release.putBoolean("lastCheckSuccess", false);
    release.putLong("lastCheckTimestamp", Long.MAX_VALUE);
  }

  @Override
  public Preferences systemRoot() {
    return root;
  }

  @Override
  public Preferences userRoot() {
    return root;
  }
}
