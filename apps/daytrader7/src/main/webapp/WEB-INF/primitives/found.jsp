<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<!DOCTYPE html>
<html lang="en">
<head><title>${found.name()}</title></head>
<body>
<h1>${found.name()}</h1>
<p>Hit Count: ${found.hits()}</p>
<p>${found.what()}</p>
</body>
</html>
