// The line in which a message is written: it grows, knows what it answers and what goes with it, and offers
// the bot's commands.

import { Attachment, gist } from "./attach.js";
import { button, make } from "./dom.js";

export class Composer {
  // `send(text, replyTo, file)` (a file is an object, or null) resolves to something truthy once it was sent.
  constructor(root, send) {
    this.part = (name) => root.querySelector(`.${name}`);
    this.send = send;
    this.replyTo = null;
    this.file = new Attachment(this.part, () => this.grow());
    const words = this.part("words");
    words.oninput = () => this.grow();
    words.onkeydown = (event) => this.#pressed(event);
    this.part("composer").onsubmit = (event) => { event.preventDefault(); this.#written(); };
    this.part("no-reply").onclick = () => { this.reply(null); words.focus(); };
    this.part("open-commands").onclick = () => this.#showCommands(this.part("commands").hidden);
  }

  reply(message) {
    this.replyTo = message ? message.id : null;
    this.part("replying").hidden = !message;
    if (!message) return;
    this.part("replying-to").textContent = `Reply to ${message.mine ? "yourself" : message.sender}`;
    this.part("replying-text").textContent = gist(message);
    this.part("words").focus();
  }

  offer(commands) {
    const wanted = JSON.stringify(commands);
    if (this.part("commands").dataset.drawn === wanted) return;
    this.part("commands").dataset.drawn = wanted;
    this.part("open-commands").hidden = commands.length === 0;
    this.part("commands").replaceChildren(...commands.map((command) => this.#command(command)));
  }

  grow() {
    const words = this.part("words");
    words.style.height = "auto";
    if (words.scrollHeight) words.style.height = `${words.scrollHeight + 2}px`;
    this.part("send").disabled = words.value.trim() === "" && !this.file.there;
  }

  #command({ command, description }) {
    const item = make("li");
    const element = button("", undefined, () => { this.#showCommands(false); this.send(`/${command}`, null, null); });
    element.append(make("b", "", `/${command}`), make("span", "", description));
    item.append(element);
    return item;
  }

  #showCommands(shown) {
    this.part("commands").hidden = !shown;
    this.part("open-commands").setAttribute("aria-expanded", String(shown));
  }

  #pressed(event) {
    if (event.key === "Escape") { this.reply(null); this.file.clear(); }
    const plain = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (!plain || !matchMedia("(pointer: fine)").matches) return; // on a phone, Enter is a new line
    event.preventDefault();
    this.part("composer").requestSubmit();
  }

  async #written() {
    const text = this.part("words").value;
    if (this.file.busy || (text.trim() === "" && !this.file.there)) return;
    if (!this.file.there) return void await this.#hand(text, null);
    this.file.busy = true;
    const file = await this.file.read();
    // Meanwhile it may have been taken off, or another chat opened.
    if (file && this.file.there && await this.#hand(text, file)) this.file.clear();
    this.file.busy = false;
  }

  async #hand(text, file) {
    const words = this.part("words");
    words.value = "";
    this.grow();
    const sent = await this.send(text, this.replyTo, file);
    if (sent) this.reply(null);
    else { words.value = text; this.grow(); }
    words.focus();
    return sent;
  }
}
