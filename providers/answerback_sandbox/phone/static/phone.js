// The phone: asks the sandbox what it shows, draws it, and sends what the person does. No library, no other host.
"use strict";

const $ = (id) => document.getElementById(id);
const address = new URL(location.href);
const api = "/phone/api";
const drawn = new Map(); // message id → the JSON it was drawn from
const here = {
  person: Number(address.searchParams.get("person")) || 1001,
  chat: Number(address.searchParams.get("chat")) || null,
  payload: address.searchParams.get("start"),
  replyTo: null,
  lastNote: null,
  phone: null,
  atEnd: true,
};

// ── talking to the sandbox ──

async function post(path, body) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(api + path, { method: "POST", headers, body: JSON.stringify(body || {}) });
    const result = await response.json();
    if (response.ok) return result;
    toast(sentence(result.error || result.description));
  } catch {
    toast("The sandbox does not answer.");
  }
  return null;
}

const act = (what, body) => post(`/people/${here.person}/${what}`, body);
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + "." : "That did not work.");

let asking = false;
let askAgain = false;

async function refresh() {
  if (asking) { askAgain = true; return; }
  asking = true;
  try {
    const response = await fetch(`${api}/people/${here.person}`);
    if (response.ok) draw(await response.json());
    else if (here.person !== 1001) choosePerson(1001);
  } catch {
    stopped(true);
  } finally {
    asking = false;
    if (askAgain) { askAgain = false; refresh(); }
  }
}

function live() {
  const events = new EventSource(`${api}/events`);
  events.onmessage = () => { stopped(false); refresh(); };
  events.onerror = () => stopped(true);
}

// ── drawing ──

function draw(phone) {
  const firstTime = here.phone === null;
  here.phone = phone;
  const chat = currentChat();
  drawPeople(phone);
  drawChats(phone, chat);
  drawBar(phone, chat);
  drawFoot(phone, chat);
  drawMessages(chat, firstTime);
  drawNotes(phone, firstTime);
}

const currentChat = () => here.phone.chats.find((chat) => chat.id === here.chat) || here.phone.chats[0];

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function drawPeople(phone) {
  const select = $("person");
  const wanted = JSON.stringify(phone.people);
  if (select.dataset.people !== wanted) {
    select.dataset.people = wanted;
    select.replaceChildren(...phone.people.map((person) => new Option(person.name, person.id)));
  }
  select.value = String(phone.person);
  const owner = phone.people.find((person) => person.id === phone.person);
  document.title = `${owner.name}’s phone · answerback sandbox`;
}

function drawChats(phone, current) {
  $("chats").hidden = phone.chats.length < 2;
  const wanted = JSON.stringify([phone.chats.map((chat) => [chat.id, chat.title]), current.id]);
  if ($("chats").dataset.drawn === wanted) return;
  $("chats").dataset.drawn = wanted;
  $("chats").replaceChildren(...phone.chats.map((chat) => {
    const tab = make("button", "", chat.title);
    tab.type = "button";
    if (chat === current) tab.setAttribute("aria-current", "true");
    tab.onclick = () => chooseChat(chat.id);
    return tab;
  }));
}

let quiet = 0;

function drawBar(phone, chat) {
  const left = chat.busy_until - phone.now;
  $("title").textContent = chat.title;
  $("presence").textContent = left > 0 ? "typing…" : chat.private ? "bot" : `${chat.people} ${chat.people === 1 ? "person" : "people"} and a bot`;
  $("presence").classList.toggle("busy", left > 0);
  clearTimeout(quiet);
  if (left > 0) quiet = setTimeout(refresh, left * 1000);
  $("block").textContent = phone.chats[0].blocked ? "Unblock the bot" : "Block the bot";
  $("down").textContent = phone.down ? "Bring Telegram back" : "Take Telegram down";
  banner(phone.down ? "Telegram is down: the bot gets errors until you bring it back." : "");
}

