// Making elements, and saying times. Nothing here ever turns a text into markup.

export const $ = (id) => document.getElementById(id);

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

export function button(className, text, onclick) {
  const element = make("button", className, text);
  element.type = "button";
  element.onclick = onclick;
  return element;
}

export function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  drawing.append(line);
  return drawing;
}

export function link(url, text) {
  const anchor = make("a", "", text);
  if (/^https?:\/\//i.test(url)) anchor.href = url;
  anchor.target = "_blank";
  anchor.rel = "noopener noreferrer";
  return anchor;
}

export const short = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 3)}…` : text);

export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export function time(at, text = clock(at)) {
  const element = make("time", "", text);
  element.dateTime = new Date(at * 1000).toISOString();
  return element;
}

export function day(at) {
  const wanted = new Date(at * 1000);
  if (wanted.toDateString() === new Date().toDateString()) return "Today";
  return wanted.toLocaleDateString([], { day: "numeric", month: "long" });
}
