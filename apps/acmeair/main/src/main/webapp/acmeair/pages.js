// SPDX-License-Identifier: Apache-2.0
// The pages of AcmeAir: one document, a section for each page, plain requests to the services of topology.js.
"use strict";

const $ = (selector) => document.querySelector(selector);
const FROM = "AMS AKL BKK BRU CAI DXB FRA GVA HKG IST KHI KWI LOS LHR MNL MEX YUL SVO NBO JFK CDG PRG GIG FCO SIN ARN SYD IKA NRT";
const TO = "BOM DEL FRA HKG LHR YUL SVO JFK CDG FCO SIN SYD IKA NRT";
const pages = ["flights", "bookings", "profile", "data"];
let profile = null;

function say(text, bad = false) {
  $("#message").textContent = text;
  $("#message").classList.toggle("bad", bad);
}

function cookie(name) {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(name + "="));
  return found && found.slice(name.length + 1);
}

// The monolith's cookie does not tell the name: it is remembered here, for as long as the cookie is there.
function user() {
  return topology.userCookie
    ? cookie(topology.userCookie)
    : cookie(topology.cookies[0]) && sessionStorage.getItem("user");
}

async function ask(path, options) {
  const response = await fetch(path, options);
  const text = await response.text();
  if (response.ok) {
    return text;
  }
  if (response.status === 401 || response.status === 403) {
    throw new Error(path === topology.login ? "Unknown login or wrong password." : "Log in first.");
  }
  throw new Error(`The server answers ${response.status}. ${text.startsWith("<") ? "" : text}`.trim());
}

const send = (path, fields) => ask(path, { method: "POST", body: new URLSearchParams(fields) });
const fields = (form) => Object.fromEntries(new FormData(form));

// A date as the services read it: Mon Jun 15 00:00:00 UTC 2026.
function dateText(day) {
  const [weekday, date, month, year] = new Date(day + "T00:00:00Z").toUTCString().replace(",", "").split(" ");
  return `${weekday} ${month} ${date} 00:00:00 UTC ${year}`;
}

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

// Runs what a button does, once at a time, and tells what went wrong.
function on(form, action) {
  $(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = $(form).querySelector("button");
    button.disabled = true;
    try {
      await action(event.target);
    } catch (error) {
      say(error.message, true);
    } finally {
      button.disabled = false;
    }
  });
}

function showUser() {
  const name = user();
  $("#login").hidden = Boolean(name);
  $("#user").hidden = !name;
  $("#user span").textContent = name || "";
  return name;
}

async function show() {
  const page = pages.includes(location.hash.slice(1)) ? location.hash.slice(1) : "flights";
  for (const name of pages) {
    $("#" + name).hidden = name !== page;
    const link = $(`nav a[href="#${name}"]`);
    name === page ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  showUser();
  try {
    await { flights: () => {}, bookings: showBookings, profile: showProfile, data: showCounts }[page]();
  } catch (error) {
    say(error.message, true);
  }
}

// ---- flights

function showOptions(reply) {
  const list = $("#options div");
  list.replaceChildren();
  reply.tripFlights.forEach((leg, index) => {
    const kind = index === 0 ? "to" : "ret";
    element("h3", index === 0 ? "Out" : "Back", list);
    if (leg.flightsOptions.length === 0) {
      element("p", "No flight that day.", list);
    }
    leg.flightsOptions.forEach((flight, number) => {
      const label = element("label", "", list);
      const choice = element("input", "", label);
      Object.assign(choice, { type: "radio", name: kind, value: flight._id, checked: number === 0 });
      choice.dataset.segment = flight.flightSegmentId;
      const from = flight.flightSegment;
      element(
        "span",
        `${flight.flightSegmentId} ${from.originPort} to ${from.destPort}, ${flight.scheduledDepartureTime}, ` +
          `economy ${flight.economyClassBaseCost}, first ${flight.firstClassBaseCost}`,
        label,
      );
    });
  });
  $("#options").hidden = false;
  $("#options button").disabled = reply.tripFlights[0].flightsOptions.length === 0;
}

on("#query", async (form) => {
  const asked = fields(form);
  const reply = await send(topology.query, {
    ...asked,
    fromDate: dateText(asked.fromDate),
    returnDate: dateText(asked.returnDate),
    oneWay: form.oneWay.checked,
  });
  showOptions(JSON.parse(reply));
  say("");
});

on("#options", async (form) => {
  const chosen = (kind) => form.querySelector(`input[name=${kind}]:checked`);
  const [out, back] = [chosen("to"), chosen("ret")];
  await send(topology.book, {
    userid: user() || "",
    toFlightId: out.value,
    toFlightSegId: out.dataset.segment,
    retFlightId: back ? back.value : "null",
    retFlightSegId: back ? back.dataset.segment : "null",
    oneWayFlight: !back,
  });
  form.hidden = true;
  say("Booked.");
  location.hash = "bookings";
});

// ---- bookings

async function showBookings() {
  const name = user();
  const list = name ? JSON.parse(await ask(topology.bookings + encodeURIComponent(name))) : [];
  $("#bookings .empty").textContent = name ? "No bookings." : "Log in to see your bookings.";
  $("#bookings .empty").hidden = list.length > 0;
  $("#bookings table").hidden = list.length === 0;
  const rows = $("#bookings tbody");
  rows.replaceChildren();
  for (const booking of list) {
    const row = element("tr", "", rows);
    element("td", booking._id, row);
    element("td", booking.flightId, row);
    element("td", booking.dateOfBooking, row);
    const button = element("button", "Cancel", element("td", "", row));
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        say(await send(topology.cancel, { number: booking._id, userid: name }));
      } catch (error) {
        say(error.message, true);
      }
      await show();
    });
  }
}

