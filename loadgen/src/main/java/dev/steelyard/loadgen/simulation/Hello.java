// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.steelyard.loadgen.Settings;
import dev.steelyard.loadgen.SettingsReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What the injectors of a run say to each other before it starts: a token and an index. The token
 * is a digest of the settings that all of them have, so that neither a stranger nor an injector of
 * another run passes for one of this.
 */
final class Hello {
  /** Bytes of a message. */
  static final int LENGTH = 32 + Integer.BYTES;

  private static final int STRANGER = -1;

  private final byte[] token;
  private final int injectors;

  Hello(Settings settings) {
    ObjectNode shared = SettingsReader.shared(settings);
    injectors = settings.injectors();
    try {
      byte[] text = SettingsReader.JSON.writeValueAsString(shared).getBytes(StandardCharsets.UTF_8);
      token = MessageDigest.getInstance("SHA-256").digest(text);
    } catch (JsonProcessingException | NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The message of an injector. */
  ByteBuffer of(int injector) {
    return ByteBuffer.allocate(LENGTH).put(token).putInt(injector).flip();
  }

  /** Whose message this is, all of it: index of an injector of this run, or a negative number. */
  int sender(ByteBuffer message) {
    byte[] told = new byte[token.length];
    message.get(told);
    int injector = message.getInt();
    boolean known = MessageDigest.isEqual(told, token) && injector >= 0 && injector < injectors;
    return known ? injector : STRANGER;
  }
}
