// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.direct;

import jakarta.ejb.EJB;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keys for what direct mode inserts, from blocks of which this JVM has one of each kind. */
@ApplicationScoped
public class Keys {

  /** What is left of a block. */
  private static final class Block {
    private int next;
    private int left;
  }

  @EJB private KeyBlocks blocks;

  private final Map<String, Block> taken = new ConcurrentHashMap<>();

  /** The next key of {@code account}, {@code holding} or {@code order}. */
  public int next(String name) {
    Block block = taken.computeIfAbsent(name, each -> new Block());
    synchronized (block) {
      if (block.left == 0) {
        block.next = blocks.take(name);
        block.left = KeyBlocks.SIZE;
      }
      block.left--;
      return block.next++;
    }
  }
}
