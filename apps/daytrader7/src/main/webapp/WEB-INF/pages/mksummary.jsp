<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Market Summary"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<%@ include file="/marketSummary.html" %>
<%@ include file="bottom.jspf" %>
