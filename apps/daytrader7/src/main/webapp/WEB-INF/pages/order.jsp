<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader New Orders"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<% TradeOrder order = (TradeOrder) request.getAttribute("view"); %>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0">
  <TBODY>
    <TR>
      <TD align="left"><FONT color="#ff0000"><B>Order <%= order.getOrderID() %> to <%= order.getOrderType() %><% if (order.getSymbol() != null) { %> <%= order.getQuantity() %> shares of <%= Html.text(order.getSymbol()) %><% } %> has been submitted for processing.</B></FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <CAPTION align="left"><B>Order <%= order.getOrderID() %> details:</B></CAPTION>
  <TBODY>
    <TR align="center">
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#order-ID"><B>order ID</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#order-status"><B>order status</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#creation-date"><B>creation date</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#completion-date"><B>completion date</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#txn-fee"><B>txn fee</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#type"><B>type</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#quantity"><B>quantity</B></A></TD>
    </TR>
    <TR align="center">
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderID() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderStatus() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOpenDate() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.text(order.getCompletionDate()) %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= order.getOrderFee() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderType() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.quoteLink(order.getSymbol()) %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getQuantity() %></FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="order-status"></A><I>order status</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">Open, as long as nobody has completed it; closed, once it is complete; completed, once the user was told; cancelled, if there was nothing to sell.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="gain"></A><I>gain</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The market value less the purchase basis: green with an arrow up, or red with an arrow down.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
