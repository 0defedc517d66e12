// SPDX-License-Identifier: Apache-2.0
// Sends to the endpoint that the page names, one message after each answer, until it is told to stop.
const show = (id, text) => { document.getElementById(id).textContent = text; };
const endpoint = document.body.dataset.endpoint;
const messages = {
  pingTextSync: (n) => `message ${n}`,
  pingTextAsync: (n) => `message ${n}`,
  pingBinary: (n) => new TextEncoder().encode(`message ${n}`),
  pingWebSocketJson: (n) => JSON.stringify({ key: "message", value: String(n) }),
};
let socket;

function start() {
  let sent = 0;
  let received = 0;
  const send = () => { socket.send(messages[endpoint](++sent)); show("sent", sent); };
  const url = new URL(endpoint, location);
  url.protocol = location.protocol.replace("http", "ws");
  socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  socket.onopen = send;
  socket.onmessage = (event) => {
    const text = typeof event.data === "string" ? event.data : new TextDecoder().decode(event.data);
    show("received", ++received);
    show("last", text);
    // A JSON endpoint also tells what it sent by itself, which is no answer.
    if (!text.includes("sentHitCount") && socket.readyState === WebSocket.OPEN) send();
  };
  socket.onclose = () => toggle(false);
  toggle(true);
}

function toggle(running) {
  document.getElementById("start").disabled = running;
  document.getElementById("stop").disabled = !running;
}

document.getElementById("start").onclick = start;
document.getElementById("stop").onclick = () => socket.close();
