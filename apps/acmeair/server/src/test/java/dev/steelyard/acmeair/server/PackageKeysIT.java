// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** What everyone can fetch holds nobody's key: every file of the package, those in archives too. */
final class PackageKeysIT {

  private static final String PEM = "PRIVATE KEY-----";
  private static final List<String> STORES = List.of(".p12", ".pfx", ".jks", ".jceks");
  private static final List<String> ARCHIVES = List.of(".jar", ".war", ".zip", ".esa");

  private final List<String> stores = new ArrayList<>();
  private int applications;

  @Test
  void thePackageHoldsNoPrivateKey() throws Exception {
    try (InputStream zip = Files.newInputStream(Path.of(System.getProperty("server.archive")))) {
      look("", zip);
    }
    assertEquals(List.of("wlp/usr/shared/resources/acmeair/empty.p12"), stores);
    assertEquals(6, applications, "applications that were looked into");
  }

  private void look(String where, InputStream archive) throws Exception {
    ZipInputStream entries = new ZipInputStream(archive);
    for (ZipEntry entry; (entry = entries.getNextEntry()) != null; ) {
      String path = where + entry.getName();
      String name = path.toLowerCase(Locale.ROOT);
      byte[] content = entries.readAllBytes();
      if (ARCHIVES.stream().anyMatch(name::endsWith)) {
        applications += name.endsWith(".war") ? 1 : 0;
        look(path + "!", new ByteArrayInputStream(content));
      } else if (STORES.stream().anyMatch(name::endsWith)) {
        stores.add(path);
        assertEquals(0, entriesOf(content), path);
      } else if (!name.endsWith(".class")) { // Code that reads keys names them.
        assertTrue(!new String(content, StandardCharsets.ISO_8859_1).contains(PEM), path);
      }
    }
  }

  private static int entriesOf(byte[] content) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(new ByteArrayInputStream(content), EmptyKeyStore.PASSWORD.toCharArray());
    return store.size();
  }
}
