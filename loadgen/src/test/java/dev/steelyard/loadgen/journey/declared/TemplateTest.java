// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.journey.declared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.steelyard.loadgen.journey.declared.Template.Place;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values are encoded for where they stand. */
class TemplateTest {
  private static String of(String text, Place place, Object value) {
    return new Template(text, place, Map.of(), Map.of("x", 0)).of(new Object[] {value});
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/items/${x} | a b/c?d&e=1% | /items/a%20b%2Fc%3Fd%26e%3D1%25",
        "/items?q=${x}&r=1 | a+b | /items?q=a%2Bb&r=1",
        "/items/${x} | grün | /items/gr%C3%BCn",
        "/items/${x} | a-b_c.d~e | /items/a-b_c.d%7Ee",
        "${x} | /a/b?c=d&e | /a/b?c=d&e",
        "${x}&more=1 | /a?b=c | /a?b=c&more=1",
        "/shop${+x}/y | /a/b | /shop/a/b/y",
      })
  void addressesArePercentEncoded(String text, String value, String expected) {
    assertEquals(expected, of(text, Place.URL, value));
  }

  @Test
  void stringsOfJsonAreEscaped() {
    assertEquals(
        "{\"a\": \"say \\\"hi\\\"\\n\"}", of("{\"a\": \"${x}\"}", Place.JSON, "say \"hi\"\n"));
    assertEquals("{\"a\": {\"b\": 1}}", of("{\"a\": ${x}}", Place.JSON, "{\"b\": 1}"));
    assertEquals("{\"\\\"\": \"\\\"\"}", of("{\"\\\"\": \"${x}\"}", Place.JSON, "\""));
    assertEquals("[\"\"\"]", of("[\"${+x}\"]", Place.JSON, "\""));
  }

  @Test
  void valuesOfAFormArePercentEncoded() {
    assertEquals("x%2By%3D%3D", of("${x}", Place.FORM, "x+y=="));
    assertEquals("tag=a&csrf=x%2By%3D%3D", of("tag=a&csrf=${x}", Place.FORM, "x+y=="));
    assertEquals("tag=a&b=c%20d", of("${+x}&b=c%20d", Place.FORM, "tag=a"));
  }

  @Test
  void contentsOfXmlAreEscaped() {
    assertEquals(
        "<q a=\"&lt;&quot;&apos;\">a&amp;b&gt;c</q>",
        of("<q a=\"${x}\">", Place.XML, "<\"'") + of("${x}</q>", Place.XML, "a&b>c"));
    assertEquals("<q>&amp;</q>", of("<q>${+x}</q>", Place.XML, "&amp;"));
  }

  @Test
  void sectionsOfCharacterDataStayOne() {
    assertEquals("<![CDATA[a&b]]>", of("<![CDATA[${x}]]>", Place.XML, "a&b"));
    assertEquals("<![CDATA[a]]]]><![CDATA[>b]]>", of("<![CDATA[${x}]]>", Place.XML, "a]]>b"));
    assertEquals("<![CDATA[]]>&amp;", of("<![CDATA[]]>${x}", Place.XML, "&"));
  }

  @Test
  void textsAreAsTheyAre() {
    assertEquals("<a b&c>", of("<${x}>", Place.TEXT, "a b&c"));
    assertEquals("a,b", of("${x}", Place.TEXT, List.of("a", "b")));
  }

  @Test
  void constantsAreEncodedLikeValues() {
    Template template = new Template("/s/${c}?q=${c}", Place.URL, Map.of("c", "a b"), Map.of());
    assertEquals("/s/a%20b?q=a%20b", template.constant());
    assertEquals(
        "/app/x", new Template("${c}/x", Place.URL, Map.of("c", "/app"), Map.of()).constant());
  }
}
