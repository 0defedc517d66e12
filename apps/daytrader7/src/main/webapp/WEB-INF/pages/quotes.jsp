<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Quotes"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR align="center">
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#company"><B>company</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#volume"><B>volume</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#price-range"><B>price range</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#open-price"><B>open price</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#current-price"><B>current price</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#gain/(loss)"><B>gain/(loss)</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#trade"><B>trade</B></A></TD>
    </TR>
<%
  @SuppressWarnings("unchecked")
  List<Views.Asked> asked = (List<Views.Asked>) request.getAttribute("view");
  for (Views.Asked each : asked) {
    Quote quote = each.quote();
    if (quote != null) {
      Gain change = Gain.of(quote.getOpen(), quote.getPrice());
%>
    <TR align="center" bgcolor="#ffffff">
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= Html.quoteLink(quote.getSymbol()) %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= Html.text(quote.getCompanyName()) %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= quote.getVolume() %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= quote.getLow() %> - <%= quote.getHigh() %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">$<%= quote.getOpen() %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">$<%= quote.getPrice() %></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= Html.gain(change.amount()) %>&nbsp;<%= Html.percent(change.percent()) %></FONT></TD>
      <TD align="center">
        <FORM action="app" method="GET">
          <INPUT type="submit" name="action" value="buy" title="Buys the shares at the price of the moment, plus a fee">
          <INPUT type="hidden" name="symbol" value="<%= Html.text(quote.getSymbol()) %>">
          <INPUT size="4" type="text" name="quantity" value="100" maxlength="20" title="How many shares, above zero">
        </FORM>
      </TD>
    </TR>
<%
    } else {
%>
    <TR align="center" bgcolor="#ffffff">
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#cc0000" size="-1"><B>Invalid symbol: <%= each.symbol() == null ? "none was given" : Html.text(each.symbol()) %></B></FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center" valign="middle" bgcolor="#ffffff"><FONT color="#000000" size="-1">&nbsp;</FONT></TD>
      <TD align="center">
        <FORM action="app" method="GET">
          <INPUT type="submit" name="action" value="buy" disabled title="There is no such stock: correct the symbol, and ask again">
          <INPUT type="hidden" name="symbol" value="">
          <INPUT size="4" type="text" name="quantity" value="100" maxlength="20" title="How many shares, above zero" disabled>
        </FORM>
      </TD>
    </TR>
<%
    }
  }
%>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
