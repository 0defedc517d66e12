// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * One line of a contract table: a request, and all that its answer is to be. What is left out is
 * not sent, and not looked at. In every text, <code>${NAME}</code> is a variable.
 *
 * @param name what the case shows
 * @param server who is asked, where the path does not tell
 * @param method of HTTP; left out: GET, or POST if there is a body
 * @param path with query, as sent
 * @param as whose cookies are sent and kept, as a browser does; logged in at first use where the
 *     runner knows how
 * @param headers to send
 * @param form fields, sent as a form; a list sends a field several times
 * @param json body, sent as JSON
 * @param multipart fields, sent as {@code multipart/form-data}: a text, or a file with {@code file}
 *     (its name), {@code type} and {@code text}, {@code base64} or {@code zeros} (how many)
 * @param body text, sent as it is
 * @param base64 bytes, sent as they are; in base 64
 * @param chunked whether the body does not tell its length
 * @param status expected
 * @param type media type expected; an empty text for none
 * @param text body expected, exactly
 * @param matches regular expression of the whole body
 * @param contains texts that the body holds
 * @param lacks texts that it does not hold
 * @param shape JSON expected: the same members in the same order, the same values; a string in
 *     slashes is a regular expression of a value's text
 * @param bytes length of the body
 * @param about length of the body, give or take a tenth
 * @param sha256 of the body, in hexadecimal digits
 * @param cookies regular expressions of all {@code Set-Cookie} headers, in order
 * @param answers other headers expected; a value in slashes is a regular expression
 * @param save variables to set: name to JSON pointer into the answer
 * @param find variables to set: name to a regular expression whose first group is found in the body
 */
public record ContractCase(
    String name,
    String server,
    String method,
    String path,
    String as,
    Map<String, String> headers,
    Map<String, JsonNode> form,
    JsonNode json,
    Map<String, JsonNode> multipart,
    String body,
    String base64,
    boolean chunked,
    int status,
    String type,
    String text,
    String matches,
    List<String> contains,
    List<String> lacks,
    JsonNode shape,
    Integer bytes,
    Integer about,
    String sha256,
    List<String> cookies,
    Map<String, String> answers,
    Map<String, String> save,
    Map<String, String> find) {

  /**
   * The table in a resource.
   *
   * @param near a class beside which it is
   * @param resource such as {@code /contract/monolith.yaml}
   */
  public static List<ContractCase> table(Class<?> near, String resource) throws IOException {
    try (InputStream in = near.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("There is no table " + resource);
      }
      return new YAMLMapper().readValue(in, new TypeReference<List<ContractCase>>() {});
    }
  }
}
