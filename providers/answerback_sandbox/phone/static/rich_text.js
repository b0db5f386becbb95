// Text with entities, as Telegram marks it; their offsets count UTF-16 units, as JavaScript's strings do.

import { link, make } from "./dom.js";

const TAGS = {
  bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre",
  blockquote: "blockquote", expandable_blockquote: "blockquote",
};
const URL_IN_TEXT = /https?:\/\/[^\s<>"“”]+[^\s<>"“”.,;:!?)\]]/gi;

export function marked(text, entities) {
  const box = make("div", "text");
  box.dir = "auto";
  fill(box, text, entities, 0, text.length);
  return box;
}

// A text in which only addresses can be tapped, as WhatsApp shows it.
export function plain(text) {
  const found = [...text.matchAll(URL_IN_TEXT)];
  return marked(text, found.map((one) => ({ type: "url", offset: one.index, length: one[0].length })));
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
