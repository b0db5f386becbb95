// A conversation on the screen: its messages, kept in step with the sandbox, and the line to write in.

import { item } from "./bubble.js";
import { Composer } from "./composer.js";
import { $, day, make } from "./dom.js";
import { say } from "./notes.js";

const NEAR = 60; // pixels from the end that still count as there

export class Chat {
  // `app`: send(text, replyTo, file), look(message, chat) for item(), menu().
  constructor(root, app) {
    root.append($("chat").content.cloneNode(true));
    this.part = (name) => root.querySelector(`.${name}`);
    this.app = app;
    this.composer = new Composer(root, async (text, replyTo, file) => {
      const sent = await app.send(text, replyTo, file);
      if (sent) this.toEnd();
      return sent;
    });
    this.drawn = new Map(); // message id → the JSON it was drawn from
    this.shown = null; // the conversation
    this.atEnd = true;
    this.top = 0; // where it was scrolled to
    this.part("open-menu").onclick = () => app.menu();
    this.part("jump").onclick = () => this.toEnd();
    this.part("scroll").onscroll = () => this.#scrolled();
    // The keyboard of a phone, or the strip of a reply, takes room from the messages: the last stay in sight.
    new ResizeObserver(() => { if (this.atEnd) this.toEnd(); }).observe(this.part("scroll"));
  }

  // `chat`: key, title, presence, busy, messages, blocked, start, empty (a title and a sentence).
  draw(chat) {
    const firstTime = this.shown !== chat.key;
    if (firstTime) this.#clear(chat.key);
    this.part("title").textContent = chat.title;
    this.part("avatar").textContent = chat.title.slice(0, 1).toUpperCase();
    this.part("presence").textContent = chat.presence;
    this.part("presence").classList.toggle("busy", chat.busy);
    this.part("unblock").hidden = !chat.blocked;
    this.part("start").hidden = !chat.start;
    this.part("composer").hidden = chat.blocked || chat.start;
    this.#drawMessages(chat, firstTime);
    this.composer.grow();
  }

  toEnd() {
    this.atEnd = true;
    this.part("jump").hidden = true;
    this.part("scroll").scrollTop = this.part("scroll").scrollHeight;
  }

  #clear(key) {
    this.shown = key;
    this.part("log").replaceChildren();
    this.part("log").dataset.day = "";
    this.drawn.clear();
    this.composer.reply(null);
    this.composer.file.clear();
  }

  #drawMessages(chat, firstTime) {
    this.#dropDeleted(chat.messages);
    let grew = false;
    for (const message of chat.messages) grew = this.#drawMessage(chat, message, firstTime) || grew;
    this.#drawEmpty(chat);
    if (firstTime || this.atEnd) this.toEnd();
    else if (grew) this.part("jump").hidden = false;
  }

  #dropDeleted(messages) {
    const kept = new Set(messages.map((message) => message.id));
    for (const id of [...this.drawn.keys()]) {
      if (kept.has(id)) continue;
      this.drawn.delete(id);
      this.#at(id).remove();
      if (this.composer.replyTo === id) this.composer.reply(null);
    }
  }

  #drawMessage(chat, message, firstTime) {
    const json = JSON.stringify(message);
    const before = this.drawn.get(message.id);
    if (before === json) return false;
    this.drawn.set(message.id, json);
    const element = this.#item(chat, message);
    if (before !== undefined) { this.#replace(element, JSON.parse(before), message); return false; }
    this.#drawDay(message);
    if (!firstTime) element.classList.add("fresh");
    this.part("log").append(element);
    if (message.force_reply && !firstTime) this.composer.reply(message);
    return true;
  }

  #item(chat, message) {
    const replied = message.reply_to && chat.messages.find((other) => other.id === message.reply_to);
    const look = this.app.look(message, chat);
    if (look.notice) {
      const line = make("li", "aside", look.notice);
      line.id = `m${message.id}`;
      return line;
    }
    const reply = (one) => this.composer.reply(one);
    return item(message, { ...look, replied, reply, find: (one) => this.#find(one) });
  }

  #at(id) { return document.getElementById(`m${id}`); }

  #find(message) {
    const element = this.#at(message.id);
    element.scrollIntoView({ block: "center", behavior: "smooth" });
    element.classList.remove("found");
    requestAnimationFrame(() => element.classList.add("found"));
  }

  #replace(element, before, message) {
    const old = this.#at(message.id);
    const focused = old.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const edited = before.text !== message.text || before.edit !== message.edit;
    if (edited) element.classList.add("changed");
    old.replaceWith(element);
    if (before.text !== message.text) say(`Edited: ${message.text}`);
    if (focused) (element.querySelector(`[data-key="${focused}"]`) || element).focus();
  }

  #drawDay(message) {
    const date = new Date(message.at * 1000).toDateString();
    if (this.part("log").dataset.day === date) return;
    this.part("log").dataset.day = date;
    this.part("log").append(make("li", "day", day(message.at)));
  }

  #drawEmpty(chat) {
    const shown = this.part("log").querySelector(".empty");
    if (chat.messages.length) { if (shown) shown.remove(); return; }
    if (shown) return;
    const empty = make("li", "empty");
    empty.append(make("b", "", "Nothing here yet"), chat.empty);
    this.part("log").append(empty);
  }

  // Only somebody who scrolls up leaves the end: what moves by itself, as when a strip opens, does not count.
  #scrolled() {
    const box = this.part("scroll");
    if (!box.clientHeight) return; // another app is open
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    if (near || box.scrollTop < this.top - 1) this.atEnd = near;
    this.top = box.scrollTop;
    if (this.atEnd) this.part("jump").hidden = true;
  }
}
