// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** The RSA key of tokens: nobody is given one, so it is made when it is first needed. */
final class SigningKey {

  private static final int BITS = 2048;
  private static final int LINE = 64;

  private SigningKey() {}

  /** A new key, which nobody else has. */
  static RSAPrivateCrtKey make() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(BITS);
      return (RSAPrivateCrtKey) generator.generateKeyPair().getPrivate();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Every JDK has RSA.
    }
  }

  /**
   * The key of a PEM file (PKCS#8). Without the file a key is made and kept in it, readable by its
   * owner alone: of several copies of the service that start at once, all get that of the first.
   *
   * @throws IllegalStateException if there is no such key, and none can be kept
   */
  static RSAPrivateCrtKey in(Path file) {
    try {
      if (!Files.exists(file)) {
        keep(make(), file);
      }
      String base64 = Files.readString(file).replaceAll("-----[A-Z ]+-----|\\s", "");
      return (RSAPrivateCrtKey)
          KeyFactory.getInstance("RSA")
              .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalStateException(
          "%s holds no key to sign with: set ACMEAIR_JWT_PRIVATEKEY_LOCATION to a PEM file with an RSA key in PKCS#8, or to one that can be made."
              .formatted(file),
          e);
    }
  }

  /** Written whole and then given its name, if that is still free: nobody reads half a key. */
  private static void keep(RSAPrivateCrtKey key, Path file) throws IOException {
    Path folder = Files.createDirectories(file.toAbsolutePath().getParent());
    Path made = Files.createTempFile(folder, "key", null); // Its owner's alone.
    try {
      Files.writeString(made, pem(key));
      Files.createLink(file, made);
    } catch (FileAlreadyExistsException e) {
      // Another copy was quicker: its key is everybody's.
    } finally {
      Files.delete(made);
    }
  }

  private static String pem(RSAPrivateCrtKey key) {
    Base64.Encoder encoder = Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII));
    return "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
        .formatted(encoder.encodeToString(key.getEncoded()));
  }
}
