// What the page says beside the apps: toasts, alerts, a message that came in elsewhere, what is broken.
// All of it is announced to a screen reader, and none of it takes the focus but an alert, as on a phone.

import { $, button, make } from "./dom.js";

const SECONDS = 6;
let fading = 0;

export const say = (text) => { $("said").textContent = text; };

export function toast(text) {
  const box = make("p", "", text);
  place().append(box);
  setTimeout(() => box.remove(), 4000 + 40 * text.length);
}

// Behind an open sheet nobody would see or hear it.
function place() {
  const sheet = document.querySelector("dialog:modal");
  if (!sheet) return $("toasts");
  if (!sheet.querySelector(".toasts")) {
    const box = make("div", "toasts");
    box.setAttribute("role", "status");
    sheet.append(box);
  }
  return sheet.querySelector(".toasts");
}

export function alertBox(text) {
  $("alert-text").textContent = text;
  if (!$("alert").open) $("alert").showModal();
}

// A message in another app than the one that is open: a strip that opens it.
export function news(app, name, sender, text, open) {
  const strip = button(`strip-news ${app}`, undefined, () => { quiet(); open(); });
  strip.append(make("span", "from", `${name} · ${sender}`), make("span", "first", text));
  $("news").replaceChildren(strip);
  clearTimeout(fading);
  fading = setTimeout(() => { if (!strip.matches(":focus, :hover")) quiet(); }, SECONDS * 1000);
}

export function quiet() {
  clearTimeout(fading);
  $("news").replaceChildren();
}

export function banner(text) {
  if ($("banner").textContent !== text) $("banner").textContent = text;
  $("banner").hidden = !text;
}
