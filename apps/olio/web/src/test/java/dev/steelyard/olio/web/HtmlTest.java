// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class HtmlTest {

  @Test
  void valuesAreTextAndNeverMarkupNorTemplates() {
    Html page = new Html("/olio");
    page.fill("<a href=\"{/}/x?y={}\">{}</a>{}", "a&b", "<b>'\"{}{/}", null).add("<br />");
    assertEquals(
        "<a href=\"/olio/x?y=a&amp;b\">&lt;b&gt;&#39;&quot;{}{/}</a><br />", page.toString());
  }

  @Test
  void tagsGrowEvenlyFromTheLowestToTheHighest() {
    assertEquals(100, ListView.size(3, 3, 43));
    assertEquals(175, ListView.size(23, 3, 43));
    assertEquals(250, ListView.size(43, 3, 43));
    assertEquals(100, ListView.size(3, 3, 3));
  }

  @Test
  void monthsHaveNumbersAndNames() {
    assertEquals(6, Input.month("6"));
    assertEquals(6, Input.month("June"));
    assertEquals(12, Input.month("dec"));
  }
}
