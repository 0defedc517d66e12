<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" isErrorPage="true" %>
<html><head><title>DayTrader Error</title></head><body>DayTrader Error</body></html>
