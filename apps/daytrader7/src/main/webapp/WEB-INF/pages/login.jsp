<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Login"; %>
<%@ include file="top.jspf" %>
<%@ include file="login-body.jspf" %>
