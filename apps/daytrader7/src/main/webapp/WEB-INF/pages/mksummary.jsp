<%-- SPDX-License-Identifier: Apache-2.0 --%>
<%@ page contentType="text/html" session="false" %>
<% String heading = "DayTrader Market Summary"; %>
<%@ include file="top.jspf" %>
<%@ include file="head.jspf" %>
<SCRIPT>
  // Asks for the summary as soon as the socket is open; what changes comes by itself from then on.
  "use strict";

  var scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
  var path = window.location.pathname.replace(/\/[^\/]*$/, "/marketsummary");
  var socket = null;
  var retryMillis = 1000;
  var longestRetryMillis = 30000;

  function show(id, text) {
    var place = document.getElementById(id);
    if (place !== null) {
      place.textContent = text;
    }
  }

  // A number is shown green with an arrow up, or red with an arrow down.
  function showChange(id, value) {
    var place = document.getElementById(id);
    if (place === null) {
      return;
    }
    var number = Number(value);
    place.textContent = number.toFixed(2) + (number < 0 ? " \u25bc" : " \u25b2");
    place.style.color = number < 0 ? "#cc0000" : "#009900";
  }

  // The keys of an answer are the names of the places: gainer1_stock, loser5_change, change2_price and so on.
  function showSummary(answer) {
    Object.keys(answer).forEach(function (key) {
      if (key.endsWith("_change") || key === "gainPercent") {
        showChange(key, answer[key]);
      } else if (key === "tsia") {
        show(key, Number(answer[key]).toFixed(2));
      } else if (key === "volume") {
        show(key, Number(answer[key]).toLocaleString());
      } else {
        show(key, answer[key]);
      }
    });
    show("updated", new Date().toLocaleTimeString());
  }

  function ask() {
    if (socket !== null && socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({"action": "update"}));
    }
  }

  function connect() {
    socket = new WebSocket(scheme + window.location.host + path);
    socket.onopen = function () {
      retryMillis = 1000;
      show("connection", "connected");
      ask();
    };
    socket.onmessage = function (event) {
      showSummary(JSON.parse(event.data));
    };
    socket.onerror = function () {
      show("connection", "the connection failed");
    };
    socket.onclose = function () {
      show("connection", "not connected; the next attempt is in " + retryMillis / 1000 + " s");
      window.setTimeout(connect, retryMillis);
      retryMillis = Math.min(2 * retryMillis, longestRetryMillis);
    };
  }

  window.addEventListener("load", connect);
  window.addEventListener("beforeunload", function () {
    if (socket !== null) {
      socket.onclose = null;
      socket.close(1000);
    }
  });
</SCRIPT>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0">
  <TBODY>
    <TR>
      <TD align="left" colspan="3"><FONT size="+1"><B>Market Summary</B></FONT> <FONT size="-1"><SPAN id="date">&nbsp;</SPAN> (<SPAN id="connection">not connected</SPAN>, last heard of at <SPAN id="updated">&nbsp;</SPAN>)</FONT></TD>
    </TR>
    <TR>
      <TD align="left" colspan="3">
        <TABLE width="740" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
          <TR align="center">
            <TD align="left" bgcolor="#cccccc" width="50%"><A href="docs/glossary.html#tsia"><B>DayTrader Stock Index (TSIA)</B></A></TD>
            <TD align="right" bgcolor="#ffffff" width="50%"><FONT color="#000000" size="-1"><SPAN id="tsia">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center">
            <TD align="left" bgcolor="#cccccc" width="50%"><A href="docs/glossary.html#trading-volume"><B>Trading Volume</B></A></TD>
            <TD align="right" bgcolor="#ffffff" width="50%"><FONT color="#000000" size="-1"><SPAN id="volume">&nbsp;</SPAN></FONT></TD>
          </TR>
        </TABLE>
      </TD>
    </TR>
    <TR>
      <TD align="center" valign="top" width="33%">
        <TABLE width="240" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
          <CAPTION align="left"><B>Top Gainers</B></CAPTION>
          <TR align="center">
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#price"><B>price</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#change"><B>change</B></A></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="gainer5_change">&nbsp;</SPAN></FONT></TD>
          </TR>
        </TABLE>
      </TD>
      <TD align="center" valign="top" width="33%">
        <TABLE width="240" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
          <CAPTION align="left"><B>Top Losers</B></CAPTION>
          <TR align="center">
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#price"><B>price</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#change"><B>change</B></A></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="loser5_change">&nbsp;</SPAN></FONT></TD>
          </TR>
        </TABLE>
      </TD>
      <TD align="center" valign="top" width="33%">
        <TABLE width="240" border="1" cellpadding="2" cellspacing="0" style="font-size: smaller">
          <CAPTION align="left"><B>Recent Price Changes</B></CAPTION>
          <TR align="center">
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#symbol"><B>symbol</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#price"><B>price</B></A></TD>
            <TD align="center" bgcolor="#cccccc"><A href="docs/glossary.html#change"><B>change</B></A></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center"><FONT color="#000000" size="-1"><SPAN id="change5_change">&nbsp;</SPAN></FONT></TD>
          </TR>
        </TABLE>
      </TD>
    </TR>
  </TBODY>
</TABLE>
<NOSCRIPT><FONT color="#cc0000" size="-1"><B>This page needs scripts: the summary comes over a websocket.</B></FONT></NOSCRIPT>
<%@ include file="bottom.jspf" %>
