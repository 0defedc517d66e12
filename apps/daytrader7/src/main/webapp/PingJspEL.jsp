<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% java.util.Random random = new java.util.Random();
   pageContext.setAttribute("first", random.nextInt(1000));
   pageContext.setAttribute("second", random.nextInt(1000)); %>
<!DOCTYPE html>
<html lang="en">
<head><title>PingJSPEL</title></head>
<body>
<h1>Ping JSP with expressions</h1>
<table border="1">
<tr><th>first</th><th>second</th><th>sum</th><th>product</th><th>remainder</th><th>first &lt; second</th><th>text</th></tr>
<tr><td>${first}</td><td>${second}</td><td>${first + second}</td><td>${first * second}</td>
<td>${first mod 7}</td><td>${first lt second}</td><td>${empty param.text ? 'none' : 'some'}</td></tr>
</table>
</body>
</html>
