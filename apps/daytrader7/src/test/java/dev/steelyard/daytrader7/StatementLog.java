// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts statements in Derby's log. Left out is what belongs to no operation: blocks of keys, the
 * timer's summary, and questions about tables.
 */
public final class StatementLog {

  /** Statements by their first letter, such as {@code {I=2, S=5, U=2}}, and transactions. */
  public record Counts(Map<Character, Integer> statements, int transactions) {

    /** Counts in words: {@code "S5 I2 U2"}. */
    static Map<Character, Integer> of(String words) {
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
  private static final Pattern NOBODYS =
      Pattern.compile("KEYGENEJB|ORDER BY CHANGE1 DESC|SYS\\.|DATASET");

  private final Path file;

  StatementLog(Path file) {
    this.file = file;
  }

  /** Where it ends now. */
  public long end() throws IOException {
    return Files.size(file);
  }

  /** What was executed since its end was there. */
  public Counts since(long end) throws IOException {
    String log = Files.readString(file).substring((int) end);
    Map<Character, Integer> statements = new TreeMap<>();
    Set<String> transactions = new HashSet<>();
    Matcher executed = EXECUTED.matcher(log);
    while (executed.find()) {
      if (!NOBODYS.matcher(executed.group(2)).find()) {
        statements.merge(executed.group(2).charAt(0), 1, Integer::sum);
        transactions.add(executed.group(1));
      }
    }
    return new Counts(statements, transactions.size());
  }
}
