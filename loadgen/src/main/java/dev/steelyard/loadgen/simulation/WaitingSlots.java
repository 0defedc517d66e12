// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.simulation;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Slots of the open model that wait for an arrival. Of each event loop one slot, the leader, holds
 * the next arrival and a timer; when it starts, the slot that has waited for the shortest time
 * follows it, or a new one where all others are busy. So a rate that a few slots can serve is
 * served by these few, whose memory is in the processor's caches, and the other thousands sleep
 * without a timer. (Leader and followers: Schmidt and others, Pattern-Oriented Software
 * Architecture 2, 2000.)
 *
 * <p>Of arrivals that are overdue one starts in each round of the loop, which reads answers in
 * between: connections stay as few as the server's answers allow.
 */
final class WaitingSlots {
  private final Map<EventLoop, Loop> loops = new ConcurrentHashMap<>();

  /**
   * Has a slot wait for an arrival; one that no arrival comes for any more waits until the end.
   *
   * @param loop of the slot
   * @param next what it does then, on that loop
   */
  void await(EventLoop loop, OpenUser slot, Runnable next) {
    Loop own = loops.computeIfAbsent(loop, Loop::new);
    Waiting waiting = new Waiting(slot, next);
    if (loop.inEventLoop()) {
      own.await(waiting);
    } else {
      loop.execute(() -> own.await(waiting));
    }
  }

  private record Waiting(OpenUser slot, Runnable next) {}

  /** Of one event loop, and used by its thread alone. */
  private static final class Loop {
    private final EventLoop loop;
    private final Deque<Waiting> followers = new ArrayDeque<>();
    private boolean led;

    Loop(EventLoop loop) {
      this.loop = loop;
    }

    void await(Waiting waiting) {
      if (led || !lead(waiting)) {
        follow(waiting);
      }
    }

    private void follow(Waiting waiting) {
      if (waiting.slot.isNew()) {
        followers.addLast(waiting);
      } else {
        followers.addFirst(waiting);
      }
    }

    private boolean lead(Waiting leader) {
      led = leader.slot.guarded(leader.slot::reserve);
      if (led) {
        // Also if it is overdue: the loop looks at its timers once a round, between answers. As a
        // task it would run in this round, and so would all that are overdue after it: each would
        // open a connection, while answers that would leave one free wait to be read.
        long nanos = Math.max(0, leader.slot.untilDue());
        var unused = loop.schedule(() -> start(leader), nanos, TimeUnit.NANOSECONDS);
      }
      return led;
    }

    private void start(Waiting leader) {
      led = false;
      Waiting follower = followers.pollFirst();
      if (follower != null) {
        await(follower);
      }
      leader.next.run();
    }
  }
}
