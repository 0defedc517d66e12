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
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderID() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderStatus() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOpenDate() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.text(order.getCompletionDate()) %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= order.getOrderFee() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getOrderType() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= Html.quoteLink(order.getSymbol()) %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1"><%= order.getQuantity() %></FONT></TD>
      <TD align="center" valign="middle"><FONT color="#000000" size="-1">$<%= order.getPrice() %></FONT></TD>
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
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="account-ID"></A><I>account ID</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The number of the account. Numbers are taken from blocks of a thousand, so that several servers of one database can take them without asking each other each time.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="account-created"></A><I>account created</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">When the account was opened. Accounts that were made by the population all have the same date; those that somebody registered have the date of the registration.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="user-ID"></A><I>user ID</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The name under which the user logs in: uid: and a number for those of the population, ru: and more for those that registered while a load was running.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="opening-balance"></A><I>opening balance</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The cash with which the account was opened. Gains and losses of the account are told in relation to it.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="cash-balance"></A><I>cash balance</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">What is left of the cash: buys and their fees are taken from it, the proceeds of sells less their fees are added to it.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="last-login"></A><I>last login</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">When the user logged in for the last time. Each login writes the account anew, and so does each logout.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="total-logins"></A><I>total logins</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">How often the user has logged in since the last reset of the application, which sets this number to zero.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="total-logouts"></A><I>total logouts</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">How often the user has logged out since the last reset. Sessions that end by themselves, after half an hour, are not counted here.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="full-name"></A><I>full name</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">A first and a last name, each of which is a word and a random number.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="password"></A><I>password</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">Kept as it is, and compared as it is: this is a benchmark, and there is nothing here that would be worth the breaking. Both fields have to be the same.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="address"></A><I>address</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">A number and a street. Nothing is ever sent there.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="credit-card"></A><I>credit card</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">Four groups of random digits. Nothing is ever taken from it, and no check sum is checked.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="email-address"></A><I>email address</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">An address in a domain that is made of a random number. Nothing is ever sent there either, and what it looks like is not checked.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
