// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The key store of the package: the same bytes in each build, and one that opens. */
final class EmptyKeyStoreTest {

  @Test
  void twoBuildsMakeTheSameBytes(@TempDir Path folder) throws Exception {
    Path one = folder.resolve("one/empty.p12");
    Path other = folder.resolve("other/empty.p12");
    EmptyKeyStore.main(new String[] {one.toString()});
    EmptyKeyStore.main(new String[] {other.toString()});
    assertArrayEquals(Files.readAllBytes(one), Files.readAllBytes(other));

    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(one)) {
      store.load(in, EmptyKeyStore.PASSWORD.toCharArray());
    }
    assertEquals(0, store.size());
  }
}
