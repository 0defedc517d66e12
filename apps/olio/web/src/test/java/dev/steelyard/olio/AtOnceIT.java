// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.steelyard.olio.population.Names;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One person who does the same thing several times at once, as who clicks twice. */
@Tag("full")
@ExtendWith(OlioServer.Shared.class)
final class AtOnceIT {

  private static final int HANDS = 4;
  private static final int ROUNDS = 6;

  private final ExecutorService threads = Executors.newFixedThreadPool(HANDS);
  private final OlioServer server;

  AtOnceIT(OlioServer server) {
    this.server = server;
  }

  @AfterEach
  void end() {
    threads.shutdown();
  }

  /** On a day that no other test looks at. */
  private static Map<String, Object> event(String title, String tags) {
    Map<String, Object> fields = OlioBrowser.event(title, tags);
    fields.put("month", "9");
    return fields;
  }

  /** What one of several hands does. */
  @FunctionalInterface
  private interface Act {
    int by(OlioBrowser browser, int hand) throws Exception;
  }

  private List<OlioBrowser> hands(int person) throws Exception {
    List<OlioBrowser> hands = new ArrayList<>();
    for (int hand = 0; hand < HANDS; hand++) {
      hands.add(server.browser().as(person));
    }
    return hands;
  }

  /** All begin in the same moment; what each was answered. */
  private List<Integer> atOnce(List<OlioBrowser> hands, Act act) throws Exception {
    CyclicBarrier together = new CyclicBarrier(HANDS);
    List<Callable<Integer>> all = new ArrayList<>();
    for (int hand = 0; hand < HANDS; hand++) {
      int number = hand;
      all.add(
          () -> {
            together.await();
            return act.by(hands.get(number), number);
          });
    }
    List<Integer> statuses = new ArrayList<>();
    for (Future<Integer> each : threads.invokeAll(all)) {
      statuses.add(each.get());
    }
    return statuses;
  }

  @Test
  void anEventIsDeletedOnceAndItsTagsAreCountedOnce() throws Exception {
    List<OlioBrowser> hands = hands(40);
    String tags = Names.of(5) + " " + Names.of(6) + " " + Names.of(7) + " double0 double1";
    hands.get(0).posted(event("keeps the tags", tags));
    for (int round = 0; round < ROUNDS; round++) {
      int id = hands.get(0).posted(event("goes", tags));
      List<Integer> statuses =
          atOnce(
              hands,
              (browser, hand) -> browser.post("event/delete", "socialEventID=" + id).status());
      assertEquals(1, Collections.frequency(statuses, 302), statuses::toString);
      assertEquals(HANDS - 1, Collections.frequency(statuses, 404), statuses::toString);
      hands.get(0).get("consistency").must("consistent");
    }
  }

  @Test
  void ofSeveralEditsTheLastOneStaysWithItsTagsAlone() throws Exception {
    List<OlioBrowser> hands = hands(41);
    int id = hands.get(0).posted(event("before", Names.of(8) + " edited"));
    for (int round = 0; round < ROUNDS; round++) {
      List<Integer> statuses =
          atOnce(
              hands,
              (browser, hand) -> {
                Map<String, Object> form =
                    event("by hand" + hand, Names.of(8 + hand) + " edited hand" + hand);
                form.put("socialEventID", Integer.toString(id));
                return browser.upload("api/event/addEvent", form).status();
              });
      assertEquals(Collections.nCopies(HANDS, 302), statuses);
      hands.get(0).get("consistency").must("consistent");
    }
    String page = hands.get(0).get("event/detail?socialEventID=" + id).must("by hand").body();
    String last = page.replaceAll("(?s).*by (hand\\d).*", "$1");
    assertTrue(page.contains(">" + last + "<"), page);
  }

  @Test
  void aPersonHasOneCommentOnAnEvent() throws Exception {
    List<OlioBrowser> hands = hands(42);
    for (int round = 0; round < ROUNDS; round++) {
      int id = hands.get(0).posted(event("talked about", "talk"));
      List<Integer> statuses =
          atOnce(
              hands,
              (browser, hand) ->
                  browser
                      .get(
                          hand % 2 == 0
                              ? "api/event/updateCommentsRating?comment=well&socialEventID=" + id
                              : "api/event/updateRating?rating=4&socialEventID=" + id)
                      .status());
      assertEquals(Collections.nCopies(HANDS, 200), statuses);
      List<String> comments =
          hands
              .get(0)
              .get("api/event/getComments?socialEventID=" + id)
              .must("\"comments\":\"well\",\"rating\":4")
              .all("\"username\":\"([^\"]+)\"");
      assertEquals(List.of(Names.of(42)), comments);
    }
    hands.get(0).get("consistency").must("consistent");
  }

  @Test
  void aPersonIsInvitedOnce() throws Exception {
    List<OlioBrowser> hands = hands(43);
    for (int round = 0; round < ROUNDS; round++) {
      String name = "invited" + round;
      server
          .browser()
          .upload("api/person/fileuploadPerson?user_name=" + name, OlioBrowser.person(name))
          .must(name);
      String invite = "api/person?actionType=add_friend&friend_user_name=" + name;
      List<Integer> statuses = atOnce(hands, (browser, hand) -> browser.get(invite).status());
      assertEquals(Collections.nCopies(HANDS, 200), statuses);
      List<String> invited = hands.get(0).get(invite).all("\"candidate\":\"(invited\\d)\"");
      assertEquals(1, Collections.frequency(invited, name), invited::toString);
    }
    hands.get(0).get("consistency").must("consistent");
  }
}
