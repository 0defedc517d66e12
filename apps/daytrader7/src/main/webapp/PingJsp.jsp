<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" import="java.util.concurrent.atomic.LongAdder" %>
<%! private static final LongAdder HITS = new LongAdder(); %>
<% HITS.increment(); %>
<!DOCTYPE html>
<html lang="en">
<head><title>PingJSP</title></head>
<body><h1>Ping JSP</h1><p>Hit count: <%= HITS.sum() %></p></body>
</html>
