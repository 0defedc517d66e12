// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A permission to send the body (100), which Gatling waits for and is shown. */
class AnswerGuardTest {
  private final EmbeddedChannel connection = new EmbeddedChannel(new AnswerGuard());
  private final List<String> heads = new ArrayList<>();

  @BeforeEach
  void ask() {
    var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
    request.headers().set("Expect", "100-continue");
    new AnswerHead(headers -> heads.add(headers.get("Set-Cookie")), null).ask();
    connection.writeOutbound(request);
    answer(HttpResponseStatus.CONTINUE, null);
    connection.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
  }

  private void answer(HttpResponseStatus status, String cookie) {
    HttpResponse answer = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
    if (cookie != null) {
      answer.headers().set("Set-Cookie", cookie);
    }
    connection.writeInbound(answer);
  }

  /** Gatling would send the request again, and say nothing of the first. */
  @Test
  void aConnectionThatEndsAfterItHadNoAnswer() {
    var unused = connection.close();
    Unanswered told = assertThrows(Unanswered.class, connection::checkException);
    assertEquals("no answer: the connection was closed", told.getMessage());
  }

  @Test
  void anAnswerThatIsCutOffAfterItIsNoneThatIsMissing() {
    answer(HttpResponseStatus.OK, "a=b");
    var unused = connection.close();
    UnfinishedAnswer told = assertThrows(UnfinishedAnswer.class, connection::checkException);
    assertEquals("the answer was cut off", told.getMessage());
  }

  @Test
  void theHeadersOfTheAnswerAreThoseThatAreShown() {
    answer(HttpResponseStatus.OK, "a=b");
    assertEquals(List.of("a=b"), heads);
  }
}
