// Mail: the inbox, and the letter that is open.

import { $, button, clock, day, make, time } from "./dom.js";
import { Letter } from "./letter.js";
import { toast } from "./notes.js";
import { here, remember } from "./state.js";
import { act } from "./wire.js";
import { write } from "./writing.js";

export class Mail {
  name = "Mail";
  #drawn = "";
  #redraw;

  constructor(redraw) {
    this.#redraw = redraw;
    this.part = (name) => $("mail").querySelector(`.${name}`);
    this.letter = new Letter(this.part("letter"));
    this.part("back").onclick = () => this.#open(null);
    this.part("write").onclick = () => this.#write();
    this.part("open-menu").onclick = () => $("mail-menu").showModal();
    $("forge").onclick = () => this.#forge();
    $("bounce").onclick = () => this.#bounce();
    this.part("away").onclick = () => act("mail/away", { away: !here.phone.mail.away });
  }

  draw(phone) {
    const letter = phone.mail.letters.find((one) => one.id === here.mail);
    if (here.mail && !letter) here.mail = null;
    this.part("title").textContent = letter ? "Mail" : "Inbox";
    this.part("presence").textContent = phone.mail.address;
    this.part("back").hidden = !letter;
    this.part("away").hidden = Boolean(letter);
    this.part("write").hidden = Boolean(letter);
    this.part("open-menu").hidden = !letter || letter.mine;
    this.part("away").setAttribute("aria-pressed", String(phone.mail.away));
    this.part("inbox").hidden = Boolean(letter);
    this.part("letter").hidden = !letter;
    this.#drawInbox(phone.mail);
    if (letter) this.letter.draw(phone, letter);
    else this.letter.clear();
  }

  unread(phone) { return phone.mail.letters.filter((one) => !one.read).length; }

  latest(phone) {
    const last = phone.mail.letters.find((one) => !one.mine);
    return last && { key: last.id, sender: last.name || last.address, text: last.subject };
  }

  seen() {
    const letter = here.phone.mail.letters.find((one) => one.id === here.mail);
    return letter && !letter.read ? act("mail/seen", { id: letter.id }) : null;
  }

  #drawInbox(mail) {
    const wanted = JSON.stringify(mail.letters);
    if (this.#drawn === wanted) return;
    this.#drawn = wanted;
    const focused = document.activeElement && document.activeElement.dataset.mail;
    const inbox = this.part("inbox");
    inbox.replaceChildren(...mail.letters.map((one) => this.#line(one)));
    if (!mail.letters.length) inbox.append(this.#nothing());
    if (focused) inbox.querySelector(`[data-mail="${focused}"]`)?.focus();
  }

  #line(letter) {
    const item = make("li", letter.read ? "" : "unread");
    const line = button("mail-line", undefined, () => this.#open(letter.id));
    line.dataset.mail = letter.id;
    const who = letter.mine ? `To ${letter.to}` : letter.name || letter.address;
    const face = make("span", "avatar", (letter.mine ? "↩" : who.slice(0, 1)).toUpperCase());
    face.setAttribute("aria-hidden", "true");
    const top = make("span", "mail-top");
    const when = day(letter.at) === "Today" ? clock(letter.at) : day(letter.at);
    top.append(make("span", "mail-who", who), time(letter.at, when));
    const words = make("span", "mail-words");
    if (!letter.read) words.append(make("span", "hidden", "Unread. "));
    const subject = make("span", "mail-subject", letter.subject || "No subject");
    words.append(top, subject, make("span", "mail-start", letter.start));
    line.append(face, words);
    item.append(line);
    return item;
  }

  #nothing() {
    const empty = make("li", "empty");
    empty.append(make("b", "", "No mail yet"), "When an agent asks something, the question arrives here.");
    return empty;
  }

  #write() {
    const note = `From ${here.phone.mail.address} to ${here.phone.mail.agent}`;
    write({ title: "New mail", note, subject: true, send: (mail) => act("mail/write", mail), sent: "Sent." });
  }

  #forge() {
    const id = here.mail;
    $("mail-menu").close();
    write({
      title: "A forged reply",
      note: `It says that it is from ${here.phone.mail.address}, but somebody else sends it. It must not count.`,
      subject: false,
      send: ({ text }) => act("mail/forge", { id, text }),
      sent: "Sent in your name by somebody else.",
    });
  }

  async #bounce() {
    $("mail-menu").close();
    if (await act("mail/bounce", { id: here.mail })) toast("The agent is told that this mail did not arrive.");
  }

  #open(id) {
    const left = here.mail;
    here.mail = id;
    remember();
    this.draw(here.phone);
    this.seen();
    if (id) this.letter.focus();
    else this.part("inbox").querySelector(`[data-mail="${left}"]`)?.focus();
  }
}