function drawMessages(chat, firstTime) {
  const log = $("log");
  if (log.dataset.chat !== `${here.person}/${chat.id}`) {
    log.dataset.chat = `${here.person}/${chat.id}`;
    log.replaceChildren();
    drawn.clear();
    firstTime = true;
  }
  dropDeleted(chat);
  let grew = false;
  for (const message of chat.messages) grew = drawMessage(chat, message, firstTime) || grew;
  drawEmpty(chat);
  if (firstTime || here.atEnd) toEnd();
  else if (grew) $("jump").hidden = false;
}

function toEnd() {
  here.atEnd = true;
  $("jump").hidden = true;
  $("scroll").scrollTop = $("scroll").scrollHeight;
}

function dropDeleted(chat) {
  const kept = new Set(chat.messages.map((message) => message.id));
  for (const id of [...drawn.keys()]) {
    if (kept.has(id)) continue;
    drawn.delete(id);
    $(`m${id}`).remove();
    if (here.replyTo === id) reply(null);
  }
}

function drawEmpty(chat) {
  const shown = $("log").querySelector(".empty");
  if (chat.messages.length) { if (shown) shown.remove(); return; }
  if (shown) return;
  const empty = make("li", "empty");
  empty.append(make("b", "", "Nothing here yet"), "When an agent asks something, the question arrives here.");
  $("log").append(empty);
}

function drawMessage(chat, message, firstTime) {
  const json = JSON.stringify(message);
  const before = drawn.get(message.id);
  if (before === json) return false;
  drawn.set(message.id, json);
  const item = messageItem(chat, message);
  if (before === undefined) {
    drawDay(message);
    if (!firstTime) item.classList.add("fresh");
    $("log").append(item);
    if (message.force_reply && !firstTime) reply(message);
    return true;
  }
  replaceItem(item, JSON.parse(before), message);
  return false;
}

function replaceItem(item, before, message) {
  const old = $(`m${message.id}`);
  const focused = old.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const edited = before.edit !== message.edit;
  if (edited) item.classList.add("changed");
  old.replaceWith(item);
  if (edited && before.text !== message.text) $("said").textContent = `Edited: ${message.text}`;
  if (focused) (item.querySelector(`[data-key="${focused}"]`) || item).focus();
}

function drawDay(message) {
  const day = new Date(message.at * 1000).toDateString();
  if ($("log").dataset.day === day && $("log").children.length) return;
  $("log").dataset.day = day;
  const today = new Date().toDateString() === day;
  const name = today ? "Today" : new Date(message.at * 1000).toLocaleDateString([], { day: "numeric", month: "long" });
  $("log").append(make("li", "day", name));
}

function messageItem(chat, message) {
  const item = make("li", `msg ${message.mine ? "mine" : "them"}${message.rows.length ? " keyed" : ""}`);
  item.id = `m${message.id}`;
  item.tabIndex = -1;
  item.append(bubble(chat, message), replyButton(message));
  if (message.rows.length) item.append(keys(message));
  swipeToReply(item, message);
  return item;
}

function bubble(chat, message) {
  const box = make("div", "bubble");
  box.append(make("p", chat.private || message.mine ? "who hidden" : "who", message.mine ? "You" : message.sender));
  const replied = message.reply_to && chat.messages.find((other) => other.id === message.reply_to);
  if (replied) box.append(quote(replied));
  box.append(richText(message), meta(message));
  return box;
}

function quote(replied) {
  const button = make("button", "quote");
  button.type = "button";
  button.dataset.key = "quote";
  button.append(make("b", "", replied.mine ? "You" : replied.sender), make("span", "", replied.text));
  button.onclick = () => {
    const item = $(`m${replied.id}`);
    item.scrollIntoView({ block: "center", behavior: "smooth" });
    item.classList.remove("found");
    requestAnimationFrame(() => item.classList.add("found"));
  };
  return button;
}

