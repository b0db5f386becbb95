// Whose phone it is, everybody who has one, and the menu of an app.

import { $ } from "./dom.js";
import { api, post } from "./wire.js";

const NEW = "new";

export function drawPeople(phone) {
  const select = $("person");
  const wanted = JSON.stringify(phone.people);
  if (select.dataset.people !== wanted) {
    select.dataset.people = wanted;
    const everybody = phone.people.map((person) => new Option(person.name, person.id));
    select.replaceChildren(...everybody, new Option("Somebody else…", NEW));
  }
  select.value = String(phone.person);
  const owner = phone.people.find((person) => person.id === phone.person);
  document.title = `${owner.name}’s phone · answerback sandbox`;
}

// `choose(person)` is called with whom the tab belongs to from now on.
export function choosing(choose) {
  $("person").onchange = (event) => {
    if (event.target.value === NEW) $("somebody").showModal();
    else choose(Number(event.target.value));
  };
  $("somebody").onclose = () => choose(null);
  $("add").onsubmit = async (event) => {
    event.preventDefault();
    const added = await post(`${api}/people`, { first_name: $("new-name").value });
    if (!added) return;
    $("add").reset();
    choose(added.id);
    $("somebody").close();
  };
}

// The menu of an app: shut `whom` out or let them in again by act("block") or act("unblock"), and, where there
// are groups, `newGroup`.
export function menu(app, whom, blocked, act, newGroup = null) {
  $("menu-title").textContent = app;
  $("block").textContent = `${blocked ? "Unblock" : "Block"} ${whom}`;
  $("block").onclick = async () => { await act(blocked ? "unblock" : "block"); $("menu").close(); };
  $("new-group").hidden = !newGroup;
  $("new-group").onclick = () => { $("menu").close(); newGroup(); };
  $("menu").showModal();
}

// A tap beside a sheet closes it.
for (const sheet of document.querySelectorAll("dialog.sheet:not(#alert)")) {
  sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
}
