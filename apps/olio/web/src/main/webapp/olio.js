// SPDX-License-Identifier: Apache-2.0
// What pages do without being loaded again: days of the calendar, buttons that change something, and, where the server
// leaves them to scripts, attendees and comments.
(() => {
  const reload = (answer) => {
    if (answer.ok) {
      location.reload();
    }
  };

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-post]');
    if (button) {
      event.preventDefault();
      fetch(button.dataset.post, {method: 'POST'}).then(reload);
    }
    const day = event.target.closest('[data-partial]');
    const list = document.getElementById('list');
    if (day && list) {
      event.preventDefault();
      fetch(day.href + '&displayType=partial')
        .then((answer) => answer.text())
        .then((text) => { list.innerHTML = text; });
    }
  });

  document.addEventListener('submit', (event) => {
    if (event.target.matches('[data-form]')) {
      event.preventDefault();
      fetch(event.target.action, {method: 'POST', body: new URLSearchParams(new FormData(event.target))}).then(reload);
    }
  });

  const add = (parent, name, text) => {
    const child = document.createElement(name);
    child.textContent = text;
    parent.append(child);
  };

  for (const list of document.querySelectorAll('[data-attendees]')) {
    fetch(list.dataset.attendees)
      .then((answer) => answer.json())
      .then((json) => json.result.attendees.forEach((each) => add(list, 'li', each.userName)));
  }
  for (const list of document.querySelectorAll('[data-comments]')) {
    fetch(list.dataset.comments)
      .then((answer) => answer.json())
      .then((json) => json.commentsratings.forEach((each) => {
        add(list, 'h3', each.username + ', ' + each.creationTime + ': ' + each.rating + ' of 5');
        add(list, 'p', each.comments);
      }));
  }
})();
