// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.server;

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
 * @param server who is asked, where the path does not tell: a name of {@link Deployment#server}
 * @param method of HTTP; left out: GET, or POST if there is a body
 * @param path with query, as sent
 * @param as the customer whose cookies are sent, logged in at first use with the usual password
 * @param headers to send
 * @param form fields, sent as a form
 * @param json body, sent as JSON
 * @param body text, sent as it is
 * @param chunked whether the body does not tell its length
 * @param status expected
 * @param type media type expected; an empty text for none
 * @param text body expected, exactly
 * @param matches regular expression of the whole body
 * @param shape JSON expected: the same members in the same order, the same values; a string in
 *     slashes is a regular expression of a value's text
 * @param cookies regular expressions of all {@code Set-Cookie} headers, in order
 * @param answers other headers expected
 * @param save variables to set: name to JSON pointer into the answer
 */
record ContractCase(
    String name,
    String server,
    String method,
    String path,
    String as,
    Map<String, String> headers,
    Map<String, String> form,
    JsonNode json,
    String body,
    boolean chunked,
    int status,
    String type,
    String text,
    String matches,
    JsonNode shape,
    List<String> cookies,
    Map<String, String> answers,
    Map<String, String> save) {

  /** The table in a resource of this package's folder {@code contract}. */
  static List<ContractCase> table(String resource) throws IOException {
    try (InputStream in = ContractCase.class.getResourceAsStream("/contract/" + resource)) {
      return new YAMLMapper().readValue(in, new TypeReference<List<ContractCase>>() {});
    }
  }
}
