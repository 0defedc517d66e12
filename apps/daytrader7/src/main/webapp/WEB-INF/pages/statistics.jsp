<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<%@ page import="dev.steelyard.daytrader7.*" %>
<% String heading = "DayTrader Configuration"; %>
<%@ include file="top.jspf" %>
<%
  RunStatistics run = (RunStatistics) request.getAttribute("view");
  TradeConfig settings = (TradeConfig) request.getAttribute("settings");
  long requests = (Long) request.getAttribute("requests");
  RunCheck check = new RunCheck(run, requests);
%>
<BODY bgcolor="#ffffff" link="#000099" vlink="#000099">
<TABLE width="740" border="0" cellpadding="0" cellspacing="0">
  <TBODY>
    <TR>
      <TD bgcolor="#c93333" align="left" width="640" height="10"><FONT color="#ffffff" size="+1"><B><%= heading %></B></FONT></TD>
      <TD align="center" bgcolor="#000000" width="100" height="10"><FONT color="#ffffff"><B>DayTrader</B></FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0">
  <TBODY>
    <TR>
      <TD align="left" valign="top" width="500"><FONT color="#cc0000" size="-1"><B><%= Html.text(results) %></B></FONT></TD>
      <TD align="right" valign="top" width="240"><FONT size="-1"><%= new Date() %></FONT></TD>
    </TR>
  </TBODY>
</TABLE>
  <TABLE width="740" border="1" cellpadding="2" cellspacing="0">
    <CAPTION align="left"><B>DayTrader Runtime and Scenario Statistics</B></CAPTION>
    <TBODY>
      <TR>
        <TD align="left" bgcolor="#cccccc"><B>what</B></TD>
        <TD align="right" bgcolor="#cccccc"><B>actual</B></TD>
        <TD align="right" bgcolor="#cccccc"><B>expected of the scenario</B></TD>
        <TD align="center" bgcolor="#cccccc"><B>within 5 percent</B></TD>
      </TR>
<% for (RunCheck.Row row : check.rows(settings)) { %>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="280" bgcolor="#eeeeee" rowspan="2"><FONT color="#000000" size="-1"><B><%= row.name() %></B></FONT></TD>
        <TD align="right" valign="top" width="150" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= row.actual() %></FONT></TD>
        <TD align="right" valign="top" width="150" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= row.expected() %>&nbsp;</FONT></TD>
        <TD align="center" valign="top" width="160" bgcolor="#ffffff"><FONT color="#000000" size="-1"><%= row.verdict() %>&nbsp;</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#ffffff">
        <TD align="left" valign="top" width="460" bgcolor="#ffffff" colspan="3"><FONT color="#333333" size="-1"><%= row.about() %></FONT></TD>
      </TR>
<% } %>
    </TBODY>
  </TABLE>
  <TABLE width="740" border="1" cellpadding="2" cellspacing="0">
    <CAPTION align="left"><B>What the scenario does</B></CAPTION>
    <TBODY>
      <TR>
        <TD align="left" bgcolor="#cccccc"><B>operation</B></TD>
        <TD align="right" bgcolor="#cccccc"><B>percent</B></TD>
        <TD align="left" bgcolor="#cccccc"><B>what it asks for</B></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>home</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">20</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The home page: balance, number and value of the holdings, gain since the account was opened, and the market summary.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>quotes</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">40</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The page of quotes, for one to ten stocks that are drawn at random; a statement of the database for each of them.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>account</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">10</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The account with its profile and, unless long runs are supported, its newest orders.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>portfolio</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">12</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">All holdings with what they were bought for and what they are worth now, a statement for the stock of each.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>buy</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">4</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The quote of a stock, then one to two hundred shares of it; a sale, while sales are owed from empty portfolios.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>sell</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">4</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The portfolio, then the first holding in it that is not being sold already; a purchase, if there is none.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>update profile</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">4</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The account, then a change of the profile: name, address, card and e-mail are made of random numbers.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>logout</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">4</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">The end of the session. The next request of the same client is a login of the next user of a shuffled deck.</FONT></TD>
      </TR>
      <TR align="left" valign="top" bgcolor="#eeeeee">
        <TD align="left" valign="top" width="160" bgcolor="#eeeeee"><FONT color="#000000" size="-1"><B>register</B></FONT></TD>
        <TD align="right" valign="top" width="80" bgcolor="#ffffff"><FONT color="#000000" size="-1">2</FONT></TD>
        <TD align="left" valign="top" width="500" bgcolor="#ffffff"><FONT color="#333333" size="-1">A log-out, then a new user with a million dollars, who is logged in at once and sees the home page.</FONT></TD>
      </TR>
    </TBODY>
  </TABLE>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR>
      <TD align="left" valign="top" width="100%"><FONT size="-1">DayTrader is a stock brokerage that does not exist. Prices move only because somebody trades: each order, to buy or
      to sell, changes the price of its stock by up to ten percent, up or down by the toss of a coin; a stock that is worth a penny recovers, and one that
      is worth more than $400 is split. Each order costs a fee of $24.95. An order is made at the price of the moment; depending on how this server is
      configured, it is completed at once, by a message that somebody else receives, or by a thread that waits for half a second. Orders that were completed
      since the last page are told of at the top of the next one. The account may go below zero: nobody checks the balance of an account here, and nobody
      pays interest. All names, addresses and credit cards are made of random numbers.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<TABLE width="740" border="0" cellpadding="0" cellspacing="0">
  <TBODY>
    <TR>
      <TD bgcolor="#c93333" align="left" width="640" height="10"><FONT color="#ffffff"><B><%= heading %></B></FONT></TD>
      <TD align="center" bgcolor="#000000" width="100" height="10"><FONT color="#ffffff"><B>DayTrader</B></FONT></TD>
    </TR>
  </TBODY>
</TABLE>
</BODY>
</HTML>
