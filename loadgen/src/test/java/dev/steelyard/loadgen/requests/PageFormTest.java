// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gatling.core.check.css.Lagarto;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jodd.lagarto.dom.Document;
import jodd.lagarto.dom.NodeSelector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What browsers send of a form (HTML, section 4.10.21.4). */
class PageFormTest {
  private static PageForm form(String page) {
    Document document = Lagarto.newLagartoDomBuilder().parse(page);
    return PageForm.read(new NodeSelector(document).selectFirst("form"));
  }

  private static String sent(String page, Map<String, String> entered) {
    return form(page).filledIn(entered).stream()
        .map(each -> each.getKey() + "=" + each.getValue())
        .collect(Collectors.joining("&"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "<input name=qty value=5> | qty=5",
        "<input type=text name=a> | a=",
        "<INPUT TYPE=HIDDEN NAME=a VALUE='x&amp;y'> | a=x&y",
        "<input name=a disabled value=1><input value=2><input name='' value=3> | ``",
        "<input type=submit name=a value=1><input type=image name=b><input type=reset name=c> | ``",
        "<button name=a value=1>A</button><input type=button name=b><input type=file name=c> | ``",
        "<input type=checkbox name=a><input type=checkbox name=b checked> | b=on",
        "<input type=checkbox name=a value=1 checked><input type=checkbox name=a value=2 checked> | a=1&a=2",
        "<input type=radio name=a value=1 checked><input type=radio name=a value=2 checked> | a=2",
        "<textarea name=a>\\nb &lt;c&gt;</textarea> | a=b <c>",
        "<select name=a><option>Red</option><option>Blue</option></select> | a=Red",
        "<select name=a><option disabled>Red</option><option> Light \\n blue </select> | a=Light blue",
        "<select name=a><option value=''>None<option value=b selected>B</select> | a=b",
        "<select name=a><option selected>B<option selected>C</select> | a=C",
        "<select name=a><option selected disabled>Choose<option>B</select> | ``",
        "<select name=a><optgroup disabled><option>A</optgroup><option>B</select> | a=B",
        "<select name=a size=3><option>A<option>B</select> | ``",
        "<select name=a multiple><option selected>A<option>B<option selected>C</select> | a=A&a=C",
        "<fieldset disabled><legend><input name=a></legend><input name=b></fieldset> | a=",
        "<datalist><input name=a></datalist><input name=b form=other> | ``",
      })
  void sendsWhatStandsInIt(String fields, String expected) {
    assertEquals(expected, sent("<form>" + fields.replace("\\n", "\n") + "</form>", Map.of()));
  }

  @Test
  void fieldsElsewhereMayBelongToIt() {
    String page = "<input name=a form=f><form id=f><input name=b></form><input name=c>";
    assertEquals("a=&b=", sent(page, Map.of()));
  }

  @Test
  void whatIsEnteredTakesThePlaceOfWhatStands() {
    String page = "<form><input name=a value=1><input name=b value=2><input name=a value=3></form>";
    assertEquals("a=x&b=2", sent(page, Map.of("a", "x")));
    assertEquals("a=1&b=2&a=3&go=1", sent(page, Map.of("go", "1")));
    assertEquals("a=1&b=x\r\ny\r\n\r\nz&a=3", sent(page, Map.of("b", "x\ny\r\rz")));
  }

  @Test
  void saysWhereAndHowItIsSent() {
    PageForm form =
        form("<form action=' send?a=1&amp;b=2 ' method=Post enctype='Multipart/form-data'></form>");
    assertEquals("send?a=1&b=2 POST MULTIPART", describe(form));
    assertEquals(" GET URL_ENCODED", describe(form("<form></form>")));
    assertEquals(" GET URL_ENCODED", describe(form("<form method enctype=json></form>")));
  }

  private static String describe(PageForm form) {
    return Stream.of(form.action(), form.method(), form.enctype())
        .map(String::valueOf)
        .collect(Collectors.joining(" "));
  }

  @Test
  void encodesAsTheFormSays() {
    var entries = form("<form><input name='a\"b' value='c d&e'></form>").filledIn(Map.of());
    assertEquals("a%22b=c+d%26e", Enctype.URL_ENCODED.encode(entries));
    assertEquals("a\"b=c d&e\r\n", Enctype.PLAIN.encode(entries));
    String boundary = Enctype.MULTIPART.contentType().replaceFirst(".*=", "--");
    String part = "\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\nc d&e\r\n";
    assertEquals(boundary + part + boundary + "--\r\n", Enctype.MULTIPART.encode(entries));
  }
}
