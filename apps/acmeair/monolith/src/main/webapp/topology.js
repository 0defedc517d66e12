// SPDX-License-Identifier: Apache-2.0
// Where the pages find the monolith, in place of the file of the services.
"use strict";
const topology = {
  name: "monolith",
  login: "/rest/api/login",
  logout: "/rest/api/login/logout?login=",
  userCookie: null,
  today: async (ask) => JSON.parse(await ask("/bench/info")).settings.today,
  cookies: ["acmeair_sessionid"],
  customer: "/rest/api/customer/byid/",
  query: "/rest/api/flights/queryflights",
  book: "/rest/api/bookings/bookflights",
  bookings: "/rest/api/bookings/byuser/",
  cancel: "/rest/api/bookings/cancelbooking",
  loaders: (customers) => ["/rest/info/loader/load?numCustomers=" + customers],
  counts: {
    customers: "/rest/info/config/countCustomers",
    airports: "/rest/info/config/countAirports",
    segments: "/rest/info/config/countFlightSegments",
    flights: "/rest/info/config/countFlights",
    bookings: "/rest/info/config/countBookings",
    sessions: "/rest/info/config/countSessions",
  },
};
