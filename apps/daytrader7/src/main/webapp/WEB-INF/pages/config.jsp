<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<%@ page import="dev.steelyard.daytrader7.*" %>
<% String heading = "DayTrader Configuration"; %>
<%@ include file="top.jspf" %>
<% TradeConfig config = (TradeConfig) request.getAttribute("view"); %>
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
<FORM action="config" method="POST">
  <TABLE width="740" border="1" cellpadding="2" cellspacing="0">
    <TBODY>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (RunMode each : RunMode.values()) { %>
          <INPUT type="radio" name="RunTimeMode" value="<%= each.value() %>"<%= each == config.runMode() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Run-Time Mode</B><BR>What carries out each operation: session beans with Persistence in transactions of the container, or plain JDBC that is committed by hand.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (OrderMode each : OrderMode.values()) { %>
          <INPUT type="radio" name="OrderProcessingMode" value="<%= each.value() %>"<%= each == config.orderMode() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Order-Processing Mode</B><BR>When an order is completed: at once, in the transaction that makes it; by a message-driven bean, after a message that is sent in the same global transaction; or by a managed thread half a second later.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><% for (WebInterface each : WebInterface.values()) { %>
          <INPUT type="radio" name="WebInterface" value="<%= each.value() %>"<%= each == config.webInterface() ? " checked" : "" %>> <%= each.shown() %><BR>
          <% } %></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>WebInterface</B><BR>The pages that show what was done: with words or with pictures to navigate by.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="MaxUsers" value="<%= config.maxUsers() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>DayTrader Max Users</B><BR>Users that the population makes and that the scenario draws from. Build the database again after a change.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="MaxQuotes" value="<%= config.maxQuotes() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Trade Max Quotes</B><BR>Stocks that the population makes and that the scenario draws from. Build the database again after a change.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="marketSummaryInterval" value="<%= config.marketSummaryInterval() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Market Summary Interval</B><BR>Direct mode: seconds for which a summary is kept. 0 makes one for each request, a negative number none at all.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="primIterations" value="<%= config.primIterations() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Primitive Iteration</B><BR>How often a primitive of the web repeats its step.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnablePublishQuotePriceChange" value="true"<%= config.publishQuotePriceChange() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Publish Quote Updates</B><BR>Each price that changes is published on the topic of quotes, from where the websockets hear of it.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT size="25" type="text" name="percentSentToWebsocket" value="<%= config.percentToWebsocket() %>"></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Percent of Trades to Websocket</B><BR>Of the stocks, the part whose changes are sent on to websockets.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="DisplayOrderAlerts" value="true"<%= config.displayOrderAlerts() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Display Order Alerts</B><BR>Every page tells of the orders that have been closed since the page before.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableLongRun" value="true"<%= config.longRun() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable long run support</B><BR>No orders are listed on the account page, and the beans remove those of which the user was told, so that tables do not grow without end.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableActionTrace" value="true"<%= config.actionTrace() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable operation trace</B><BR>Requests are logged. Not while something is measured.</FONT></TD>
      </TR>
      <TR>
        <TD align="left" valign="top" width="50%" bgcolor="#eeeeee"><INPUT type="checkbox" name="EnableTrace" value="true"<%= config.trace() ? " checked" : "" %>></TD>
        <TD align="left" valign="top" width="50%"><FONT size="-1"><B>Enable full trace</B><BR>More is logged. Not while something is measured.</FONT></TD>
      </TR>
      <TR>
        <TD align="center" colspan="2"><INPUT type="hidden" name="action" value="updateConfig"><INPUT type="submit" value="Update Config"></TD>
      </TR>
    </TBODY>
  </TABLE>
</FORM>
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
