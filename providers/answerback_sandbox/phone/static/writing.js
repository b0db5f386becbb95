// The sheet in which a mail is written: a new one, or a reply in somebody's name by somebody else.

import { $ } from "./dom.js";
import { toast } from "./notes.js";

// `sheet`: title, note (a sentence), subject (whether it has one), send({ subject, text }), sent (what to say then).
export function write(sheet) {
  if ($("write-title").textContent !== sheet.title) $("write-form").reset(); // else a draft stays
  $("write-title").textContent = sheet.title;
  $("write-note").textContent = sheet.note;
  $("write-about").hidden = !sheet.subject;
  $("write-form").onsubmit = (event) => {
    event.preventDefault();
    send(sheet);
  };
  $("write").showModal();
  (sheet.subject ? $("write-subject") : $("write-text")).focus();
}

async function send(sheet) {
  const text = $("write-text").value;
  if (text.trim() === "") return void $("write-text").focus();
  $("write-send").disabled = true; // a mail must not go twice
  const done = await sheet.send({ subject: $("write-subject").value, text });
  $("write-send").disabled = false;
  if (!done) return;
  $("write-form").reset();
  $("write").close();
  toast(sheet.sent);
}