function meta(message) {
  const line = make("p", "meta");
  if (message.edited) line.append(make("span", "", "edited"));
  const moment = new Date(message.at * 1000);
  const time = make("time", "", moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = moment.toISOString();
  line.append(time);
  return line;
}

function replyButton(message) {
  const button = make("button", "icon reply");
  button.type = "button";
  button.dataset.key = "reply";
  button.setAttribute("aria-label", `Reply to “${short(message.text)}”`);
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M10 6L4 12l6 6M4 12h9c4 0 7 2 7 6");
  drawing.append(path);
  button.append(drawing);
  button.onclick = () => reply(message);
  return button;
}

const short = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

function keys(message) {
  const box = make("div", "keys");
  let place = 0;
  for (const row of message.rows) {
    const line = make("div");
    for (const one of row) line.append(key(message, one, place++));
    box.append(line);
  }
  return box;
}

function key(message, one, place) {
  const button = make("button", "", one.url ? `${one.text} ↗` : one.text);
  button.type = "button";
  button.dataset.key = `key${place}`;
  if (one.url) button.setAttribute("aria-label", `${one.text}, opens a page`);
  if (message.busy === place) button.setAttribute("aria-busy", "true");
  button.onclick = async () => {
    if (one.url) return void open(one.url, "_blank", "noopener,noreferrer");
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    const tapped = await act("tap", { message_id: message.id, button: place, chat: currentChat().id });
    if (!tapped) button.removeAttribute("aria-busy");
    else setTimeout(refresh, 31000); // a bot that has not answered by then will not
  };
  return button;
}

// ── text with entities; their offsets count UTF-16 units, as JavaScript's strings do ──

const TAGS = { bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre", blockquote: "blockquote", expandable_blockquote: "blockquote" };

function richText(message) {
  const box = make("div", "text");
  box.dir = "auto";
  fill(box, message.text, message.entities, 0, message.text.length);
  return box;
}

function fill(parent, text, entities, from, to) {
  let at = from;
  while (entities.length) {
    const [first, ...rest] = entities;
    const end = Math.min(first.offset + first.length, to);
    const inside = rest.filter((one) => one.offset < end);
    if (first.offset >= at) {
      parent.append(text.slice(at, first.offset));
      const element = wrap(first, text.slice(first.offset, end));
      fill(element, text, inside, first.offset, end);
      parent.append(element);
      at = end;
    }
    entities = rest.filter((one) => one.offset >= end);
  }
  parent.append(text.slice(at, to));
}

function wrap(entity, text) {
  if (entity.type === "url" || entity.type === "text_link") return link(entity.url || text);
  if (entity.type === "spoiler") { const hidden = make("span", "spoiler"); hidden.tabIndex = 0; return hidden; }
  return TAGS[entity.type] ? make(TAGS[entity.type]) : make("span", "tag");
}

function link(url) {
  const anchor = make("a");
  if (/^https?:\/\//i.test(url)) anchor.href = url;
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return anchor;
}

// ── writing ──

function drawFoot(phone, chat) {
  const start = !chat.blocked && (here.payload !== null || (chat.private && !chat.started && chat.messages.length === 0));
  $("unblock").hidden = !chat.blocked || !chat.private;
  $("start").hidden = !start;
  $("composer").hidden = chat.blocked || start;
  $("open-commands").hidden = phone.commands.length === 0;
  $("commands").replaceChildren(...phone.commands.map(commandItem));
  grow();
}

function commandItem(command) {
  const item = make("li");
  const button = make("button");
  button.type = "button";
  button.append(make("b", "", `/${command.command}`), make("span", "", command.description));
  button.onclick = () => { showCommands(false); send(`/${command.command}`); };
  item.append(button);
  return item;
}

function showCommands(shown) {
  $("commands").hidden = !shown;
  $("open-commands").setAttribute("aria-expanded", String(shown));
}

function reply(message) {
  here.replyTo = message ? message.id : null;
  $("replying").hidden = !message;
  if (!message) return;
  $("replying-to").textContent = `Reply to ${message.mine ? "yourself" : message.sender}`;
  $("replying-text").textContent = message.text;
  $("text").focus();
}

async function send(text) {
  const sent = await act("type", { text, reply_to: here.replyTo, chat: currentChat().id });
  if (sent) { reply(null); toEnd(); }
  return sent;
}

function grow() {
  const box = $("text");
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
  $("send").disabled = box.value.trim() === "";
}

function swipeToReply(item, message) {
  let from = null;
  item.addEventListener("pointerdown", (event) => { from = event.pointerType === "touch" ? event : null; });
  item.addEventListener("pointermove", (event) => {
    const moved = from ? Math.max(-72, Math.min(0, event.clientX - from.clientX)) : 0;
    item.style.transform = moved < -8 ? `translateX(${moved}px)` : "";
  });
  const end = (event) => {
    if (from && event.type === "pointerup" && event.clientX - from.clientX < -56) reply(message);
    from = null;
    item.style.transform = "";
  };
  item.addEventListener("pointerup", end);
  item.addEventListener("pointercancel", end);
}

// ── what the bot answers to a tap, and other notes ──

function drawNotes(phone, firstTime) {
  const latest = phone.notes.length ? phone.notes[phone.notes.length - 1].id : -1;
  if (firstTime || here.lastNote === null) { here.lastNote = latest; return; }
  for (const note of phone.notes) {
    if (note.id <= here.lastNote) continue;
    if (note.alert) alertBox(note.text);
    else toast(note.text);
  }
  here.lastNote = Math.max(latest, here.lastNote);
}

function toast(text) {
  const box = make("p", "", text);
  $("toasts").append(box);
  setTimeout(() => box.remove(), 4000 + 40 * text.length);
}

function alertBox(text) {
  $("alert-text").textContent = text;
  if (!$("alert").open) $("alert").showModal();
}

function banner(text) {
  $("banner").textContent = text;
  $("banner").hidden = !text;
}

function stopped(is) {
  if (is) banner("The sandbox has stopped. This page goes on when it is back.");
  else if (here.phone && !here.phone.down) banner("");
}

// ── choosing ──

function remember() {
  address.search = "";
  if (here.person !== 1001) address.searchParams.set("person", here.person);
  if (here.chat) address.searchParams.set("chat", here.chat);
  if (here.payload !== null) address.searchParams.set("start", here.payload);
  history.replaceState(null, "", address);
}

function choosePerson(person) {
  Object.assign(here, { person, chat: null, lastNote: null });
  reply(null);
  remember();
  refresh();
}

function chooseChat(chat) {
  here.chat = chat;
  reply(null);
  remember();
  draw(here.phone);
}

$("person").onchange = (event) => choosePerson(Number(event.target.value));
$("jump").onclick = toEnd;
$("scroll").onscroll = () => {
  const left = $("scroll").scrollHeight - $("scroll").scrollTop - $("scroll").clientHeight;
  here.atEnd = left < 60;
  if (here.atEnd) $("jump").hidden = true;
};
// The keyboard of a phone, or the strip of a reply, takes room from the messages: the last ones stay in sight.
new ResizeObserver(() => { if (here.atEnd) toEnd(); }).observe($("scroll"));
$("start").onclick = async () => {
  if (!await act("start", { payload: here.payload || "" })) return;
  here.payload = null;
  remember();
  await refresh();
  $("text").focus();
};
$("unblock").onclick = () => act("unblock");
$("no-reply").onclick = () => { reply(null); $("text").focus(); };
$("open-commands").onclick = () => showCommands($("commands").hidden);
$("text").oninput = grow;
$("text").onkeydown = (event) => {
  if (event.key === "Escape") reply(null);
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || !matchMedia("(pointer: fine)").matches) return;
  event.preventDefault();
  $("composer").requestSubmit();
};
$("composer").onsubmit = async (event) => {
  event.preventDefault();
  const text = $("text").value;
  if (text.trim() === "") return;
  $("text").value = "";
  grow();
  if (!await send(text)) { $("text").value = text; grow(); }
  $("text").focus();
};
$("open-menu").onclick = () => $("menu").showModal();
$("menu").onclick = (event) => { if (event.target === $("menu")) $("menu").close(); };
$("block").onclick = async () => {
  await act(here.phone.chats[0].blocked ? "unblock" : "block");
  $("menu").close();
};
$("down").onclick = async () => {
  await post(here.phone.down ? "/faults/clear" : "/faults", { kind: "down", calls: null });
  $("menu").close();
};
$("add").onsubmit = async (event) => {
  event.preventDefault();
  const added = await post("/people", { first_name: $("new-name").value });
  if (!added) return;
  $("add").reset();
  $("menu").close();
  choosePerson(added.id);
};

live();
