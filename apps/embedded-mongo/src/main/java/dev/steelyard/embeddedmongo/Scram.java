// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a server knows of its one user, and its side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without
 * channel binding. The password is not kept.
 */
final class Scram {

  private static final String HMAC = "HmacSHA256";
  private static final int ITERATIONS = 15_000; // As MongoDB's own.
  private static final int KEY_BITS = 256;
  private static final int SALT_BYTES = 28;
  private static final int NONCE_BYTES = 24;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String user;
  private final String salt = random(SALT_BYTES);
  private final byte[] storedKey;
  private final byte[] serverKey;

  /**
   * @param user name
   * @param password in clear text; RFC 4013 changes nothing of printable ASCII, and nothing else is
   *     taken care of
   */
  Scram(String user, String password) {
    this.user = user;
    try {
      byte[] salted =
          SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
              .generateSecret(
                  new PBEKeySpec(
                      password.toCharArray(),
                      Base64.getDecoder().decode(salt),
                      ITERATIONS,
                      KEY_BITS))
              .getEncoded();
      this.storedKey = hash(hmac(salted, "Client Key"));
      this.serverKey = hmac(salted, "Server Key");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Every JDK has these.
    }
  }

  /** The user's name. */
  String user() {
    return user;
  }

  /**
   * Begins a conversation.
   *
   * @param first the client's first message, {@code n,,n=USER,r=NONCE}
   * @return nothing for a message that is none, or a user that is not known
   */
  Optional<Conversation> begin(String first) {
    Map<String, String> said = attributes(first.replaceFirst("^n,[^,]*,", ""));
    String nonce = said.getOrDefault("r", "");
    if (!first.startsWith("n,") || nonce.isEmpty() || !user.equals(name(said.get("n")))) {
      return Optional.empty();
    }
    String both = nonce + random(NONCE_BYTES);
    String answer = "r=%s,s=%s,i=%d".formatted(both, salt, ITERATIONS);
    return Optional.of(new Conversation(first.replaceFirst("^n,[^,]*,", ""), both, answer));
  }

  /** One attempt to log in. */
  final class Conversation {

    private final String clientFirst;
    private final String nonce;
    private final String answer;

    private Conversation(String clientFirst, String nonce, String answer) {
      this.clientFirst = clientFirst;
      this.nonce = nonce;
      this.answer = answer;
    }

    /** The server's first message. */
    String answer() {
      return answer;
    }

    /**
     * Checks the client's proof.
     *
     * @param last the client's last message, {@code c=...,r=NONCE,p=PROOF}
     * @return the server's last message, or nothing for a wrong password
     */
    Optional<String> finish(String last) {
      try {
        Map<String, String> said = attributes(last);
        String unproven = last.replaceFirst(",p=[^,]*$", "");
        String all = String.join(",", clientFirst, answer, unproven);
        byte[] key = Base64.getDecoder().decode(said.getOrDefault("p", ""));
        byte[] signature = hmac(storedKey, all);
        if (key.length != signature.length || !nonce.equals(said.get("r"))) {
          return Optional.empty();
        }
        for (int i = 0; i < key.length; i++) {
          key[i] ^= signature[i];
        }
        return MessageDigest.isEqual(hash(key), storedKey)
            ? Optional.of("v=" + Base64.getEncoder().encodeToString(hmac(serverKey, all)))
            : Optional.empty();
      } catch (IllegalArgumentException e) {
        return Optional.empty(); // No Base64.
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static Map<String, String> attributes(String message) {
    return Stream.of(message.split(",", -1))
        .filter(part -> part.indexOf('=') == 1)
        .collect(
            Collectors.toMap(
                part -> part.substring(0, 1), part -> part.substring(2), (one, other) -> one));
  }

  /** A name as it is, which messages write without commas and equals signs. */
  private static String name(String written) {
    return written == null ? "" : written.replace("=2C", ",").replace("=3D", "=");
  }

  private static String random(int bytes) {
    byte[] drawn = new byte[bytes];
    RANDOM.nextBytes(drawn);
    return Base64.getEncoder().encodeToString(drawn);
  }

  private static byte[] hash(byte[] data) throws GeneralSecurityException {
    return MessageDigest.getInstance("SHA-256").digest(data);
  }

  private static byte[] hmac(byte[] key, String message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance(HMAC);
    mac.init(new SecretKeySpec(key, HMAC));
    return mac.doFinal(message.getBytes(UTF_8));
  }
}
