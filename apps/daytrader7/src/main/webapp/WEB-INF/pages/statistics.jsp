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
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Run-Time Mode</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= settings.runMode().shown() %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Order-Processing Mode</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= settings.orderMode().shown() %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Web Interface</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= settings.webInterface().shown() %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Trade users</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.tradeUsers() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= settings.maxUsers() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.tradeUsers(), settings.maxUsers()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Trade stocks</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.tradeStocks() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= settings.maxQuotes() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.tradeStocks(), settings.maxQuotes()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Scenario requests since the last reset</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= requests %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>New users registered</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.newUsers() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.registrations() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.newUsers(), check.registrations()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Logins</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.logins() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.logins() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.logins(), check.logins()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Logouts</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.logouts() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.logouts() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.logouts(), check.logouts()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>User holdings</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.holdings() %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Buy orders</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.buyOrders() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.buys() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.buyOrders(), check.buys()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Sell orders</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.sellOrders() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.sells() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.sellOrders(), check.sells()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Total orders</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.orders() %></FONT></TD>
        <TD align="right"><FONT size="-1"><%= check.orders() %></FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.orders(), check.orders()) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Open orders</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.openOrders() %></FONT></TD>
        <TD align="right"><FONT size="-1">0</FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.openOrders(), 0) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Cancelled orders</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.cancelledOrders() %></FONT></TD>
        <TD align="right"><FONT size="-1">0</FONT></TD>
        <TD align="center"><FONT size="-1"><%= RunCheck.verdict(run.cancelledOrders(), 0) %></FONT></TD>
      </TR>
      <TR>
        <TD align="left" bgcolor="#eeeeee"><FONT size="-1"><B>Orders of sold holdings, removed</B></FONT></TD>
        <TD align="right"><FONT size="-1"><%= run.deletedOrders() %></FONT></TD>
        <TD align="right"><FONT size="-1">&nbsp;</FONT></TD>
        <TD align="center"><FONT size="-1">&nbsp;</FONT></TD>
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
