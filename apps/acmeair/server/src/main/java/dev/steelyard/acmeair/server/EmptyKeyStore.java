// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Security;

/**
 * Makes a key store with nothing in it: Liberty checks no token without one, and would make itself
 * a certificate at each first start, although nothing here speaks TLS. It has the same bytes
 * wherever it is made: the code that guards its contents, of which there are none, would be salted
 * at random, and so is left out.
 */
public final class EmptyKeyStore {

  /** Liberty wants one; tokens.xml has it. */
  static final String PASSWORD = "acmeair";

  private EmptyKeyStore() {}

  /**
   * Writes it, unless it is there: a package is made anew where a file is newer.
   *
   * @param args the file, PKCS#12
   */
  public static void main(String[] args) throws IOException, GeneralSecurityException {
    Path file = Path.of(args[0]);
    if (Files.exists(file)) {
      return;
    }
    Security.setProperty("keystore.pkcs12.macAlgorithm", "NONE");
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    Files.createDirectories(file.toAbsolutePath().getParent());
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, PASSWORD.toCharArray());
    }
  }
}
