// Telegram: chats with a bot, its buttons under a message, and what it answers to a tap.

import { gist } from "./attach.js";
import { Chat } from "./chat.js";
import { $, button, make, short } from "./dom.js";
import { alertBox, toast } from "./notes.js";
import { menu } from "./people.js";
import { marked } from "./rich_text.js";
import { here, remember } from "./state.js";
import { act, api, post } from "./wire.js";

const PATIENCE = 31000; // a bot that has not answered a tap by then will not

export class Telegram {
  name = "Telegram";
  #lastNote = null;
  #quiet = 0;
  #redraw;

  constructor(redraw) {
    this.#redraw = redraw;
    this.view = new Chat($("telegram"), {
      send: (text, replyTo, file) => act(file ? "file" : "type", { text, reply_to: replyTo, chat: this.chat.id, ...file }),
      look: (message, chat) => this.#look(message, chat),
      menu: () => menu("Telegram", "the bot", here.phone.chats[0].blocked, (what) => act(what), () => this.#newGroup()),
    });
    this.view.part("start").onclick = () => this.#start();
    this.view.part("unblock").onclick = () => act("unblock");
  }

  get chat() {
    return here.phone.chats.find((chat) => chat.id === here.chat) || here.phone.chats[0];
  }

  draw(phone, firstTime) {
    const chat = this.chat;
    const left = chat.busy_until - phone.now;
    const members = `${chat.people} ${chat.people === 1 ? "person" : "people"} and a bot`;
    const begun = chat.started || chat.messages.length > 0;
    this.view.composer.offer(phone.commands);
    this.view.draw({
      key: `${phone.person}/${chat.id}`,
      title: chat.title,
      presence: left > 0 ? "typing…" : chat.private ? "bot" : members,
      busy: left > 0,
      messages: chat.messages,
      blocked: chat.blocked && chat.private,
      start: !chat.blocked && (here.payload !== null || (chat.private && !begun)),
      named: !chat.private,
      empty: "When an agent asks something, the question arrives here.",
    });
    clearTimeout(this.#quiet);
    if (left > 0) this.#quiet = setTimeout(this.#redraw, left * 1000);
    this.#drawTabs(phone, chat);
    this.#drawNotes(phone, firstTime);
  }

  unread(phone) { return phone.chats.reduce((sum, chat) => sum + chat.unread, 0); }

  latest(phone) {
    const every = phone.chats.flatMap((chat) => chat.messages.map((message) => ({ ...message, chat: chat.id })));
    const theirs = every.filter((message) => !message.mine);
    theirs.sort((one, other) => one.at - other.at || one.id - other.id);
    const last = theirs.at(-1);
    return last && { key: `${last.chat}/${last.id}`, sender: last.sender, text: gist(last) };
  }

  seen() { return this.chat.unread ? act("seen", { chat: this.chat.id }) : null; }

  #look(message, chat) {
    if (message.notice) return { notice: message.notice };
    const marks = [message.forwarded && "forwarded", message.edited && "edited"].filter(Boolean);
    return {
      text: marked(message.text, message.entities),
      named: chat.named,
      marks: marks.map(mark),
      keys: message.rows.length ? this.#keys(message) : null,
    };
  }

  #keys(message) {
    const box = make("div", "keys");
    let place = 0;
    for (const row of message.rows) {
      const line = make("div");
      for (const one of row) line.append(this.#key(message, one, place++));
      box.append(line);
    }
    return box;
  }

  #key(message, one, place) {
    const key = button("", one.url ? `${one.text} ↗` : one.text, async () => {
      if (one.url) return void open(one.url, "_blank", "noopener,noreferrer");
      if (key.getAttribute("aria-busy") === "true") return;
      key.setAttribute("aria-busy", "true");
      const tapped = await act("tap", { message_id: message.id, button: place, chat: this.chat.id });
      if (tapped) setTimeout(this.#redraw, PATIENCE);
      else key.removeAttribute("aria-busy");
    });
    key.dataset.key = `key${place}`;
    if (one.url) key.setAttribute("aria-label", `${one.text}, opens a page`);
    if (message.busy === place) key.setAttribute("aria-busy", "true");
    return key;
  }

  async #start() {
    if (!await act("start", { payload: here.payload || "" })) return;
    here.payload = null;
    remember();
    await this.#redraw();
    this.view.part("words").focus();
  }

  async #newGroup() {
    const people = here.phone.people;
    const title = short(people.map((person) => person.name).join(", "));
    const made = await post(`${api}/groups`, { title, members: people.map((person) => person.id) });
    if (!made) return;
    here.chat = made.id;
    remember();
    await this.#redraw();
  }

  #drawTabs(phone, current) {
    const tabs = this.view.part("chats");
    tabs.hidden = phone.chats.length < 2;
    const wanted = JSON.stringify([phone.chats.map((chat) => [chat.id, chat.title, chat.unread]), current.id]);
    if (tabs.dataset.drawn === wanted) return;
    tabs.dataset.drawn = wanted;
    tabs.replaceChildren(...phone.chats.map((chat) => {
      const unread = chat.unread && chat !== current ? ` (${chat.unread})` : "";
      const tab = button("", chat.title + unread, () => { here.chat = chat.id; remember(); this.#redraw(); });
      if (chat === current) tab.setAttribute("aria-current", "true");
      return tab;
    }));
  }

  #drawNotes(phone, firstTime) {
    const latest = phone.notes.length ? phone.notes.at(-1).id : -1;
    if (firstTime || this.#lastNote === null) { this.#lastNote = latest; return; }
    for (const note of phone.notes) {
      if (note.id <= this.#lastNote) continue;
      if (note.alert) alertBox(note.text);
      else toast(note.text);
    }
    this.#lastNote = Math.max(latest, this.#lastNote);
  }
}

function mark(text) {
  const element = make("span", "", text);
  element.dataset.before = "time";
  return element;
}