// ---- profile

async function showProfile() {
  const name = user();
  profile = name ? JSON.parse(await ask(topology.customer + encodeURIComponent(name))) : null;
  $("#profile .empty").textContent = name ? "" : "Log in to see your profile.";
  $("#customer").hidden = !profile;
  if (!profile) {
    return;
  }
  $("#miles").textContent = `${profile._id}, ${profile.status}, ${profile.total_miles} miles`;
  for (const input of $("#customer").querySelectorAll("input")) {
    const address = input.name in profile.address ? profile.address : profile;
    input.value = input.name === "password" ? "" : (address[input.name] ?? "");
  }
}

on("#customer", async (form) => {
  const { phoneNumber, password, ...address } = fields(form);
  address.streetAddress2 ||= null;
  try {
    await ask(topology.customer + encodeURIComponent(profile._id), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...profile, phoneNumber, password, address }),
    });
  } catch (error) {
    throw error.message === "Log in first." ? new Error("Not saved: the password is wrong.") : error;
  }
  await showProfile();
  say("Saved.");
});

// ---- data

async function showCounts() {
  const counts = await Promise.all(
    Object.entries(topology.counts).map(async ([name, path]) => [name, await ask(path)]),
  );
  $("#counts").replaceChildren();
  for (const [name, count] of counts) {
    element("dt", name, $("#counts"));
    element("dd", count, $("#counts"));
  }
}

on("#load", async (form) => {
  say("Loading...");
  const replies = [];
  for (const path of topology.loaders(Number(form.customers.value))) {
    replies.push(await ask(path));
  }
  await showCounts();
  say(replies.join("; ") + ".");
});

// ---- logging in and out

on("#login", async (form) => {
  await send(topology.login, fields(form));
  sessionStorage.setItem("user", form.login.value);
  say("");
  await show();
});

$("#logout").addEventListener("click", async () => {
  if (topology.logout) {
    await fetch(topology.logout + encodeURIComponent(user()));
  }
  topology.cookies.forEach((name) => (document.cookie = `${name}=; Path=/; Max-Age=0`));
  say("Logged out.");
  await show();
});

// ---- start

function fill(select, codes, chosen) {
  codes.split(" ").forEach((code) => element("option", code, select));
  select.value = chosen;
}

async function start() {
  $("#topology").textContent = topology.name;
  fill($("#query").fromAirport, FROM, "FRA");
  fill($("#query").toAirport, TO, "JFK");
  const based = await topology.today(ask); // On which day flights are based: a date, or system.
  const today = based === "system" ? new Date() : new Date(based + "T00:00:00Z");
  const day = (offset) => new Date(today.getTime() + offset * 86_400_000).toISOString().slice(0, 10);
  $("#query").fromDate.value = day(0);
  $("#query").returnDate.value = day(4);
  $("#query").oneWay.addEventListener("change", (event) => {
    $("#query").returnDate.disabled = event.target.checked;
  });
  $("nav").addEventListener("click", () => say(""));
  window.addEventListener("hashchange", show);
  await show();
}

start().catch((error) => say(error.message, true));
