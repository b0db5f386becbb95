// The phone: asks the sandbox what it shows, draws it, and sends what the person does. No library, no other host.

import { $ } from "./dom.js";
import { drawFaults } from "./faults.js";
import { Mail } from "./mail.js";
import { banner, news, quiet } from "./notes.js";
import { choosing, drawPeople } from "./people.js";
import { APPS, FIRST, here, remember } from "./state.js";
import { Telegram } from "./telegram.js";
import { WhatsApp } from "./whatsapp.js";
import { follow, look } from "./wire.js";

const apps = { telegram: new Telegram(refresh), whatsapp: new WhatsApp(refresh), mail: new Mail(refresh) };
const latest = new Map(); // app → the newest message that was there

let asking = null;
let again = false;

async function refresh() {
  if (asking) { again = true; return asking; }
  asking = ask();
  try {
    await asking;
  } finally {
    asking = null;
  }
  if (again) { again = false; await refresh(); }
}

async function ask() {
  const phone = await look();
  if (phone === undefined) stopped();
  else if (phone && phone.person === here.person) draw(phone);
  else if (!phone && here.person !== FIRST) choosePerson(FIRST);
}

function stopped() {
  banner("The sandbox has stopped. This page goes on when it is back.");
}

function draw(phone) {
  const firstTime = here.phone === null || here.phone.person !== phone.person;
  here.phone = phone;
  drawPeople(phone);
  drawApps();
  for (const name of APPS) apps[name].draw(phone, firstTime);
  drawFaults(phone);
  for (const name of APPS) tell(name, phone, firstTime);
  drawDock(phone);
  see();
}

function drawApps() {
  for (const name of APPS) $(name).hidden = name !== here.app;
  document.body.dataset.app = here.app;
}

function drawDock(phone) {
  for (const key of $("dock").children) {
    const app = apps[key.dataset.app];
    const unread = app.unread(phone);
    key.dataset.unread = unread || "";
    key.setAttribute("aria-label", unread ? `${app.name}, ${unread} new` : app.name);
    if (key.dataset.app === here.app) key.setAttribute("aria-current", "page");
    else key.removeAttribute("aria-current");
  }
}

// A message in an app that is not open is announced by a strip above the one that is.
function tell(name, phone, firstTime) {
  const last = apps[name].latest(phone);
  const known = latest.get(name);
  latest.set(name, last ? last.key : null);
  if (firstTime || !last || last.key === known || name === here.app) return;
  news(name, apps[name].name, last.sender, last.text.split("\n").slice(0, 2).join(" "), () => choose(name));
}

// What is on the screen is read, unless nobody looks at it.
async function see() {
  if (!document.hidden && here.phone) await apps[here.app].seen();
}

function choose(name) {
  here.app = name;
  quiet();
  remember();
  drawApps();
  draw(here.phone);
}

function choosePerson(person) {
  if (person === null) return void refresh(); // the old one stays
  Object.assign(here, { person, chat: null, mail: null });
  quiet();
  remember();
  refresh();
}

choosing(choosePerson);
for (const key of $("dock").children) key.onclick = () => choose(key.dataset.app);
document.addEventListener("visibilitychange", see);
follow(refresh, stopped);
