// One message in a chat: who, what it answers, the text, the time, and what can be done with it.

import { fileLine, gist } from "./attach.js";
import { button, icon, make, short, time } from "./dom.js";

const AWAY = 56; // pixels that a swipe to the left has to go to be a reply

// `look`: text (element), replied (message or null), named (bool), marks (elements beside the time), keys
// (element or null), reply (what a tap on the arrow does), find (what a tap on the quote does).
export function item(message, look) {
  const li = make("li", `msg ${message.mine ? "mine" : "them"}${look.keys ? " keyed" : ""}`);
  li.id = `m${message.id}`;
  li.tabIndex = -1;
  li.append(bubble(message, look), replyButton(message, look.reply));
  if (look.keys) li.append(look.keys);
  swipeToReply(li, () => look.reply(message));
  return li;
}

function bubble(message, look) {
  const box = make("div", "bubble");
  box.append(make("p", look.named && !message.mine ? "who" : "who hidden", message.mine ? "You" : message.sender));
  if (look.replied) box.append(quote(look.replied, look.find));
  const meta = make("p", "meta");
  meta.append(...look.marks.filter((one) => one.dataset.before), time(message.at));
  meta.append(...look.marks.filter((one) => !one.dataset.before));
  for (const file of message.files) box.append(fileLine(file));
  if (message.text) box.append(look.text);
  box.append(meta);
  return box;
}

function quote(replied, find) {
  const element = button("quote", undefined, () => find(replied));
  element.dataset.key = "quote";
  element.append(make("b", "", replied.mine ? "You" : replied.sender), make("span", "", gist(replied)));
  return element;
}

function replyButton(message, reply) {
  const element = button("icon reply", undefined, () => reply(message));
  element.dataset.key = "reply";
  element.setAttribute("aria-label", `Reply to “${short(gist(message))}”`);
  element.append(icon("M10 6L4 12l6 6M4 12h9c4 0 7 2 7 6"));
  return element;
}

function swipeToReply(li, reply) {
  let from = null;
  li.addEventListener("pointerdown", (event) => { from = event.pointerType === "touch" ? event : null; });
  li.addEventListener("pointermove", (event) => {
    const moved = from ? Math.max(-72, Math.min(0, event.clientX - from.clientX)) : 0;
    li.style.transform = moved < -8 ? `translateX(${moved}px)` : "";
  });
  const end = (event) => {
    if (from && event.type === "pointerup" && event.clientX - from.clientX < -AWAY) reply();
    from = null;
    li.style.transform = "";
  };
  li.addEventListener("pointerup", end);
  li.addEventListener("pointercancel", end);
}
