// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import org.junit.jupiter.api.Test;

class ProcessesTest {

  @Test
  void aPortIsHeldAgainstOtherProcesses() throws IOException {
    int port = Processes.freePort();
    assertThrows(BindException.class, () -> new DatagramSocket(port).close());
  }

  @Test
  void aPortThatAnotherProcessHoldsIsPassedOver() throws IOException {
    int next = Processes.freePort() + 1;
    try (DatagramSocket other = new DatagramSocket(next)) {
      assertNotEquals(other.getLocalPort(), Processes.freePort());
    } catch (BindException held) {
      // Another process holds it already.
    }
  }
}
