// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts statements in Derby's log, which it writes with {@code derby.language.logStatementText}.
 */
public final class StatementLog {

  /** Statements by their first letter, such as {@code {I=2, S=5, U=2}}, and transactions. */
  public record Counts(Map<Character, Integer> statements, int transactions) {

    /** Counts in words: {@code "S5 I2 U2"}. */
    public static Map<Character, Integer> of(String words) {
      Map<Character, Integer> counts = new TreeMap<>();
      for (String word : words.split(" ", -1)) {
        int count = Integer.parseInt(word.substring(1));
        if (count > 0) {
          counts.put(word.charAt(0), count);
        }
      }
      return counts;
    }
  }

  private static final Pattern EXECUTED =
      Pattern.compile("\\(XID = (\\d+)\\).*Executing prepared statement: ([SIUD].*) :End");

  private final Path file;
  private final Pattern nobodys;

  /**
   * A log.
   *
   * @param nobodys found in statements that belong to no operation and are left out
   */
  public StatementLog(Path file, Pattern nobodys) {
    this.file = file;
    this.nobodys = nobodys;
  }

  /** Where it ends now. */
  public long end() throws IOException {
    return Files.size(file);
  }

  /** What was executed since its end was there. */
  public Counts since(long end) throws IOException {
    byte[] all = Files.readAllBytes(file);
    String log = new String(all, (int) end, all.length - (int) end, StandardCharsets.UTF_8);
    Map<Character, Integer> statements = new TreeMap<>();
    Set<String> transactions = new HashSet<>();
    Matcher executed = EXECUTED.matcher(log);
    while (executed.find()) {
      if (!nobodys.matcher(executed.group(2)).find()) {
        statements.merge(executed.group(2).charAt(0), 1, Integer::sum);
        transactions.add(executed.group(1));
      }
    }
    return new Counts(statements, transactions.size());
  }
}
