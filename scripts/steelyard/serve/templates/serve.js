// SPDX-License-Identifier: Apache-2.0
"use strict";
// Everything works without this file: it filters at once, keeps the choice to two, and follows a running session.
(function () {
  const filters = document.querySelector(".filters");
  if (filters) {
    filters.addEventListener("change", () => filters.requestSubmit());
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        filters.elements.text.focus();
      }
    });
  }

  const list = document.querySelector(".list");
  if (list) {
    const boxes = [...list.querySelectorAll("input[type=checkbox]")];
    const button = list.querySelector(".compare button");
    const update = () => {
      const chosen = boxes.filter((box) => box.checked).length;
      boxes.forEach((box) => { box.disabled = chosen >= 2 && !box.checked; });
      button.disabled = chosen !== 2;
      list.classList.toggle("choosing", chosen > 0);
    };
    list.addEventListener("change", update);
    update();
  }

  const live = document.getElementById("live");
  if (live && "live" in live.dataset) {
    const seconds = 2;
    const again = () => setTimeout(follow, seconds * 1000);
    const follow = async () => {
      if (document.hidden) { again(); return; } // what nobody sees must not cost the host that measures
      try {
        const answer = await fetch(live.dataset.part);
        if (answer.ok) {
          const plan = live.querySelector(".plan")?.parentElement;
          const place = plan ? [plan.scrollLeft, document.activeElement === plan] : [0, false];
          live.innerHTML = await answer.text();
          const next = live.querySelector(".plan")?.parentElement;
          if (next) { next.scrollLeft = place[0]; if (place[1]) next.focus({ preventScroll: true }); }
          if (answer.headers.get("X-Steelyard-Live") === "no") { location.reload(); return; }
        }
      } catch { /* the server was stopped; it may come back */ }
      again();
    };
    again();
  }
})();
