// WhatsApp: one chat with a business, its quick replies, ticks, and the 24 hours in which it may write anything.

import { gist } from "./attach.js";
import { Chat } from "./chat.js";
import { $, button, clock, day, icon, make } from "./dom.js";
import { menu } from "./people.js";
import { plain } from "./rich_text.js";
import { here } from "./state.js";
import { act } from "./wire.js";

const ONE = "M6 12.5l4 4L19 7";
const TWO = "M2 12.5l4 4L15 7M10.5 16l.5.5L20 7";
const REFUSED = {
  63016: "WhatsApp refused a text from the agent (error 63016): the 24 hours are over. The agent was told so.",
  63024: "WhatsApp refused a message from the agent (error 63024): it is blocked here. The agent was told so.",
};

export class WhatsApp {
  name = "WhatsApp";
  #ends = 0;
  #redraw;

  constructor(redraw) {
    this.#redraw = redraw;
    this.view = new Chat($("whatsapp"), {
      send: (text, replyTo, file) => act(file ? "whatsapp/file" : "whatsapp/type", { text, reply_to: replyTo, ...file }),
      look: (message) => this.#look(message),
      menu: () => menu("WhatsApp", "the agent", here.phone.whatsapp.blocked, (what) => act(`whatsapp/${what}`)),
    });
    this.view.part("words").maxLength = 4096;
    this.view.part("unblock").onclick = () => act("whatsapp/unblock");
  }

  draw(phone) {
    const chat = phone.whatsapp;
    this.#drawWindow(chat, phone.now);
    this.view.draw({
      key: `${phone.person}`,
      title: chat.name,
      presence: `Business account · ${chat.sender}`,
      busy: false,
      messages: chat.messages,
      blocked: chat.blocked,
      start: false,
      empty: "Write first, or wait: until you write, only approved templates may reach you.",
    });
  }

  unread(phone) { return phone.whatsapp.unread; }

  latest(phone) {
    const last = phone.whatsapp.messages.filter((message) => !message.mine && !message.error).at(-1);
    return last && { key: last.id, sender: last.sender, text: gist(last) };
  }

  seen() { return here.phone.whatsapp.unread ? act("whatsapp/seen") : null; }

  #look(message) {
    if (message.error) return { notice: REFUSED[message.error] || `WhatsApp refused a message (error ${message.error}).` };
    const keys = message.buttons.length ? this.#keys(message) : null;
    return { text: plain(message.text), named: false, marks: this.#marks(message), keys };
  }

  #marks(message) {
    const marks = [];
    if (message.template) {
      const template = make("span", "", "template");
      template.dataset.before = "time";
      marks.push(template);
    }
    if (message.mine || ["sent", "delivered", "read"].includes(message.status)) marks.push(ticks(message));
    return marks;
  }

  #keys(message) {
    const box = make("div", "quick");
    message.buttons.forEach((title, place) => {
      const key = button("", undefined, () => act("whatsapp/tap", { message_id: message.id, button: place }));
      key.append(icon("M10 6L4 12l6 6M4 12h9c4 0 7 2 7 6"), make("span", "", title));
      key.dataset.key = `key${place}`;
      box.append(key);
    });
    return box;
  }

  #drawWindow(chat, now) {
    const strip = this.view.part("strip");
    const until = `${day(chat.open_until)}, ${clock(chat.open_until)}`;
    const text = chat.open ? `Anything may be sent until ${until}.` : "Only templates may be sent until you write.";
    clearTimeout(this.#ends);
    if (chat.open) this.#ends = setTimeout(this.#redraw, (chat.open_until - now + 1) * 1000);
    if (strip.dataset.text === text) return;
    strip.dataset.text = text;
    strip.hidden = false;
    strip.replaceChildren(make("p", "", text));
    if (chat.open) strip.append(button("", "Let a day pass", () => act("whatsapp/day")));
  }
}

// What the sender of a message sees of it: one tick for sent, two for delivered, two coloured ones for read.
function ticks(message) {
  const mark = make("span", `ticks ${message.status}`);
  mark.append(icon(message.status === "sent" ? ONE : TWO), make("span", "hidden", message.status));
  mark.title = message.mine ? message.status : `The agent sees: ${message.status}`;
  return mark;
}
