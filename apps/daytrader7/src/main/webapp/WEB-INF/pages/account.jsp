<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Account"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<%
  Views.AccountInformation view = (Views.AccountInformation) request.getAttribute("view");
  Account account = view.account();
  AccountProfile profile = view.profile();
%>
<TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <CAPTION align="left"><B>Account Information</B></CAPTION>
  <TBODY>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#account-id">account ID:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= account.getAccountID() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#account-created">account created:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= account.getCreationDate() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#user-id">user ID:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= Html.text(view.userID()) %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#opening-balance">opening balance:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= account.getOpenBalance() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#cash-balance">cash balance:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= account.getBalance() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#last-login">last login:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= Html.text(account.getLastLogin()) %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#total-logins">total logins:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= account.getLoginCount() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#total-logouts">total logouts:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= account.getLogoutCount() %></FONT></TD>
          </TR>
  </TBODY>
</TABLE>
<% if (!view.orders().isEmpty()) { %>
<TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <CAPTION align="left"><B>Recent Orders</B><% if (view.more()) { %> <A href="app?action=account&showAllOrders=true">show all orders</A><% } %></CAPTION>
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
      <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#price"><B>price</B></A></TD>
    </TR>
<% for (TradeOrder order : view.orders()) { %>
    <TR align="center">
      <TD align="center"><FONT color="#000000" size="-1"><%= order.getOrderID() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= order.getOrderStatus() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= order.getOpenDate() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= Html.text(order.getCompletionDate()) %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= order.getOrderFee() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= order.getOrderType() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= Html.quoteLink(order.getSymbol()) %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1"><%= order.getQuantity() %></FONT></TD>
      <TD align="center"><FONT color="#000000" size="-1">$<%= order.getPrice() %></FONT></TD>
    </TR>
<% } %>
  </TBODY>
</TABLE>
<% } %>
<FORM action="app" method="POST">
        <TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
          <CAPTION align="left"><B>Account Profile</B></CAPTION>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>user ID:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="text" name="userID" value="<%= Html.text(profile.getUserID()) %>" readonly></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>full name:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="text" name="fullname" value="<%= Html.text(profile.getFullName()) %>"></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>password:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="password" name="password" value="<%= Html.text(profile.getPassword()) %>"></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>confirm password:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="password" name="cpassword" value="<%= Html.text(profile.getPassword()) %>"></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>address:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="text" name="address" value="<%= Html.text(profile.getAddress()) %>"></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>credit card:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="text" name="creditcard" value="<%= Html.text(profile.getCreditCard()) %>"></TD>
          </TR>
          <TR>
            <TD align="right" width="40%" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>email address:</B></FONT></TD>
            <TD align="left" width="60%" bgcolor="#ffffff"><INPUT size="30" maxlength="250" type="text" name="email" value="<%= Html.text(profile.getEmail()) %>"></TD>
          </TR>
        </TABLE>
  <INPUT type="hidden" name="action" value="update_profile">
  <INPUT type="submit" value="Update Profile">
</FORM>
<%@ include file="bottom.jspf" %>
