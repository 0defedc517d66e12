// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gatling.http.client.uri.Uri;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmptySegmentsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://h:8080/thumb/https://cdn/x.png?y=//z",
        "http://h:8080//a///b////",
        "http://h:8080//",
        "http://h:8080/a?b=//",
        "ws://h:8080/"
      })
  void stayInTheAddress(String url) {
    assertEquals(url, EmptySegments.restored(Uri.create(EmptySegments.named(url)).toUrl()));
  }
}
