// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.util.Base64;

/**
 * Makes the RSA key pair with which the services of a package sign and check tokens: {@code
 * jwt-private.pem} (PKCS#8) and {@code jwt-public.pem} (X.509). It guards a benchmark's made-up
 * customers and is no secret: whoever has the package has the keys.
 *
 * <p>And {@code empty.p12}, a key store with nothing in it: Liberty checks no token without one,
 * and would make itself a certificate at each first start, although nothing here speaks TLS.
 */
public final class KeyPairMaker {

  private static final int BITS = 2048;
  private static final int LINE = 64;
  private static final String STORE_PASSWORD = "acmeair"; // Liberty wants one; tokens.xml has it.

  private KeyPairMaker() {}

  /**
   * Writes a new pair, unless there is one.
   *
   * @param args the folder
   */
  public static void main(String[] args) throws IOException, GeneralSecurityException {
    Path folder = Path.of(args[0]);
    Path privateKey = folder.resolve("jwt-private.pem");
    Path publicKey = folder.resolve("jwt-public.pem");
    Path store = folder.resolve("empty.p12");
    if (Files.exists(privateKey) && Files.exists(publicKey) && Files.exists(store)) {
      return;
    }
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(BITS);
    KeyPair pair = generator.generateKeyPair();
    Files.createDirectories(folder);
    Files.writeString(privateKey, pem("PRIVATE KEY", pair.getPrivate()));
    Files.writeString(publicKey, pem("PUBLIC KEY", pair.getPublic()));
    writeEmpty(store);
  }

  private static void writeEmpty(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, STORE_PASSWORD.toCharArray());
    }
  }

  private static String pem(String label, Key key) {
    Base64.Encoder encoder = Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(label, encoder.encodeToString(key.getEncoded()), label)
        .replace(System.lineSeparator(), "\n");
  }
}
