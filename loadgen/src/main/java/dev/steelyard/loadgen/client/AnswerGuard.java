// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Stands between the bytes of a connection and Gatling, and mends what would make counts wrong:
 *
 * <ul>
 *   <li>An interim answer (1xx, RFC 9110 section 15.2) is no answer. Gatling takes 103 for the
 *       answer, and the true one for that of the next request.
 *   <li>A request whose connection was closed before an answer began has failed. Gatling sends it
 *       again, whatever its method, and says nothing: the server may have served both.
 *   <li>An answer that was cut off has failed. Of a stream of events Gatling would ask again 3 s
 *       later, within the operation and after it.
 *   <li>The next request does not go over a connection that ends with its answer. Gatling knows
 *       that of {@code Connection: close} alone, and not of HTTP/1.0 or of a list of words.
 *   <li>Where the server has closed a connection before the request is written, nothing is sent
 *       there, and Gatling may take another: the kernel knows before the event loop does.
 *   <li>Bodies that checks read are kept until their end: how much that is at once is counted, and
 *       limited ({@link HeldBodies}).
 *   <li>An injector without memory has failed; Gatling would end the process.
 *   <li>Whoever has asked for the head of an answer is shown it, and whoever has set it a limit of
 *       time is told when that is over ({@link AnswerHead}).
 * </ul>
 */
final class AnswerGuard extends ChannelDuplexHandler {
  private static final long IDLE_NANOS = 100_000;

  /** As Linux numbers the states of TCP. */
  private static final int ESTABLISHED = 1;

  private final HeldBodies held = HeldBodies.current();
  private boolean asked;
  private boolean answering;
  private boolean interim;
  private boolean expectsContinue;
  private Consumer<HttpHeaders> headReader;
  private Future<?> timeLimit;
  private long keptBytes;

  /** When the last answer had ended; 0 before the first. */
  private long idleSince;

  private boolean unsent;

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    Duration limit = null;
    if (message instanceof HttpRequest) {
      AnswerHead head = AnswerHead.take();
      headReader = head.reader();
      limit = head.limit();
      if (isClosedByServer(context.channel())) {
        unsent = true;
        var unused = context.close();
      }
    }
    if (unsent) {
      ReferenceCountUtil.release(message);
      promise.tryFailure(new ClosedChannelException());
      return;
    }
    if (message instanceof HttpRequest request) {
      request.setUri(EmptySegments.restored(request.uri()));
      asked = true;
      answering = false;
      expectsContinue = HttpUtil.is100ContinueExpected(request);
    }
    if (limit != null) {
      long millis = limit.toMillis();
      timeLimit =
          context.executor().schedule(() -> giveUp(context, millis), millis, TimeUnit.MILLISECONDS);
    }
    var unused = context.write(message, promise);
  }

  private void giveUp(ChannelHandlerContext context, long millis) {
    String missing = answering ? "no end of the answer" : "no answer";
    endExchange();
    context.fireExceptionCaught(new UnfinishedAnswer("%s within %d ms".formatted(missing, millis)));
  }

  private void endExchange() {
    asked = false;
    answering = false;
    if (timeLimit != null) {
      timeLimit.cancel(false);
      timeLimit = null;
    }
  }

  /** To ask the kernel costs a tenth of a request: of a connection that was just used it is not. */
  private boolean isClosedByServer(Channel channel) {
    return idleSince != 0
        && System.nanoTime() - idleSince > IDLE_NANOS
        && channel instanceof EpollSocketChannel socket
        && socket.isOpen()
        && socket.tcpInfo().state() != ESTABLISHED;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpResponse response) {
      interim = isInterim(response);
      // The permission to send the body is passed on, and is no answer either.
      boolean begins = !interim && response.status().code() != HttpResponseStatus.CONTINUE.code();
      answering |= begins;
      if (begins && headReader != null) {
        headReader.accept(response.headers());
        headReader = null;
      }
      if (!isInformational(response) && !HttpUtil.isKeepAlive(response)) {
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
    }
    if (!interim) {
      pass(context, message);
    } else if (message instanceof HttpContent content) {
      content.release();
      interim = !(message instanceof LastHttpContent);
    }
  }

  private static boolean isInformational(HttpResponse response) {
    return response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
  }

  /**
   * Whether Gatling must not see it; the one that it may wait for is passed on, and 101, after
   * which a connection is a WebSocket's (RFC 9110 section 15.2.2).
   */
  private boolean isInterim(HttpResponse response) {
    if (!isInformational(response)
        || response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      return false;
    }
    boolean awaited = expectsContinue && response.status().code() == 100;
    expectsContinue &= !awaited;
    return !awaited;
  }

  private void pass(ChannelHandlerContext context, Object message) {
    if (!(message instanceof HttpContent content)) {
      context.fireChannelRead(message);
      return;
    }
    ByteBuf bytes = content.content();
    int size = bytes.readableBytes();
    int holders = bytes.refCnt();
    boolean last = message instanceof LastHttpContent && answering;
    if (last) {
      endExchange();
      idleSince = System.nanoTime();
    }
    context.fireChannelRead(message);
    if (last) {
      release();
    } else if (size > 0 && bytes.refCnt() >= holders) {
      // Gatling lets them go, unless a check is to read them.
      keptBytes += size;
      held.add(size);
    }
  }

  private void release() {
    held.remove(keptBytes);
    keptBytes = 0;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (asked) {
      // Told of a failure first, Gatling knows of no request that it could send again.
      IOException why =
          answering
              ? new UnfinishedAnswer("the answer was cut off")
              : new Unanswered("the connection was closed");
      endExchange();
      context.fireExceptionCaught(why);
    }
    context.fireChannelInactive();
    release();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof OutOfMemoryError) {
      held.fail(cause);
      var unused = context.close();
    } else if (cause instanceof IOException && asked && !answering) {
      endExchange();
      context.fireExceptionCaught(new Unanswered(cause.getMessage()));
    } else {
      context.fireExceptionCaught(cause);
    }
  }
}
