<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html; charset=ISO-8859-1" session="false" %>
<%
  String heading = "DayTrader Register";
  request.setAttribute("title", "DayTrader Registration");
%>
<%@ include file="/WEB-INF/pages/top.jspf" %>
<%@ include file="/WEB-INF/pages/register-body.jspf" %>
