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
      <TD align="center"><FONT color="#000000" size="-1"><%= holding.getHoldingID() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= holding.getPurchaseDate() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= Html.quoteLink(holding.getQuoteID()) %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= holding.getQuantity() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= holding.getPurchasePrice() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= position.quote() == null ? "" : "$" + position.quote().getPrice() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= position.basis() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= position.value() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= Html.gain(change.amount()) %></FONT></TD>
      <TD align="center"><B><A href="app?action=sell&holdingID=<%= holding.getHoldingID() %>">sell</A></B></TD>
    </TR>
<%
  }
  Gain total = Gain.of(view.basis(), view.value());
%>
    <TR align="center" bgcolor="#eeeeee">
      <TD colspan="6" align="right"><B>Total</B></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= view.basis() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= view.value() %></FONT></TD>
      <TD align="center" colspan="2"><%= Html.gain(total.amount()) %>&nbsp;<%= Html.percent(total.percent()) %></TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
