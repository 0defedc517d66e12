// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.loadgen.requests;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jodd.lagarto.dom.Node;

/**
 * A form of a page, with what a browser would send of it (HTML, section 4.10.21.4: constructing the
 * entry list). Gatling's own check of forms leaves out each input without a type, each without a
 * value, and each option without one.
 *
 * @param entries name and value of what stands in it, in the order of the page
 * @param action where it is sent to, as it stands in the page; empty for the page itself
 * @param method GET or POST
 * @param enctype how it is encoded
 */
record PageForm(
    List<Map.Entry<String, String>> entries, String action, String method, Enctype enctype) {
  /** Types of inputs that are sent only where they are pressed, or chosen by a person. */
  private static final Set<String> NOT_SENT = Set.of("submit", "button", "image", "reset", "file");

  private static final Set<String> CHECKED = Set.of("checkbox", "radio");

  /** The form that begins at an element. */
  static PageForm read(Node form) {
    List<Node> fields = new ArrayList<>();
    all(form.getOwnerDocument())
        .filter(each -> isSent(each) && owner(each) == form)
        .forEach(
            each -> {
              // Of radio buttons with one name, the last that is checked stays so.
              fields.removeIf(other -> isRadio(each) && isRadio(other) && named(other, each));
              fields.add(each);
            });
    return new PageForm(
        fields.stream().flatMap(PageForm::entriesOf).toList(),
        attribute(form, "action").strip(),
        attribute(form, "method").equalsIgnoreCase("post") ? "POST" : "GET",
        Enctype.of(attribute(form, "enctype")));
  }

  /**
   * What is sent when a person has filled it in.
   *
   * @param entered name to what takes the place of all that has this name, or comes at the end
   */
  List<Map.Entry<String, String>> filledIn(Map<String, String> entered) {
    List<Map.Entry<String, String>> sent = new ArrayList<>();
    Set<String> left = new LinkedHashSet<>(entered.keySet());
    for (Map.Entry<String, String> entry : entries) {
      if (!entered.containsKey(entry.getKey())) {
        sent.add(entry);
      } else if (left.remove(entry.getKey())) {
        sent.add(Map.entry(entry.getKey(), entered.get(entry.getKey())));
      }
    }
    left.forEach(name -> sent.add(Map.entry(name, entered.get(name))));
    return sent.stream()
        .map(
            each ->
                Map.entry(withNetworkLineEnds(each.getKey()), withNetworkLineEnds(each.getValue())))
        .toList();
  }

  private static String withNetworkLineEnds(String text) {
    return text.replaceAll("\r\n?|\n", "\r\n");
  }

  private static Stream<Node> all(Node from) {
    return Stream.of(from.getChildElements())
        .flatMap(child -> Stream.concat(Stream.of(child), all(child)));
  }

  private static Stream<Node> ancestors(Node node) {
    return Stream.iterate(node.getParentNode(), each -> each != null, Node::getParentNode);
  }

  /** The form that a field belongs to: the one that it names, or the one that it stands in. */
  private static Node owner(Node field) {
    if (field.hasAttribute("form")) {
      String id = attribute(field, "form");
      return all(field.getOwnerDocument())
          .filter(each -> attribute(each, "id").equals(id))
          .findFirst()
          .orElse(null);
    }
    return ancestors(field).filter(each -> is(each, "form")).findFirst().orElse(null);
  }

  private static boolean isSent(Node field) {
    boolean sent =
        switch (name(field)) {
          case "select", "textarea" -> true;
          case "input" ->
              !NOT_SENT.contains(type(field))
                  && (!CHECKED.contains(type(field)) || field.hasAttribute("checked"));
          default -> false;
        };
    return sent && !attribute(field, "name").isEmpty() && !isDisabled(field);
  }

  private static boolean isDisabled(Node field) {
    return field.hasAttribute("disabled")
        || ancestors(field)
            .anyMatch(
                each ->
                    is(each, "datalist")
                        || (is(each, "fieldset")
                            && each.hasAttribute("disabled")
                            && !isInLegend(field, each)));
  }

  /** What stands in the first legend of a field set is not disabled with it. */
  private static boolean isInLegend(Node field, Node fieldset) {
    Node legend = fieldset.getFirstChildElement("legend");
    return legend != null && ancestors(field).anyMatch(each -> each == legend);
  }

  private static Stream<Map.Entry<String, String>> entriesOf(Node field) {
    String name = attribute(field, "name");
    return values(field).map(value -> Map.entry(name, value));
  }

  private static Stream<String> values(Node field) {
    return switch (name(field)) {
      case "select" -> selected(field).map(PageForm::valueOf);
      // The line end after the tag is none of the text.
      case "textarea" -> Stream.of(field.getTextContent().replaceFirst("^(\r\n|\r|\n)", ""));
      default ->
          Stream.of(
              field.hasAttribute("value") || !CHECKED.contains(type(field))
                  ? attribute(field, "value")
                  : "on");
    };
  }

  /** Options that are sent: of a list with one choice, the last selected or else the first. */
  private static Stream<Node> selected(Node select) {
    List<Node> options = all(select).filter(each -> is(each, "option")).toList();
    List<Node> selected = options.stream().filter(each -> each.hasAttribute("selected")).toList();
    if (select.hasAttribute("multiple")) {
      return selected.stream().filter(each -> !isDisabledOption(each));
    }
    if (!selected.isEmpty()) {
      return selected.stream().skip(selected.size() - 1L).filter(each -> !isDisabledOption(each));
    }
    boolean isMenu = attribute(select, "size").strip().matches("|0|1");
    return options.stream().filter(each -> isMenu && !isDisabledOption(each)).limit(1);
  }

  private static boolean isDisabledOption(Node option) {
    return option.hasAttribute("disabled")
        || ancestors(option)
            .filter(each -> is(each, "optgroup"))
            .findFirst()
            .filter(group -> group.hasAttribute("disabled"))
            .isPresent();
  }

  private static String valueOf(Node option) {
    return option.hasAttribute("value")
        ? attribute(option, "value")
        : Stream.of(textOf(option).split("[ \t\n\f\r]+"))
            .filter(word -> !word.isEmpty())
            .collect(Collectors.joining(" "));
  }

  /** The text of an option, without those that follow it: one without an end tag holds them. */
  private static String textOf(Node option) {
    return Stream.of(option.getChildNodes())
        .filter(each -> !is(each, "option") && !is(each, "optgroup"))
        .map(Node::getTextContent)
        .collect(Collectors.joining());
  }

  private static boolean isRadio(Node field) {
    return type(field).equals("radio");
  }

  private static boolean named(Node field, Node other) {
    return attribute(field, "name").equals(attribute(other, "name"));
  }

  private static boolean is(Node node, String name) {
    return name(node).equals(name);
  }

  private static String name(Node node) {
    return String.valueOf(node.getNodeName()).toLowerCase(Locale.ROOT);
  }

  private static String type(Node input) {
    return attribute(input, "type").toLowerCase(Locale.ROOT);
  }

  /** An attribute; one that is missing, or has no value, is empty. */
  private static String attribute(Node node, String name) {
    String value = node.getAttribute(name);
    return value == null ? "" : value;
  }
}
