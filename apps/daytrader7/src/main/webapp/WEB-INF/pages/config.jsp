<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<%@ page import="dev.steelyard.daytrader7.*" %>
<% String heading = "DayTrader Configuration"; %>
<%@ include file="top.jspf" %>
<% TradeConfig settings = (TradeConfig) request.getAttribute("view"); %>
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
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR>
      <TD align="left" valign="top" width="100%"><FONT size="-1">What is set here holds for this server alone, from the next request on, until it ends; the values with which it
      starts are those of its environment, and <A href="bench/info">bench/info</A> tells the ones that hold now. Several servers of one database have to be
      told one by one. A box that is not ticked is switched off, also when a script leaves it out: one that sets nothing but the number of users
      switches the alerts, the published prices and the support for long runs off. A value that cannot be is passed over and written to the log; the others of
      the same request are taken.<BR>
      The numbers of users and stocks change nothing in the database: they say what the next population makes, and what the scenario draws from. A
      population empties the tables and fills them again, which takes from seconds to a minute, and tells line by line how far it has come. Two
      populations with the same numbers and the same seed make the same data, whatever was there before; a reset is quicker, and leaves the balances, the
      prices and the holdings of the users as trading has made them: it removes those who have registered since, the orders that were cancelled, and the orders of
      holdings that were sold.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<FORM action="config" method="POST">
  <TABLE width="740" border="1" cellpadding="2" cellspacing="0">
    <TBODY>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (RunMode each : RunMode.values()) { %>
          <INPUT type="radio" name="RunTimeMode" value="<%= each.value() %>"<%= each == settings.runMode() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Run-Time Mode</B><BR>What carries out each operation: session beans with Persistence in transactions of the container, or plain JDBC that is committed by hand.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (OrderMode each : OrderMode.values()) { %>
          <INPUT type="radio" name="OrderProcessingMode" value="<%= each.value() %>"<%= each == settings.orderMode() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Order-Processing Mode</B><BR>When an order is completed: at once, in the transaction that makes it; by a message-driven bean, after a message that is sent in the same global transaction; or by a managed thread half a second later.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (WebInterface each : WebInterface.values()) { %>
          <INPUT type="radio" name="WebInterface" value="<%= each.value() %>"<%= each == settings.webInterface() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>WebInterface</B><BR>The pages that show what was done: with words or with pictures to navigate by.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="MaxUsers" value="<%= settings.maxUsers() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>DayTrader Max Users</B><BR>Users that the population makes and that the scenario draws from. Build the database again after a change.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="MaxQuotes" value="<%= settings.maxQuotes() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Trade Max Quotes</B><BR>Stocks that the population makes and that the scenario draws from. Build the database again after a change.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="marketSummaryInterval" value="<%= settings.marketSummaryInterval() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Market Summary Interval</B><BR>Direct mode: seconds for which a summary is kept. 0 makes one for each request, a negative number none at all.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="primIterations" value="<%= settings.primIterations() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Primitive Iteration</B><BR>How often a primitive of the web repeats its step.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnablePublishQuotePriceChange" value="true"<%= settings.publishQuotePriceChange() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Publish Quote Updates</B><BR>Each price that changes is published on the topic of quotes, from where the websockets hear of it.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="percentSentToWebsocket" value="<%= settings.percentToWebsocket() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Percent of Trades to Websocket</B><BR>Of the stocks, the part whose changes are sent on to websockets.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="DisplayOrderAlerts" value="true"<%= settings.displayOrderAlerts() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Display Order Alerts</B><BR>Every page tells of the orders that have been closed since the page before.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableLongRun" value="true"<%= settings.longRun() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable long run support</B><BR>No orders are listed on the account page, and the beans remove those of which the user was told, so that tables do not grow without end.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableActionTrace" value="true"<%= settings.actionTrace() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable operation trace</B><BR>Requests are logged. Not while something is measured.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableTrace" value="true"<%= settings.trace() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable full trace</B><BR>More is logged. Not while something is measured.</FONT></TD>
      </TR>
      <TR>
        <TD align="center" colspan="2"><INPUT type="hidden" name="action" value="updateConfig"><INPUT type="submit" value="Update Config"></TD>
      </TR>
    </TBODY>
  </TABLE>
</FORM>
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
