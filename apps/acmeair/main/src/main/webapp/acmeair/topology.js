// SPDX-License-Identifier: Apache-2.0
// Where the pages find the services. The monolith serves the same pages with a file of its own in place of this one.
"use strict";
const topology = {
  name: "five services",
  login: "/auth/login",
  logout: null, // Tokens cannot be revoked: to log out is to forget them.
  userCookie: "loggedinuser",
  today: (ask) => ask("today"),
  cookies: ["Bearer", "loggedinuser"],
  customer: "/customer/byid/",
  query: "/flight/queryflights",
  book: "/booking/bookflights",
  bookings: "/booking/byuser/",
  cancel: "/booking/cancelbooking",
  loaders: (customers) => [
    "/customer/loader/load?numCustomers=" + customers,
    "/flight/loader/load",
    "/booking/loader/load",
  ],
  counts: {
    customers: "/customer/config/countCustomers",
    airports: "/flight/config/countAirports",
    segments: "/flight/config/countFlightSegments",
    flights: "/flight/config/countFlights",
    bookings: "/booking/config/countBookings",
  },
};
