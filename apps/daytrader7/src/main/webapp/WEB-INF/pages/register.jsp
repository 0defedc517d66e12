<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Register"; %>
<%@ include file="top.jspf" %>
<%@ include file="register-body.jspf" %>
