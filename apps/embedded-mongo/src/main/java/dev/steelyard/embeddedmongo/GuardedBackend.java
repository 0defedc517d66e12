// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.embeddedmongo;

import static java.nio.charset.StandardCharsets.UTF_8;

import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.bson.BinData;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.channel.Channel;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Serves nobody who has not logged in as its one user, by MongoDB's SCRAM-SHA-256. Messages older
 * than commands are refused.
 */
final class GuardedBackend extends IndexedBackend {

  private static final String MECHANISM = "SCRAM-SHA-256";

  /** What a client asks before it logs in. */
  private static final Set<String> FREE =
      Set.of("ismaster", "hello", "buildinfo", "ping", "whatsmyuri", "endsessions");

  private final Scram scram;
  private final Map<Channel, Scram.Conversation> conversations = new ConcurrentHashMap<>();
  private final Set<Channel> known = ConcurrentHashMap.newKeySet();

  /**
   * @param scram the user
   */
  GuardedBackend(Scram scram) {
    this.scram = scram;
  }

  @Override
  public Document handleCommand(Channel channel, String database, String command, Document query) {
    String name = command.toLowerCase(Locale.ROOT);
    switch (name) {
      case "saslstart" -> {
        return begin(channel, query);
      }
      case "saslcontinue" -> {
        return finish(channel, query);
      }
      default -> {
        if (!FREE.contains(name) && !known.contains(channel)) {
          throw new MongoServerError(
              13, "Unauthorized", "Command " + command + " requires authentication");
        }
        Document answer = super.handleCommand(channel, database, command, query);
        if (query.get("saslSupportedMechs") instanceof String asked
            && asked.endsWith("." + scram.user())) {
          answer.put("saslSupportedMechs", List.of(MECHANISM));
        }
        return answer;
      }
    }
  }

  private Document begin(Channel channel, Document query) {
    known.remove(channel);
    if (!MECHANISM.equals(query.get("mechanism"))) {
      throw new MongoServerError(334, "MechanismUnavailable", "Only " + MECHANISM + " is there");
    }
    Scram.Conversation conversation =
        scram.begin(payload(query)).orElseThrow(GuardedBackend::failure);
    conversations.put(channel, conversation);
    return answer(false, conversation.answer());
  }

  private Document finish(Channel channel, Document query) {
    Scram.Conversation conversation = conversations.remove(channel);
    if (conversation == null) {
      throw failure();
    }
    String last = conversation.finish(payload(query)).orElseThrow(GuardedBackend::failure);
    known.add(channel);
    return answer(true, last);
  }

  private static String payload(Document query) {
    return query.get("payload") instanceof BinData data ? new String(data.getData(), UTF_8) : "";
  }

  private static Document answer(boolean done, String message) {
    return new Document("conversationId", 1)
        .append("done", done)
        .append("payload", new BinData(message.getBytes(UTF_8)))
        .append("ok", 1.0);
  }

  private static MongoServerError failure() {
    return new MongoServerError(18, "AuthenticationFailed", "Authentication failed.");
  }

  @Override
  public void handleClose(Channel channel) {
    conversations.remove(channel);
    known.remove(channel);
    super.handleClose(channel);
  }

  @Override
  public QueryResult handleQuery(MongoQuery query) {
    throw new MongoServerError(13, "Unauthorized", "Only commands are taken");
  }
}
