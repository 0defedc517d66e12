<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Portfolio"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<% Views.Portfolio view = (Views.Portfolio) request.getAttribute("view"); %>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0">
  <TBODY>
    <TR>
      <TD align="left"><B>Number</B> <B>of Holdings: </B><%= view.positions().size() %></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <CAPTION align="left"><B>Portfolio</B></CAPTION>
  <TBODY>
    <TR align="center">
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#holding-ID"><B>holding ID</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#purchase-date"><B>purchase date</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#quantity"><B>quantity</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#purchase-price"><B>purchase price</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#current-price"><B>current price</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#purchase-basis"><B>purchase basis</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#market-value"><B>market value</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#gain"><B>gain</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#trade"><B>trade</B></A></TD>
    </TR>
<%
  for (Views.Position position : view.positions()) {
    Holding holding = position.holding();
    Gain change = Gain.of(position.basis(), position.value());
%>
    <TR align="center" bgcolor="#ffffff">
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= holding.getHoldingID() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= holding.getPurchaseDate() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.quoteLink(holding.getQuoteID()) %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= holding.getQuantity() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= holding.getPurchasePrice() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= position.quote() == null ? "" : "$" + position.quote().getPrice() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= position.basis() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= position.value() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.gain(change.amount()) %></FONT></TD>
      <TD align="center"><B><A href="app?action=sell&holdingID=<%= holding.getHoldingID() %>">sell</A></B></TD>
    </TR>
<%
  }
  Gain total = Gain.of(view.basis(), view.value());
%>
    <TR align="center" bgcolor="#eeeeee">
      <TD colspan="6" align="right"><B>Total</B></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= view.basis() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= view.value() %></FONT></TD>
      <TD align="center" colspan="2"><%= Html.gain(total.amount()) %>&nbsp;<%= Html.percent(total.percent()) %></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="holding-ID"></A><I>holding ID</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The number of the holding. Selling it sells all of its shares; a part of a holding cannot be sold.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="purchase-date"></A><I>purchase date</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">When the order that bought the shares was completed. A holding that is being sold has the first of January 1970 here.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="purchase-basis"></A><I>purchase basis</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The price at which the shares were bought times their number; fees are not a part of it.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="market-value"></A><I>market value</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The price of the moment times the number of the shares, which is asked for by a statement of its own for each holding.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="gain"></A><I>gain</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The market value less the purchase basis: green with an arrow up, or red with an arrow down.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
