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
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="gainer5_change">&nbsp;</SPAN></FONT></TD>
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
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="loser5_change">&nbsp;</SPAN></FONT></TD>
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
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change1_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change1_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change1_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change2_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change2_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change2_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change3_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change3_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change3_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change4_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change4_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change4_change">&nbsp;</SPAN></FONT></TD>
          </TR>
          <TR align="center" bgcolor="#ffffff">
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change5_stock">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change5_price">&nbsp;</SPAN></FONT></TD>
            <TD align="center" valign="middle"><FONT color="#000000" size="-1"><SPAN id="change5_change">&nbsp;</SPAN></FONT></TD>
          </TR>
        </TABLE>
      </TD>
    </TR>
  </TBODY>
</TABLE>
<NOSCRIPT><FONT color="#cc0000" size="-1"><B>This page needs scripts: the summary comes over a websocket.</B></FONT></NOSCRIPT>
<TABLE width="740" border="0" cellpadding="2" cellspacing="0" style="font-size: smaller">
  <TBODY>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="TSIA"></A><I>TSIA</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The DayTrader stock index: the mean of the prices of all stocks.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="trading-volume"></A><I>trading volume</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The number of shares of all stocks that were traded since the population.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="top-gainers"></A><I>top gainers</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The five stocks that rose most since the population, by the difference of price and opening price.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="top-losers"></A><I>top losers</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The five stocks that fell most since the population.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="recent-price-changes"></A><I>recent price changes</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The last five changes of prices among those stocks of which websockets are told, the newest first. They come without being asked for.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="symbol"></A><I>symbol</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The short name of a stock: s: and a number. The link leads to its quote, and to a form that buys it.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="price"></A><I>price</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The price of the moment, in dollars and cents.</FONT></TD>
    </TR>
    <TR bgcolor="#f8f8f8">
      <TD align="left" valign="top" width="160"><FONT color="#333333" size="-1"><A name="change"></A><I>change</I></FONT></TD>
      <TD align="left" valign="top" width="580"><FONT color="#333333" size="-1">The difference of the price and the opening price, or of a new price and the one before.</FONT></TD>
    </TR>
  </TBODY>
</TABLE>
<%@ include file="bottom.jspf" %>
