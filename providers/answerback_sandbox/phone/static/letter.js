// One mail that is open: its head, its body as a mail program shows it, and the line to reply in.

import { Attachment, fileLine } from "./attach.js";
import { $, clock, day, make, time } from "./dom.js";
import { toast } from "./notes.js";
import { here } from "./state.js";
import { act } from "./wire.js";

const PROGRAMS = { gmail: "Gmail", outlook: "Outlook", apple: "Apple Mail" };
let program = "gmail"; // the one that was chosen last

export class Letter {
  #shown = null;

  constructor(root) { this.root = root; }

  clear() {
    this.#shown = null;
    this.root.replaceChildren();
  }

  focus() { this.root.querySelector("h2").focus(); }

  // The body and what is being written stay as they are while the letter does.
  draw(phone, letter) {
    const key = `${phone.person}/${letter.id}`;
    if (this.#shown === key) return;
    this.#shown = key;
    const subject = make("h2", "subject", letter.subject || "No subject");
    subject.tabIndex = -1;
    this.root.replaceChildren(subject, head(letter), body(phone, letter), ...letter.files.map(fileLine));
    if (!letter.mine) this.root.append(replyForm(letter));
    this.root.scrollTop = 0;
  }
}

function head(letter) {
  const box = make("div", "mail-head");
  const who = make("p", "mail-who", letter.name || letter.address);
  const face = make("span", "avatar", (letter.name || letter.address).slice(0, 1).toUpperCase());
  face.setAttribute("aria-hidden", "true");
  const words = make("div");
  words.append(who, make("p", "quiet", `${letter.address} → ${letter.to}`));
  const when = time(letter.at, `${day(letter.at)} ${clock(letter.at)}`);
  when.className = "quiet";
  words.append(when);
  box.append(face, words);
  return box;
}

function body(phone, letter) {
  if (!letter.html) return make("p", "plain-mail", letter.text);
  const frame = make("iframe", "mail-body");
  frame.title = `The mail “${letter.subject}”`;
  frame.setAttribute("sandbox", "allow-same-origin allow-popups allow-popups-to-escape-sandbox");
  frame.src = `/phone/api/people/${phone.person}/mail/${letter.id}`;
  const fit = () => {
    const inside = frame.contentDocument && frame.contentDocument.documentElement;
    if (inside) frame.height = inside.getBoundingClientRect().height;
  };
  frame.onload = () => {
    fit();
    new ResizeObserver(fit).observe(frame.contentDocument.documentElement);
  };
  return frame;
}

function replyForm(letter) {
  const form = make("form", "mail-reply");
  const words = make("textarea");
  words.rows = 3;
  words.placeholder = "Reply";
  words.setAttribute("aria-label", `Reply to “${letter.subject}”`);
  words.maxLength = 20000;
  const send = make("button", "primary", "Send");
  send.type = "submit";
  const line = make("div", "mail-send");
  line.append(clip(), programs(), send);
  form.append(strip(), words, line);
  words.className = "words";
  const file = new Attachment((name) => form.querySelector(`.${name}`), () => {});
  form.onsubmit = (event) => {
    event.preventDefault();
    if (file.busy) return;
    if (words.value.trim() === "" && !file.there) return void words.focus();
    reply(letter, words, file);
  };
  words.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  return form;
}

async function reply(letter, words, file) {
  const mail = { id: letter.id, text: words.value, style: program };
  const encloses = file.there;
  file.busy = true;
  const enclosed = encloses ? await file.read() : {};
  if (enclosed && encloses === file.there) { // meanwhile it may have been taken off
    words.value = "";
    const sent = await act(encloses ? "mail/file" : "mail/reply", { ...mail, ...enclosed });
    if (sent) { file.clear(); toast("Sent."); } else words.value = mail.text;
  }
  file.busy = false;
}

// The paper-clip, and the strip that says which file goes along, as chats have them.
const part = (name) => $("chat").content.querySelector(name).cloneNode(true);
const clip = () => part(".attach");
const strip = () => part(".attached");

function programs() {
  const label = make("label", "quoted", "Quote like ");
  const select = make("select");
  select.append(...Object.entries(PROGRAMS).map(([name, title]) => new Option(title, name)));
  select.value = program;
  select.onchange = () => { program = select.value; };
  label.append(select);
  return label;
}
