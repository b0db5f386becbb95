// Files: the one that is about to be sent, and what a bubble says of one that was.

import { icon, make } from "./dom.js";
import { toast } from "./notes.js";

const MOST = 10 * 1024 * 1024; // bytes, as the sandbox takes them
const NAMES = { photo: "Photo", voice: "Voice message", video: "Video", document: "Document" };
const SIGNS = {
  photo: "M4 6h16v12H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5v.1",
  voice: "M12 4a2.5 2.5 0 0 0-2.5 2.5v5a2.5 2.5 0 0 0 5 0v-5A2.5 2.5 0 0 0 12 4zM6 11a6 6 0 0 0 12 0M12 17v3",
  video: "M4 7h11v10H4zM15 11l5-3v8l-5-3",
  document: "M7 4h7l4 4v12H7zM14 4v4h4M10 13h5M10 16h5",
};

export const size = (bytes) => {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
};

// What a message says where there is room for a line: its text, or what its file is.
export const gist = (message) => message.text || (message.files || []).map(title).join(", ");

const title = (file) => file.name || NAMES[file.kind];

// A file in a bubble, as what it is.
export function fileLine(file) {
  const line = make("p", "file");
  const sign = make("span", "sign");
  sign.append(icon(SIGNS[file.kind]));
  const words = make("span");
  words.append(make("b", "", title(file)), make("span", "quiet", `${file.type} · ${size(file.size)}`));
  line.append(sign, words);
  return line;
}

// The file that the paper-clip has chosen: a strip above the line, until it is sent or taken off.
export class Attachment {
  #file = null;
  busy = false; // on its way: a second tap must not send it twice

  constructor(part, changed) {
    this.part = part;
    this.changed = changed;
    part("attach-file").onchange = () => this.#chosen();
    part("no-file").onclick = () => { this.clear(); part("words").focus(); };
  }

  get there() { return this.#file !== null; }

  clear() { this.#show(null); }

  // What goes to the sandbox; null if the file can no longer be read.
  async read() {
    const { name, type } = this.#file;
    try {
      return { name, type, content: await inBase64(this.#file) };
    } catch {
      toast("The file could not be read.");
      return null;
    }
  }

  #chosen() {
    const file = this.part("attach-file").files[0];
    if (!file) return;
    if (file.size > MOST) toast(`A file has at most ${MOST >> 20} MB here.`);
    else if (!file.size) toast("The file is empty.");
    else this.#show(file);
    this.part("attach-file").value = ""; // the same file can be chosen again
    this.part("words").focus();
  }

  #show(file) {
    this.#file = file;
    this.part("attached").hidden = !file;
    if (file) this.part("attached-name").textContent = `${file.name} · ${size(file.size)}`;
    this.changed();
  }
}

function inBase64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = failed;
    reader.readAsDataURL(file);
  });
}
