// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;

/** Makes tokens that are not what the auth service hands out. */
final class Forgery {

  static final String ISSUER = "http://acmeair-ms";
  static final String ROLE = "user";

  private static final long LIFETIME_SECONDS = 3600;

  private final PrivateKey key;

  private Forgery(PrivateKey key) {
    this.key = key;
  }

  /** With the services' own key, from its PEM file. */
  static Forgery withKey(Path pem) throws IOException, GeneralSecurityException {
    String base64 = Files.readString(pem).replaceAll("-----[A-Z ]+-----|\\s", "");
    byte[] bytes = Base64.getDecoder().decode(base64);
    return new Forgery(
        KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(bytes)));
  }

  /** With somebody else's key. */
  static Forgery withOtherKey() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return new Forgery(generator.generateKeyPair().getPrivate());
  }

  /** A signed token of a customer, good for an hour from some time on. */
  String token(String customer, String issuer, String role, Instant issued)
      throws GeneralSecurityException {
    String signed =
        base64("{\"alg\":\"RS256\",\"typ\":\"JWT\"}")
            + "."
            + claims(customer, issuer, role, issued);
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(key);
    signature.update(signed.getBytes(StandardCharsets.US_ASCII));
    return signed + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
  }

  /** A token that says that it needs no signature, and has none. */
  static String unsigned(String customer) {
    return base64("{\"alg\":\"none\",\"typ\":\"JWT\"}")
        + "."
        + claims(customer, ISSUER, ROLE, Instant.now())
        + ".";
  }

  private static String claims(String customer, String issuer, String role, Instant issued) {
    return base64(
        "{\"iss\":\"%s\",\"iat\":%d,\"exp\":%d,\"jti\":\"1\",\"sub\":\"%s\",\"upn\":\"%s\",\"groups\":[\"%s\"]}"
            .formatted(
                issuer,
                issued.getEpochSecond(),
                issued.getEpochSecond() + LIFETIME_SECONDS,
                customer,
                customer,
                role));
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
