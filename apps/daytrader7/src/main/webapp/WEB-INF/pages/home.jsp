<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Home"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<% Views.Home view = (Views.Home) request.getAttribute("view"); %>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0">
  <TBODY>
    <TR>
      <TD align="left" valign="top" width="420"><FONT size="+1">Welcome <B><%= Html.text(view.userID()) %></B>,</FONT>
        <TABLE border="1" cellpadding="2" cellspacing="0" width="400" style="font-size: smaller">
          <CAPTION align="left"><B>User Statistics</B></CAPTION>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#account-id">account ID:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= view.account().getAccountID() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#account-created">account created:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= view.account().getCreationDate() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#total-logins">total logins:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= view.account().getLoginCount() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#session-created">session created:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= view.sessionDate() %></FONT></TD>
          </TR>
        </TABLE>
      </TD>
      <TD align="left" valign="top" width="320">
        <TABLE border="1" cellpadding="2" cellspacing="0" width="300" style="font-size: smaller">
          <CAPTION align="left"><B>Summary</B></CAPTION>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#cash-balance">cash balance:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= view.account().getBalance() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#number-of-holdings">number of holdings:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><%= view.holdings() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#total-of-holdings">total of holdings:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= view.holdingsTotal() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#sum-of-cash-holdings">sum of cash/holdings:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= view.sum() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#opening-balance">opening balance:</A></TD>
            <TD align="right" width="55%"><FONT color="#000000">$<%= view.account().getOpenBalance() %></FONT></TD>
          </TR>
          <TR>
            <TD align="left" width="45%"><A href="docs/glossary.html#current-gain-loss">current gain/(loss):</A></TD>
            <TD align="right" width="55%"><FONT color="#000000"><% Gain gain = view.gain(); %><%= Html.gain(gain.amount()) %>&nbsp;<%= Html.percent(gain.percent()) %></FONT></TD>
          </TR>
        </TABLE>
      </TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
