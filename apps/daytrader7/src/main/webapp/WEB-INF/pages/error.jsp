<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" import="dev.steelyard.daytrader7.web.Html" %>
<%
  Object status = request.getAttribute("jakarta.servlet.error.status_code");
  boolean thrown = request.getAttribute("jakarta.servlet.error.exception") != null;
  Object message = request.getAttribute("jakarta.servlet.error.message");
%>
<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML>
<HEAD>
<TITLE>DayTrader Error</TITLE>
<LINK rel="stylesheet" href="<%= request.getContextPath() %>/style.css" type="text/css" />
</HEAD>
<BODY bgcolor="#ffffff">
<H1>DayTrader Error</H1>
<TABLE border="1" cellpadding="2" cellspacing="0">
  <TR><TD>Request</TD><TD><%= Html.text(request.getAttribute("jakarta.servlet.error.request_uri")) %></TD></TR>
  <TR><TD>Status</TD><TD><%= Html.text(status) %></TD></TR>
  <TR><TD>Message</TD><TD><%= thrown ? "It could not be done; the log of the server says why." : Html.text(message) %></TD></TR>
</TABLE>
</BODY>
</HTML>
